#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts with tensors against what PyTorch printed (tensors/*.expected). usage: tensors_test.py PELLUCID"""
import itertools
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_values import lines_of, same

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

    def test_bits_of_floats_are_integers_as_they_are(self):
        """What is computed of `view(dtype)` in one kernel: no bit is rounded away on the way."""
        numbers = [random.Random(seed).uniform(-1000, 1000) for seed in range(37)] + [0.0, -0.0, 1e-40, float("inf"), float("-inf"), 1 / 3]
        for float_type, integer, code, word in (("float32", "int32", "f", "i"), ("float64", "int64", "d", "q"), ("float16", "int16", "e", "h")):
            given = [number if code != "e" else number / 100 for number in numbers]
            bits = [struct.unpack(word, struct.pack(code, number))[0] for number in given]
            wanted = [bit ^ 5 for bit in bits]
            listed = str(given).replace("-inf", "float('-inf')").replace(", inf", ", float('inf')")
            done = self.text(
                f"import torch\nfor device in ('cpu', 'cuda'):\n    x = torch.tensor({listed}, dtype=torch.{float_type}, device=device)\n"
                f"    print((x.view(torch.{integer}).to(torch.int64) ^ 5).tolist())\n    print((x.view(torch.{integer}) ^ 5).view(torch.{float_type}).view(torch.{integer}).to(torch.int64).tolist())\n",
                "--device",
                "cuda=cpu",
            )
            self.assertEqual(done.stdout, f"{wanted}\n" * 4, done.stderr)

    def test_tf32_settings(self):
        """One setting by its three names, convolutions' by its own; what is compiled before and after is right either way."""
        done = self.text(
            "import torch\nimport torch.nn.functional as F\n"
            "def show():\n    m, c = torch.backends.cuda.matmul, torch.backends.cudnn\n"
            "    print(torch.get_float32_matmul_precision(), m.allow_tf32, m.fp32_precision, c.allow_tf32, c.fp32_precision)\n"
            "show()\nx = torch.arange(12.0).reshape(3, 4)\nfirst = x @ x.t()\ntwice = torch.compile(lambda y: y @ y.t() * 2)\nshared = twice(x)\n"
            "torch.set_float32_matmul_precision('high')\nshow()\nprint((x @ x.t() == first).all(), (twice(x) == shared).all())\n"
            "torch.backends.cuda.matmul.allow_tf32 = False\nshow()\ntorch.backends.cuda.matmul.fp32_precision = 'tf32'\nshow()\n"
            "torch.backends.cudnn.allow_tf32 = True\ntorch.set_float32_matmul_precision('highest')\nshow()\n"
            "print(F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)).sum())\n"
            "for wrong in ('low', 'tf32'):\n    try:\n        torch.set_float32_matmul_precision(wrong)\n    except (ValueError, RuntimeError) as error:\n        print(type(error).__name__)\n"
        )
        self.assertEqual(
            done.stdout,
            "highest False ieee False ieee\nhigh True tf32 False ieee\ntensor(True) tensor(True)\nhighest False ieee False ieee\n"
            "high True tf32 False ieee\nhighest False ieee True tf32\ntensor(16.)\nValueError\nValueError\n",
            done.stderr,
        )

    def test_types_that_calls_ask_for(self):
        """Python's int, float and bool are dtypes; one that tensors do not have here is refused by its name, and what is none raises."""
        makers = [
            "torch.zeros(2, dtype={})", "torch.ones(2, dtype={})", "torch.empty(2, dtype={})", "torch.full((2,), 1, dtype={})", "torch.tensor([1, 0], dtype={})", "torch.tensor([2.5], dtype={})",
            "torch.zeros_like(x, dtype={})", "torch.full_like(x, 1, dtype={})", "x.new_zeros(2, dtype={})", "x.new_tensor([1], dtype={})", "torch.as_tensor([1, 0], dtype={})", "torch.eye(2, dtype={})",
            "x.to({})", "x.to(dtype={})", "x.type({})", "x.sum(dtype={})", "torch.cumsum(x, 0, dtype={})", "torch.nn.Parameter(torch.zeros(2, dtype={}), requires_grad=False)",
        ]  # fmt: skip
        types = {"int": "torch.int64", "float": "torch.float64", "bool": "torch.bool"}
        lines = [f"print(({maker.format(given)}).dtype, '{wanted}')" for maker in makers for given, wanted in types.items()]
        lines += [f"print(({maker.format('float')}).dtype, 'torch.float64')" for maker in ("torch.arange(3, dtype={})", "torch.linspace(0, 1, 3, dtype={})", "torch.rand(2, dtype={})", "torch.randn(2, dtype={})")]
        done = self.text("import torch\nx = torch.tensor([1.0, 0.0])\n" + "\n".join(lines))
        self.assertEqual([line for line in done.stdout.split("\n") if len(set(line.split())) > 1], [], done.stderr)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, len(lines)), done.stderr)
        for maker in makers + ["torch.rand(2, dtype={})", "torch.arange(3, dtype={})"]:
            for given in ("torch.qint8", "torch.bits8"):
                done = self.text(f"import torch\nx = torch.tensor([1.0, 0.0])\nprint({maker.format(given)})\n")
                self.assertEqual((done.returncode, done.stdout), (1, ""), maker)
                self.assertIn(f"error: '{given}' is not supported yet", done.stderr)
        for maker in ("torch.zeros(2, dtype={})", "torch.tensor([1.0], dtype={})", "torch.full((2,), 1.0, dtype={})", "torch.rand(2, dtype={})"):
            for given in ("5", "'float32'", "str"):
                done = self.text(f"import torch\ntry:\n    {maker.format(given)}\nexcept TypeError as error:\n    print(error)\n")
                self.assertIn("argument 'dtype' must be torch.dtype, not ", done.stdout + done.stderr, maker)

    def test_places_of_double_precision(self):
        """Resampling of float64 has shares of float64: lines of random lengths against the formula in Python's floats."""
        chosen = random.Random(17)
        for _ in range(6):
            size, out, aligned = chosen.randint(2, 40), chosen.randint(2, 90), chosen.random() < 0.5
            given = [chosen.uniform(-5, 5) for _ in range(size)]
            wanted = []
            for i in range(out):
                place = i * (size - 1) / (out - 1) if aligned else max((i + 0.5) * size / out - 0.5, 0.0)
                low = min(int(place), size - 1)
                wanted.append(given[low] + (given[min(low + 1, size - 1)] - given[low]) * min(max(place - low, 0.0), 1.0))
            call = f"torch.nn.functional.interpolate(torch.tensor([[{given}]], dtype=torch.float64), size={out}, mode='linear', align_corners={aligned})"
            done = self.text(f"import torch\nprint((({call})[0, 0] - torch.tensor({wanted}, dtype=torch.float64)).abs().max().item() < 1e-12)\n")
            self.assertEqual(done.stdout, "True\n", f"{done.stderr} {size} {out} {aligned}")

    def test_complex_numbers(self):
        self.same("complex_numbers")

    def test_models(self):
        self.same("models")

    def test_launches(self):
        self.same("launches", "--device", "cuda=cpu")

    def test_slopes(self):
        self.same("slopes")

    def test_masked_and_factored(self):
        self.same("masked_and_factored")

    def test_covariances(self):
        self.same("covariances")

    def test_gradients_of_turns(self):
        """What was recorded for a derivative in one turn is right in the next alone where nothing that it hangs on has changed."""
        self.same("gradients_of_turns")
        self.same("gradients_of_turns", "--device", "cuda=cpu")

    def test_states_and_files(self):
        self.same("states_and_files")

    def test_scalars(self):
        self.same("scalars")

    def test_fills(self):
        self.same("fills")

    def test_extremes_with_nan(self):
        self.same("extremes_with_nan")

    def test_places_of_maxima(self):
        self.same("places_of_maxima")

    def test_borders_of_errors(self):
        self.same("borders_of_errors")

    def test_channels_last(self):
        self.same("channels_last")

    def test_layouts_asked_for(self):
        self.same("layouts_asked_for")

    def test_narrow_integers(self):
        self.same("narrow_integers")

    def test_nothing_and_overlaps(self):
        self.same("nothing_and_overlaps")

    def test_subclassed_layers(self):
        self.same("subclassed_layers")

    def test_lists_of_tensors(self):
        self.same("lists_of_tensors")

    def test_lookups_that_train(self):
        self.same("lookups_that_train")

    def test_drawn_then_differentiated(self):
        self.same("drawn_then_differentiated")

    def test_dropped_attention(self):
        self.same("dropped_attention")

    def test_supports(self):
        self.same("supports")

    def test_in_place_by_position(self):
        self.same("in_place_by_position")

    def test_memory_of_results(self):
        self.same("memory_of_results")

    def test_gradients_of_views(self):
        self.same("gradients_of_views")

    def test_rejections(self):
        self.same("rejections")

    def test_control_by_values(self):
        self.same("control_by_values")

    def test_what_a_branch_made_is_not_used_behind_it(self):
        """Whether or not something was computed since."""
        source = "import torch\nx = torch.ones(3)\nkept = []\ndef yes(p):\n    kept.append(p + 1)\n    return (p * 2,)\ny, = torch.cond(x.sum() > 0, yes, lambda p: (p * 1,), (x,))\n"
        for between, use in itertools.product(("", "print(y.sum())\n"), ("kept[0] + 1", "kept[0].tolist()", "kept[0].add_(1)")):
            done = self.text(f"{source}{between}{use}\n")
            self.assertEqual((done.returncode, done.stdout), (1, "tensor(6.)\n" if between else ""), done.stderr)
            self.assertIn("error: this tensor was made inside of a branch or a loop's body and is none of its results; return it", done.stderr)

    def test_views_of_views(self):
        self.same("views_of_views")

    def test_loops_by_values(self):
        self.same("loops_by_values")

    def test_memory_formats(self):
        self.same("memory_formats")

    def test_memory_formats_kept(self):
        self.same("memory_formats_kept")

    def test_functions_of_turns(self):
        self.same("functions_of_turns")

    def test_parts_of_memory(self):
        self.same("parts")

    def test_products_in_rows(self):
        self.same("products_in_rows")

    def test_methods(self):
        self.same("methods")

    def test_modules_walked(self):
        self.same("modules_walked")

    def test_numbers_on_the_host_are_no_segments(self):
        done = self.text(
            "import torch\ndata = torch.arange(100)\nix = torch.randint(90, (8,))\nbefore = torch._pellucid_statistics()['segments']\n"
            "rows = [data[i + 1:i + 1 + 8] for i in ix]\nn = sum(int(i + 64 > 70) for i in ix)\n"
            "print(torch._pellucid_statistics()['segments'] - before <= 1, rows[7].shape)\n"
        )
        self.assertEqual(done.stdout, "True torch.Size([8])\n", done.stderr)

    def test_random_programs(self):
        self.same("random_programs")

    def test_parameters(self):
        self.same("parameters")

    def test_names(self):
        self.same("names")

    def test_what_generated_code_calls(self):
        done = self.text(
            "import torch, triton, triton.language as tl\n"
            "@triton.jit\ndef half(x, y, n: tl.constexpr):\n    i = tl.arange(0, n)\n    tl.store(y + i, tl.load(x + i) * 2)\n"
            "x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float16, device='cuda').view(torch.int16)\ny = torch.zeros_like(x)\n"
            "with torch.cuda._DeviceGuard(0):\n    torch.cuda.set_device(0)\n"
            "    half[(1,)](triton.reinterpret(x, tl.float16), triton.reinterpret(y, tl.float16), 4)\n"
            "print(y.view(torch.float16).tolist())\n"
            "r = torch.ops.inductor._reinterpret_tensor(y.view(torch.float16)[1:], (2, 1), (1, 1), 1)\nr.add_(1)\nprint(r.tolist(), y.view(torch.float16).tolist())\n"
            "print(torch.nn.LayerNorm(3, elementwise_affine=False).elementwise_affine, torch.nn.RMSNorm(3).elementwise_affine)\n",
            "--device",
            "cuda=cpu",
        )
        self.assertEqual(done.stdout, "[2.0, 4.0, 6.0, 8.0]\n[[7.0], [9.0]] [2.0, 4.0, 7.0, 9.0]\nFalse True\n", done.stderr)

    def test_a_gradient_that_a_kernel_writes_into_is_dense(self):
        done = self.text(
            "import torch\n"
            "class Seen(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.clone()\n"
            "    @staticmethod\n    def backward(ctx, g):\n        print(g.stride(), g.tolist()[0][0])\n        return g\n"
            "x = torch.ones(2, 4, 4, requires_grad=True)\n"
            "for f in (lambda x: x.mean(), lambda x: x.transpose(1, 2).mean(), lambda x: x.mean(1).sum(), lambda x: x.mean((1, 2), keepdim=True).sum(), lambda x: x.sum()):\n"
            "    f(Seen.apply(x)).backward()\n"
        )
        means = [f"({s}) [{v}, {v}, {v}, {v}]" for s, v in (("16, 4, 1", 0.03125), ("16, 1, 4", 0.03125), ("16, 4, 1", 0.25), ("16, 4, 1", 0.0625), ("0, 0, 0", 1.0))]
        self.assertEqual(done.stdout.splitlines(), means, done.stderr)

    def test_special_values(self):
        done = run(os.path.join(FOLDER, "special_values.py"))
        with open(os.path.join(FOLDER, "special_values.expected")) as file:
            want, got = lines_of(file.read()), lines_of(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        wrong = [f"{k} torch {line}\n  exec {got.get(k)}" for k, line in want.items() if not same(line, got.get(k, ""))]
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_a_loop_compiles_once(self):
        done = self.text(
            "import torch\nx = torch.ones(8)\n"
            "for i in range(100):\n    x = (x * 1.01 + i * 0.5).exp().log()\n    y = x.sum().item()\n"
            "print(torch._pellucid_statistics()['compiled'])\n"
        )
        self.assertLessEqual(int(done.stdout), 3, done.stderr)

    def test_sizes_that_change_are_few_programs(self):
        source = (
            "import torch\nimport torch.nn.functional as F\ntorch.manual_seed(0)\nw = torch.randn(8, 8)\n"
            "def f(n):\n    torch.manual_seed(n)\n    x = torch.randn(n, 8)\n"
            "    a = F.scaled_dot_product_attention((x @ w)[None], x[None], (x * 3).exp()[None], is_causal=True)[0]\n"
            "    return (a.transpose(0, 1) @ F.gelu(x) + torch.arange(n).float().view(1, n) @ x).tolist()\n"
            "{}print(f(37))\nprint(torch._pellucid_statistics()['compiled'])\n"
        )
        alone = self.text(source.format("")).stdout.splitlines()
        among = self.text(source.format("for n in (3, 20, 5, 9, 120, 64, 33):\n    f(n)\n")).stdout.splitlines()
        self.assertEqual(alone[0], among[0])
        self.assertLessEqual(int(among[1]), 4)

    def test_sums_have_the_bits_of_their_size(self):
        source = (
            "import torch\nimport torch.nn.functional as F\n"
            "def f(n):\n    torch.manual_seed(n)\n    x = torch.randn(8, n)\n"
            "    for one in (x.sum(), x.exp().mean(1), x.t().sum(0), F.log_softmax(x, -1), F.layer_norm(x, (n,)), x.cumsum(1), x.var(1)):\n"
            "        yield one.tolist()\n"
            "{}print(list(f(300)))\n"
        )
        alone = self.text(source.format(""))
        among = self.text(source.format("for n in (20, 29):\n    list(f(n))\n"))
        self.assertTrue(alone.stdout, alone.stderr)
        self.assertEqual(alone.stdout, among.stdout)

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

    def test_operand_errors(self):
        self.same("operand_errors")

    def test_call_errors(self):
        self.same("call_errors")

    def test_libraries(self):
        self.same("libraries")

    def test_failing_values(self):
        self.same("failing_values")

    def test_everyday_scripts(self):
        self.same("everyday")

    def test_module_texts(self):
        self.same("module_texts")

    def test_arrays(self):
        self.same("arrays")

    def test_launches_that_say_something_are_made(self):
        kernel = "import torch, triton, triton.language as tl\n@triton.jit\ndef k(x, y, B: tl.constexpr, TOP: tl.constexpr):\n    i = tl.arange(0, B)\n    v = tl.load(x + i)\n    {}\n    tl.store(y + i, v)\n"
        call = "x = torch.arange(2.0)\nk[(1,)](x, torch.empty(2), B=2, TOP=1)\nprint('end')\n"
        done = self.text(kernel.format("tl.device_print('v', v)") + call)
        self.assertEqual((done.stdout, done.returncode), ("pid (0, 0, 0) idx (0)  v: 0.000000\npid (0, 0, 0) idx (1)  v: 1.000000\nend\n", 0), done.stderr)
        done = self.text(kernel.format("tl.device_assert(v < TOP, 'too big')") + call)
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn("too big", done.stderr)
        # Where its results are used, an assertion is an exception.
        caught = "y = torch.empty(2)\ntry:\n    k[(1,)](x, y, B=2, TOP=1)\n    print(y)\nexcept RuntimeError as e:\n    print('caught', 'too big' in str(e))\nprint(x)\n"
        done = self.text(kernel.format("tl.device_assert(v < TOP, 'too big')") + "x = torch.arange(2.0)\nassert x.sum() == 1\n" + caught)
        self.assertEqual(done.stdout, "caught True\ntensor([0., 1.])\n", done.stderr)

    def test_an_index_out_of_range_names_its_line(self):
        source = "import torch\nw = torch.randn(3, 2)\ngood = w[torch.tensor([1])] * 2\nprint(good.shape, good.sum() == good.sum())\ni = torch.tensor([5])\ny = w[i] * 2\nprint(y.shape, y.sum() == y.sum())\n"
        done = self.text(source)
        self.assertRegex(done.stderr, r"line 7, in <module>[\s\S]*IndexError: [\s\S]*:6:5: error: ")
        self.assertEqual(done.returncode, 1)

    def test_a_loader_left_early(self):
        source = (
            "import torch\nfrom torch.utils.data import DataLoader, RandomSampler\n"
            "data = [(torch.tensor(i), torch.zeros(3)) for i in range(50)]\n"
            "endless = iter(DataLoader(data, sampler=RandomSampler(data, replacement=True, num_samples=int(1e10)), batch_size=4))\n"
            "for turn in range(5):\n    batch = next(endless)\n"
            "    for i, other in enumerate(DataLoader(data, shuffle=True, batch_size=10)):\n        if i == 2:\n            break\n"
            "print(batch[1].shape)\n"
        )
        done = self.text(source)
        self.assertEqual((done.stdout, done.returncode), ("torch.Size([4, 3])\n", 0), done.stderr)

    def test_a_file_of_tests(self):
        source = (
            "import pytest\nimport torch\n"
            "@pytest.fixture\ndef data():\n    yield torch.arange(4.0)\n    print('closed')\n"
            "@pytest.mark.parametrize('n', [1, 2])\n@pytest.mark.parametrize('dtype, tol', [(torch.float32, 1e-5), pytest.param(torch.bfloat16, 1e-2, id='half')])\n"
            "def test_sum(n, dtype, tol, data):\n    assert abs(data.to(dtype).sum().item() * n - 6 * n) < tol\n"
            "def test_raises():\n    with pytest.raises(RuntimeError, match='must match'):\n        torch.ones(2) + torch.ones(3)\n"
            "@pytest.mark.skipif(True, reason='no')\ndef test_never():\n    assert False\n"
            "def test_fails():\n    assert 1 == 2, 'differs'\n"
            "class TestA:\n    @pytest.mark.parametrize('x', [1, 2])\n    def test_in(self, x):\n        assert x == pytest.approx(x + 1e-9)\n"
            "raise SystemExit(pytest.main([__file__]))\n"
        )
        done = self.text(source)
        expected = "".join(f"closed\ntest_sum[{name}] PASSED\n" for name in ("dtype0-1e-05-1", "dtype0-1e-05-2", "half-1", "half-2"))
        expected += "test_raises PASSED\ntest_fails FAILED\nAssertionError: differs\nTestA::test_in[1] PASSED\nTestA::test_in[2] PASSED\n=== 1 failed, 7 passed, 1 skipped ===\n"
        self.assertEqual((done.stdout, done.returncode), (expected, 1), done.stderr)

    def test_no_device(self):
        done = self.text("import torch\nx = torch.ones(3, device='cuda')\n")
        self.assertIn("Torch not compiled with CUDA enabled", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
