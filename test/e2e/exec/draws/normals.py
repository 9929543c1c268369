# SPDX-License-Identifier: Apache-2.0
"""Normal and exponential numbers that a script draws on a CUDA device, one line for a call: their bits' sums, and some of them."""
import sys

import torch

SIZES = [1, 7, 257, 10000] + ([221185, 2500000] if "--large" in sys.argv else [])
BITS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float64: torch.int64}


def say(name, x):
    b = x.view(BITS[x.dtype]).to(torch.int64).cpu()
    print(name, tuple(x.shape), str(x.dtype).partition(".")[2], int(b.sum()), [float(v) for v in x[:: max(1, x.numel() // 8)][:9]])


torch.manual_seed(99)
for size in SIZES:
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        say("randn", torch.randn(size, dtype=dtype, device="cuda"))
        say("normal_", torch.empty(size, dtype=dtype, device="cuda").normal_(0.5, 0.02))
        say("exponential_", torch.empty(size, dtype=dtype, device="cuda").exponential_(1.5))
