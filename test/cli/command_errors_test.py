#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad command lines and bad files of every verb.

    command_errors_test.py PROGRAM [WORD…]

Each must end with exit code 1, name the file, line or argument as typed in the first line of stderr, and leave nothing
behind. Cases whose name holds one of the WORDs run alone. Standard library only.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
WANTED = sys.argv[2:]

KERNELS = '''import triton
import triton.language as tl

@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

@triton.jit
def unmasked(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))

@triton.jit
def small(x, limit, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + i) < limit, "too large")

def plain(x):
    return x
'''
MODEL = '''import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.linear = nn.Linear(width, width)
    def forward(self, x):
        return self.linear(x) * 2.0

def double(x):
    return x * 2.0

def pair(x):
    return x * 2.0, x + 1.0

def endless(x):
    n = 0
    while True:
        n += 1
    return x

def deep(x):
    return deep(x)

def grows(x):
    v = [0]
    while True:
        v = v + v
    return x

def text_grows(x):
    s = "ab"
    while True:
        s = s + s
    return x

def power(x):
    return x * (2 ** (10 ** 9))

def branch(x):
    if x.shape[0] > 4:
        return x * 2.0
    return x + 1.0

def value_branch(x):
    if x.sum() > 0:
        return x
    return -x

def unknown_operator(x):
    return torch.stft(x, 4)

def mismatched(x):
    return x @ torch.ones(3, 3)

def division(x):
    return x * (1 // 0)

def with_async(x):
    async def later():
        return x
    return later()
'''


def npy(path, code, count, shape=None, fortran=False, cut=0, version=1):
    size = int(code[-1]) if code[1] != "O" else 8
    head = f"{{'descr': '{code}', 'fortran_order': {fortran}, 'shape': {tuple(shape or (count,))}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    data = bytes(count * size)
    raw = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(head)) + head.encode() + data
    pathlib.Path(path).write_bytes(raw[: len(raw) - cut])


def run(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, **options)


