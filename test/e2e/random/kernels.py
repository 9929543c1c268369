# SPDX-License-Identifier: Apache-2.0
"""The sources of random numbers as kernels, so that every engine can be asked for their bits."""
import triton
import triton.language as tl


@triton.jit
def narrow(uniform, normal, exponential, words, seed, offset, site, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(uniform + i, tl._philox_uniform(seed, offset, site, None, i, 24))
    tl.store(normal + i, tl._philox_normal(seed, offset, site, None, i, False))
    tl.store(exponential + i, tl._philox_exponential(seed, offset, site, None, i, False))
    tl.store(words + i, tl._philox_randint(seed, offset, site, None, i, -7, 9000000000))


@triton.jit
def wide(uniform, normal, exponential, seed, offset, site, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(uniform + i, tl._philox_uniform(seed, offset, site, None, i, 53))
    tl.store(normal + i, tl._philox_normal(seed, offset, site, None, i, True))
    tl.store(exponential + i, tl._philox_exponential(seed, offset, site, None, i, True))
