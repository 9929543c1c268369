# SPDX-License-Identifier: Apache-2.0
"""Runs every kernel of the corpus twice on the GPU, as the front end left it and after tt-kernel-pipeline, both
compiled by the installed Triton, and compares all memory bit by bit.

Usage: pipeline_on_gpu.py PRINTED, the folder that tt_text_test fills. Exits 77 (skipped) without triton, torch or a GPU.
"""
import pathlib
import re
import sys

ELEMENTS = 1 << 16
GRID = (2, 2, 1)
# One program, because several would race for the same elements.
ALONE = {"locked", "in_place", "helper_returns_early", "carried_and_swapped"}
DTYPES = {"f32": "float32", "f16": "float16", "i32": "int32", "i64": "int64"}


def arguments_of(text):
    header = re.search(r"tt\.func public @\w+\((.*?)\) attributes", text).group(1)
    return re.findall(r"%\w+: (!tt\.ptr<\w+>|\w+)", header)


def main():
    try:
        import torch
        import triton
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        sys.exit(77)
    from triton.runtime.driver import driver

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    target = driver.active.get_current_target()

    def inputs_for(name, types):
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
                values.append(1 if kind == "i1" else 40)
        if name == "pointer_table":
            values[0].fill_(values[1].data_ptr() + 4096)
        if name == "locked":
            values[1].zero_()
        return values

    def run(path, name, values):
        compiled = triton.compile(str(path), target=target)
        compiled[(1, 1, 1) if name in ALONE else GRID](*values)
        torch.cuda.synchronize()

    equal, failed = 0, 0
    printed = pathlib.Path(sys.argv[1])
    for plain in sorted((printed / "plain").glob("*.ttir")):
        name = plain.stem
        types = arguments_of(plain.read_text())
        first = inputs_for(name, types)
        start = [value.clone() if torch.is_tensor(value) else value for value in first]
        try:
            run(plain, name, first)
        except Exception as error:  # Triton itself has no code for some of them on some GPUs.
            print(f"not comparable: {name}: {str(error).splitlines()[0][:120]}")
            continue
        expected = [value.clone() if torch.is_tensor(value) else value for value in first]
        for value, before in zip(first, start):
            if torch.is_tensor(value):
                value.copy_(before)
        run(printed / "pipeline" / plain.name, name, first)
        same = all(torch.equal(a.view(torch.uint8), b.view(torch.uint8))
                   for a, b in zip(first, expected) if torch.is_tensor(a))
        changed = any(not torch.equal(a.view(torch.uint8), b.view(torch.uint8))
                      for a, b in zip(expected, start) if torch.is_tensor(a))
        if same and changed:
            equal += 1
        else:
            failed += 1
            print(f"{'differs' if changed else 'wrote nothing'}: {name}")
    print(f"{equal} kernels equal bit by bit, {failed} failed")
    sys.exit(1 if failed or not equal else 0)


if __name__ == "__main__":
    main()
