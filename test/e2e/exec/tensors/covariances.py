# What a sweep of PyTorch's own sample calls found: covariances with weights and of few numbers, groups of nothing, systems with a factor, empty matrices,
# functions at 0, arguments in other orders: results, names of gradients, gradients of both orders.
import torch
import torch.nn.functional as F


def numbers(tensor):
    return [round(float(v), 6) + 0.0 for v in tensor.detach().flatten()]


def say(name, call, *given):
    leaves = [x.detach().clone().requires_grad_() for x in given]
    try:
        result = call(*leaves)
        print(name, list(result.shape), numbers(result), result.grad_fn.name() if result.grad_fn else None)
        first = torch.autograd.grad((result * torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)).sum(), leaves, create_graph=True, allow_unused=True)
        print("  ", *[None if g is None else numbers(g) for g in first])
        again = sum((g * g).sum() for g in first if g is not None)
        print("  ", *[None if g is None else numbers(g) for g in torch.autograd.grad(again, leaves, allow_unused=True)])
    except RuntimeError as error:
        print(name, type(error).__name__, str(error).split("\n")[0])


double = torch.float64
x = torch.arange(12.0, dtype=double).reshape(3, 4).sin()
whole, parts = torch.tensor([1, 2, 1, 3]), torch.tensor([0.1, 0.2, 0.5, 0.3], dtype=double)
say("cov", torch.cov, x)
say("cov of one variable", torch.cov, x[:1])
say("cov of a line", torch.cov, x[0])
say("cov 0", lambda x: torch.cov(x, correction=0), x)
for line in (x, x[:1], x[0]):
    say("whole weights", lambda x: torch.cov(x, fweights=whole), line)
    say("weights", lambda x, w: torch.cov(x, aweights=w), line, parts)
    say("weights 0", lambda x, w: torch.cov(x, correction=0, aweights=w), line, parts)
    say("weights 2", lambda x, w: torch.cov(x, correction=2, aweights=w), line, parts)
    say("both", lambda x, w: torch.cov(x, fweights=whole, aweights=w), line, parts)
    say("corrcoef", torch.corrcoef, line)
say("float weights", lambda x: torch.cov(x, fweights=parts), x)
say("whole aweights", lambda x: torch.cov(x, aweights=whole), x)
say("few weights", lambda x: torch.cov(x, fweights=whole[:2]), x)
say("weights of two dims", lambda x: torch.cov(x, fweights=whole[None]), x)
say("negative", lambda x: torch.cov(x, fweights=-whole), x)
say("negative", lambda x: torch.cov(x, aweights=parts - 0.2), x)
say("none at all", lambda x: torch.cov(x, fweights=whole * 0), x)
print(torch.cov(torch.tensor([[1, 2, 4], [3, 1, 1]])), torch.cov(torch.zeros(2, 0)).shape)
for shape in ((0, 4, 3), (0, 4), (0, 4, 2, 0)):
    try:
        print("group_norm", F.group_norm(torch.zeros(shape), 2).shape, torch.nn.GroupNorm(2, 4)(torch.zeros(shape)).shape)
    except (RuntimeError, ValueError) as error:
        print("group_norm", type(error).__name__)
right = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=double)
factor = torch.tensor([[2.0, 0.7, 0.6], [1.0, 3.0, 0.4], [0.5, 0.25, 1.0]], dtype=double)
for upper in (False, True):
    say("cholesky_solve", lambda b, f: torch.cholesky_solve(b, f, upper=upper), right, factor)
    say("in batches", lambda b, f: torch.cholesky_solve(b, f, upper), right.expand(2, 3, 2), torch.stack([factor, factor.T]))
    say("one factor", lambda b, f: torch.cholesky_solve(b, f, upper), torch.stack([right, right.sin()]), factor)
even = factor @ factor.T
for name in ("cholesky", "det", "eigvalsh", "svdvals"):
    print(name, getattr(torch.linalg, name)(even.clone().requires_grad_()).grad_fn.name())
print(torch.linalg.solve(even.clone().requires_grad_(), right).grad_fn.name(), torch.linalg.solve_triangular(even.clone().requires_grad_(), right, upper=True).grad_fn.name())
leaf = x[:, :3].clone().requires_grad_()
for name in ("rot90", "diag_embed", "sgn", "pdist"):
    print(name, getattr(torch, name)(leaf).grad_fn.name())
