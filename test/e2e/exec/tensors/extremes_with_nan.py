# SPDX-License-Identifier: Apache-2.0
"""The largest and smallest of floats, of all and along either dim: NaN wins, in every type."""
import torch

for shape in [(7,), (3, 70), (5, 3000), (2000, 3)]:
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.float16):
        count = 1
        for size in shape:
            count *= size
        x = ((torch.arange(count) * 37) % 101 - 50).reshape(shape).to(dtype)
        broken = x.clone()
        broken.view(-1)[3] = float("nan")
        for y in (x, broken):
            print(shape, dtype, y.amax().item(), y.amin().item(), y.amax(-1).flatten()[:4].tolist(), y.amin(0).flatten()[:5].tolist())
            print([part.flatten()[:3].tolist() for part in torch.aminmax(y, dim=-1)], y.max(-1).values.flatten()[:4].tolist(), y.min(0).values.flatten()[:5].tolist())
