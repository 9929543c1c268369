# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def other_values(x_ptr, out_ptr, n, fill, BLOCK: tl.constexpr):
    """What a masked-off lane holds: a number, a parameter, a tile, another tile's values."""
    i = tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside, other=-3))
    tl.store(out_ptr + BLOCK + i, tl.load(x_ptr + i, inside, fill))
    tl.store(out_ptr + 2 * BLOCK + i, tl.load(x_ptr + i, mask=inside & (i % 3 != 1), other=i * 0.5))
    first = tl.load(x_ptr)
    tl.store(out_ptr + 3 * BLOCK + i, tl.load(x_ptr + (n - 1 - i), mask=inside, other=first))


@triton.jit
def gather_rows(table_ptr, index_ptr, out_ptr, rows, dim, table_stride, BLOCK: tl.constexpr):
    """Embedding; rows out of range give zeros."""
    pid = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + pid)
    ok = (at >= 0) & (at < rows)
    value = tl.load(table_ptr + at * table_stride + c, mask=ok & (c < dim), other=0.0)
    tl.store(out_ptr + pid * dim + c, value, mask=c < dim)


@triton.jit
def scatter_add_rows(grad_ptr, index_ptr, out_ptr, dim, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.load(index_ptr + pid)
    c = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + at * dim + c, tl.load(grad_ptr + pid * dim + c, mask=c < dim), mask=c < dim, sem="relaxed")


@triton.jit
def copy_strided(x_ptr, out_ptr, rows, cols, sr, sc, BR: tl.constexpr, BC: tl.constexpr):
    """Strides of any sign."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)[:, None]
    c = tl.program_id(1) * BC + tl.arange(0, BC)[None, :]
    mask = (r < rows) & (c < cols)
    tl.store(out_ptr + r * cols + c, tl.load(x_ptr + r * sr + c * sc, mask=mask), mask=mask)


@triton.jit
def batched_add(table_ptr, out_ptr, n, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    """Sums tensors reached through a table of addresses; the last one is then overwritten."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(COUNT):
        x_ptr = tl.load(table_ptr + k).to(tl.pointer_type(tl.float32))
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    last = tl.load(table_ptr + COUNT - 1).to(tl.pointer_type(tl.float32))
    tl.store(last + i, total * 2, mask=i < n)
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def shift_block(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Block pointers whose edges are padded with zeros, moved in a loop."""
    x = tl.make_block_ptr(x_ptr, shape=(M, N), strides=(N, 1), offsets=(tl.program_id(0) * BM, 0), block_shape=(BM, BN), order=(1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(N, BN)):
        total += tl.load(x, boundary_check=(0, 1), padding_option="zero")
        x = tl.advance(x, (0, BN))
    out = tl.make_block_ptr(out_ptr, (M, BN), (BN, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    tl.store(out, total.to(out_ptr.dtype.element_ty), boundary_check=(0,))


@triton.jit
def block_1d(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(base=x_ptr, shape=[n], strides=[1], offsets=[tl.program_id(0) * BLOCK], block_shape=[BLOCK], order=[0])
    q = tl.make_block_ptr(base=out_ptr, shape=[n], strides=[1], offsets=[tl.program_id(0) * BLOCK], block_shape=[BLOCK], order=[0])
    tl.store(q, tl.load(p, boundary_check=[0], padding_option="zero") * 2 + 1, boundary_check=[0])


@triton.jit
def descriptor_copy(x_ptr, out_ptr, M, N, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr):
    # A stride that is launched with 1 may stand where a constant must.
    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[stride_m, stride_n], block_shape=[BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([m, n], x.load([m, n]) + 1.0)


@triton.jit
def locked_sum(x_ptr, lock_ptr, count_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A lock taken by compare-and-swap guards a read-modify-write."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    seen = tl.load(count_ptr)
    if seen == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        part += tl.load(out_ptr)
    tl.store(out_ptr, part)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def every_atomic(x_ptr, out_ptr, old_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    slot = i % 4
    tl.atomic_add(out_ptr + slot, x, mask=i < n)
    tl.atomic_max(out_ptr + 4 + slot, x, mask=i < n)
    tl.atomic_min(out_ptr + 8 + slot, x, mask=i < n)
    tl.atomic_and(out_ptr + 12 + slot, x, mask=i < n)
    tl.atomic_or(out_ptr + 16 + slot, x, mask=i < n)
    tl.atomic_xor(out_ptr + 20 + slot, x, mask=i < n)
    old = tl.atomic_xchg(old_ptr + i, x, mask=i < n)
    tl.store(old_ptr + i, old + x, mask=i < n)


@triton.jit
def float_atomics(x_ptr, sum_ptr, max_ptr, min_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(sum_ptr, tl.sum(x, 0).to(sum_ptr.dtype.element_ty))
    tl.atomic_max(max_ptr + i * 0, x, mask=i < n)
    tl.atomic_min(min_ptr + i * 0, x, mask=i < n)


@triton.jit
def permute_and_join(x_ptr, y_ptr, a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(a_ptr + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], x.T + tl.trans(y))
    wide = tl.interleave(x, y)
    tl.store(b_ptr + tl.arange(0, M)[:, None] * (2 * N) + tl.arange(0, 2 * N)[None, :], wide)
    even, odd = tl.split(tl.reshape(x, (M, N // 2, 2)))
    tl.store(c_ptr + tl.arange(0, M)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :], even - odd)


@triton.jit
def tile_gather(x_ptr, index_ptr, out_ptr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    index = tl.load(index_ptr + tl.arange(0, K))
    tl.store(out_ptr + tl.arange(0, K), tl.gather(x, index, 0))


@triton.jit
def far_away(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    """Offsets that need 64 bits on the way, though the element is near."""
    i = tl.arange(0, BLOCK).to(tl.int64)
    far = i * stride + 0x7FFFFFFFF
    tl.store(out_ptr + i, tl.load(x_ptr + (far - 0x7FFFFFFFF - i * (stride - 1))))


@triton.jit
def one_block(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.where(x > 0, x, tl.exp(x) - 1)
    tl.store(out_ptr + i, y * tl.sigmoid(x), mask=i < n)


@triton.jit
def scalars_only(x_ptr, out_ptr, n):
    """No tile at all."""
    pid = tl.program_id(0)
    total = 0.0
    k = 0
    while k < n:
        total += tl.load(x_ptr + pid * n + k)
        k += 1
    tl.store(out_ptr + pid, total / n)


@triton.jit
def three_axes(out_ptr, BLOCK: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(axis=2)
    place = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + place * BLOCK + tl.arange(0, BLOCK), x + 10 * y + 100 * z + tl.arange(0, BLOCK) * 1000)


@triton.jit
def waits_for_the_one_before(turn_ptr: tl.const, flag_ptr, seen_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    first = tl.atomic_poll(flag_ptr + row, tl.load(turn_ptr + row))
    again = tl.atomic_poll(flag_ptr + row + lane * 0, tl.zeros_like(lane) + row, sem="relaxed", scope="sys")
    tl.atomic_store(flag_ptr + row + 1, row + 1)
    tl.store(seen_ptr + row, first.to(tl.int32) + tl.sum(again.to(tl.int32)))


@triton.jit
def where_and_when(out_ptr):
    tl.store(out_ptr, tl.extra.cuda.smid())
    tl.store(out_ptr + 1, tl.extra.cuda.globaltimer())
