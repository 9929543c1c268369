# SPDX-License-Identifier: Apache-2.0
"""Operators of narrow integers whose steps C does in int: products, multiples and divisors beyond the ends of the type."""
import torch

for dtype in (torch.int8, torch.int16, torch.uint8, torch.int32, torch.int64):
    a = torch.tensor([4, -8, 100, 127, -128, 0, 6, -1], dtype=torch.int64).to(dtype)
    b = torch.tensor([118, 30, 90, 126, 3, 5, -4, -128], dtype=torch.int64).to(dtype)
    print(dtype, torch.lcm(a, b).tolist(), torch.lcm(b, a).tolist(), torch.gcd(a, b).tolist(), (a * b).tolist(), torch.abs(a * b).tolist(), torch.square(b).tolist(), (a**2).tolist(), torch.abs(a).tolist(), (-b).tolist())
    print(torch.prod(b).item(), torch.sum(b).item(), torch.cumsum(b, 0).tolist(), torch.cumprod(b, 0).tolist(), torch.clamp(a, -5, 5).tolist(), torch.maximum(a, b).tolist(), (a + b).tolist(), (a - b).tolist())
    print(torch.floor_divide(a, b).tolist(), torch.remainder(a, b).tolist(), torch.fmod(a, b).tolist(), torch.addcmul(a, a, b).tolist(), torch.add(a, b, alpha=3).tolist(), torch.lerp(a.float(), b.float(), 0.5).tolist(), torch.dot(a, b).item())
print(torch.lcm(torch.tensor([32767, -32768, 300], dtype=torch.int16), torch.tensor([2, 3, 299], dtype=torch.int16)).tolist())
print(torch.lcm(torch.tensor([2**31 - 1, -(2**31), 65536], dtype=torch.int32), torch.tensor([2, 3, 65537], dtype=torch.int32)).tolist())
print(torch.lcm(torch.tensor([-(2**63), 2**62, 3]), torch.tensor([3, 6, -5])).tolist(), torch.lcm(torch.zeros(0, dtype=torch.int8), torch.tensor(3, dtype=torch.int8)).tolist(), torch.lcm(torch.tensor(6, dtype=torch.int8), torch.tensor([4, 9], dtype=torch.int16)))
