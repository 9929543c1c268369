# SPDX-License-Identifier: Apache-2.0
# error: 8:10: torch.autocast chooses types that the operators do not say; convert with .to(dtype), or pass enabled=False
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return x + 1
