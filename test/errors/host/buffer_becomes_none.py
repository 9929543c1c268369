# SPDX-License-Identifier: Apache-2.0
# command: export {file}:Forgets --input x=f32[4]
# error: 14:9: 'last' is a tensor before forward and of type NoneType after it; a package keeps buffers from call to call, so that each stays a tensor of its type and shape
import torch
from torch import nn


class Forgets(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x):
        self.last = None
        return x
