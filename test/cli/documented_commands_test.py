#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example of --help and every block of sh, C, C++ and Python in README.md and docs/ works, and gives what is expected.

    documented_commands_test.py PROGRAM SOURCE [CC CXX DOCUMENTED_PROGRAM]

They run in an empty folder beside links to the checkout's examples/, include/ and build. The programs are compiled where
compilers are named; DOCUMENTED_PROGRAM is what the pieces of docs/cpp-api.md were built into. Standard library only.
"""
import array
import ast
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
COMPILERS = sys.argv[3:5]
DOCUMENTED_PROGRAM = sys.argv[5] if len(sys.argv) > 5 else None
# compile first: the examples of the verbs that read a package take the one it writes.
VERBS = ("compile", "kernels", "launch", "export", "run", "inspect", "explain", "profile", "bench", "doctor", "exec")
# What each command prints. A command without a line here fails.
PRINTS = {
    "kernels": [r"ok +silu_kernel \(line \d+\)", r"in_ptr +pointer +read\n", r"out_ptr +pointer +write\n", r"n_elements +scalar", r"BLOCK_SIZE +constexpr"],
    "export": [r"placeholder +x ", r"call_function +linear +aten\.linear\.default", r"call_function +\w+ +(triton_kernel_wrapper_mutation|examples\.silu\.default)",
               r"output +output"],
    "compile": [r"model\.plc: \d+ kernel\(s\), \d+ edge\(s\) fused"],
    "run": [r"y\.npy +f32\[16, 128\]"],
    "inspect": [r"input +x +f32\[batch, 128\] +batch in 1\.\.1024", r"output +\S+ +f32\[batch, 128\]", r"cpu:x86-64-v3, cpu:x86-64-v4", r"launch +\S*silu_kernel"],
    "explain": [r"not fused +linear -> silu_kernel: '.+' is not pointwise"],
    "profile": [r"trace\.json: \d+ call\(s\)", r"silu_kernel +\d+"],
    "bench": [r"calls +\d+", r"median +[\d.]+ us", r"copy ceiling", r"source to package"],
    "doctor": [r"pellucid +0\.", r"CPU +.+x86-64-v[34]", r"code generation +.+pellucid-worker", r"CUDA "],
    "exec": [r"call_function +silu +examples\.silu\.default", r"compiled \((\d+), 64\) True", r"packaged \(\d+, 64\) True"],
    "launch": [r"silu_kernel: (native on cpu:x86-64-v[34](\+\w+)?|reference|sanitizer), "],
}


def run(command, where):
    done = subprocess.run(command, shell=True, cwd=where, env={"PATH": f"{PROGRAM.parent}:{where}/tools:/usr/bin:/bin"}, timeout=900,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def numbers(file):
    """A .npy of f32."""
    data = file.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:start].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    values = array.array("f", data[start:])
    assert len(values) == math.prod(header["shape"]), (file, len(values), header)
    return header["shape"], values


def computes_silu(where):
    """silu.npy against a formula in double."""
    shape, x = numbers(SOURCE / "examples/x.npy")
    found, y = numbers(where / "silu.npy")
    wrong = [i for i, (a, b) in enumerate(zip(x, y)) if not abs(b - a / (1 + math.exp(-a))) <= 2e-7 * max(1, abs(a))]
    if found != shape or wrong:
        yield "silu.npy", f"shape {found}, {len(wrong)} wrong elements, first at {wrong[:1]}"


def check_command(command, where):
    verb = command.split()[1]
    written = {name: where / name for name in re.findall(r"(?:-o |--output |--out out_ptr=)([\w.]+)", command)}
    for file in written.values():
        file.unlink(missing_ok=True)
    code, text, error = run(command, where)
    if code != 0:
        yield command, f"exit code {code}: {error}"
        return
    for pattern in PRINTS.get(verb, [r"a line of PRINTS for this verb"]):
        if not re.search(pattern, text):
            yield command, f"'{pattern}' is not in what it prints:\n{text}"
    for line in error.splitlines():
        if line and not line.startswith("note: "):
            yield command, f"it complains: {line}"
    for name, file in written.items():
        if not file.exists() or not file.stat().st_size:
            yield command, f"{name} is not written"
    if "silu.npy" in written:
        yield from computes_silu(where)
    if "trace.json" in written:
        json.loads(written["trace.json"].read_text())


def help_examples(where):
    for verb in VERBS:
        code, text, error = run(f"pellucid {verb} --help", where)
        examples = re.findall(r"^  (pellucid .*)$", text, re.MULTILINE)
        if code != 0 or len(examples) != 1 or f" {verb} " not in examples[0] + " ":
            yield f"pellucid {verb} --help", f"exit code {code}, examples {examples} {error}"
        for example in examples:
            yield from check_command(example, where)


class Block:
    def __init__(self, document, line, language, text):
        self.place, self.language, self.text = f"{document.relative_to(SOURCE)}:{line}", language, text
        self.commands = [line.split("  #")[0].strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def blocks():
    for document in [SOURCE / "README.md", *sorted(SOURCE.glob("docs/**/*.md"))]:
        text = document.read_text()
        for found in re.finditer(r"^ *```(\S+)\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
            yield Block(document, text[: found.start()].count("\n") + 1, found[1], found[2])


def documented_blocks(where):
    """Every block in the order of the documents; one that nothing here knows how to run fails."""
    (where / "tools").mkdir()
    for name, compiler in zip(("cc", "c++"), COMPILERS):
        os.symlink(compiler, where / "tools" / name)
    (where / "build").mkdir()
    os.symlink(PROGRAM.parent.parent, where / "build" / "release")
    os.symlink(SOURCE / "include", where / "include")
    for name in ("silu_model.py", "silu_kernels.py"):
        shutil.copy(SOURCE / "examples" / name, where / name.replace("silu_model", "model"))
    ran = 0
    for block in blocks():
        check = {"sh": check_shell, "python": check_python, "c": check_c, "cpp": check_cpp, "cmake": check_cmake}.get(block.language)
        problems = [(block.place, f"a block of {block.language} that this test cannot run")] if not check else check(block, where)
        for what, why in problems:
            yield f"{block.place}: {what}", why
        ran += 1
    if ran < 15:
        yield "documents", f"only {ran} blocks were found"


def check_shell(block, where):
    for command in block.commands:
        word = command.split()[0]
        if word == "pellucid":
            yield from check_command(command, where)
        elif word in ("cc", "c++"):
            yield from check_compiled(command, where) if COMPILERS else []
        elif word in ("cmake", "ctest"):
            presets = json.loads((SOURCE / "CMakePresets.json").read_text())
            known = {kind: {p["name"] for p in presets[f"{kind}Presets"]} for kind in ("configure", "build", "test")}
            for part in command.split("&&"):
                kind = "test" if "ctest" in part else "build" if "--build" in part else "configure"
                for name in re.findall(r"--preset (\S+)", part):
                    if name not in known[kind]:
                        yield command, f"CMakePresets.json has no {kind} preset {name}"
        elif word.startswith(("scripts/", "test/")):
            # They build and run all of this: that they are there has to do.
            if not os.access(SOURCE / word, os.X_OK):
                yield command, f"{word} is no program"
        elif word != "export":
            yield command, "a command that this test cannot run"


def check_compiled(command, where):
    code, text, error = run(command, where)
    if code != 0:
        yield command, f"exit code {code}: {error}"
    elif "tool.cpp" in command:
        silu = f"{2 / (1 + math.exp(-2)):.4f}"
        if text != f"at once    {silu}\na package  {silu}\n":
            yield command, f"it prints '{text}'"
        yield from ends_with_an_error("tool", "examples", where)
    else:
        zeros = where / "zeros.npy"
        header = str({"descr": "<f4", "fortran_order": False, "shape": (16, 128)}).ljust(117) + "\n"
        zeros.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(4 * 16 * 128))
        run("pellucid run model.plc --input x=@zeros.npy --output of_zeros.npy", where)
        expected = numbers(where / "of_zeros.npy")[1][0]
        if text.strip() != f"{expected:g}":
            yield command, f"it prints '{text}', the package gives {expected:g}"
        yield from ends_with_an_error("client", "model.plc", where)


def ends_with_an_error(program, needed, where):
    """Without what it reads, a program says so and its exit code is 1."""
    os.rename(where / needed, where / "gone")
    code, text, error = run(f"./{program}", where)
    os.rename(where / "gone", where / needed)
    if code != 1 or not (text + error).strip():
        yield program, f"without {needed} its exit code is {code}, and it says '{text + error}'"


# The models of the documents, and the inputs that they are compiled for.
MODELS = {"docs/autograd.md": ("Step", ["x=f32[8,64]", "y=f32[8,1]"])}


def check_python(block, where):
    document = block.place.split(":")[0]
    if document not in MODELS:
        yield block.place, "a model that this test has no inputs for"
        return
    name, inputs = MODELS[document]
    (where / "piece.py").write_text(f"import torch\nfrom torch import nn\n\n\n{block.text}")
    words = " ".join(f"--input '{text}'" for text in inputs)
    code, text, error = run(f"pellucid compile piece.py:{name} {words} -o piece.plc", where)
    if code != 0 or "kernel(s)" not in text:
        yield block.place, f"exit code {code}: {text}{error}"


# The pieces of C that are no programs, in one each. NAME is their document.
FRAMES = {
    "docs/c-abi.md": {
        "pellucid_instance_create": (["pellucid/runtime.h"], """  static float numbers[16 * 128];
  int64_t shape[] = {16, 128};
  DLTensor x = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLManagedTensorVersioned *y;
  pellucid_package *package;
  if (pellucid_load("model.plc", &package) != PELLUCID_OK)
    return puts(pellucid_last_error());
