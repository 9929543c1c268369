# SPDX-License-Identifier: Apache-2.0
"""Memory: atomics, gathers, pointer tables, convolution, quantisation, random numbers."""
import triton
import triton.language as tl

CASES = [
    ("atomics", "*fp32, *i32, *u32, *fp16, *i64, i32, BLOCK=64"),
    ("atomics_scalar", "*fp32, *i32, *fp64, i32"),
    ("histogram_with_atomics", "*i32, *i32, i32, BLOCK=128, BINS=64"),
    ("embedding_forward", "*bf16, *i64, *bf16, i32, i32, BLOCK_M=8, BLOCK_N=64"),
    ("embedding_backward", "*fp32, *i64, *fp32, i32, i32, BLOCK_M=8, BLOCK_N=64"),
    ("conv2d", "*fp16, *fp16, *fp32, i32, i32, i32, i32, i32, i32, KH=3, KW=3, STRIDE=1, PAD=1, BLOCK_P=32, BLOCK_C=16, BLOCK_F=32"),
    ("depthwise_conv1d", "*bf16, *bf16, *bf16, *bf16, i32, i32, WIDTH=4, BLOCK=64, SILU=True"),
    ("pointer_table", "*i64, *fp32, i32, BLOCK=64"),
    ("dropout", "*fp32, *fp32, i32, fp32, i32, BLOCK=256"),
    ("random_numbers", "*fp32, *i32, i64, i32, BLOCK=64"),
    ("random_numbers_64", "*fp32, *i64, i32, BLOCK=64"),
    ("quantize_int8", "*fp32, *i8, *fp32, i32, BLOCK=128"),
    ("dequantize_int4", "*u8, *fp16, *fp16, i32, BLOCK=64, GROUP=32"),
    ("fp8_block_quant", "*bf16, *fp8e4nv, *fp32, BLOCK=128"),
    ("transpose_copy", "*fp32, *fp32, i32, i32, BLOCK=32"),
    ("block_pointer_corners", "*fp16, *i1, *fp32, i32, i32, BLOCK=16"),
    ("bool_memory", "*i1, *i1, *fp32, i32, BLOCK=32"),
    ("load_options", "*fp32, *fp32, i32, BLOCK=32"),
    ("descriptor_corners", "*fp32, *fp32, *i32, i32, i32, BLOCK=16"),
    ("moe_gather_gemm", "*bf16, *bf16, *bf16, *i32, *i32, *fp32, i32, i32, i32, i32, BLOCK_M=16, BLOCK_N=32, BLOCK_K=32, TOP_K=2, SCALED=True"),
    ("selective_scan_step", "*fp32, *bf16, *fp32, *fp32, *bf16, *fp32, *bf16, i32, i32, BLOCK_D=32, BLOCK_N=16, HAS_D=True, SOFTPLUS=True"),
    ("two_pass_cumsum", "*fp32, *fp32, *fp32, i32, BLOCK=128"),
    ("masked_mean_pool", "*fp16, *i1, *fp32, i32, i32, BLOCK=32, D=32"),
]


@triton.jit
def atomics(f_ptr, i_ptr, u_ptr, h_ptr, l_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_add(f_ptr + i, 1.5, mask=mask)
    old = tl.atomic_add(i_ptr + i, i, mask=mask, sem="acquire", scope="cta")
    tl.atomic_max(i_ptr + i, old)
    tl.atomic_min(u_ptr + i, 7, mask=mask)
    tl.atomic_max(f_ptr + i, i.to(tl.float32), mask=mask)
    tl.atomic_min(f_ptr + i, -2.0)
    tl.atomic_and(i_ptr + i, 3)
    tl.atomic_or(i_ptr + i, 8, mask=mask)
    tl.atomic_xor(i_ptr + i, i)
    tl.atomic_xchg(l_ptr + i, 5)
    tl.atomic_add(h_ptr + i, 1.0, sem="relaxed", scope="sys")
    tl.atomic_cas(i_ptr + i, i, old)


@triton.jit
def atomics_scalar(f_ptr, i_ptr, d_ptr, n):
    ticket = tl.atomic_add(i_ptr, 1)
    tl.atomic_max(d_ptr, 2.5)
    previous = tl.atomic_cas(i_ptr + 1, 0, ticket)
    if previous == 0:
        tl.atomic_add(f_ptr, n * 0.5, sem="release")


@triton.jit
def histogram_with_atomics(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0)
    counts = tl.histogram(x, BINS)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)
    masked = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), masked, sem="relaxed")
    tl.atomic_add(out_ptr + x, 1, mask=mask)


