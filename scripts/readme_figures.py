#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's tables of the CPU and of our own kernels are what files of bench/results hold, slow rows too; `--fix` writes it anew.

A newer run is a new file and its name here: no row is of an older build than the newest file of its kind, and a kind that was not run again says so.
"""
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "bench/results/"
BEGIN, END = "<!-- figures: scripts/readme_figures.py --fix -->\n", "<!-- /figures -->\n"
EPYC, EPYC_AVX2, XEON = "AMD EPYC (AVX-512, pairs of bf16)", "AMD EPYC (AVX2)", "Intel Xeon (tile registers)"
# what, file, the rows in it (a path of keys), the machine, the peer, the key of a row's speed
TABLES = [
    ("graph operators", "2026-11-24-cpu-intel.json", ["runs", "amx1", "rows"], XEON, "eager mode", "speed"),
    ("of a second table", "2026-11-24-cpu-intel.json", ["runs", "more1", "rows"], XEON, "eager mode", "speed"),
    ("of a third table", "2026-11-24-cpu-intel.json", ["runs", "third1", "rows"], XEON, "eager mode", "speed"),
    ("of a fourth table", "2026-11-24-cpu-intel.json", ["runs", "fourth1", "rows"], XEON, "eager mode", "speed"),
    ("public Triton kernels, unchanged", "2026-11-24-cpu-intel.json", ["runs", "user", "rows"], XEON, "eager mode's operators", "speed"),
    ("graph operators by an older build", "2026-11-23-cpu-intel-b.json", ["runs", "beside torch.compile, amx1", "rows"], XEON, "`torch.compile`", "speed"),
    ("graph operators", "2026-11-23-cpu-avx2.json", ["rows"], EPYC_AVX2, "eager mode", "speed"),
    ("of a second table", "2026-11-23-cpu-avx2-more.json", ["rows"], EPYC_AVX2, "eager mode", "speed"),
    ("public Triton kernels, unchanged", "2026-11-23-cpu-avx2-user-kernels.json", ["rows"], EPYC_AVX2, "eager mode's operators", "speed"),
]
# file, machine, peer
MODELS = [("2026-11-23-cpu-intel-models-d.json", XEON, "the better of eager mode and `channels_last`"),
          ("2026-11-23-cpu-models.json", EPYC + ", an older build", "the better of eager mode, `channels_last` and `torch.compile`")]
NAMED = 4  # slow rows that are named
KERNELS = "2026-11-23-h200-kernels-b.json"
OWN = {"pointwise-silu-pointwise": "`x*s+b -> SiLU -> *0.5`", "pointwise-silu-pointwise+residual": "the same with a residual",
       "add": "add", "softmax": "softmax", "RmsNorm": "rms norm", "LayerNorm": "layer norm", "ScaleRows": "a factor per row, a bias per column"}
SIDES = {"triton": "Triton", "torch eager": "eager", "torch eager + triton": "eager with Triton", "torch.compile + triton_op": "torch.compile"}


def number(value):
    """Three digits, without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"


def read(file, keys):
    found = json.loads((ROOT / RESULTS / file).read_text())
    for key in keys:
        found = found[key]
    return found


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table_row(what, file, keys, machine, peer, key):
    speeds = sorted((row[key], name) for name, row in read(file, keys).items() if row.get(key))
    slow = [f"{name} {number(speed)}" for speed, name in speeds if speed < 0.9]
    rest = f", {len(slow) - NAMED} more" if len(slow) > NAMED else ""
    usual = [speed for speed, _ in speeds if speed <= 2]
    mean = f"{number(geometric_mean([speed for speed, _ in speeds]))} beside {peer}, {number(geometric_mean(usual))} without the {len(speeds) - len(usual)} rows above 2"
    return (f"{len(speeds)} {what}, {machine} ([file]({RESULTS}{file}))", f"{mean}; {len(speeds) - len(slow)} at 0.9 or better",
            ", ".join(slow[:NAMED]) + rest)


def model_row(file, machine, peer):
    rows = read(file, ["rows"])
    return (f"whole models, f32, {machine} ([file]({RESULTS}{file}))", "; ".join(f"{name} {number(row['speed'])}" for name, row in rows.items()) + f" beside {peer}", "")


def kernel_rows(run):
    def shown(value):
        return f"{value:.{0 if value >= 100 else 1}f}"

    for name, what in OWN.items():
        times = run["times"][name]
        yield f"{what}, {run['shape']}", shown(times["pellucid"] * 1e6) + " us", ", ".join(f"{side} {shown(times[key] * 1e6)}" for key, side in SIDES.items() if key in times) + " us"
    for name, what, library in (("product", "product ", "cuBLAS"), ("product_wide", "product ", "cuBLAS"), ("attention", "attention, ", "PyTorch")):
        rates = run[name]["tflops"]
        yield f"{what}{run[name]['shape']}", shown(rates["pellucid"]) + " TFLOP/s", f"Triton {shown(rates['triton'])}, {library} {shown(rates['torch eager'])} TFLOP/s"


def table():
    lines = ["One thread, packages beside PyTorch, results checked first. The machines are shared with other jobs: both sides ran in turns, and runs of another day differ by up to a factor of two.", "",
             "| what | geometric mean of the speed | slow rows |", "|---|---|---|"]
    lines += [f"| {what} | {said} | {slow} |" for what, said, slow in [*(table_row(*row) for row in TABLES), *(model_row(*row) for row in MODELS)]]
    run = json.loads((ROOT / RESULTS / KERNELS).read_text())
    lines += ["", f"Our own kernels on an H200, medians ([file]({RESULTS}{KERNELS}), PyTorch {run['torch'].split('+')[0]}, Triton {run['triton']}):", "",
              "| what | Pellucid | beside it |", "|---|---|---|"]
    lines += [f"| {what} | {ours} | {beside} |" for what, ours, beside in kernel_rows(run)]
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
