#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A package for two kinds of device holds each one's own program: products on the CPU stay packed micro-kernels.

    targets_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "bench"))
from compare import write_npy  # noqa: E402

MODEL = [f"{ROOT / 'bench' / 'kernels.py'}:TwoLinear", "--dtype", "bf16", "--input", "x=bf16[batch:1..64,128]", "--seed", "1"]


def pellucid(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    write_npy(folder / "x.npy", "<u2", 7 * 128)
    data = (folder / "x.npy").read_bytes().replace(b"(896,), ", b"(7, 128)")
    (folder / "x.npy").write_bytes(data)
    results, contents = {}, {}
    for targets in ("cpu", "cpu,cuda:sm_80,cuda:sm_90"):
        package, out = folder / "m.plc", folder / "y.npy"
        pellucid("compile", *MODEL, "--target", targets, "-o", package)
        pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}:bf16", "--output", out)
        results[targets] = out.read_bytes()
        contents[targets] = json.loads(pellucid("inspect", package, "--json"))
    alone, both = contents.values()
    assert len(set(results.values())) == 1, "the CPU's results depend on what else the package serves"
    assert alone["launches"] == both["launches"], (alone["launches"], both["launches"])
    targets = {kernel["name"]: kernel["targets"] for kernel in both["kernels"]}
    cpu = ["cpu:x86-64-v3", "cpu:x86-64-v4"]
    for launch in both["launches"]:
        assert set(cpu) <= set(targets[launch["kernel"]]), (launch, targets)
    # Products of bf16 use what further levels add, and say so; nothing else is compiled for them.
    further = ["cpu:x86-64-v4+bf16", "cpu:x86-64-v4+amx"]
    for kernel in both["kernels"]:
        is_product = kernel["name"].startswith("gemm_bf16")
        assert (kernel["targets"] == cpu + further) == is_product, kernel
        assert ("+amx:dot=tdpbf16ps" in kernel["numerics"] and "+bf16:dot=vdpbf16ps" in kernel["numerics"]) == is_product, kernel
    # Library kernels are the CPU's, generated products the device's, and the device has the user's kernel with what the launch knows.
    cuda = {"cuda:sm_80", "cuda:sm_90"}
    assert cpu in targets.values() and sorted(cuda) in map(sorted, targets.values()), targets
    assert len(targets) == len(both["kernels"]), "two kernels of one name"
    assert any(name.endswith("_cuda") and set(targets[name]) == cuda and targets.get(name.removesuffix("_cuda")) == cpu for name in targets), targets
    for kernel in both["kernels"]:
        assert ("cuda:" in kernel["numerics"]) == any(t.startswith("cuda") for t in kernel["targets"]), kernel
    assert {r["name"] for r in alone["records"]} < {r["name"] for r in both["records"]}
    assert "launch" in pellucid("inspect", folder / "m.plc", "--ir", "lowered.cuda")
print("ok")
