# Special values: what a type does not hold, NaN and infinities, ends of ranges, forms of calls that went wrong once.
import torch
import torch.nn.functional as F

inf, nan = float("inf"), float("nan")


def text(value):
    if isinstance(value, torch.Tensor):
        wide = value.detach()
        if wide.dtype in (torch.bfloat16, torch.float16, torch.float32):
            wide = wide.to(torch.float64)
        strides = [step if size > 1 else 0 for step, size in zip(value.stride(), value.shape)] if value.numel() > 1 else 0
        return f"{value.dtype} {tuple(value.shape)} {strides} {wide.tolist()}"
    if isinstance(value, (tuple, list)):
        return "(" + "; ".join([text(one) for one in value]) + ")"
    return f"{type(value).__name__.split('.')[-1]} {value!r}"


def show(number, call):
    try:
        result = text(call()).replace(chr(10), "|")
    except Exception as error:
        result = "raises " + type(error).__name__
    print(number, result)


def after(tensor, call):
    call(tensor)
    return tensor


show(0, lambda: abs(torch.tensor([0.5, -2.0, -0.0, nan])))
show(1, lambda: abs(torch.tensor([-128, 3], dtype=torch.int8)))
show(2, lambda: torch.tensor([inf, -inf, nan, 1e10, -1e20, 3e9, 2147483648.0, 300.7, -1.5], dtype=torch.float64).to(torch.int32))
show(3, lambda: torch.tensor([inf, -inf, nan, 1e10, -1e20, 9.3e18, -1.5], dtype=torch.float32).to(torch.int64))
show(4, lambda: torch.tensor([inf, nan, 65504.0, -3.0], dtype=torch.float16).to(torch.int32))
show(5, lambda: torch.tensor([3e38, nan, -129.0], dtype=torch.bfloat16).to(torch.int64))
show(6, lambda: torch.tensor([nan, 70000.0, -1.0]).expand(2, 3).T.to(torch.int32))
show(7, lambda: torch.tensor([3e9, nan, -5.5]).int() + 1)
show(8, lambda: after(torch.tensor([[1, 2], [3, 4]], dtype=torch.int64), lambda t: t.__setitem__(0, torch.tensor(nan))))
show(9, lambda: after(torch.tensor([1, 2, 3], dtype=torch.int64), lambda t: t.copy_(torch.tensor([inf, -inf, 2.9]))))
show(10, lambda: torch.tensor([-1.5, 2.0, 300.0]).sum(0, dtype=torch.int8))
show(11, lambda: torch.tensor([-1.5, 2.0, 300.0]).cumsum(0, dtype=torch.uint8))
show(12, lambda: torch.tensor([[-2.5, 1.5], [-2.5, 3.0]]).prod(1, dtype=torch.uint8))
show(13, lambda: torch.tensor([nan, 2.0]).cumprod(0, dtype=torch.int32))
show(14, lambda: torch.clamp(torch.tensor([0.5, 2.0]), nan, 3))
show(15, lambda: torch.clamp(torch.tensor([0.5, 2.0]), 0, nan))
show(16, lambda: torch.clamp(torch.tensor([0.5, 2.0], dtype=torch.bfloat16), min=nan))
show(17, lambda: torch.clamp(torch.tensor([5, -2], dtype=torch.int8), nan, False))
show(18, lambda: torch.clamp_max(torch.tensor([0.5, 2.0]), nan))
show(19, lambda: torch.clamp_min(torch.tensor([0.5, 2.0]), torch.tensor(1)))
show(20, lambda: after(torch.tensor([0.5, 2.0, nan]), lambda t: t.clamp_max_(torch.tensor(1.0))))
show(21, lambda: torch.tensor([[1.0, 2.0]]).masked_fill(torch.tensor([True, False]), torch.tensor(7)))
show(22, lambda: after(torch.tensor([1.0, -2.0, 3.0]), lambda t: t.__setitem__(t > 0, torch.tensor(1073741824, dtype=torch.int32))))
show(23, lambda: after(torch.tensor([1.0, -2.0, 3.0]), lambda t: t.masked_fill_(t > 0, torch.tensor(5))))
show(24, lambda: torch.tensor([[True, False], [False, False]]).any((0, 1)))
show(25, lambda: torch.tensor([[True, False], [False, False]]).all((1,), keepdim=True))
show(26, lambda: isinstance(torch.tensor([1, 2]).max(0), tuple))
show(27, lambda: torch.tensor([[1, 5], [7, 2]]).min(-1))
show(28, lambda: torch.sort(torch.tensor(2.5), dim=0, descending=True, stable=True))
show(29, lambda: [x.tolist() for x in torch.topk(torch.tensor([3.0, nan, 1.0]), 2)])
show(30, lambda: torch.tensor([1, 3, 2]).max(0) + (7,))
show(31, lambda: str(torch.tensor([1, 3, 2]).max(0)))
show(32, lambda: torch.round(torch.tensor([2048.0, 0.126, 65504.0, -inf], dtype=torch.float16), decimals=2))
show(33, lambda: torch.round(torch.tensor([1234.5, -0.04]), decimals=-2))
show(34, lambda: torch.sinc(torch.tensor([2.0, -2.5, 0.0, 7.25], dtype=torch.float16)))
show(35, lambda: torch.std_mean(torch.tensor([[-1.0, 65504.0, 127.5, 300.0]], dtype=torch.float16)))
show(36, lambda: torch.trapezoid(torch.tensor([3, 2**62, 2**62, -5])))
show(37, lambda: torch.trapezoid(torch.empty(2, 0, dtype=torch.uint8)))
show(38, lambda: torch.trapezoid(torch.tensor([1.0, 4.0, 9.0]), dx=0.5))
show(39, lambda: torch.bucketize(torch.tensor([nan, 1.0, inf, -1.0]), torch.tensor([-1.0, 0.0, 2.0])))
show(40, lambda: torch.bucketize(torch.tensor([nan, 2.0]), torch.tensor([-1.0, 0.0, 2.0]), right=True))
show(41, lambda: torch.searchsorted(torch.tensor([1, 2, 4]), torch.tensor([nan, -inf, 2.0, inf])))
show(42, lambda: torch.add(torch.tensor([7, 5, 0], dtype=torch.uint8), -129, alpha=-3))
show(43, lambda: torch.sub(torch.tensor([7, 5], dtype=torch.int64), 2**40, alpha=2**40))
show(44, lambda: torch.add(torch.tensor([7, 5], dtype=torch.int16), 300, alpha=300))
show(45, lambda: torch.tensor_split(torch.tensor([[1.0], [2.0], [3.0]]), (1, 2), 1))
show(46, lambda: torch.tensor_split(torch.arange(5), (-2, 9)))
show(47, lambda: torch.tensor_split(torch.arange(5), torch.tensor([1, 3])))
show(48, lambda: torch.block_diag(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]), torch.tensor(5.0)))
show(49, lambda: F.one_hot(torch.tensor([[2, 0], [4, 1]])))
show(50, lambda: torch.div(torch.tensor([7, -7]), torch.tensor([2, 2]), rounding_mode=None))
show(51, lambda: torch.linspace(-129, False, 3))
show(52, lambda: torch.linspace(-0.0, 0.5, 1))
show(53, lambda: torch.tensor([300.7, -1.0]).byte())
show(54, lambda: torch.tensor([70000, 3]).short())
show(55, lambda: torch.tensor([200, 3]).char())
show(56, lambda: torch.result_type(torch.tensor([1, 2]), 2.5))
show(57, lambda: torch.result_type(torch.tensor(1.0, dtype=torch.float64), torch.tensor([1], dtype=torch.int8)))
show(58, lambda: torch.promote_types(torch.uint8, torch.int8))
show(59, lambda: torch.promote_types(torch.float16, torch.bfloat16))
show(60, lambda: torch.can_cast(torch.float32, torch.int32))
show(61, lambda: torch.can_cast(torch.int64, torch.float16))
show(62, lambda: torch.diag(torch.zeros(2, 3, 2)))
show(63, lambda: torch.dot(torch.zeros(2, 2), torch.zeros(2)))
show(64, lambda: torch.tensor([[3, 1, 1], [2, 2, 5]]).mode())
show(65, lambda: torch.tensor([[3, 1, 1], [3, 2, 5]]).mode(0, keepdim=True))
show(66, lambda: torch.tensor(3.5).mode())
show(68, lambda: torch.tensor([0.0, -0.0]))
show(69, lambda: torch.tensor([-0.0, 0, -0.0]))
show(67, lambda: torch.cov(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.5]])))
show(70, lambda: torch.tensor([300.0, -2.5, 256.0, -1.0], dtype=torch.float16).reshape(4, 1).std(0, keepdim=True))
show(71, lambda: torch.tensor([[300.0, -2.5], [256.0, -1.0]], dtype=torch.float16).var(0))
show(72, lambda: torch.tensor([65504.0, 3.0], dtype=torch.float16).norm())
show(73, lambda: torch.full((3,), 65536.0, dtype=torch.bool))
show(74, lambda: torch.tensor(nan, dtype=torch.bool))
show(75, lambda: torch.full((2,), 256, dtype=torch.bool))
show(76, lambda: torch.full((2,), 0.25, dtype=torch.bool))
show(77, lambda: torch.tensor([[1e-8, 0.0], [3.0, 1.0]]).prod(0, dtype=torch.bool))
show(78, lambda: torch.tensor([2, 4]).prod(dtype=torch.bool))
show(79, lambda: torch.tensor([[3, 0], [1, 2]], dtype=torch.uint8).any((0, 1)))
show(80, lambda: torch.logit(torch.tensor([7, 0], dtype=torch.uint8)))
show(81, lambda: torch.clamp(torch.tensor([3, -7]), min=nan))
show(82, lambda: torch.linspace(0, -1.5, 5, dtype=torch.int64))
show(83, lambda: torch.linspace(2.9, 7.9, 3, dtype=torch.int32))
show(84, lambda: after(torch.arange(4.0).reshape(2, 2), lambda t: t[torch.tensor(0)].add_(5)))
show(85, lambda: after(torch.zeros(2, 2, dtype=torch.int64), lambda t: t[0].copy_(torch.tensor(inf))))
show(86, lambda: after(torch.zeros(3, dtype=torch.int32), lambda t: t.copy_(torch.tensor(inf))))
show(87, lambda: after(torch.zeros(3, dtype=torch.int32), lambda t: t[::2].copy_(torch.tensor(-inf))))
show(88, lambda: after(torch.zeros(3, dtype=torch.int32), lambda t: t.__setitem__(0, torch.tensor(nan))))
show(89, lambda: after(torch.zeros(3, dtype=torch.int32), lambda t: t.__setitem__(slice(None), torch.tensor([1e20, 2.5, -3e10]))))
show(90, lambda: after(torch.zeros(3, dtype=torch.bool), lambda t: t.copy_(torch.tensor([nan, 0.0, 0.5]))))


