# SPDX-License-Identifier: Apache-2.0
"""Kernels of the interpreter's tests. dump_ttir.py turns them into the .ttir files beside this one.

SIGNATURES maps a kernel to its parameters: Triton's short types, and constants as they are.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax(out_ptr, x_ptr, row_stride, n_rows, n_cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        columns = tl.arange(0, BLOCK)
        mask = columns < n_cols
        x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * row_stride + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    c_rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    c_columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + c_rows[:, None] * N + c_columns[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(c_rows[:, None] < M) & (c_columns[None, :] < N))


@triton.jit
def matmul_block(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a_block = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (pid_m * BLOCK_M, pid_n * BLOCK_N), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def matmul_descriptor(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      BLOCK_K: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([pid_m * BLOCK_M, k])
        b = b_desc.load([k, pid_n * BLOCK_N])
        acc = tl.dot(a, b, acc)
    c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x) / n
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred) / n + eps)
    w = tl.load(w_ptr + columns, mask=mask)
    b = tl.load(b_ptr + columns, mask=mask)
    tl.store(out_ptr + row * n + columns, centred * rstd * w + b, mask=mask)


@triton.jit
def linear_step(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans(x_ptr, sum_ptr, reverse_ptr, a_ptr, linear_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(sum_ptr + at, tl.cumsum(x, axis=1))
    tl.store(reverse_ptr + at, tl.cumsum(x, axis=0, reverse=True))
    _, linear = tl.associative_scan((tl.load(a_ptr + at), x), 1, linear_step)
    tl.store(linear_ptr + at, linear)


@triton.jit
def arg_reductions(x_ptr, best_ptr, where_ptr, lowest_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    best, where = tl.max(x, axis=1, return_indices=True)
    tl.store(best_ptr + rows, best)
    tl.store(where_ptr + rows, where)
    tl.store(lowest_ptr + tl.arange(0, COLUMNS), tl.argmin(x, axis=0))


@triton.jit
def sort_rows(x_ptr, out_ptr, down_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.sort(x))
    tl.store(down_ptr + at, tl.sort(x, descending=True))


@triton.jit
def shapes(x_ptr, y_ptr, joined_ptr, woven_ptr, even_ptr, turned_ptr, flipped_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    joined = tl.join(x, y)
    tl.store(joined_ptr + i[:, None] * 2 + tl.arange(0, 2)[None, :], joined)
    tl.store(woven_ptr + tl.arange(0, 2 * N), tl.interleave(x, y))
    even, odd = tl.split(tl.reshape(x, (N // 2, 2)))
    tl.store(even_ptr + tl.arange(0, N // 2), even - odd)
    turned = tl.trans(tl.reshape(x, (2, 2, N // 4)), 2, 0, 1)
    tl.store(turned_ptr + i, tl.reshape(turned, (N,)))
    tl.store(flipped_ptr + i, tl.flip(x, 0))


@triton.jit
def histogram_gather(x_ptr, bins_ptr, table_ptr, taken_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(bins_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=i < n))
    table = tl.load(table_ptr + tl.arange(0, BINS))
    tl.store(taken_ptr + i, tl.gather(table, x, 0), mask=i < n)


@triton.jit
def atomics(x_ptr, sum_ptr, max_ptr, count_ptr, bits_ptr, swap_ptr, old_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.atomic_add(sum_ptr + offsets % 4, x, mask=mask)
    tl.atomic_max(max_ptr, tl.max(x, axis=0))
    old = tl.atomic_add(count_ptr, 1)
    tl.store(old_ptr + pid, old)
    tl.atomic_xor(bits_ptr + tl.zeros_like(offsets), offsets, mask=mask)
    tl.atomic_cas(swap_ptr, pid, pid + 1)


@triton.jit
def locked_sum(lock_ptr, x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(sum_ptr, tl.load(sum_ptr) + total)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def collatz(x_ptr, steps_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    value = tl.load(x_ptr + pid)
    steps = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(steps_ptr + pid, steps)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr, DIM: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, DIM)
    q = tl.load(q_ptr + rows[:, None] * DIM + dims[None, :], mask=rows[:, None] < length, other=0.0)
    highest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, DIM), tl.float32)
    for start in range(0, length, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + columns[:, None] * DIM + dims[None, :], mask=columns[:, None] < length, other=0.0)
        v = tl.load(v_ptr + columns[:, None] * DIM + dims[None, :], mask=columns[:, None] < length, other=0.0)
        allowed = columns[None, :] < length
        if CAUSAL:
            allowed = allowed & (rows[:, None] >= columns[None, :])
        scores = tl.where(allowed, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        p = tl.exp2(scores - higher[:, None])
        correction = tl.exp2(highest - higher)
        total = total * correction + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * correction[:, None])
        highest = higher
    out = acc / total[:, None]
    tl.store(out_ptr + rows[:, None] * DIM + dims[None, :], out.to(out_ptr.dtype.element_ty),
             mask=rows[:, None] < length)


@triton.jit
def random(uniform_ptr, normal_ptr, bits_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(uniform_ptr + i, tl.rand(seed, i))
    tl.store(normal_ptr + i, tl.randn(seed, i))
    tl.store(bits_ptr + i, tl.randint(seed, i))


@triton.jit
def extremes(x_ptr, y_ptr, max_ptr, maximum_ptr, min_ptr, clamp_ptr, clamp_nan_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(max_ptr + i, tl.maximum(x, y))
    tl.store(maximum_ptr + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(min_ptr + i, tl.minimum(x, y))
    tl.store(clamp_ptr + i, tl.clamp(x, -1.0, 2.0))
    tl.store(clamp_nan_ptr + i, tl.clamp(x, -1.0, 2.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def casts(x_ptr, bf16_ptr, f16_ptr, e4m3_ptr, e5m2_ptr, i32_ptr, back_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(bf16_ptr + i, x.to(tl.bfloat16))
    tl.store(f16_ptr + i, x.to(tl.float16))
    small = x.to(tl.float8e4nv)
    tl.store(e4m3_ptr + i, small)
    tl.store(e5m2_ptr + i, x.to(tl.float8e5))
    tl.store(i32_ptr + i, x.to(tl.int32, bitcast=True) >> 3)
    tl.store(back_ptr + i, small.to(tl.float32))


@triton.jit
def integers(x_ptr, y_ptr, quotient_ptr, remainder_ptr, high_ptr, shift_ptr, unsigned_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(quotient_ptr + i, x // y)
    tl.store(remainder_ptr + i, x % y)
    tl.store(high_ptr + i, tl.umulhi(x.to(tl.uint32, bitcast=True), y.to(tl.uint32, bitcast=True)))
    tl.store(shift_ptr + i, (x >> 3) ^ (y << 2))
    tl.store(unsigned_ptr + i, x.to(tl.uint32, bitcast=True) // tl.abs(y).to(tl.uint32, bitcast=True))


@triton.jit
def functions(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.exp(x))
    tl.store(out_ptr + n + i, tl.log2(tl.abs(x)))
    tl.store(out_ptr + 2 * n + i, tl.sin(x) * tl.cos(x))
    tl.store(out_ptr + 3 * n + i, tl.erf(x))
    tl.store(out_ptr + 4 * n + i, tl.sigmoid(x))
    tl.store(out_ptr + 5 * n + i, tl.floor(x) + tl.ceil(x))
    tl.store(out_ptr + 6 * n + i, libdevice.tanh(x))
    tl.store(out_ptr + 7 * n + i, libdevice.log1p(tl.abs(x)))
    tl.store(out_ptr + 8 * n + i, libdevice.pow(tl.abs(x), 1.5))
    tl.store(out_ptr + 9 * n + i, tl.fma(x, x, -1.0))
    tl.store(out_ptr + 10 * n + i, tl.sqrt_rn(tl.abs(x)))
    tl.store(out_ptr + 11 * n + i, tl.div_rn(x, 3.0))
    tl.store(out_ptr + 12 * n + i, libdevice.rint(x))


@triton.jit
def scaled_dot(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * (K // 2) + tl.arange(0, K // 2)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    groups = tl.arange(0, K // 32)[None, :]
    a_scale = tl.load(a_scale_ptr + m * (K // 32) + groups)
    b_scale = tl.load(b_scale_ptr + tl.arange(0, N)[:, None] * (K // 32) + groups)
    c = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e4m3")
    tl.store(c_ptr + m * N + n, c)


@triton.jit
def pointer_table(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    source = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * n + i, tl.load(source + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def signed_step(x, y):
    if x > y:
        result = x - y
    else:
        result = x * 2
    return result


@triton.jit
def mapped(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(signed_step, tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def checks(x_ptr, limit, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.device_print("x", x)
    tl.device_assert(x < limit, "too large")


@triton.jit
def out_of_bounds(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i + 1))


@triton.jit
def racing(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x, axis=0))


@triton.jit
def shifted_in_place(x_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i + 1, tl.load(x_ptr + i))


@triton.jit
def foreign_code(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x_ptr + i, y)


TILE = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16}

SIGNATURES = {
    add: {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": 64},
    softmax: {"out_ptr": "*fp32", "x_ptr": "*fp32", "row_stride": "i32", "n_rows": "i32", "n_cols": "i32", "BLOCK": 128},
    matmul: {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32", **TILE},
    matmul_block: {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32", **TILE},
    matmul_descriptor: {"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32", **TILE},
    layer_norm: {"x_ptr": "*bf16", "w_ptr": "*fp32", "b_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "eps": "fp32", "BLOCK": 128},
    scans: {"x_ptr": "*fp32", "sum_ptr": "*fp32", "reverse_ptr": "*fp32", "a_ptr": "*fp32", "linear_ptr": "*fp32", "ROWS": 4, "COLUMNS": 16},
    arg_reductions: {"x_ptr": "*fp32", "best_ptr": "*fp32", "where_ptr": "*i32", "lowest_ptr": "*i32", "ROWS": 8, "COLUMNS": 32},
    sort_rows: {"x_ptr": "*i32", "out_ptr": "*i32", "down_ptr": "*i32", "ROWS": 2, "COLUMNS": 32},
    shapes: {"x_ptr": "*i32", "y_ptr": "*i32", "joined_ptr": "*i32", "woven_ptr": "*i32", "even_ptr": "*i32", "turned_ptr": "*i32", "flipped_ptr": "*i32", "N": 16},
    histogram_gather: {"x_ptr": "*i32", "bins_ptr": "*i32", "table_ptr": "*fp32", "taken_ptr": "*fp32", "n": "i32", "N": 64, "BINS": 8},
    atomics: {"x_ptr": "*fp32", "sum_ptr": "*fp32", "max_ptr": "*fp32", "count_ptr": "*i32", "bits_ptr": "*i32", "swap_ptr": "*i32", "old_ptr": "*i32", "n": "i32", "BLOCK": 32},
    locked_sum: {"lock_ptr": "*i32", "x_ptr": "*fp32", "sum_ptr": "*fp32", "n": "i32", "BLOCK": 32},
    collatz: {"x_ptr": "*i64", "steps_ptr": "*i32", "n": "i32"},
    attention: {"q_ptr": "*bf16", "k_ptr": "*bf16", "v_ptr": "*bf16", "out_ptr": "*fp32", "length": "i32", "scale": "fp32", "CAUSAL": True, "BLOCK_M": 16, "BLOCK_N": 16, "DIM": 32},
    random: {"uniform_ptr": "*fp32", "normal_ptr": "*fp32", "bits_ptr": "*i32", "seed": "i32", "N": 64},
    extremes: {"x_ptr": "*fp32", "y_ptr": "*fp32", "max_ptr": "*fp32", "maximum_ptr": "*fp32", "min_ptr": "*fp32", "clamp_ptr": "*fp32", "clamp_nan_ptr": "*fp32", "N": 64},
    casts: {"x_ptr": "*fp32", "bf16_ptr": "*bf16", "f16_ptr": "*fp16", "e4m3_ptr": "*fp8e4nv", "e5m2_ptr": "*fp8e5", "i32_ptr": "*i32", "back_ptr": "*fp32", "N": 64},
    integers: {"x_ptr": "*i32", "y_ptr": "*i32", "quotient_ptr": "*i32", "remainder_ptr": "*i32", "high_ptr": "*i32", "shift_ptr": "*i32", "unsigned_ptr": "*i32", "n": "i32", "N": 64},
    functions: {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "N": 64},
    scaled_dot: {"a_ptr": "*u8", "a_scale_ptr": "*u8", "b_ptr": "*fp8e4nv", "b_scale_ptr": "*u8", "c_ptr": "*fp32", "M": 16, "N": 16, "K": 64},
    pointer_table: {"table_ptr": "*i64", "out_ptr": "*fp32", "n": "i32", "BLOCK": 16},
    mapped: {"x_ptr": "*i32", "y_ptr": "*i32", "out_ptr": "*i32", "N": 32},
    checks: {"x_ptr": "*i32", "limit": "i32", "BLOCK": 4},
    out_of_bounds: {"x_ptr": "*fp32", "out_ptr": "*fp32", "BLOCK": 16},
    racing: {"x_ptr": "*fp32", "out_ptr": "*fp32", "BLOCK": 16},
    shifted_in_place: {"x_ptr": "*fp32", "BLOCK": 16},
    foreign_code: {"x_ptr": "*i32", "BLOCK": 16},
}
