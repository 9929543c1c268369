#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same bytes, wherever they lie and however their paths are written.

    same_bytes_test.py PROGRAM SOURCE

A model in a package (kernels in a subpackage, an assertion in one of them) and one with sibling files are exported and
compiled by absolute and by relative paths in two folders, one with letters and signs that texts escape. Standard
library only.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
ASSERTING = """
import torch
import triton
import triton.language as tl


@triton.jit
def checked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=1.0)
    tl.device_assert(v > 0, "positive")
    tl.store(out + at, v, mask=at < n)


def model(x):
    out = torch.empty_like(x)
    checked[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
MODELS = (("gated/model.py:Network", "f32[batch:1..9,48]", "gated/ops.py"),
          ("silu_model.py:Model", "f32[batch:1..9,128]", "silu_kernels.py"),
          ("asserting.py:model", "f32[n:1..99]", "asserting.py"))


def outputs(folder, relative):
    """What export and compile write for each model, and what files they name."""
    shutil.copytree(SOURCE / "test/e2e/models/cases/gated", folder / "gated")
    for name in ("silu_model.py", "silu_kernels.py"):
        shutil.copy(SOURCE / "examples" / name, folder)
    (folder / "asserting.py").write_text(ASSERTING)
    for i, (model, spec, kernels) in enumerate(MODELS):
        for verb in ("export", "compile"):
            out = folder / f"{i}.{verb}"
            path = model if relative else str(folder / model)
            done = subprocess.run([PROGRAM, verb, path, "--input", f"x={spec}", "-o", out], cwd=folder if relative else "/",
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
            assert done.returncode == 0, done.stderr.decode()
            data = out.read_bytes()
            assert kernels.encode() in data, (verb, model, "does not name", kernels)
            assert str(folder.name).encode() not in data, (verb, model, "tells where it was compiled")
            yield verb, model, data


with tempfile.TemporaryDirectory(prefix="plain-") as one, tempfile.TemporaryDirectory(prefix='ö "q" ') as two:
    first = list(outputs(pathlib.Path(one), relative=False))
    second = list(outputs(pathlib.Path(two), relative=False))
    for name in pathlib.Path(one).iterdir():
        shutil.rmtree(name) if name.is_dir() else name.unlink()
    third = list(outputs(pathlib.Path(one), relative=True))
    for (verb, model, a), (_, _, b), (_, _, c) in zip(first, second, third):
        assert a == b, (verb, model, "differs by folder")
        assert a == c, (verb, model, "differs by how the path is written")
print(f"{len(first)} files, the same three times")
