# SPDX-License-Identifier: Apache-2.0
"""Shapes, sorting, scans and foreign code."""
import triton
import triton.language as tl

CASES = [
    ("reshapes", "*fp32, *fp32, BLOCK=16"),
    ("broadcasting", "*fp32, *fp32, *i32, M=8, N=16, K=4"),
    ("join_split_cat", "*fp32, *fp16, *fp32, BLOCK=32"),
    ("permutations", "*fp16, *fp16, A=4, B=8, C=16"),
    ("sorting", "*fp32, *fp32, BLOCK=16"),
    ("sorting_integers", "*i32, BLOCK=16"),
    ("top_two", "*fp32, *fp32, M=2, N=32"),
    ("flips", "*fp16, *i64, BLOCK=16"),
    ("gathers", "*fp32, *i32, *fp32, M=8, N=16"),
    ("scans", "*fp32, *i32, *bf16, M=4, N=32"),
    ("segmented_scan", "*fp32, *i32, *fp32, BLOCK=64"),
    ("swizzled", "*fp32, i32, i32, BLOCK=16"),
    ("inline_assembly", "*i32, *fp32, *i32, BLOCK=64"),
]


@triton.jit
def reshapes(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK * BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.reshape(x, (BLOCK, BLOCK))
    z = tl.reshape(y, BLOCK // 2, 2 * BLOCK).reshape([BLOCK * BLOCK])
    z += tl.view(y, [BLOCK * BLOCK]) + tl.ravel(y) + y.reshape(BLOCK * BLOCK, can_reorder=True)
    one = tl.expand_dims(x, 0) + tl.expand_dims(x, [0]) + x.expand_dims(0)
    two = tl.expand_dims(tl.sum(y, 0), [0, 2])
    tl.store(out_ptr + i, z + tl.reshape(one, [BLOCK * BLOCK]))
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.reshape(two, [BLOCK]))
    tl.static_assert(y.numel == BLOCK * BLOCK)


@triton.jit
def broadcasting(x_ptr, out_ptr, i_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    index = m[:, None, None] * N * K + n[None, :, None] * K + k
    x = tl.load(x_ptr + index)
    row = tl.load(x_ptr + n)
    y = x + row[None, :, None] + tl.broadcast_to(row[:, None], N, K) + tl.broadcast_to(row[None, :, None], [M, N, K])
    y = tl.where(m[:, None, None] < 3, y, 0.0)
    a, b = tl.broadcast(m[:, None], n[None, :])
    tl.store(i_ptr + m[:, None] * N + n[None, :], a + b)
    tl.store(out_ptr + index, y)
    scalar = tl.load(x_ptr)
    tl.store(out_ptr + n, tl.broadcast_to(scalar, [N]) + scalar)
    tl.store(out_ptr + tl.broadcast_to(tl.program_id(0), [1]), tl.full([1], scalar, tl.float32))


@triton.jit
def join_split_cat(x_ptr, h_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(x_ptr + i + BLOCK)
    j = tl.join(x, y)
    a, b = tl.split(j)
    c, d = j.split()
    lo, hi = tl.split(tl.join(tl.sum(x), tl.sum(y)))
    tl.store(out_ptr + tl.arange(0, 2 * BLOCK), tl.interleave(a, d))
    tl.store(out_ptr + tl.arange(0, 2 * BLOCK), tl.cat(b, c, can_reorder=True))
    tl.store(out_ptr, lo + hi)
    h = tl.load(h_ptr + tl.arange(0, 2 * BLOCK))
    even, odd = tl.split(h.reshape(BLOCK, 2))
    tl.store(h_ptr + i, even - odd)


@triton.jit
def permutations(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    index = tl.arange(0, A)[:, None, None] * B * C + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + index)
    y = tl.permute(x, (2, 0, 1)) + tl.trans(x, 2, 0, 1)
    y += x.permute(2, 0, 1) + x.trans((2, 0, 1))
    z = tl.permute(y, 1, 2, 0)
    tl.store(out_ptr + index, z + tl.trans(tl.trans(x)))


@triton.jit
def sorting(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.sort(x))
    tl.store(out_ptr + i, tl.sort(x, dim=0, descending=1))
    tl.store(out_ptr + i, tl.sort(x, descending=True))
    tl.store(out_ptr + tl.arange(0, 4), tl.topk(x, 4))


@triton.jit
def sorting_integers(i_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(i_ptr + i, tl.sort(tl.load(i_ptr + i), dim=0, descending=1))


@triton.jit
def top_two(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    best = tl.topk(x, 2, dim=1)
    tl.store(out_ptr + m[:, None] * 2 + tl.arange(0, 2)[None, :], best)
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.sort(x, descending=True))


@triton.jit
def flips(x_ptr, i_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, tl.flip(x, 0))
    y = tl.load(i_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(i_ptr + i[:, None] * BLOCK + i[None, :], tl.flip(y, 1) + y.flip(0))


@triton.jit
def gathers(x_ptr, i_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    index = tl.load(i_ptr + m[:, None] * N + n[None, :])
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.gather(x, index, axis=1) + x.gather(index, 0))
    row = tl.load(x_ptr + n)
    tl.store(out_ptr + m, tl.gather(row, tl.load(i_ptr + m), 0))


@triton.jit
def keep_last(a, b):
    return tl.where(b > 0, b, a)


@triton.jit
def scans(x_ptr, i_ptr, b_ptr, M: tl.constexpr, N: tl.constexpr):
    index = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + index)
    tl.store(x_ptr + index, tl.cumsum(x, axis=1) + tl.cumsum(x, axis=0, reverse=True) + x.cumprod(1))
    k = tl.load(i_ptr + index)
    tl.store(i_ptr + index, tl.cumsum(k, 1) + tl.associative_scan(k, 1, keep_last))
    tl.store(i_ptr + index, tl.cumsum((k > 0).to(tl.int8), 1, dtype=tl.int32))
    b = tl.load(b_ptr + index)
    tl.store(b_ptr + index, tl.cumsum(b, 1))


@triton.jit
def segment_step(value_a, flag_a, value_b, flag_b):
    return tl.where(flag_b != 0, value_b, value_a + value_b), flag_a | flag_b


@triton.jit
def segmented_scan(x_ptr, f_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    flag = tl.load(f_ptr + i)
    sums, flags = tl.associative_scan((x, flag), 0, segment_step)
    back, _ = tl.associative_scan((x, flag), axis=0, combine_fn=segment_step, reverse=True)
    tl.store(out_ptr + i, sums + back + flags)


@triton.jit
def swizzled(x_ptr, rows, cols, BLOCK: tl.constexpr):
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), rows, cols, 4)
    at = (i * cols + j) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


@triton.jit
def inline_assembly(i_ptr, f_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(i_ptr + i)
    y = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", [x, x, 7], dtype=tl.int32, is_pure=True, pack=1)
    a, b = tl.inline_asm_elementwise("{ mov.b32 $0, $2; mov.b32 $1, $2; }", "=r,=r,r", [x], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    tl.store(out_ptr + i, y + a + b)
