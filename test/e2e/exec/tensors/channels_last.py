# SPDX-License-Identifier: Apache-2.0
"""Convolutions of images with their channels last and what follows them, patches, lines with a kernel for each channel, products of
one column, group norms. Integers: each sum is exact in every order."""
import torch
import torch.nn.functional as F

def fill(*shape):
    n = 1
    for s in shape:
        n *= s
    return ((torch.arange(n) * 7919 % 101).float() % 9 - 4).reshape(shape)

def show(name, y):
    print(name, tuple(y.shape), y.stride(), [round(v, 2) + 0.0 for v in (y.float().flatten()[:: max(1, y.numel() // 7)]).tolist()], round(y.double().abs().sum().item(), 1))

def last(x):
    return x.contiguous(memory_format=torch.channels_last)

x = last(fill(2, 8, 12, 10))
w1, w2, w3 = fill(16, 8, 3, 3), fill(6, 16, 1, 1), fill(16, 1, 3, 3)
b = fill(16)
show("conv", F.conv2d(x, w1, b, padding=1))
y = F.relu(F.conv2d(x, w1, b, padding=1))
show("two", F.conv2d(y, w2))
show("depthwise", F.conv2d(y, w3, padding=1, groups=16))
show("depthwise2", F.conv2d(y, w3, padding=1, groups=16, stride=2))
show("residual", F.conv2d(y, last(fill(16, 16, 3, 3)), padding=1) + y)
show("weights", F.conv2d(fill(2, 8, 12, 10), last(w1)))
show("pool", F.max_pool2d(y, 2))
show("cat", torch.cat([y, F.conv2d(x, w1, padding=1)], 1))
show("up", F.interpolate(y, scale_factor=2, mode="nearest"))
show("permute", y.permute(0, 2, 3, 1))
show("flat", y.permute(0, 2, 3, 1).reshape(-1, 16))
show("flatten", y.flatten(1))
show("view", y.permute(0, 2, 3, 1).view(2, 120, 16))
show("slice", y[:, 1::2, 1:-1])
show("sum", y.sum((2, 3)))
show("sum of channels", y.sum(1))
show("transposed", F.conv_transpose2d(y, fill(16, 4, 2, 2), stride=2))
show("pad", F.pad(y, (1, 2, 3, 0)))
show("reflect", F.pad(y, (1, 2, 3, 1), mode="reflect"))
show("shuffle", F.pixel_shuffle(y, 2))
show("strided", torch.as_strided(y.contiguous(), (2, 3), (5, 2)))
show("double", F.conv2d(last(x.double()), w1.double(), padding=1))
show("line", F.conv1d(fill(2, 9, 8).transpose(1, 2), fill(4, 8, 3), padding=1))
z = y.clone()
z.add_(1)
show("in place", z)
t = F.conv2d(x, w1, padding=1)
t[:, 0] = 3
show("written", t)
show("patches", F.conv2d(fill(2, 3, 32, 48), fill(5, 3, 16, 16), fill(5), stride=16))
show("patches2", F.conv2d(fill(2, 3, 32, 48), fill(5, 3, 16, 16), fill(5), stride=16).flatten(2).transpose(1, 2))
show("patches3", F.conv2d(fill(3, 32, 48), fill(5, 3, 16, 16), fill(5), stride=16))
show("patches4", F.conv2d(last(fill(2, 3, 32, 48)), fill(5, 3, 16, 16), stride=16))
for n in (1, 3, 15, 16, 17, 33, 63, 64, 65, 100, 515):
    for k, p, d, s in ((4, 3, 1, 1), (3, 1, 1, 1), (3, 2, 2, 1), (5, 0, 1, 2), (2, 1, 3, 3)):
        if n + 2 * p >= d * (k - 1) + 1:
            show(f"causal {n} {k} {p} {d} {s}", F.conv1d(fill(2, 5, n), fill(5, 1, k), fill(5), padding=p, dilation=d, stride=s, groups=5))
for n in (1, 5, 64, 65, 127, 1000):
    show(f"dot {n}", torch.dot(fill(n), fill(n) + 1).reshape(1))
    show(f"bmm {n}", torch.bmm(fill(3, 1, n), fill(3, n, 1)))
for c, g, h, wd in ((6, 2, 9, 9), (4, 4, 10, 10), (8, 2, 32, 33), (6, 3, 3, 3), (2, 1, 64, 64)):
    q = fill(2, c, h, wd)
    show(f"gn {c} {g} {h}", F.silu(F.group_norm(q, g, fill(c), fill(c))))
