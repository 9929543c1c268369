# SPDX-License-Identifier: Apache-2.0
"""Runs every kernel of the corpus twice on the GPU and compares all memory bit by bit: once brought into plain form by
Triton's own passes, once by tt-kernel-pipeline; the installed Triton compiles both.

Usage: pipeline_on_gpu.py PRINTED [KERNEL]; PRINTED is the folder that tt_text_test fills. Each kernel gets a process,
because an error on the device spoils it. Exits 77 (skipped) without triton, torch or a GPU.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

ELEMENTS = 1 << 16
GRID = (2, 2, 1)
# One program, because several would race for the same elements.
ALONE = {"locked", "in_place", "helper_returns_early", "carried_and_swapped"}
DTYPES = {"f32": "float32", "f16": "float16", "i32": "int32", "i64": "int64"}


def arguments_of(text):
    header = re.search(r"tt\.func public @\w+\((.*?)\) attributes", text).group(1)
    return re.findall(r"%\w+: (!tt\.ptr<\w+>|\w+)", header)


def inputs_for(name, types):
    import torch

    torch.manual_seed(7)
    values = []
    for kind in types:
        if kind.startswith("!tt.ptr"):
            dtype = getattr(torch, DTYPES[kind[8:-1]])
            if dtype.is_floating_point:
                values.append(torch.rand(ELEMENTS, device="cuda", dtype=dtype))
            else:
                values.append(torch.arange(ELEMENTS, device="cuda", dtype=dtype) % 64)
        else:
            # A tile of matmul must not reach into the next row, which another program writes.
            values.append(1 if kind == "i1" else 64 if name == "matmul" else 40)
    if name == "pointer_table":
        values[0].fill_(values[1].data_ptr() + 4096)
    if name == "locked":
        values[1].zero_()
    return values


def lowered_by_triton(path, target):
    """The file after Triton's own make_ttir. It is told sm_80, so that descriptors become pointers there, too."""
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    text = str(backend.make_ttir(module, {}, backend.parse_options({}), 80))
    result = pathlib.Path(tempfile.mkdtemp()) / path.name
    result.write_text(text)
    return result


def compare(printed, name):
    import torch
    import triton
    from triton.runtime.driver import driver

    target = driver.active.get_current_target()
    plain = printed / "plain" / (name + ".ttir")
    values = inputs_for(name, arguments_of(plain.read_text()))
    tensors = [value for value in values if torch.is_tensor(value)]
    start = [tensor.clone() for tensor in tensors]
    results = []
    try:
        triton.compile(str(lowered_by_triton(plain, target)), target=target)
    except Exception as error:
        return "Triton has no code for it: " + str(error).strip().splitlines()[0][:100]
    for path in (lowered_by_triton(plain, target), printed / "pipeline" / plain.name):
        for tensor, before in zip(tensors, start):
            tensor.copy_(before)
        compiled = triton.compile(str(path), target=target)
        compiled[(1, 1, 1) if name in ALONE else GRID](*values)
        torch.cuda.synchronize()
        results.append([tensor.clone() for tensor in tensors])

    def same(a, b):
        return all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(a, b))

    if same(results[0], start):
        return "wrote nothing"
    return "equal" if same(*results) else "differs"


def main():
    printed = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        print(compare(printed, sys.argv[2]))
        return
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        sys.exit(77)

    def run(name):
        command = [sys.executable, __file__, str(printed), name]
        result = subprocess.run(command, capture_output=True, text=True)
        ok = result.returncode == 0
        lines = (result.stdout if ok else result.stdout + "\n" + result.stderr).strip().splitlines()
        return name, ("" if ok else "failed: ") + lines[-1][:200]

    names = sorted(path.stem for path in (printed / "plain").glob("*.ttir"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = dict(pool.map(run, names))
    for name, outcome in outcomes.items():
        if outcome != "equal":
            print(f"{name}: {outcome}")
    equal = sum(outcome == "equal" for outcome in outcomes.values())
    without = sum(outcome.startswith("Triton has no code") for outcome in outcomes.values())
    print(f"{equal} of {len(outcomes)} kernels equal bit by bit, {without} not compiled by Triton")
    sys.exit(0 if equal and equal + without == len(outcomes) else 1)


if __name__ == "__main__":
    main()
