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
        with open(os.path.join(HERE, "compiled.txt")) as file:
            self.assertEqual(done.stdout, file.read(), done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
