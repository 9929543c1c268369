# SPDX-License-Identifier: Apache-2.0
# What Triton 3.7 to 3.9 added to the kernel language, and what a launch and a mistake in a kernel are to a script.
import torch
import triton
import triton.language as tl


@triton.jit
def cat_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    both = tl.cat(tl.load(x + at), tl.load(y + at), dim=DIM)
    rows: tl.constexpr = both.shape[0]
    columns: tl.constexpr = both.shape[1]
    tl.store(out + tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :], both)


@triton.jit
def cat_line_kernel(x, out, N: tl.constexpr):
    line = tl.load(x + tl.arange(0, N))
    tl.store(out + tl.arange(0, 2 * N), tl.cat(line, -line))


@triton.jit
def scaled(x, y):
    return x * y + 1


@triton.jit
def sum_and_gap(x, y):
    return x + y, x - y


@triton.jit
def swapped(a, b):
    return b, a


@triton.jit
def steep(x):
    if x > 3:
        return x * 10
    else:
        return -x


@triton.jit
def map_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    line = tl.load(x + at)
    total, gap = tl.map_elementwise(sum_and_gap, line, 0.5)
    tl.store(out + at, tl.map_elementwise(scaled, line, 2.0))
    tl.store(out + N + at, total)
    tl.store(out + 2 * N + at, gap)
    turned, = tl.map_elementwise(swapped, line, pack=2)
    tl.store(out + 3 * N + at, turned)
    tl.store(out + 4 * N + at, tl.map_elementwise(steep, line))


@triton.jit
def top_kernel(x, out, N: tl.constexpr, K: tl.constexpr):
    line = tl.load(x + tl.arange(0, N))
    tl.store(out + tl.arange(0, K), tl.topk(line, K, descending=False))
    tl.store(out + K + tl.arange(0, K), tl.topk(line, K))


@triton.jit
def small_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    line = tl.load(x + at)
    tl.store(out + at, tl.cumprod(line, 0, dtype=tl.float64).to(tl.float32))
    tl.store(out + N + at, tl.fdiv(line, 4.0, approx=True))
    tl.store(out + 2 * N + at, tl.expect_zero(line, line < 0))
    tl.atomic_store(out + 3 * N + at, tl.atomic_load(x + at), mask=at < N - 1)


def names():
    x, y = torch.arange(8.0, device="cuda").view(2, 4), torch.arange(8.0, device="cuda").view(2, 4) + 100
    for dim in (0, 1, -1, -2):
        out = torch.zeros(16, device="cuda")
        cat_kernel[(1,)](x, y, out, 2, 4, dim)
        wanted = torch.cat([x, y], dim)
        print("cat", dim, torch.equal(out.view(wanted.shape), wanted))
    out = torch.zeros(16, device="cuda")
    cat_line_kernel[(1,)](x, out, 8)
    print("cat", torch.equal(out, torch.cat([x.flatten(), -x.flatten()])))
    out = torch.zeros(40, device="cuda")
    map_kernel[(1,)](x, out, 8)
    line = x.flatten()
    print("map", torch.equal(out, torch.cat([line * 2 + 1, line + 0.5, line - 0.5, line.view(-1, 2).flip(1).flatten(), torch.where(line > 3, line * 10, -line)])))
    out = torch.zeros(4, device="cuda")
    top_kernel[(1,)](torch.tensor([3.0, -1, 4, 1, -5, 9, 2, 6], device="cuda"), out, 8, 2)
    print("topk", out.tolist())
    out = torch.zeros(16, device="cuda")
    small_kernel[(1,)](torch.tensor([1.0, 2, 3, 4], device="cuda"), out, 4)
    print("small", out.view(4, 4).tolist())


@triton.jit
def wrong_kernel(x, N: tl.constexpr):
    tl.store(x + tl.program_id(7), N)


@triton.jit
def checked_kernel(x, N: tl.constexpr):
    tl.static_assert(N < 4, "N is too large")
    tl.store(x, N)


@triton.autotune([triton.Config({"N": n}) for n in (2, 3)], key=["n"])
@triton.jit
def tuned_kernel(x, n, N: tl.constexpr):
    tl.store(x, n + N)


def mistakes():
    x = torch.zeros(4, device="cuda")
    try:
        wrong_kernel[(1,)](x, 4)
    except triton.CompilationError as error:
        print(type(error).__name__, str(error).splitlines()[-1])
    try:
        checked_kernel[(1,)](x, 4)
    except triton.compiler.errors.CompileTimeAssertionFailure as error:
        print(type(error).__name__, isinstance(error, triton.CompilationError), str(error).splitlines()[-1])
    try:
        checked_kernel[(1,)](x, 2, num_warps=3)
    except AssertionError as error:
        print(error)
    try:
        tuned_kernel[(1,)](torch.zeros(4), 3, x)
    except ValueError as error:
        print(error)


def launches():
    x = torch.zeros(4, device="cuda")
    try:
        tuned_kernel.best_config
    except AttributeError:
        print("no best config yet")
    made = tuned_kernel[(1,)](x, 5)
    print(x[0].item(), tuned_kernel.best_config.kwargs, list(tuned_kernel.cache))
    tuned_kernel[(1,)](x, 6)
    tuned_kernel[(1,)](x, 6)
    print(x[0].item(), len(tuned_kernel.cache), made.name, made.n_spills, made.metadata.num_warps)


if __name__ == "__main__":
    names()
    mistakes()
    launches()