def slope(function, x):
    x = x.clone().requires_grad_()
    function(x).sum().backward()
    return [round(one, 3) for one in x.grad.flatten().tolist()]


zeros, rows, pair = torch.zeros(3), torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [3.0, 5.0]])
for number, p in enumerate((2, 1, 3, 0.5, inf, 1.5)):
    show(91 + number, lambda: (slope(lambda x: x.norm(p), zeros), slope(lambda x: x.norm(p, dim=1), rows), slope(lambda x: torch.linalg.vector_norm(x, p), torch.tensor([1.0, 0.0, -2.0]))))
show(97, lambda: (slope(lambda x: torch.cdist(x, x), pair), slope(lambda x: torch.dist(x, x.detach()), pair), slope(lambda x: F.pairwise_distance(x, x.detach(), eps=0.0), pair)))
show(98, lambda: slope(lambda x: F.cosine_similarity(x, torch.ones(2, 2)), torch.tensor([[1.0, 0.0], [3.0, 4.0]])))
show(99, lambda: (slope(lambda x: x.median(), torch.tensor([1.0, 1.0, 0.0])), slope(lambda x: x.median(), torch.tensor([[1.0, inf], [-inf, 0.0]])), torch.tensor([1.0, nan], requires_grad=True).median(), slope(lambda x: x.median(), torch.tensor([1.0, 3.0, 3.0], dtype=torch.float16))))
show(100, lambda: F.pad(torch.ones(2, 3), (1,)))
show(101, lambda: F.pad(torch.ones(2, 3), (1,) * 6))
show(102, lambda: torch.nn.Conv2d(3, 4, 3, padding="bogus"))
show(103, lambda: (hasattr(torch, "nope"), hasattr(torch.nn, "Nope"), getattr(F, "nope", None), hasattr(torch.optim, "nope"), hasattr(torch, "softmax"), hasattr(torch.nn, "Linear")))
for number, p in enumerate((-1, -2.5)):
    show(104 + number, lambda: (slope(lambda x: x.norm(p), torch.tensor([0.0, 2.0, 3.0])), slope(lambda x: x.norm(p), torch.tensor([1.0, 2.0, 3.0])), torch.tensor([0.0, 2.0], requires_grad=True).norm(p), torch.tensor([0.0, 2.0]).norm(p)))
