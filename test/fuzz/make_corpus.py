#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpus of the fuzz targets: a folder per target with small well-formed files.

make_corpus.py OUT --sample WRITE_SAMPLE_PACKAGE [--pellucid PELLUCID]   (of a build)

With --pellucid also saved programs; and OUT/TARGET.dict, words for libFuzzer's -dict.
"""
import argparse
import ast
import builtins
import io
import json
import keyword
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def npy(dtype, shape, data, fortran=False):
    header = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("layer.weight.npy", npy("<f4", (2, 3), bytes(24)))
        archive.writestr("layer.bias.npy", npy("<i8", (), bytes(8)))
    return out.getvalue()


def safetensors(entries, metadata=None):
    header, offset = ({"__metadata__": metadata} if metadata else {}), 0
    for name, dtype, shape, size in entries:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(offset)


def tensors():
    yield "f4.npy", npy("<f4", (2, 3), bytes(24))
    yield "fortran.npy", npy("|u1", (3, 2), bytes(6), True)
    yield "empty.npy", npy("<f2", (0, 5), b"")
    yield "stored.npz", npz(zipfile.ZIP_STORED)
    yield "deflated.npz", npz(zipfile.ZIP_DEFLATED)
    yield "two.safetensors", safetensors([("a.weight", "F32", [2, 2], 16), ("b", "BF16", [3], 6)])
    yield "meta.safetensors", safetensors([("x", "I64", [], 8)], {"format": "pt"})


def archives():
    """With the checksums and without, so that changes reach what the records say."""
    for path in sorted((ROOT / "test/archive/data").glob("*.pt2")):
        whole = path.read_bytes()
        yield path.name, whole
        bare, at = bytearray(whole), -1
        while (at := whole.find(b"PK\x01\x02", at + 1)) >= 0:
            bare[at + 16 : at + 20] = bytes(4)
        yield f"bare_{path.name}", bytes(bare)
    yield "size", b"floor(Add(Rational(1, 2), Mul(Rational(3, 2), Symbol('s27', positive=True, integer=True))))"
    yield "json", b'{"a": [1, -2.5e3, "x\\n\\u00e9", true, null, NaN], "b": {"as_int": 3}}'


def package(sample, scratch):
    path = scratch / "sample.plc"
    subprocess.run([sample, str(path)], check=True, stdout=subprocess.DEVNULL)
    whole = path.read_bytes()
    yield "package", "whole.plc", whole
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        yield "package", "manifest", b"m" + archive.read("manifest.bin")
        for name in archive.namelist():
            if name.endswith(".elf"):
                yield "elf", pathlib.PurePath(name).name, archive.read(name)
    path.unlink()


def python_files():
    cases = "".join(path.read_text() for path in sorted((ROOT / "test/host/cases").glob("*.py")))
    for name, text in re.findall(r"# case: (\S+)\n(.*?)(?=# case: |\Z)", cases, re.S):
        yield f"case_{name}.py", text.encode()
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield path.name, path.read_bytes()


def script_files():
    """Programs of `pellucid exec`: of each test's script some statements at a time, with what it defines."""
    yield from ((name, text) for name, text in python_files() if name.startswith("case_"))
    for path in sorted((ROOT / "test/e2e/exec").glob("*/*.py")):
        text = path.read_text()
        lines = text.splitlines()
        pieces = [("\n".join(lines[min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1 : node.end_lineno]), node) for node in ast.parse(text).body]
        defines = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
        others = [at for at, (_, node) in enumerate(pieces) if not isinstance(node, defines)]
        for number in range(0, len(others), 4):
            chosen = others[number : number + 4]
            yield f"{path.stem}_{number}.py", "\n".join(piece for at, (piece, node) in enumerate(pieces) if at in chosen or (at < chosen[-1] and isinstance(node, defines))).encode()


def kernel_files():
    """Every kernel of the tests by itself, with the imports, constants and helpers that it names."""
    paths = [path for folder in ("examples", "test/e2e/kernels", "test/frontend/kernels") for path in sorted((ROOT / folder).glob("*.py"))]
    for path in paths:
        text = path.read_text()
        defined, imports = {}, []
        for node in ast.parse(text).body:
            source = "\n".join(text.splitlines()[min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1 : node.end_lineno])
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.append(source)
            names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)] + [getattr(node, "name", "")]
            defined |= {name: (source, {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}) for name in names if name}
        for name, (source, _) in defined.items():
            if "jit" not in source.split("def ")[0]:
                continue
            needed, open_names = [name], [name]
            while open_names:
                for other in sorted(defined[open_names.pop()][1]):
                    if other in defined and other not in needed:
                        needed.append(other)
                        open_names.append(other)
            pieces = dict.fromkeys(defined[one][0] for one in defined if one in needed)
            yield f"{path.stem}_{name}.py", "\n".join([*imports, "", *pieces, ""]).encode()


def ttir_files():
    for path in sorted((ROOT / "test/tt").rglob("*.mlir")):
        for number, piece in enumerate(path.read_text().split("// -----")):
            if len(piece) < 4000:
                yield f"{path.stem}_{number}", piece.encode()


