# SPDX-License-Identifier: Apache-2.0
# Stock Triton kernels and the functions around them that fusion_test.py compiles.
import torch
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def persistent_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tiles = tl.cdiv(n, BLOCK)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        offsets = tile * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, x * 3.0, mask=mask)


@triton.jit
def row_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * stride + cols, mask=mask)
    tl.store(out_ptr + row * stride + cols, x * 2.0 + 1.0, mask=mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def where_softmax_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.where(mask, tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0), -float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + cols, mask=cols < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@triton.jit
def row_sum_no_other_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + cols, mask=cols < columns)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@triton.jit
def count_kernel(flag_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    flag = tl.load(flag_ptr + row * columns + cols, mask=cols < columns, other=False)
    tl.store(out_ptr + row, tl.sum(flag.to(tl.int32), axis=0))


@triton.jit
def loop_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < columns
        x = tl.load(x_ptr + row * columns + cols, mask=mask)
        tl.store(out_ptr + row * columns + cols, x + 1.0, mask=mask)


@triton.jit
def center_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + cols, mask=cols < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < columns
        x = tl.load(x_ptr + row * columns + cols, mask=mask, other=0.0)
        tl.store(out_ptr + row * columns + cols, x - mean, mask=mask)


@triton.jit
def tile_kernel(x_ptr, out_ptr, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    offsets = r[:, None] * columns + c[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, -x, mask=mask)


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    at = (tl.program_id(0) * BM, tl.program_id(1) * BN)
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), at, (BM, BN), (1, 0))
    target = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), at, (BM, BN), (1, 0))
    x = tl.load(source, boundary_check=(0, 1))
    tl.store(target, x * x, boundary_check=(0, 1))


@triton.jit
def guarded_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row < rows:
        cols = tl.arange(0, BLOCK)
        mask = cols < columns
        x = tl.load(x_ptr + row * columns + cols, mask=mask)
        tl.store(out_ptr + row * columns + cols, x * 0.25, mask=mask)


@triton.jit
def double_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)


@triton.jit
def atomic_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.atomic_add(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def read_back_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)
    again = tl.load(out_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, again * again, mask=mask)


@triton.jit
def two_outputs_kernel(x_ptr, a_ptr, b_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(a_ptr + offsets, x + 1.0, mask=mask)
    tl.store(b_ptr + offsets, x - 1.0, mask=mask)


@triton.jit
def head_kernel(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < limit
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 10.0, mask=mask)


@triton.jit
def positive_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + 10.0, mask=mask & (x > 0))


@triton.jit
def even_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * 2
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 10.0, mask=mask)


@triton.jit
def overlapping_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Neighbouring programs store half of their elements both, with the same values.
    offsets = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 10.0, mask=mask)


@triton.jit
def two_stores_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)
    tl.store(out_ptr + offsets, x * 5.0, mask=offsets < n - 3)


@triton.jit
def neighbours_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offsets - 1, mask=(offsets >= 1) & (offsets < n), other=0.0)
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out_ptr + offsets, left + right, mask=offsets < n)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * columns + cols, mask=mask)
    tl.store(out_ptr + cols * rows + row, x, mask=mask)


@triton.jit
def affine_kernel(x_ptr, w_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * columns + cols, mask=mask)
    w = tl.load(w_ptr + cols, mask=mask)
    tl.store(out_ptr + row * columns + cols, x * w, mask=mask)


@triton.jit
def round_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask).to(tl.float32) * 1.5, mask=mask)


@triton.jit
def not_kernel(flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(flag_ptr + offsets, mask=mask) == 0, mask=mask)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    index = tl.load(index_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index, mask=mask), mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask)


def flat(kernel, *inputs, out=None, BLOCK=64):
    out = torch.empty_like(inputs[0]) if out is None else out
    n = inputs[0].numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](*inputs, out, n, BLOCK=BLOCK)
    return out


def silu(x):
    return flat(silu_kernel, x)


def add(x, y):
    return flat(add_kernel, x, y)


