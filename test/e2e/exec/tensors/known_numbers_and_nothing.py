# SPDX-License-Identifier: Apache-2.0
# Numbers that the host knows, fills that wrap, and reductions of no elements.
import torch

a, b = torch.tensor(3), torch.tensor(4)
a.item(), b.item()
print(a == 3, a == 4, a == b, a == a, a != b, a != a, a < b, a <= a, a > b, a >= a)
print(a + b, a - b, a * b, a // 2, -a // 2, a % 2, -a % 2)
f = torch.tensor(2.5)
f.item()
print(f == 2.5, f == f, f == 2, f * 2, f / 2, f + 1.5, 1.5 + f, 2.0 - f, a * f, f * a)

for dtype in (torch.uint8, torch.int16):
    x = torch.arange(4, dtype=dtype)
    print(x.clone().fill_(-1), torch.ops.aten.fill.Scalar(x, -2), x.masked_fill(x > 1, -3))
    print(torch.ops.aten.masked_fill.Scalar(x, x < 2, -4))
for dtype in (torch.uint8, torch.int8, torch.bool, torch.float32):
    x = torch.zeros(2, 0, dtype=dtype)
    print(x.all(1), x.any(1), x.all(), x.any(), x.all(1, keepdim=True), x.sum(1), x.prod(1))
flags = torch.tensor([[True, False], [True, True]])
print(torch.amin(flags, 0), torch.amax(flags, 1), flags.min(), flags.max(), torch.min(flags, 1), torch.aminmax(flags))

layer = torch.nn.Linear(2, 2)
for words in ({"device": "cpu"}, {"dtype": torch.float64}, {"dtype": None}, {"device": "cpu", "dtype": torch.float32}, {"non_blocking": True}):
    print(layer.to(**words).weight.dtype)
print(layer.to("cpu").weight.dtype, layer.to("cpu", torch.float64).weight.dtype)
for make in (torch.rand, torch.randn):
    print(make([2, 3]).shape, make((2, 3)).shape, make(2, 3).shape, make([]).shape, make(()).shape, make(4).shape)
    for sizes in (([2, -1],), (2, -1)):
        try:
            make(*sizes)
        except RuntimeError as error:
            print(error)
for make in (torch.zeros, torch.ones, torch.empty):
    print(make(()).shape, make([]).shape, make(size=()).shape, make(size=(2,)).shape)
    try:
        make()
    except TypeError as error:
        print(error)
