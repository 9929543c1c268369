#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models for a CUDA device, without one: which kernels are launched, how much memory a call has, what ptxas says, and the numbers.

    device_models_test.py PROGRAM SOURCES [PTXAS]

Exit code 77 where numpy is missing. The program that was lowered for a device is compiled for the CPU and held against the same model that
was lowered for the CPU, whose passes are others.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "judge")]
from bfloat16 import from_bf16, to_bf16  # noqa: E402

PROGRAM, SOURCES, PTXAS = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
MODELS, DECODER = HERE / "device_models.py", SOURCES / "bench/cuda/decoder.py"


def pellucid(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout


def compiled(folder, model, init, inputs, target, out):
    words = [word for text in inputs for word in ("--input", text)]
    pellucid("compile", model, *(["--init", init] if init else []), "--dtype", "bf16", *words, "--target", target, "-o", folder / out)
    return folder / out


def call_of(package):
    """The kernels of a call in order, without the numbers of their copies, and the bytes of its buffers."""
    said = json.loads(pellucid("inspect", package, "--json"))
    slots = {}
    for buffer in said["buffers"]:
        slots[buffer["slot"]] = max(slots.get(buffer["slot"], 0), int(buffer["bytes"]))
    return [launch["kernel"] for launch in said["launches"]], sum(slots.values())


def on_host(folder, device):
    """What was lowered for a device, with the weights that its package has."""
    text = pellucid("inspect", device, "--ir", "lowered")
    kinds = {name: (kind, [int(size) for size in dims.split(",") if size.strip()]) for name, kind, dims in re.findall(r'^weight "(.*)" (\w+)\[(.*)\]', text, re.M)}
    directory, data = {}, b""
    with zipfile.ZipFile(device) as package:
        for place, name in enumerate(name for name in re.findall(r'^input \w+ "(.*?)"', text, re.M) if name in kinds):
            kind, shape = kinds[name]
            part = package.read(f"weights/{place}")
            directory[name] = {"dtype": kind.upper(), "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
            data += part
    header = json.dumps(directory).encode()
    (folder / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    (folder / "lowered.txt").write_text(re.sub(r'^(weight ".*" \w+\[.*\])$', r'\1 file "weights.safetensors"', text, flags=re.M))
    pellucid("compile", folder / "lowered.txt", "--target", "cpu:x86-64-v3", "-o", folder / "again.plc")
    return folder / "again.plc"


def numbers(folder, package, arrays):
    words = []
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
        words += ["--input", f"{key}=@{folder / key}.npy" + (":bf16" if array.dtype == np.uint16 else "")]
    pellucid("run", package, *words, "--output", folder / "out.npy")
    return from_bf16(np.load(folder / "out.npy")).astype(np.float64)


def check(folder, name, model, init, inputs, arrays, bound):
    device = compiled(folder, model, init, inputs, "cuda:sm_90", "device.plc")
    got = numbers(folder, on_host(folder, device), arrays)
    want = numbers(folder, compiled(folder, model, init, inputs, "cpu:x86-64-v3", "host.plc"), arrays)
    error = np.abs(got - want).max() / np.abs(want).max()
    assert np.isfinite(got).all() and error <= bound, f"{name}: {error}"
    return call_of(device)


def count(kernels, part):
    return sum(part in kernel for kernel in kernels)


def language(folder):
    ids = np.random.default_rng(3).integers(0, 50, (2, 33))
    kernels, _ = check(folder, "language", f"{MODELS}:Language", "", ["ids=i64[2,33]"], {"ids": ids}, 0.03)
    assert not [k for k in kernels if "le" in k.split("_") or "bitwise" in k], f"a mask is computed: {kernels}"
    assert count(kernels, "attention") == 2 and count(kernels, "clone") == 0, kernels
    assert count(kernels, "gemm") == 2 * 5 + 1, f"query, key and value are products of their own: {kernels}"


def encoder(folder):
    x = to_bf16(np.random.default_rng(4).standard_normal((3, 21, 64)))
    kernels, _ = check(folder, "encoder", f"{MODELS}:Encoder", "", ["x=bf16[3,21,64]"], {"x": x}, 0.03)
    assert count(kernels, "clone") == 0, f"heads are copied: {kernels}"
    assert count(kernels, "gemm") == 4, kernels


def decoder(folder):
    """Users' kernels: SwiGLU is computed by the product before it."""
    rng = np.random.default_rng(5)
    arrays = {"x": to_bf16(rng.standard_normal((40, 128))), "cos": rng.standard_normal((40, 16)).astype(np.float32), "sin": rng.standard_normal((40, 16)).astype(np.float32)}
    inputs = ["x=bf16[40,128]", "cos=f32[40,16]", "sin=f32[40,16]"]
    kernels, _ = check(folder, "decoder", f"{DECODER}:Prefill", "dim=128,heads=4,groups=2,inner=192,layers=2", inputs, arrays, 0.03)
    assert "swiglu_kernel" not in kernels and count(kernels, "_swiglu_kernel") == 2, kernels


ELEMENTWISE = '''
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def element(x_ptr, y_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, WAY: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at + (1 if WAY == "shifted" else 0), mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + at, mask=mask).to(tl.float32)
    if WAY == "summed":
        x = x + tl.sum(x)
    if WAY == "places":
        x = x + at
    z = tl.where(x > y, tl.exp2(x) * y, tl.maximum(-x, tl.sqrt(tl.abs(y)) - 0.75) / (1.5 + y * y)) * factor
    if WAY == "half":
        mask = mask & (at % 2 == 0)
    tl.store(out_ptr + at, z.to(out_ptr.dtype.element_ty), mask=mask)
    if WAY == "twice":
        tl.store(out_ptr + at, z.to(out_ptr.dtype.element_ty), mask=mask)


def launch(x, w, v, way):
    a, b = F.linear(x, w), F.linear(x, v)
    out = torch.empty_like(a) if way != "kept" else torch.zeros_like(torch.cat((a, a)))
    n = a.numel()
    element[(triton.cdiv(n, 256) - (1 if way == "short" else 0),)](a, b, out, n, 0.5, BLOCK=256, WAY=way)
    return out, a if way == "read" else out


def plain(x, w, v): return launch(x, w, v, "plain")[0]
def shifted(x, w, v): return launch(x, w, v, "shifted")[0]
def summed(x, w, v): return launch(x, w, v, "summed")[0]
def places(x, w, v): return launch(x, w, v, "places")[0]
def half(x, w, v): return launch(x, w, v, "half")[0]
def twice(x, w, v): return launch(x, w, v, "twice")[0]
def short(x, w, v): return launch(x, w, v, "short")[0]
def kept(x, w, v): return launch(x, w, v, "kept")[0]
'''


def elementwise(folder):
    """Which kernels behind products are computed by them."""
    (folder / "element.py").write_text(ELEMENTWISE)
    inputs = ["x=bf16[40,64]", "w=bf16[72,64]", "v=bf16[72,64]"]
    for way in ("shifted", "summed", "places", "half", "twice", "short", "kept"):
        kernels, _ = call_of(compiled(folder, f"{folder}/element.py:{way}", "", inputs, "cuda:sm_90", "stays.plc"))
        assert "element" in kernels, f"{way}: {kernels}"
    rng = np.random.default_rng(6)
    arrays = {key: to_bf16(rng.standard_normal((rows, 64)) / 4) for key, rows in (("x", 40), ("w", 72), ("v", 72))}
    kernels, _ = check(folder, "elementwise", f"{folder}/element.py:plain", "", inputs, arrays, 0.02)
    assert kernels == ["gemm_linear", "gemm_linear_element"], kernels


def real_sizes(folder):
    """Nothing makes ptxas run products one after the other (C7514) or keep registers in memory, at sizes that take the largest tiles."""
    inputs = ["x=bf16[2048,2048]", "cos=f32[2048,64]", "sin=f32[2048,64]"]
    package = compiled(folder, f"{DECODER}:Prefill", "dim=2048,heads=16,groups=4,inner=4096,layers=1", inputs, "cuda:sm_90", "large.plc")
    kernels, size = call_of(package)
    # The stream, its norm and the inner layer.
    assert size <= 2048 * (2 * 2048 + 2 * 4096) * 2, f"buffers of {size} bytes"
    if not PTXAS:
        return
    with zipfile.ZipFile(package) as file:
        for name in file.namelist():
            code = file.read(name).decode() if name.endswith(".ptx") else ""
            if "wgmma" not in code:
                continue
            (folder / "kernel.ptx").write_text(code)
            done = subprocess.run([PTXAS, "-arch=sm_90a", "-v", folder / "kernel.ptx", "-o", folder / "kernel.cubin"], capture_output=True, text=True)
            assert done.returncode == 0 and "Performance Loss" not in done.stderr, f"{name}: {done.stderr}"


def main():
    for case in (language, encoder, decoder, elementwise, real_sizes):
        with tempfile.TemporaryDirectory() as folder:
            case(pathlib.Path(folder))
    print("device models ok" + ("" if PTXAS else " (no ptxas)"))


if __name__ == "__main__":
    main()
