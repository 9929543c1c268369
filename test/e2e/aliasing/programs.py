# SPDX-License-Identifier: Apache-2.0
"""Programs over tensors that share memory: their text, their run in torch, and our package's run of them.

A program is a dict: `inputs`, per name a list of sizes (a string is a dynamic dim), `dtypes`, per name where it is not f32,
`range` of dynamic dims where it is not RANGE, `body`, a list of lines of Python, `results`, a list of names; and once it is recorded `runs`: per value of `n` the results and the inputs afterwards, each
[dtype, shape, elements]; or `raises`, what torch says.
"""
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
from bfloat16 import from_bf16, to_bf16  # noqa: E402

RANGE = (1, 6)
# numpy lacks bf16: its bits, in a type that no tensor of these programs has.
TYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "bool": np.bool_, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
         "i8": np.int8, "i16": np.int16, "u8": np.uint8}
TORCH_NAMES = {"f32": "float32", "i32": "int32", "i64": "int64", "bool": "bool", "f64": "float64", "f16": "float16", "bf16": "bfloat16",
               "i8": "int8", "i16": "int16", "u8": "uint8"}
# Beyond these sums of integers round.
EXACT = {"f32": 1 << 16, "f16": 1 << 10, "bf16": 1 << 7, "f64": 1 << 16, "i64": 1 << 16, "i32": 1 << 16}


def text_of(name, program):
    lines = [f"def {name}({', '.join(program['inputs'])}):"]
    lines += ["    " + line for line in program["body"]]
    lines.append(f"    return [{', '.join(program['results'])}]")
    return "\n".join(lines) + "\n"


def starting_values(sizes, n, seed, kind="f32"):
    """Small integers, so that every result is exact."""
    shape = [n if isinstance(size, str) else size for size in sizes]
    count = int(np.prod(shape))
    values = ((np.arange(count) * 7 + seed * 3) % 11 - 4).reshape(shape)
    if kind == "bool":
        values = np.asarray(values > 0)
    if kind == "u8":
        values = abs(values)
    return np.asarray(to_bf16(values.astype(np.float32)) if kind == "bf16" else values.astype(TYPES[kind])).reshape(shape)


def dtype_of(program, name):
    return program.get("dtypes", {}).get(name, "f32")


def starting_inputs(program, n):
    return {name: starting_values(sizes, n, seed, dtype_of(program, name)) for seed, (name, sizes) in enumerate(program["inputs"].items())}


def values_of_n(program):
    """The sizes that a dynamic dim is tried with."""
    if not is_dynamic(program):
        return (4,)
    return (1, 2, 5) if "range" not in program else sorted({program["range"][0], 1, 2, program["range"][1]})


def is_dynamic(program):
    return any(isinstance(size, str) for sizes in program["inputs"].values() for size in sizes)


# --- torch


def run_in_torch(program, n):
    """The results and the inputs afterwards, as arrays; the locals too. Raises what torch raises."""
    import torch

    import stand_ins

    scope = {"torch": torch, "triton": stand_ins.triton, **stand_ins.KERNELS}
    exec(text_of("program", dict(program, body=program["body"] + ["return_locals = dict(locals())"], results=["return_locals"])), scope)
    inputs = {name: torch.from_numpy(value.copy()) for name, value in starting_inputs(program, n).items()}
    inputs = {name: value.view(torch.int16).view(torch.bfloat16) if dtype_of(program, name) == "bf16" else value for name, value in inputs.items()}
    # What unsqueeze_() does to an input is not seen by the caller's own view of it.
    memory = {name: tensor.detach() for name, tensor in inputs.items()}
    names = scope["program"](**inputs)[0]
    for value in names.values():
        if isinstance(value, torch.Tensor) and value.numel():
            most = value.double().abs().max()
            if not most <= EXACT.get(kind_of(value), 1 << 16) and not ("dtypes" in program and most.isinf()):
                raise RuntimeError("values that are not exact")
    return names, memory


def kind_of(tensor):
    name = str(tensor.dtype).replace("torch.", "")
    return next((kind for kind, known in TORCH_NAMES.items() if known == name), name)


def element(value):
    """As JSON has it."""
    return int(value) if np.isfinite(value) and value == int(value) else float(value) if np.isfinite(value) else str(value)