def prepare():
    pathlib.Path("kernels.py").write_text(KERNELS)
    pathlib.Path("model.py").write_text(MODEL)
    npy("x.npy", "<f4", 10)
    npy("y.npy", "<f4", 10)
    npy("x8.npy", "<f4", 32, (8, 4))
    npy("x17.npy", "<f4", 68, (17, 4))
    npy("rank1.npy", "<f4", 4)
    npy("double.npy", "<f8", 32, (8, 4))
    npy("object.npy", "|O8", 4)
    npy("complex.npy", "<c8", 4)
    npy("bigendian.npy", ">f4", 4)
    npy("fortran.npy", "<f4", 4, (2, 2), fortran=True)
    npy("short.npy", "<f4", 10, cut=4)
    npy("headless.npy", "<f4", 0, cut=40)
    npy("huge.npy", "<f4", 1, (1 << 40, 1 << 40))
    npy("negative.npy", "<f4", 1, (-3,))
    pathlib.Path("empty.npy").write_bytes(b"")
    pathlib.Path("text.npy").write_text("hello\n")
    pathlib.Path("empty.py").write_text("")
    pathlib.Path("syntax.py").write_text("x = 1\ndef f(:\n    pass\n")
    pathlib.Path("python2.py").write_text('def f(x):\n    print "hello"\n')
    pathlib.Path("tabs.py").write_text("def f(x):\n    a = 1\n   b = 2\n")
    pathlib.Path("latin.py").write_bytes(b"# caf\xe9\nx = 1\n")
    pathlib.Path("nul.py").write_bytes(b"x = 1\0\ny = 2\n")
    pathlib.Path("cycle_a.py").write_text("from cycle_b import g\ndef f(x):\n    return g(x)\n")
    pathlib.Path("cycle_b.py").write_text("from cycle_a import f\ndef g(x):\n    return f(x)\n")
    pathlib.Path("lonely.py").write_text("from . import nothing_here\ndef f(x):\n    return x\n")
    pathlib.Path("lonely2.py").write_text("from .gone import helper\ndef f(x):\n    return x\n")
    pathlib.Path("nested.py").write_text("x = " + "(" * 100000 + "1" + ")" * 100000 + "\n")
    pathlib.Path("minus.py").write_text("x = " + "-" * 200000 + "1\n")
    pathlib.Path("launches.py").write_text(KERNELS + "\ndef f(x):\n    scale[(0, 0, 0, 0)](x, x, 4, 2.0, BLOCK=4)\n    return x\n")
    pathlib.Path("folder").mkdir()
    pathlib.Path("folder.py").mkdir()
    pathlib.Path("garbage.plc").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 8)
    pathlib.Path("random.bin").write_bytes(bytes((i * 37 + 11) % 256 for i in range(4096)))
    made = run("compile", "model.py:Model", "--input", "x=f32[batch:1..16,4]", "-o", "model.plc")
    assert made.returncode == 0, made.stderr
    made = run("export", "model.py:Model", "--input", "x=f32[batch:1..16,4]", "-o", "model.program")
    assert made.returncode == 0, made.stderr
    for name, words in {"pair": ["model.py:pair", "--input", "x=f32[8,4]"], "half": ["model.py:double", "--input", "x=f16[4]"]}.items():
        made = run("compile", *words, "-o", f"{name}.plc")
        assert made.returncode == 0, made.stderr
    npy("u16.npy", "<u2", 4)
    os.mkfifo("pipe")
    os.symlink("model.py", "link.py")
    whole = pathlib.Path("model.program").read_bytes()
    pathlib.Path("cut.program").write_bytes(whole[: len(whole) // 2])
    pathlib.Path("version.program").write_bytes(whole.replace(b"1", b"9", 1))
    pathlib.Path("cut.plc").write_bytes(pathlib.Path("model.plc").read_bytes()[:5000])


LAUNCH = ["launch", "kernels.py:scale", "--grid", "1"]
GIVEN = {"x": "@x.npy", "y": "@y.npy", "n": "10", "factor": "2.0", "BLOCK": "16"}


def launch(extra=(), target="kernels.py:scale", grid="1", **changes):
    words = ["launch", target, "--grid", grid]
    for name, value in {**GIVEN, **changes}.items():
        if value is not None:
            words += ["--arg", f"{name}={value}"]
    return words + list(extra)


def cases():
    """Name, words, what the first line of stderr must hold."""
    yield "no verb", [], "usage"
    yield "unknown verb", ["frobnicate"], "frobnicate"
    for verb, rest in {"kernels": ["kernels.py"], "launch": launch()[1:], "export": ["model.py:double", "--input", "x=f32[4]"],
                       "compile": ["model.py:double", "--input", "x=f32[4]", "-o", "o.plc"],
                       "run": ["model.plc", "--input", "x=@x8.npy"], "inspect": ["model.plc"], "explain": ["model.plc"],
                       "profile": ["model.plc", "--input", "x=@x8.npy", "-o", "trace.json"], "doctor": []}.items():
        yield f"{verb}: unknown option", [verb, *rest, "--frobnicate"], "--frobnicate"
    for verb in ("kernels", "launch", "export", "compile", "run", "inspect", "explain", "profile", "bench"):
        yield f"{verb}: nothing given", [verb], verb
    for verb, missing, rest in (("kernels", "gone.py", []), ("launch", "gone.py:k", ["--grid", "1"]), ("export", "gone.py:f", []),
                                ("compile", "gone.py:f", ["-o", "o.plc"]), ("export", "gone.program", []), ("run", "gone.plc", []),
                                ("inspect", "gone.plc", []), ("explain", "gone.plc", []), ("profile", "gone.plc", ["-o", "t.json"])):
        yield f"{verb}: missing file {missing}", [verb, missing, *rest], missing.split(":")[0]
    for verb, folder, rest in (("kernels", "folder", []), ("kernels", "folder.py", []), ("launch", "folder.py:k", ["--grid", "1"]),
                               ("export", "folder.py:f", []), ("export", "folder", []), ("compile", "folder", ["-o", "o.plc"]),
                               ("run", "folder", []), ("inspect", "folder", []), ("explain", "folder", [])):
        yield f"{verb}: a folder {folder}", [verb, folder, *rest], folder.split(":")[0]

    # launch
    yield "no colon in the kernel's name", launch(target="kernels.py"), "kernels.py"
    yield "unknown kernel", launch(target="kernels.py:gone"), "gone"
    yield "misspelt kernel", launch(target="kernels.py:scael"), "kernels.py:scael: error: the file defines no 'scael'; did you mean 'scale'"
    yield "misspelt parameter", launch(facto="1"), "did you mean 'factor'"
    yield "not a kernel", launch(target="kernels.py:plain"), "plain"
    for grid in ("", "a", "1,", "1,2,3,4", "-1", "1.5", "1e3", "99999999999999999999", "4294967296", "1,70000,70000"):
        yield f"grid '{grid}'", launch(grid=grid), "--grid"
    yield "argument without value", launch(["--arg", "x"]), "--arg x"
    yield "argument given twice", launch(["--arg", "n=3"]), "--arg n=3"
    yield "argument that is no parameter", launch(q="1"), "q"
    yield "argument of no value", launch(n="ten"), "n=ten"
    yield "argument of an unknown type", launch(n="tl.float99"), "tl.float99"
    yield "integer too large", launch(n="99999999999999999999"), "99999999999999999999"
    yield "missing constexpr", launch(BLOCK=None), "BLOCK"
    yield "missing tensor", launch(y=None), "y"
    yield "number for a pointer", launch(x="3"), "kernels.py:7"
    yield "tensor for a constexpr", launch(BLOCK="@x.npy"), "BLOCK"
    yield "block that is no power of two", launch(BLOCK="12"), "kernels.py:6"
    yield "access far outside", launch(x="@x.npy", n="2000000000", grid="1000000"), "kernels.py:scale"
    yield "access far outside in every thread", launch(x="@x.npy", n="2147483647", grid="2147483647"), "kernels.py:scale"
    yield "assertion on the device", ["launch", "kernels.py:small", "--grid", "5", "--arg", "x=@x.npy", "--arg", "limit=-1", "--arg", "BLOCK=2"], "kernels.py:17:5: error: device assertion failed: too large (kernel 'small', program (0, 0, 0)"
    yield "three warps", launch(["--num-warps", "3"]), "num_warps of 'scale' must be a power of 2, got 3"
    yield "huge block", launch(BLOCK=str(1 << 30)), "kernels.py:6"
    yield "bad element type", launch(x="@x.npy:f99"), "f99"
    yield "element type of another size", launch(x="@x.npy:bf16"), "x.npy"
    for view in ("offset=2", "shape=4,strides=1x1", "shape=-1", "shape=11", "shape=4,strides=9223372036854775807", "offset=9223372036854775807,shape=2",
                 "shape=4611686018427387904x4", "frob=1", "shape=4,offset=-1", "shape=3x4"):
        yield f"view {view}", launch(x=f"@x.npy[{view}]"), "x.npy"
    for file in ("gone", "empty", "text", "object", "complex", "bigendian", "fortran", "short", "headless", "huge", "negative"):
        yield f"{file}.npy", launch(x=f"@{file}.npy"), f"{file}.npy"
    yield "a folder for an array", launch(x="@folder"), "folder"
    yield "an array without a name", launch(x="@"), "x=@"
    yield "table of a missing file", launch(x="@ptrs:x.npy,gone.npy"), "gone.npy"
    yield "output of an unknown argument", launch(["--out", "q=o.npy"]), "--out q=o.npy"
    yield "output of a number", launch(["--out", "n=o.npy"]), "--out n=o.npy"
    yield "output without a file", launch(["--out", "y"]), "--out y"
    yield "output in a missing folder", launch(["--out", "y=nowhere/o.npy"]), "nowhere/o.npy"
    yield "output onto a folder", launch(["--out", "y=folder"]), "folder"
    yield "member of what is no table", launch(["--out", "y[0]=o.npy"]), "--out y[0]=o.npy"
    for target in ("gpu", "cpu:x86-64-v9", "cuda:sm_", "", "cpu,"):
        yield f"launch: target '{target}'", launch(["--target", target]), "--target"
    for option, value in (("--num-warps", "0"), ("--num-warps", "-1"), ("--num-warps", "two"), ("--threads", "-1"), ("--num-stages", "x")):
        yield f"{option} {value}", launch([option, value]), option
    yield "sanitizer: out of bounds", launch(["--sanitize", "--out", "y=o.npy"], target="kernels.py:unmasked", n=None, factor=None), "kernels.py:12:21: error: kernel 'unmasked' reads element 10 of 'x', which has 10 elements"

    # Files
    yield "empty file", ["launch", "empty.py:k", "--grid", "1"], "empty.py"
    for file, line in (("syntax", 2), ("python2", 2), ("tabs", 3), ("latin", 1), ("nul", 1)):
        yield f"kernels {file}.py", ["kernels", f"{file}.py"], f"{file}.py:{line}:"
        yield f"export {file}.py", ["export", f"{file}.py:f", "--input", "x=f32[4]"], f"{file}.py:{line}:"
    yield "deep parentheses", ["kernels", "nested.py"], "nested.py:1:"
    yield "many signs", ["kernels", "minus.py"], "minus.py:1:"
    yield "import cycle", ["export", "cycle_a.py:f", "--input", "x=f32[4]"], "cycle_"
    yield "missing sibling", ["export", "lonely.py:f", "--input", "x=f32[4]"], "lonely.py:1:"
    yield "missing sibling module", ["export", "lonely2.py:f", "--input", "x=f32[4]"], "lonely2.py:1:"
    yield "a binary for Python", ["kernels", "random.bin"], "random.bin"
    yield "a package for Python", ["kernels", "model.plc"], "model.plc"

    # export and compile
    def traced(name, *rest, file="model.py"):
        return ["export", f"{file}:{name}", "--input", "x=f32[batch:1..16,4]", *rest]

    for name in ("endless", "deep", "grows", "text_grows", "power", "value_branch", "unknown_operator", "mismatched", "division", "with_async"):
        yield f"export {name}", traced(name), "20000000 steps" if name == "endless" else f"model.py:{line_of(name)}:"
    yield "strict branch", traced("branch", "--strict"), "model.py:42:8: error:"
    yield "four grid sizes", ["export", "launches.py:f", "--input", "x=f32[4]"], "launches.py:"
    yield "unknown model", traced("Gone"), "Gone"
    yield "a kernel for a model", traced("scale", file="kernels.py"), "kernels.py:"
    yield "missing input", ["export", "model.py:double"], "model.py:"
    yield "input of no parameter", traced("double", "--input", "q=f32[4]"), "q"
    for spec in ("x", "x=", "x=f99[4]", "x=f32", "x=f32[", "x=f32[4", "x=f32[-1]", "x=f32[b]", "x=f32[b:4]", "x=f32[b:4..2]", "x=f32[b=9:1..4]",
                 "x=f32[4]]", "x=f32[99999999999999999999]", "x=f32[4,]", "=f32[4]", "x=f32[b:-2..4]"):
        yield f"input '{spec}'", ["export", "model.py:double", "--input", spec], "--input"
    for init in ("width", "width=", "width=[", "gone=3", "width=open('x')", "=3", "width='a'", "width=None"):
        yield f"init '{init}'", traced("Model", "--init", init), ""
    yield "init of a function", traced("double", "--init", "a=1"), "--init"
    yield "dtype", traced("Model", "--dtype", "i32"), "--dtype"
    yield "seed", traced("Model", "--seed", "x"), "--seed"
    yield "weights: missing", traced("Model", "--weights", "gone.npz"), "gone.npz"
    yield "weights: garbage", traced("Model", "--weights", "random.bin"), "random.bin"
    yield "weights: a package", traced("Model", "--weights", "model.plc"), "model.plc"
    yield "strict and non-strict", traced("double", "--strict", "--non-strict"), "strict"
    yield "export into a missing folder", traced("double", "-o", "nowhere/o.program"), "nowhere/o.program"
    yield "export onto a folder", traced("double", "-o", "folder"), "folder"
    yield "compile into a missing folder", ["compile", "model.program", "-o", "nowhere/o.plc"], "nowhere/o.plc"
    yield "compile onto a folder", ["compile", "model.program", "-o", "folder"], "folder"
    for target in ("gpu", "cpu:avx", "cuda:sm_1x", "cpu,frob"):
        yield f"compile: target '{target}'", ["compile", "model.program", "--target", target, "-o", "o.plc"], "--target"
    yield "compile: input of a saved program", ["compile", "model.program", "--input", "x=f32[4]", "-o", "o.plc"], "--input"
    for flag, *value in (("--seed", "0"), ("--strict",), ("--weights", "weights.npz"), ("--no-strict-weights",), ("--path", "."), ("--init", "dim=4"), ("--dtype", "f16")):
        yield f"compile: {flag} of a saved program", ["compile", "model.program", flag, *value, "-o", "o.plc"], flag
    for file in ("cut.program", "version.program", "random.bin", "model.plc", "x.npy", "empty.py", "kernels.py"):
        yield f"compile {file}", ["compile", file, "-o", "o.plc"], file

    # run and its kin
    for file in ("model.program", "garbage.plc", "random.bin", "cut.plc", "x.npy", "empty.py", "model.py"):
        for verb in ("run", "inspect", "explain"):
            if verb != "run" and file in ("model.program", "model.py"):
                continue
            yield f"{verb} {file}", [verb, file], file
    good = ["run", "model.plc", "--input", "x=@x8.npy"]
    yield "run: missing input", ["run", "model.plc"], "x"
    yield "run: unknown input", [*good, "--input", "q=@x8.npy"], "q=@x8.npy"
    yield "run: input twice", [*good, "--input", "x=@x8.npy"], "x=@x8.npy"
    yield "run: a number", ["run", "model.plc", "--input", "x=3"], "x=3"
    yield "run: missing array", ["run", "model.plc", "--input", "x=@gone.npy"], "gone.npy"
    yield "run: wrong rank", ["run", "model.plc", "--input", "x=@rank1.npy"], "rank"
    yield "run: wrong type", ["run", "model.plc", "--input", "x=@double.npy"], "f64"
    yield "run: out of range", ["run", "model.plc", "--input", "x=@x17.npy"], "17"
    yield "run: too many outputs", [*good, "--output", "a.npy", "--output", "b.npy"], "b.npy"
    yield "run: output in a missing folder", [*good, "--output", "nowhere/a.npy"], "nowhere/a.npy"
    yield "run: output onto the package", [*good, "--output", "model.plc"], "model.plc"
    yield "run: one output twice", ["run", "pair.plc", "--input", "x=@x8.npy", "--output", "o.npy", "--output", "./o.npy"], "./o.npy"
    yield "run: second output in a missing folder", ["run", "pair.plc", "--input", "x=@x8.npy", "--output", "o.npy", "--output", "nowhere/o.npy"], "nowhere/o.npy"
    yield "run: package that is a pipe", ["run", "pipe"], "pipe"
    yield "inspect: a pipe", ["inspect", "pipe"], "pipe"
    yield "explain: a pipe", ["explain", "pipe"], "pipe"
    yield "run: array that is a pipe", ["run", "model.plc", "--input", "x=@pipe"], "pipe"
    yield "compile: weights that are a pipe", traced("Model", "--weights", "pipe"), "pipe"
    yield "kernels: endless file", ["kernels", "/dev/zero"], "/dev/zero"
    yield "run: integers for floats", ["run", "half.plc", "--input", "x=@u16.npy"], "x=@u16.npy"
    yield "export onto its model", traced("double", "-o", "model.py"), "model.py"
    yield "export onto a link to its model", traced("double", "-o", "link.py"), "link.py"
    yield "compile onto its program", ["compile", "model.program", "-o", "model.program"], "model.program"
    yield "launch onto its kernels", launch(["--out", "y=kernels.py"]), "y=kernels.py"
    yield "launch: one file twice", launch(["--out", "x=o.npy", "--out", "y=o.npy"]), "y=o.npy"
    yield "launch: a whole table", launch(["--out", "x=o.npy"], x="@ptrs:x.npy,y.npy"), "--out x=o.npy"
    yield "a verb misspelt", ["lunch"], "'launch'"
    yield "help on no verb", ["help", "frobnicate"], "frobnicate"
    yield "run: output onto a folder", [*good, "--output", "folder"], "folder"
    yield "run: unknown target", [*good, "--target", "cpu:x86-64-v9"], "v9"
    yield "run: absent target", [*good, "--target", "cuda:sm_90"], "cuda"
    yield "run: threads", [*good, "--threads", "-3"], "--threads"
    for verb, rest in {"launch": launch()[1:], "export": ["model.py:double", "--input", "x=f32[4]"],
                       "compile": ["model.program", "-o", "o.plc"], "run": ["model.plc", "--input", "x=@x8.npy"]}.items():
        yield f"{verb}: one argument more", [verb, *rest, "extra"], "extra: error: "
        yield f"{verb}: a flag with a value", [verb, *rest, "--json=yes"], "--json=yes: error: takes no value"
        yield f"{verb}: a short option", [verb, *rest, "-q"], "-q: error: "
    yield "run: abbreviation", [*good, "--thread", "1"], "--thread: error: 'pellucid run' has no such option; did you mean '--threads'"
    yield "run: no value", [*good, "--threads"], "--threads: error: a value is missing"
    yield "run: option twice", [*good, "--threads", "1", "--threads=2"], "--threads=2: error: is given twice"
    yield "run: output without a value", [*good, "--output"], "--output: error: a value is missing"
    yield "compile: output twice", ["compile", "model.program", "-o", "o.plc", "-o", "p.plc"], "-o: error: is given twice"
    for seed in ("-1", "1.5", "99999999999999999999", "", "0x10"):
        yield f"seed '{seed}'", traced("Model", "--seed", seed), "--seed"
    for seconds in ("0", "-1", "nan", "inf", "1e999", "soon"):
        yield f"bench: seconds '{seconds}'", ["bench", "model.plc", "--input", "x=@x8.npy", "--seconds", seconds], "--seconds"
    yield "explain: input of a package", ["explain", "model.plc", "--input", "x=f32[4]"], "--input: error: is for Python models"
    yield "doctor: an argument", ["doctor", "now"], "now: error: "
    yield "profile: into a missing folder", ["profile", "model.plc", "--input", "x=@x8.npy", "-o", "nowhere/t.json"], "nowhere/t.json"


def line_of(name):
    """Where the mistake of a function of MODEL stands."""
    texts = {"endless": "n += 1", "deep": "return deep", "grows": "v = v + v", "text_grows": "s = s + s", "power": "return x * (2",
             "value_branch": "if x.sum()", "unknown_operator": "return torch.stft", "mismatched": "return x @", "division": "return x * (1",
             "with_async": "return later()"}
    return MODEL[: MODEL.index(texts[name])].count("\n") + 1


def listing():
    return sorted((str(p), p.stat().st_size) for p in pathlib.Path(".").rglob("*"))


def judge(words, expected):
    before = listing()
    try:
        done = run(*words)
    except subprocess.TimeoutExpired:
        return "did not end"
    error = done.stderr.decode("utf-8", "replace")
    first = error.split("\n")[0]
    if done.returncode != 1:
        return f"exit code {done.returncode}: {first}"
    if "error: " not in first and "usage" not in first:
        return f"the first line is no diagnostic: {first}"
    if expected not in first:
        return f"the first line does not name '{expected}': {first}"
    if listing() != before:
        return f"left behind: {sorted(set(listing()) ^ set(before))}"
    return ""


def read_only_and_full():
    """Targets that take a name but no bytes."""
    if pathlib.Path("/dev/full").exists():
        yield "export to /dev/full", ["export", "model.py:double", "--input", "x=f32[4]", "-o", "/dev/full"], "/dev/full"
        yield "compile to /dev/full", ["compile", "model.program", "-o", "/dev/full"], "/dev/full"
        yield "launch to /dev/full", launch(["--out", "y=/dev/full"]), "/dev/full"
    if os.geteuid() != 0:
        locked = pathlib.Path("locked")
        locked.mkdir(mode=0o555)
        yield "export into a locked folder", ["export", "model.py:double", "--input", "x=f32[4]", "-o", "locked/o"], "locked/o"
        yield "compile into a locked folder", ["compile", "model.program", "-o", "locked/o"], "locked/o"


def main():
    start = os.getcwd()
    folder = tempfile.mkdtemp(prefix="pellucid-errors-")
    count, problems = 0, []
    try:
        os.chdir(folder)
        prepare()
        for name, words, expected in [*cases(), *read_only_and_full()]:
            if WANTED and not any(word in name for word in WANTED):
                continue
            count += 1
            problem = judge(words, expected)
            if problem:
                problems.append(name)
                print(f"FAILED {name}: {problem}")
    finally:
        os.chdir(start)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count - len(problems)} of {count} ok")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
