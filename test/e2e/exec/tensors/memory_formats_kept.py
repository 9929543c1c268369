# SPDX-License-Identifier: Apache-2.0
"""Which operators keep channels innermost: strides of what they give for such tensors, of others and of slices of them."""
import torch
import torch.nn as nn
import torch.nn.functional as F

last, last3d = torch.channels_last, torch.channels_last_3d
torch.manual_seed(0)


def tell(name, *results):
    said = []
    for r in results:
        formats = [r.is_contiguous(), r.dim() == 4 and r.is_contiguous(memory_format=last), r.dim() == 5 and r.is_contiguous(memory_format=last3d)]
        said.append(f"{tuple(r.shape)} {r.stride()} {''.join('ny'[f] for f in formats)}")
    print(name, *said, sep="  ")


w, w1, deep, turned = torch.randn(4, 3, 3, 3), torch.randn(4, 3, 1, 1), torch.randn(6, 1, 3, 3), torch.randn(3, 4, 2, 2)
images = {
    "last": torch.randn(2, 3, 6, 8).contiguous(memory_format=last),
    "rows": torch.randn(2, 3, 6, 8),
    "slice": torch.randn(2, 6, 6, 8).contiguous(memory_format=last)[:, 1:4],
    "one channel": torch.randn(2, 1, 6, 8).contiguous(memory_format=last),
    "one pixel": torch.randn(2, 3, 1, 1).contiguous(memory_format=last),
    "alone": torch.randn(1, 3, 6, 8).contiguous(memory_format=last),
}
scale, shift = torch.rand(3), torch.rand(3)
operators = {
    "conv": lambda x: F.conv2d(x, w, padding=1),
    "conv of steps": lambda x: F.conv2d(x, w, stride=2, padding=1, bias=torch.ones(4)),
    "conv of points": lambda x: F.conv2d(x, w1),
    "conv by weight": lambda x: F.conv2d(x, w.contiguous(memory_format=last), padding=1),
    "conv by groups": lambda x: F.conv2d(torch.cat([x, x], 1), deep, padding=1, groups=6),
    "transposed conv": lambda x: F.conv_transpose2d(x, turned, stride=2),
    "max_pool": lambda x: F.max_pool2d(x, 2, 1, 1),
    "max_pool with indices": lambda x: F.max_pool2d(x, 2, 1, 1, return_indices=True),
    "avg_pool": lambda x: F.avg_pool2d(x, 2, 1, 1),
    "adaptive_avg_pool": lambda x: F.adaptive_avg_pool2d(x, (2, 1)),
    "adaptive_avg_pool to one": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive_max_pool": lambda x: F.adaptive_max_pool2d(x, 2),
    "lp_pool": lambda x: F.lp_pool2d(x, 2, 1),
    "batch_norm": lambda x: F.batch_norm(x, shift, scale, scale, shift),
    "batch_norm in training": lambda x: F.batch_norm(x, shift.clone(), scale.clone(), scale, shift, training=True),
    "instance_norm": lambda x: F.instance_norm(x, eps=1.0),
    "group_norm": lambda x: F.group_norm(x, 1, scale[: x.shape[1]], shift[: x.shape[1]]),
    "local_response_norm": lambda x: F.local_response_norm(x, 2),
    "normalize": lambda x: F.normalize(x),
    "relu": lambda x: F.relu(x),
    "silu": lambda x: F.silu(x),
    "hardswish": lambda x: F.hardswish(x),
    "leaky_relu": lambda x: F.leaky_relu(x),
    "prelu": lambda x: F.prelu(x, torch.ones(1)),
    "gelu": lambda x: F.gelu(x),
    "glu": lambda x: F.glu(x, -1) if x.shape[-1] % 2 == 0 else x,
    "softmax": lambda x: torch.softmax(x, 1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "dropout": lambda x: F.dropout(x, 0.5),
    "add": lambda x: x + x,
    "add rows": lambda x: x + torch.ones(x.shape),
    "rows add": lambda x: torch.ones(x.shape) + x,
    "add one": lambda x: x + 1,
    "scaled by channels": lambda x: x * torch.ones(1, x.shape[1], 1, 1),
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "comparison": lambda x: x > 0,
    "half": lambda x: x.half(),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
    "cat": lambda x: torch.cat([x, x], 1),
    "cat with rows": lambda x: torch.cat([x, torch.ones(x.shape)], 1),
    "cat of rows": lambda x: torch.cat([x, x], 2),
    "pad": lambda x: F.pad(x, (1, 1, 1, 1)),
    "reflected pad": lambda x: F.pad(x, (1, 1, 0, 0), mode="replicate"),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
    "bicubic": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "grid_sample": lambda x: F.grid_sample(x, torch.zeros(x.shape[0], 4, 5, 2), align_corners=False),
    "pixel_shuffle": lambda x: F.pixel_shuffle(torch.cat([x] * 4, 1), 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2) if x.shape[2] % 2 == 0 else x,
    "channel_shuffle": lambda x: F.channel_shuffle(torch.cat([x, x], 1), 2),
    "unfold": lambda x: F.unfold(F.pad(x, (1, 1, 1, 1)), 3),
    "mean kept": lambda x: x.mean((2, 3), keepdim=True),
    "sum of channels": lambda x: x.sum(1),
    "amax kept": lambda x: x.amax(1, keepdim=True),
    "cumsum": lambda x: x.cumsum(1),
    "flip": lambda x: x.flip(3),
    "roll": lambda x: x.roll(1, 2),
    "sort": lambda x: x.sort(1)[0],
    "index_select": lambda x: x.index_select(0, torch.tensor([0, 0])),
    "gather": lambda x: x.gather(1, torch.zeros(x.shape, dtype=torch.int64)),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "repeat": lambda x: x.repeat(1, 2, 1, 1),
    "expand": lambda x: (x[:1] * 1).expand(2, -1, -1, -1) + 1,
    "flatten": lambda x: x.flatten(1),
    "reshape": lambda x: x.reshape(x.shape[0], -1),
    "chunk": lambda x: x.chunk(2, 3)[0] * 1,
    "zeros_like": lambda x: torch.zeros_like(x),
    "rand_like": lambda x: torch.rand_like(x),
    "new_zeros": lambda x: x.new_zeros(x.shape),
    "in place": lambda x: (x * 1).mul_(2).add_(torch.ones(x.shape)),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "lerp": lambda x: torch.lerp(x, torch.ones(x.shape), 0.5),
    "clamp": lambda x: x.clamp(0, 1),
    "pow": lambda x: x**2,
    "matmul": lambda x: x @ torch.ones(x.shape[-1], 3),
    "linear": lambda x: F.linear(x, torch.ones(3, x.shape[-1])),
}
for kind, x in images.items():
    for name, run in operators.items():
        if x.shape[1] != 3 and ("conv" in name or name.startswith("batch_norm")) or x.shape[2] == 1 and name == "instance_norm":
            continue
        made = run(x)
        tell(f"{kind} {name}", *(made if isinstance(made, tuple) else (made,)))

boxes = torch.randn(2, 3, 4, 5, 6).contiguous(memory_format=last3d)
w3 = torch.randn(4, 3, 2, 2, 2)
tell("conv3d", F.conv3d(boxes, w3), F.conv3d(boxes.contiguous(), w3.contiguous(memory_format=last3d)))
tell("pools in 3d", F.max_pool3d(boxes, 2), F.avg_pool3d(boxes, 2), F.adaptive_avg_pool3d(boxes, 2))
held = {}
for kind in ("last", "slice"):
    for name, run in operators.items():
        if not name.startswith(("drop", "rand", "batch_norm in")):
            x = images[kind]
            got, want = run(x), run(x.contiguous())
            held[name, kind] = all(torch.allclose(g.float(), w.float(), rtol=1e-4, atol=1e-5) for g, w in (zip(got, want) if isinstance(got, tuple) else [(got, want)]))
print("other values than of rows:", [key for key, same in held.items() if not same])
tell("norms in 3d", F.batch_norm(boxes, shift, scale), F.group_norm(boxes, 1), F.interpolate(boxes, scale_factor=2))

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 1), nn.GroupNorm(2, 4), nn.SiLU(), nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d(1)).to(memory_format=last)
x = images["last"]
for part in net:
    x = part(x)
    tell(type(part).__name__, x)
