#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts with tensors. usage: torch_test.py PELLUCID SOURCE_FOLDER"""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))


def execute(*words):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([PROGRAM, "exec", *words], capture_output=True, text=True, timeout=300, cwd=folder)


class Torch(unittest.TestCase):
    def test_example_in_four_ways(self):
        for ways in ([], ["--raw"], ["--strict"], ["--raw", "--strict"]):
            with self.subTest(ways):
                done = execute("--device", "cuda=cpu", os.path.join(SOURCES, "examples", "silu_script.py"), *ways)
                self.assertEqual(done.returncode, 0, done.stderr)
                for name in ("compiled", "packaged"):
                    self.assertIn(f"{name} (16, 64) True", done.stdout)
                target = "triton_kernel_wrapper_mutation" if "--raw" in ways else "examples.silu.default"
                self.assertIn(target, done.stdout)
                self.assertIn("placeholder    p_up_weight", done.stdout)

    def test_without_the_device(self):
        done = execute(os.path.join(SOURCES, "examples", "silu_script.py"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("AssertionError: Torch not compiled with CUDA enabled", done.stderr)

    def test_compile_and_export(self):
        done = execute(os.path.join(HERE, "scripts", "compiled.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("False", done.stdout)
        self.assertNotIn("no error", done.stdout)
        lines = iter(done.stdout.splitlines())
        for wanted in (
            "calls True",
            "4 True True True",
            "9 True True True",
            "torch.int64 [[0, 2, 4], [6, 8, 10]] torch.Size([2, 2, 2])",
            "[10.0, 10.0, 10.0]",
            "[20.0, 20.0, 20.0]",
            "weights True True",
            "[2.0, 2.0, 2.0, 2.0] 8.0",
            "talking 3",
            "talking 3",
            "unsupported",
            "[2.0, 2.0, 2.0]",
            "RuntimeError",
            "InvalidBackend",
            "True",
            "['both', 'sum'] True True",
            "['both', 'sum'] True True",
            "['both', 'sum'] True True",
            "['both', 'sum'] True True",
            "['both', 'sum'] True True",
            "1 ['both', 'sum'] list True True",
            "4 ['both', 'sum'] list True True",
            "64 ['both', 'sum'] list True True",
            "out of range",
            "saved True",
            "ready [4]",
            "turns 2 steps 2 regions 2 kernels True",
            "True",
            "Tensor-likes are not close! | Mismatched elements: 1 / 3 (33.3%)",
            "speed:",
        ):
            self.assertIn(wanted, lines, done.stdout)  # in this order

if __name__ == "__main__":
    unittest.main()