@triton_op("fusion_test::silu", mutates_args={})
def silu_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    wrap_triton(silu_kernel)[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@custom_op("fusion_test::opaque_silu", mutates_args=())
def opaque_silu(x: torch.Tensor) -> torch.Tensor:
    return silu(x)


@opaque_silu.register_fake
def _(x):
    return torch.empty_like(x)


def by_row(kernel, x):
    out = torch.empty_like(x)
    kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def row_sum(x, kernel=row_sum_kernel):
    out = torch.empty((x.shape[0],), dtype=x.dtype)
    kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def looped(kernel, x):
    out = torch.empty_like(x)
    kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=32)
    return out


def tiled(kernel, x):
    out = torch.empty_like(x)
    rows, columns = x.shape
    grid = lambda meta: (triton.cdiv(rows, meta["BM"]), triton.cdiv(columns, meta["BN"]))
    kernel[grid](x, out, rows, columns, BM=16, BN=32)
    return out


# --- what must fuse ------------------------------------------------------------------------------------------------


def before(x, s):
    return silu(x * s)


def after(x, r):
    return silu(x) * 0.5 + r


def both(x, s, b, r):
    return silu(x * s + b) * 0.5 + r


def both_op(x, s, b, r):
    return silu_op(x * s + b) * 0.5 + r


def row_vectors(x, w, b):
    return by_row(row_kernel, x * w + b) * w


def constants(x):
    return (silu((x + 1.0) / 2.0 - 3) ** 2).clamp(-4.0, 4.0)


def activations(x, y):
    return torch.relu(add(torch.tanh(x), torch.sigmoid(y)) + torch.exp(-torch.abs(x)))


def masked_fill(x, y):
    z = torch.where(x > y, x, y * 0.5)
    return torch.where(silu(z) >= 0.25, 1.0, y)


def bool_operand(x, keep):
    return torch.where(keep, silu(torch.where(keep, x, 0.5)), -1.0)


def bool_result(x):
    return silu(x * 2.0) > 0.125


def bool_kernel(x):
    out = torch.empty(x.shape, dtype=torch.bool)
    return ~flat(not_kernel, x > 0.0, out=out)


def round_trips(x, r):
    y = (x.to(torch.bfloat16) * 1.7).to(torch.float32)
    return (flat(round_kernel, y).to(torch.float16) + r).to(torch.float64)


def other_dtype(x):
    out = torch.empty(x.shape, dtype=torch.float16)
    return flat(round_kernel, x + 0.125, out=out) * 3.0


def integers(x):
    return flat(add_kernel, x * 3, x - 7) // 2


def sequence(x, r):
    return silu(silu(x * 2.0) + r) - 1.0


def repeated(x):
    for _ in range(5):
        x = silu(x * 2.0 + 1.0) * 0.5
    return x


def persistent(x):
    out = torch.empty_like(x)
    persistent_kernel[(4,)](x + 1.0, out, x.numel(), BLOCK=64)
    return out * 2.0


def loop(x):
    return looped(loop_kernel, x * 2.0) * 3.0


def center(x):
    return looped(center_kernel, x * 2.0) * 3.0


def tile(x, r):
    return tiled(tile_kernel, x * 2.0) + r


def block_pointer(x, r):
    return tiled(block_pointer_kernel, x * 2.0) + r


def guarded(x):
    out = torch.empty_like(x)
    guarded_kernel[(x.shape[0] + 3,)](x + 1.0, out, x.shape[0], x.shape[1], BLOCK=64)
    return out * 2.0


def scaled_softmax(x, r):
    return by_row(where_softmax_kernel, x * 0.125) + r


def softmax_after(x, r):
    return by_row(softmax_kernel, x) * r


def reduced(x, r):
    return row_sum(x * 2.0) * r


def cleared(x):
    return flat(silu_kernel, x + 1.0, out=torch.zeros_like(x)) + 1.0


def reshaped(x, r):
    return silu((x * 2.0).view(-1)).view(x.shape) * r


