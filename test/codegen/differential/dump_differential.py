# SPDX-License-Identifier: Apache-2.0
"""Kernels that the generated code and the interpreter must agree on; `python dump_differential.py DIR` writes them."""
import os, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton._C.libtriton import ir

CASES = []

def case(spec, grid=(1, 1, 1), aligned=(), **consts):
    """spec: a list of 'name:type:count[:low:high[:step]]' for arrays, multiples of step, and 'name:type=value' for scalars;
    aligned: the arrays that are known to begin at a multiple of 16 bytes."""
    def add(fn):
        CASES.append((fn, spec.split(), grid, aligned, consts))
        return fn
    return add

@case("x:fp8e4nv:300 a:fp8e5:300 b:bf16:300 c:fp16:300 d:fp8e4nv:300 n:i32=300", (3,), B=128)
@triton.jit
def fp8(x, a, b, c, d, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)*1.7
    tl.store(a + i, v.to(tl.float8e5), mask=m); tl.store(b + i, v.to(tl.bfloat16), mask=m)
    tl.store(c + i, v.to(tl.float16), mask=m); tl.store(d + i, v.to(tl.float8e4nv), mask=m)

@case("x:i32:300:-1000:1000 y:i32:300:-20:20 o:i32:3000 n:i32=300", (3,), B=128)
@triton.jit
def ints(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    a = tl.load(x + i, mask=m, other=1); b = tl.load(y + i, mask=m, other=1)
    b1 = tl.where(b == 0, 7, b)
    tl.store(o + i, a // b1, mask=m); tl.store(o + n + i, a % b1, mask=m)
    tl.store(o + 2*n + i, (a << 3) ^ (b >> 1), mask=m); tl.store(o + 3*n + i, tl.minimum(a, b) | tl.maximum(a, b), mask=m)
    ua = a.to(tl.uint32); ub = b1.to(tl.uint32)
    tl.store(o + 4*n + i, (ua // ub).to(tl.int32), mask=m); tl.store(o + 5*n + i, (ua % ub).to(tl.int32), mask=m)
    tl.store(o + 6*n + i, a.to(tl.int8).to(tl.int32) * b.to(tl.int16).to(tl.int32), mask=m)
    tl.store(o + 7*n + i, (a.to(tl.int64)*123456789 // b1).to(tl.int32), mask=m)
    tl.store(o + 8*n + i, tl.umulhi(ua, ub*65536).to(tl.int32) + tl.abs(b), mask=m)
    tl.store(o + 9*n + i, tl.cdiv(a, 7) + (ua >> 28).to(tl.int32), mask=m)

@case("a:fp16:1024 b:fp16:2048 c:fp32:2048", BM=32, BN=64, BK=32)
@triton.jit
def dot_f16(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x = tl.load(a + k[:, None]*BM + i[None, :]); y = tl.load(b + j[:, None]*BK + k[None, :])
    tl.store(c + i[:, None]*BN + j[None, :], tl.dot(tl.trans(x), tl.trans(y)))

# f32: multiply-adds by lanes, out of every way that operands lie; odd sizes, rows that are not aligned, a depth of more than
# a panel, an operand from registers.
@case("a:fp32:7000:-0.5:0.5 b:fp32:4900:-0.5:0.5 c:fp32:7000 M:i32=100 N:i32=70 K:i32=70", (2, 2), BM=64, BN=64, BK=32)
@triton.jit
def lanes(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :], mask=(i[:, None] < M) & (at + k[None, :] < K), other=0.)
        y = tl.load(b + (at + k[:, None])*N + j[None, :], mask=(at + k[:, None] < K) & (j[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

@case("a:fp32:16384:-0.5:0.5 b:fp32:8192:-0.5:0.5 c:fp32:8192 K:i32=128", BM=128, BN=64, BK=64)
@triton.jit
def lanes_transposed(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + (at + k[:, None])*BM + i[None, :]); y = tl.load(b + j[:, None]*K + at + k[None, :])
        acc += tl.dot(tl.trans(x), tl.trans(y), input_precision="ieee")
    tl.store(c + i[:, None]*BN + j[None, :], acc)

@case("a:fp32:2048:-0.05:0.05 b:fp32:2048:-0.05:0.05 c:fp32:4096", BM=64, BN=64, BK=32)
@triton.jit
def lanes_of_registers(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x = tl.load(a + i[:, None]*BK + k[None, :])*2; y = tl.load(b + k[:, None]*BN + j[None, :]) + 1
    s = tl.dot(x, y, input_precision="ieee")
    tl.store(c + i[:, None]*BN + j[None, :], tl.dot(s, s, input_precision="ieee"))

# Numbers that tf32 and a short sum of fp8 hold exactly, so that every order of additions gives the same: along and across the inner dim, and out of registers.
@case("a:fp32:7000:-2:2:0.125 b:fp32:4900:-2:2:0.125 c:fp32:7000 M:i32=100 N:i32=70 K:i32=70", (2, 2), BM=64, BN=64, BK=32)
@triton.jit
def tf32(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :], mask=(i[:, None] < M) & (at + k[None, :] < K), other=0.)
        y = tl.load(b + (at + k[:, None])*N + j[None, :], mask=(at + k[:, None] < K) & (j[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

@case("a:fp32:8192:-2:2:0.125 b:fp32:8192:-2:2:0.125 c:fp32:8192 K:i32=64", BM=128, BN=64, BK=32)
@triton.jit
def tf32_along(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :]); y = tl.load(b + j[:, None]*K + at + k[None, :])
        acc += tl.dot(x, tl.trans(y))
    tl.store(c + i[:, None]*BN + j[None, :], acc)

@case("a:fp32:8192:-2:2:0.125 b:fp32:8192:-2:2:0.125 c:fp32:8192 K:i32=64", BM=128, BN=64, BK=32)
@triton.jit
def tf32_across(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + (at + k[:, None])*BM + i[None, :]); y = tl.load(b + j[:, None]*K + at + k[None, :])
        acc += tl.dot(tl.trans(x), tl.trans(y))
    tl.store(c + i[:, None]*BN + j[None, :], acc)

@case("a:fp32:1024:-2:2:0.25 b:fp32:1024:-2:2:0.25 c:fp32:1024", BM=16, BN=16, BK=64)
@triton.jit
def tf32_small(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x = tl.load(a + i[:, None]*BK + k[None, :])*2; y = tl.load(b + k[:, None]*BN + j[None, :]) + 1
    s = tl.dot(x, y)
    tl.store(c + i[:, None]*BN + j[None, :], s)

@case("a:fp8e4nv:8192:-4:4:1 b:fp8e5:8192:-4:4:1 c:fp32:8192 K:i32=128", BM=64, BN=64, BK=64)
@triton.jit
def float8_along(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :]); y = tl.load(b + j[:, None]*K + at + k[None, :])
        acc = tl.dot(x, tl.trans(y), acc)
    tl.store(c + i[:, None]*BN + j[None, :], acc)

@case("a:fp8e5:8192:-4:4:1 b:fp8e5:8192:-4:4:1 c:fp32:8192 K:i32=128", BM=64, BN=64, BK=32)
@triton.jit
def float8_across(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :]); y = tl.load(b + (at + k[:, None])*BN + j[None, :])
        acc += tl.dot(x, y)*0.5
    tl.store(c + i[:, None]*BN + j[None, :], acc)

# Sums, differences, products and extremes of 16 bits, which are rounded each; and bytes of floats.
@case("x:fp16:1000 y:fp16:1000 o:fp16:1000 p:bf16:1000 q:i8:1000 r:fp16:4 n:i32=1000", B=1024)
@triton.jit
def halves(x, y, o, p, q, r, n, B: tl.constexpr):
    i = tl.arange(0, B); m = i < n
    a = tl.load(x + i, mask=m, other=0.); b = tl.load(y + i, mask=m, other=0.)
    c = tl.maximum(a*b - a, b) + tl.abs(a)*-b
    tl.store(o + i, c, mask=m)
    u = a.to(tl.bfloat16); v = b.to(tl.bfloat16)
    tl.store(p + i, tl.minimum(u*v + v, u - v), mask=m)
    tl.store(q + i, (a*37.7).to(tl.int8), mask=m)
    tl.store(r, tl.max(c, 0)); tl.store(r + 1, tl.min(c, 0))

# Several results, one after the other, in one loop: the sum begins anew where a result ends.
@case("a:bf16:16384:-0.5:0.5 b:bf16:8192:-0.5:0.5 c:fp32:16384 K:i32=128", BM=64, BN=64, BK=32)
@triton.jit
def staged_restart(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    rounds = K // BK
    for step in range(0, 2*rounds):
        at = step % rounds * BK; top = step // rounds * BM
        x = tl.load(a + (top + i[:, None])*K + at + k[None, :]); y = tl.load(b + (at + k[:, None])*BN + j[None, :])
        acc = tl.dot(x, y, acc)
        if step % rounds == rounds - 1:
            tl.store(c + (top + i[:, None])*BN + j[None, :], acc)
            acc = tl.zeros((BM, BN), tl.float32)

# Bytes that lie along the inner dim, the left ones from before the loop.
@case("a:i8:8192:-128:127 b:i8:24576:-128:127 c:i32:12288 N:i32=192", BM=64, BN=64, BK=128)
@triton.jit
def staged_bytes(a, b, c, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); k = tl.arange(0, BK)
    x = tl.load(a + i[:, None]*BK + k[None, :])
    for first in range(0, N, BN):
        j = first + tl.arange(0, BN)
        y = tl.load(b + j[None, :]*BK + k[:, None])
        tl.store(c + i[:, None]*N + j[None, :], tl.dot(x, y))

# Loops whose loads are staged: masks, borders inside tiles, every way that operands lie, several products.
@case("a:bf16:7000 b:bf16:4900 c:fp32:7000 M:i32=100 N:i32=70 K:i32=70", (2, 2), BM=64, BN=64, BK=32)
@triton.jit
def staged(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :], mask=(i[:, None] < M) & (at + k[None, :] < K), other=0.)
        y = tl.load(b + (at + k[:, None])*N + j[None, :], mask=(at + k[:, None] < K) & (j[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

@case("a:fp16:16384 b:fp16:8192 c:fp32:8192 K:i32=128", BM=128, BN=64, BK=16)
@triton.jit
def staged_transposed(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x_at = a + k[:, None]*BM + i[None, :]; y_at = b + j[:, None]*K + k[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        acc += tl.dot(tl.trans(tl.load(x_at)), tl.trans(tl.load(y_at)))*0.5
        x_at += BK*BM
        y_at += BK
    tl.store(c + i[:, None]*BN + j[None, :], acc)

# Rows by loaded numbers, and pages whose numbers the loop loads.
@case("a:fp16:8192 rows:i32:64 b:fp16:8192 c:fp16:4096 count:i32=50", BM=64, BN=64, BK=32)
@triton.jit
def staged_rows(a, rows, b, c, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    r = tl.load(rows + i, mask=i < count, other=0) & 63
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, 128, BK):
        x = tl.load(a + r[:, None]*128 + (at + k)[None, :], mask=(i < count)[:, None], other=0.)
        acc = tl.dot(x, tl.load(b + (at + k)[:, None]*BN + j[None, :]), acc)
    tl.store(c + i[:, None]*BN + j[None, :], acc, mask=(i < count)[:, None])

@case("q:fp16:2048 pages:i32:9 k:fp16:8192 o:fp16:4608 n:i32=9", BM=16, BN=32, D=64)
@triton.jit
def staged_pages(q, pages, k, o, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); d = tl.arange(0, D)
    x = tl.load(q + i[:, None]*D + d[None, :])
    for at in range(0, n):
        page = tl.load(pages + at) & 3
        line = page*BN*D + j*D
        y = tl.load(k + line[None, :] + d[:, None])
        tl.store(o + at*BM*BN + i[:, None]*BN + j[None, :], tl.dot(x, y))

# Sizes and strides of which the file says by hand what divides them.
@case("a:bf16:16384 b:bf16:12288 c:bf16:12288 M:i32=128 N:i32=96 K:i32=128", (2, 2), BM=64, BN=64, BK=32)
@triton.jit
def staged_modulo(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = (tl.program_id(0)*BM + tl.arange(0, BM)) % M; j = (tl.program_id(1)*BN + tl.arange(0, BN)) % N; k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, tl.cdiv(K, BK)):
        x = tl.load(a + i[:, None]*K + at*BK + k[None, :], mask=k[None, :] < K - at*BK, other=0.)
        y = tl.load(b + (at*BK + k[:, None])*N + j[None, :], mask=k[:, None] < K - at*BK, other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None]*N + j[None, :], acc)

@case("a:i8:16384 b:i8:16384 c:i32:16384 d:i32:16384 K:i32=128", BM=128, BN=128, BK=64)
@triton.jit
def products_i8(a, b, c, d, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    along = tl.zeros((BM, BN), tl.int32); across = tl.zeros((BM, BN), tl.int32)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + (at + k)[None, :])
        along += tl.dot(x, tl.load(b + (at + k)[:, None] + j[None, :]*K), out_dtype=tl.int32)
        across += tl.dot(tl.load(a + i[:, None] + (at + k)[None, :]*BM), tl.load(b + (at + k)[:, None]*BN + j[None, :]), out_dtype=tl.int32)
    tl.store(c + i[:, None]*BN + j[None, :], along)
    tl.store(d + i[:, None]*BN + j[None, :], across)

@case("q:bf16:4096 k:bf16:6400 v:bf16:6400 o:bf16:4096 N:i32=100", BM=64, BN=32, D=64)
@triton.jit
def staged_attention(q, k, v, o, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BM); d = tl.arange(0, D)
    x = tl.load(q + i[:, None]*D + d[None, :])
    high = tl.full((BM,), -1e30, tl.float32); total = tl.zeros((BM,), tl.float32); acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, N, BN):
        j = at + tl.arange(0, BN)
        s = tl.dot(x, tl.trans(tl.load(k + j[:, None]*D + d[None, :], mask=j[:, None] < N, other=0.)))*0.125
        s = tl.where(j[None, :] < N, s, -1e30)
        now = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - now[:, None]); fix = tl.exp(high - now)
        total = total*fix + tl.sum(p, 1)
        y = tl.load(v + j[:, None]*D + d[None, :], mask=j[:, None] < N, other=0.)
        acc = tl.dot(p.to(tl.bfloat16), y, acc*fix[:, None])
        high = now
    tl.store(o + i[:, None]*D + d[None, :], (acc/total[:, None]).to(tl.bfloat16))

# Large enough that the second product runs into the next round.
@case("q:bf16:8192 k:bf16:19200 v:bf16:19200 o:bf16:8192 N:i32=300", BM=128, BN=64, D=64)
@triton.jit
def staged_attention_wide(q, k, v, o, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BM); d = tl.arange(0, D)
    x = tl.load(q + i[:, None]*D + d[None, :])
    high = tl.full((BM,), -1e30, tl.float32); total = tl.zeros((BM,), tl.float32); acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, N, BN):
        j = at + tl.arange(0, BN)
        s = tl.dot(x, tl.trans(tl.load(k + j[:, None]*D + d[None, :], mask=j[:, None] < N, other=0.)))*0.125
        s = tl.where(j[None, :] < N, s, -1e30)
        now = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - now[:, None]); fix = tl.exp(high - now)
        total = total*fix + tl.sum(p, 1)
        y = tl.load(v + j[:, None]*D + d[None, :], mask=j[:, None] < N, other=0.)
        acc = tl.dot(p.to(tl.bfloat16), y, acc*fix[:, None])
        high = now
    tl.store(o + i[:, None]*D + d[None, :], (acc/total[:, None]).to(tl.bfloat16))

@case("a:bf16:8192 b:bf16:8192 c:bf16:4096 n:i32=2", BM=64, BN=64, BK=32)
@triton.jit
def staged_nested(a, b, c, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for r in range(n):
        acc = tl.zeros((BM, BN), tl.float32)
        for at in range(0, 64, BK):
            x = tl.load(a + r*4096 + i[:, None]*64 + at + k[None, :])
            y = tl.load(b + r*4096 + (at + k[:, None])*BN + j[None, :])
            acc = tl.dot(x, y, acc)
        total += tl.where(r % 2 == 0, acc, -acc)
    tl.store(c + i[:, None]*BN + j[None, :], total.to(tl.bfloat16))

@case("a:i8:1024 b:i8:1024 c:i32:1024", BM=32, BN=32, BK=32)
@triton.jit
def dot_i8(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x = tl.load(a + i[:, None]*BK + k[None, :]); y = tl.load(b + k[:, None]*BN + j[None, :])
    tl.store(c + i[:, None]*BN + j[None, :], tl.dot(x, y))

# Attention in two loops: program 0 has no round of the first, and the last keys are cut.
@case("q:bf16:24576 k:bf16:20000 v:bf16:20000 o:bf16:24576 N:i32=300", (3,), BM=128, BN=64, D=64)
@triton.jit
def staged_attention_causal(q, k, v, o, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)*BM + tl.arange(0, BM); n = tl.arange(0, BN); d = tl.arange(0, D)
    qt = tl.load(q + row[:, None]*D + d[None, :])
    m = tl.full((BM,), -1e30, tl.float32); total = tl.zeros((BM,), tl.float32); acc = tl.zeros((BM, D), tl.float32)
    full = tl.minimum(tl.program_id(0)*BM, N)//BN*BN
    end = tl.minimum(tl.program_id(0)*BM + BM, N)
    for at in range(0, full, BN):
        kt = tl.trans(tl.load(k + (at + n[:, None])*D + d[None, :]))
        s = tl.dot(qt, kt)*0.125
        top = tl.maximum(m, tl.max(s, 1)); p = tl.exp(s - top[:, None]); alpha = tl.exp(m - top)
        vt = tl.load(v + (at + n[:, None])*D + d[None, :])
        total = total*alpha + tl.sum(p, 1); acc = tl.dot(p.to(tl.bfloat16), vt, acc*alpha[:, None]); m = top
    for at in range(full, end, BN):
        there = at + n < end
        kt = tl.trans(tl.load(k + (at + n[:, None])*D + d[None, :], mask=there[:, None], other=0.))
        s = tl.where((at + n)[None, :] <= row[:, None], tl.dot(qt, kt)*0.125, -1e30)
        s = tl.where(there[None, :], s, -1e30)
        top = tl.maximum(m, tl.max(s, 1)); p = tl.exp(s - top[:, None]); alpha = tl.exp(m - top)
        vt = tl.load(v + (at + n[:, None])*D + d[None, :], mask=there[:, None], other=0.)
        total = total*alpha + tl.sum(p, 1); acc = tl.dot(p.to(tl.bfloat16), vt, acc*alpha[:, None]); m = top
    tl.store(o + row[:, None]*D + d[None, :], (acc/total[:, None]).to(tl.bfloat16))

@case("a:fp64:1024 b:fp64:1024 c:fp64:1024", BM=32, BN=32, BK=32)
@triton.jit
def dot_f64(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    x = tl.load(a + i[:, None]*BK + k[None, :]); y = tl.load(b + k[:, None]*BN + j[None, :])
    tl.store(c + i[:, None]*BN + j[None, :], tl.dot(x, y, out_dtype=tl.float64))

# f64: matrix units of whole and cut tiles, along and across the inner dim, out of a loop that is staged.
@case("a:fp64:7000:-2:2:0.125 b:fp64:4900:-2:2:0.125 c:fp64:7000 M:i32=100 N:i32=70 K:i32=70", (2, 2), BM=64, BN=64, BK=16)
@triton.jit
def doubles(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float64)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None]*K + at + k[None, :], mask=(i[:, None] < M) & (at + k[None, :] < K), other=0.)
        y = tl.load(b + (at + k[:, None])*N + j[None, :], mask=(at + k[:, None] < K) & (j[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc, out_dtype=tl.float64)
    tl.store(c + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

@case("a:fp64:8192:-2:2:0.125 b:fp64:4096:-2:2:0.125 c:fp64:8192 K:i32=64", BM=128, BN=64, BK=32)
@triton.jit
def doubles_transposed(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float64)
    for at in range(0, K, BK):
        x = tl.load(a + (at + k[:, None])*BM + i[None, :]); y = tl.load(b + j[:, None]*K + at + k[None, :])
        acc += tl.dot(tl.trans(x), tl.trans(y), out_dtype=tl.float64)
    tl.store(c + i[:, None]*BN + j[None, :], acc)

@case("a:fp32:4096 b:fp32:4096 c:fp32:4096", N=16)
@triton.jit
def dot_batched(a, b, c, N: tl.constexpr):
    z = tl.arange(0, 4); i = tl.arange(0, N); j = tl.arange(0, N)
    o = z[:, None, None]*N*N + i[None, :, None]*N + j[None, None, :]
    x = tl.load(a + o); y = tl.load(b + o)
    tl.store(c + o, tl.dot(x, tl.permute(y, (0, 2, 1))))

@case("a:fp16:1024 b:fp16:1024 c:fp16:1024 K:i32=3", N=32)
@triton.jit
def dot_f16_acc(a, b, c, K, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i[:, None]*N + i[None, :]); y = tl.load(b + i[:, None]*N + i[None, :])
    acc = tl.zeros((N, N), dtype=tl.float16)
    for k in range(K):
        acc = tl.dot(x, y, acc, out_dtype=tl.float16)
        x = x*0.5
    tl.store(c + i[:, None]*N + i[None, :], acc)

@triton.jit
def wf(m1, s1, n1, m2, s2, n2):
    d = m2 - m1
    n = n1 + n2
    r = tl.where(n == 0., 0., n2/n)
    return m1 + d*r, s1 + s2 + d*d*n1*r, n

@case("x:fp32:2000 o:fp32:60 n:i32=100", (20,), B=128)
@triton.jit
def welford(x, o, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p*n + i, mask=i < n, other=0.)
    c = (i < n).to(tl.float32)
    m, s, k = tl.reduce((v, tl.zeros([B], tl.float32), c), 0, wf)
    tl.store(o + p*3, m); tl.store(o + p*3 + 1, s); tl.store(o + p*3 + 2, k)

@case("x:fp32:2048:-4:4 a:i32:64 b:i32:32 c:fp32:64 d:fp32:32", M=32, N=64)
@triton.jit
def arg2d(x, a, b, c, d, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M); j = tl.arange(0, N)
    v = tl.floor(tl.load(x + i[:, None]*N + j[None, :]))
    mn, mi = tl.min(v, 0, return_indices=True)
    tl.store(a + j, mi); tl.store(c + j, mn)
    tl.store(b + i, tl.argmax(v, 1)); tl.store(d + i, tl.max(v, 1))

@triton.jit
def lin(a1, b1, a2, b2):
    return a1*a2, b1*a2 + b2

@case("x:fp32:512 y:fp32:512 o:fp32:3072 p:i64:512", M=16, N=32)
@triton.jit
def scans(x, y, o, p, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M); j = tl.arange(0, N)
    at = i[:, None]*N + j[None, :]
    v = tl.load(x + at); w = tl.load(y + at)
    tl.store(o + at, tl.cumsum(v, 0)); tl.store(o + M*N + at, tl.cumsum(v, 1))
    tl.store(o + 2*M*N + at, tl.cumsum(v, 0, reverse=True)); tl.store(o + 3*M*N + at, tl.cumprod(w*0.3 + 1, 1, reverse=True))
    q, r = tl.associative_scan((v*0.2, w), 1, lin)
    tl.store(o + 4*M*N + at, q); tl.store(o + 5*M*N + at, r)
    tl.store(p + at, tl.cumsum((v*10).to(tl.int64), 1))

@case("x:fp32:512 y:fp32:512 o:fp32:4096", N=16)
@triton.jit
def shuffles(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N*32)
    a = tl.load(x + i); b = tl.load(y + i)
    t = tl.reshape(a, (4, 8, 16))
    tl.store(o + i, tl.reshape(tl.permute(t, (2, 0, 1)), (512,)))
    tl.store(o + 512 + tl.arange(0, 64), tl.reshape(tl.sum(t, 1), (64,)))
    tl.store(o + 1024 + tl.arange(0, 1024), tl.reshape(tl.join(a, b), (1024,)))
    tl.store(o + 2048 + tl.arange(0, 1024), tl.cat(a, b, can_reorder=True)*0 + 1)
    tl.store(o + 3072 + i, tl.reshape(tl.sort(tl.reshape(a, (32, 16))), (512,)))
    tl.store(o + 3584 + tl.arange(0, 128), tl.reshape(tl.max(tl.reshape(b, (4, 4, 32)), 0), (128,)))

@case("x:fp32:3000 y:fp32:3000 M:i32=50 N:i32=60", (2, 2), BM=32, BN=32)
@triton.jit
def block_ptr(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0)*BM, tl.program_id(1)*BN), (BM, BN), (1, 0))
    b = tl.make_block_ptr(y, (N, M), (M, 1), (tl.program_id(1)*BN, tl.program_id(0)*BM), (BN, BM), (1, 0))
    v = tl.load(a, boundary_check=(0, 1), padding_option="zero")
    tl.store(b, tl.trans(v)*2, boundary_check=(0, 1))

@case("x:fp32:3072 y:fp32:3072 M:i32=48 N:i32=64", (2, 2), BM=32, BN=32)
@triton.jit
def descriptor(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    b = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    v = a.load([tl.program_id(0)*BM, tl.program_id(1)*BN])
    b.store([tl.program_id(0)*BM, tl.program_id(1)*BN], v + 1)

@case("x:i32:256:0:50 h:i32:64:0:5 g:i32:64:0:5 f:fp32:64 e:fp16:64 o:i32:256 n:i32=250", (2,), B=128)
@triton.jit
def atomics_all(x, h, g, f, e, o, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m, other=0)
    tl.atomic_max(h + v, i, mask=m); tl.atomic_xor(g + v, i, mask=m)
    tl.atomic_add(f + v, v.to(tl.float32), mask=m); tl.atomic_add(e + v, tl.full([B], 0.5, tl.float16), mask=m)
    tl.store(o + i, tl.atomic_cas(g + 50 + i*0, i*0 + 9, i), mask=m)
    tl.atomic_and(h + 60, 3); tl.atomic_or(h + 61, 8); tl.atomic_xchg(h + 62, 77); tl.atomic_min(h + 63, -4)

@case("t:fp32:1000 idx:i64:100:0:100 o:fp32:1000 q:fp32:1000", (10,), D=10, B=16)
@triton.jit
def embedding(t, idx, o, q, D: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)*10 + tl.arange(0, B)
    rm = tl.arange(0, B) < 10
    j = tl.arange(0, B)
    k = tl.load(idx + r, mask=rm, other=0)
    m = rm[:, None] & (j[None, :] < D)
    v = tl.load(t + k[:, None]*D + j[None, :], mask=m, other=0.)
    tl.store(o + r[:, None]*D + j[None, :], v, mask=m)
    tl.store(q + (99 - r[:, None])*D + (9 - j[None, :]), v, mask=m)

@case("x:fp32:64:1:9 o:fp32:192 n:i32=5", B=64)
@triton.jit
def carried(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i); b = a + 1; c = tl.flip(a, 0)
    for k in range(n):
        a, b, c = b, a + b*0.25, tl.flip(c, 0) + a
    tl.store(o + i, a); tl.store(o + B + i, b)
    s = c
    while tl.max(s, 0) > 1.0:
        s = s*0.5
    tl.store(o + 2*B + i, s)

@case("x:fp32:300 b:i8:300 o:fp32:300 c:i8:300 n:i32=300", (3,), B=128)
@triton.jit
def odd_masks(x, b, o, c, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = (i < n) & (i % 3 != 1)
    v = tl.load(x + i, mask=m, other=5.0)
    w = tl.load(b + i, mask=i < n, other=0)
    q = (v > 0) | (w > 3)
    tl.store(c + i, q, mask=i < n)
    tl.store(o + i, tl.where(q & m, v, -1.0), mask=(i < n) & (i != 7))

@case("x:bf16:4000 y:bf16:4000 sx:i32=1 sy:i32=50 tx:i32=40 ty:i32=1 M:i32=37 N:i32=49", (2, 2), BM=32, BN=32)
@triton.jit
def strided(x, y, sx, sy, tx, ty, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN)
    m = (i[:, None] < M) & (j[None, :] < N)
    v = tl.load(x + i[:, None]*sx + j[None, :]*sy, mask=m)
    tl.store(y + i[:, None]*tx + j[None, :]*ty, v*2, mask=(i[:, None] < M) & (j[None, :] < 40))

@case("x:fp32:300 y:fp32:300", B=128)
@triton.jit
def overlap(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(x + i + 1, v)
    w = tl.load(y + (B - 1 - i))
    tl.store(y + i, w)
    u = tl.load(x + 128 + i)
    tl.store(x + 130 + i, u); tl.store(x + 131 + i, u*2)

@case("p:fp32:500 g:fp32:500 m:fp32:500 v:fp32:500:0:1 lr:fp32=0.1 n:i32=500", (4,), B=128)
@triton.jit
def adam(p, g, m, v, lr, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    k = i < n
    pv = tl.load(p + i, mask=k); gv = tl.load(g + i, mask=k); mv = tl.load(m + i, mask=k); vv = tl.load(v + i, mask=k)
    mv = 0.9*mv + 0.1*gv
    vv = 0.99*vv + 0.01*gv*gv
    pv -= lr*mv/(tl.sqrt(vv) + 1e-6)
    tl.store(p + i, pv, mask=k); tl.store(m + i, mv, mask=k); tl.store(v + i, vv, mask=k)

@case("x:fp32:500 o:fp32:500 n:i32=500 seed:i32=1234", (4,), B=128)
@triton.jit
def dropout(x, o, n, seed, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    r = tl.rand(seed, i)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.where(r > 0.3, v/0.7, 0.0), mask=i < n)

@case("x:i64:256:-100:100 o:i64:8 f:fp32:256 e:fp32:4", B=256)
@triton.jit
def reductions(x, o, f, e, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o, tl.sum(v, 0)); tl.store(o + 1, tl.xor_sum(v, 0)); tl.store(o + 2, tl.min(v, 0)); tl.store(o + 3, tl.max(v, 0))
    w = tl.load(f + i)
    tl.store(e, tl.sum(tl.where(w > 0, 1.0, 0.0), 0)); tl.store(e + 1, tl.min(w, 0)); tl.store(e + 2, tl.max(tl.abs(w), 0))

@case("x:bf16:300 o:bf16:300 n:i32=300", (4,), B=128)
@triton.jit
def bf16_chain(x, o, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    if tl.program_id(0) == 3:
        return
    v = tl.load(x + i, mask=i < n)
    a = v*v + v
    b = tl.maximum(a, v) - tl.minimum(a, 1.0)
    tl.store(o + i, tl.where(b > a, b, -a), mask=i < n)

@case("x:fp32:64 o:fp32:64 n:i32=2", (2,), B=32)
@triton.jit
def nested(x, o, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p*B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for a in range(n):
        row = tl.load(x + i) + a
        for b in range(a, n + 1):
            if b % 2 == 0:
                acc += row*b
            else:
                acc -= row
        acc = acc + tl.sum(row, 0)
    tl.store(o + i, acc)

@case("x:fp32:4096 o:fp32:1024 q:i32:512 r:fp32:1", A=8, M=16, N=32)
@triton.jit
def reduce3d(x, o, q, r, A: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    a = tl.arange(0, A); m = tl.arange(0, M); n = tl.arange(0, N)
    at = a[:, None, None]*M*N + m[None, :, None]*N + n[None, None, :]
    v = tl.load(x + at, mask=(a[:, None, None] < 7) & (m[None, :, None] < 13) & (n[None, None, :] < 30), other=0.5)
    tl.store(o + a[:, None]*N + n[None, :], tl.sum(v, 1))
    tl.store(o + 256 + m[:, None]*N + n[None, :], tl.max(v, 0))
    tl.store(o + 768 + a[:, None]*M + m[None, :], tl.min(v, 2))
    tl.store(q + m[:, None]*N + n[None, :], tl.argmax(v, 0))
    tl.store(r, tl.sum(v))

@case("x:i32:512:-9:9 o:i32:64 p:i8:64", N=32)
@triton.jit
def int_reductions(x, o, p, N: tl.constexpr):
    i = tl.arange(0, 16); j = tl.arange(0, N)
    v = tl.load(x + i[:, None]*N + j[None, :])
    tl.store(o + j, tl.argmin(v, 0)); tl.store(o + 32 + i, tl.sum(v, 1))
    tl.store(p + j, tl.reduce_or((v > 7).to(tl.int32), 0) > 0)
    k = tl.sum(v, 1, keep_dims=True)
    tl.store(o + 48 + i[:, None], k - tl.max(v, 1, keep_dims=True))

@case("x:fp32:512 idx:i32:512:0:16 jdx:i32:512:0:32 o:fp32:2048", M=16, N=32)
@triton.jit
def gather2d(x, idx, jdx, o, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M); j = tl.arange(0, N)
    at = i[:, None]*N + j[None, :]
    v = tl.load(x + at)
    tl.store(o + at, tl.gather(v*2, tl.load(idx + at), 0))
    tl.store(o + 512 + at, tl.gather(v, tl.load(jdx + at), 1))
    tl.store(o + 1024 + at, tl.flip(v, 1)); tl.store(o + 1536 + at, tl.flip(v, 0))

@case("x:bf16:512 y:fp16:512 o:bf16:512 p:fp16:512 q:fp32:512", M=16, N=32)
@triton.jit
def narrow_scans(x, y, o, p, q, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M); j = tl.arange(0, N)
    at = i[:, None]*N + j[None, :]
    a = tl.load(x + at); b = tl.load(y + at)
    tl.store(o + at, tl.maximum(a, a*a)); tl.store(p + at, b*b - b)
    tl.store(q + at, tl.exp(a.to(tl.float32)) + tl.sqrt(tl.abs(b).to(tl.float32)))

@case("x:fp32:300 o:fp32:300 c:i32:4 n:i32=300", (3,), B=128)
@triton.jit
def slots(x, o, c, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.)
    keep = (v > 0) & (i < n)
    base = tl.atomic_add(c, tl.sum(keep.to(tl.int32), 0))
    pos = base + tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(o + pos - base + tl.program_id(0)*B, v, mask=keep)

@case("x:fp32:256 o:fp32:256 s:fp32:4 flag:i32=1 k:i64=3", (2,), B=128)
@triton.jit
def branches(x, o, s, flag, k, B: tl.constexpr):
    p = tl.program_id(0)
    i = p*B + tl.arange(0, B)
    v = tl.load(x + i)
    t = tl.sum(v, 0)
    if t > 0:
        if flag == 1:
            v = v + 1
            t = t*2
        else:
            v = tl.zeros_like(v)
        w = tl.exp(v)
    else:
        w = v*v
        t = tl.max(v, 0)
    n = 0
    while n < k:
        w = w*0.5 + v
        n += 1
        if n == 2:
            t = t + 1
    tl.store(o + i, w)
    tl.store(s + p, t); tl.store(s + 2 + p, n.to(tl.float32), mask=p == 1)

@case("a:fp32:16384 b:fp32:16384 c:fp32:16384 d:fp32:128", N=128)
@triton.jit
def big_tile(a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None]*N + i[None, :]
    x = tl.load(a + at); y = tl.load(b + at)
    w = tl.load(d + i)
    z = tl.where(x > y, x, y)*w[None, :] + w[:, None]
    m = tl.max(z, 1)
    e = tl.exp(z - m[:, None])
    tl.store(c + at, e/tl.sum(e, 1)[:, None])

@case("a:fp32:2048 b:fp32:4096 c:fp32:2048 e:fp32:1024 K:i32=4", M=32, N=32, D=16)
@triton.jit
def chained_dots(a, b, c, e, K, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, M); j = tl.arange(0, N); d = tl.arange(0, D)
    x = tl.load(a + i[:, None]*D + d[None, :])
    acc = tl.zeros((M, D), tl.float32); other = tl.zeros((M, N), tl.float32)
    for k in range(K):
        y = tl.load(b + k*N*D + j[:, None]*D + d[None, :])
        s = tl.dot(x, y.T, input_precision="ieee")
        other = other*0.5 + s
        acc = tl.dot(s*0.01, y, acc*0.9, input_precision="ieee")
        x = acc*0.1 + x
    tl.store(c + i[:, None]*D + d[None, :], acc); tl.store(e + i[:, None]*N + j[None, :], other)

@case("x:fp32:640 o:fp32:640 n:i32=600", (5,), B=128)
@triton.jit
def clamp_etc(x, o, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = (i >= 10) & (i < n)
    v = tl.load(x + i, mask=m, other=1.0)
    v = tl.clamp(v, -1.0, 2.0) + tl.minimum(v, 0.5, propagate_nan=tl.PropagateNan.ALL)
    v = tl.fma(v, 2.0, tl.floor(v)) + tl.ceil(v) - tl.abs(v)
    u = (v*100).to(tl.int32)
    v += (u & 7).to(tl.float32) + (u >> 2).to(tl.float32) + u.to(tl.uint8).to(tl.float32)
    tl.store(o + i, tl.cos(v) + tl.log2(tl.abs(v) + 1) + tl.sigmoid(v) + tl.div_rn(v, 3.0) + tl.sqrt_rn(tl.abs(v)), mask=m)

@case("p:fp32:256 o:fp32:256 i:i32:256:0:256 n:i32=200", B=256)
@triton.jit
def scatter(p, o, i, n, B: tl.constexpr):
    r = tl.arange(0, B)
    j = tl.load(i + r, mask=r < n, other=0)
    a = tl.load(p + j, mask=(r < n) & (j % 2 == 0), other=-2.0)
    q = tl.where(a > 0, o + r, o + (B - 1 - r))
    tl.store(q, a, mask=(r < n) & (r < 100))
    b = tl.load(o + r)
    tl.store(o + (B - 1 - r), b*2)

@case("x:fp32:1024 y:fp32:1024 o:fp32:1024 p:fp32:1024", B=1024)
@triton.jit
def two_outputs(x, y, o, p, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i); b = tl.load(y + i)
    e = tl.exp(a)*tl.rsqrt(tl.abs(b) + 1)
    tl.store(o + i, e + b, mask=i < 700)
    tl.store(p + i, e*tl.sum(e, 0))
    tl.store(x + i, e, mask=i < 33)

@case("x:fp32:4096 o:fp32:64 s0:i32=64 M:i32=60 N:i32=50", B=16, C=32)
@triton.jit
def column_loop(x, o, s0, M, N, B: tl.constexpr, C: tl.constexpr):
    j = tl.program_id(0)*C + tl.arange(0, C)
    acc = tl.zeros([B, C], tl.float32); mx = tl.full([B, C], -1e9, tl.float32)
    for r in range(0, M, B):
        i = r + tl.arange(0, B)
        v = tl.load(x + i[:, None]*s0 + j[None, :], mask=(i[:, None] < M) & (j[None, :] < N), other=0.)
        acc += v
        mx = tl.maximum(mx, v)
    tl.store(o + j, tl.sum(acc, 0) + tl.max(mx, 0))

@triton.jit
def helper(a, b):
    return a*b + 1, a > b

@case("x:fp32:128 y:fp32:128 o:fp32:256", B=128)
@triton.jit
def calls(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    u, c = helper(tl.load(x + i), tl.load(y + i))
    for k in tl.static_range(3):
        u, d = helper(u, 0.5)
        c = c | d
    tl.store(o + i, u); tl.store(o + B + i, tl.where(c, 1.0, 0.0))

# Tiles that one instruction copies where the device has it: batches, tiles cut in every dim, several panels, and zeros where
# the masks say so.
@case("a:bf16:54400:-0.5:0.5 b:bf16:41344:-0.5:0.5 c:fp32:60800", (2, 2, 2), aligned=("a", "b"), M=200, N=152, K=136, BM=128, BN=128, BK=64)
@triton.jit
def boxes(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    batch = tl.program_id(2); tl.assume(batch < 2)
    i = tl.program_id(0)*BM + tl.arange(0, BM); j = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + batch*(M*K) + i[:, None]*K + at + k[None, :], mask=(i[:, None] < M) & (at + k[None, :] < K), other=0.)
        y = tl.load(b + batch*(K*N) + (at + k[:, None])*N + j[None, :], mask=(at + k[:, None] < K) & (j[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + batch*(M*N) + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

# The other way round; whole tiles, of which it is assumed where they end, and a part of the depth for each program.
@case("a:fp16:32768:-0.5:0.5 b:fp16:16384:-0.5:0.5 c:fp32:16384", (2, 2), aligned=("a", "b"), M=128, N=64, K=256, BM=64, BN=64, BK=32)
@triton.jit
def boxes_across(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0); part = tl.program_id(1)
    tl.assume(pid < M//BM); tl.assume(part < 2)
    i = pid*BM + tl.arange(0, BM); j = tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    pa = a + (part*(K//2) + k[None, :])*M + i[:, None]; pb = b + j[None, :]*K + part*(K//2) + k[:, None]
    for at in range(0, K//2, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK*M; pb += BK
    tl.store(c + part*(M*N) + i[:, None]*N + j[None, :], acc)

# By descriptors, whose sizes and strides are the launch's.
@case("a:bf16:28800:-0.5:0.5 b:bf16:23040:-0.5:0.5 c:fp32:32000 M:i32=200 N:i32=160 K:i32=144", (2, 2), aligned=("a", "b", "N", "K"), BM=128, BN=128, BK=64)
@triton.jit
def boxes_described(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    m0 = tl.program_id(0)*BM; n0 = tl.program_id(1)*BN
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        acc = tl.dot(left.load([m0, at]), right.load([at, n0]), acc)
    i = m0 + tl.arange(0, BM); j = n0 + tl.arange(0, BN)
    tl.store(c + i[:, None]*N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))

# Small tiles that every warp holds: from registers to lanes and back, from lane to lane, through a reshape whose rows are reduced, carried by a loop of known length, and elements
# that several threads load and one stores.
@case("x:fp32:4096 y:fp32:64 z:fp32:512 w:fp32:1024 h:fp16:64 n:i32=4", aligned=("x",))
@triton.jit
def warp_moves(x, y, z, w, h, n):
    i = tl.arange(0, 512); g = tl.arange(0, 4); p = tl.arange(0, 2); e = tl.arange(0, 8)
    v = tl.reshape(tl.load(x + i), (4, 128))
    s = tl.sum(v, axis=1)
    tl.store(y + g, s*2)
    tl.store(y + 8 + e, tl.sum(tl.reshape(tl.load(x + 512 + i), (64, 8)), axis=0))
    tl.store(h + g, tl.max(v, axis=1).to(tl.float16))
    tl.store(z + i, tl.reshape(v/(1 + tl.abs(s))[:, None], (512,)))
    acc = tl.zeros((1, 2), tl.float32)
    for k in range(0, 64, 2):
        acc += tl.sum(tl.load(x + 1024 + p[:, None]*64 + k + p[None, :]), axis=1)[None, :]
    tl.store(y + 16 + p, tl.reshape(acc, (2,)))
    c = tl.arange(0, 64)
    for k in range(0, n):
        a = tl.load(w + k*128 + c); b = tl.load(w + k*128 + 64 + c)
        tl.store(w + k*128 + c, a*0.5 - b*0.25); tl.store(w + k*128 + 64 + c, b*0.5 + a*0.25)

def dump(fn, spec, grid, aligned, consts, folder):
    target = GPUTarget("cuda", 90, 32)
    signature, constants = {}, dict(consts)
    for item in spec:
        name, kind = item.split(":")[:2]
        signature[name] = kind.split("=")[0] if "=" in kind else "*" + kind
    signature |= {k: "constexpr" for k in consts}
    fn_args = [p.name for p in fn.params]
    signature = {k: signature[k] for k in fn_args}
    attrs = {(fn_args.index(name),): [["tt.divisibility", 16]] for name in aligned}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=attrs)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context(); ir.load_dialects(context); backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    module = backend.make_ttir(module, {}, options, 90)
    with open(os.path.join(folder, fn.__name__ + ".ttir"), "w") as out:
        out.write("// GRID " + " ".join(map(str, grid)) + "\n// ARGUMENTS " + " ".join(spec) + "\n" + module.str_nodebug())

if __name__ == "__main__":
    for fn, spec, grid, aligned, consts in CASES:
        try:
            dump(fn, spec, grid, aligned, consts, sys.argv[1])
        except Exception as e:
            print(fn.__name__, "FAILED", str(e)[-300:])
