# SPDX-License-Identifier: Apache-2.0
# command: export {file}:Shares --input x=f32[4]
# error: 15:9: 'a' shares its memory with 'b' and is bound to another tensor in forward; write to it with copy_(), or give each a tensor of its own
import torch
from torch import nn


class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(4))
        self.register_buffer("b", self.a)

    def forward(self, x):
        self.a = self.a + x
        return self.b