show(106, lambda: (torch.tensor([1.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True).median(), slope(lambda x: x.median(), torch.tensor([1.0, 3.0, 3.0], dtype=torch.float16))))
# An infinite mean goes on by a difference that is NaN; indices without elements may have any shape.
endings = torch.tensor([[1.0, 2.0, inf], [inf, 1.0, 2.0], [1.0, inf, inf], [1.0, nan, inf], [1.0, 2.0, 3.0]], dtype=torch.float64)
show(107, lambda: (torch.std_mean(endings, 1), torch.var_mean(endings, 1, keepdim=True), torch.std_mean(endings[0]), torch.std_mean(endings.float()), torch.var_mean(endings[:1, 2:])))
show(108, lambda: [torch.ones(2, 3).scatter(0, torch.empty(shape, dtype=torch.int64), 7.0) for shape in ((0,), (0, 3), (2, 0), (1, 0, 4))])
show(109, lambda: (torch.tensor(1.5).scatter_add(0, torch.empty((0, 3), dtype=torch.int64), torch.tensor(2.0)), torch.ones(2, 3).T.scatter(1, torch.empty(0, dtype=torch.int64), torch.ones(5)), torch.tensor([1.0, 2.0]).scatter(0, torch.tensor(1), 5.0)))
show(110, lambda: (torch.ones(2, 3, 2).nonzero(), torch.argwhere(torch.eye(3)), torch.tensor([0.0, 2.0]).nonzero(), torch.tensor(2.0).nonzero(), torch.zeros(2, 3).nonzero()))
show(111, lambda: (torch.ones(2, 3).T.index_fill(0, torch.tensor([0, 2]), 5.0), torch.ones(2, 3, 4).permute(2, 0, 1).index_fill(1, torch.tensor([1]), 2.0), torch.ones(2, 3).index_fill(1, torch.tensor([1]), 2.0)))
show(112, lambda: (torch.linspace(-3, 1e10, 5, dtype=torch.int64), torch.linspace(0, 10, 4, dtype=torch.int32), torch.linspace(-5, 5, 7, dtype=torch.int8), torch.linspace(7, 7, 1, dtype=torch.int16)))
show(113, lambda: (-1.5 // torch.tensor([[5, 128, 1], [0, 7, 2]], dtype=torch.uint8), 7.0 // torch.tensor([2, 0, -3]), 2.5 // torch.tensor([True, False])))
for at, dtype in enumerate((torch.uint8, torch.int8)):
    for by, number in enumerate((-3, 300, -300, 255.7, inf, 2.5)):
        for to, write in enumerate((lambda t: t.__setitem__(t > 5, number), lambda t: t.copy_(number), lambda t: t.fill_(number), lambda t: t.__setitem__(0, number), lambda t: t.masked_fill_(t > 5, number))):
            show(200 + 30 * at + 5 * by + to, lambda: after(torch.tensor([2, 100], dtype=dtype), write))
show(114, lambda: after(torch.empty((0, 3), dtype=torch.uint8), lambda t: t.copy_(inf)))
# Numbers are drawn in the order of the memory.
turned = torch.zeros(3, 2, 4).permute(2, 0, 1)
images = torch.zeros(2, 3, 2, 2).contiguous(memory_format=torch.channels_last)
show(116, lambda: (torch.manual_seed(1), [(torch.rand_like(t), torch.randint_like(t, 9), torch.randn_like(t)) for t in (turned, images, turned[:, :, 0], images[:, 1:])])[1])
show(117, lambda: (turned.softmax(0), torch.log_softmax(images, 1), turned.masked_fill(turned == 0, 2.0), torch.cat([images, images], 2), torch.cat([images, images], 1).sum(1)))
