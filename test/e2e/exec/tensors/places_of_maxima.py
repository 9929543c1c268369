# SPDX-License-Identifier: Apache-2.0
"""Where the largest element of each window lies: among equal ones, NaN and -inf alone, in windows that begin in the padding."""
import torch
import torch.nn.functional as F

CASES = [
    (F.max_pool1d, (2, 3, 11), 3, 2, 1, 1, False), (F.max_pool1d, (1, 2, 9), 4, 3, 2, 2, True), (F.max_pool1d, (2, 8), 2, 2, 0, 1, False),
    (F.max_pool2d, (2, 3, 7, 9), 3, 2, 1, 1, False), (F.max_pool2d, (1, 2, 8, 8), (2, 3), (1, 2), (1, 1), (2, 1), True), (F.max_pool2d, (2, 5, 6), 2, 2, 0, 1, False), (F.max_pool2d, (1, 1, 5, 5), 5, 5, 2, 1, True),
    (F.max_pool3d, (1, 2, 4, 5, 6), 3, 2, 1, 1, False), (F.max_pool3d, (2, 3, 4, 3), (1, 2, 2), (1, 1, 2), (0, 1, 1), 1, True),
]


def filled(shape, kind):
    count = 1
    for size in shape:
        count *= size
    x = ((torch.arange(count) * 37) % 11 - 5).float().reshape(shape)
    if kind == "low":
        x[..., :3] = float("-inf")
    if kind == "nan":
        x[..., 1::3] = float("nan")
    return x.to(torch.float64) if kind == "double" else x.int() if kind == "integers" else x


for function, shape, kernel, stride, padding, dilation, ceil_mode in CASES:
    for kind in ("plain", "low", "nan", "double"):
        values, places = function(filled(shape, kind), kernel, stride, padding, dilation, ceil_mode, return_indices=True)
        print(function.__name__, kind, tuple(values.shape), values.dtype, places.dtype, values.flatten().tolist(), places.flatten().tolist())

x = filled((1, 2, 6, 6), "plain").requires_grad_()
values, places = F.max_pool2d(x, 3, 2, 1, return_indices=True)
(values * torch.arange(values.numel()).reshape(values.shape)).sum().backward()
print(x.grad.flatten().tolist(), places.flatten().tolist())