def matmul(a, b, r):
    out = torch.empty((a.shape[0], b.shape[1]), dtype=torch.float32)
    grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[1], 16))
    matmul_kernel[grid](a, b, out, a.shape[0], b.shape[1], a.shape[1], BM=16, BN=16, BK=16)
    return torch.relu(out + r)


def gathered(x, index):
    out = torch.empty(index.shape, dtype=x.dtype)
    n = index.numel()
    gather_kernel[(triton.cdiv(n, 64),)](x * 2.0 + 1.0, index, out, n, BLOCK=64)
    return out - 1.0


def softmax_before(x):
    # -inf, which stands in masked-off elements, stays -inf.
    return by_row(softmax_kernel, x * 2.0 + 1.0)


def neighbours(x):
    return flat(neighbours_kernel, x * 2.0)


def two_outputs_before(x):
    a, b = torch.empty_like(x), torch.empty_like(x)
    two_outputs_kernel[(triton.cdiv(x.numel(), 64),)](x * 2.0, a, b, x.numel(), BLOCK=64)
    return a, b


def same_operand(x):
    y = x * 2.0
    return add(y, y)


def gated(x):
    # All readers of the kernel's result end in one operator.
    y = silu(x)
    return y * torch.sigmoid(y)


def leaky(x):
    y = silu(x)
    return torch.where(y > 0, y, y * 0.1) + 1.0


def diamond(x, r):
    y = silu(x)
    return (y * 2.0) * (y + r) + r


def constant_tensors(x):
    return silu(x * torch.tensor(2.5)) + torch.tensor(1)


def residual_sum(x, r):
    # Masked-off elements are 0 + 0.
    return row_sum(x + r)


def scaled_sum(x, s):
    return row_sum(x * s)


def truncated_sum(x):
    return row_sum(x.to(torch.int32))


def count(flags):
    out = torch.empty((flags.shape[0],), dtype=torch.int32)
    count_kernel[(flags.shape[0],)](flags, out, flags.shape[1], BLOCK=64)
    return out


def positive_count(x):
    return count(x > 0)


def eight_bits(x):
    return silu(x.to(torch.float8_e4m3fn).to(torch.float32)) * 2.0


# --- what must not -------------------------------------------------------------------------------------------------


def two_readers_before(x):
    y = x * 2.0
    return silu(y), y


def two_readers_after(x):
    y = silu(x)
    return y + 1.0, y * 2.0


def kept_after(x):
    y = silu(x)
    return y, y * 2.0


def foreign_operand(x, t):
    return silu(x + t.t())


def sliced_operand(x, t):
    return silu(x * t[:, 1:])


def column_operand(x, c):
    return silu(x * c)


def foreign_view(x):
    return by_row(row_kernel, (x * 2.0)[1:])


def transposed_after(x):
    return silu(x).t() + 1.0


def atomic(x):
    return flat(atomic_kernel, x * 2.0, out=torch.zeros_like(x)) + 1.0


def read_back(x):
    return flat(read_back_kernel, x) * 2.0


def in_place(x):
    y = x * 2.0
    double_in_place_kernel[(triton.cdiv(y.numel(), 64),)](y, y.numel(), BLOCK=64)
    return y + 1.0


def overwritten_operand(x, y):
    z = y * 2.0
    double_in_place_kernel[(triton.cdiv(y.numel(), 64),)](y, y.numel(), BLOCK=64)
    return silu(z)


def alias(x, y):
    # The chain before the kernel reads the memory that the kernel writes.
    z = y + 1.0
    flat(silu_kernel, z, out=y)
    return y * 2.0


def overwrites_operand(x):
    y = x * 2.0
    flat(add_kernel, y, y, out=y)
    return y + 1.0


def same_operand_exp(x):
    y = torch.exp(x)
    return add(y, y)


def output_twice(x):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, x, out, x.numel(), BLOCK=64)
    flat(add_kernel, out, out, out=out)
    return out + 1.0


def masked_softmax(x, s):
    return by_row(softmax_kernel, x * s)


def shifted_sum(x, s):
    return row_sum(x + s)


