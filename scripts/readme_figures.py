#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's table of figures is what two files of bench/results hold, slow rows too; `--fix` writes it anew.

Medians, as bench/compare.py and bench/cuda/run.py wrote them. A newer run is a new file and its name here.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPU = "bench/results/2026-11-21-epyc-2-cores-e.json"
GPU = "bench/results/2026-11-21-h200-e.json"
BEGIN, END = "<!-- figures: scripts/readme_figures.py --fix -->\n", "<!-- /figures -->\n"

STREAMS = {"add_f32_16M": "add of 16M f32", "silu_bf16_16M": "SiLU of 16M bf16", "softmax_f32_16384x1000": "softmax 16384x1000 f32"}
LINEARS = {"linear_f32_16x1024x1024": "linear 1024 -> 1024 f32, 16 rows", "linear_f32_1024x1024x1024": "the same, 1024 rows",
           "linear_bf16_16x1024x1024": "linear 1024 -> 1024 bf16, 16 rows", "linear_bf16_1024x1024x1024": "the same, 1024 rows"}
KERNELS = {"pointwise-silu-pointwise": "`x*s+b -> SiLU -> *0.5`", "pointwise-silu-pointwise+residual": "the same with a residual",
           "add": "add", "softmax": "softmax", "RmsNorm": "rms norm", "LayerNorm": "layer norm", "ScaleRows": "a factor per row, a bias per column"}
SIDES = {"eager": "eager", "compile": "torch.compile", "aoti": "AOTInductor", "triton": "Triton", "torch eager": "eager",
         "torch eager + triton": "eager with Triton", "torch.compile + triton_op": "torch.compile"}


def number(value):
    """Three digits, without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def peers(found, value):
    return ", ".join(f"{SIDES[name]} {number(value(entry))}" for name, entry in found.items())


def cpu_rows(run):
    rows = {(row["name"], row["threads"]): row for row in run["rows"]}
    model = rows["two_linear_bf16_batch16", 1]
    aoti = model["peers"]["aoti"]
    yield ("linear, SiLU kernel, linear in bf16: source to package for two ISA levels", number(run["source_to_package"]["median_s"]) + " s",
           f"AOTInductor {number(aoti['make_s'])} s")
    yield "loading that package", number(model["load_s"] * 1e3) + " ms", f"AOTInductor {number(aoti['load_s'] * 1e3)} ms"
    yield "a call of it, batch 16, one thread", number(model["ours_s"] * 1e6) + " us", peers(model["peers"], lambda p: p["median_s"] * 1e6) + " us"
    for threads, where in ((1, "one thread"), (0, "two threads")):
        for name, what in STREAMS.items():
            row = rows[name, threads]
            rate = lambda seconds, row=row: row["bytes"] / seconds / 1e9  # noqa: E731
            yield (f"{what}, {where}", number(rate(row["ours_s"])) + " GB/s",
                   peers(row["peers"], lambda p, rate=rate: rate(p["median_s"])) + f"; a copy {number(row['copy_ceiling_bytes_per_s'] / 1e9)} GB/s")
    for threads, where in ((1, "one thread"), (0, "two threads")):
        for name, what in LINEARS.items():
            row = rows[name, threads]
            rate = lambda seconds, row=row: row["flops"] / seconds / 1e9  # noqa: E731
            yield (f"{what}, {where}", number(rate(row["ours_s"])) + " GFLOP/s",
                   peers(row["peers"], lambda p, rate=rate: rate(p["median_s"])) + " GFLOP/s")
    yield "the run-time library, stripped", number(run["source_to_package"]["runtime_library_stripped_bytes"] / 1e6) + " MB", ""


def gpu_rows(run):
    for name, what in KERNELS.items():
        times = run["times"][name]
        beside = {side: times[side] for side in SIDES if side in times}
        yield f"{what}, {run['shape']}, H200", number(times["pellucid"] * 1e6) + " us", peers(beside, lambda s: s * 1e6) + " us"
    for name, what, library in (("product", "product ", "cuBLAS"), ("product_wide", "product ", "cuBLAS"), ("attention", "attention, ", "PyTorch")):
        rates = run[name]["tflops"]
        yield (f"{what}{run[name]['shape']}, H200", number(rates["pellucid"]) + " TFLOP/s",
               f"Triton {number(rates['triton'])}, {library} {number(rates['torch eager'])} TFLOP/s")


def table():
    cpu, gpu = (json.loads((ROOT / file).read_text()) for file in (CPU, GPU))
    lines = [f"Medians of [{pathlib.Path(CPU).name}]({CPU}) (two cores of an AMD EPYC, PyTorch {cpu['torch']['version'].split('+')[0]}) and",
             f"[{pathlib.Path(GPU).name}]({GPU}) (NVIDIA H200, PyTorch {gpu['torch'].split('+')[0]}, Triton {gpu['triton']}).", "",
             "| what | Pellucid | beside it |", "|---|---|---|"]
    lines += [f"| {what} | {ours} | {beside} |" for what, ours, beside in [*cpu_rows(cpu), *gpu_rows(gpu)]]
    return "\n".join(lines) + "\n"


def main():
    page = ROOT / "README.md"
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    wanted = text[:begin] + table() + text[end:]
    if "--fix" in sys.argv[1:]:
        page.write_text(wanted)
    elif text != wanted:
        print("README.md's figures are not those of bench/results: run scripts/readme_figures.py --fix")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
