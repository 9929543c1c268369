# SPDX-License-Identifier: Apache-2.0
"""Matrix products: pointers, block pointers, descriptors, scales, batches."""
import triton
import triton.language as tl

CASES = [
    ("matmul_grouped", "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, stride_ak=1, i32:16, stride_bn=1, i32:16, stride_cn=1, "
     "BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=8, ACTIVATION='leaky_relu'"),
    ("matmul_grouped", "*bf16, *bf16, *bf16, i32, i32, i32, i32, i32, i32, i32, i32, i32, "
     "BLOCK_M=32, BLOCK_N=64, BLOCK_K=64, GROUP_M=4, ACTIVATION=''"),
    ("matmul_block_pointers", "*bf16:16, *bf16:16, *fp32:16, i32, i32, i32, i32, i32, i32, i32, i32, i32, BLOCK_M=64, BLOCK_N=32, BLOCK_K=32"),
    ("matmul_descriptors", "*fp16:16, *fp16:16, *fp16:16, i32, i32, i32, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32"),
    ("matmul_persistent", "*fp16:16, *fp16:16, *fp16:16, i32, i32, i32, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, NUM_SMS=16"),
    ("matmul_int8", "*i8, *i8, *i32, BLOCK=64"),
    ("matmul_float8_scaled", "*fp8e4nv, *fp8e4nv, *bf16, *fp32, *fp32, i32, i32, i32, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64"),
    ("matmul_batched", "*fp32, *fp32, *fp32, B=2, M=16, N=32, K=16"),
    ("dot_variants", "*fp16, *fp32, *fp32, BLOCK=32"),
    ("dot_scaled_formats", "*u8, *u8, *u8, *u8, *bf16, M=128, N=64, K=128"),
    ("gemv", "*fp16, *fp16, *fp16, i32, i32, BLOCK_M=32, BLOCK_K=64"),
    ("linear_bias_split_k", "*bf16, *bf16, *bf16, *fp32, i32, i32, i32, BLOCK=32, SPLIT_K=4, HAS_BIAS=True"),
    ("linear_bias_split_k", "*bf16, *bf16, None, *fp32, i32, i32, i32, BLOCK=32, SPLIT_K=1, HAS_BIAS=False"),
]


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_grouped(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                   ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    group = pid // in_group
    first_m = group * GROUP_M
    group_size = min(num_m - first_m, GROUP_M)
    pid_m = first_m + ((pid % in_group) % group_size)
    pid_n = (pid % in_group) // group_size
    tl.assume(pid_m >= 0)
    tl.assume(stride_am > 0)
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_am = tl.max_contiguous(tl.multiple_of(offs_am, BLOCK_M), BLOCK_M)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(c_ptr.dtype.element_ty)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


@triton.jit
def matmul_block_pointers(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    a_block = tl.make_block_ptr(base=a_ptr, shape=(M, K), strides=(stride_am, stride_ak), offsets=(pid_m * BLOCK_M, 0),
                                block_shape=(BLOCK_M, BLOCK_K), order=(1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (stride_bk, stride_bn), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1))
        acc += tl.dot(a, b)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(c_ptr, shape=(M, N), strides=(stride_cm, stride_cn),
                                offsets=(pid_m * BLOCK_M, pid_n * BLOCK_N), block_shape=(BLOCK_M, BLOCK_N), order=(1, 0))
    tl.store(c_block, acc.to(c_block.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def matmul_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    off_m = tl.program_id(0) * BLOCK_M
    off_n = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([off_m, k])
        b = b_desc.load([off_n, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([off_m, off_n], acc.to(tl.float16))
    c_desc.atomic_add([off_m, off_n], acc.to(c_desc.dtype))


@triton.jit
def tile_of(tile, in_group, num_m, GROUP_M: tl.constexpr):
    group = tile // in_group
    first = group * GROUP_M
    size = min(num_m - first, GROUP_M)
    return first + (tile % size), (tile % in_group) // size


@triton.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                      NUM_SMS: tl.constexpr):
    start = tl.program_id(axis=0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    k_tiles = tl.cdiv(K, BLOCK_K)
    offs_k = tl.arange(0, BLOCK_K)
    for tile in tl.range(start, num_m * num_n, NUM_SMS, flatten=True, num_stages=3):
        pid_m, pid_n = tile_of(tile, 8 * num_n, num_m, 8)
        offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_m = tl.where(offs_m < M, offs_m, 0)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            k = ki * BLOCK_K + offs_k
            a = tl.load(a_ptr + offs_m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + offs_n[None, :], mask=(k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(tl.float16), mask=offs_n[None, :] < N)


@triton.jit
def matmul_int8(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    index = i[:, None] * BLOCK + i[None, :]
    c = tl.dot(tl.load(a_ptr + index), tl.load(b_ptr + index), out_dtype=tl.int32)
    tl.store(c_ptr + index, c)


@triton.jit
def matmul_float8_scaled(a_ptr, b_ptr, c_ptr, a_s_ptr, b_s_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                         BLOCK_K: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    k_steps = tl.cdiv(K, BLOCK_K)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_n[None, :] * K + offs_k[:, None]
    a_s_ptrs = a_s_ptr + offs_m * k_steps
    b_s_ptrs = b_s_ptr + (offs_n // BLOCK_K) * k_steps
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(k_steps):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - i * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - i * BLOCK_K, other=0.0)
        a_s = tl.load(a_s_ptrs)
        b_s = tl.load(b_s_ptrs)
        accumulator += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
        a_s_ptrs += 1
        b_s_ptrs += 1
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def matmul_batched(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a_ptr + b * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b_ptr + b * K * N + k[None, :, None] * N + n[None, None, :])
    z = tl.dot(x, y, input_precision="tf32x3")
    z += tl.trans(tl.trans(z))
    z += tl.permute(z.permute(0, 2, 1), (0, 2, 1))
    tl.store(c_ptr + b * M * N + m[None, :, None] * N + n[None, None, :], z)


@triton.jit
def dot_variants(h_ptr, f_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    index = i[:, None] * BLOCK + i[None, :]
    h = tl.load(h_ptr + index)
    f = tl.load(f_ptr + index)
    z = tl.dot(f, f, allow_tf32=False) + tl.dot(f, f.T, allow_tf32=True)
    z = tl.dot(h, tl.trans(h), acc=z)
    half = tl.dot(h, h, out_dtype=tl.float16)
    z += half + tl.dot(f.to(tl.bfloat16), h.to(tl.bfloat16))
    tl.store(out_ptr + index, z)


@triton.jit
def dot_scaled_formats(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    s = tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + s[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + s[None, :])
    acc = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e5m2")
    half = tl.load(a_ptr + m[:, None] * K // 2 + tl.arange(0, K // 2)[None, :])
    acc = tl.dot_scaled(half, a_scale, "e2m1", b, None, "e5m2", acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def gemv(a_ptr, x_ptr, y_ptr, M, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M, ), tl.float32)
    for k in tl.range(0, K, BLOCK_K, num_stages=2):
        cols = k + tl.arange(0, BLOCK_K)
        mask = (rows < M)[:, None] & (cols < K)[None, :]
        a = tl.load(a_ptr + rows[:, None] * K + cols[None, :], mask=mask, other=0)
        x = tl.load(x_ptr + cols, mask=cols < K, other=0)
        acc += tl.sum(a.to(tl.float32) * x.to(tl.float32), axis=1)
    tl.store(y_ptr + rows, acc, mask=rows < M)


@triton.jit
def linear_bias_split_k(x_ptr, w_ptr, bias_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr, SPLIT_K: tl.constexpr, HAS_BIAS: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    pid_k = tl.program_id(2)
    rm = pid_m * BLOCK + tl.arange(0, BLOCK)
    rn = pid_n * BLOCK + tl.arange(0, BLOCK)
    rk = pid_k * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK * SPLIT_K)):
        k_left = K - k * (BLOCK * SPLIT_K)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=rk[None, :] < k_left, other=0.)
        w = tl.load(w_ptr + rn[None, :] * K + rk[:, None], mask=rk[:, None] < k_left, other=0.)
        acc += tl.dot(x, w)
        rk += BLOCK * SPLIT_K
    if HAS_BIAS:
        if pid_k == 0:
            acc += tl.load(bias_ptr + rn, mask=rn < N, other=0.0)[None, :]
    if bias_ptr is not None:
        acc *= 1.0
    out = out_ptr + rm[:, None] * N + rn[None, :]
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    if SPLIT_K == 1:
        tl.store(out, acc, mask=mask)
    else:
        tl.atomic_add(out, acc, mask=mask, sem="relaxed")
