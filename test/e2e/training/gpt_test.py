#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/train_gpt.py, small: the losses, norms and text that PyTorch gives with the kernels' formulas.

    gpt_test.py PROGRAM
    gpt_test.py --record      prints them anew; needs torch
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "examples/train_gpt.py"
OPTIONS = ["--layers", "1", "--width", "16", "--steps", "5", "--log-every", "1", "--warmup", "2", "--batch-size", "3"]
# Loss and norm of each step.
RECORDED = [(2.202170, 0.4398), (2.206102, 0.4118), (2.198424, 0.4200), (2.196480, 0.3855), (2.185241, 0.4635)]


def text(folder):
    chosen = random.Random(5)
    words = ["".join(chosen.choice("abcdefgh") for _ in range(chosen.randint(1, 6))) for _ in range(300)]
    path = folder / "input.txt"
    path.write_text(" ".join(words))
    return path


def steps(said):
    return [(float(loss), float(norm)) for loss, norm in re.findall(r"step +\d+: loss ([\d.]+), norm ([\d.]+)", said)]


def record(folder):
    import torch
    import torch.nn.functional as F

    sys.path.insert(0, str(SCRIPT.parent))
    import train_gpt

    class Norm(torch.nn.Module):
        def __init__(self, dim, eps=1e-5):
            super().__init__()
            self.weight, self.eps = torch.nn.Parameter(torch.ones(dim)), eps

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight

    train_gpt.RMSNorm = Norm
    train_gpt.CrossEntropyFunction.apply = staticmethod(F.cross_entropy)
    train_gpt.TritonAdamW = lambda groups, lr: torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), eps=1e-8)
    sys.argv = ["train_gpt.py", "--data", str(text(folder)), "--device", "cpu", *OPTIONS]
    train_gpt.main()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        if sys.argv[1] == "--record":
            return record(folder)
        script = folder / SCRIPT.name
        script.write_text(SCRIPT.read_text() + "\nprint(torch._pellucid_statistics()['compiled'], 'programs')\n")
        words = [sys.argv[1], "exec", "--device", "cuda=cpu", script, "--data", text(folder), "--device", "cuda", *OPTIONS]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = steps(done.stdout)
    assert len(found) == len(RECORDED), done.stdout
    for ours, theirs in zip(found, RECORDED):
        assert abs(ours[0] - theirs[0]) <= 1e-5 * theirs[0] and abs(ours[1] - theirs[1]) <= 3e-4 * theirs[1], f"{found}, not {RECORDED}"
    # The step with and without the optimizer's state, what draws a batch, and 60 characters in as many lengths.
    programs = int(re.search(r"(\d+) programs", done.stdout)[1])
    assert programs <= 14, f"{programs} programs were compiled"
    print(f"{len(found)} steps as PyTorch's")


main()
