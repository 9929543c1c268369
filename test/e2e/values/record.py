#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch computes for the calls of cases.py into results.npz ("model.call.result"; "model.call.error" where it
refuses a call), and archives into archives/. Needs torch 2.15; what it writes is committed.
"""
import pathlib
import sys

import cases
import models
import numpy as np
import torch
from torch.export import export, save

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "archive"))
from make_archives import bare  # noqa: E402

torch.set_num_threads(1)


def launched(x):
    """What the kernels of Launched compute; they run on a GPU only."""
    z = x[x > 0]
    torch._check(z.shape[0] > 0)
    return z * 3, z - z.sum()


def main():
    (HERE / "archives").mkdir(exist_ok=True)
    arrays = {}
    for name, (specs, calls) in cases.CASES.items():
        net = getattr(models, name)()
        for at, call in enumerate(calls):
            inputs = [torch.from_numpy(np.asarray(call[key])) for key in specs]
            try:
                with torch.no_grad():
                    results = launched(*inputs) if name == "Launched" else net(*inputs)
            except (RuntimeError, IndexError) as error:
                arrays[f"{name}.{at}.error"] = np.array(str(error).split("\n")[0])
                continue
            for i, result in enumerate([results] if isinstance(results, torch.Tensor) else results):
                arrays[f"{name}.{at}.{i}"] = result.detach().numpy()
        if name in cases.ARCHIVES:
            save(bare(export(net, tuple(torch.from_numpy(np.asarray(calls[0][key])) for key in specs))), HERE / "archives" / f"{name}.pt2")
    np.savez_compressed(HERE / "results.npz", **arrays)


if __name__ == "__main__":
    main()
