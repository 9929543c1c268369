#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the archives in data/ and compares each recorded call with what PyTorch gave (make_archives.py).

    archives_test.py PROGRAM
    archives_test.py --fix-page      writes the list of composites in docs/archives.md anew

Exit code 77 where numpy is missing.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, COMPOSITES = ROOT / "docs/archives.md", sorted((ROOT / "src/trace/torch").glob("aten*.py"))


def page_with_list():
    text = "".join(path.read_text() for path in COMPOSITES)
    names = sorted(name.removeprefix("aten::") for name in set(re.findall(r'^@_aten\("(\w+::[\w.]+)\(', text, re.M)))
    lines, line = [], ""
    for name in names:
        word = f"`{name}`" + ("," if name != names[-1] else "")
        if len(line) + len(word) > 130:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    text = "<!-- composites -->\n" + "\n".join([*lines, line]) + "\n<!-- end -->"
    return re.sub(r"<!-- composites -->.*?<!-- end -->", lambda _: text, PAGE.read_text(), flags=re.S)


if sys.argv[1:] == ["--fix-page"]:
    PAGE.write_text(page_with_list())
    sys.exit()

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tool import pellucid  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parent / "data"


def numbered(arrays, prefix):
    found = []
    while f"{prefix}.{len(found)}" in arrays:
        found.append(arrays[f"{prefix}.{len(found)}"])
    return found


def check_cases(folder, archive):
    package = folder / "model.plc"
    pellucid("compile", archive, "-o", package, "--target", "cpu:x86-64-v3")
    names = [i["name"] for i in json.loads(pellucid("inspect", package, "--json"))["inputs"]]
    arrays, case = np.load(archive.with_suffix(".npz")), 0
    while inputs := numbered(arrays, f"{case}.in"):
        words = ["run", package]
        assert len(names) == len(inputs), f"{archive.name}: inputs {names} for {len(inputs)} tensors"
        for name, value in zip(names, inputs):
            np.save(folder / f"{name}.npy", value)
            words += ["--input", f"{name}=@{folder / name}.npy"]
        expected = numbered(arrays, f"{case}.out")
        for i in range(len(expected)):
            words += ["--output", folder / f"out{i}.npy"]
        pellucid(*words)
        for i, value in enumerate(expected):
            got = np.load(folder / f"out{i}.npy")
            assert got.dtype == value.dtype and got.shape == value.shape, f"{archive.name}: result {i} is {got.dtype}{got.shape}, not {value.dtype}{value.shape}"
            np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5, err_msg=f"{archive.name}, call {case}, result {i}")
        case += 1
    assert case, f"{archive.name} has no calls"


