# SPDX-License-Identifier: Apache-2.0
"""One step of training: `pellucid compile examples/train_step.py:Train --train` makes a package of it, which
examples/c_training/main.c runs."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Linear(8, 1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.05)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()
