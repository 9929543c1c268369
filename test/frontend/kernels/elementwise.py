# SPDX-License-Identifier: Apache-2.0
"""One value in, one value out: activations, casts, masks."""
import triton
import triton.language as tl
from triton.language.extra import libdevice

CASES = [
    ("add", "*fp32:16, *fp32:16, *fp32:16, i32:16, BLOCK=1024"),
    ("add", "*bf16, *bf16, *bf16, i32, BLOCK=256"),
    ("silu", "*bf16:16, *bf16:16, i32, BLOCK=512"),
    ("gelu_erf", "*fp16, *fp16, i64, BLOCK=128"),
    ("gelu_tanh", "*fp32, *fp32, i32, BLOCK=128"),
    ("mixed_types", "*fp16, *bf16, *i8, *u8, *fp32, i32, BLOCK=64"),
    ("integer_arithmetic", "*i32, *i64, *u32, *i64, i32, BLOCK=64"),
    ("comparisons_and_bits", "*i32, *u32, *i1, i32, BLOCK=64"),
    ("casts", "*fp32, *fp16, *bf16, *i8, *u16, *i64, *fp64, BLOCK=64"),
    ("float8_round_trip", "*fp16, *fp8e5, *fp8e4nv, *fp16, BLOCK=64"),
    ("where_and_clamp", "*fp32, *bf16, *fp32, i32, fp32, fp32, BLOCK=64"),
    ("math_functions", "*fp32, *fp32, BLOCK=64"),
    ("device_library", "*fp32, *fp64, *fp32, BLOCK=64"),
    ("scalar_constants", "*fp32, *i64, *u64, BLOCK=64"),
    ("swiglu_forward", "*bf16:16, *bf16:16, *bf16:16, i32:16, n_cols=200, BLOCK=256"),
    ("swiglu_backward", "*bf16:16, *bf16:16, *bf16:16, i32:16, n_cols=200, BLOCK=256"),
]


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = x * tl.sigmoid(x)
    tl.store(out_ptr + offsets, y.to(tl.bfloat16), mask=mask)


@triton.jit
def gelu_erf(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, y, mask=mask)


@triton.jit
def gelu_tanh(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + offsets, 0.5 * x * (1 + libdevice.tanh(inner)), mask=mask)


