# SPDX-License-Identifier: Apache-2.0
"""Random numbers, and the pieces they are made of."""
import triton
import triton.language as tl


@triton.jit
def store_rows(out_ptr, i, a, b, c, d, BLOCK: tl.constexpr):
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + BLOCK + i, b)
    tl.store(out_ptr + 2 * BLOCK + i, c)
    tl.store(out_ptr + 3 * BLOCK + i, d)


@triton.jit
def philox_words(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    zero = tl.zeros([BLOCK], tl.uint32)
    a, b, c, d = tl.philox_impl(i.to(tl.uint32), zero, zero, zero, zero + seed.to(tl.uint32), zero, 10)
    store_rows(out_ptr, i, a, b, c, d, BLOCK)


@triton.jit
def four_integers(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    store_rows(out_ptr, i, a, b, c, d, BLOCK)


@triton.jit
def four_uniforms(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, i)
    store_rows(out_ptr, i, a, b, c, tl.uint_to_uniform_float(tl.randint(seed, i)), BLOCK)


@triton.jit
def four_normals(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randn4x(seed, i)
    store_rows(out_ptr, i, a, b, c, tl.randn(seed, i), BLOCK)


@triton.jit
def normals_of(u_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first, second = tl.pair_uniform_to_normal(tl.load(u_ptr + i), tl.load(u_ptr + BLOCK + i))
    tl.store(out_ptr + i, first)
    tl.store(out_ptr + BLOCK + i, second)
