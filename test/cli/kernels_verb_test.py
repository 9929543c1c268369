#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `pellucid kernels` says of a file: kernels_verb_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = '''import torch, triton, missing_library
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton
from .not_here import unknown_settings

@triton.jit
def doubled(x):
    return x * 2

@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda a: a["n"] % a["B"] == 0})
@triton.jit
def scale(x, o, n, s, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, doubled(tl.load(x + i, mask=i < n)) * s, mask=i < n)

@triton.jit
def broken(x, n):
    for k in range(n):
        break

@triton.autotune(configs=unknown_settings(), key=[])
@triton.jit
def tuned_elsewhere(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 0.0)

@missing_library.tune(missing_library.configs[0])
@triton.jit
def tuned_by_a_stranger(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 0.0)

@triton.jit
def accumulate(x, y, n, B: tl.constexpr = 128):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

@triton.jit
def store_twice(pointers, tile):
    tl.store(pointers, tl.sum(tile, 1)[:, None] + tile)

@triton.jit
def gathered(table, x, o, shifts, B: tl.constexpr):
    rows = tl.load(table + tl.program_id(0)) * B + tl.arange(0, B)
    bits = tl.load(shifts + tl.arange(0, B)) >> 2
    store_twice(o + rows[:, None] + tl.arange(0, B)[None, :], tl.load(x + rows)[:, None] * bits[None, :])

if torch.cuda.is_available() or True:
    @triton.jit
    def in_branch(table, o):
        tl.store(o, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))

class Kernels:
    @staticmethod
    @triton.jit
    def in_class(x, B: tl.constexpr):
        tl.atomic_add(x + tl.arange(0, B), 1.0)

@triton_op("my::scaled", mutates_args={})
def scaled(x: torch.Tensor, s: float) -> torch.Tensor:
    o = torch.empty_like(x)
    kernel = wrap_triton(scale)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, o, x.numel(), s)
    return o

