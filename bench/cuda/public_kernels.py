# SPDX-License-Identifier: Apache-2.0
"""Kernels of public repositories, unchanged, by Pellucid and by the installed Triton: results first, then times.

    python3 bench/cuda/public_kernels.py fetch FOLDER --mirrors DIR     # where the repositories lie: copies single files
    python3 bench/cuda/public_kernels.py compile FOLDER --pellucid DIR  # without a device: which launches compile, and to what
    python3 bench/cuda/public_kernels.py run FOLDER --pellucid DIR [--out results.json] [--only NAME]

--table NAME takes another module's rows, as public_launches_more does: kernels of families on which nothing was tuned. `prepare FOLDER --jobs N`
compiles what a run needs on both sides beforehand, in processes beside each other.

Each row of public_launches.py calls a file's own wrapper at a real size under Triton. The launch that this makes is recorded with its
arguments and repeated by a package that Pellucid compiles for the same grid, constants, warps and stages. Every tensor of the launch is
compared afterwards. Times are medians of CUDA events with the L2 cache flushed between launches, both in one run, beside a copy and a
product of PyTorch's as ceilings. No text of the kernels is part of this repository.
"""
import argparse
import datetime
import enum
import importlib
import json
import math
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

WORDS = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
    "torch.int8": "i8",
    "torch.uint8": "u8",
    "torch.int16": "i16",
    "torch.int32": "i32",
    "torch.int64": "i64",
    "torch.uint16": "u16",
    "torch.uint32": "u32",
    "torch.uint64": "u64",
    "torch.bool": "bool",
    "torch.float8_e4m3fn": "fp8e4nv",
    "torch.float8_e5m2": "fp8e5",
}
BOUNDS = {"f16": 4e-3, "bf16": 2e-2, "f32": 3e-3, "f64": 1e-9, "fp8e4nv": 0.13, "fp8e5": 0.26}
OPTIONS = ("num_warps", "num_stages", "num_ctas")


class Launch:
    """One launch: the kernel's own function, the arguments by name, the grid and the options."""

    def __init__(self, function, arguments, grid, options):
        self.function, self.arguments, self.grid, self.options = function, arguments, grid, options

    def words(self):
        """Options may be arguments of the kernel too."""
        return {**self.options, **self.arguments}


class Recorder:
    """Lets Triton run, and keeps what it is asked to launch."""

    def __init__(self, runs=True):
        from triton.runtime.jit import JITFunction

        self.launches, self.runs = [], runs
        self.kind, self.original = JITFunction, JITFunction.run

    def __enter__(self):
        recorder = self

        def run(function, *args, grid, warmup, **kwargs):
            names = function.arg_names
            bound = dict(zip(names, args))
            bound.update({k: v for k, v in kwargs.items() if k in names})
            for parameter in function.params:
                if parameter.name not in bound and parameter.has_default:
                    bound[parameter.name] = parameter.default
            sizes = grid(bound) if callable(grid) else grid
            sizes = tuple(int(s) for s in (sizes if isinstance(sizes, (tuple, list)) else (sizes,)))
            options = {k: kwargs[k] for k in OPTIONS if kwargs.get(k) is not None}
            if not warmup:
                recorder.launches.append(Launch(function, {n: bound[n] for n in names}, sizes, options))
            return None if recorder.runs is False else recorder.original(function, *args, grid=grid, warmup=warmup, **kwargs)

        self.kind.run = run
        return self

    def __exit__(self, *unused):
        self.kind.run = self.original


def flat(tensor):
    """All memory of a tensor that lies behind its first element, as one line."""
    import torch

    left = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    return torch.as_strided(tensor, (left,), (1,))


