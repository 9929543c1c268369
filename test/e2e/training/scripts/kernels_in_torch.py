# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's tests of user-defined Triton kernels ask of a program, eager and under torch.compile: forms of calls and grids, arguments,
autotuning, heuristics, views, and what gradients see of a kernel's writes."""
import torch
import triton
import triton.language as tl
from torch.fx.experimental.proxy_tensor import make_fx

SCALE = 3
HALF: tl.constexpr = tl.constexpr(0.5)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def add_out_of_order(x, y, n, BLOCK: tl.constexpr, out):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def passes(kernel, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(kernel + at, mask=at < n), mask=at < n)


@triton.jit
def maybe_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    if y is not None:
        value += tl.load(y + at, mask=at < n)
    tl.store(out + at, value, mask=at < n)


@triton.jit
def two_outputs(x, y, sums, products, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)
    tl.store(sums + at, a + b, mask=at < n)
    tl.store(products + at, a * b, mask=at < n)


@triton.jit
def double_in_place(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def strided_double(x, out, rows, columns, stride_row, stride_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride_row + at * stride_column, mask=at < columns)
    tl.store(out + row * columns + at, 2 * value, mask=at < columns)


@triton.jit
def scaled(x, out, n, factor, seed, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n).to(TYPE)
    tl.store(out + at, value * factor * HALF + (seed >> 32).to(TYPE), mask=at < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 16}, num_stages=3, num_warps=8), triton.Config({"BLOCK": 32}, num_stages=4)], key=[])
@triton.jit
def add_tuned(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({}, num_stages=2)], key=["n"])
@triton.jit
def add_given_block(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({"X": 16, "Y": 16}), triton.Config({"X": 32, "Y": 8})], key=[])
@triton.jit
def add_planes(x, y, out, rows, columns, X: tl.constexpr, Y: tl.constexpr):
    column = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    row = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    mask = (row < rows) & (column < columns)
    at = row * columns + column
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


seen = []


def prune(configs, named_args, **kwargs):
    seen.append((sorted(named_args), kwargs["n"]))
    return [config for config in configs if config.kwargs["BLOCK"] <= 32]


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 128})], key=["n"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def copy_pruned(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + (BLOCK == 32), mask=at < n)


@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.heuristics({"FACTOR": lambda args: 10 if args["EVEN"] else 100})
@triton.jit
def by_heuristics(x, out, n, EVEN: tl.constexpr, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * FACTOR + EVEN, mask=at < n)


@triton.jit
def by_globals(x, out, n, BLOCK: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * FACTOR, mask=at < n)


def both_ways(function, *inputs, dynamic=None):
    """The function's result, the same compiled."""
    eager = function(*[one.clone() if isinstance(one, torch.Tensor) else one for one in inputs])
    compiled = torch.compile(function, fullgraph=True, dynamic=dynamic)(*[one.clone() if isinstance(one, torch.Tensor) else one for one in inputs])
    for one, other in zip(eager if isinstance(eager, tuple) else (eager,), compiled if isinstance(compiled, tuple) else (compiled,)):
        assert one.stride() == other.stride() and torch.equal(one, other), (one, other)
    return eager


def refused(function, words):
    try:
        function()
    except Exception as error:
        assert words in str(error), error
        return
    assert False, "not refused"


torch.manual_seed(0)
n = 37
x, y = torch.rand(n), torch.rand(n)


# A. Calls and grids.
def with_grid(kind):
    def function(x, y):
        out = torch.empty_like(x)
        if kind == "tuple":
            add[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), 16)
        elif kind == "list":
            add[[triton.cdiv(x.numel(), 16)]](x, y, out, x.numel(), BLOCK=16)
        elif kind == "lambda":
            add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), BLOCK=16)
        else:

            def grid(meta):
                return (triton.cdiv(x.numel(), meta["BLOCK"]),)

            add[grid](x, y, out=out, n=x.numel(), BLOCK=16)
        return out

    return function


for kind in ("tuple", "list", "lambda", "function"):
    for dynamic in (False, True):
        assert torch.equal(both_ways(with_grid(kind), x, y, dynamic=dynamic), x + y), kind


def out_of_order(x, y):
    out = torch.empty_like(x)
    add_out_of_order[(3,)](x, y, x.numel(), 16, out)
    return out


def parameter_named_kernel(x):
    out = torch.empty_like(x)
    passes[(3,)](kernel=x, out=out, n=x.numel(), BLOCK=16)
    return out


def with_none(x):
    out = torch.empty_like(x)
    maybe_add[(3,)](x, None, out, x.numel(), 16)
    return out


def of_nothing(x):
    out = torch.empty_like(x)
    maybe_add[(max(triton.cdiv(x.numel(), 16), 1),)](x, x, out, x.numel(), 16)
    return out


assert torch.equal(both_ways(out_of_order, x, y), x + y)
assert torch.equal(both_ways(parameter_named_kernel, x), x)
assert torch.equal(both_ways(with_none, x), x)
assert both_ways(of_nothing, torch.rand(0)).shape == (0,)


def outputs(x, y):
    sums, products = torch.empty_like(x), torch.empty_like(x)
    two_outputs[(3,)](x, y, sums, products, x.numel(), BLOCK=16)
    return sums, products @ sums


sums, dot = both_ways(outputs, x, y)
assert torch.equal(sums, x + y) and torch.allclose(dot, (x * y) @ (x + y))


def under_modes(x, y):
    out = torch.empty_like(x)
    with torch.no_grad():
        add[(3,)](x, y, out, x.numel(), 16)
    with torch.enable_grad():
        add[(3,)](out, y, out, x.numel(), 16)
    return out


assert torch.allclose(both_ways(under_modes, x, y), x + y + y)