def check_verbs(folder):
    """Every verb that takes a model takes an archive."""
    net = DATA / "net.pt2"
    arrays = np.load(net.with_suffix(".npz"))
    np.save(folder / "x.npy", arrays["0.in.0"])
    pellucid("run", net, "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "y.npy", "--target", "cpu:x86-64-v3")
    np.testing.assert_allclose(np.load(folder / "y.npy"), arrays["0.out.0"], rtol=1e-5, atol=1e-5)
    assert "linear" in pellucid("inspect", net)
    pellucid("explain", net)
    pellucid("bench", net, "--seconds", "0.05")
    pellucid("export", net, "-o", folder / "net.program")
    pellucid("compile", folder / "net.program", "-o", folder / "a.plc", "--target", "cpu:x86-64-v3")
    refused = pellucid("compile", net, "-o", folder / "b.plc", "--dtype", "bf16", fails=True)
    assert "is for Python models" in refused and "an archive" in refused, refused


def check_records():
    """The parameters of each composite's body are its schema's arguments, and the page lists it."""
    for schema, parameters in re.findall(r'^@_aten\("aten::(.*)"\)\ndef \w+\((.*)\):$', "".join(path.read_text() for path in COMPOSITES), re.M):
        inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
        arguments = [a.split("=")[0].split()[-1] for a in re.split(r",\s*(?![^\[(]*[\])])", inside) if a.strip() not in ("", "*")]
        assert [p for p in parameters.replace(" ", "").split(",") if p] == arguments, schema
    assert page_with_list() == PAGE.read_text(), "docs/archives.md lacks composites: archives_test.py --fix-page"


def check_state(folder):
    """A buffer that changes goes from call to call: in a file of state, or as an input in a folder."""
    package, arrays = folder / "state.plc", np.load(DATA / "counter.npz")
    pellucid("compile", DATA / "counter.pt2", "-o", package, "--target", "cpu:x86-64-v3")
    for case in range(3):
        np.save(folder / "x.npy", arrays[f"{case}.in.0"])
        said = pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--state", folder / "s.safetensors", "--output", folder / "y.npy", "--output", folder / "n.npy")
        assert ("continued" if case else "from the package's beginning") in said, said
        np.testing.assert_allclose(np.load(folder / "y.npy"), arrays[f"{case}.out.0"], rtol=1e-5, atol=1e-5)
        assert np.load(folder / "n.npy") == case + 1
    pellucid("compile", DATA / "counter.pt2", "-o", package, "--state-as-inputs", "--state", folder, "--target", "cpu:x86-64-v3")
    assert np.load(folder / "calls.npy") == 0
    for case in range(3):
        np.save(folder / "x.npy", arrays[f"{case}.in.0"])
        pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--state", folder, "--output", folder / "y.npy", "--output", folder / "n.npy")
        np.testing.assert_allclose(np.load(folder / "y.npy"), arrays[f"{case}.out.0"], rtol=1e-5, atol=1e-5)
        assert np.load(folder / "n.npy") == np.load(folder / "calls.npy") == case + 1


def check_missing(folder):
    """Everything that is missing, at once."""
    said = pellucid("compile", DATA / "missing.pt2", "-o", folder / "m.plc", fails=True)
    assert "an operator of this archive is not there" in said, said
    assert "example::twice(Tensor x, SymInt n) -> Tensor: an operator of the model's own" in said, said


GELU = """
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def gelu_kernel(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < size)
    tl.store(out + at, 0.5 * value * (1 + tl.erf(value * 0.7071067811865476)), mask=at < size)


@triton_op("example::gelu", mutates_args={})
def gelu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(gelu_kernel)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


@gelu.register_kernel("cpu")
def gelu_on_cpu(x):
    return torch.nn.functional.gelu(x)
"""


def check_kernels(folder):
    """Operators of the archive's own, with a function for the CPU beside the kernel: which of them it is, --device says where nothing is compiled."""
    (folder / "ops.py").write_text(GELU)
    archive, package = folder / "own.pt2", folder / "own.plc"
    with zipfile.ZipFile(DATA / "net.pt2") as whole, zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as own:
        for info in whole.infolist():
            content = whole.read(info)
            if info.filename.endswith("models/model.json"):
                graph = json.loads(content)
                node = next(n for n in graph["graph_module"]["graph"]["nodes"] if n["target"] == "torch.ops.aten.gelu.default")
                node["target"], node["inputs"] = "torch.ops.example.gelu.default", [{**node["inputs"][0], "name": "x"}]
                content = json.dumps(graph).encode()
            own.writestr(info.filename, content)
    words = (archive, "--kernels", folder / "ops.py")
    assert "no edges" in pellucid("explain", *words)
    assert "gelu_kernel" in pellucid("explain", *words, "--device", "cuda")
    said = pellucid("explain", DATA / "net.pt2", "--device", "cuda", fails=True)
    assert "--device: error: is for Python models" in said, said
    arrays = np.load(DATA / "net.npz")
    np.save(folder / "x.npy", arrays["0.in.0"])
    for text in (GELU, GELU[: GELU.index("@gelu.reg")]):
        (folder / "ops.py").write_text(text)
        pellucid("compile", *words, "-o", package, "--target", "cpu:x86-64-v3")
        assert ("gelu_kernel" in pellucid("inspect", package, "--json")) == ("register_kernel" not in text)
        pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "y.npy")
        np.testing.assert_allclose(np.load(folder / "y.npy"), arrays["0.out.0"], rtol=1e-5, atol=1e-5)


def check_damage(folder):
    """One line, wherever the file was cut."""
    whole = (DATA / "net.pt2").read_bytes()
    cut = folder / "cut.pt2"
    for size in (0, 100, len(whole) // 2, len(whole) - 30):
        cut.write_bytes(whole[:size])
        said = pellucid("compile", cut, "-o", folder / "c.plc", fails=True)
        assert "error:" in said and said.count("\n") <= 2, said


def main():
    archives = sorted(DATA.glob("*.pt2"))
    assert archives
    subprocess.run([sys.executable, pathlib.Path(__file__).resolve().parent / "claims_test.py"], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check_records()
        for archive in archives:
            if archive.stem not in ("counter", "missing"):
                check_cases(folder, archive)
        check_state(folder)
        check_missing(folder)
        check_kernels(folder)
        check_verbs(folder)
        check_damage(folder)
    print(f"{len(archives)} archives")


main()
