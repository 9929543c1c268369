# SPDX-License-Identifier: Apache-2.0
"""Tensors whose channels lie innermost."""
import torch
import torch.nn as nn
import torch.nn.functional as F

last, last3d = torch.channels_last, torch.channels_last_3d
x = torch.arange(48.0).reshape(2, 3, 4, 2)
y = x.contiguous(memory_format=last)
print(y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=last), x.is_contiguous(memory_format=last), torch.equal(x, y))
print(y.contiguous(memory_format=last) is y, y.clone().stride(), y.clone(memory_format=torch.contiguous_format).stride(), x.clone(memory_format=last).stride())
print(x.to(memory_format=last).stride(), x.to(torch.float64, memory_format=last).stride(), x.half().to("cpu", torch.float32, memory_format=last).dtype)
print((y + 1).stride(), (y * 2).sum().item(), y.flatten()[:7].tolist(), y.permute(0, 2, 3, 1).is_contiguous())
print(torch.zeros_like(x, memory_format=last).stride(), torch.full_like(x, 2, memory_format=last).sum().item(), torch.empty_like(y, memory_format=last).stride())
print(torch.empty(2, 3, 4, 5, memory_format=last).stride(), torch.empty((2, 3, 4, 5, 6), memory_format=last3d).stride())
one = torch.ones(2, 1, 3, 3)
print(one.is_contiguous(memory_format=last), one.contiguous(memory_format=last).stride() == one.stride(), torch.ones(1, 3, 1, 1).is_contiguous(memory_format=last))
z = torch.arange(240.0).reshape(1, 2, 4, 5, 6).contiguous(memory_format=last3d)
print(z.stride(), z.is_contiguous(memory_format=last3d), z[0, 1, 2, 3].tolist())
for wrong in (lambda: torch.ones(3).contiguous(memory_format=last), lambda: x.to(memory_format=last3d), lambda: torch.ones(2, 2).to(memory_format=last)):
    try:
        wrong()
    except RuntimeError as error:
        print(error)
y[:, 1] = -1
y.add_(1)
print(y.sum().item(), x.sum().item())

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 2, 1))
plain = model(x)
moved = model.to(memory_format=last)
print(moved is model, model[0].weight.stride(), model[0].bias.stride(), model[0].weight.is_contiguous(memory_format=last))
out = model(x.to(memory_format=last))
print(torch.allclose(out, plain, atol=1e-5), out.shape)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x.to(memory_format=last)), torch.ones(2, 2, 4, 2))
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
print(all(p.grad is not None and p.grad.shape == p.shape for p in model.parameters()))
leaf = torch.ones(1, 2, 2, 2, requires_grad=True)
(leaf.contiguous(memory_format=last) * torch.arange(8.0).reshape(1, 2, 2, 2)).sum().backward()
print(leaf.grad.flatten().tolist())
