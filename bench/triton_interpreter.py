# SPDX-License-Identifier: Apache-2.0
"""The other side of guessed_launches.py: a file's kernels under Triton's interpreter, or by Triton on a device.

    TRITON_INTERPRET=1 python3 triton_interpreter.py FILE.py ROOT SECONDS
    python3 triton_interpreter.py FILE.py ROOT SECONDS

Once the file is read it says "ready". Each line of standard input is a launch; the answer is "ok" or why it was not run. A launch runs
in a process of its own, since an interpreted kernel reads and writes memory as it is told to, and is ended after SECONDS.
"""
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import signal
import sys
import types

TAKES_LONG = "the interpreter takes too long"
INTERPRETS = os.environ.get("TRITON_INTERPRET") == "1"


class Stub:
    """Stands for anything of a library that is not installed."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        plain = len(args) == 1 and not kwargs and callable(args[0])
        return args[0] if plain else self

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__version__",):
            raise AttributeError(name)
        return "0.0" if name == "__version__" else Stub()

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def __getitem__(self, key):
        return self

    def __int__(self):
        return 0

    __index__ = __hash__ = __int__

    def __eq__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __mro_entries__(self, bases):
        return (Base,)


class Base:
    """What a class derives from that derives from a stub."""

    def __init_subclass__(cls, **options):
        pass


class StubModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Found last: what a file below the root imports is there."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if name.split(".")[0] in ("triton", "torch", "numpy") or not frame.f_code.co_filename.startswith(self.root):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StubModule(spec.name)

    def exec_module(self, module):
        pass


class Package(types.ModuleType):
    """A package around the file, whose own __init__ runs when a name of it is missing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        init = os.path.join(self.__path__[0], "__init__.py")
        if not self.__dict__.get("_ran"):
            self.__dict__["_ran"] = True
            try:
                with open(init, encoding="utf-8") as file:
                    exec(compile(file.read(), init, "exec"), self.__dict__)
            except Exception:
                pass
        if name in self.__dict__:
            return self.__dict__[name]
        try:
            return importlib.import_module(f"{self.__name__}.{name}")
        except Exception:
            return Stub()