for tracing in ("fake", "symbolic", "real"):
    for kind in ("tuple", "list", "lambda", "function"):
        traced = make_fx(with_grid(kind), tracing_mode=tracing)(x, y)
        assert torch.equal(traced(x, y), x + y)
        assert "triton_kernel_wrapper_mutation" in [str(node.target) for node in traced.graph.nodes]


# B. What gradients see: a kernel's write is none that is counted, and differentiates nothing.
leaf = torch.rand(n, requires_grad=True)
square = leaf * leaf
kept = square * square
before = square._version
double_in_place[(3,)](square.detach(), n, 16)
assert square._version == before
held = torch.empty_like(leaf)
add[(3,)](leaf.detach(), y, held, n, 16)
assert not held.requires_grad
((leaf**2) * held).sum().backward()
assert torch.allclose(leaf.grad, 2 * leaf.detach() * held)


def shared_buffer(x):
    buffer = torch.zeros_like(x)
    results = []
    for k in range(7):
        add[(3,)](x, buffer, buffer, x.numel(), 16)
        results.append(buffer.clone())
    return torch.stack(results)


assert torch.allclose(both_ways(shared_buffer, x), torch.stack([x * (k + 1) for k in range(7)]))


# C. Autotuning, pruning, heuristics.
def tuned(x, y):
    out = torch.empty_like(x)
    add_tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out


def given_block(x, y):
    out = torch.empty_like(x)
    add_given_block[(3,)](x, y, out, x.numel(), BLOCK=16)
    return out


def planes(x, y):
    out = torch.empty_like(x)
    rows, columns = x.shape
    add_planes[lambda meta: (triton.cdiv(columns, meta["X"]), triton.cdiv(rows, meta["Y"]))](x, y, out, rows, columns)
    return out


def pruned(x):
    out = torch.empty_like(x)
    copy_pruned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, n=x.numel())
    return out


def heuristic(x):
    out = torch.empty_like(x)
    by_heuristics[(3,)](x, out, x.numel(), BLOCK=16)
    return out


assert torch.equal(both_ways(tuned, x, y), x + y)
assert torch.equal(both_ways(given_block, x, y), x + y)
assert torch.equal(both_ways(planes, torch.ones(5, 19), torch.full((5, 19), 2.0)), torch.full((5, 19), 3.0))
assert torch.equal(both_ways(pruned, x), x + 1)
assert seen and seen[0][0] == ["out", "x"] and seen[0][1] == n
assert torch.equal(both_ways(heuristic, x), x * 100)
assert torch.equal(both_ways(heuristic, x[:36].clone()), x[:36] * 10 + 1)


# E. Constants and types of arguments.
def globals_of_file(x):
    out = torch.empty_like(x)
    by_globals[(3,)](x, out, x.numel(), 16, SCALE)
    return out


def typed(x, kind, factor, seed):
    out = torch.empty_like(x)
    scaled[(3,)](x, out, x.numel(), factor, seed, kind, BLOCK=16)
    return out


assert torch.equal(both_ways(globals_of_file, x), x * 3)
for factor in (1, 2, 1.0, 0.25):
    want = x * factor * 0.5 + 5
    assert torch.allclose(both_ways(lambda a: typed(a, tl.float32, factor, 5 << 32), x), want), factor
assert torch.allclose(typed(x, tl.bfloat16, 1.0, 0), (x.bfloat16() * 0.5).float(), rtol=1e-2)
for size in (4, 16, 17):
    assert torch.equal(both_ways(with_grid("lambda"), x[:size].clone(), y[:size].clone()), x[:size] + y[:size])


# F. Views and strides.
def of_views(x):
    base = x * 1
    add[(1,)](base[:16], base[16:32], base[16:32], 16, 16)
    add[(1,)](base.view(-1)[16:32], base[0:16], base[0:16], 16, 16)
    return base


def strided(x):
    turned = x.t()
    out = torch.empty(turned.shape)
    strided_double[(turned.shape[0],)](turned, out, turned.shape[0], turned.shape[1], turned.stride(0), turned.stride(1), BLOCK=16)
    return out


def same_bits(x):
    copy = x * 1
    bits = copy.view(torch.int32)
    double_in_place[(3,)](bits, bits.numel(), 16)
    return copy


changed = both_ways(of_views, x)
assert torch.equal(changed[16:32], x[:16] + x[16:32]) and torch.equal(changed[:16], x[:16] + changed[16:32])
grid = torch.rand(7, 5)
assert torch.equal(both_ways(strided, grid), 2 * grid.t())
assert torch.equal(both_ways(same_bits, x).view(torch.int32), x.view(torch.int32) * 2)


# H. Sizes that values decide, and grids of another size.
def larger(x, y):
    chosen = x[x > 0.5]
    out = torch.empty_like(chosen)
    add[(triton.cdiv(chosen.numel(), 16),)](chosen, chosen, out, chosen.numel(), 16)
    return out


assert torch.equal(larger(x, y), 2 * x[x > 0.5])
compiled = torch.compile(with_grid("lambda"), fullgraph=True, dynamic=True)
for size in (8, 16, 37):
    assert torch.equal(compiled(x[:size].clone(), y[:size].clone()), x[:size] + y[:size])


# J. Operators: one call with kernels inside.
@torch.library.triton_op("kernels_in_torch::add", mutates_args={})
def add_operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(add)[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), 16)
    return out


assert torch.equal(both_ways(lambda a, b: add_operator(a, b) * 2, x, y), (x + y) * 2)
refused(lambda: torch.library.wrap_triton(lambda a: a), "wrap_triton only works on functions annotated with triton.jit or triton.autotune")
print("ok")
