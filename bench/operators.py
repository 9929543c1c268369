# SPDX-License-Identifier: Apache-2.0
"""Graph operators beside PyTorch in one run: results first, against float64, then times.

    python3 bench/operators.py --pellucid DIR [--device cuda|cpu] [--out results.json] [--only TEXT] [--no-compile-peer] [--threads N]

DIR holds bin/ and lib/ of a build. The peer is the better of eager and `torch.compile`; speed is the peer's time over ours. On a device
times are medians of events with the L2 cache flushed between calls. On the CPU ours, eager and compiled take turns, a fifth of a
millisecond at a time, with the same threads, and the fastest turn of each counts (medians are in the file, too): what else runs on the
machine hurts all of them alike, and its load before and after stands in the file. With one thread time is the thread's own. `prepared_us` is the same package by a prepared call.
A case that is refused or wrong is a row too. `--table` prints a file's rows for a document.
"""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "cuda")]
import fifth_operator_cases  # noqa: E402
import operator_cases  # noqa: E402
from fourth_operator_cases import FOURTH_CASES, FREE_PLACES  # noqa: E402
from more_operator_cases import MORE_CASES  # noqa: E402
from operator_cases import CASES, CPU_CASES  # noqa: E402
from package_call import Package, open_library  # noqa: E402
from third_operator_cases import THIRD_CASES  # noqa: E402

TABLES = {"--more": MORE_CASES, "--third": THIRD_CASES, "--fourth": FOURTH_CASES, "--fifth": fifth_operator_cases.FIFTH_CASES}
# What holds PyTorch's libraries to instructions without tile registers: oneDNN's, MKL's.
HELD_BACK = ("ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY")
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}


def parse(word):
    """The element type, the extent that an index counts along (or None), the dims."""
    name, extent, dims = re.fullmatch(r"(index|bool|[a-z]+\d+?(?=\[)|bf16|f16|f32|f64|i8|i32|i64)(\d*)\[([\d,]*)\]", word).groups()
    return name, int(extent) if name == "index" else None, [int(d) for d in dims.split(",") if d]


def tensor_of(word, device, seed):
    name, extent, dims = parse(word)
    generator = torch.Generator(device=device).manual_seed(seed)
    if name == "index":
        return torch.randint(0, extent, dims, generator=generator, device=device)
    if name == "bool":
        return torch.rand(dims, generator=generator, device=device) < 0.5
    if name in ("i8", "i32", "i64"):
        return torch.randint(-128, 128, dims, generator=generator, device=device, dtype=TYPES[name])
    return torch.randn(dims, generator=generator, device=device, dtype=torch.float32).to(TYPES[name])


def inputs_of(name, device):
    function, words = CASES[name]
    tensors = [tensor_of(word, device, i + 1) for i, word in enumerate(words[device])]
    if function is operator_cases.cross_entropy_ignored:
        tensors[1][::7] = -100
    if function is operator_cases.scatter_rows:
        tensors[1] = torch.randperm(len(tensors[0]), device=device)[: len(tensors[1])]  # of equal ones any may stay
    if function is operator_cases.batch_norm:
        tensors[2] = tensors[2].abs() + 0.5
    if len(tensors) > 1 and function in (operator_cases.linear, operator_cases.linear_bias_gelu, operator_cases.gated_mlp):
        # As trained weights are: results stay of size one.
        tensors[1:] = [t / t.shape[-1] ** 0.5 for t in tensors[1:]]
    return tensors


def compile_case(name, pellucid, device, target, folder):
    function, words = CASES[name]
    path = folder / (re.sub(r"\W+", "_", name) + ".plc")
    if path.exists():
        return path, None
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    command = [str(pellucid / "bin/pellucid"), "compile", f"{function.__code__.co_filename}:{function.__name__}", "--target", target, "-o", str(path)]
    for parameter, word in zip(parameters, words[device]):
        name_of_type, _, dims = parse(word)
        command += ["--input", f"{parameter}={'i64' if name_of_type == 'index' else name_of_type}[{','.join(map(str, dims))}]"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["exit " + str(done.returncode)])[0].split("error: ")[-1]
    return path, time.perf_counter() - start


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def exact_results(function, inputs):
    """What float64 gives: on the host's side where the device's memory would not hold it, which no case needs."""
    return as_list(function(*[t.double() if t.is_floating_point() else t for t in inputs]))


