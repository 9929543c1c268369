#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts on CUDA devices, as far as a driver that runs no code shows them. usage: devices_test.py PELLUCID FAKE_DRIVER_FOLDER"""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, DRIVER = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:]


class Devices(unittest.TestCase):
    def script(self, source, *options, driver=True):
        environment = dict(os.environ)
        environment.pop("PYTHONUNBUFFERED", None)
        environment["LD_LIBRARY_PATH"] = DRIVER if driver else ""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            return subprocess.run([PROGRAM, "exec", *options, file.name], capture_output=True, text=True, timeout=300, env=environment)

    def prints(self, source, expected, *options, driver=True):
        done = self.script(source, *options, driver=driver)
        self.assertEqual(done.stdout, expected, done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def counted(self, source):
        """What it prints, and what the driver was asked for; kernels do nothing, and memory begins with zeros."""
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/script.py", "w") as file:
                file.write(source)
            environment = dict(os.environ, LD_LIBRARY_PATH=DRIVER, PELLUCID_FAKE_CUDA_RUNS_NOTHING="1", PELLUCID_FAKE_CUDA_COUNTS=folder + "/counts")
            done = subprocess.run([PROGRAM, "exec", folder + "/script.py"], capture_output=True, text=True, timeout=300, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder + "/counts") as file:
                return done.stdout.split("\n"), {name: int(count) for name, count in map(str.split, file)}

    def test_results_of_a_package_without_code_are_copied(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/m.py", "w") as file:
                file.write("import torch\ndef f():\n    return torch.empty((3, 4))\n")
            environment = dict(os.environ, LD_LIBRARY_PATH=DRIVER, PELLUCID_FAKE_CUDA_COUNTS=folder + "/counts")
            for words in (["compile", folder + "/m.py:f", "--target", "cuda:sm_90", "-o", folder + "/m.plc"], ["run", folder + "/m.plc", "--output", folder + "/y.npy"]):
                done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder + "/counts") as file:
                self.assertIn("copies_from 1\n", file.read())

    def test_functions_made_in_a_call_keep_nothing(self):
        lines, _ = self.counted(
            """import torch

def by_lambda(x):
    out = torch.empty_like(x)
    size = out.numel()
    grid = lambda meta: size // meta
    out.fill_(grid(2))
    return out

def by_def(x, fail=False):
    out = torch.empty_like(x)
    def one(n):
        return n if n < 1 else one(n - 1)
    def other(n):
        return one(n) + out.numel()
    out.fill_(other(2))
    if fail:
        raise ValueError("failed")
    return out

def kept(x):
    out = torch.empty_like(x)
    return lambda: out

x = torch.zeros(1 << 18, device="cuda")
for turn in range(6):
    if turn == 1:
        before = torch.cuda.memory_allocated()
    by_lambda(x), by_def(x)
    try:
        by_def(x, True)
    except ValueError:
        pass
    torch.cuda.synchronize()
print(torch.cuda.memory_allocated() == before)
holder = kept(x)
torch.cuda.synchronize()
print(holder().shape)
"""
        )
        self.assertEqual(lines[:2], ["True", "torch.Size([262144])"])

    def test_max_pools_of_small_windows(self):
        self.prints(
            """import torch, torch.nn.functional as F

def each(n):
    return n if isinstance(n, tuple) else (n, n)

def pooled(x, kernel, stride, padding, dilation, shape):
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = each(kernel), each(stride), each(padding), each(dilation)
    wide = F.pad(x, (pw, pw + kw * dw + sw, ph, ph + kh * dh + sh), value=float("-inf"))
    parts = [wide[:, :, i * dh :: sh, j * dw :: sw][:, :, : shape[2], : shape[3]] for i in range(kh) for j in range(kw)]
    return torch.stack(parts).amax(0)

torch.manual_seed(0)
for kernel, stride, padding, dilation, ceil in ((3, 2, 1, 1, False), ((3, 2), (1, 2), (1, 0), 1, True), (2, 2, 1, 1, True), (3, 1, 1, 2, False), ((1, 3), 3, (0, 1), (1, 2), True), (5, 2, 2, 1, False)):
    for dtype in (torch.float32, torch.float16, torch.float64):
        x = torch.randn(2, 3, 11, 14).to(dtype)
        x[0, 0, 0, 0] = float("nan")
        x[1, 2, 5:, :] = float("-inf")
        y = F.max_pool2d(x.cuda(), kernel, stride, padding, dilation, ceil)
        assert torch.equal(y.cpu().nan_to_num(7.0), pooled(x, kernel, stride, padding, dilation, y.shape).nan_to_num(7.0)), (kernel, dtype)
print("done", y.is_cuda)
""",
            "done True\n",
            "--device",
            "cuda=cpu",
        )

    def test_a_max_pool_of_a_small_window_is_one_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/m.py", "w") as file:
                file.write("import torch.nn.functional as F\ndef f(x):\n    return F.max_pool2d(x, 3, 2, 1)\n")
            for words in (["compile", folder + "/m.py:f", "--target", "cuda:sm_90", "--input", "x=f16[2,8,28,28]", "-o", folder + "/m.plc"], ["inspect", folder + "/m.plc"]):
                done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sum(line.startswith("  launch ") for line in done.stdout.splitlines()), 1, done.stdout)

    def test_lengths_share_a_program(self):
        lines, _ = self.counted(
            "import torch\nimport torch.nn.functional as F\nw = torch.rand(16, 16).cuda()\n"
            "x = torch.rand(1, 2, 16).cuda()\nfor n in range(2, 24):\n"
            "    y = torch.relu(x @ w).view(1, n, 2, 8).transpose(1, 2)\n    z = F.scaled_dot_product_attention(y, y, y, is_causal=True)\n"
            "    x = torch.cat((x, z.transpose(1, 2).reshape(1, n, 16)[:, -1:, :] * 2), dim=1)\n    torch._pellucid_flush()\n"
            "print(x.shape, torch._pellucid_statistics()['compiled'], torch._pellucid_statistics()['dynamic'])\n"
        )
        self.assertEqual(lines[0], "torch.Size([1, 24, 16]) 2 1")

    def test_sums_along_sizes_that_change_are_one_program(self):
        calls = {
            "sums": "(x * 2).sum()",
            "means of rows": "torch.rand(n, 48, device='cuda').mean(1)[0]",
            "rows": "torch.softmax(torch.rand(4, n, n, device='cuda').masked_fill(mask[:n, :n] == 0, float('-inf')), -1)[0, 0, 0]",
            "losses": "torch.nn.functional.cross_entropy(torch.rand(n, 10, device='cuda'), torch.zeros(n, dtype=torch.long, device='cuda'))",
        }
        for what, call in calls.items():
            lines, _ = self.counted(
                "import torch\nmask = torch.tril(torch.ones(64, 64, device='cuda'))\nfor n in range(5, 40, 3):\n"
                f"    x = torch.rand(n * 1000, device='cuda')\n    y = {call}\n    torch._pellucid_flush()\n"
                "counts = torch._pellucid_statistics()\nprint(counts['dynamic'], counts['compiled'] < 6, counts)\n"
            )
            self.assertRegex(lines[0], "^[12] True", what)

    def test_code_of_a_kernel_is_made_and_loaded_once(self):
        begin = "import torch\nx = torch.rand(40).cuda()\na = (x.exp() + 1).cpu()\n"
        _, alone = self.counted(begin + "c = x.amax()\nprint(c)\n")
        _, beside = self.counted(begin + "b, c = x.exp() + 1, x.amax()\nprint(c)\n")
        self.assertEqual(alone["loads"], beside["loads"])
        self.assertEqual(alone["launches"] + 1, beside["launches"])

    def test_operands_that_are_not_aligned_have_programs_of_their_own(self):
        lines, _ = self.counted(
            "import torch\nx = torch.rand(64).cuda()\nx.cpu()\nfor i in range(9):\n    x[i:i + 32].exp().cpu()\n"
            "print(torch._pellucid_statistics()['compiled'])\n"
        )
        self.assertEqual(lines[0], "2")

    def test_numbers_that_change_end_no_segment(self):
        lines, counts = self.counted(
            "import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef step(p, rate, decay, n, B: tl.constexpr):\n"
            "    at = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(p + at, tl.load(p + at, mask=at < n) * rate - decay, mask=at < n)\n\n"
            "ps = [torch.rand(30 + i).cuda() for i in range(6)]\n"
            "for turn in range(12):\n    for p in ps:\n        step[(1,)](p, 1.0 / (turn + 2), 0.5**turn, p.numel(), B=64)\n        p.mul_(1.0 - 0.1 / (turn + 1))\n"
            "    torch._pellucid_flush()\nprint(torch._pellucid_statistics()['segments'])\n"
        )
        # One segment per turn, whose numbers are one transfer; the parameters are moved once.
        self.assertEqual(lines[0], "12")
        self.assertLess(counts["copies_to"], 6 + 6 * 12 + 12)

    TUNED = (
        "import torch, triton\nimport triton.language as tl\n\n"
        "@triton.autotune([triton.Config({'B': b}, num_warps=w) for b in (64, 128) for w in (1, 2)] + [triton.Config({'B': 1 << 21})], key=['n'])\n@triton.jit\n"
        "def scale(x, y, n, factor, B: tl.constexpr):\n    tl.static_assert(B < 1 << 20)\n    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)\n\n"
        "def run(n):\n    x = torch.empty(n, device='cuda')\n    y = torch.empty_like(x)\n    scale[lambda meta: (triton.cdiv(n, meta['B']),)](x, y, n, 2.5)\n    return y\n\n"
    )

    def test_sizes_of_a_tuned_kernel_share_its_code(self):
        few, fewCounts = self.counted(self.TUNED + "y = run(1600)\ny.cpu()\nprint(len(scale.cache))\n")
        many, manyCounts = self.counted(self.TUNED + "for n in range(1600, 3200, 160):\n    run(n).cpu()\nprint(len(scale.cache))\n")
        self.assertEqual((few[0], many[0]), ("1", "10"))
        # Four configs can be compiled, each once; the timed code is also what is launched.
        self.assertEqual(fewCounts["loads"], 4)
        # Dynamic sizes ask for kernels that promise nothing of n beside those.
        self.assertLessEqual(manyCounts["loads"], 8)

    def test_a_tuned_kernel_is_timed_once_per_key(self):
        _, once = self.counted(self.TUNED + "run(1600).cpu()\n")
        lines, often = self.counted(self.TUNED + "for i in range(5):\n    run(1600).cpu()\nprint(scale.best_config.kwargs['B'] in (64, 128))\n")
        self.assertEqual(lines[0], "True")
        self.assertEqual(often["launches"], once["launches"] + 4)

    def test_questions(self):
        self.prints(
            "import torch, triton\n"
            "p = torch.cuda.get_device_properties(1)\n"
            "print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device())\n"
            "print(p.name, p.total_memory, p.major, p.minor, torch.cuda.get_device_capability())\n"
            "print(tuple(triton.runtime.driver.active.get_current_target()), triton.runtime.driver.active.get_active_torch_device())\n"
            "with torch.cuda.device(1):\n    print(torch.cuda.current_device(), torch.zeros(1, device='cuda').device)\n"
            "torch.cuda.set_device('cuda:1')\nprint(torch.zeros(1).cuda().device, torch.device(0), torch.accelerator.is_available())\n",
            "True 2 0\nfake 1073741824 9 0 (9, 0)\n('cuda', 90, 32) cuda:0\n1 cuda:1\ncuda:1 cuda:0 True\n",
        )

    def test_copies(self):
        self.prints(
            "import torch\nx = torch.tensor([0.0, 1.0, 2.0, 3.0])\ny = x.to('cuda')\nz = y.to('cuda:1').cpu()\n"
            "print(y.device, z.device, y, z)\n"
            "with torch.device('cuda:1'):\n    print(torch.empty(2).device, torch.ones(1).device)\n"
            "with y.device:\n    with y.device:\n        pass\n    print(torch.ones(1).device)\nprint(torch.ones(1).device)\n"
            "torch.set_default_device('cuda')\nprint(torch.tensor([1.5]), torch.get_default_device())\n",
            "cuda:0 cpu tensor([0., 1., 2., 3.], device='cuda:0') tensor([0., 1., 2., 3.])\ncuda:1 cuda:1\ncuda:0\ncpu\ntensor([1.5000], device='cuda:0') cuda:0\n",
        )

    def test_memory(self):
        self.prints(
            "import torch\nx = torch.rand(1 << 20).cuda()\nm = torch.rand(1 << 20).cuda()\ntorch.cuda.synchronize()\n"
            "print(torch.cuda.memory_allocated() >> 20, torch.cuda.max_memory_allocated() >> 20)\ndel x\nprint(torch.cuda.memory_allocated() >> 20)\n"
            "print(torch.cuda.memory_reserved() >= torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[1])\n"
            "torch.cuda.empty_cache()\nprint(torch.cuda.memory_reserved() == torch.cuda.memory_allocated())\n"
            "a = torch.cuda.Event(enable_timing=True)\ntry:\n    a.elapsed_time(a)\nexcept RuntimeError as e:\n    print(e)\n"
            "a.record()\nprint(a.elapsed_time(a), a.query())\n",
            "8 8\n4\nTrue 1073741824\nTrue\nBoth events must be recorded before calculating elapsed time.\n0.0 True\n",
        )

    def test_what_the_device_reports_names_the_line(self):
        done = self.script("import torch\n\nx = torch.rand(64, 64).cuda()\ny = x @ x\nprint('before')\nprint(y)\n")
        self.assertEqual((done.stdout, done.returncode), ("before\n", 1), done.stderr)
        self.assertIn("line 6, in <module>", done.stderr)
        self.assertRegex(done.stderr, r"py:6:1: error: cannot find entry 'fused_\w+'|py:6:1: error: cannot find entry")

    def test_files(self):
        self.prints(
            "import tempfile, torch\nx = torch.tensor([0.0, 1.0, 2.0, 3.0]).cuda()\nfile = tempfile.mkdtemp() + '/f.pt'\n"
            "torch.save({'x': x, 'part': x[1:3]}, file)\nd, e = torch.load(file), torch.load(file, map_location='cuda:1')\n"
            "print(d['x'], d['part'].tolist(), e['part'].tolist(), e['x'].device)\n"
            "print(x.pin_memory().device, x.new_tensor([5]), torch.Generator(device='cuda').manual_seed(1).initial_seed())\n",
            "tensor([0., 1., 2., 3.]) [1.0, 2.0] [1.0, 2.0] cuda:1\ncuda:0 tensor([5.], device='cuda:0') 1\n",
        )

    def test_no_memory_is_an_exception(self):
        self.prints(
            "import torch\nx = torch.rand(70 << 20)\ntry:\n    y = x.cuda()\n    print(y)\n"
            "except torch.cuda.OutOfMemoryError as e:\n    print(str(e)[:19], isinstance(e, RuntimeError), torch.OutOfMemoryError is type(e))\n",
            "CUDA out of memory. True True\n",
        )

    def test_a_device_that_is_the_cpu(self):
        self.prints(
            "import torch\nx = torch.ones(3, device='cuda')\nprint((x * 2).exp().sum(), torch.cuda.device_count(), torch.cuda.get_device_name())\n"
            "torch.cuda.synchronize()\na, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\n"
            "a.record()\nb.record()\nprint(a.elapsed_time(b) >= 0)\n"
            "try:\n    torch.ones(1, device='cuda:1')\nexcept RuntimeError as e:\n    print(e)\n",
            "tensor(22.1672, device='cuda:0') 1 NVIDIA A100-SXM4-80GB\nTrue\nCUDA error: invalid device ordinal: 'cuda:1', and there is one device\n",
            "--device",
            "cuda=cpu",
        )

    def test_marks_of_a_profiler(self):
        self.prints("import torch\nx = torch.ones(2, device='cuda')\nwith torch.cuda.nvtx.range('a'):\n    y = x + 1\n"
                    "@torch.cuda.nvtx.range('f {}', 1)\ndef f(a):\n    return a * 2\nn = torch.cuda.nvtx.range_start('b')\n"
                    "torch.cuda.nvtx.range_end(n)\nprint(f(y).tolist())\n", "[4.0, 4.0]\n", "--device", "cuda=cpu", driver=False)

    def test_a_move_is_noted_where_gradients_are(self):
        """A tensor that requires none, or that is moved under no_grad(), comes as a leaf; others give theirs back."""
        self.prints(
            "import torch\nx = torch.ones(3, requires_grad=True)\ny = (x * 2).cuda()\nprint(y.requires_grad, y.is_leaf)\ny.sum().backward()\nprint(x.grad)\n"
            "c = torch.ones(3).cuda()\nprint(c.requires_grad, c.grad_fn, c.is_leaf)\n"
            "with torch.no_grad():\n    n = x.cuda()\nprint(n.requires_grad, n.is_leaf)\n",
            "True False\ntensor([2., 2., 2.])\nFalse None True\nFalse True\n", "--device", "cuda=cpu", driver=False)

    def test_factories_in_what_is_traced(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "devices", "factories.py")
        done = subprocess.run([PROGRAM, "exec", "--device", "cuda=cpu", path], capture_output=True, text=True, timeout=900)
        self.assertEqual(done.stdout, "right\n", done.stderr)

    def test_a_parameter_with_an_options_name(self):
        self.prints(
            "import torch, triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x, B: tl.constexpr, num_stages: tl.constexpr):\n"
            "    for i in tl.range(0, 1, 1, num_stages=num_stages):\n        tl.store(x + tl.arange(0, B), tl.arange(0, B) * num_stages)\n\n"
            "x = torch.zeros(4, device='cuda')\nmade = k.warmup(x, 4, num_stages=2, num_warps=1, grid=(1,))\nmade[(1, 1, 1)](x, 4, 2)\nprint(x)\n",
            "tensor([0., 2., 4., 6.], device='cuda:0')\n",
            "--device",
            "cuda=cpu",
        )

    def test_without_a_device(self):
        self.prints(
            "import torch\nprint(torch.cuda.is_available(), torch.cuda.device_count())\nfor f in (lambda: torch.ones(1).cuda(), torch.cuda.current_device):\n"
            "    try:\n        f()\n    except AssertionError as e:\n        print(str(e)[:36])\n",
            "False 0\nTorch not compiled with CUDA enabled\nTorch not compiled with CUDA enabled\n",
            driver=False,
        )


unittest.main()
