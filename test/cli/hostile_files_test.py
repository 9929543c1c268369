#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source files, arrays and weights that no honest tool writes, or that another system does.

    hostile_files_test.py PROGRAM

Each is taken as Python and numpy take it, or refused with exit code 1 and a first line that names it; nothing is left behind.
Standard library only.
"""
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

PROGRAM = os.path.abspath(sys.argv[1])
MODEL = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x)
'''
USER = '''import torch
from {module} import scale


def model(x):
    return scale(x)
'''
problems, count = [], 0


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)


def report(name, problem):
    problems.append(name)
    print(f"FAILED {name}: {problem}")


def check(name, words, expected):
    """`expected` is what the first line of a refusal must hold; None: it works."""
    global count
    count += 1
    before = sorted(os.listdir("."))
    try:
        done = run(*words)
    except subprocess.TimeoutExpired:
        return report(name, "did not end")
    first = done.stderr.decode("utf-8", "replace").split("\n")[0]
    if expected is None and done.returncode != 0:
        report(name, f"exit code {done.returncode}: {first}")
    if expected is not None and (done.returncode != 1 or expected not in first or "error: " not in first):
        report(name, f"exit code {done.returncode} without '{expected}': {first[:300]}")
    if sorted(os.listdir(".")) != before:
        report(name, f"left {sorted(set(os.listdir('.')) - set(before))}")


# --- source text

def traced(file, function="model"):
    return ["export", f"{file}:{function}", "--input", "x=f32[2,3]"]


def sources():
    plain = "import torch\n\n\ndef model(x):\n    return x * 2.0\n"
    body = {
        "byte order mark": ("\ufeff" + plain).encode(),
        "carriage returns": plain.replace("\n", "\r\n").encode(),
        "carriage returns alone": plain.replace("\n", "\r").encode(),
        "form feeds": plain.replace("\n\n\n", "\n\f\n\f").encode(),
        "no end of line": plain.rstrip().encode(),
        "an encoding line": ("# -*- coding: utf-8 -*-\n" + plain).encode(),
        "another encoding": (b"# -*- coding: latin-1 -*-\ns = '\xe9'\n" + plain.encode()),
        "names beyond ASCII": plain.replace("x", "größe").encode(),
        "a long line": (plain + "# " + "x" * 5_000_000 + "\n").encode(),
        "a long text": (plain + 's = "' + "x" * 5_000_000 + '"\n').encode(),
        "many lines": (plain + "\n" * 1_000_000).encode(),
        "a thousand statements": (plain + "a = 1\n" * 1000).encode(),
    }
    for name, data in body.items():
        pathlib.Path("source.py").write_bytes(data)
        words = traced("source.py")
        check(name, [*words[:3], "größe=f32[2,3]"] if "größe".encode() in data else words, None)
    refused = {
        "not UTF-8": (plain.encode() + b"# \xff\xfe\n", "source.py:6:"),
        "cut UTF-8": (plain.encode() + b's = "\xe2\x82"\n', "source.py:6:"),
        "a surrogate": (plain.encode() + b's = "\xed\xa0\x80"\n', "source.py:6:"),
        "UTF-16": (plain.encode("utf-16"), "source.py:1:"),
        "a NUL": (plain.encode() + b"a = 1\0\n", "source.py:6:"),
        "a lone backslash": (plain.encode() + b"\\", "source.py:6:"),
        "an open bracket": (plain.encode() + b"a = [1, 2\n", "source.py:6:"),
        "an open text": (plain.encode() + b'a = """\n\n\n', "source.py:6:"),
        "mixed tabs": (plain.encode() + b"if 1:\n        a = 1\n\tb = 2\n", "source.py:8:"),
        "open parentheses": (plain.encode() + b"a = " + b"(" * 10_000 + b"1" + b")" * 10_000 + b"\n", "source.py:6:"),
        "nested lists": (plain.encode() + b"a = " + b"[" * 10_000 + b"]" * 10_000 + b"\n", "source.py:6:"),
        "nested calls": (plain.encode() + b"a = " + b"f(" * 10_000 + b")" * 10_000 + b"\n", "source.py:6:"),
        "nested subscripts": (plain.encode() + b"a = " + b"x[" * 10_000 + b"0" + b"]" * 10_000 + b"\n", "source.py:6:"),
        "a chain of not": (plain.encode() + b"a = " + b"not " * 10_000 + b"1\n", "source.py:6:"),
        "a chain of powers": (plain.encode() + b"a = 1" + b" ** 1" * 100_000 + b"\n", "source.py:"),
        "a chain of lambdas": (plain.encode() + b"a = " + b"lambda: " * 100_000 + b"1\n", "source.py:6:"),
        "a chain of choices": (plain.encode() + b"a = " + b"1 if 1 else " * 100_000 + b"1\n", "source.py:"),
        "nested blocks": (plain.encode() + b"".join(b" " * i + b"if 1:\n" for i in range(1000)) + b" " * 1000 + b"a = 1\n", "source.py:"),
        "nested functions": (plain.encode() + b"".join(b" " * i + b"def f():\n" for i in range(1000)) + b" " * 1000 + b"a = 1\n", "source.py:"),
        "nested f-strings": (plain.encode() + b"a = " + b"f'{" * 1000 + b"1" + b"}'" * 1000 + b"\n", "source.py:"),
        "a long integer": (plain.encode() + b"a = " + b"9" * 100_000 + b"\n", "source.py:6:"),
        "a wide shift": (b"import torch\nn = 1 << 100000\n\n\ndef model(x):\n    return x * n\n", "source.py:2:"),
    }
    for name, (data, expected) in refused.items():
        pathlib.Path("source.py").write_bytes(data)
        check(name, traced("source.py"), expected)
        check(f"kernels of {name}", ["kernels", "source.py"], expected) if name != "a wide shift" else None
    # Long without depth: CPython takes these.
    for name, data in {"a chain of sums": b"a = 1" + b" + 1" * 3000 + b"\n", "a chain of attributes": b"a = torch" + b".nn" * 1 + b"\n",
                       "a thousand branches": b"if 0:\n    pass\n" + b"elif 0:\n    pass\n" * 500,
                       "many arguments": b"def f(" + b", ".join(b"a%d" % i for i in range(3000)) + b"): pass\n",
                       "many elements": b"a = [" + b"1, " * 100_000 + b"]\n"}.items():
        pathlib.Path("source.py").write_bytes(plain.encode() + data)
        check(name, traced("source.py"), None)
    for name, data in {"endless sums": b"a = 1" + b" + 1" * 300_000 + b"\n", "endless attributes": b"a = torch" + b".nn" * 300_000 + b"\n",
                       "endless comparisons": b"a = 1" + b" < 1" * 100_000 + b"\n",
                       "endless branches": b"if 0:\n    pass\n" + b"elif 0:\n    pass\n" * 20_000}.items():
        pathlib.Path("source.py").write_bytes(plain.encode() + data)
        done = run(*traced("source.py"))
        if done.returncode not in (0, 1):
            report(name, f"exit code {done.returncode}")
    with open("huge.py", "wb") as file:
        file.truncate(1 << 30)
    check("a file of 1 GiB", traced("huge.py"), "huge.py")
    os.remove("huge.py")
    os.remove("source.py")


