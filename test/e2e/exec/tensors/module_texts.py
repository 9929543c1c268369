# SPDX-License-Identifier: Apache-2.0
"""How modules, named results, sizes and optimisers print."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3, bias=False)
        self.b = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(inplace=True), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Dropout(0.1))
        self.l = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.Tanh()])
        self.d = nn.ModuleDict({"x": nn.GELU(), "y": nn.LayerNorm(4)})
        self.p = nn.Parameter(torch.zeros(2))

    def extra_repr(self):
        return "own=1,\nlines=2"


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.dim = 3

    def extra_repr(self):
        return f"dim={self.dim}"


class Linear(nn.Module):
    """A name that torch has too."""


print(Net())
print(Named(), Linear(), nn.Sequential(), nn.ModuleList())
print(nn.ParameterList([nn.Parameter(torch.zeros(2))]))
modules = [
    nn.Identity(), nn.Flatten(), nn.Softmax(dim=1), nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1), nn.Upsample(scale_factor=2), nn.GroupNorm(2, 4), nn.AvgPool2d(2),
    nn.ConvTranspose2d(1, 2, 3, stride=2), nn.Unflatten(1, (2, 2)), nn.Bilinear(2, 3, 4), nn.PReLU(), nn.Sigmoid(), nn.Tanh(), nn.SiLU(), nn.Dropout2d(), nn.RMSNorm(3),
    nn.InstanceNorm2d(3), nn.Hardtanh(), nn.ELU(), nn.Softplus(), nn.ZeroPad2d(1), nn.ReflectionPad2d(1), nn.PixelShuffle(2), nn.GRU(1, 2), nn.RNN(1, 2), nn.LSTMCell(1, 2),
    nn.EmbeddingBag(3, 2), nn.CosineSimilarity(), nn.LogSoftmax(dim=-1), nn.BCEWithLogitsLoss(), nn.Conv1d(1, 2, 3, dilation=2, bias=False), nn.BatchNorm1d(3, affine=False),
    nn.LSTM(2, 3, 2, batch_first=True, bidirectional=True), nn.Embedding(3, 2, padding_idx=0), nn.CrossEntropyLoss(), nn.Conv2d(2, 4, (3, 1), groups=2, padding="same"),
    nn.Threshold(0.1, 2), nn.Hardshrink(), nn.CELU(2.0), nn.GLU(), nn.AvgPool1d(2), nn.MaxPool1d(3, 2), nn.ConstantPad1d(1, 2.0), nn.Fold((4, 4), 2), nn.Unfold(2),
]
for module in modules:
    print(module)
print(nn.Parameter(torch.ones(2)), [nn.Parameter(torch.ones(1))])
x = torch.tensor([3.0, 1.0, 2.0])
print(x.topk(2), x.sort(), x.reshape(1, 3).max(1), x.reshape(1, 3).min(1, keepdim=True), sep="\n")
print(torch.Size([2, 3]), torch.Size([]), torch.zeros(2, 3).shape == torch.Size((2, 3)), isinstance(x.shape, torch.Size), isinstance((3,), torch.Size))
print(torch.float32, [torch.int64], torch.device("cpu"), repr(torch.device("cuda", 1)))
print(torch.optim.SGD([torch.nn.Parameter(x)], lr=0.1, momentum=0.9))
print(torch.finfo(torch.float32), torch.iinfo(torch.int32), torch.finfo(torch.bfloat16))
