# SPDX-License-Identifier: Apache-2.0
# error: 13:5: memory order 'seq_cst' is unknown; relaxed, acquire, release and acq_rel are known
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.atomic_add(out_ptr + i, x, sem='seq_cst')
    tl.store(out_ptr + i, x)
