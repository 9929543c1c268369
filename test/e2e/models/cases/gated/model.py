# SPDX-License-Identifier: Apache-2.0
import argparse

import torch
import torch.nn as nn

from .config import FeedForwardConfig
from .ops import SWIGLU


class FeedForward(nn.Module):
    """norm, one wide linear, SwiGLU, projection, residual."""

    def __init__(self, config: FeedForwardConfig):
        super().__init__()
        self.norm = nn.RMSNorm(config.dim, eps=config.eps)
        self.up = nn.Linear(config.dim, config.fused, bias=False)
        self.down = nn.Linear(config.hidden, config.dim)
        self.activation = SWIGLU[config.mode]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(self.activation(self.up(self.norm(x))))


class Network(nn.Module):
    def __init__(self, dim: int = 48, hidden: int = 80, mode: str = "triton_op", depth: int = 2):
        super().__init__()
        config = FeedForwardConfig(dim=dim, hidden=hidden, mode=mode)
        self.blocks = nn.ModuleList([FeedForward(config) for _ in range(depth)])
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 5))
        self.register_buffer("scale", torch.full((1,), 0.5))
        self.shift = nn.Parameter(torch.zeros(5))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x) * self.scale + self.shift


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dim", type=int, default=48)
    args = parser.parse_args()
    model = Network(args.dim).cuda()
    print(model(torch.randn(4, args.dim, device="cuda")))


if __name__ == "__main__":
    main()