PROGRAM = """pellucid.program 1
strict False
symbol b 1..64 hint 8
kernel "add" {
  name "add"
  source "kernels.py" 8
  numerics contract_fma True tf32 True triton 36
  parameter x pointer f32 read
  parameter y pointer f32 write
  parameter n scalar i32
  parameter BLOCK constant 64
  ttir
    |module {
    |  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
    |    tt.return
    |  }
    |}
}
main {
  %x: f32[b, 8] = placeholder x
  %w: f32[8, 4] = placeholder w
  %matmul: f32[b, 4] = call matmul aten.matmul.default(%x, %w) at "m.py" 3 20 3 25
  %relu: f32[b, 4] = call relu aten.relu.default(%matmul) at "m.py" 3 9 3 26
  %sum_1: f32[b] = call sum_1 aten.sum.dim_IntList(%relu, [-1]) at "m.py" 4 12 4 21
  %mul: f32[b, 4] = call mul aten.mul.Tensor(%relu, 2.0) at "m.py" 4 37 4 44
  %cat: f32[b*2, 4] = call cat aten.cat.default([%relu, %mul]) at "m.py" 4 23 4 49
  output output(%sum_1, %cat) at "m.py" 4 23 4 49
}
input user_input "x"
input user_input "w"
result user_output
result user_output
end
"""


def programs(pellucid):
    without_kernel = re.sub(r'kernel "add" \{.*?\n\}\n', "", PROGRAM, flags=re.S)
    yield "with_kernel", PROGRAM.encode()
    yield "without_kernel", without_kernel.encode()
    if pellucid:
        yield from saved_programs(pellucid)


def saved_programs(pellucid):
    folder = ROOT / "test/e2e/aliasing"
    with tempfile.TemporaryDirectory() as scratch:
        source, saved = pathlib.Path(scratch, "model.py"), pathlib.Path(scratch, "model.program")
        for number, program in enumerate(json.loads((folder / "random.json").read_text())[:80]):
            lines = [f"def model({', '.join(program['inputs'])}):", *program["body"], f"return [{', '.join(program['results'])}]"]
            source.write_text((folder / "model_header.py").read_text() + "\n\n" + "\n    ".join(lines) + "\n")
            inputs = [f"{name}=f32[{','.join('n=4:1..6' if size == 'n' else str(size) for size in sizes)}]" for name, sizes in program["inputs"].items()]
            words = [word for text in inputs for word in ("--input", text)]
            if subprocess.run([pellucid, "export", f"{source}:model", *words, "-o", str(saved)], capture_output=True).returncode == 0:
                yield f"random_{number}", saved.read_bytes()


def dictionaries():
    """Words that a change of single bytes would not find."""
    python = keyword.kwlist + dir(builtins) + ["    ", "\n    ", ":\n", "**", "//=", "->", ":=", "__init__", "__class__", "self", "0x7fffffffffffffff", "1e309", "f\"{", "\"\"\""]
    language = sorted({word for _, text in kernel_files() for word in re.findall(r"\b(?:tl|triton)(?:\.\w+)+", text.decode())})
    tensors = sorted({word for _, text in script_files() for word in re.findall(r"\b(?:tl|torch|triton|F|nn)(?:\.\w+)+|\.\w+\(", text.decode())}) + ["-1", "0", "2", "None", "[]", "()", "torch.tensor(2)", "torch.ones(0)", "..."]
    mlir = sorted({word for _, text in ttir_files() for word in re.findall(r"[\w.]*\w+\.\w+|tensor<\w+>|!tt\.ptr<\w+>|\b[if]\d+\b|dense<\w+>", text.decode())})
    operators = re.findall(r"aten\.[\w.]+", (ROOT / "docs/operators.md").read_text())
    program = sorted(set(re.findall(r"[\w.]+", PROGRAM))) + operators + ["None", "nan", "inf", "-1", "9223372036854775807", "`b + 1`", "i64", "bool", "f16", "u8"]
    yield from (("python", python), ("host", python), ("scripts", python + tensors), ("kernels", python + language), ("ttir", mlir), ("program", program))


def calls():
    """Choices for the built-ins: every number of arguments, every value somewhere."""
    seeds = random.Random(1)
    for number in range(40):
        yield f"calls_{number}", bytes(seeds.randrange(256) for _ in range(24))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sample", required=True, help="the program write_sample_package")
    parser.add_argument("--pellucid", help="the program pellucid, to save programs with")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    files = [("tensors", *entry) for entry in tensors()]
    files += [("archive", *entry) for entry in archives()]
    files += package(arguments.sample, arguments.out)
    for target in ("python", "host"):
        files += [(target, *entry) for entry in python_files()]
    files += [("scripts", *entry) for entry in script_files()]
    files += [("kernels", *entry) for entry in kernel_files()]
    files += [("ttir", *entry) for entry in ttir_files()]
    files += [("program", *entry) for entry in programs(arguments.pellucid)]
    files += [("builtins", *entry) for entry in calls()]
    for target, name, contents in files:
        folder = arguments.out / target
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(contents)
    for target, words in dictionaries():
        lines = sorted({"".join(f"\\x{byte:02x}" if byte < 32 or byte > 126 or chr(byte) in '"\\' else chr(byte) for byte in word.encode()) for word in words})
        (arguments.out / f"{target}.dict").write_text("".join(f'"{line}"\n' for line in lines if line))
    print(f"{len(files)} files in {arguments.out}")


if __name__ == "__main__":
    main()