print(leaf.logcumsumexp(0).grad_fn.name())

for name in ("i0", "i0e", "i1", "i1e"):
    say(name, lambda x: getattr(torch.special, name)(x) * 1, torch.tensor([0.0, 0.5, -1.0, -0.0, *((25.0, -30.0) if name.endswith("e") else (3.0, -2.0))], dtype=double))
logs = torch.linspace(-1, 1, 40, dtype=double).sin().reshape(5, 2, 4).log_softmax(-1)
for inputs, letters in (((5, 4), (2, 2)), ((5, 1), (2, 2)), ((3, 5), (0, 1))):
    for reduction in ("none", "sum", "mean"):
        leaf = logs.clone().requires_grad_()
        loss = F.ctc_loss(leaf, torch.tensor([[1, 2], [3, 3]]), torch.tensor(inputs), torch.tensor(letters), reduction=reduction, zero_infinity=True)
        loss.sum().backward()
        print("ctc", reduction, numbers(loss), numbers(leaf.grad))
even = torch.tensor([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 3.0]], dtype=double)
leaf = even.clone().requires_grad_()
(torch.linalg.pinv(leaf, hermitian=True) * torch.arange(9.0, dtype=double).reshape(3, 3)).sum().backward()
print("pinv", numbers(leaf.grad))
for call in (torch.var_mean, torch.std_mean):
    print([numbers(one) for way in ((False,), (True,), (0,), (0, False), ((0, 1), False, True)) for one in call(even, *way)])
print([list(x.shape) for x in (torch.zeros(1, 1).squeeze(()), torch.squeeze(torch.zeros(1, 2, 1), []), torch.zeros(1, 2, 1).squeeze((0, 2)), torch.zeros(1, 1).squeeze())])
for a, b in (((2, 0), (0, 3)), ((4, 2, 0), (0, 3)), ((0, 3, 0), (0, 2)), ((2, 3, 0, 5), (5, 2)), ((2, 3, 4, 0), (3, 0, 2)), ((0,), (0,)), ((4, 2, 0), (0,)), ((3,), (3, 0)), ((0, 3), (3,)), ((0,), (0, 2)), ((2, 0), (3, 0, 4)),
             ((3,), (2, 3, 4))):
    x, y = torch.ones(a, dtype=double, requires_grad=True), torch.ones(b, dtype=double, requires_grad=True)
    result = torch.matmul(x, y)
    result.sum().backward()
    print("matmul", a, b, list(result.shape), list(x.grad.shape), numbers(y.grad)[:3])
none = torch.zeros(0, 3, 3, dtype=double)
print([list(x.shape) for x in (torch.linalg.inv(none), torch.linalg.det(none), torch.linalg.solve(none, none[..., :2]), torch.linalg.inv(none[0:0, :0, :0]), torch.linalg.pinv(none[..., :2]), torch.linalg.pinv(none.reshape(3, 0)), torch.inverse(none))])
print(torch.linalg.det(torch.zeros(2, 0, 0)), torch.linalg.slogdet(torch.zeros(0, 0)), torch.linalg.solve(torch.zeros(3, 0, 0), torch.zeros(3, 0, 2)).shape)
print(torch.atleast_1d([torch.tensor(1.0), torch.tensor([2.0])]), torch.atleast_2d((torch.tensor(1.0),)), torch.atleast_3d(torch.tensor(1.0), torch.tensor(2.0)))
print(numbers(torch.norm(even, "nuc")), numbers(even.norm("nuc", dim=(0, 1))), numbers(torch.norm(even, "fro", dim=(0, 1))))
print(F.embedding_bag(torch.tensor([[0, 1]]), torch.eye(3)), torch.linalg.vander(torch.tensor([2.0, 3.0]), N=3), torch.linalg.cross(even, even.flip(0)), torch.linalg.diagonal(even))
print(numbers(torch.linalg.tensorinv((torch.eye(4, dtype=double) * 2 + torch.arange(16.0, dtype=double).sin().reshape(4, 4)).reshape(2, 2, 4))), numbers(torch.linalg.tensorsolve((torch.eye(4, dtype=double) * 2 + torch.arange(16.0, dtype=double).sin().reshape(4, 4)).reshape(2, 2, 4), torch.ones(2, 2, dtype=double))))
