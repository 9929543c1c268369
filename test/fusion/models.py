# SPDX-License-Identifier: Apache-2.0
# Functions around the kernels of kernels.py, which fusion_test.py compiles.
import torch
import triton
from kernels import (
    address_kernel, silu_kernel, add_kernel, persistent_kernel, row_kernel, softmax_kernel, where_softmax_kernel, row_sum_kernel,
    row_sum_no_other_kernel, count_kernel, loop_kernel, center_kernel, tile_kernel, block_pointer_kernel,
    guarded_kernel, double_in_place_kernel, atomic_kernel, read_back_kernel, two_outputs_kernel, head_kernel,
    positive_kernel, even_kernel, overlapping_kernel, two_stores_kernel, neighbours_kernel, transpose_kernel,
    affine_kernel, round_kernel, not_kernel, gather_kernel, matmul_kernel, residue_kernel,
    volatile_kernel, giving_kernel, spare_kernel,
)
from torch.library import custom_op, triton_op, wrap_triton


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


def columns(x, c, b):
    return silu(x * c + b) * c - 1.0


def columns_in_tiles(x, c, b):
    return tiled(tile_kernel, x * c) + b * c


def middle_dims(x, p, q):
    return silu(x * p + q) * q


def expanded_operand(x, c):
    return silu(x + c.expand(x.shape)) * c.expand(-1, 50)


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


def address_given_away(x):
    out, address = torch.empty_like(x), torch.empty(1, dtype=torch.int64)
    giving_kernel[(triton.cdiv(x.numel(), 64),)](x, out, address, x.numel(), BLOCK=64)
    return out * 3.0


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


def residual_softmax(x, r):
    s = x * r
    return by_row(where_softmax_kernel, s), s * 2.0


def residual_by_view(x, r):
    s = x + r
    return silu(s.view(-1)).view(s.shape) + s


def kept_flags(x):
    flags = x > 0
    return flat(not_kernel, flags), torch.where(flags, x, 0.0)


def kept_in_tiles(x):
    y = x * 2.0
    out = torch.empty_like(y)
    tile_kernel[(triton.cdiv(y.shape[0], 16), triton.cdiv(y.shape[1], 32))](y, out, y.shape[0], y.shape[1], BM=16, BN=32)
    return out, y - 1.0


def kept_many(x):
    y = silu(x)
    return y + 1.0, y * 2.0, y - 3.0, y


def read_before(x):
    y = x * 2.0
    z = silu(y)
    return silu(z + y), z


def reader_comes_first(x):
    y = x * 2.0
    total = y.sum()
    return silu(y) + total


def kept_of_a_part(x):
    y = x * 2.0
    out = torch.zeros_like(x)
    head_kernel[(triton.cdiv(y.numel(), 64),)](y, out, y.numel() - 5, BLOCK=64)
    return out, y + 1.0


def kept_of_neighbours(x):
    y = x * 2.0
    return flat(neighbours_kernel, y), y + 1.0


def kept_of_a_weight(x, w):
    v = w * 2.0
    out = torch.empty_like(x)
    affine_kernel[(x.shape[0],)](x, v, out, x.shape[1], BLOCK=64)
    return out, v + 1.0


def foreign_operand(x, t):
    return silu(x + t.t())


def sliced_operand(x, t):
    return silu(x * t[:, 1:])


def gapped_column(x, t):
    return silu(x * t[:, :1])


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


def residue(x, y):
    return flat(residue_kernel, x * y, y * x)


def volatile_load(x):
    return flat(volatile_kernel, x * 2)


def counted(x):
    return flat(silu_kernel, x + torch.arange(x.shape[0]))


def divided(x, y):
    return flat(add_kernel, x // (y * 2 + 1), x)


def by_address(x):
    return flat(address_kernel, x * 2)


def spare_output(x):
    out = torch.empty_like(x)
    return flat(spare_kernel, x, out, out=out) + 1