""", "pellucid_runtime"),
        "pellucid_load": (["pellucid/runtime.h"], """  static float numbers[16 * 128];
  int64_t shape[] = {16, 128};
  DLTensor x = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
""", "pellucid_runtime"),
        "pellucid_call_create": (["pellucid/runtime.h"], """  static float numbers[16 * 128], results[16 * 128];
  int64_t shape[] = {16, 128};
  DLTensor x = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}, y = x;
  y.data = results;
  pellucid_package *package;
  if (pellucid_load("model.plc", &package) != PELLUCID_OK)
    return puts(pellucid_last_error());
""", "pellucid_runtime"),
        "pellucid_compile": (["pellucid/compiler.h"], "", "pellucid"),
    },
    # It is compiled; its steps are those of examples/c_training, which has a test of its own.
    "docs/training.md": {
        "pellucid_instance_create": (["pellucid/runtime.h"], """#define makeBatch(step, x, y) ((void)(step))
  int steps = 0;
  DLTensor inputs[2] = {{0}};
  pellucid_package *package;
  if (pellucid_load("model.plc", &package) != PELLUCID_OK)
    return puts(pellucid_last_error());
""", "pellucid_runtime"),
    },
}


def check_c(block, where):
    if not COMPILERS:
        return
    if named := re.match(r"/\* (\w+\.c) \*/", block.text):
        (where / named[1]).write_text(block.text)  # the shell block after it compiles and runs it
        return
    document = block.place.split(":")[0]
    frame = next((f for word, f in FRAMES.get(document, {}).items() if f"{word}(" in block.text), None)
    if frame is None:
        yield block.place, "a piece of C that this test has no frame for"
        return
    headers, before, library = frame
    includes = "".join(f"#include <{header}>\n" for header in [*headers, "stdio.h"])
    indented = "".join(f"  {line}\n" for line in block.text.splitlines())
    (where / "piece.c").write_text(f"{includes}int main(void) {{\n{before}{indented}  return 0;\n}}\n")
    code, text, error = run(f"cc -Wall -Werror piece.c -Iinclude -Lbuild/release/lib -l{library} -lpellucid_runtime "
                            "-Wl,-rpath,$PWD/build/release/lib -o piece && ./piece", where)
    if code != 0 or text or [line for line in error.splitlines() if line and not line.startswith("note: ")]:
        yield block.place, f"exit code {code}: {text}{error}"


def check_cpp(block, where):
    if named := re.match(r"// (\w+\.cpp)", block.text):
        (where / named[1]).write_text(block.text)
    elif block.place.startswith("docs/adding-an-operator.md"):
        # A row of a table: it must stand in the sources as it stands here.
        squeezed = lambda text: re.sub(r"\s+", "", text)  # noqa: E731
        if not any(squeezed(block.text) in squeezed(file.read_text()) for file in SOURCE.glob("src/graph/ops/*.cpp")):
            yield block.place, "src/graph/ops has no such row"
    elif not block.place.startswith("docs/cpp-api.md"):
        yield block.place, "a piece of C++ that this test cannot run"
    elif DOCUMENTED_PROGRAM and not (where / "documented").exists():
        (where / "documented").mkdir()
        code, text, error = run(f"cd documented && {DOCUMENTED_PROGRAM} {SOURCE}/examples/silu_kernels.py", where)
        expected = [r"placeholder +\S*up\S*weight", r"call_function +\S+ +docs\.silu\.default", r"call_function +\S+ +aten\.mul", r"output +output"]
        missing = [pattern for pattern in expected if not re.search(pattern, text)]
        if code != 0 or missing or error:
            yield block.place, f"exit code {code}, {missing} not in: {text}{error}"


def check_cmake(block, where):
    """test/install builds projects against an installed tree; these are the names that they use."""
    used = "".join(file.read_text() for file in SOURCE.glob("test/install/**/*") if file.is_file())
    for name in re.findall(r"Pellucid::\w+", block.text):
        if name not in used:
            yield block.place, f"test/install does not use {name}"


def broken_links():
    """Links to files in every document."""
    for document in [SOURCE / "README.md", SOURCE / "CHANGELOG.md", *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("bench/**/*.md")]:
        text = re.sub(r"`[^`]*`", "", document.read_text())
        for target in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in target and not (document.parent / target).exists():
                yield str(document), f"the link to {target} leads nowhere"


def main():
    count = 0
    for check in (help_examples, documented_blocks):
        where = pathlib.Path(tempfile.mkdtemp(prefix="pellucid-documented-"))
        try:
            os.symlink(SOURCE / "examples", where / "examples")
            for what, why in check(where):
                count += 1
                print(f"FAILED {what}\n  {why}")
        finally:
            shutil.rmtree(where)
    for what, why in broken_links():
        count += 1
        print(f"FAILED {what}\n  {why}")
    print("all ok" if count == 0 else f"{count} failed")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
