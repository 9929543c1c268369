#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts use of Triton beside kernels: addresses, the host's descriptors, the profiler, modules of checkouts. usage: triton_programs_test.py PELLUCID"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))


def run(path, *words, path_of_modules=None, cwd=None):
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    if path_of_modules:
        environment["PYTHONPATH"] = path_of_modules
    return subprocess.run([PROGRAM, "exec", "--device", "cuda=cpu", path, *words], capture_output=True, text=True, timeout=300, env=environment, cwd=cwd)


class Programs(unittest.TestCase):
    def program(self, name, *words):
        with tempfile.TemporaryDirectory() as folder:
            return run(os.path.join(HERE, "triton", name + ".py"), *words, cwd=folder)

    def text(self, source, *words, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(source)
            return run(path, *words, **options)

    def test_tuples(self):
        done = self.program("tuples")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "sums",
                "named",
                "[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]",
                "[19, 19, 19, 19]",
                "True ",
                "[1.0, 1.0, 2.0, 0.25, 34359738368.0, 0.5, 1.75]",
                "TypeError: 'float' object cannot be interpreted as an integer: 'whole' of 'annotated' is int64 by its annotation, got 2.5",
                "block of 4",
                "a-b!",
                "[2, 2, 2, 2, 2, 2, 2, 2, 0, 0]",
            ],
        )

    def test_addresses(self):
        done = self.program("addresses")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "torch.int64 [0, 0, 0] 3",
                "[[0.0], [1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0]] [4.0, 6.0] [0.0, 1.0, 2.0, 3.0]",
                "[1.0, 3.0, 5.0, 7.0, 9.0] [70.0] [1011.0, 1031.0, 1051.0, 1071.0, 1091.0] [42.0, 62.0]",
                "[1014.0, 1034.0, 1054.0, 1074.0, 1094.0] [28.0, 48.0, 68.0] 9900.0",
                "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0] 71.0",
                "[3.0, 5.0, 7.0, 9.0] 8 0 False True",
                "True True True True",
                "[4.0, 4.0, 4.0] [8.0, 8.0, 8.0]",
                "[0.0, 1.0, 2.0, 3.0] [0.0, 2.0, 4.0, 6.0]",
                "True 1015.0",
            ],
        )

    def test_newer_names(self):
        done = self.program("newer_names")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "cat 0 True",
                "cat 1 True",
                "cat -1 True",
                "cat -2 True",
                "cat True",
                "map True",
                "topk [-5.0, -1.0, 9.0, 6.0]",
                "small [[1.0, 2.0, 6.0, 24.0], [0.25, 0.5, 0.75, 1.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 0.0]]",
                "CompilationError program_id axis must be 0, 1 or 2, got 7",
                "CompileTimeAssertionFailure True static assertion does not hold: N is too large",
                "num_warps of 'checked_kernel' must be a power of 2, got 3",
                "Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
                "no best config yet",
                "7.0 {'N': 2} [(5, 'torch.float32')]",
                "8.0 2 tuned_kernel 0 4",
            ],
        )

    def test_helpers_of_generated_kernels(self):
        done = self.program("generated_helpers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "draws True True\nwrong: []\n")

    def test_a_generated_file(self):
        done = self.program("generated_file")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^\d+\.\d{6}$")
        self.assertRegex(lines[1], r"^\d+\.\d{3}ms$")
        self.assertEqual(
            lines[2:],
            [
                "True True (1, 11)",
                "True True",
                "AssertionError: expected size 37==11, stride 1==37 at dim=0; expected size 11==37, stride 37==1 at dim=1",
                "AssertionError: expected size 36==37, stride 1==1 at dim=1",
                "AssertionError: wrong number of dimensions1 for op: unknown",
            ],
        )

    def test_run_is_a_launch(self):
        source = (
            "import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x, n, BLOCK: tl.constexpr):\n    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(x + i, i, i < n)\n\n"
            "tuned = triton.autotune(configs=[triton.Config({'BLOCK': 8})], key=[])(k)\nx, y = torch.zeros(5, device='cuda'), torch.zeros(9, device='cuda')\n"
            "k.run(x, 5, BLOCK=4, grid=(2,), warmup=False)\ntuned.run(y, 9, grid=lambda meta: (triton.cdiv(9, meta['BLOCK']),), warmup=False)\nprint(x.tolist(), y.tolist())\n"
            "try:\n    k.run(x, 5, BLOCK=4)\nexcept TypeError as error:\n    print(error)\n"
        )
        done = self.text(source)
        self.assertEqual(done.stdout, "[0.0, 1.0, 2.0, 3.0, 4.0] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\nrun() missing 1 required keyword-only argument: 'grid'\n", done.stderr)

    def test_hasattr_in_kernels(self):
        source = (
            "import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x, n, pair, NAME: tl.constexpr):\n    t = tl.load(x + tl.arange(0, 4))\n"
            "    if hasattr(t, 'dtype'):\n        tl.store(x, 1)\n    if hasattr(n, 'nothing'):\n        tl.store(x + 1, 1)\n    if hasattr(x, NAME) and not hasattr(pair, 'append'):\n        tl.store(x + 2, 1)\n"
            "    if hasattr(t, 'sum') and not hasattr(t, '_sum'):\n        tl.store(x + 3, 1)\n\n"
            "x = torch.zeros(4, device='cuda')\nk[(1,)](x, 3, (1, 2), NAME='to')\nprint(x.tolist())\n"
        )
        done = self.text(source)
        self.assertEqual(done.stdout, "[1.0, 0.0, 1.0, 1.0]\n", done.stderr)

    # As numpy 2 draws them.
    def test_narrow_draws_of_numpy(self):
        source = (
            "import numpy as np\nr = np.random.RandomState(17)\n"
            "for kind, low, high in ((np.int8, -128, 128), (np.uint8, 0, 256), (np.int16, -5, 1000), (np.int8, 0, 3), (np.uint8, 7, 8), (np.bool_, 0, 2), (np.int16, -32768, 32768)):\n"
            "    print(r.randint(low, high, size=7, dtype=kind).tolist(), r.randint(0, 1000))\n"
            "print(np.signbit(np.array([-0.0, 0.0, -2.0])).tolist(), [x.shape for x in np.broadcast_arrays(np.ones((3, 1)), np.arange(4))])\n"
        )
        done = self.text(source)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "[-17, -86, -17, -53, 113, 124, 8] 143",
                "[134, 181, 31, 216, 150, 129, 7] 313",
                "[747, 348, 936, 646, 273, 370, 26] 324",
                "[2, 1, 2, 0, 1, 0, 0] 519",
                "[7, 7, 7, 7, 7, 7, 7] 897",
                "[False, True, True, True, False, True, True] 17",
                "[11305, -9319, 22200, -30064, -13558, 29208, 20962] 643",
                "[True, False, True] [(3, 4), (3, 4)]",
            ],
            done.stderr,
        )

    # A script may name any module of a package first.
    def test_a_module_before_its_package(self):
        for module in ("torch._C", "torch.cuda", "torch.cuda.amp", "torch.amp", "torch.jit", "torch.accelerator", "torch.xpu", "torch.cpu", "torch.nn.functional", "torch.utils.data", "triton.runtime", "triton.backends", "triton.runtime.driver", "numpy.random"):
            with self.subTest(module):
                done = self.text(f"import {module}\nfrom {module.rpartition('.')[0]} import {module.rpartition('.')[2]} as m\nprint('there')\n")
                self.assertEqual(done.stdout, "there\n", done.stderr)

    def test_a_mistake_in_a_kernel_ends_at_its_line(self):
        done = self.text("import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x):\n    tl.store(x + tl.program_id(3), 1)\n\nk[(1,)](torch.zeros(1, device='cuda'))\n")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"line 8, in <module>[^$]*program.py:6:\d+: error: program_id axis must be 0, 1 or 2, got 3\n")

    def test_a_tensor_that_is_written_both_ways_is_refused(self):
        done = self.program("addresses", "both")
        self.assertEqual(done.returncode, 1)
        self.assertIn("writes to 'out' and to addresses that are no arguments", done.stderr)
        self.assertIn("addresses.py:", done.stderr)

    def test_held_twice(self):
        done = self.program("held_twice")
        self.assertEqual(done.stdout, "right\n", done.stderr)

    def test_held_twice_in_a_saved_program(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/m.py", "w") as file:
                file.write(
                    "import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef k(a, b, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
                    "    x = tl.load(a + i, i < n)\n    tl.store(a + i, x + 1, i < n)\n    tl.store(b + i, x - 1, i < n)\n\n"
                    "def f(x):\n    y = x * 2\n    v, w = torch.empty_like(y), torch.empty_like(y)\n    v.copy_(y)\n    w.copy_(v)\n"
                    "    k[(1,)](y, w, 12, BLOCK=16)\n    return y, v, w\n"
                )
            for words in (
                ["export", "m.py:f", "--input", "x=f32[3,4]", "-o", "p.plp"],
                ["compile", "p.plp", "-o", "p.plc"],
                ["run", "p.plc", "--input", "x=@x.npy", "--output", "y.npy", "--output", "v.npy", "--output", "w.npy"],
            ):
                with open(folder + "/x.npy", "wb") as file:
                    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".ljust(117) + "\n"
                    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<12f", *range(12)))
                done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300, cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
            for name, more in (("y", 1), ("v", 0), ("w", -1)):
                with open(f"{folder}/{name}.npy", "rb") as file:
                    self.assertEqual(struct.unpack("<12f", file.read()[-48:]), tuple(2.0 * i + more for i in range(12)), name)

    def test_descriptors(self):
        done = self.program("descriptors")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "(37, 44) True [16, 32]",
                "(37, 44) True [16, 32]",
                "(16, 16) True [16, 32]",
                "(33, 128) True [16, 32]",
                "True",
                "False True",
                "True",
                "True True",
            ]
            + done.stdout.splitlines()[8:],
        )
        rest = "\n".join(done.stdout.splitlines()[8:])
        places = [rest.find(words) for words in ("rank mismatch", "Last dimension must be contiguous", "strides must be 16-byte aligned", "Illegal value for padding")]
        self.assertEqual(places, sorted(places))
        self.assertGreaterEqual(places[0], 0)
        self.assertNotIn("no error", rest)

    def test_a_block_that_was_not_set_is_refused(self):
        done = self.program("descriptors", "small")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the last dim of a TensorDescriptor's block must span 16 bytes or more, got 8", done.stderr)

    def test_profile(self):
        done = self.program("profile")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "64.0 480000.0")
        self.assertEqual(lines[1], "['twice [n=5000]', 'outer'] 30000.0 7.0 True")
        self.assertEqual(lines[2], "twice 3 twice [n=5000]")
        self.assertRegex(lines[3], r"^\d+\.\d{3} \d+\.000 ROOT$")
        self.assertRegex(lines[4], r"^├─ \d+\.\d{3} \d+\.000 twice \[n=5000\]$")
        self.assertRegex(lines[5], r"^│  ├─ \d+\.\d{3} 3\.000 twice$")
        self.assertIn("Metric cycles is not found", done.stdout)
        self.assertIn("session 0 does not exist", done.stdout)
        self.assertEqual(lines[-6:-1], ["torch.float16 True", "torch.bfloat16 True", "torch.float32 True", "torch.float8_e4m3fn True", "True"])
        self.assertIn("Dimension mismatch", lines[-1])

    def test_modules_by_python_path(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "library", "parts", "inner"))
            for name, text in (
                ("__init__", "import pkgutil\nfrom .parts import one\nfound = [(m.name, m.ispkg) for m in pkgutil.iter_modules(__path__)]\n"),
                ("parts/__init__", ""),
                ("parts/one", "import sys\nnew = sys.version_info.major * 100 + sys.version_info.minor\nmodern = sys.version_info >= (3, 9)\n"),
                ("parts/inner/__init__", ""),
            ):
                with open(os.path.join(folder, "library", name + ".py"), "w") as file:
                    file.write(text)
            source = "import library, pkgutil\nprint(library.found, library.one.new, library.one.modern)\nprint([m.name for m in pkgutil.walk_packages(library.__path__, 'library.')])\n"
            done = self.text(source, path_of_modules="/nowhere:" + folder)
            self.assertEqual(done.stdout, "[('parts', True)] 312 True\n['library.parts', 'library.parts.inner', 'library.parts.one']\n", done.stderr)
            done = self.text(f"import sys\nsys.path.insert(0, {folder!r})\nimport library\nprint(library.one.modern)\n")
            self.assertEqual(done.stdout, "True\n", done.stderr)
            done = self.text("import library\n")
            self.assertIn("ModuleNotFoundError: No module named 'library'", done.stderr)

    def test_modes_end_where_a_trace_does(self):
        source = (
            "import torch\n@torch.library.custom_op('my::count', mutates_args={})\ndef count(x: torch.Tensor, n: int) -> torch.Tensor:\n    return x.bincount(minlength=n)\n"
            "@torch.compile\ndef g(x):\n    with torch.no_grad():\n        print(x.sum().item())\n        return x + 1\ng(torch.ones(3))\nprint(torch.is_grad_enabled())\n"
            "@torch.compile\ndef f(x):\n    with torch.no_grad():\n        return count(x, 4)\n"
            "print(f(torch.tensor([0, 1, 1])).tolist(), torch.is_grad_enabled())\n"
        )
        done = self.text(source)
        self.assertEqual(done.stdout, "3.0\nTrue\n[1, 2, 0, 0] True\n", done.stderr)

    def test_names_and_gradients_of_functions(self):
        source = (
            "import torch\nx, y = torch.zeros(3), torch.ones(3)\ntorch.add(input=x, other=y, out=x, alpha=2.0)\nprint(x.tolist(), torch.mul(input=x, other=y).tolist())\n"
            "import torch.nn.functional as F\nimport torch.nn.grad\nfor groups, stride, padding, dilation in ((1, 1, 0, 1), (2, 2, 1, 2)):\n"
            "    a = torch.randn(2, 4, 9, 11, dtype=torch.float64, requires_grad=True)\n    w = torch.randn(6, 4 // groups, 3, 3, dtype=torch.float64, requires_grad=True)\n"
            "    o = F.conv2d(a, w, None, stride, padding, dilation, groups)\n    g = torch.randn(o.shape, dtype=torch.float64)\n    o.backward(g)\n"
            "    print(torch.allclose(torch.nn.grad.conv2d_input(a.shape, w, g, stride, padding, dilation, groups), a.grad), torch.allclose(torch.nn.grad.conv2d_weight(a, w.shape, g, stride, padding, dilation, groups), w.grad))\n"
        )
        source += "print(torch.tensor(range(3)).tolist(), 'all_reduce' in dir(torch.distributed), torch.distributed.is_initialized())\n"
        done = self.text(source)
        self.assertEqual(done.stdout, "[2.0, 2.0, 2.0] [2.0, 2.0, 2.0]\nTrue True\nTrue True\n[0, 1, 2] True False\n", done.stderr)

    def test_what_is_measured_runs(self):
        source = (
            "import torch, triton\nx, sums = torch.randn(4096), torch._pellucid_statistics()['segments']\n"
            "def f():\n    x.exp().sum()\n"
            "ms = triton.testing.do_bench(f, warmup=1, rep=5)\nprint(torch._pellucid_statistics()['segments'] - sums >= 3)\n"
        )
        done = self.text(source)
        self.assertEqual(done.stdout, "True\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
