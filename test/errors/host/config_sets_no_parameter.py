# SPDX-License-Identifier: Apache-2.0
# error: 8:27: the config sets 'BLOCKS', which is neither a parameter of 'kernel' nor a launch option
# command: launch {file}:kernel --grid 1 --arg n=1
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCKS": 4})], key=["n"])
@triton.jit
def kernel(n, BLOCK: tl.constexpr = 16):
    tl.static_assert(BLOCK > 0)
