#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts with tensors against what PyTorch printed (tensors/*.expected). usage: tensors_test.py PELLUCID"""
import os
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensors")


def run(path, *options):
    return subprocess.run([PROGRAM, "exec", *options, path], capture_output=True, text=True, timeout=300)


class Tensors(unittest.TestCase):
    def same(self, name, *options):
        done = run(os.path.join(FOLDER, name + ".py"), *options)
        with open(os.path.join(FOLDER, name + ".expected")) as file:
            self.assertEqual(done.stdout, file.read(), done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def text(self, source, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            return run(file.name, *options)

    def test_values(self):
        self.same("values")

    def test_models(self):
        self.same("models")

    def test_launches(self):
        self.same("launches", "--device", "cuda=cpu")

    def test_random_programs(self):
        self.same("random_programs")

    def test_a_loop_compiles_once(self):
        done = self.text(
            "import torch\nx = torch.ones(8)\n"
            "for i in range(100):\n    x = (x * 1.01 + i * 0.5).exp().log()\n    y = x.sum().item()\n"
            "print(torch._pellucid_statistics()['compiled'])\n"
        )
        self.assertLessEqual(int(done.stdout), 3, done.stderr)

    def test_a_long_loop_does_not_grow(self):
        source = "import torch\nx = torch.ones(256)\nfor i in range({}):\n    x = x * 0.5 + 1\nprint(x.sum().item())\n"
        used = []
        for turns in (2000, 30000):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            done = self.text(source.format(turns))
            self.assertEqual(done.stdout, "512.0\n", done.stderr)
            used.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        self.assertLess(used[1], used[0] + 60_000)

    def test_errors_name_the_operator(self):
        done = self.text("import torch\nx = torch.ones(3)\ny = torch.ones(4)\nz = x + y\n")
        self.assertIn(":4:", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_no_device(self):
        done = self.text("import torch\nx = torch.ones(3, device='cuda')\n")
        self.assertIn("Torch not compiled with CUDA enabled", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
