#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.npz: what PyTorch (2.15) makes of the steps of models.py.

    record.py
"""
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import models  # noqa: E402
from cases import CASES, OPTIMIZER_STEPS, STEPS, gradient  # noqa: E402


def main():
    torch.set_num_threads(1)
    out = {}
    step = models.Optimizers().train()
    for i in range(OPTIMIZER_STEPS):
        results = step(torch.from_numpy(gradient(i)))
    out["Optimizers"] = np.stack([r.numpy() for r in results])
    for name, (_, arrays) in CASES.items():
        made = getattr(models, name)
        call = made().train() if isinstance(made, type) else made
        losses = [float(call(*[torch.from_numpy(a) for a in arrays(i)])) for i in range(STEPS)]
        out[name] = np.array(losses, np.float64)
        held = call.model if isinstance(made, type) else models.model
        for key, value in held.state_dict().items():
            out[f"{name}.{key}"] = value.numpy()
    np.savez_compressed(HERE / "expected.npz", **out)


if __name__ == "__main__":
    main()