class Packages(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages below the root."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        folder = os.path.join(self.root, *name.split("."))
        if not os.path.isdir(folder) or name.split(".")[0] in ("triton", "torch", "numpy"):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec

    def create_module(self, spec):
        return Package(spec.name)

    def exec_module(self, module):
        pass


def rounded_as_compiled():
    """Casts to narrower floats round to nearest as Triton's compiler does; the interpreter's own truncate, or round a half away from even."""
    import numpy as np
    import torch
    import triton.language as tl
    from triton.runtime import interpreter

    types = {tl.float64: torch.float64, tl.float32: torch.float32, tl.float16: torch.float16, tl.bfloat16: torch.bfloat16,
             tl.float8e4nv: torch.float8_e4m3fn, tl.float8e5: torch.float8_e5m2}
    own = interpreter._convert_float

    def convert(array, source, target, mode):
        narrows = source.primitive_bitwidth > target.primitive_bitwidth and mode != interpreter._ir.ROUNDING_MODE.RTZ
        if not narrows or source not in types or target not in types:
            return own(array, source, target, mode)
        bits = torch.from_numpy(np.ascontiguousarray(array)).view(-1)
        values = bits.view(types[source]).to(torch.float64 if source == tl.float64 else torch.float32)
        if target.primitive_bitwidth == 8:  # what is too large is the largest
            largest = torch.finfo(types[target]).max
            values = torch.where(values.isnan(), values, values.clamp(-largest, largest))
        unsigned = np.uint8 if target.primitive_bitwidth == 8 else np.uint16 if target.primitive_bitwidth == 16 else np.uint32
        out = values.to(types[target]).view(torch.uint8).numpy().view(unsigned)
        return out.reshape(array.shape)

    interpreter._convert_float = convert


def interpreted_as_compiled():
    """What kernels may do and the interpreter's own patches leave out.

    A loop's variable is a tensor (the interpreter's is a number of Python's, which has no `to`); a built-in may have another name in the
    kernel's module; a number is one also where numpy makes none of an array of one element.
    """
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    def counted(*bounds, **options):
        wide = any(isinstance(b, tl.tensor) and b.dtype.primitive_bitwidth == 64 for b in bounds)
        kind, dtype = (np.int64, tl.int64) if wide else (np.int32, tl.int32)
        for number in range(*(int(getattr(b, "value", b)) for b in bounds)):
            yield tl.tensor(interpreter.TensorHandle(np.array([number], dtype=kind), dtype), dtype)

    own = interpreter._patch_lang

    def patch(function):
        scope = own(function)
        tl.range = counted
        tl.tensor.__index__ = lambda self: int(self.handle.data.squeeze())
        return scope

    def called_by_another_name(built_in):
        def call(*values, **options):
            options.pop("_semantic", None)
            return built_in(*values, **options, _semantic=interpreter.interpreter_semantic)

        return call

    interpreter._patch_lang = patch
    for each in gc.get_objects():
        if isinstance(each, interpreter.InterpretedFunction) and not each.fn.__module__.startswith("triton"):
            names = each.fn.__globals__
            names["range"] = counted
            for name, value in list(names.items()):
                if callable(value) and tl.core.is_builtin(value):
                    names[name] = called_by_another_name(value)


def load(path, root):
    import torch
    import triton

    if INTERPRETS:  # files ask for the device while they are read
        driver = Stub()
        driver.get_current_target = lambda: types.SimpleNamespace(backend="cuda", arch=90, warp_size=32)
        driver.get_active_torch_device = lambda: torch.device("cuda", 0)
        triton.runtime.driver.set_active(driver)
        torch.cuda.current_device = lambda: 0
        torch.cuda.get_device_capability = lambda *_: (9, 0)
        torch.cuda.get_device_name = lambda *_: "NVIDIA H200"
        torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(name="NVIDIA H200", major=9, minor=0, multi_processor_count=132)
        rounded_as_compiled()
    sys.path.insert(0, root)
    sys.meta_path.insert(0, Packages(root))
    sys.meta_path.append(Missing(root))
    relative = os.path.relpath(path, root)
    name = relative[:-3].replace(os.sep, ".") if not relative.startswith("..") else pathlib.Path(path).stem
    if name.isidentifier() or all(part.isidentifier() for part in name.split(".")):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dtype_of(name):
    import triton.language as tl

    names = {"fp": "float", "bf": "bfloat", "in": "int", "ui": "uint"}
    return getattr(tl, names.get(name[:2], "") + name.lstrip("fpbinut"))


def launch(module, job):
    import numpy as np
    import torch

    function = module
    for part in job["name"].split("."):
        function = getattr(function, part)
    while hasattr(function, "fn") and type(function).__name__ not in ("InterpretedFunction", "JITFunction"):
        function = function.fn
    folder, arguments = pathlib.Path(job["folder"]), {}
    for name, dtype in job["types"].items():
        tensor = torch.from_numpy(np.load(folder / f"{name}.npy"))
        tensor = tensor.view(torch.bfloat16) if dtype == "bf16" else tensor
        arguments[name] = tensor if INTERPRETS else tensor.cuda()
    for name, value in job["values"].items():
        arguments[name] = dtype_of(value["dtype"]) if isinstance(value, dict) else value
    function[tuple(job["grid"])](**arguments)
    for name, dtype in job["types"].items():
        tensor = arguments[name].view(torch.int16) if dtype == "bf16" else arguments[name]
        np.save(folder / f"{name}.want.npy", tensor.cpu().numpy())


def on_device(module, job, answers, seconds):
    """In this process, which ends where the device was left unusable."""
    import torch

    try:
        launch(module, job)
        return "ok"
    except Exception as error:
        answer = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
    try:
        torch.cuda.synchronize()
    except Exception:
        answers.write(answer + "\n")
        answers.flush()
        os._exit(1)
    return answer


def in_child(module, job, answers, seconds):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        text = "ok"
        signal.alarm(seconds)
        try:
            interpreted_as_compiled()
            launch(module, job)
        except BaseException as error:
            cause = error.__cause__ or error
            text = f"{type(cause).__name__}: {str(cause)}".replace("\n", " ")[:300]
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return text or (TAKES_LONG if status == signal.SIGALRM else f"the interpreter ended with status {status}")


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reason = ""
    try:
        module = load(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    except BaseException as error:
        module, reason = None, f"not imported: {type(error).__name__}: {error}".replace("\n", " ")[:300]
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        run = in_child if INTERPRETS else on_device
        answers.write((run(module, json.loads(line), answers, int(sys.argv[3])) if module else reason) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