@triton.jit
def mixed_types(h_ptr, b_ptr, s_ptr, u_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    h = tl.load(h_ptr + i)
    b = tl.load(b_ptr + i)
    s = tl.load(s_ptr + i)
    u = tl.load(u_ptr + i)
    scale = 0.5
    out = h * 2 + h / 3
    out += b * scale
    out = out + b * 0.25 + h * b + s / 7 + u * 1.5 + (s + 1) * h
    out = out + (s + u) + (h / b) + (h % 3.0) + n / 4
    out = tl.maximum(out, h) + tl.minimum(b, b) + tl.maximum(s, 3)
    tl.store(out_ptr + i, out + (h // 1.0 if False else h))


@triton.jit
def integer_arithmetic(a_ptr, b_ptr, u_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i)
    b = tl.load(b_ptr + i)
    u = tl.load(u_ptr + i)
    q = a // 7 + a % 7 + b // 3 - (-a) % 5
    q += (u // 9).to(tl.int64) + (u % 9)
    q = q * n - (a + b) * (a - n) + (u + a).to(tl.int64)
    q += tl.cdiv(a, 3) + tl.abs(a) + tl.umulhi(u, u).to(tl.int64)
    q = q + 4294967296 + (b << 3) + (a >> 2) + (u >> 4) + (u + 3000000000)
    tl.store(out_ptr + i, q)
    tl.store(out_ptr + u, a)


@triton.jit
def comparisons_and_bits(a_ptr, u_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i)
    u = tl.load(u_ptr + i)
    flag = (a < 3) & (a >= n) | (a != i) ^ (u > 5)
    flag = flag & ~(u <= 9) & (a == u)
    old = tl.load(out_ptr + i)
    flag = flag | old
    flag = flag & ((a & 1) == 1) & ((u | 6) < 100) & (n > 0)
    tl.store(out_ptr + i, flag)
    tl.store(out_ptr + i + BLOCK, not (n > 3))
    tl.store(out_ptr + i + 2 * BLOCK, (n > 3 and n < 10) or n == 20)


@triton.jit
def casts(f_ptr, h_ptr, b_ptr, s_ptr, w_ptr, l_ptr, d_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    f = tl.load(f_ptr + i)
    h = tl.load(h_ptr + i)
    b = tl.load(b_ptr + i)
    tl.store(s_ptr + i, f.to(tl.int8))
    tl.store(w_ptr + i, f.to(tl.uint16))
    tl.store(l_ptr + i, tl.cast(h, tl.int64))
    tl.store(d_ptr + i, b.to(tl.float64) + h.to(tl.float64))
    tl.store(h_ptr + i, b.to(tl.float16))
    tl.store(b_ptr + i, tl.cast(h, tl.bfloat16))
    tl.store(l_ptr + i, f.to(tl.int32, bitcast=True).to(tl.uint32))
    tl.store(h_ptr + i, f.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(d_ptr + i, (f > 0).to(tl.float32) + f.to(tl.int1).to(tl.int32))
    tl.store(b_ptr + i, tl.load(d_ptr + i).to(b_ptr.dtype.element_ty))
    tl.store(l_ptr + i, tl.load(w_ptr + i).to(tl.int16, bitcast=True))


@triton.jit
def float8_round_trip(x_ptr, wide_ptr, narrow_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(wide_ptr + i, x.to(tl.float8e5))
    tl.store(narrow_ptr + i, x.to(tl.float32).to(tl.float8e4nv))
    a = tl.load(wide_ptr + i).to(tl.float16)
    b = tl.load(narrow_ptr + i).to(tl.float32)
    tl.store(out_ptr + i, a + b)


@triton.jit
def where_and_clamp(x_ptr, b_ptr, out_ptr, n, low, high, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr + i, mask=i < n, other=-1.0, eviction_policy="evict_first", cache_modifier=".cg")
    y = tl.where(x > 0, x, 0.01 * x)
    y = tl.where(i < n, y, float("-inf"))
    y = tl.where(n > 3, y, b)
    y += tl.clamp(x, low, high) + tl.clamp(b, -1.0, 1.0)
    y += tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    y += min(n, 3) + max(low, high)
    tl.store(out_ptr + i, y, mask=i < n, eviction_policy="evict_last")


@triton.jit
def math_functions(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.exp(x) + tl.exp2(x) + tl.log(x) + tl.log2(x) + tl.sqrt(x) + tl.rsqrt(x)
    y += tl.sin(x) + tl.cos(x) + tl.floor(x) + tl.ceil(x) + tl.abs(x) + tl.math.erf(x)
    y += tl.math.sqrt_rn(x) + tl.div_rn(x, 3.0) + tl.fdiv(x, y) + tl.fma(x, y, x)
    y += x.exp().sqrt() - (-x)
    tl.store(out_ptr + i, y)


@triton.jit
def device_library(x_ptr, d_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    d = tl.load(d_ptr + i)
    y = libdevice.tanh(x) + libdevice.expm1(x) + libdevice.log1p(x) + libdevice.rint(x) + libdevice.pow(x, x)
    y += libdevice.pow(x, i) + libdevice.atan2(x, y) + libdevice.fast_expf(x) + libdevice.div_rn(x, y)
    y = tl.where(libdevice.isnan(x), y, libdevice.trunc(y))
    y += libdevice.ffs(i) + libdevice.popc(i) + libdevice.llrint(x)
    tl.store(out_ptr + i, y + libdevice.erf(d))


@triton.jit
def scalar_constants(out_ptr, l_ptr, u_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, float("inf"))
    tl.store(out_ptr + i, 1e-60)
    tl.store(out_ptr + i, 3)
    tl.store(l_ptr + i, 0x7FFFFFFFFFFFFFFF)
    tl.store(l_ptr + i, -1)
    tl.store(u_ptr + i, 0xFFFFFFFFFFFFFFFF)
    tl.store(u_ptr + i, (1 << 31) + 2**40)
    x = 5
    tl.store(l_ptr + i, x + 2**30)
    tl.store(out_ptr, True)


@triton.jit
def silu_of(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_forward(a_ptr, b_ptr, c_ptr, stride, n_cols: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    a_ptr += row * stride
    b_ptr += row * stride
    c_ptr += row * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    a = tl.load(a_ptr + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask, other=0)
    c = silu_of(a).cast(b.dtype) * b
    tl.store(c_ptr + cols, c, mask=mask)


@triton.jit
def swiglu_backward(dc_ptr, a_ptr, b_ptr, stride, n_cols: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    dc_ptr += row * stride
    a_ptr += row * stride
    b_ptr += row * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    dc = tl.load(dc_ptr + cols, mask=mask, other=0)
    a = tl.load(a_ptr + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask, other=0)
    sig = tl.sigmoid(a)
    gate = a * sig
    db = dc * gate
    da = dc * (gate * (1 - sig) + sig) * b
    tl.store(a_ptr + cols, da, mask=mask)
    tl.store(b_ptr + cols, db, mask=mask)