def errors_of(results, exact):
    """The largest error of the floating results, beside the size of what is exact; what is NaN or infinite has to be so."""
    worst = 0.0
    for ours, want in zip(results, exact, strict=True):
        if want.is_floating_point():
            if ours.shape != want.shape:
                return math.inf
            ours, finite = ours.double(), want.isfinite()
            same = (ours == want) | (ours.isnan() & want.isnan())
            if not bool((same | finite).all()):
                return math.inf
            off, want = (ours - want)[finite], want[finite]
            if off.numel():
                error = off.abs().max().item() / (want.abs().max().item() or 1.0)
                worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def indices_are_right(function, inputs, results):
    """An index may be any of equal elements: what lies there is compared."""
    x = inputs[0]
    for at, result in enumerate(results):
        if not result.is_floating_point():
            is_first = at == 0 and len(results) > 1
            if FOURTH_CASES.keys() == CASES.keys() and (is_first or function not in FREE_PLACES):
                if not bool((result == as_list(function(*inputs))[at]).all()):
                    return False
                continue
            if result.dtype == torch.int8:
                # What lies between two numbers may go either way.
                return bool(((result.int() - function(*inputs).int()).abs() <= 1).all())
            if result.dtype == torch.bool or function in (fifth_operator_cases.max_pool_places, fifth_operator_cases.sorted_places):
                return bool((result == as_list(function(*inputs))[at]).all())
            if function is fifth_operator_cases.routed:
                return bool((x.gather(-1, result) == x.gather(-1, function(*inputs)[at])).all())
            if function is operator_cases.argsort:
                return bool((x.gather(-1, result) == x.sort().values).all())
            if function is operator_cases.sort_columns:
                return bool((x.gather(0, result) == results[at - 1]).all())
            if function is operator_cases.argmin_columns:
                return bool((x.gather(0, result[None])[0] == x.amin(0)).all())
            if result.dtype == torch.int64 and not inputs[0].is_floating_point() and function not in FREE_PLACES:
                if not bool((result == as_list(function(*inputs))[at]).all()):
                    return False
                continue
            if result.dim() == 0:
                if int(result) != int(function(*inputs)):
                    return False
                continue
            if function in (operator_cases.argmax_rows, operator_cases.max_rows):
                return bool((x.gather(-1, result[..., None])[..., 0] == x.amax(-1)).all())
            if not bool((x.gather(-1, result) == results[at - 1]).all()):
                return False
    return True