def literal(value):
    """A constant as text that both sides read."""
    import torch
    import triton.language as tl

    value = getattr(value, "value", value) if isinstance(value, tl.constexpr) else value
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, tl.dtype):
        named = [n for n in dir(tl) if isinstance(getattr(tl, n), tl.dtype) and getattr(tl, n) == value]
        return "tl." + named[0]
    if isinstance(value, enum.IntEnum):
        return repr(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def unwrapped(module, function):
    """The function's name in the module, and how many decorators there are around it."""
    from triton.runtime.jit import JITFunction

    for name, value in vars(module).items():
        decorators = 0
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value, decorators = value.fn, decorators + 1
        if value is function:
            return name, decorators
    raise RuntimeError(f"{function.__name__} is not to be found in {module.__name__}")


def first_names(launch):
    """For each tensor's name the first one of the same memory: what is written in place is one input of a model."""
    import torch

    found, first = {}, {}
    for name, value in launch.arguments.items():
        if isinstance(value, torch.Tensor):
            key = (value.device, value.data_ptr(), value.dtype) if value.data_ptr() else name
            found[name] = first.setdefault(key, name)
    return found


def model_text(module, launch):
    """A model whose one launch is this one, and the tensors that it takes."""
    import torch

    same = first_names(launch)
    names = [n for n, other in same.items() if n == other]
    words = [f"{n}={same[n] if n in same else literal(v)}" for n, v in launch.arguments.items()]
    words += [f"{k}={v}" for k, v in launch.options.items() if k not in launch.arguments]
    path, decorators = unwrapped(module, launch.function)
    text = f"import torch\nimport triton\nimport triton.language as tl\nfrom {module.__name__} import {path}\n\n"
    if decorators:
        text += f"bare = {path}{'.fn' * decorators}\n\n"
        path = "bare"
    text += "class Model(torch.nn.Module):\n"
    text += f"    def forward(self, {', '.join(names)}):\n"
    text += f"        {path}[{launch.grid!r}]({', '.join(words)})\n"
    text += f"        return {', '.join(names[-1:])}.new_empty(1)\n"
    return text, {n: flat(launch.arguments[n]) for n in names}


def compile_model(pellucid, folder, name, text, tensors):
    """The package, which may be there from `prepare`, and the seconds that it took."""
    name = "".join(c if c.isalnum() else "_" for c in name)
    path = folder / f"model_{name}.py"
    package = folder / f"{name}.plc"
    newest = (pellucid / "bin/pellucid-worker").stat().st_mtime
    if package.exists() and package.stat().st_mtime > newest and path.exists() and path.read_text() == text:
        return package, 0.0
    path.write_text(text)
    words = [str(pellucid / "bin/pellucid"), "compile", f"{path}:Model", "--target", "cuda:sm_90", "-o", str(package)]
    for n, t in tensors.items():
        words += ["--input", f"{n}={WORDS[str(t.dtype)]}[{t.numel()}]"]
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("not compiled: " + done.stderr.strip()[:600])
    return package, time.perf_counter() - start


def worst_difference(actual, expected):
    """Relative to the root of the mean square, so that cancellation does not count; inf where NaNs stand at other places."""
    if not actual.dtype.is_floating_point:
        return float((actual != expected).double().mean())
    a, b = actual.double(), expected.double()
    if not bool((a.isnan() == b.isnan()).all()):
        return math.inf
    finite = a.isfinite() & b.isfinite()
    if bool(((a != b) & ~finite & ~a.isnan()).any()):
        return math.inf
    a, b = a[finite], b[finite]
    if a.numel() == 0:
        return 0.0
    largest = b.abs().max().clamp(min=1e-30)  # whose square may not be held
    size = (largest * (b / largest).square().mean().sqrt()).clamp(min=1e-30)  # zeros alone differ by nothing
    return float(((a - b).abs() / (b.abs() + size)).max())


class Timer:
    """Medians of CUDA events; between launches more than the L2 cache is overwritten."""

    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def seconds(self, call, budget=0.06):
        torch = self.torch
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        rounds = max(7, min(60, int(budget / max(1e-6, time.perf_counter() - start))))
        pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(rounds)]
        for begin, end in pairs:
            self.flush.zero_()
            begin.record()
            call()
            end.record()
        torch.cuda.synchronize()
        times = sorted(b.elapsed_time(e) * 1e-3 for b, e in pairs)
        return times[len(times) // 2]


def record(row, folder, runs=True):
    """The row's launch, and its module."""
    import triton

    sys.path.insert(0, str(folder))
    module = importlib.import_module(row.module)
    for name, value in vars(module).items():
        while not isinstance(value, triton.runtime.autotuner.Autotuner) and hasattr(value, "fn"):
            value = value.fn
        if isinstance(value, triton.runtime.autotuner.Autotuner):
            # One config for both sides; the first where the row names none.
            choose = row.configs.get(name, lambda _, given: given[0])
            value.configs = [choose(triton, value.configs)]
    with Recorder(runs) as recorder:
        row.call(module)
    return module, recorder.launches[row.take]


def copies(launch):
    """The arguments with memory of their own; tensors that share memory go on sharing it."""
    import torch

    made = {}

    def copied(value):
        if not isinstance(value, torch.Tensor):
            return value
        key = value.untyped_storage().data_ptr()
        if key not in made:
            made[key] = value.untyped_storage().clone()
        return torch.empty(0, dtype=value.dtype, device=value.device).set_(made[key], value.storage_offset(), value.shape, value.stride())

    return {name: copied(value) for name, value in launch.arguments.items()}


def differences(tensors, expected, bound):
    """The largest difference of all arguments; throws where one is too large."""
    worst = 0.0
    for name, tensor in tensors.items():
        difference = worst_difference(tensor, flat(expected[name]))
        most = bound or BOUNDS.get(WORDS[str(tensor.dtype)], 0.0)
        if not difference <= most:
            raise RuntimeError(f"wrong: argument '{name}' differs by {difference:.3g}, bound {most:.3g}")
        worst = max(worst, difference)
    return worst


class Side:
    """The launch by one build of Pellucid, with tensors of its own."""

    def __init__(self, row, folder, library, pellucid, module, launch, suffix):
        import torch
        from package_call import Package

        text, inputs = model_text(module, launch)
        copied = copies(launch)
        self.tensors = {n: flat(copied[n]) for n in inputs}
        package, self.seconds = compile_model(pellucid, folder, row.name + suffix, text, self.tensors)
        nothing = torch.empty(1, dtype=list(self.tensors.values())[-1].dtype, device="cuda")
        self.call = Package(library, package).bind(list(self.tensors.values()), [nothing])


def check_and_time(row, folder, library, options, timer):
    import torch

    module, launch = record(row, folder)
    kernel, expected = launch.function, copies(launch)
    ours = Side(row, folder, library, options.pellucid, module, launch, "")

    def theirs():
        kernel[launch.grid](**{**launch.words(), **expected})

    wanted = row.reference(copies(launch)) if row.reference else None
    ours.call()
    theirs()
    torch.cuda.synchronize()
    found = {}
    if wanted:  # by PyTorch in f32: the peer may be wrong
        found["peer_difference"] = max(worst_difference(flat(expected[n]), w.flatten()) for n, w in wanted.items())
        worst = differences({n: ours.tensors[n] for n in wanted}, wanted, row.bound)
    else:
        worst = differences(ours.tensors, expected, row.bound)
    times = [timer.seconds(ours.call), timer.seconds(theirs), timer.seconds(ours.call), timer.seconds(theirs)]
    mine, peer = min(times[0], times[2]), min(times[1], times[3])
    found |= {"pellucid_us": mine * 1e6, "triton_us": peer * 1e6, "ratio": peer / mine, "difference": worst, "compile_s": ours.seconds}
    if options.baseline:
        before = Side(row, folder, library, options.baseline, module, launch, "_before")
        found["before_us"] = timer.seconds(before.call) * 1e6
    return found


def ceilings(torch, timer):
    a = torch.randn(4096, 4096, device="cuda").half()
    out = torch.empty_like(a)
    source = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    target = torch.empty_like(source)
    return {
        "copy_bytes_per_s": 2 * source.numel() / timer.seconds(lambda: target.copy_(source)),
        "torch_product_flops_per_s": 2 * 4096**3 / timer.seconds(lambda: torch.mm(a, a, out=out)),
    }


def table(options):
    return importlib.import_module(options.table)


def rows_of(options):
    return [row for row in table(options).ROWS if not options.only or any(word in row.name for word in options.only)]


def fetch(options):
    SOURCES, STUBS = table(options).SOURCES, table(options).STUBS
    options.folder.mkdir(parents=True, exist_ok=True)
    for target, (repository, path, tests) in SOURCES.items():
        git = options.mirrors / repository.replace("/", "+") / "repo"
        text = subprocess.run(["git", "-C", str(git), "show", f"HEAD:{path}"], capture_output=True, check=True, text=True).stdout
        if tests:
            text = text[: text.index("\n" + tests)]
        (options.folder / target).parent.mkdir(parents=True, exist_ok=True)
        (options.folder / target).write_text(text + "\n")
    for target, text in STUBS.items():
        (options.folder / target).parent.mkdir(parents=True, exist_ok=True)
        (options.folder / target).write_text(text)
    print(f"{len(SOURCES)} files in {options.folder}")


def without_device(row):
    """Tensors of the device become tensors without contents, or on the CPU where the row computes with them."""
    import torch
    from torch.overrides import TorchFunctionMode

    place = "cpu" if row.computes else "meta"

    class Elsewhere(TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0]
            if function == torch.Tensor.is_cuda.__get__:
                return True
            if function == torch.Tensor.device.__get__:
                return torch.device("cuda", 0)
            if function is torch.randn:
                function = torch.empty  # what numbers these are does not matter here
            if str(kwargs.get("device", "")).startswith("cuda"):
                kwargs["device"] = place
            args = [place if isinstance(word, torch.device) and word.type == "cuda" else word for word in args]
            return function(*args, **kwargs)

    return Elsewhere()


def compile_all(options):
    import contextlib
    import types

    import torch
    import torch.utils._triton
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver

    device = types.SimpleNamespace(get_current_target=lambda: GPUTarget("cuda", 90, 32), get_benchmarker=lambda: None, get_current_device=lambda: 0, get_current_stream=lambda *unused: 0)
    driver.set_active(device)
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda *unused: (9, 0)
    torch.cuda.get_device_properties = lambda *unused: types.SimpleNamespace(multi_processor_count=132, name="NVIDIA H200", major=9, minor=0)
    torch.cuda.device = lambda *unused: contextlib.nullcontext()
    torch.utils._triton.has_triton = lambda: True
    for row in rows_of(options):
        try:
            with without_device(row):
                module, launch = record(row, options.folder, runs=False)
                text, tensors = model_text(module, launch)
            package, seconds = compile_model(options.pellucid, options.folder, row.name, text, tensors)
            print(f"{row.name:34} {seconds:6.2f} s  {package}", flush=True)
            if options.peer:
                with without_device(row):
                    made = launch.function.run(grid=launch.grid, warmup=True, **launch.words())
                package.with_suffix(".triton.cubin").write_bytes(made.asm["cubin"])
                package.with_suffix(".triton.ptx").write_text(made.asm["ptx"])
                package.with_suffix(".triton.ttgir").write_text(made.asm["ttgir"])
        except Exception as problem:
            print(f"{row.name:34} {type(problem).__name__}: {str(problem)[:400]}", flush=True)


def prepare(options):
    """Compiles for both sides what `run` needs, in processes beside each other."""
    if options.share is None:
        words = [sys.executable, *sys.argv]
        for process in [subprocess.Popen([*words, "--share", str(i)]) for i in range(options.jobs)]:
            process.wait()
        return
    import torch

    for row in rows_of(options)[options.share :: options.jobs]:
        try:
            torch.manual_seed(0)
            module, launch = record(row, options.folder)
            text, tensors = model_text(module, launch)
            compile_model(options.pellucid, options.folder, row.name, text, tensors)
        except Exception as problem:  # `run` will say it again
            print(f"{row.name:34} {type(problem).__name__}: {str(problem)[:200]}", flush=True)


def run(options):
    import torch
    import triton
    from package_call import open_library

    library = open_library(options.pellucid / "lib/libpellucid_runtime.so")
    timer = Timer(torch)
    results = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "device": torch.cuda.get_device_name(),
               "triton": triton.__version__, "torch": torch.__version__, "ceilings": ceilings(torch, timer), "rows": {}}  # fmt: skip
    print("ceilings", json.dumps(results["ceilings"]), flush=True)
    began = time.perf_counter()
    for row in rows_of(options):
        if time.perf_counter() - began > options.seconds:
            results["rows"][row.name] = {"error": "no time left"}
            continue
        try:
            torch.manual_seed(0)
            found = check_and_time(row, options.folder, library, options, timer)
            before = f"{found['before_us']:10.1f}" if "before_us" in found else ""
            print(f"{row.name:34} {found['pellucid_us']:10.1f} {found['triton_us']:10.1f} us   {found['ratio']:6.3f}   diff {found['difference']:.2g} {before}", flush=True)
        except Exception as problem:  # a row that fails must not hide the others
            found = {"error": f"{type(problem).__name__}: {problem}"[:900]}
            print(f"{row.name:34} {found['error'][:300]}", flush=True)
            if "CUDA error" in found["error"] or "error 7" in found["error"]:
                results["rows"][row.name] = found
                break
        results["rows"][row.name] = found
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    ratios = [r["ratio"] for r in results["rows"].values() if "ratio" in r]
    if ratios:
        results["geometric_mean"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} rows, geometric mean of Triton's time over ours: {results['geometric_mean']:.3f}")
    if options.out:
        options.out.write_text(json.dumps(results, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("fetch", "compile", "prepare", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--table", default="public_launches", help="the module that holds the rows")
    parser.add_argument("--mirrors", type=pathlib.Path)
    parser.add_argument("--pellucid", type=pathlib.Path)
    parser.add_argument("--baseline", type=pathlib.Path, help="an earlier build, timed beside")
    parser.add_argument("--peer", action="store_true", help="compile: Triton's side too, written beside the packages")
    parser.add_argument("--jobs", type=int, default=8, help="prepare: processes beside each other")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=float, default=1e9, help="no row is begun after that")
    options = parser.parse_args()
    {"fetch": fetch, "compile": compile_all, "prepare": prepare, "run": run}[options.verb](options)


if __name__ == "__main__":
    main()
