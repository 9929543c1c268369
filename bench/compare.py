#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Pellucid beside this machine's ceiling and, where it is installed, beside PyTorch. One run, one table.

    compare.py --pellucid build/release/bin/pellucid [--python PYTHON_WITH_TORCH] [--json RESULT.json]

Needs nothing but Python's standard library; PyTorch runs in its own process. Every figure is the median of one second of
calls; `best` is the fastest call. Ours and the peer's take turns, so that a busy machine hurts both alike.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "kernels.py"
ELEMENTS = 1 << 24
ROWS, COLUMNS = 16384, 1000


def write_npy(path, kind, count):
    """`count` numbers in -1..1 (a block of random ones, repeated): float32, or bfloat16 as uint16."""
    block = array.array("f", (random.uniform(-1, 1) for _ in range(1 << 16))).tobytes()
    if kind == "<u2":
        block = b"".join(block[i + 2 : i + 4] for i in range(0, len(block), 4))
    size = int(kind[2])
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        whole, rest = divmod(count * size, len(block))
        for _ in range(whole):
            file.write(block)
        file.write(block[:rest])


def pellucid(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def bench(program, threads, *words):
    report = json.loads(pellucid(program, "bench", *words, "--threads", threads, "--json"))
    return {"ours_s": report["median_s"], "ours_best_s": report["min_s"], "bytes": report["bytes"],
            "copy_ceiling_bytes_per_s": report["copy_ceiling_bytes_per_s"],
            "fma_ceiling_flops_per_s": report["fma_ceiling_flops_per_s"],
            **{key: report[key] for key in ("source_to_package_s", "load_s", "arithmetic_ceiling_bytes_per_s") if key in report}}


def workloads(folder):
    """Name, what bench is asked, floating-point operations (0: a matter of bandwidth), thread counts."""
    x, y, zero = folder / "x.npy", folder / "y.npy", folder / "zero.npy"
    half, half_out = folder / "half.npy", folder / "half_out.npy"
    for path in (x, y, zero):
        write_npy(path, "<f4", ELEMENTS)
    for path in (half, half_out):
        write_npy(path, "<u2", ELEMENTS)
    grid = ELEMENTS // 1024
    model = ["--dtype", "bf16", "--input", "x=bf16[batch=16:1..1024,128]", "--seed", 1]
    yield "two_linear_bf16_batch16", [f"{SOURCE}:TwoLinear", *model], 4 * 16 * 128 * 64, [1]
    yield "add_f32_16M", [f"{SOURCE}:add", "--grid", grid, "--arg", f"x=@{x}", "--arg", f"y=@{y}", "--arg", f"out=@{zero}",
                          "--arg", f"n={ELEMENTS}", "--arg", "BLOCK=1024"], 0, [1, 0]
    yield "silu_bf16_16M", [f"{SOURCE}:silu_kernel", "--grid", grid, "--arg", f"x=@{half}:bf16", "--arg",
                            f"out=@{half_out}:bf16", "--arg", f"n={ELEMENTS}", "--arg", "BLOCK=1024"], 0, [1, 0]
    shape = f"[shape={ROWS}x{COLUMNS},strides={COLUMNS}x1]"
    yield "softmax_f32_16384x1000", [f"{SOURCE}:softmax", "--grid", ROWS, "--arg", f"x=@{x}{shape}", "--arg",
                                     f"out=@{zero}{shape}", "--arg", f"columns={COLUMNS}", "--arg", "BLOCK=1024"], 0, [1, 0]
    for dtype in ("f32", "bf16"):
        for rows in (16, 1024):
            yield (f"linear_{dtype}_{rows}x1024x1024",
                   [f"{SOURCE}:Linear", "--dtype", dtype, "--input", f"x={dtype}[m={rows}:1..4096,1024]", "--seed", 1],
                   2 * rows * 1024 * 1024, [1, 0])


# --- PyTorch's side, in its own interpreter -------------------------------------------------------------------------------


def torch_side(names, has_compiler):
    start = time.perf_counter()
    import torch

    imported = time.perf_counter() - start

    class TwoLinear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(128, 64), torch.nn.Linear(64, 128)

        def forward(self, x):
            return self.down(torch.nn.functional.silu(self.up(x)))

    def subject(name):
        if name.startswith("two_linear"):
            return TwoLinear().bfloat16(), [torch.randn(16, 128).bfloat16()]
        if name.startswith("linear"):
            dtype = torch.bfloat16 if "bf16" in name else torch.float32
            rows = int(name.split("_")[2].split("x")[0])
            return torch.nn.Linear(1024, 1024).to(dtype), [torch.randn(rows, 1024).to(dtype)]
        if name.startswith("add"):
            return (lambda x, y, out: torch.add(x, y, out=out)), [torch.randn(ELEMENTS) for _ in range(3)]
        if name.startswith("silu"):
            x = torch.randn(ELEMENTS).bfloat16()
            return (lambda x, out: torch.ops.aten.silu.out(x, out=out)), [x, torch.empty_like(x)]
        x = torch.randn(ROWS, COLUMNS)
        return (lambda x, out: torch.softmax(x, 1, out=out)), [x, torch.empty_like(x)]

    def timed(call, inputs):
        call(*inputs), call(*inputs)
        seconds, begin = [], time.perf_counter()
        while time.perf_counter() - begin < 1 or len(seconds) < 5:
            start = time.perf_counter()
            call(*inputs)
            seconds.append(time.perf_counter() - start)
        seconds.sort()
        return {"median_s": seconds[len(seconds) // 2], "best_s": seconds[0]}

    def compiled(call, inputs):
        torch._dynamo.reset()
        start = time.perf_counter()
        fast = torch.compile(call)
        fast(*inputs)
        made = time.perf_counter() - start
        return {**timed(fast, inputs), "make_s": made}

    def packaged(call, inputs):
        start = time.perf_counter()
        batch = torch.export.Dim("batch", min=1, max=1024)
        program = torch.export.export(call, tuple(inputs), dynamic_shapes=({0: batch},))
        path = torch._inductor.aoti_compile_and_package(program)
        made = time.perf_counter() - start
        start = time.perf_counter()
        fast = torch._inductor.aoti_load_package(path)
        loaded = time.perf_counter() - start
        return {**timed(fast, inputs), "make_s": made, "load_s": loaded}

    out = {"torch": torch.__version__, "import_s": imported, "figures": {}}
    for name, threads in names:
        torch.set_num_threads(threads or os.cpu_count())
        call, inputs = subject(name)
        figures = {}
        with torch.no_grad():
            for kind, measure in (("eager", timed), ("compile", compiled), ("aoti", packaged)):
                if kind != "eager" and not has_compiler or kind == "aoti" and not name.startswith("two_linear"):
                    continue
                try:
                    figures[kind] = measure(call, inputs)
                except Exception as error:  # a peer that fails is a result, too
                    figures[kind] = {"failed": str(error).splitlines()[0][:200]}
        out["figures"][f"{name}/{threads}"] = figures
    json.dump(out, sys.stdout)


# --- the table ------------------------------------------------------------------------------------------------------------


def machine():
    about = dict(map(str.strip, line.split(":", 1)) for line in open("/proc/cpuinfo") if ":" in line)
    cpu = f"{about['model name']}, family {about.get('cpu family')}, model {about.get('model')}"
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "load_before": os.getloadavg()[0],
            "date": datetime.date.today().isoformat()}


def show(name, threads, row, peers):
    seconds = row["ours_s"]
    line = f"{name:26} {threads or 'all':>3} thr  {seconds * 1e6:11.2f} us"
    if row["flops"]:
        line += f"  {row['flops'] / seconds / 1e9:7.1f} GFLOP/s ({row['flops'] / seconds / row['fma_ceiling_flops_per_s']:.2f} of fma)"
    else:
        speed, copy = row["bytes"] / seconds, row["copy_ceiling_bytes_per_s"]
        own = row.get("arithmetic_ceiling_bytes_per_s", copy)
        best = row["bytes"] / row["ours_best_s"]
        # The ceilings are the best of several rounds; on a busy machine only the best call compares with them.
        line += f"  {speed / 1e9:7.1f} GB/s, best {best / 1e9:.1f}: {best / min(own, copy):.2f} of min(copy {copy / 1e9:.1f}, in cache {own / 1e9:.1f})"
    for kind, figure in peers.items():
        if "median_s" in figure:
            line += f"  {kind} {figure['median_s'] * 1e6:.2f} us ({figure['median_s'] / seconds:.2f}x)"
        else:
            line += f"  {kind} failed"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pellucid", default="build/release/bin/pellucid")
    parser.add_argument("--python", help="an interpreter that has torch; left out: ours beside the ceiling only")
    parser.add_argument("--json", help="where the figures go")
    parser.add_argument("--only", help="workloads whose name has this text")
    parser.add_argument("--torch-side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch_side:
        return torch_side(json.loads(options.torch_side), bool(shutil.which("g++") or shutil.which("clang++")))
    result = {"machine": machine(), "command": " ".join(sys.argv[1:]), "version": pellucid(options.pellucid, "--version").strip(),
              "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, words, flops, counts in workloads(pathlib.Path(folder)):
            if options.only and options.only not in name:
                continue
            for threads in counts:
                row = {"name": name, "threads": threads, "flops": flops, **bench(options.pellucid, threads, *words), "peers": {}}
                if options.python:
                    side = subprocess.run([options.python, __file__, "--torch-side", json.dumps([[name, threads]])],
                                          capture_output=True, text=True)
                    if side.returncode:
                        sys.exit(side.stderr)
                    figures = json.loads(side.stdout)
                    result["torch"] = {"version": figures["torch"], "import_s": figures["import_s"]}
                    row["peers"] = figures["figures"][f"{name}/{threads}"]
                show(name, threads, row, row["peers"])
                result["rows"].append(row)
        if not options.only or "two_linear" in options.only:
            result["source_to_package"] = time_compile(options.pellucid, pathlib.Path(folder))
    result["machine"]["load_after"] = os.getloadavg()[0]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def time_compile(program, folder):
    """The whole command, process start included, both ISA levels."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        pellucid(program, "compile", f"{SOURCE}:TwoLinear", "--dtype", "bf16", "--input", "x=bf16[batch:1..1024,128]", "--seed", 1,
                 "-o", folder / "model.plc")
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    runtime = pathlib.Path(program).resolve().parent.parent / "lib" / "libpellucid_runtime.so"
    size = None
    if shutil.which("strip") and runtime.exists():
        subprocess.run(["strip", "-o", folder / "stripped.so", runtime], check=True)
        size = os.path.getsize(folder / "stripped.so")
    print(f"source to package: median {seconds[2]:.3f} s, best {seconds[0]:.3f} s (bar 0.5 s); "
          f"run-time library stripped: {size} bytes (bar 2 MB)")
    return {"median_s": seconds[2], "best_s": seconds[0], "runtime_library_stripped_bytes": size}


if __name__ == "__main__":
    main()