@triton.jit
def embedding_forward(table_ptr, index_ptr, out_ptr, n, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    index = tl.load(index_ptr + rows, mask=rows < n, other=0)
    mask = (rows[:, None] < n) & (cols[None, :] < dim)
    value = tl.load(table_ptr + index[:, None] * dim + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * dim + cols[None, :], value, mask=mask)


@triton.jit
def embedding_backward(grad_ptr, index_ptr, table_ptr, n, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n) & (cols[None, :] < dim)
    index = tl.load(index_ptr + rows, mask=rows < n, other=0)
    grad = tl.load(grad_ptr + rows[:, None] * dim + cols[None, :], mask=mask, other=0.0)
    tl.atomic_add(table_ptr + index[:, None] * dim + cols[None, :], grad, mask=mask)


@triton.jit
def conv2d(x_ptr, w_ptr, out_ptr, C, H, W, F, OH, OW, KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr,
           PAD: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_F: tl.constexpr):
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    oh = p // OW
    ow = p % OW
    acc = tl.zeros((BLOCK_P, BLOCK_F), dtype=tl.float32)
    for kh in range(KH):
        for kw in range(KW):
            for c0 in range(0, C, BLOCK_C):
                c = c0 + tl.arange(0, BLOCK_C)
                ih = kh - PAD + STRIDE * oh
                iw = kw - PAD + STRIDE * ow
                x = tl.load(x_ptr + (c[None, :] * H + ih[:, None]) * W + iw[:, None],
                            mask=(c < C)[None, :] & (ih >= 0)[:, None] & (ih < H)[:, None] & (iw >= 0)[:, None] & (iw < W)[:, None], other=0.0)
                w = tl.load(w_ptr + ((f[None, :] * C + c[:, None]) * KH + kh) * KW + kw,
                            mask=(c < C)[:, None] & (f < F)[None, :], other=0.0)
                acc += tl.dot(x, w, allow_tf32=False)
    tl.store(out_ptr + f[None, :] * OH * OW + p[:, None], acc, mask=(p < OH * OW)[:, None] & (f < F)[None, :])


@triton.jit
def depthwise_conv1d(x_ptr, w_ptr, b_ptr, out_ptr, T, D, WIDTH: tl.constexpr, BLOCK: tl.constexpr, SILU: tl.constexpr):
    t = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    acc = tl.load(b_ptr + d, mask=mask, other=0.0).to(tl.float32)
    for k in tl.static_range(WIDTH):
        at = t - (WIDTH - 1) + k
        x = tl.load(x_ptr + at * D + d, mask=mask & (at >= 0), other=0.0).to(tl.float32)
        w = tl.load(w_ptr + d * WIDTH + k, mask=mask, other=0.0).to(tl.float32)
        acc += x * w
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(out_ptr + t * D + d, acc, mask=mask)


@triton.jit
def pointer_table(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    which = tl.program_id(0)
    source = tl.load(table_ptr + which).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    x = tl.load(source + i, mask=i < n)
    tl.store(out_ptr + which * n + i, x, mask=i < n)


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    random = tl.rand(seed, i)
    keep = random > p
    tl.store(out_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def random_numbers(out_ptr, i_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.randn(seed, i))
    tl.store(i_ptr + i, tl.randint(seed, i, n_rounds=7).to(tl.int32, bitcast=True))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(i_ptr + i + BLOCK, (a ^ b ^ c ^ d).to(tl.int32))
    u1, u2, u3, u4 = tl.rand4x(3, i)
    tl.store(out_ptr + i + BLOCK, u1 + u2 + u3 + u4)


@triton.jit
def random_numbers_64(out_ptr, l_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offset = tl.load(l_ptr + i)
    tl.store(out_ptr + i, tl.rand(seed, offset))


@triton.jit
def quantize_int8(x_ptr, out_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    peak = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(peak, 1e-10) / 127.0
    y = x / scale
    y = tl.where(y >= 0, tl.floor(y + 0.5), tl.ceil(y - 0.5))
    y = tl.clamp(y, -128.0, 127.0)
    tl.store(out_ptr + row * n + i, y.to(tl.int8), mask=i < n)
    tl.store(scale_ptr + row, scale)


@triton.jit
def dequantize_int4(packed_ptr, scale_ptr, out_ptr, n, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + i // 2, mask=i < n, other=0)
    nibble = (packed >> ((i % 2) * 4).to(tl.uint8)) & 0xF
    scale = tl.load(scale_ptr + i // GROUP, mask=i < n, other=1.0)
    tl.store(out_ptr + i, (nibble.to(tl.float16) - 8.0) * scale, mask=i < n)


@triton.jit
def fp8_block_quant(x_ptr, y_ptr, s_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    s = tl.max(tl.abs(x)) / 448.
    y = x / s
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty))
    tl.store(s_ptr + pid, s)


@triton.jit
def transpose_copy(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(y_ptr + n[:, None] * M + m[None, :], x.T, mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def block_pointer_corners(x_ptr, flag_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    row = tl.make_block_ptr(x_ptr, (N, ), (1, ), (tl.program_id(0) * BLOCK, ), (BLOCK, ), (0, ))
    flags = tl.make_block_ptr(flag_ptr, (M, N), (N, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(0, M):
        total += tl.load(row, boundary_check=(0, ), padding_option="nan")
        row = row.advance([BLOCK])
    f = tl.load(flags, boundary_check=(1, 0))
    tl.store(out, f * total[None, :], boundary_check=[0])
    tl.store(out, 0.0)


@triton.jit
def bool_memory(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr)
    c = a & b
    tl.store(b_ptr + i, c | (i > 3))
    tl.store(a_ptr + i, 1)
    tl.store(out_ptr + i, tl.where(a, 1.0, 0.0) + c.to(tl.float32) + tl.sum(a.to(tl.int32)))
    if b:
        tl.store(out_ptr, 1)


@triton.jit
def load_options(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i, cache_modifier=".ca", eviction_policy="evict_last")
    b = tl.load(x_ptr + i, mask=i < n, cache_modifier=".cg", volatile=True)
    c = tl.load(x_ptr + i[:, None], mask=(i[None, :] < n) & (i[:, None] < n), other=a[None, :])
    d = tl.load(x_ptr, mask=n > 3, other=2)
    tl.store(out_ptr + i, a + b + tl.sum(c, 0) + d, cache_modifier=".wt")
    tl.store(out_ptr + i, 1, mask=n > 4, eviction_policy="evict_first", cache_modifier=".cs")
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], a[:, None], mask=i[None, :] < n)


@triton.jit
def descriptor_corners(x_ptr, out_ptr, i_ptr, M, N, BLOCK: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BLOCK], padding_option="nan")
    out = tl.make_tensor_descriptor(out_ptr, shape=[M, N], strides=[N, 1], block_shape=[1, BLOCK])
    rows = tl.load(i_ptr + tl.arange(0, 8))
    x = desc.gather(rows, 4)
    out.scatter(x, rows, 8)
    y = tl.load_tensor_descriptor(desc, [3, 0])
    tl.store_tensor_descriptor(out, [3, 0], y)
    tl.static_assert(desc.block_shape[1] == BLOCK)
    tl.store(out_ptr, desc.shape[0] + desc.strides[0])


@triton.jit
def moe_gather_gemm(a_ptr, b_ptr, c_ptr, token_ptr, expert_ptr, weight_ptr, N, K, tokens, valid, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, TOP_K: tl.constexpr, SCALED: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    if pid_m * BLOCK_M >= tokens:
        return
    slot = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    token = tl.load(token_ptr + slot)
    mask = token < valid
    expert = tl.load(expert_ptr + pid_m).to(tl.int64)
    if expert == -1:
        offs = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        tl.store(c_ptr + token[:, None] * N + offs[None, :], tl.zeros((BLOCK_M, BLOCK_N), tl.bfloat16), mask=mask[:, None] & (offs < N)[None, :])
        return
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (token[:, None] // TOP_K * K + offs_k[None, :])
    b_ptrs = b_ptr + expert * N * K + (offs_k[:, None] + offs_n[None, :] * K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=mask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc=acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    if SCALED:
        acc = acc * tl.load(weight_ptr + token, mask=mask, other=0)[:, None]
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + token[:, None] * N + cols[None, :], acc.to(tl.bfloat16), mask=mask[:, None] & (cols[None, :] < N))


@triton.jit
def softplus(x):
    return tl.where(x <= 20.0, tl.log(tl.exp(x) + 1), x)


@triton.jit
def selective_scan_step(state_ptr, x_ptr, dt_ptr, a_ptr, b_ptr, d_ptr, out_ptr, dim, dstate, BLOCK_D: tl.constexpr,
                        BLOCK_N: tl.constexpr, HAS_D: tl.constexpr, SOFTPLUS: tl.constexpr):
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, BLOCK_N)
    mask = (d[:, None] < dim) & (n[None, :] < dstate)
    state_ptrs = state_ptr + d[:, None] * dstate + n[None, :]
    state = tl.load(state_ptrs, mask=mask, other=0.0)
    x = tl.load(x_ptr + d, mask=d < dim, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + d, mask=d < dim, other=0.0).to(tl.float32)
    if SOFTPLUS:
        dt = softplus(dt)
    a = tl.load(a_ptr + d[:, None] * dstate + n[None, :], mask=mask, other=0.0)
    b = tl.load(b_ptr + n, mask=n < dstate, other=0.0).to(tl.float32)
    state = state * tl.exp(a * dt[:, None]) + b[None, :] * dt[:, None] * x[:, None]
    tl.store(state_ptrs, state, mask=mask)
    out = tl.sum(state * b[None, :], axis=1)
    if HAS_D:
        out += x * tl.load(d_ptr + d, mask=d < dim, other=0.0)
    tl.store(out_ptr + d, out, mask=d < dim)


@triton.jit
def two_pass_cumsum(x_ptr, out_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.float32)
    y = tl.cumsum(x, axis=0)
    tl.store(out_ptr + i, y, mask=i < n)
    tl.store(part_ptr + pid, tl.sum(x, axis=0))


@triton.jit
def masked_mean_pool(x_ptr, mask_ptr, out_ptr, rows, n, BLOCK: tl.constexpr, D: tl.constexpr):
    d = tl.arange(0, D)
    acc = tl.zeros([D], tl.float32)
    count = tl.zeros([], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        keep = tl.load(mask_ptr + i, mask=i < n, other=False)
        x = tl.load(x_ptr + i[:, None] * D + d[None, :], mask=keep[:, None], other=0.0)
        acc += tl.sum(x.to(tl.float32), axis=0)
        count += tl.sum(keep.to(tl.float32), axis=0)
    tl.store(out_ptr + d, acc / tl.maximum(count, 1.0))
