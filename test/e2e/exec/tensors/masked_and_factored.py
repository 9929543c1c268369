# torch.masked against PyTorch's numbers, and first and second derivatives of what is factored, inverted or multiplied up.
import torch


def shown(value):
    return [round(float(v), 5) + 0.0 for v in value.detach().flatten()]


def slopes(name, function, *given):
    """The result, its derivatives by every argument, and theirs."""
    tensors = [t.detach().clone().requires_grad_() for t in given]
    results = function(*tensors)
    results = [r for r in (results if isinstance(results, (list, tuple)) else [results]) if r.is_floating_point()]
    total = sum((r * torch.cos(torch.arange(r.numel(), dtype=r.dtype).reshape(r.shape) + 0.3)).sum() for r in results)
    first = torch.autograd.grad(total, tensors, create_graph=True, allow_unused=True)
    print(name, *(shown(r) for r in results), *(None if g is None else shown(g) for g in first))
    again = [g for g in first if g is not None and g.requires_grad]
    total = sum((g * torch.sin(torch.arange(g.numel(), dtype=g.dtype).reshape(g.shape) + 0.7)).sum() for g in again)
    try:
        second = torch.autograd.grad(total, tensors, allow_unused=True) if again else []
    except RuntimeError as error:
        return print("  second", error)
    print("  second", *(None if g is None or not (g.abs() > 1e-9).any() else shown(g) for g in second))


def filled(*sizes):
    count = torch.Size(sizes).numel()
    return (torch.sin(torch.arange(count, dtype=torch.float64) ** 2 * 0.37 + 0.2) * 2).reshape(sizes)


x, mask = filled(3, 5), torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]).bool()
M = torch.masked
for name in ("sum", "prod", "amax", "amin", "mean", "logsumexp", "var", "std", "norm"):
    function = getattr(M, name)
    for given in (None, mask, mask[0], mask[:, :1]):
        extra = (2.0,) if name == "norm" else ()
        slopes(f"{name} {given is not None}", lambda x: [function(x, *extra, 1, mask=given), function(x, *extra, (0,), keepdim=True, mask=given)], x)
    if name not in ("logsumexp",):
        slopes(name + " of all", lambda x: function(x, mask=mask), x)
for name in ("softmax", "log_softmax", "softmin", "cumsum", "cumprod"):
    slopes(name, lambda x: torch.where(mask, getattr(M, name)(x, 1, mask=mask), 0.0), x)
    slopes(name, lambda x: getattr(M, name)(x, 0), x)
slopes("normalize", lambda x: M.normalize(x, 3.0, 1, mask=mask), x)
slopes("median", lambda x: M.median(x, 1, mask=mask), x)
slopes("logaddexp", lambda x, y: M.logaddexp(x, y), x, filled(3, 5).flip(0))
print(shown(M.logaddexp(x, x.flip(0), input_mask=mask[0], other_mask=~mask[0])))
slopes("var without", lambda x: M.var(x, 1, False, mask=mask), x)
print(M.argmax(x, 1, mask=mask), M.argmin(x, 0, mask=mask), M.argmax(x))
print(M.sum(torch.arange(6, dtype=torch.int8).reshape(2, 3) * 25, 1, mask=torch.tensor([True, False, True])))
print(M.amax(torch.arange(6).reshape(2, 3), 1, mask=torch.tensor([False, False, True])), M.amin(torch.arange(6).reshape(2, 3), 0, mask=torch.tensor([[False], [True]])))
print(M.mean(torch.zeros(0, 3), 1), M.sum(torch.zeros(2, 0), 1, mask=torch.zeros(2, 0, dtype=torch.bool)))
for wrong in (lambda: M.mean(torch.arange(3)), lambda: M.sum(x, 5), lambda: M.sum(x, (0, 0)), lambda: M.sum(x[0], 0, mask=mask), lambda: M.var(x, 1, True, correction=2)):
    try:
        print(wrong())
    except Exception as error:
        print(type(error).__name__, error)