# --- imports

def imports():
    pathlib.Path("works.py").write_text("def scale(x):\n    return x * 3.0\n")
    os.symlink("works.py", "linked.py")
    os.symlink("loop.py", "loop.py")
    os.symlink("ring_b.py", "ring_a.py")
    os.symlink("ring_a.py", "ring_b.py")
    os.symlink("gone.py", "dangling.py")
    os.symlink("/dev/zero", "device.py")
    os.mkdir("folder.py")
    os.mkfifo("pipe.py")
    os.symlink(".", "again")
    pathlib.Path("empty_module.py").write_text("")
    pathlib.Path("broken.py").write_text("def scale(x:\n")
    pathlib.Path("raising.py").write_text("raise RuntimeError('no')\n\n\ndef scale(x):\n    return x\n")
    for module, expected in {"works": None, "linked": None, "again.again.works": None, "loop": "user.py:", "ring_a": "user.py:", "dangling": "user.py:",
                             "device": "user.py:", "folder": "user.py:", "pipe": "user.py:", "gone": "user.py:", "empty_module": "",
                             "broken": "broken.py:1:", "raising": "raising.py:1:", "user": "user.py:"}.items():
        pathlib.Path("user.py").write_text(USER.format(module=module))
        check(f"import of {module}", traced("user.py"), expected)
    if os.geteuid() != 0:
        pathlib.Path("locked.py").write_text("def scale(x):\n    return x\n")
        os.chmod("locked.py", 0)
        pathlib.Path("user.py").write_text(USER.format(module="locked"))
        check("import of a locked file", traced("user.py"), "locked.py")
        check("a locked file", traced("locked.py"), "locked.py")
    for file in ("loop.py", "ring_a.py", "dangling.py", "device.py", "folder.py", "pipe.py"):
        check(f"kernels {file}", ["kernels", file], file)
        check(f"export {file}", traced(file), file)
    # Cycles that Python takes: each asks for the other's names only when it is called.
    pathlib.Path("first.py").write_text("import second\n\n\ndef scale(x):\n    return second.double(x)\n\n\ndef one():\n    return 1.0\n")
    pathlib.Path("second.py").write_text("import first\n\n\ndef double(x):\n    return x * (first.one() + 1.0)\n")
    pathlib.Path("user.py").write_text(USER.format(module="first"))
    check("a cycle of imports", traced("user.py"), None)
    pathlib.Path("first.py").write_text("from second import double\n\n\ndef scale(x):\n    return double(x)\n")
    pathlib.Path("second.py").write_text("from first import scale\n\n\ndef double(x):\n    return x\n")
    check("a cycle of names", traced("user.py"), "second.py:1:")
    for i in range(150):
        pathlib.Path(f"deep{i}.py").write_text(f"from deep{i + 1} import scale\n")
    pathlib.Path("deep150.py").write_text("def scale(x):\n    return x\n")
    pathlib.Path("user.py").write_text(USER.format(module="deep0"))
    check("imports 150 deep", traced("user.py"), None)
    for i in range(150, 3000):
        pathlib.Path(f"deep{i}.py").write_text(f"from deep{i + 1} import scale\n")
    check("imports 3000 deep", traced("user.py"), "deep")


