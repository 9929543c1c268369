# SPDX-License-Identifier: Apache-2.0
# Convolutions of every kind, for convolutions_test.py.
import torch
import torch.nn.functional as F
from torch import nn


def conv1d(x, w, b):
    return F.conv1d(x, w, b, stride=2, padding=3, dilation=2)


def plain1d(x, w):
    return torch.conv1d(x, w)


def one_by_one(x, w, b):
    return F.conv2d(x, w, b)


def three_by_three(x, w, b):
    return F.conv2d(x, w, b, padding=1)


def strided(x, w):
    return F.conv2d(x, w, stride=(2, 1), padding=(3, 2), dilation=(1, 2))


def same(x, w):
    return F.conv2d(x, w, padding="same", dilation=2)


def grouped(x, w, b):
    return F.conv2d(x, w, b, padding=1, groups=2)


def depthwise(x, w, b):
    return F.conv2d(x, w, b, stride=2, padding=1, groups=6)


def volume(x, w):
    return F.conv3d(x, w, padding=(0, 1, 2), stride=(1, 2, 1))


def transposed(x, w, b):
    return F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1)


def transposed_plain(x, w, b):
    return F.conv_transpose2d(x, w, b, padding=1)


def transposed_line(x, w, b):
    return F.conv_transpose1d(x, w, b, stride=4, padding=3, groups=2)


def transposed_volume(x, w):
    return F.conv_transpose3d(x, w, stride=2, padding=1)


def transposed_depthwise(x, w, b):
    return F.conv_transpose2d(x, w, b, stride=2, padding=1, groups=6)


def transposed_groups(x, w):
    return F.conv_transpose1d(x, w, stride=3, padding=4, groups=2, dilation=2)


def unbatched(x, w):
    return F.conv2d(x, w, padding=1)


def channels_last(x, w):
    """`x` has its channels innermost."""
    return F.conv2d(x.permute(0, 3, 1, 2), w, padding=1).permute(0, 2, 3, 1)


def last_masked(x, w, b):
    """Windows beyond the border of an image whose channels lie innermost."""
    return F.relu(F.conv2d(x.permute(0, 3, 1, 2), w, b, stride=2, padding=(1, 2), dilation=(1, 2))).permute(0, 2, 3, 1)


def last_depthwise(x, w, b):
    return (F.conv2d(x.permute(0, 3, 1, 2), w, b, padding=3, groups=24) * 0.5).permute(0, 2, 3, 1)


def wide_depthwise(x, w):
    return F.conv2d(x, w, padding=(4, 3), groups=5)


def chain(x, v, u, w):
    """The results of 16-bit convolutions lie with their channels innermost on a device."""
    x = F.relu(F.conv2d(x, v, stride=2, padding=1))
    x = F.conv2d(x, u, padding=1, groups=32)
    return F.conv2d(x, w, padding=1)


def followed(x, w, b, r):
    return F.relu(F.conv2d(x, w, b, padding=1)) + r


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 7, stride=2, padding=3, bias=False)
        self.second = nn.Conv2d(16, 8, 3, padding="same")
        self.third = nn.ConvTranspose2d(8, 4, 2, stride=2)

    def forward(self, x):
        return self.third(F.relu(self.second(F.relu(self.first(x)))))