def recorded(tensor):
    return [kind_of(tensor), list(tensor.shape), [element(v) for v in tensor.detach().reshape(-1).tolist()]]


def record(program):
    """The program with what torch gives."""
    program = dict(program)
    program.pop("runs", None)
    try:
        runs = {}
        for n in values_of_n(program):
            names, inputs = run_in_torch(program, n)
            runs[str(n)] = {"results": [recorded(names[name]) for name in program["results"]], "inputs": [recorded(t) for t in inputs.values()]}
        program["runs"] = runs
    except Exception as error:  # whatever torch says
        program["raises"] = str(error).split("\n")[0][:100]
    return program


# --- ours


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


CODES = {"f": 2, "i": 0, "b": 6, "u": 1}


def dl_tensor(array):
    t = DLTensor()
    t.data = array.ctypes.data
    t.device = DLDevice(1, 0)
    t.ndim = array.ndim
    t.dtype = DLDataType(4 if array.dtype == TYPES["bf16"] else CODES[array.dtype.kind], array.dtype.itemsize * 8, 1)
    t.shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    return t


class RunOptions(ctypes.Structure):
    """pellucid_run_options."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("threads", ctypes.c_int32),
        ("stream", ctypes.c_void_p),
        ("profile", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("print", ctypes.c_void_p),
        ("print_state", ctypes.c_void_p),
        ("cancel", ctypes.c_void_p),
        ("timeout_ms", ctypes.c_int64),
        ("guard", ctypes.c_int32),
    ]


class Refused(Exception):
    pass


class Broken(Exception):
    pass


class Ours:
    """The compiler as a process, the run time as a library."""

    def __init__(self, program, folder, saved="", level="x86-64-v3", prepared=False, guard=0):
        """`saved`: programs go through a file of this suffix, `export -o` and then `compile` of it. `prepared`: calls are prepared, and run
        twice. `guard`: as in pellucid_run_options; 3 is one, then the other."""
        self.compiler, self.saved, self.level, self.prepared, self.guard = str(program), saved, level, prepared, guard
        self.folder = pathlib.Path(folder)
        library = pathlib.Path(program).resolve().parent.parent / "lib" / "libpellucid_runtime.so"
        self.runtime = ctypes.CDLL(str(library))
        self.runtime.pellucid_last_error.restype = ctypes.c_char_p
        self.runtime.pellucid_describe.restype = ctypes.c_char_p
        self.count = 0

    def compile(self, programs, options=()):
        """One package of several programs, that share no input. Raises Refused, Broken."""
        self.count += 1
        source, package = self.folder / f"model{self.count}.py", self.folder / f"model{self.count}.plc"
        text = (HERE / "model_header.py").read_text()
        names, calls, words = [], [], []
        for i, program in enumerate(programs):
            text += "\n\n" + text_of(f"program{i}", program)
            mine = [f"p{i}_{name}" for name in program["inputs"]]
            names += mine
            calls.append(f"program{i}({', '.join(mine)})")
            for name, sizes in zip(mine, program["inputs"].values()):
                least, most = program.get("range", RANGE)
                dims = [f"n{i}=4:{least}..{most}" if isinstance(size, str) else str(size) for size in sizes]
                words += ["--input", f"{name}={dtype_of(program, name[len(f'p{i}_'):])}[{','.join(dims)}]"]
        text += f"\n\ndef model({', '.join(names)}):\n    return {' + '.join(calls)}\n"
        source.write_text(text)
        self.said = ""
        model = [f"{source}:model", *words]
        if self.saved:
            saved = self.folder / f"model{self.count}{self.saved}"
            self.call("export", *model, "-o", str(saved))
            model = [str(saved)]
        self.call("compile", *model, "-o", str(package), "--target", f"cpu:{self.level}", *options)
        return package

    def call(self, *words):
        done = subprocess.run([self.compiler, *words], capture_output=True, text=True, timeout=600)
        if done.returncode == 1:
            raise Refused(done.stderr.strip())
        if done.returncode != 0:
            raise Broken(f"exit {done.returncode}: {done.stderr.strip()[:2000]}")
        self.said += done.stderr

    def run(self, package, programs, n):
        """Per program the results and the inputs afterwards."""
        handle = ctypes.c_void_p()
        self.check(self.runtime.pellucid_load(str(package).encode(), ctypes.byref(handle)))
        try:
            outputs = json.loads(self.runtime.pellucid_describe(handle))["outputs"]
            inputs, starts = ([starting_inputs(program, n) for program in programs] for _ in range(2))
            arrays = [array for one in inputs for array in one.values()]
            given = (DLTensor * max(len(arrays), 1))(*(dl_tensor(a) for a in arrays))
            ranks, shapes = (ctypes.c_int32 * len(outputs))(), (ctypes.c_int64 * (64 * len(outputs)))()
            self.check(self.runtime.pellucid_output_shapes(handle, given, len(arrays), ranks, shapes, len(outputs)))
            results = []
            for i, output in enumerate(outputs):
                kind = output["dtype"]
                results.append(np.full(list(shapes[64 * i : 64 * i + ranks[i]]), 77, dtype=TYPES[kind] if kind in TYPES else kind))
            into = (DLTensor * max(len(results), 1))(*(dl_tensor(a) for a in results))
            if self.prepared:
                self.run_prepared(handle, given, arrays, into, results)
            for guard in () if self.prepared else (1, 2) if self.guard == 3 else (self.guard,):
                for array, start in zip(arrays, [array for one in starts for array in one.values()]):
                    array[...] = start
                options = RunOptions(struct_size=ctypes.sizeof(RunOptions), guard=guard)
                status = self.runtime.pellucid_run_into(handle, given, len(arrays), into, len(results), ctypes.byref(options))
                if status and b"values decide" in self.runtime.pellucid_last_error():  # no guard for these
                    options.guard = 0
                    status = self.runtime.pellucid_run_into(handle, given, len(arrays), into, len(results), ctypes.byref(options))
                self.check(status)
        finally:
            self.runtime.pellucid_unload(handle)
        answers, at = [], 0
        for program, values in zip(programs, inputs):
            count = len(program["results"])
            answers.append((results[at : at + count], list(values.values())))
            at += count
        return answers

    def run_prepared(self, handle, given, arrays, into, results):
        """Twice the same, with the inputs as at first: what the second run gives counts."""
        starts = [array.copy() for array in arrays]
        call = ctypes.c_void_p()
        self.check(self.runtime.pellucid_call_create(handle, given, len(arrays), into, len(results), ctypes.byref(call)))
        try:
            for _ in range(2):
                for array, start in zip(arrays, starts):
                    array[...] = start
                self.check(self.runtime.pellucid_call_run(call, None))
        finally:
            self.runtime.pellucid_call_destroy(call)

    def check(self, status):
        if status != 0:
            raise Broken(self.runtime.pellucid_last_error().decode())


class Scripts(Ours):
    """The same programs as scripts of `pellucid exec`: each line runs by itself, and a size is a number."""

    def __init__(self, program, folder, options=()):
        self.compiler, self.folder, self.options, self.count = str(program), pathlib.Path(folder), options, 0

    def compile(self, programs, options=()):
        self.said = ""

    def run(self, package, programs, n):
        self.count += 1
        text = (HERE / "model_header.py").read_text() + "\n\nimport json\n"
        kinds = {f"torch.{name}": kind for kind, name in TORCH_NAMES.items()}
        text += f"KINDS = {kinds}\n\n\ndef show(t):\n    print(json.dumps([KINDS[str(t.dtype)], list(t.shape), t.detach().reshape(-1).tolist()]))\n"
        for i, program in enumerate(programs):
            inputs = starting_inputs(program, n)
            text += "\n\n" + text_of(f"program{i}", program) + f"\n\nprint('program', {i})\n"
            for name, value in inputs.items():
                kind = dtype_of(program, name)
                text += f"{name} = torch.tensor({numbers(value).astype(np.int64).reshape(-1).tolist()}, dtype=torch.{TORCH_NAMES[kind]}).reshape({list(value.shape)})\n"
            # The caller's own view of an input, that unsqueeze_() leaves as it is.
            text += "given = [" + ", ".join(f"{name}.detach()" for name in inputs) + "]\n"
            text += f"for t in [*program{i}({', '.join(inputs)}), *given]:\n    show(t)\n"
        source = self.folder / f"script{self.count}.py"
        source.write_text(text)
        done = subprocess.run([self.compiler, "exec", *self.options, str(source)], capture_output=True, text=True, timeout=600)
        if done.returncode == 1:
            raise Refused(done.stderr.strip())
        if done.returncode != 0:
            raise Broken(f"exit {done.returncode}: {done.stderr.strip()[:2000]}")
        answers = []
        for part, program in zip(re.split(r"^program \d+\n", done.stdout, flags=re.M)[1:], programs):
            arrays = [self.array(*json.loads(line)) for line in part.splitlines()]
            answers.append((arrays[: len(program["results"])], arrays[len(program["results"]) :]))
        return answers

    def array(self, kind, shape, elements):
        values = np.array([float(v) for v in elements]) if kind not in ("i64", "bool") else np.array(elements, dtype=TYPES[kind])
        return np.asarray(to_bf16(values.astype(np.float32)) if kind == "bf16" else values.astype(TYPES[kind])).reshape(shape)


def digest(results, inputs):
    """Of recorded tensors: equal where types, shapes and elements are."""
    return f"{zlib.crc32(json.dumps([results, inputs]).encode()):08x}"


def numbers(array):
    return (from_bf16(array) if array.dtype == TYPES["bf16"] else array).astype(np.float64)


def recorded_array(array):
    kind = next(name for name, dtype in TYPES.items() if np.dtype(dtype) == array.dtype)
    return [kind, list(array.shape), [element(v) for v in numbers(array).reshape(-1).tolist()]]


def difference(got, wanted, what):
    kind, shape, elements = wanted
    if list(got.shape) != shape:
        return f"{what} has the shape {list(got.shape)}, torch's has {shape}"
    if got.dtype != np.dtype(TYPES[kind]):
        return f"{what} is {got.dtype}, torch's is {kind}"
    if not np.array_equal(numbers(got).reshape(-1), np.array([float(v) for v in elements]), equal_nan=True):
        return f"{what} is {numbers(got).reshape(-1).tolist()}, torch's is {elements}"
    return None


def differences(program, answer, run):
    results, inputs = answer
    if isinstance(run, str):
        got = [recorded_array(r) for r in results], [recorded_array(i) for i in inputs]
        return None if digest(*got) == run else f"differs from torch; results {got[0]}, inputs afterwards {got[1]}"
    for i, (got, wanted) in enumerate(zip(results, run["results"])):
        if wrong := difference(got, wanted, f"result {i} ({program['results'][i]})"):
            return wrong
    for name, got, wanted in zip(program["inputs"], inputs, run["inputs"]):
        if wrong := difference(got, wanted, f"input {name} afterwards"):
            return wrong
    return None


def check(ours, programs, options=(), outcomes=None):
    """Compiles and runs recorded programs; gives (program, problem) of those that are wrong, and counts refusals."""
    outcomes = {} if outcomes is None else outcomes
    if not programs:
        return []
    try:
        package = ours.compile(programs, options)
        problems = []
        runs = {n for program in programs for n in program["runs"]}
        for n in sorted(runs):
            try:
                answers = ours.run(package, programs, int(n))
            except Broken as error:
                # Outside of the range, or the example's side of a size was taken, and a warning said so.
                least, most = (pick(program.get("range", RANGE)[end] for program in programs) for end, pick in ((0, max), (1, min)))
                is_said = "the program is for" in ours.said or not least <= int(n) <= most
                if not re.search(r" is \d+, must be (in|at least|a multiple of) ", str(error)) or not is_said:
                    raise
                outcomes["narrowed"] = outcomes.get("narrowed", 0) + 1
                continue
            for program, answer in zip(programs, answers):
                if n in program["runs"] and (wrong := differences(program, answer, program["runs"][n])):
                    problems.append((program, f"n={n}: {wrong}"))
        bad = [id(program) for program, _ in problems]
        outcomes["right"] = outcomes.get("right", 0) + sum(id(program) not in bad for program in programs)
        return problems
    except (Refused, Broken, subprocess.TimeoutExpired) as error:
        if len(programs) > 1:
            half = len(programs) // 2
            return check(ours, programs[:half], options, outcomes) + check(ours, programs[half:], options, outcomes)
        if isinstance(error, Refused):
            outcomes["refused"] = outcomes.get("refused", 0) + 1
            outcomes.setdefault("refusals", []).append((programs[0], str(error)))
            return []
        return [(programs[0], str(error))]