def small_count(x):
    # What is masked off reads as False; 0 <= 0.5 is True.
    return count(x <= 0.5)


def exp_sum(x):
    return row_sum(torch.exp(x))


def sum_no_other(x):
    return row_sum(x + 1.0, row_sum_no_other_kernel)


def partial(x):
    out = torch.empty_like(x)
    n = x.numel()
    head_kernel[(triton.cdiv(n, 64),)](x, out, n - 5, BLOCK=64)
    return torch.where(torch.arange(n) < n - 5, out, 0.0) * 2.0


def partial_zeros(x):
    out = torch.zeros_like(x)
    n = x.numel()
    head_kernel[(triton.cdiv(n, 64),)](x, out, n - 5, BLOCK=64)
    return out + 2.0


def data_mask(x):
    return flat(positive_kernel, x, out=torch.zeros_like(x)) + 2.0


def even(x):
    return flat(even_kernel, x, out=torch.zeros_like(x)) + 2.0


def overlapping(x):
    out = torch.zeros_like(x)
    overlapping_kernel[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=64)
    return out + 2.0


def short_grid(x):
    out = torch.zeros_like(x)
    silu_kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out + 2.0


def two_stores(x):
    return flat(two_stores_kernel, x) + 2.0


def exp_in_loop(x):
    return looped(center_kernel, torch.exp(x))


def exp_neighbours(x):
    return flat(neighbours_kernel, torch.exp(x))


def exp_of_weight(x, w):
    out = torch.empty_like(x)
    affine_kernel[(x.shape[0],)](x, torch.exp(w), out, x.shape[1], BLOCK=64)
    return out


def matmul_before(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), dtype=torch.float32)
    grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[1], 16))
    matmul_kernel[grid](a * 2.0, b, out, a.shape[0], b.shape[1], a.shape[1], BM=16, BN=16, BK=16)
    return out


def two_outputs_after(x):
    a, b = torch.empty_like(x), torch.empty_like(x)
    two_outputs_kernel[(triton.cdiv(x.numel(), 64),)](x, a, b, x.numel(), BLOCK=64)
    return a + 1.0, b * 2.0


def opaque(x):
    return opaque_silu(x * 2.0) + 1.0


def transposing_store(x):
    out = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype)
    transpose_kernel[(x.shape[0],)](x, out, x.shape[0], x.shape[1], BLOCK=64)
    return out + 1.0


def wider_after(x, r):
    return silu(x) + r


def needs_result(x):
    y = silu(x)
    return y / y.sum()


def overlapping_views(x):
    z = x * 1.0
    head, tail = z[:3], z[2:]
    double_in_place_kernel[(triton.cdiv(head.numel(), 64),)](head, head.numel(), BLOCK=64)
    double_in_place_kernel[(triton.cdiv(tail.numel(), 64),)](tail, tail.numel(), BLOCK=64)
    return z + 1.0, head * 1.0, tail + 0.0


def view_into_base(x):
    # Reads rows 1.. and writes rows 0.. of one tensor; every element is read before its row is written.
    z = x * 1.0
    source, target = z[1:2], z[0:1]
    flat(silu_kernel, source, out=target)
    return z * 2.0


def kept_contents(x):
    # The contents before and after a kernel that writes in place.
    z = x + 1.0
    before = z * 3.0
    double_in_place_kernel[(triton.cdiv(z.numel(), 64),)](z, z.numel(), BLOCK=64)
    return before, z - 1.0


def mutates_input(x):
    double_in_place_kernel[(triton.cdiv(x.numel(), 64),)](x, x.numel(), BLOCK=64)
    return x * 3.0


def kernels_only(x):
    return silu(silu(x))


# --- what --verify must find ---------------------------------------------------------------------------------------


@triton.jit
def residue_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Nothing is left of x - y when both are rounded products; a contracted x*y - y leaves the rounding error.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, (x - y) * 1.0e12, mask=mask)


def residue(x, y):
    return flat(residue_kernel, x * y, y * x)
