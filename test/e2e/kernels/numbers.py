# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Whatever the two types are: the store converts."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def convert_to_six(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(a_ptr + i, x.to(tl.int8), mask=i < n)
    tl.store(b_ptr + i, x.to(tl.uint16), mask=i < n)
    tl.store(c_ptr + i, x.to(tl.int64), mask=i < n)
    tl.store(d_ptr + i, x.to(tl.float32), mask=i < n)
    tl.store(e_ptr + i, tl.cast(x, tl.float64), mask=i < n)
    tl.store(f_ptr + i, x.to(tl.int1), mask=i < n)


@triton.jit
def implicit_store(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def truncate_down(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(tl.bfloat16, fp_downcast_rounding="rtz"), mask=i < n)


@triton.jit
def bits_of(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Sign flip through the bits of a float."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.int32, bitcast=True)
    bits = bits ^ -2147483648
    tl.store(out_ptr + i, tl.cast(bits, tl.float32, bitcast=True), mask=i < n)


@triton.jit
def sum_of_two(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The common type of two types decides the arithmetic."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, a * b + a, mask=i < n)


@triton.jit
def with_scalars(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    """Scalars, given or written in the source, keep a narrow tile narrow."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = x * 3.0 + 1
    tl.static_assert(y.dtype == x.dtype)
    y = y * factor
    tl.store(out_ptr + i, y, mask=i < n)


@triton.jit
def divisions(a_ptr, b_ptr, q_ptr, r_ptr, f_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=1)
    b = tl.load(b_ptr + i, mask=i < n, other=1)
    tl.store(q_ptr + i, a // b, mask=i < n)
    tl.store(r_ptr + i, a % b, mask=i < n)
    tl.store(f_ptr + i, a / b, mask=i < n)


@triton.jit
def scalar_division(out_ptr, a, b, A: tl.constexpr, B: tl.constexpr):
    """Run-time integers divide as in C, compile-time ones as in Python."""
    tl.store(out_ptr, a // b)
    tl.store(out_ptr + 1, a % b)
    tl.store(out_ptr + 2, A // B)
    tl.store(out_ptr + 3, A % B)
    tl.store(out_ptr + 4, tl.cdiv(a, b))
    tl.store(out_ptr + 5, (a * 2 + 1) // B)
    tl.store(out_ptr + 6, -a // 4 * 3)


@triton.jit
def float_remainder(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=1.0)
    b = tl.load(b_ptr + i, mask=i < n, other=1.0)
    tl.store(out_ptr + i, a % b, mask=i < n)


@triton.jit
def wrap_around(a_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, (a * a + 2147483647) * 31 - (a << 20), mask=i < n)


@triton.jit
def ranges_that_wrap(out_ptr, step, start, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, (i * step).to(tl.int64))
    tl.store(out_ptr + BLOCK + i, (i * step).to(tl.uint32).to(tl.int64))
    tl.store(out_ptr + 2 * BLOCK + i, (i + start).to(tl.uint32) // 3)
    tl.store(out_ptr + 3 * BLOCK + i, (i + start).to(tl.uint32) < 8)
    narrow = i.to(tl.int8) * 9
    tl.store(out_ptr + 4 * BLOCK + i, narrow.to(tl.int32) + (narrow < 100) * 1000)


@triton.jit
def window(x_ptr, out_ptr, first, n, BLOCK: tl.constexpr):
    # One unsigned comparison says 0 <= i and i < n.
    i = tl.arange(0, BLOCK) - first
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + i, mask=i.to(tl.uint32) < n.to(tl.uint32), other=-1.0))


@triton.jit
def shifts(a_ptr, b_ptr, left_ptr, right_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr + i, mask=i < n, other=0)
    tl.store(left_ptr + i, a << b, mask=i < n)
    tl.store(right_ptr + i, a >> b, mask=i < n)


@triton.jit
def nan_handling(x_ptr, y_ptr, max_ptr, keep_ptr, min_ptr, clamp_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(max_ptr + i, tl.maximum(x, y), mask=i < n)
    tl.store(keep_ptr + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL), mask=i < n)
    tl.store(min_ptr + i, tl.minimum(x, y), mask=i < n)
    tl.store(clamp_ptr + i, tl.clamp(x, -0.5, 0.5), mask=i < n)


@triton.jit
def comparisons(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Six comparisons in six bits; NaN is unequal to everything."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    flags = (x < y).to(tl.int32) | (x <= y).to(tl.int32) << 1 | (x > y).to(tl.int32) << 2
    flags |= ((x >= y).to(tl.int32) << 3) | ((x == y).to(tl.int32) << 4) | ((x != y).to(tl.int32) << 5)
    tl.store(out_ptr + i, flags, mask=i < n)


@triton.jit
def mathematics(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Every function in a row of its own."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    tl.store(out_ptr + i, tl.exp(x), mask=i < n)
    tl.store(out_ptr + n + i, tl.exp2(x), mask=i < n)
    tl.store(out_ptr + 2 * n + i, tl.log(tl.abs(x)), mask=i < n)
    tl.store(out_ptr + 3 * n + i, tl.math.log2(tl.abs(x)), mask=i < n)
    tl.store(out_ptr + 4 * n + i, tl.sin(x), mask=i < n)
    tl.store(out_ptr + 5 * n + i, tl.cos(x), mask=i < n)
    tl.store(out_ptr + 6 * n + i, tl.sqrt(tl.abs(x)), mask=i < n)
    tl.store(out_ptr + 7 * n + i, tl.math.rsqrt(tl.abs(x) + 0.125), mask=i < n)
    tl.store(out_ptr + 8 * n + i, tl.erf(x), mask=i < n)
    tl.store(out_ptr + 9 * n + i, tl.floor(x), mask=i < n)
    tl.store(out_ptr + 10 * n + i, tl.ceil(x), mask=i < n)
    tl.store(out_ptr + 11 * n + i, tl.sigmoid(x), mask=i < n)
    tl.store(out_ptr + 12 * n + i, tl.fma(x, x, x), mask=i < n)
    tl.store(out_ptr + 13 * n + i, tl.fdiv(1.0, x), mask=i < n)
    tl.store(out_ptr + 14 * n + i, tl.div_rn(x, 3.0), mask=i < n)
    tl.store(out_ptr + 15 * n + i, -x, mask=i < n)


@triton.jit
def device_library(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    tl.store(out_ptr + i, libdevice.tanh(x), mask=i < n)
    tl.store(out_ptr + n + i, libdevice.log1p(tl.abs(x)), mask=i < n)
    tl.store(out_ptr + 2 * n + i, libdevice.expm1(x), mask=i < n)
    tl.store(out_ptr + 3 * n + i, libdevice.pow(tl.abs(x), 1.5), mask=i < n)
    tl.store(out_ptr + 4 * n + i, libdevice.rint(x * 2), mask=i < n)
    tl.store(out_ptr + 5 * n + i, libdevice.round(x * 2), mask=i < n)
    tl.store(out_ptr + 6 * n + i, libdevice.trunc(x), mask=i < n)
    tl.store(out_ptr + 7 * n + i, libdevice.isnan(x), mask=i < n)
    tl.store(out_ptr + 8 * n + i, libdevice.copysign(x, -1.0), mask=i < n)
    tl.store(out_ptr + 9 * n + i, libdevice.tan(x), mask=i < n)
    tl.store(out_ptr + 10 * n + i, libdevice.atan(x), mask=i < n)
    tl.store(out_ptr + 11 * n + i, libdevice.exp10(x * 0.25), mask=i < n)


@triton.jit
def special_functions(x_ptr, y_ptr, i_ptr, out_ptr, exponent_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.load(y_ptr + i, mask=i < n, other=1.0)
    k = tl.load(i_ptr + i, mask=i < n, other=1)
    share = 0.5 + 0.5 * libdevice.tanh(x * 0.2)
    tl.store(out_ptr + i, libdevice.lgamma(x), mask=i < n)
    tl.store(out_ptr + n + i, libdevice.tgamma(x * 0.25), mask=i < n)
    tl.store(out_ptr + 2 * n + i, libdevice.erfinv(y), mask=i < n)
    tl.store(out_ptr + 3 * n + i, libdevice.erfcinv(y + 1), mask=i < n)
    tl.store(out_ptr + 4 * n + i, libdevice.normcdf(x), mask=i < n)
    tl.store(out_ptr + 5 * n + i, libdevice.normcdfinv(y * 0.5 + 0.5), mask=i < n)
    tl.store(out_ptr + 6 * n + i, libdevice.erfcx(tl.abs(x)), mask=i < n)
    tl.store(out_ptr + 7 * n + i, libdevice.sinpi(x), mask=i < n)
    tl.store(out_ptr + 8 * n + i, libdevice.cospi(x), mask=i < n)
    tl.store(out_ptr + 9 * n + i, libdevice.ldexp(y, k), mask=i < n)
    tl.store(out_ptr + 10 * n + i, libdevice.logb(y), mask=i < n)
    tl.store(out_ptr + 11 * n + i, libdevice.nextafter(x, y), mask=i < n)
    tl.store(out_ptr + 12 * n + i, libdevice.remainder(x, y), mask=i < n)
    tl.store(out_ptr + 13 * n + i, libdevice.fdim(x, y), mask=i < n)
    tl.store(out_ptr + 14 * n + i, libdevice.norm4d(x, y, x, y), mask=i < n)
    tl.store(out_ptr + 15 * n + i, libdevice.rnorm3d(x, y, share), mask=i < n)
    tl.store(out_ptr + 16 * n + i, libdevice.rcbrt(x), mask=i < n)
    tl.store(exponent_ptr + i, libdevice.ilogb(y), mask=i < n)


@triton.jit
def device_words(x_ptr, y_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y, s = tl.load(x_ptr + i, mask=i < n, other=1), tl.load(y_ptr + i, mask=i < n, other=1), tl.load(s_ptr + i, mask=i < n, other=1)
    tl.store(out_ptr + i, libdevice.mulhi(x, y), mask=i < n)
    tl.store(out_ptr + n + i, libdevice.mul24(x, y), mask=i < n)
    tl.store(out_ptr + 2 * n + i, libdevice.hadd(x, y), mask=i < n)
    tl.store(out_ptr + 3 * n + i, libdevice.rhadd(x, y), mask=i < n)
    tl.store(out_ptr + 4 * n + i, libdevice.sad(x, y, s.to(tl.uint32)), mask=i < n)
    tl.store(out_ptr + 5 * n + i, libdevice.byte_perm(x, y, s), mask=i < n)
    tl.store(out_ptr + 6 * n + i, libdevice.float_as_int(libdevice.int2float_rn(x)), mask=i < n)
    tl.store(out_ptr + 7 * n + i, libdevice.float_as_int(libdevice.uint2float_rn(x.to(tl.uint32))), mask=i < n)
    tl.store(out_ptr + 8 * n + i, libdevice.float2uint_rn(libdevice.int_as_float(y)), mask=i < n)


@triton.jit
def integer_powers(x_ptr, i_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, libdevice.pow(x, tl.load(i_ptr + at, mask=at < n, other=0)), mask=at < n)


@triton.jit
def device_integers(x_ptr, i_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    i = tl.load(i_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, libdevice.llrint(x), mask=at < n)
    tl.store(out_ptr + n + at, libdevice.llround(x), mask=at < n)
    tl.store(out_ptr + 2 * n + at, libdevice.float2int_rn(x), mask=at < n)
    tl.store(out_ptr + 3 * n + at, libdevice.float2int_rd(x), mask=at < n)
    tl.store(out_ptr + 4 * n + at, libdevice.float2int_ru(x), mask=at < n)
    tl.store(out_ptr + 5 * n + at, libdevice.float2int_rz(x), mask=at < n)
    tl.store(out_ptr + 6 * n + at, libdevice.ffs(i), mask=at < n)
    tl.store(out_ptr + 7 * n + at, libdevice.brev(i), mask=at < n)
    tl.store(out_ptr + 8 * n + at, libdevice.popc(i), mask=at < n)
    tl.store(out_ptr + 9 * n + at, libdevice.clz(i), mask=at < n)


@triton.jit
def high_product(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0)
    b = tl.load(b_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.umulhi(a, b), mask=i < n)


@triton.jit
def quantise(x_ptr, out_ptr, scale_ptr, cols, BLOCK: tl.constexpr):
    """One scale per row, int8 values."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    peak = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(peak, 1e-10) / 127.0
    q = libdevice.rint(x / scale)
    tl.store(out_ptr + row * cols + c, q.to(tl.int8), mask=c < cols)
    tl.store(scale_ptr + row, scale)


@triton.jit
def unpack_int4(packed_ptr, scale_ptr, out_ptr, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Two four-bit values in a byte, one scale for every GROUP values."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed_ptr + i // 2, mask=i < n, other=0)
    nibble = (byte >> ((i % 2) * 4)) & 0xF
    value = nibble.to(tl.int8) - 8
    scale = tl.load(scale_ptr + i // GROUP, mask=i < n, other=1.0)
    tl.store(out_ptr + i, value * scale, mask=i < n)


@triton.jit
def bool_logic(x_ptr, y_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=False)
    y = tl.load(y_ptr + i, mask=i < n, other=False)
    z = (x & ~y) | (x ^ y)
    tl.store(out_ptr + i, z, mask=i < n)
    tl.store(count_ptr, tl.sum(z.to(tl.int32)))
    tl.store(count_ptr + 1, tl.sum((x and y) & (i < n)))


@triton.jit
def logic_of_numbers(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Non-zero counts as true; the hints about constancy and types made by name change nothing."""
    i = tl.max_constancy(tl.arange(0, BLOCK), [1])
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    both, either = (x != 0).logical_and(y != 0), (x != 0).logical_or(y != 0)
    word: tl.constexpr = tl.core.get_int_dtype(bitwidth=16, signed=False)
    row: tl.constexpr = tl.block_type(word, [BLOCK])
    tl.static_assert(row.element_ty == tl.uint16 and row.shape[0] == BLOCK)
    tl.store(out_ptr + i, both.to(word) + either.to(row.element_ty) * tl.to_tensor(2).to(word))


@triton.jit
def old_math(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """tl.math as of Triton 2, when it was libdevice."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = tl.math.pow(tl.math.abs(x), 1.5) + tl.math.tanh(x) + tl.math.log1p(tl.math.exp(x))
    tl.store(out_ptr + i, tl.math.min(y, tl.math.max(x, 4.0)), mask=i < n)
