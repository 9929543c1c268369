# SPDX-License-Identifier: Apache-2.0
"""Operators of parts of a memory that is there already: slices, transposes and windows of what was computed before, beside those of a copy."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
whole = torch.randn(2, 6, 6, 8)
images = torch.randn(2, 6, 6, 8).contiguous(memory_format=torch.channels_last)
print(whole.sum().item() < 1e9, images.sum().item() < 1e9)
row = torch.arange(24.0).reshape(2, 12) * 2
print(row.sum().item())
part = row[:, 1:4]
print(part.as_strided((2, 2), (12, 1), 1).tolist(), part.as_strided((2, 3), (12, 1), 9).tolist(), part.as_strided((2, 2), (12, 1)).tolist())
print(torch.as_strided(part.t(), (3,), (1,), 20).tolist(), part[1:].as_strided((4,), (2,), part.storage_offset()).tolist())
part.as_strided((2,), (1,), 0).zero_()
print(row[0, :5].tolist(), part.tolist())
written = torch.zeros(2, 6)
print(written.sum().item())
written[:, 2:].as_strided((2, 2), (6, 1), 3).copy_(torch.ones(2, 2))
print(written.tolist(), torch.as_strided_scatter(written[:, 2:], torch.full((2,), 7.0), (2,), (1,), 4).tolist())
parts = (whole[:, 1:4], whole[:, :4], whole[1:], whole[:, :, 1:5, 2:6], whole[:, :, ::2, 1::2], whole.transpose(2, 3)[:, 2:], images[:, 1:4], images[1:, :, 1:], images[:, :, :, 2:5])
calls = {
    "avg_pool": lambda x: F.avg_pool2d(x, 2),
    "avg_pool padded": lambda x: F.avg_pool2d(x, 2, 1, 1),
    "max_pool": lambda x: F.max_pool2d(x, 2),
    "max_pool padded": lambda x: F.max_pool2d(x, 2, 1, 1),
    "max_pool with places": lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 2),
    "lp_pool": lambda x: F.lp_pool2d(x, 2, 2),
    "unfold": lambda x: F.unfold(x, 2),
    "windows": lambda x: x.unfold(2, 2, 1),
    "diagonal": lambda x: x.diagonal(0, 2, 3),
    "convolution": lambda x: F.conv2d(x, torch.ones(2, x.shape[1], 2, 2)),
    "group_norm": lambda x: F.group_norm(x, 1),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "softmax": lambda x: torch.softmax(x, 1),
    "cat": lambda x: torch.cat([x, x], 2),
    "masked_fill": lambda x: x.masked_fill(x > 0, 2.0),
    "index_fill": lambda x: x.index_fill(1, torch.tensor([0]), 2.0),
    "roll": lambda x: x.roll(1, 2),
    "pad": lambda x: F.pad(x, (1, 0, 2, 1)),
}
for name, call in calls.items():
    print(name, [torch.allclose(call(x), call(x.clone(memory_format=torch.contiguous_format)), rtol=1e-5, atol=1e-5) for x in parts])