# --- arrays

def npy(descr="'<f4'", fortran="False", shape="(2, 3)", data=bytes(24), version=1, head=None, size=None, magic=b"\x93NUMPY"):
    text = head if head is not None else f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    wide = 4 if version > 1 else 2
    text = text + " " * ((-len(text) - 9 - wide) % 64) + "\n"
    length = (len(text) if size is None else size).to_bytes(wide, "little")
    return magic + bytes([version, 0]) + length + text.encode("utf-8") + data


def arrays():
    taken = {
        "version 2": npy(version=2), "version 3": npy(version=3), "trailing bytes": npy(data=bytes(100)),
        "a long header": npy(head="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + " " * 60_000),
        "other order of keys": npy(head="{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}"),
        "double quotes": npy(head='{"descr": "<f4", "fortran_order": False, "shape": (2, 3)}'),
        "no spaces": npy(head="{'descr':'<f4','fortran_order':False,'shape':(2,3)}"),
        "Python 2's integers": npy(shape="(2L, 3L)"), "native order": npy(descr="'=f4'"),
    }
    for name, data in taken.items():
        pathlib.Path("a.npy").write_bytes(data)
        check(f"array: {name}", ["run", "model.plc", "--input", "x=@a.npy"], None)
    refused = {
        "empty": b"", "magic alone": b"\x93NUMPY", "wrong magic": npy(magic=b"\x93NUMPX"), "version 0": npy(version=0), "version 9": npy(version=9),
        "header beyond the file": npy(size=60_000), "header of 4 GiB": npy(version=2, size=(1 << 32) - 1), "no header": npy(size=0),
        "header of one byte": npy(size=1), "no dict": npy(head="(1, 2)"), "open dict": npy(head="{'descr': '<f4'"), "junk": npy(head="\x00\x01\x02"),
        "no descr": npy(head="{'fortran_order': False, 'shape': (2, 3), }"), "no shape": npy(head="{'descr': '<f4', 'fortran_order': False, }"),
        "an unknown key": npy(head="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}"),
        "Fortran order": npy(fortran="True"), "order 2": npy(fortran="2"), "objects": npy(descr="'|O'"), "texts": npy(descr="'<U5'"),
        "dates": npy(descr="'<M8[ns]'"), "complex": npy(descr="'<c8'"), "float16 bytes": npy(descr="'<f16'"), "a structure": npy(descr="[('a', '<f4')]"),
        "big-endian": npy(descr="'>f4'"), "no type": npy(descr="''"), "one letter": npy(descr="'f'"), "negative dim": npy(shape="(-2, -3)"),
        "huge product": npy(shape="(4294967296, 4294967296)"), "huge dim": npy(shape="(99999999999999999999, 3)"),
        "product that wraps to 24": npy(shape="(4611686018427387905, 6)"), "zero times huge": npy(shape="(0, 4611686018427387904, 4611686018427387904)"),
        "fractional dim": npy(shape="(2.5, 3)"), "a number for the shape": npy(shape="6"), "a list for the shape": npy(shape="[2, 3]"),
        "open shape": npy(head="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3"), "65 dims": npy(shape="(" + "1, " * 65 + ")"),
        "too short": npy(data=bytes(23)), "no data": npy(data=b""), "another rank": npy(shape="(6,)"), "no dims": npy(shape="()"),
    }
    for name, data in refused.items():
        pathlib.Path("a.npy").write_bytes(data)
        for words in (["run", "model.plc", "--input", "x=@a.npy"],
                      ["launch", "kernel.py:copy", "--grid", "1", "--arg", "x=@a.npy", "--arg", "y=@good.npy", "--arg", "BLOCK=4"]):
            works = words[0] == "launch" and name in ("another rank", "no dims")
            names = "rank" if "rank" in name or name == "no dims" else "a.npy"
            check(f"array: {name} ({words[0]})", words, None if works else names)
    os.remove("a.npy")


# --- weights

def safetensors(header, data=bytes(32)):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


WHOLE = {"linear.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
         "linear.bias": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]}}