@triton_op("my::silent", mutates_args=())
def silent(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    flat = x.view(-1)
    wrap_triton(accumulate)[(4,)](flat, y, x.numel())
    return torch.empty_like(x)

def launch_it(target, source):
    launcher = accumulate[(4,)]
    launcher(target, source, n=target.numel())

@custom_op("my::opaque", mutates_args=("x",))
def opaque(x: torch.Tensor, y: torch.Tensor) -> None:
    launch_it(y=y, target=x) if False else launch_it(x, y)

@custom_op("my::too_many", mutates_args=("x", "y"))
def too_many(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)

@custom_op("my::out", mutates_args=("y",))
def out(x: torch.Tensor, y: torch.Tensor, n: int) -> None:
    n += 1
    torch.mul(x, n, out=y)

@custom_op("my::no_annotation", mutates_args=())
def no_annotation(x) -> None:
    pass

if __name__ == "__main__":
    accumulate[(1,)](torch.zeros(4), torch.zeros(4), 4)
'''

ACCESS = {"doubled": [], "scale": ["read", "write", "", "", "", ""], "accumulate": ["read and write", "read", "", ""],
          "store_twice": [], "gathered": ["read", "read", "write", "read", ""], "in_branch": ["read", "write"], "in_class": ["read and write", ""],
          "tuned_elsewhere": ["write", ""], "tuned_by_a_stranger": ["write", ""]}
REFUSED = {"broken": "'break' is not part of the kernel language"}
LEFT_OUT = ["'@autotune' is left out: ", "'@tune' is left out: "]
LAUNCHES = {"scale": [("scaled", "wrap_triton")],
            "accumulate": [("silent", "wrap_triton"), ("launch_it", "raw"), ("", "raw")]}
OPERATORS = {
    "my::scaled": ("ok", "my::scaled(Tensor x, float s) -> Tensor", [], ["scale"]),
    "my::silent": ("refused", "my::silent(Tensor x, Tensor y) -> Tensor", [], ["accumulate"]),
    "my::opaque": ("ok", "my::opaque(Tensor(a!) x, Tensor y) -> ()", ["x"], ["accumulate"]),
    "my::too_many": ("ok", "my::too_many(Tensor(a!) x, Tensor(b!) y) -> ()", ["x", "y"], []),
    "my::out": ("ok", "my::out(Tensor x, Tensor(a!) y, SymInt n) -> ()", ["y"], []),
    "my::no_annotation": ("refused", "", [], []),
}


def check_file(run):
    done = run("kernels.py", SOURCE)
    listed = json.loads(done.stdout)
    kernels = {k["name"]: k for k in listed["kernels"]}
    assert done.returncode == 1 and len(kernels) == len(listed["kernels"]), (done.returncode, list(kernels))
    assert set(kernels) == set(ACCESS) | set(REFUSED), set(kernels)
    for name, access in ACCESS.items():
        assert kernels[name]["status"] == "ok" and kernels[name]["reason"] == "", kernels[name]
        assert [p["access"] for p in kernels[name]["parameters"]] == access, kernels[name]
    for name, reason in REFUSED.items():
        assert kernels[name]["status"] == "refused" and reason in kernels[name]["reason"], kernels[name]
    for name, launches in LAUNCHES.items():
        found = [(launch["function"], launch["form"]) for launch in kernels[name]["launches"]]
        assert found == launches, (name, found)
        lines = SOURCE.split("\n")
        assert all("(" in lines[launch["line"] - 1] for launch in kernels[name]["launches"])
    for name, kernel in kernels.items():
        unread = {"tuned_elsewhere": ["autotune"], "tuned_by_a_stranger": ["tune"]}.get(name, [])
        assert not unread or kernel["decorators"] == unread + ["jit"], kernel
        assert [one["decorator"] for one in kernel["unread"]] == unread and all(one["reason"] for one in kernel["unread"]), kernel
    assert kernels["scale"]["decorators"] == ["autotune", "heuristics", "jit"]
    operators = {o["name"]: o for o in listed["operators"]}
    for name, (status, schema, mutates, inner) in OPERATORS.items():
        o = operators.pop(name)
        assert (o["status"], o["schema"], o["mutates_args"], o["kernels"]) == (status, schema, mutates, inner), o
        if name == "my::silent":
            assert "kernel 'accumulate' writes 'x'" in o["reason"], o
        assert bool(o["warnings"]) == (name == "my::too_many"), o
    assert not operators, operators
    assert all(w.startswith(text) for w, text in zip(listed["warnings"], LEFT_OUT, strict=True)), listed["warnings"]
    assert "kernels.py:20:" in done.stderr and "error: 'break'" in done.stderr, done.stderr[:400]


def check_other_files(run):
    for name, text, code, first in (("syntax.py", "def f(:\n", 1, "syntax.py:1:7: error:"), ("none.py", "x = 1\n", 0, ""),
                                    ("empty.py", "", 0, ""), ("raises.py", "raise ValueError('boom')\n", 1, "raises.py:1:1: error: ValueError")):
        done = run(name, text)
        assert json.loads(done.stdout) == {"kernels": [], "operators": [], "warnings": []}, done.stdout
        assert done.returncode == code and done.stderr.startswith(first) and bool(done.stderr) == bool(first), (name, done)


PARTLY_READ = '''import torch, triton, functools, missing_marks
import triton.language as tl
if not triton.__version__.startswith("1."):
    raise ImportError("needs Triton 1")
try:
    import not_here
except ImportError as e:
    raise RuntimeError("not_here is missing") from e

@triton.jit
def after_the_raise(x):
    tl.store(x, 1.0)

@functools.lru_cache
def make_default(scale=2):
    @triton.autotune(configs=[triton.Config({"B": 64})], key=[])
    @triton.jit
    def filled(o, B: tl.constexpr):
        tl.store(o + tl.arange(0, B), tl.full((B,), scale_of.value, tl.float32))
    scale_of = tl.constexpr(scale)
    return filled

def make_for(activation):
    @triton.jit
    def applied(x, o):
        tl.store(o, activation(tl.load(x)))
    return applied

def test_needs_a_device(device, size=64):
    if not torch.cuda.is_available():
        skip_this()
    WIDTH: tl.constexpr = tl.constexpr(size)
    @triton.jit
    def independent(x, o, n):
        i = tl.arange(0, WIDTH)
        tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
    independent[(1,)](torch.empty(size, device=device), torch.empty(size, device=device), size)

class TestGroup:
    def test_method(self, shape):
        def inner():
            @triton.jit
            def in_method(o):
                tl.store(o, 1.0)
            return in_method
        inner()[(1,)](torch.empty(shape))

def test_of_another_language():
    import another_jit, missing_tracer
    @missing_tracer.trace("all")
    @another_jit.jit
    def foreign(o):
        another_jit.store(o, 1)
    foreign[(1,)](object())

@missing_marks.parametrize("shape", [1, 2])
def test_of_the_same_name(shape):
    @triton.jit
    def independent(o):
        tl.store(o, 2.0)
    independent[(1,)](torch.empty(shape))
'''


def check_partly_read(run):
    done = run("partly.py", PARTLY_READ)
    listed = json.loads(done.stdout)
    status = {k["name"]: (k["status"], k["decorators"]) for k in listed["kernels"]}
    assert status == {"after_the_raise": ("ok", ["jit"]), "filled": ("ok", ["autotune", "jit"]),
                      "applied": ("refused", ["jit"]), "test_needs_a_device.independent": ("ok", ["jit"]),
                      "in_method": ("ok", ["jit"]), "test_of_another_language.foreign": ("refused", []),
                      "test_of_the_same_name.independent": ("ok", ["jit"])}, status
    assert [w.split(": ", 1)[1] for w in listed["warnings"]] == ["needs Triton 1", "not_here is missing"], listed["warnings"]
    assert "partly.py:4:5: warning: importing the file raises ImportError" in done.stderr, done.stderr
    for name in ("test_needs_a_device.independent", "test_of_the_same_name.independent", "filled", "in_method"):
        words = [sys.argv[1], "launch", f"partly.py:{name}", "--grid", "1"]
        found = subprocess.run(words, cwd=run.folder, capture_output=True, text=True, timeout=60)
        assert found.returncode == 1 and "needs an argument for" in found.stderr, (name, found.stderr)
    applied = next(k for k in listed["kernels"] if k["name"] == "applied")
    assert "'activation' is an argument of 'make_for'" in applied["reason"] and "make_for(...)" in applied["reason"], applied


UNGUESSED = '''import triton
import triton.language as tl

@triton.jit
def takes_a_descriptor(desc, o, n, B: tl.constexpr):
    tl.store(o + tl.arange(0, B), desc.load([0]))

@triton.jit
def flags_and_sizes(x, o, n, num_bits: tl.constexpr, MODE: tl.constexpr, CACHE: tl.constexpr, HAS_MASK: tl.constexpr, OUT: tl.constexpr,
                    B: tl.constexpr):
    tl.static_assert(MODE == "fast" or MODE == "exact")
    i = tl.arange(0, B)
    bins = tl.arange(0, 2**num_bits)
    value = tl.load(x + i, mask=i < n if HAS_MASK else None, cache_modifier=CACHE)
    tl.store(o + i, value.to(OUT))
    tl.store(o + bins, tl.zeros((2**num_bits,), OUT))

@triton.heuristics({"IS_VARLEN": lambda args: args["chunks"] is not None})
@triton.jit
def assigned_in_a_branch(chunks, o, B: tl.constexpr, IS_VARLEN: tl.constexpr):
    if (B * 3) % 64 == 17 and IS_VARLEN:
        first = tl.load(chunks)
    tl.store(o + first * B + tl.arange(0, B), 1.0)

class Grouped:
    @staticmethod
    @triton.autotune([triton.Config({}, num_warps=w) for w in (1, 2)], ["n"], None, None, 25, 100)
    @triton.jit
    def of_another_triton(x, n, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)
    @staticmethod
    @triton.jit
    def behind_it(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 2.0)

@triton.jit
def nowhere(o):
    tl.store(o, missing_name)
'''


def check_unguessed(run):
    done = run("unguessed.py", UNGUESSED)
    kernels = {k["name"]: k for k in json.loads(done.stdout)["kernels"]}
    taken, guessed = kernels["takes_a_descriptor"], kernels["flags_and_sizes"]
    assert done.returncode == 1 and taken["status"] == "ok" and taken["needs"] == ["desc", "o", "n", "B"], taken
    assert "no method 'load'" in taken["stopped_at"] or "pointer" in taken["stopped_at"], taken
    assert {kernels[name]["status"] for name in ("of_another_triton", "behind_it")} == {"ok"}, kernels
    assert "unguessed.py:27:6: warning: '@autotune' is left out" in done.stderr, done.stderr
    branch, nowhere = kernels["assigned_in_a_branch"], kernels["nowhere"]
    assert branch["status"] == "ok" and "assigned only where these constexpr values do not lead" in branch["stopped_at"], branch
    assert nowhere["status"] == "refused" and "'missing_name' is not defined" in nowhere["reason"], nowhere
    assert guessed["stopped_at"] == "" and guessed["parameters"][4]["guess"] in ("'fast'", "'exact'"), guessed


OWN_JIT = '''from typing import TypeVar
import triton
import triton.language as tl
from triton.runtime.jit import KernelInterface

T = TypeVar("T")

class Linked(KernelInterface[T]):
    def __init__(self, fn):
        self.fn = fn

def jit(fn):
    return Linked(triton.jit(fn))

@jit
def linked(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
'''


def check_own_jit(run):
    """A project's own decorator over triton.jit, of a class that is not here: the kernel below it stays."""
    done = run("own_jit.py", OWN_JIT)
    kernels = {k["name"]: k for k in json.loads(done.stdout)["kernels"]}
    assert done.returncode == 0 and kernels["linked"]["status"] == "ok", (done.stderr, kernels)
    assert "warning: '@jit' is left out: " in done.stderr and "own_jit.py:15:2: note: " in done.stderr, done.stderr


UNROLLED = '''import triton
import triton.language as tl

@triton.jit
def unrolled(x):
    for i in tl.static_range(10**9):
        tl.store(x + i, 1.0)

@triton.jit
def nested(x):
    for i in tl.static_range(1000):
        for j in tl.static_range(1000):
            tl.store(x + i + j, 1.0)
'''


def check_unrolled(run):
    done = run("unrolled.py", UNROLLED)
    lines = done.stderr.splitlines()
    assert any(l.startswith("unrolled.py:6:14: error: static_range runs 1000000000 passes") and "at most 100000" in l and "tl.range" in l
               for l in lines), done.stderr
    assert any(l.startswith("unrolled.py:13:13: error: the kernel unrolls to more than 100000 statements") for l in lines), done.stderr


ENDLESS = '''import triton
import triton.language as tl
count = 0
while count >= 0:
    count += 1

@triton.jit
def kernel(x):
    tl.store(x, 1.0)
'''

FILLING = '''import triton
import triton.language as tl
WIDTH = tl.constexpr(len([0] * 200000))

@triton.jit
def kernel(x):
    tl.store(x + WIDTH, 1.0)
'''


def check_limits(run):
    done = run("endless.py", ENDLESS, "--host-steps", "1000")
    assert done.returncode == 1 and "took more than 1000 steps" in done.stderr and "--host-steps" in done.stderr, done.stderr
    for limits, code in (("--host-memory", "1000000"), 1), ((), 0):
        done = run("filling.py", FILLING, *limits)
        assert done.returncode == code and bool(code) == ("more than 1000000 bytes" in done.stderr), done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        def run(name, text, *options):
            run.folder = folder
            pathlib.Path(folder, name).write_text(text)
            return subprocess.run([sys.argv[1], "kernels", "--json", name, *options], cwd=folder, capture_output=True, text=True, timeout=900)

        check_file(run)
        check_other_files(run)
        check_partly_read(run)
        check_unguessed(run)
        check_own_jit(run)
        check_unrolled(run)
        check_limits(run)
    print("passed")


if __name__ == "__main__":
    main()
