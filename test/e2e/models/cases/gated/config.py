# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["raw", "triton_op", "custom_op"]


@dataclass
class FeedForwardConfig:
    dim: int = 48
    hidden: int = 80
    mode: Mode = "triton_op"
    eps: float = 1e-5
    layers: list[str] = field(default_factory=lambda: ["a", "b"])

    @property
    def fused(self) -> int:
        return 2 * self.hidden