square = filled(4, 4) + 3 * torch.eye(4, dtype=torch.float64)
lean, wide = filled(5, 3), filled(2, 3, 5)
L = torch.linalg
slopes("pinv of what is no symmetric matrix", lambda a: L.pinv(a, hermitian=True), square)
slopes("pinv of one", lambda a: L.pinv(a), torch.eye(3, dtype=torch.float64))
slopes("pinv tall", lambda a: L.pinv(a), lean)
slopes("pinv wide", lambda a: L.pinv(a), wide)
slopes("pinv of rank one", lambda a: L.pinv(a[:, :1] @ a[:1, :], rtol=1e-10), lean)
for name, a in (("square", square), ("tall", lean), ("wide", wide), ("batch", filled(2, 4, 3)), ("one", filled(1, 1))):
    slopes("lu_factor " + name, lambda a: L.lu_factor(a), a)
    slopes("lu " + name, lambda a: L.lu(a), a)
slopes("eigvalsh of the upper half", lambda a: L.eigvalsh(a, UPLO="U"), square)
slopes("eigh of the upper half", lambda a: L.eigh(a, UPLO="U")[1] ** 2, square)
slopes("svd", lambda a: (lambda u, s, v: [u[:, :3] @ torch.diag(s) @ v, s])(*L.svd(a)), lean)
slopes("power 0", lambda a: L.matrix_power(a, 0), square)
for p in (1, -1, float("inf"), float("-inf")):
    slopes(f"norm {p}", lambda a: [L.norm(a, p, dim=(0, 2)), L.matrix_norm(a, p, keepdim=True)], wide)
slopes("vander", lambda a: L.vander(a, N=3), torch.tensor(2.5, dtype=torch.float64))
print(L.vector_norm(filled(4).requires_grad_(), 0).requires_grad, L.vector_norm(torch.ones(3), dtype=torch.float64).dtype)
for driver in ("gels", "gelsy", "gelsd", "gelss"):
    found = L.lstsq(lean, filled(5, 2), driver=driver)
    print(driver, [tuple(part.shape) for part in found], found.rank.dtype, shown(found.residuals), shown(found.singular_values))
slopes("lstsq", lambda a, b: L.lstsq(a, b)[:2], lean, filled(5, 2))
print([tuple(part.shape) for part in torch.lu(filled(2, 3, 3), get_infos=True)], torch.lu(torch.zeros(2, 2), get_infos=True)[2])

places = torch.tensor([[0, 1, 1, 2], [2, 2, 0, 0], [1, 1, 1, 1]])
for zeros in ((), ((0, 1),), ((0, 1), (0, 2)), ((1, 2), (2, 0), (2, 1))):
    source = filled(3, 4)
    for at in zeros:
        source[at] = 0
    for own in (True, False):
        slopes(f"products {len(zeros)} {own}", lambda a, s: torch.scatter_reduce(a, 1, places, s, "prod", include_self=own), filled(3, 3), source)
        slopes(f"products by index {len(zeros)} {own}", lambda a, s: torch.index_reduce(a, 0, torch.tensor([1, 1, 0]), s, "prod", include_self=own), filled(2, 4), source)
slopes("products of zeros", lambda a, s: torch.scatter_reduce(a, 0, torch.tensor([0, 0, 2]), s, "prod"), torch.tensor([0.0, 0.0, 2.0], dtype=torch.float64), torch.tensor([3.0, 0.0, 0.0], dtype=torch.float64))
slopes("fill", lambda a, v: torch.index_fill(a, 0, torch.tensor([0, 2]), v), filled(3, 2), torch.tensor(1.5, dtype=torch.float64))
slopes("fill twice", lambda a, v: torch.index_fill(a, -1, torch.tensor([1, 1, 0]), v), filled(2, 3), torch.tensor(1.5, dtype=torch.float64))
slopes("narrow", lambda a: [a.narrow(1, torch.tensor(1), 2), torch.narrow(a, 0, start=torch.tensor(-1), length=1)], filled(2, 3))
print([tuple(part.shape) for part in L.lstsq(torch.zeros(2, 3, 0), torch.zeros(2, 3, 2))], L.matrix_rank(torch.zeros(0, 3)))
slopes("transposed", lambda a, w: torch.nn.functional.conv_transpose2d(a, w, stride=(3, 2), padding=(1, 2), output_padding=(2, 3), groups=2, dilation=4), filled(2, 2, 4, 4), filled(2, 2, 3, 3))
slopes("one size", lambda a: torch.fft.irfft2(torch.fft.rfft2(a, s=4, dim=-1), s=4, dim=-1), filled(3, 4))
