#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated kernels that differ by numbers alone are compiled once: shared_kernels_test.py PROGRAM.

Counts the kernels of packages, and holds what the shared ones give, bit by bit, against kernels with the numbers in their code
(fewer than are worth sharing). Exit code 77 where numpy is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from bfloat16 import from_bf16, to_bf16  # noqa: E402

PROGRAM = sys.argv[1]
BODIES = {
    "product": "x * {0} + 1",
    "two numbers": "torch.where(x > {0}, x / {0}, x + {1})",
    "row sums": "torch.relu(x * {0} + 1).sum(-1, keepdim=True) * x",
    "softmax": "torch.softmax(x * {0}, -1)",
    "power": "torch.pow(x.abs() + {1}, 1.5) * {0}",
}
NUMBERS = ["0.1", "-0.1", "2.0", "0.5", "1e-40", "3.3333333333333335", "-0.0", "float('inf')", "float('nan')", "1e30", "7.5", "1.0"]
WHOLE = ["1", "2", "3", "4", "5", "6", "7", "8"]
FACTORY = '''
import triton
import triton.language as tl


def make(value):
    factor = tl.constexpr(value)

    @triton.jit
    def scale(x, out, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

    def call(x):
        out = torch.empty_like(x)
        scale[(1,)](x, out, 15, BLOCK=16)
        return out

    return call


KERNELS = [make(1.5 + i) for i in range(6)]


def f(x):
    return [kernel(x) for kernel in KERNELS]
'''


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kernels_and_results(folder, text, kind, level, count, x):
    (folder / "model.py").write_text(text)
    run(PROGRAM, "compile", folder / "model.py:f", "--input", f"x={kind}[3,5]", "--target", f"cpu:{level}", "--verify-each", "-o", folder / "p.plc")
    kernels = json.loads(run(PROGRAM, "inspect", folder / "p.plc", "--json"))["kernels"]
    np.save(folder / "x.npy", to_bf16(x) if kind == "bf16" else x)
    words = [word for k in range(count) for word in ("--output", folder / f"{k}.npy")]
    run(PROGRAM, "run", folder / "p.plc", "--input", f"x=@{folder / 'x.npy'}" + (":bf16" if kind == "bf16" else ""), *words)
    return len(kernels), [np.load(folder / f"{k}.npy") for k in range(count)]


def model_of(body, numbers):
    calls = [body.format(number, second) for number, second in zip(numbers, numbers[1:] + numbers[:1])]
    return "import torch\n\n\ndef f(x):\n    return [" + ", ".join(calls) + "]\n"


def bits(array):
    return array.view(f"u{array.dtype.itemsize}").tolist()


def check_shared(folder, name, kind, level):
    values = np.linspace(-3, 4, 15).reshape(3, 5)
    numbers = WHOLE if kind == "i32" else NUMBERS
    x = values.astype({"f32": np.float32, "f64": np.float64, "i32": np.int32, "bf16": np.float32}[kind])
    body = BODIES[name]
    count, got = kernels_and_results(folder, model_of(body, numbers), kind, level, len(numbers), x)
    one = kernels_and_results(folder, model_of(body, numbers[:1]), kind, level, 1, x)[0]
    assert one <= count <= one + 1 if kind != "i32" else count >= len(numbers), (name, kind, count, one)
    pairs = list(zip(numbers, numbers[1:] + numbers[:1]))
    for at in range(0, len(pairs), 3):
        calls = ", ".join(body.format(*pair) for pair in pairs[at:at + 3])
        _, want = kernels_and_results(folder, f"import torch\n\n\ndef f(x):\n    return [{calls}]\n", kind, level, len(pairs[at:at + 3]), x)
        for (number, _), mine, theirs in zip(pairs[at:], got[at:], want):
            assert mine.dtype == theirs.dtype and bits(mine) == bits(theirs), (name, kind, level, number, mine, theirs)
    if name == "product" and kind in ("f32", "f64"):
        for number, mine in zip(numbers, got):
            with np.errstate(all="ignore"):
                wanted = (x.astype(np.float64) * float(eval(number)) + 1).astype(x.dtype)
            assert np.allclose(mine, wanted, rtol=2e-6, equal_nan=True), (number, mine, wanted)
    return count


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for body in BODIES:
            print(body, "f32", check_shared(folder, body, "f32", "x86-64-v3"), "kernels for", len(NUMBERS))
        check_shared(folder, "product", "f64", "x86-64-v3")
        check_shared(folder, "row sums", "bf16", "x86-64-v3")
        check_shared(folder, "product", "i32", "x86-64-v3")
        # Kernels of users' own stay theirs, whatever they capture.
        x = np.linspace(-3, 4, 15).reshape(3, 5).astype(np.float32)
        count, got = kernels_and_results(folder, "import torch\n" + FACTORY, "f32", "x86-64-v3", 6, x)
        assert count == 6, count
        for i, mine in enumerate(got):
            assert np.array_equal(mine, x * np.float32(1.5 + i)), (i, mine)
    print("ok")


main()
