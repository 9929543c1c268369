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
    # Library kernels are the CPU's, generated products the device's, and the product before the user's kernel computes it there.
    cuda = {"cuda:sm_80", "cuda:sm_90"}
    assert cpu in targets.values() and sorted(cuda) in map(sorted, targets.values()), targets
    assert len(targets) == len(both["kernels"]), "two kernels of one name"
    assert targets["silu_kernel"] == cpu and set(targets["gemm_linear_silu_kernel_cuda"]) == cuda, targets
    for kernel in both["kernels"]:
        assert ("cuda:" in kernel["numerics"]) == any(t.startswith("cuda") for t in kernel["targets"]), kernel
    assert {r["name"] for r in alone["records"]} < {r["name"] for r in both["records"]}
    assert "launch" in pellucid("inspect", folder / "m.plc", "--ir", "lowered.cuda")
    # Where no product is before it, the device has the user's kernel with what the launch knows.
    pellucid("compile", f"{ROOT / 'bench' / 'kernels.py'}:silu", "--input", "x=f32[batch:1..64,128]", "--target", "cpu,cuda:sm_80,cuda:sm_90", "-o", folder / "s.plc")
    targets = {kernel["name"]: kernel["targets"] for kernel in json.loads(pellucid("inspect", folder / "s.plc", "--json"))["kernels"]}
    assert targets["silu_kernel"] == cpu and set(targets["silu_kernel_cuda"]) == cuda, targets

# Files that ask for a device before they choose are told of the targets' oldest generation.
ASKS = """
import torch
import triton
from triton.backends import backends

def asks(x):
    driver = triton.runtime.driver.active
    target = driver.get_current_target()
    said = [target.backend, target.arch, torch.cuda.is_available(), torch.cuda.get_device_capability(), list(backends), str(driver.get_active_torch_device())]
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        said += [card.name, card.multi_processor_count, card.shared_memory_per_block_optin, driver.utils.get_device_properties(0)["multiprocessor_count"]]
    raise ValueError(said)
"""
CPU = "['cpu', 0, False, (0, 0), ['cpu'], 'cpu']"
H100 = "['cuda', 90, True, (9, 0), ['nvidia'], 'cuda:0', 'NVIDIA H100 80GB HBM3', 132, 232448, 132]"
A100 = "['cuda', 80, True, (8, 0), ['nvidia'], 'cuda:0', 'NVIDIA A100-SXM4-80GB', 108, 166912, 108]"
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "asks.py"
    source.write_text(ASKS)
    for words, said in ((["--target", "cpu"], CPU), ([], CPU), (["--target", "cuda"], H100), (["--target", "cpu,cuda:sm_90"], H100),
                        (["--target", "cuda:sm_90,cuda:sm_80"], A100), (["--device", "cuda"], A100), (["--target", "cuda:sm_90", "--device", "cpu"], CPU)):
        done = subprocess.run([PROGRAM, "compile", f"{source}:asks", "--input", "x=f32[4]", "-o", f"{folder}/m.plc", *words], capture_output=True, text=True)
        assert done.returncode == 1 and f"ValueError: {said}" in done.stderr, (words, done.stderr)
print("ok")
