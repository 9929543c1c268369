# SPDX-License-Identifier: Apache-2.0
"""Attention and positions."""
import triton
import triton.language as tl

CASES = [
    ("flash_forward", "*fp16:16, *fp16:16, *fp16:16, fp32, *fp32:16, *fp16:16, i32:16, i32:16, i32:16, i32, i32, i32:16, "
     "HEAD_DIM=64, BLOCK_M=64, BLOCK_N=32, STAGE=3"),
    ("flash_forward", "*bf16, *bf16, *bf16, fp32, *fp32, *bf16, i32, i32, i32, i32, i32, i32, HEAD_DIM=32, BLOCK_M=32, BLOCK_N=32, STAGE=1"),
    ("flash_forward_pointers", "*bf16, *bf16, *bf16, *bf16, *fp32, i32, i32, i32, i32, fp32, D=64, BLOCK_M=32, BLOCK_N=64, CAUSAL=True"),
    ("flash_backward_preprocess", "*fp16, *fp16, *fp32, i32, BLOCK=64, D=64"),
    ("decode_split", "*bf16, *bf16, *bf16, *i32, *i32, *fp32, *fp32, fp32, i32, i32, i32, D=64, PAGE=16, BLOCK_N=32, SPLITS=4"),
    ("decode_merge", "*fp32, *fp32, *bf16, *i32, D=64, SPLITS=4"),
    ("rope", "*bf16, i64, *bf16, i64, *fp32, *fp32, i32, n_heads=8, n_kv_heads=2, head_dim=64, PAD_HEADS=8, PAD_KV=2, BACKWARD=False"),
    ("rope", "*bf16, i64, *bf16, i64, *fp32, *fp32, i32, n_heads=8, n_kv_heads=2, head_dim=64, PAD_HEADS=8, PAD_KV=2, BACKWARD=True"),
    ("rope_interleaved", "*fp16, *fp16, *fp32, *fp32, i32, ROWS=4, D=32"),
]


