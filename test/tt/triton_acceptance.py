# SPDX-License-Identifier: Apache-2.0
"""Lets the installed Triton read every TTIR file that tt_text_test printed in its spelling.

A file printed in the version it came from must be the very module of the original: Triton prints both and the texts are
compared. One printed in another version's spelling must be accepted.
Usage: triton_acceptance.py PYTHON PRINTED DATA. Exits 77 (skipped) where PYTHON has no triton.
"""
import pathlib
import subprocess
import sys

INSIDE = r"""
import pathlib, re, sys, tempfile
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

printed, data = map(pathlib.Path, sys.argv[1:3])
version = ".".join(triton.__version__.split(".")[:2])
backend = make_backend(GPUTarget("cuda", 90, 32))


def read(path):
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return str(ir.parse_mlir_module(str(path), context))


same = accepted = skipped = failed = 0
for path in sorted((printed / version).glob("*/*.ttir")):
    text = path.read_text()
    gone = r"make_tensor_ptr|advance" if version != "3.6" else r"atomic_load|atomic_store|atomic_poll|approx_divf"
    if re.search(r"\btt\.(%s)\b" % gone, text):
        skipped += 1
        continue
    try:
        module = read(path)
    except RuntimeError as error:
        print("refused:", path, error)
        failed += 1
        continue
    if path.parent.name != version:
        accepted += 1
        continue
    if module == read(data / version / path.name):
        same += 1
    else:
        print("differs:", path)
        failed += 1
print(f"triton {triton.__version__}: {same} equal, {accepted} of other versions accepted, "
      f"{skipped} with operations it does not have skipped, {failed} failed")
sys.exit(1 if failed or not same else 0)
"""


def main():
    python, printed, data = sys.argv[1:4]
    probe = subprocess.run([python, "-c", "import triton"], capture_output=True)
    if probe.returncode != 0:
        print(f"skipped: triton not installed in {python}")
        sys.exit(77)
    result = subprocess.run([python, "-c", INSIDE, printed, data])
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
