# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def grouped_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, OUT: tl.constexpr = tl.float32, PRECISION: tl.constexpr = "ieee"):
    """Rows wrap around instead of being masked; programs are ordered in groups."""
    pid = tl.program_id(0)
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // blocks_n, pid % blocks_n, blocks_m, blocks_n, GROUP)
    tl.assume(stride_am > 0)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    cols = tl.max_contiguous(tl.multiple_of(cols, 1), 1)
    k = tl.arange(0, BLOCK_K)
    a = a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak
    b = b_ptr + k[:, None] * stride_bk + cols[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        acc = tl.dot(tl.load(a, mask=k[None, :] < left, other=0.0), tl.load(b, mask=k[:, None] < left, other=0.0), acc, input_precision=PRECISION)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c = c_ptr + stride_cm * rows[:, None] + stride_cn * cols[None, :]
    tl.store(c, acc.to(OUT), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_in_range(a_ptr, b_ptr, c_ptr, M, N, K, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """Indices beyond the end are the first one's or the last one's."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        rows, cols = rows.to(tl.int64), cols.to(tl.int64)
    from_rows, from_cols = tl.where(rows < M, rows, 0), tl.minimum(cols, N - 1)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + from_rows[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + from_cols[None, :], mask=k[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def split_k_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(2)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(part * BLOCK_K, K, BLOCK_K * SPLIT):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + cols[None, :], mask=(k[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    c = c_ptr + rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    if SPLIT == 1:
        tl.store(c, acc, mask=mask)
    else:
        tl.atomic_add(c, acc, mask=mask)


@triton.jit
def int8_matmul(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """int8 x int8 in int32, then one scale per row and per column."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + cols[None, :] * K + k[:, None], mask=(k[:, None] < K) & (cols[None, :] < N), other=0)
        acc += tl.dot(a, b)
    scale = tl.load(sa_ptr + rows, mask=rows < M)[:, None] * tl.load(sb_ptr + cols, mask=cols < N)[None, :]
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float32) * scale, mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def descriptor_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """B holds rows of N: its tile is transposed."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    m, n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, num_stages=2):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc, input_precision="ieee")
    c.store([m, n], acc.to(c.dtype))


@triton.jit
def fp8_matmul(a_ptr, b_ptr, c_ptr, scale, K: tl.constexpr, BLOCK: tl.constexpr):
    i, k = tl.arange(0, BLOCK), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :]).to(tl.float16)
    b = tl.load(b_ptr + k[:, None] * BLOCK + i[None, :]).to(tl.float16)
    tl.store(c_ptr + i[:, None] * BLOCK + i[None, :], tl.dot(a, b) * scale)


@triton.jit
def batched_dot(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    """tl.dot of rank three."""
    b3, m, k, n = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    a = tl.load(a_ptr + (b3 * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (b3 * K + k[None, :, None]) * N + n[None, None, :])
    tl.store(c_ptr + (b3 * M + m[None, :, None]) * N + n[None, None, :], tl.dot(a, b, input_precision="ieee"))


@triton.jit
def matrix_vector(a_ptr, x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        a = tl.load(a_ptr + rows[:, None] * N + cols[None, :], mask=(rows < M)[:, None] & (cols < N)[None, :], other=0.0)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0)
        acc += tl.sum(a * x[None, :], axis=1)
    tl.store(y_ptr + rows, acc, mask=rows < M)


@triton.jit
def attention_gqa(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, length, kv_length, HEADS: tl.constexpr, KV_HEADS: tl.constexpr, D: tl.constexpr,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """Several query heads share one key head; base-2 exponentials; the log-sum-exp is kept."""
    head = tl.program_id(1)
    kv = head // (HEADS // KV_HEADS)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * length + rows[:, None]) * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    last = tl.minimum(kv_length, (tl.program_id(0) + 1) * BLOCK_M) if CAUSAL else kv_length
    for start in range(0, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + (kv * kv_length + cols[None, :]) * D + d[:, None], mask=cols[None, :] < kv_length, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * (scale * 1.4426950408889634)
        keep = cols[None, :] < kv_length
        if CAUSAL:
            keep = keep & (rows[:, None] >= cols[None, :])
        s = tl.where(keep, s, -1.0e30)
        higher = tl.maximum(peak, tl.max(s, 1))
        p = tl.math.exp2(s - higher[:, None])
        shrink = tl.math.exp2(peak - higher)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + (kv * kv_length + cols[:, None]) * D + d[None, :], mask=cols[:, None] < kv_length, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        peak = higher
    inside = rows < length
    tl.store(out_ptr + (head * length + rows[:, None]) * D + d[None, :], (acc / total[:, None]).to(out_ptr.dtype.element_ty), mask=inside[:, None])
    tl.store(lse_ptr + head * length + rows, (peak + tl.math.log2(total)) * 0.6931471805599453, mask=inside)


@triton.jit
def paged_attention(q_ptr, k_cache, v_cache, table_ptr, lengths_ptr, out_ptr, scale, MAX_PAGES: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr):
    """One query per sequence; keys live in pages that a table names."""
    seq = tl.program_id(0)
    length = tl.load(lengths_ptr + seq)
    d, slot = tl.arange(0, D), tl.arange(0, PAGE)
    q = tl.load(q_ptr + seq * D + d).to(tl.float32)
    peak, total = float("-inf"), 0.0
    acc = tl.zeros([D], tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + seq * MAX_PAGES + page).to(tl.int64)
        at = (block * PAGE + slot)[:, None] * D + d[None, :]
        inside = page * PAGE + slot < length
        k = tl.load(k_cache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        s = tl.where(inside, tl.sum(q[None, :] * k, axis=1) * scale, float("-inf"))
        higher = tl.maximum(peak, tl.max(s, axis=0))
        p = tl.exp(s - higher)
        shrink = tl.exp(peak - higher)
        v = tl.load(v_cache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        acc = acc * shrink + tl.sum(p[:, None] * v, axis=0)
        total = total * shrink + tl.sum(p, axis=0)
        peak = higher
    tl.store(out_ptr + seq * D + d, acc / total)


@triton.jit
def chunk_recurrence(q_ptr, k_ptr, v_ptr, out_ptr, T, decay, D: tl.constexpr, C: tl.constexpr):
    """Linear attention with decay: a state carried from chunk to chunk."""
    i, d = tl.arange(0, C), tl.arange(0, D)
    state = tl.zeros([D, D], dtype=tl.float32)
    inner = tl.where(i[:, None] >= i[None, :], tl.exp2((i[:, None] - i[None, :]) * decay), 0.0)
    for start in range(0, T, C):
        at = (start + i)[:, None] * D + d[None, :]
        mask = (start + i)[:, None] < T
        q, k, v = tl.load(q_ptr + at, mask=mask, other=0.0), tl.load(k_ptr + at, mask=mask, other=0.0), tl.load(v_ptr + at, mask=mask, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * inner
        out = tl.dot(s, v, input_precision="ieee") + tl.dot(q, state, input_precision="ieee") * tl.exp2((i + 1) * decay)[:, None]
        state = state * tl.exp2(C * decay) + tl.dot(tl.trans(k * tl.exp2((C - 1 - i) * decay)[:, None]), v, input_precision="ieee")
        tl.store(out_ptr + at, out, mask=mask)


@triton.jit
def scaled_dot(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Microscaling: one power of two for every 32 values along K."""
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + g[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + g[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3"))


@triton.jit
def scaled_dot_fp4(a_ptr, a_scale_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A holds two numbers of four bits in a byte; B has no scale."""
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * (K // 2) + tl.arange(0, K // 2)[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + g[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot_scaled(a, a_scale, "e2m1", b, None, "bf16"))


@triton.jit
def transposed_operands(a_ptr, b_ptr, c_ptr):
    """trans_a and trans_b as of Triton 1."""
    i = tl.arange(0, 16)
    square = i[:, None] * 16 + i[None, :]
    tl.store(c_ptr + square, tl.dot(tl.load(a_ptr + square), tl.load(b_ptr + square), trans_a=True, trans_b=True, input_precision="ieee"))


@triton.jit
def one_dim_blocks(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, n, 1, tl.program_id(0) * BLOCK, (BLOCK,), (0,))
    o = tl.make_block_ptr(o_ptr, (n,), (1,), tl.program_id(0) * BLOCK, BLOCK, 0)
    x, o = tl.advance(x, BLOCK // 2), tl.advance(o, (BLOCK // 2,))
    tl.store(o, tl.load(x, boundary_check=0) * 2, boundary_check=(0,))
