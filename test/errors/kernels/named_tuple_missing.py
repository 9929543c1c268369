# SPDX-License-Identifier: Apache-2.0
# error: 14:23: 'Pair' needs a value for its field 'second'
from collections import namedtuple

import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]
Pair = namedtuple("Pair", "first, second")

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, Pair(x))