def changed(name="linear.bias", drop=None, **fields):
    entries = {key: dict(value) for key, value in WHOLE.items()}
    entries[name].update(fields)
    if drop:
        del entries[name][drop]
    return safetensors(entries)


def npz(members, compression=zipfile.ZIP_STORED, force=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members:
            with archive.open(name, "w", force_zip64=force) as file:
                file.write(data)
    return out.getvalue()


def damaged(archive):
    """The first member's deflate stream begins with a block of a kind that there is not."""
    name_size, extra_size = struct.unpack("<HH", archive[26:30])
    start = 30 + name_size + extra_size
    return archive[:start] + bytes([archive[start] | 6]) + archive[start + 1 :]


def weights():
    weight, bias = npy(), npy(shape="(2,)", data=bytes(8))
    members = [("linear.weight.npy", weight), ("linear.bias.npy", bias)]
    taken = {
        "safetensors": safetensors(WHOLE), "metadata": safetensors({"__metadata__": {"format": "pt"}, **WHOLE}),
        "padding": safetensors(json.dumps(WHOLE).encode() + b" " * 100),
        "npz": npz(members), "compressed": npz(members, zipfile.ZIP_DEFLATED), "zip64": npz(members, force=True), "names without .npy": npz([(n[:-4], d) for n, d in members]),
        "a comment behind the archive": npz(members)[:-2] + b"\x05\x00hello",
    }
    for name, data in taken.items():
        pathlib.Path("w.bin").write_bytes(data)
        check(f"weights: {name}", weighted(), None)
    refused = {
        "empty": b"", "length alone": struct.pack("<Q", 2), "a length beyond the file": struct.pack("<Q", 1 << 40) + b"{}",
        "a length of 2^64": struct.pack("<Q", (1 << 64) - 1) + b"{}", "no JSON": safetensors(b"hello"), "a list": safetensors(b"[]"),
        "open JSON": safetensors(b'{"a": {'), "deep JSON": safetensors(b'{"a":' * 100_000), "overlapping": changed(data_offsets=[20, 28]),
        "offsets beyond the file": changed(data_offsets=[24, 1 << 40]), "offsets that end before they begin": changed(data_offsets=[32, 24]),
        "negative offsets": changed(data_offsets=[-8, 0]), "three offsets": changed(data_offsets=[24, 28, 32]), "no offsets": changed(drop="data_offsets"),
        "no type": changed(drop="dtype"), "no shape": changed(drop="shape"), "an unknown type": changed(dtype="F33"), "a number for the type": changed(dtype=3),
        "another type": changed(dtype="F16", data_offsets=[24, 28]), "double floats": safetensors({**WHOLE, "linear.bias": {
            "dtype": "F64", "shape": [1], "data_offsets": [24, 32]}}), "another size": changed(shape=[1], data_offsets=[24, 28]),
        "a negative dim": changed(shape=[-2]), "a product that wraps": changed(shape=[1 << 62, 4, 2]), "a fraction": changed(shape=[2.0]),
        "one that the model lacks": safetensors({**WHOLE, "none": {"dtype": "F32", "shape": [0], "data_offsets": [32, 32]}}),
        "one missing": safetensors({"linear.weight": WHOLE["linear.weight"]}),
        "one twice": safetensors(b'{"linear.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"linear.bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}'),
        "compressed and damaged": damaged(npz(members, zipfile.ZIP_DEFLATED)),
        "compressed in another way": npz(members, zipfile.ZIP_BZIP2), "an index without a map": b'{"metadata": {}}', "an index of a missing file": b'{"weight_map": {"linear.weight": "no.safetensors"}}',
        "an index of itself": b'{"weight_map": {"linear.weight": "w.bin"}}', "half an index": b'{"weight_map": {"linear.weight": ', "a deep index": b'{"weight_map": {}, "a": ' + b"[" * 100_000,
        "a pickle": b"\x80\x02}q\x00.", "torch.save": npz([("archive/data.pkl", b"\x80\x02}q\x00."), ("archive/byteorder", b"little")]),
        "a member twice": npz([*members, members[1]]), "an empty archive": npz([]),
        "a member missing": npz(members[:1]), "no array in a member": npz([members[0], ("linear.bias.npy", b"hello")]),
        "half an archive": npz(members)[: len(npz(members)) // 2], "an archive without its end": npz(members)[:-22],
        "big-endian": npz([members[0], ("linear.bias.npy", npy(descr="'>f4'", shape="(2,)", data=bytes(8)))]),
        "Fortran order": npz([("linear.weight.npy", npy(fortran="True")), members[1]]),
        "a member beyond the archive": npz(members).replace(struct.pack("<II", len(bias), len(bias)), struct.pack("<II", 1 << 30, 1 << 30)),
    }
    for name, data in refused.items():
        pathlib.Path("w.bin").write_bytes(data)
        check(f"weights: {name}", weighted(), "w.bin")
    os.remove("w.bin")


def weighted():
    return ["export", "model.py:Model", "--input", "x=f32[2,3]", "--weights", "w.bin"]


def main():
    start, folder = os.getcwd(), tempfile.mkdtemp(prefix="pellucid-hostile-")
    try:
        os.chdir(folder)
        with open("model.py", "w") as file, pathlib.Path("kernel.py").open("w") as kernel:
            file.write(MODEL)
            kernel.write("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef copy(x, y, BLOCK: tl.constexpr):\n"
                         "    i = tl.arange(0, BLOCK)\n    tl.store(y + i, tl.load(x + i, mask=i < 1), mask=i < 1)\n")
        pathlib.Path("good.npy").write_bytes(npy())
        done = run("compile", "model.py:Model", "--input", "x=f32[2,3]", "-o", "model.plc")
        assert done.returncode == 0, done.stderr
        for part in (sources, imports, arrays, weights):
            part()
    finally:
        os.chdir(start)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count - len(problems)} of {count} ok")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
