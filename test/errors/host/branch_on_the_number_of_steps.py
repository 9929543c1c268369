# SPDX-License-Identifier: Apache-2.0
# error: 16:16: a branch on a tensor's value cannot be traced: the value is only known when the program runs; use torch.where
# command: compile {file}:Train --train --input x=f32[4,2] --target cpu:x86-64-v3 -o refused.plc
import torch
import torch.nn as nn


class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            if not state:
                state["step"] = 0
            state["step"] += 1
            if state["step"] % 4 == 0:
                p.sub_(p.grad)


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Linear(2, 1, bias=False)
        self.optimizer = Own(self.model.parameters(), {})

    def forward(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach()