@triton.jit
def flash_inner(acc, l_i, m_i, q, k_block, v_block, start_m, scale, BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr,
                BLOCK_N: tl.constexpr, STAGE: tl.constexpr, offs_m: tl.constexpr, offs_n: tl.constexpr, n_ctx):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, n_ctx
    k_block = tl.advance(k_block, (0, lo))
    v_block = tl.advance(v_block, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_block)
        qk = tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * scale)
            qk = qk * scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(v_block)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        v_block = tl.advance(v_block, (BLOCK_N, 0))
        k_block = tl.advance(k_block, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.jit
def flash_forward(q_ptr, k_ptr, v_ptr, scale, lse_ptr, out_ptr, stride_z, stride_h, stride_m, Z, H, n_ctx,
                  HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    tl.static_assert(BLOCK_N <= HEAD_DIM)
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    offset = off_z.to(tl.int64) * stride_z + off_h.to(tl.int64) * stride_h
    q_block = tl.make_block_ptr(base=q_ptr + offset, shape=(n_ctx, HEAD_DIM), strides=(stride_m, 1),
                                offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    v_order: tl.constexpr = (0, 1) if v_ptr.dtype.element_ty == tl.float8e5 else (1, 0)
    v_block = tl.make_block_ptr(base=v_ptr + offset, shape=(n_ctx, HEAD_DIM), strides=(stride_m, 1), offsets=(0, 0),
                                block_shape=(BLOCK_N, HEAD_DIM), order=v_order)
    k_block = tl.make_block_ptr(base=k_ptr + offset, shape=(HEAD_DIM, n_ctx), strides=(1, stride_m), offsets=(0, 0),
                                block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1))
    o_block = tl.make_block_ptr(base=out_ptr + offset, shape=(n_ctx, HEAD_DIM), strides=(stride_m, 1),
                                offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = scale
    qk_scale *= 1.44269504
    q = tl.load(q_block)
    if STAGE & 1:
        acc, l_i, m_i = flash_inner(acc, l_i, m_i, q, k_block, v_block, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N,
                                    4 - STAGE, offs_m, offs_n, n_ctx)
    if STAGE & 2:
        tl.debug_barrier()
        acc, l_i, m_i = flash_inner(acc, l_i, m_i, q, k_block, v_block, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N,
                                    2, offs_m, offs_n, n_ctx)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(lse_ptr + off_hz * n_ctx + offs_m, m_i)
    tl.store(o_block, acc.to(out_ptr.type.element_ty))


@triton.jit
def flash_forward_pointers(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, stride_h, stride_m, n_q, n_k, scale, D: tl.constexpr,
                           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    start_m = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    rows = start_m + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head * stride_h + rows[:, None] * stride_m + d[None, :], mask=rows[:, None] < n_q, other=0.0)
    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = n_k if not CAUSAL else tl.minimum(n_k, start_m + BLOCK_M)
    for start in range(0, end, BLOCK_N):
        n = start + cols
        k = tl.load(k_ptr + head * stride_h + n[None, :] * stride_m + d[:, None], mask=n[None, :] < n_k, other=0.0)
        s = tl.dot(q, k) * scale
        valid = n[None, :] < n_k
        if CAUSAL:
            valid = valid & (rows[:, None] >= n[None, :])
        s = tl.where(valid, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + head * stride_h + n[:, None] * stride_m + d[None, :], mask=n[:, None] < n_k, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = m_new
    tl.store(out_ptr + head * stride_h + rows[:, None] * stride_m + d[None, :], acc / l[:, None], mask=rows[:, None] < n_q)
    tl.store(lse_ptr + head * n_q + rows, m + tl.log(l), mask=rows < n_q)


@triton.jit
def flash_backward_preprocess(out_ptr, do_ptr, delta_ptr, n_ctx, BLOCK: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    o = tl.load(out_ptr + head * D * n_ctx + rows[:, None] * D + d[None, :])
    do = tl.load(do_ptr + head * D * n_ctx + rows[:, None] * D + d[None, :]).to(tl.float32)
    tl.store(delta_ptr + head * n_ctx + rows, tl.sum(o * do, axis=1))


@triton.jit
def decode_split(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, acc_ptr, lse_ptr, scale, stride_page, stride_slot, pages,
                 D: tl.constexpr, PAGE: tl.constexpr, BLOCK_N: tl.constexpr, SPLITS: tl.constexpr):
    batch = tl.program_id(0)
    head = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(length_ptr + batch)
    per_split = tl.cdiv(length, SPLITS)
    begin = per_split * split
    end = tl.minimum(begin + per_split, length)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (batch * tl.num_programs(1) + head) * D + d).to(tl.float32)
    peak = -float("inf")
    total = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    if end > begin:
        for start in range(begin, end, BLOCK_N):
            n = start + tl.arange(0, BLOCK_N)
            page = tl.load(table_ptr + batch * pages + n // PAGE, mask=n < end, other=0)
            slot = page * stride_page + (n % PAGE) * stride_slot
            k = tl.load(k_ptr + slot[:, None] + d[None, :], mask=n[:, None] < end, other=0.0)
            s = tl.sum(q[None, :] * k, 1) * scale
            s = tl.where(n < end, s, float("-inf"))
            v = tl.load(v_ptr + slot[:, None] + d[None, :], mask=n[:, None] < end, other=0.0)
            new_peak = tl.maximum(tl.max(s, 0), peak)
            rescale = tl.exp(peak - new_peak)
            p = tl.exp(s - new_peak)
            acc *= rescale
            acc += tl.sum(p[:, None] * v, 0)
            total = total * rescale + tl.sum(p, 0)
            peak = new_peak
        place = (batch * tl.num_programs(1) + head) * SPLITS + split
        tl.store(acc_ptr + place * D + d, acc / total)
        tl.store(lse_ptr + place, peak + tl.log(total))


@triton.jit
def decode_merge(acc_ptr, lse_ptr, out_ptr, length_ptr, D: tl.constexpr, SPLITS: tl.constexpr):
    batch = tl.program_id(0)
    length = tl.load(length_ptr + batch)
    if length == 0:
        return
    d = tl.arange(0, D)
    peak = -float("inf")
    total = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for split in range(0, SPLITS):
        per_split = tl.cdiv(length, SPLITS)
        if split * per_split < length:
            lse = tl.load(lse_ptr + batch * SPLITS + split)
            value = tl.load(acc_ptr + (batch * SPLITS + split) * D + d)
            new_peak = tl.maximum(lse, peak)
            old = tl.exp(peak - new_peak)
            weight = tl.exp(lse - new_peak)
            acc = acc * old + weight * value
            total = total * old + weight
            peak = new_peak
    tl.store(out_ptr + batch * D + d, acc / total)


@triton.jit
def rope(q_ptr, q_stride, k_ptr, k_stride, cos_ptr, sin_ptr, seq_len, n_heads: tl.constexpr, n_kv_heads: tl.constexpr,
         head_dim: tl.constexpr, PAD_HEADS: tl.constexpr, PAD_KV: tl.constexpr, BACKWARD: tl.constexpr = False):
    pid = tl.program_id(0).to(tl.int64)
    q_ptr = q_ptr + pid * q_stride
    k_ptr = k_ptr + pid * k_stride
    position = pid % seq_len
    half = tl.arange(0, head_dim // 2)
    in_half = half < head_dim // 2
    cos = tl.load(cos_ptr + position * head_dim + half, mask=in_half, other=0)
    sin = tl.load(sin_ptr + position * head_dim + half, mask=in_half, other=0)
    first_q = tl.arange(0, PAD_HEADS)[:, None] * head_dim + half[None, :]
    first_k = tl.arange(0, PAD_KV)[:, None] * head_dim + half[None, :]
    mask_q = (tl.arange(0, PAD_HEADS)[:, None] < n_heads) & in_half[None, :]
    mask_k = (tl.arange(0, PAD_KV)[:, None] < n_kv_heads) & in_half[None, :]
    q1 = tl.load(q_ptr + first_q, mask=mask_q, other=0).to(sin.dtype)
    k1 = tl.load(k_ptr + first_k, mask=mask_k, other=0).to(sin.dtype)
    second_q = first_q + (head_dim // 2)
    second_k = first_k + (head_dim // 2)
    q2 = tl.load(q_ptr + second_q, mask=mask_q, other=0).to(sin.dtype)
    k2 = tl.load(k_ptr + second_k, mask=mask_k, other=0).to(sin.dtype)
    if not BACKWARD:
        tl.store(q_ptr + first_q, q1 * cos - q2 * sin, mask=mask_q)
        tl.store(q_ptr + second_q, q2 * cos + q1 * sin, mask=mask_q)
        tl.store(k_ptr + first_k, k1 * cos - k2 * sin, mask=mask_k)
        tl.store(k_ptr + second_k, k2 * cos + k1 * sin, mask=mask_k)
    else:
        tl.store(q_ptr + first_q, q1 * cos + q2 * sin, mask=mask_q)
        tl.store(q_ptr + second_q, q2 * cos - q1 * sin, mask=mask_q)
        tl.store(k_ptr + first_k, k1 * cos + k2 * sin, mask=mask_k)
        tl.store(k_ptr + second_k, k2 * cos - k1 * sin, mask=mask_k)


@triton.jit
def rope_interleaved(x_ptr, out_ptr, cos_ptr, sin_ptr, n, ROWS: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, D)
    x = tl.load(x_ptr + rows[:, None] * D + cols[None, :], mask=rows[:, None] < n, other=0.0)
    even, odd = tl.split(tl.reshape(x, (ROWS, D // 2, 2)))
    half = tl.arange(0, D // 2)
    cos = tl.load(cos_ptr + rows[:, None] * (D // 2) + half[None, :])
    sin = tl.load(sin_ptr + rows[:, None] * (D // 2) + half[None, :])
    a = even * cos - odd * sin
    b = odd * cos + even * sin
    y = tl.interleave(a, b)
    tl.store(out_ptr + rows[:, None] * D + cols[None, :], y, mask=rows[:, None] < n)
