# SPDX-License-Identifier: Apache-2.0
"""Compares the IR of every case in kernels/*.py with what Triton's own front end makes of the same source.

Both modules go through Triton's make_ttir passes, so that inlining, folding and common subexpressions do not count.
Then the operations are compared as a multiset of (name, attributes that matter, types).
Usage: compare_with_triton.py PYTHON EMIT_KERNEL [FILE.py ...]. Exits 77 (skipped) where PYTHON has no triton.
"""
import ast
import collections
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Kernels that are other operations than Triton's on purpose.
OF_ITS_OWN = {"sorting_integers"}  # one direction for all exchanges: docs/design/0034


def split_top_level(text):
    parts, nesting = [""], 0
    for c in text:
        nesting += (c in "([") - (c in ")]")
        if c == "," and nesting == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def specialisation(jit, text):
    """Triton's signature, constexprs and attributes of a case."""
    import triton.language as tl
    signature, constants, attributes, names = {}, {}, {}, list(jit.arg_names)
    pending = [n for n in names]
    for entry in split_top_level(text):
        if "=" in entry:
            name, value = (s.strip() for s in entry.split("=", 1))
            constants[name] = getattr(tl, value[3:]) if value.startswith("tl.") else ast.literal_eval(value)
            pending.remove(name)
    for entry in split_top_level(text):
        if "=" in entry:
            continue
        name = pending.pop(0)
        if entry == "None":
            constants[name] = None
            continue
        kind, _, divisor = entry.partition(":")
        signature[name] = kind
        if divisor:
            attributes[(names.index(name), )] = [["tt.divisibility", int(divisor)]]
    for name in pending:
        default = jit.signature.parameters[name].default
        constants[name] = getattr(default, "value", default)
    for name in constants:
        signature[name] = "constexpr"
    return {n: signature[n] for n in names}, constants, attributes


def histogram(text):
    """(operation, types) counted; names of values are dropped, constants keep their value."""
    counts = collections.Counter()
    for line in text.splitlines():
        line = re.sub(r" loc\(.*\)$", "", line.strip())
        match = re.match(r"(?:%\S+(?:, %\S+)* = )?\"?([a-z_]+\.[a-z_.0-9]+)\"?(.*)$", line)
        if not match or match.group(1) in ("scf.yield", "tt.return", "tt.func", "cf.br", "tt.reduce.return", "tt.scan.return"):
            continue
        name, rest = match.groups()
        if name == "arith.constant" and rest.strip() == "true":
            continue
        if name == "arith.constant":
            counts[name, rest.strip()] += 1
            continue
        # Triton branches around an early return where ours is structured.
        if name in ("scf.for", "scf.if", "scf.while", "cf.cond_br"):
            counts[name.replace("cf.cond_br", "scf.if"), ""] += 1
            continue
        rest = re.sub(r"%[-\w#]+", "", rest)
        # A reshape or bitcast to the same type does nothing, and Triton's library asserts what it has just tested.
        same = re.search(r": (\S+) -> (\S+)$", rest)
        if same and same.group(1) == same.group(2) and name in ("tt.reshape", "tt.bitcast"):
            continue
        if name == "tt.assert" and "Expecting input to be integer type" in rest:
            continue
        # What a target adds up of float8 before it is precise: ours are those of sm_90, for every target.
        rest = rest.replace("{maxNumImpreciseAcc = 1073741824 : i32}", "")
        rest = re.sub(r"\{[^{}]*(divisibility|contiguity|constancy|pellucid)[^{}]*\}", "", rest)
        counts[name, re.sub(r"[\s,]+", " ", rest)] += 1
    return counts


def main_inside(emit, files):
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({"debug": True, "sanitize_overflow": False})
    equal = own = differing = failed = alone = 0

    def new_context():
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        return context

    def finished(module):
        return str(backend.make_ttir(module, {}, options, 90))

    for path in files:
        output = subprocess.run([emit, path], capture_output=True, text=True)
        ours = dict(re.findall(r"^// case: (.*?)\n(.*?)(?=^// case: |\Z)", output.stdout, re.M | re.S))
        spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if output.stderr:
            print(f"{path}:\n{output.stderr}")
        for kernel, text in module.CASES:
            name = f"{pathlib.Path(path).name}:{kernel} ({text})"
            jit = getattr(module, kernel)
            while hasattr(jit, "configs") or hasattr(jit, "values"):
                jit = jit.fn
            mine = ours.get(f"{kernel} | {text}")
            try:
                signature, constants, attributes = specialisation(jit, text)
                source = ASTSource(jit, signature, constants, attributes)
                context = new_context()
                theirs = source.make_ir(GPUTarget("cuda", 90, 32), options, backend.get_codegen_implementation(options),
                                        backend.get_module_map(), context)
                theirs = histogram(finished(theirs))
            except Exception as error:
                first = str(error).strip().splitlines()
                print(f"{'triton refuses' if mine else 'both refuse'}: {name}: {first[-1] if first else type(error)}")
                alone += 1
                continue
            if mine is None:
                print(f"FAILED, refused: {name}")
                failed += 1
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
                file.write(mine)
                file.flush()
                try:
                    context = new_context()
                    parsed = ir.parse_mlir_module(file.name, context)
                    parsed.context = context
                    mine = histogram(finished(parsed))
                except RuntimeError as error:
                    print(f"FAILED, not read by Triton: {name}: {error}")
                    failed += 1
                    continue
            if mine == theirs and kernel not in OF_ITS_OWN:
                equal += 1
                continue
            if kernel in OF_ITS_OWN:
                own += 1
                continue
            differing += 1
            print(f"differs: {name}")
            for what, count in sorted((mine - theirs).items()):
                print(f"    only ours   {count}x {what}")
            for what, count in sorted((theirs - mine).items()):
                print(f"    only Triton {count}x {what}")
    print(f"triton {triton.__version__}: {equal} equal, {own} of our own, {differing} differ, {failed} failed, {alone} refused by Triton")
    sys.exit(1 if failed or differing or not equal else 0)


def main():
    python, emit, *files = sys.argv[1:]
    if python == "--inside":
        main_inside(emit, files)
    if subprocess.run([python, "-c", "import triton"], capture_output=True).returncode != 0:
        print(f"skipped: triton not installed in {python}")
        sys.exit(77)
    files = files or sorted(str(p) for p in (pathlib.Path(__file__).parent / "kernels").glob("*.py"))
    sys.exit(subprocess.run([python, __file__, "--inside", emit, *files]).returncode)


if __name__ == "__main__":
    main()