def allowance(inputs, results):
    """Two roundings of the result's type, and those of a sum of as many terms as the case can have, in f32 or better."""
    kinds = [t.dtype for t in results if t.is_floating_point()]
    if not kinds:
        return 0.0
    terms = max(*inputs[0].shape, inputs[0].numel() // max(1, results[0].numel()))
    terms = max([terms] + [t[0].numel() for t in inputs[1:] if t.dim() > 2])  # of a convolution
    wide = torch.finfo(torch.float64 if torch.float64 in kinds else torch.float32).eps
    return max(2 * max(torch.finfo(kind).eps for kind in kinds), terms**0.5 * wide / 2)


def rest(call, seconds=0.02):
    """With several threads: those of the call before may wait for work on a processor of the next one, for milliseconds. Until they
    sleep; then one call wakes this one's own."""
    if torch.get_num_threads() > 1:
        time.sleep(seconds)
        call()


def own_time():
    """With one thread what it ran itself, whatever else waits for its processor."""
    return time.thread_time if torch.get_num_threads() == 1 else time.perf_counter


class Clock:
    """Medians of one call, with the cache flushed between calls on a device."""

    def __init__(self, device, budget=1.0):
        self.device, self.budget = device, budget
        self.flush = torch.empty(64 * 2**20, dtype=torch.int32, device=device) if device == "cuda" else None

    def in_turns(self, calls, turn=2e-4):
        """Of each call by name: its fastest turn and the median one, in seconds."""
        budget, repeats, times = self.budget, {}, {name: [] for name in calls}
        now = own_time()
        for name, call in calls.items():
            call()
            start = now()
            call()
            repeats[name] = max(1, int(turn / max(now() - start, 1e-7)))
        end = time.perf_counter() + budget
        while len(next(iter(times.values()))) < 7 or time.perf_counter() < end:
            for name, call in calls.items():
                rest(call)
                count, start = repeats[name], now()
                for _ in range(count):
                    call()
                times[name].append((now() - start) / count)
        return {name: (min(t), sorted(t)[len(t) // 2]) for name, t in times.items()}

    def seconds(self, call):
        call()
        call()
        torch.cuda.synchronize()
        pairs = []
        for _ in range(20):
            self.flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            pairs.append((begin, end))
        torch.cuda.synchronize()
        return sorted(b.elapsed_time(e) for b, e in pairs)[len(pairs) // 2] * 1e-3


def warm_compiled(names, device, threads=None, more=()):
    """Fills torch.compile's cache of kernels, in a process of its own."""
    words = [sys.executable, __file__, "--warm", "|".join(names), "--device", device, *more]
    subprocess.run(words + (["--threads", str(threads)] if threads else []), capture_output=True, timeout=400 if device == "cuda" else 3600)


def time_in_turns(row, function, inputs, package, bound, outputs, clock, compiled_peer):
    """On the CPU: ours, by a plain call and a prepared one, and the peers."""
    calls = {"us": bound, "prepared_us": package.prepare(inputs, outputs), "eager_us": lambda: function(*inputs)}
    if compiled_peer:
        torch._dynamo.reset()
        compiled = torch.compile(function, dynamic=False)
        try:
            compiled(*inputs)
            calls["compiled_us"] = lambda: compiled(*inputs)
        except Exception as problem:  # the peer's own failure is a fact to report, not ours
            row["compiled_us"] = None
            row["compiled_problem"] = str(problem).splitlines()[0][:200]
    for name, (best, middle) in clock.in_turns(calls).items():
        row[name] = best * 1e6
        row["median_" + name] = middle * 1e6


def time_on_device(row, function, inputs, bound, clock, compiled_peer):
    row["us"] = clock.seconds(bound) * 1e6
    row["eager_us"] = clock.seconds(lambda: function(*inputs)) * 1e6
    if compiled_peer:
        torch._dynamo.reset()
        compiled = torch.compile(function, dynamic=False)
        try:
            row["compiled_us"] = clock.seconds(lambda: compiled(*inputs)) * 1e6
        except Exception as problem:  # the peer's own failure is a fact to report, not ours
            row["compiled_us"] = None
            row["compiled_problem"] = str(problem).splitlines()[0][:200]


def run_case(name, package, library, device, clock, compiled_peer):
    function, _ = CASES[name]
    inputs = inputs_of(name, device)
    eager = as_list(function(*inputs))
    outputs = [torch.empty_like(t, memory_format=torch.contiguous_format) for t in eager]
    package = Package(library, package)
    bound = package.bind(inputs, outputs)
    bound()
    if device == "cuda":
        torch.cuda.synchronize()
    exact = exact_results(function, inputs)
    row = {"error": errors_of(outputs, exact), "error_of_eager": errors_of(eager, exact)}
    row["right"] = row["error"] <= max(3 * row["error_of_eager"], allowance(inputs, eager)) and indices_are_right(function, inputs, outputs)
    del exact, eager
    if not row["right"]:
        return row
    with torch.no_grad():
        if device == "cpu":
            time_in_turns(row, function, inputs, package, bound, outputs, clock, compiled_peer)
        else:
            time_on_device(row, function, inputs, bound, clock, compiled_peer)
    row["speed"] = min(t for t in (row["eager_us"], row.get("compiled_us")) if t) / row["us"]
    return row


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def processor():
    about = dict(map(str.strip, line.split(":", 1)) for line in open("/proc/cpuinfo") if ":" in line)
    has = [flag for flag in ("avx512f", "avx512_bf16", "avx512_vnni", "amx_tile") if flag in about["flags"].split()]
    return f"{about['model name']}, family {about['cpu family']}, model {about['model']}, {' '.join(has)}"


def print_table(reports):
    """A row for each case, slow ones included: ours in us, and speed beside eager and compiled, for each file."""
    heads = [f"{r['threads']} thread{'s' if r['threads'] > 1 else ''}: us; eager; compiled" for r in reports]
    print("| operator | inputs | " + " | ".join(heads) + " |\n|---" * 1 + "|---" * (1 + len(heads)) + "|")
    for name, first in reports[0]["rows"].items():
        cells = []
        for row in (report["rows"].get(name, {}) for report in reports):
            if "speed" not in row:
                cells.append(row.get("refused") or row.get("failed") or "wrong")
                continue
            beside = [f"{row[key] / row['us']:.2f}" if row.get(key) else "-" for key in ("eager_us", "compiled_us")]
            cells.append(f"{row['us']:.1f}; {beside[0]}; {beside[1]}")
        print(f"| {name} | {first['inputs']} | " + " | ".join(cells) + " |")
    for report in reports:
        print(f"{report['threads']}: geometric mean {report['geometric_mean']:.2f}, {report['below_0.9']} below 0.9, {report['not_timed']} not timed, load {report['load']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pellucid", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, nargs="+", help="files of results, side by side")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--more", action="store_true", help="the second table of cases")
    parser.add_argument("--third", action="store_true", help="the third one")
    parser.add_argument("--fourth", action="store_true", help="the fourth one, for the CPU")
    parser.add_argument("--fifth", action="store_true", help="the fifth one, for a device")
    parser.add_argument("--threads", type=int, help="on the CPU, of both")
    parser.add_argument("--no-compile-peer", action="store_true")
    parser.add_argument("--target", help="what packages are compiled for; `cpu:x86-64-v4` holds ours to that level")
    parser.add_argument("--budget", type=float, default=1.0, help="on the CPU: seconds of turns for a case")
    parser.add_argument("--folder", type=pathlib.Path, help="of packages: those that are there are taken")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--warm", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table:
        return print_table([json.loads(path.read_text()) for path in options.table])
    table = next((flag for flag in TABLES if getattr(options, flag.strip("-"))), None)
    if table:
        CASES.clear()
        CASES.update(TABLES[table])
    elif options.device == "cpu":
        CASES.update(CPU_CASES)
    if options.threads:
        torch.set_num_threads(options.threads)
        # Ours takes as many threads as the process may use.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    if options.warm:
        for name in options.warm.split("|"):
            with torch.no_grad():
                torch._dynamo.reset()  # as many sizes of one function as there are cases
                torch.compile(CASES[name][0], dynamic=False)(*inputs_of(name, options.device))
        return 0
    names = [name for name in CASES if re.search(options.only, name)]
    pellucid = options.pellucid.resolve()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    target = options.target or ("cuda:sm_90" if options.device == "cuda" else "cpu")
    workers = max(1, min(8, (os.cpu_count() or 2) // 2))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        parts = 6 if options.device == "cuda" else 1
        warm = [] if options.no_compile_peer else [pool.submit(warm_compiled, names[i::parts], options.device, options.threads, [table] if table else []) for i in range(parts)]
        packages = dict(zip(names, pool.map(lambda n: compile_case(n, pellucid, options.device, target, folder), names)))
        for done in warm:
            done.exception()
    if options.compile_only:
        return 0
    library = open_library(pellucid / "lib/libpellucid_runtime.so")
    clock, rows, load = Clock(options.device, options.budget), {}, os.getloadavg()[0]
    for name in names:
        package, fact = packages[name]
        row = {"inputs": " ".join(CASES[name][1][options.device])}
        if package is None:
            row["refused"] = fact
        else:
            row["compile_s"] = fact
            try:
                row.update(run_case(name, package, library, options.device, clock, not options.no_compile_peer))
            except RuntimeError as problem:
                row["failed"] = str(problem).splitlines()[0][:300]
        rows[name] = row
        if "speed" in row:
            print(f"{name:28} {row['us']:10.1f} us  eager {row['eager_us']:10.1f}  compiled {row.get('compiled_us') or 0:10.1f}  speed {row['speed']:6.3f}", flush=True)
        else:
            print(f"{name:28} {row.get('refused') or row.get('failed') or 'WRONG: error %.3g, eager %.3g' % (row['error'], row['error_of_eager'])}", flush=True)
        if options.device == "cuda":
            torch.cuda.empty_cache()
    speeds = [row["speed"] for row in rows.values() if "speed" in row]
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": "python3 bench/operators.py --pellucid DIR --device " + options.device + (" " + table if table else "") + (" --only " + options.only if options.only else "") + (f" --threads {options.threads}" if options.threads else ""),
        "device": torch.cuda.get_device_name() if options.device == "cuda" else processor(),
        "threads": torch.get_num_threads(),
        "load": [load, os.getloadavg()[0]],
        "torch": torch.__version__,
        "target": target,
        "instructions_of_torch": {name: os.environ[name] for name in HELD_BACK if name in os.environ},
        "rows": rows,
        "geometric_mean": mean(speeds),
        "below_0.9": sum(s < 0.9 for s in speeds),
        "not_timed": len(rows) - len(speeds),
    }
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{len(speeds)} of {len(rows)} timed, geometric mean {report['geometric_mean']}, {report['below_0.9']} below 0.9")
    return 0 if all(row.get("right", True) and "failed" not in row for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
