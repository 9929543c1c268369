#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the user's inside of cond, while_loop, map, scan and associative_scan, one in another, beside weights and state: from the model's source and
from the archive that PyTorch makes of it, whose operators --kernels names. Both give the same bits, and PyTorch's numbers, where the operators are PyTorch's
own code.

    launches_test.py PROGRAM [NAME…]

Exit code 77 where PyTorch is missing.
"""
import pathlib
import sys

try:
    import numpy as np
    import torch
    from torch.export import Dim, export, save
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tool import check_each, pellucid, run_package  # noqa: E402

torch.set_num_threads(1)

# What PyTorch runs and exports.
REFERENCE = '''
import torch


@torch.library.custom_op("launches::axpy", mutates_args=())
def axpy(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    return alpha * x + y


@axpy.register_fake
def _(x, y, alpha):
    return torch.empty_like(x)


@torch.library.register_vmap("launches::axpy")
def _(info, in_dims, x, y, alpha):
    x, y = (t.unsqueeze(0).expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0) for t, d in zip((x, y), in_dims))
    return axpy(x.contiguous(), y.contiguous(), alpha), 0


@torch.library.custom_op("launches::add_to", mutates_args={"out"})
def add_to(out: torch.Tensor, x: torch.Tensor, times: int = 1) -> None:
    out.add_(x * times)


@add_to.register_fake
def _(out, x, times=1):
    return None


@torch.library.custom_op("launches::halves", mutates_args=())
def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 0.5, x + 0.5


@halves.register_fake
def _(x):
    return torch.empty_like(x), torch.empty_like(x)
'''

# What --kernels names, and what the source imports.
KERNELS = '''
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def axpy_kernel(x, y, out, n, alpha, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, alpha * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def add_kernel(out, x, n, times, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(out + at, mask=at < n) + tl.load(x + at, mask=at < n) * times, mask=at < n)


@triton.jit
def halves_kernel(x, low, high, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(low + at, value * 0.5, mask=at < n)
    tl.store(high + at, value + 0.5, mask=at < n)


@triton_op("launches::axpy", mutates_args={})
def axpy(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    wrap_triton(axpy_kernel)[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), alpha, BLOCK=16)
    return out


@triton_op("launches::add_to", mutates_args={"out"})
def add_to(out: torch.Tensor, x: torch.Tensor, times: int = 1) -> None:
    wrap_triton(add_kernel)[(triton.cdiv(x.numel(), 16),)](out, x.contiguous(), x.numel(), times, BLOCK=16)


@triton_op("launches::halves", mutates_args={})
def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x = x.contiguous()
    low, high = torch.empty_like(x), torch.empty_like(x)
    wrap_triton(halves_kernel)[(triton.cdiv(x.numel(), 16),)](x, low, high, x.numel(), BLOCK=16)
    return low, high
'''

HEAD = """
import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from operators import add_to, axpy, halves

"""

# Of each: forward's parameters, its body, the calls.
N = np.int64
MODELS = {
    "branches": ("x, flag", """
        def other(x):
            total = self.layer(x)
            add_to(total, x, 3)
            return total - 1
        y = torch.cond(flag, lambda x: axpy(x * 2, x, 0.5).abs(), other, (x,))
        low, high = torch.cond(y.sum() > 0, lambda y: halves(y), lambda y: halves(y * 2)[::-1], (y,))
        return low, high, axpy(low, high, -1.0)""", [(5, True), (5, False), (17, True)]),
    "loops": ("x, n", """
        def body(i, y, z):
            low, high = halves(y)
            return i + 1, torch.cond(i % 2 == 0, lambda a, b: axpy(a, b, 0.25), lambda a, b: axpy(b, a, -0.25), (low, high)), self.layer(z) + y
        i, y, z = while_loop(lambda i, y, z: (i < n) & (y.abs().amax() < 1e3), body, (torch.tensor(0), x, x * 0))
        return i, y, z""", [(5, N(3)), (2, N(0)), (9, N(7))]),
    "rows": ("x, flag", """
        y = each(lambda row, w: axpy(row, w, 2.0), x, self.layer.bias)
        z = each(lambda row: torch.cond(flag, lambda r: halves(r)[0], lambda r: halves(r)[1], (row,)), y)
        return y, z.sum(0)""", [(5, True), (2, False), (40, True)]),
    "scans": ("x, n", """
        def step(carry, row):
            total = axpy(carry, self.layer(row), 0.5)
            inner, last = scan(lambda c, e: (axpy(c, e, 0.5), axpy(e, c, 2.0)), carry[:1] * 0, torch.stack([row[:1], total[:1]]))
            return total, torch.cat([total, inner, last.flatten()])
        carry, rows = scan(step, x[0] * 0, x)
        back, _ = scan(lambda c, r: (axpy(c, r, 0.5), r * 1), x[0] * 0, x, reverse=True)
        return carry, rows, back + n""", [(5, N(3)), (2, N(0)), (9, N(7))]),
    "combined": ("x, n", """
        return associative_scan(lambda a, b: axpy(a, b, 1.0), x, 0, combine_mode="generic"), associative_scan(lambda a, b: axpy(a, b, 0.0) * 1.0, x, 1, combine_mode="generic") * n""", [(5, N(1)), (5, N(2))]),
    "written": ("x, n", """
        y, z = x + 1, torch.zeros(6, 8)
        add_to(y, x)
        add_to(y[1], x[0] * n, 2)
        add_to(z[2:5], torch.ones(3, 8), 3)
        add_to(z.view(-1)[5:9], x[1])
        add_to(self.calls, y[1])
        add_to(x[1:], y[:-1])
        return y, z, x * 1, self.calls * 1""", [(5, N(3)), (3, N(0)), (9, N(7))]),
    "kept": ("x, flag", """
        add_to(self.calls, x[0], 2)
        self.calls.copy_(torch.cond(flag, lambda c: axpy(c, c, 1.0), lambda c: halves(c)[0], (self.calls,)))
        return self.calls + x""", [(5, True), (2, False), (9, True)]),
}


def source_of(name):
    parameters, body, _ = MODELS[name]
    made = "        self.layer = nn.Linear(4, 4)\n" + ('        self.register_buffer("calls", torch.zeros(4))\n' if "calls" in body else "")
    return HEAD + f"\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{made}\n    def forward(self, {parameters}):{body}\n"


def loaded(folder, name, operators):
    """The model with operators of PyTorch's own code."""
    sys.modules["operators"] = operators
    scope = {}
    exec(compile(source_of(name), "model.py", "exec"), scope)
    torch.manual_seed(2)
    return scope["Model"]().eval()


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for part in value for t in flat(part)]


def check(folder, name):
    model = loaded(folder, name, OPERATORS)
    (folder / "operators.py").write_text(KERNELS)
    (folder / "model.py").write_text(source_of(name))
    np.savez(folder / "weights.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    second = MODELS[name][0].split(", ")[1]
    torch.manual_seed(8)
    calls = [(torch.randn(rows, 4), torch.tensor(other)) for rows, other in MODELS[name][2]]
    # Where PyTorch does not fix them itself, the rows differ from call to call.
    shapes = ({0: Dim("rows", min=3 if name == "written" else 2, max=64)}, None) if name != "combined" else None
    packages = []
    with torch.no_grad():
        for strict in (False, True):
            try:
                program = export(loaded(folder, name, OPERATORS), calls[0], dynamic_shapes=shapes, strict=strict)
            except Exception as error:
                assert strict, error
                print(f"{name}: PyTorch does not export it with strict=True: {str(error).strip().splitlines()[0][:100]}")
                continue
            for dialect, one in (("training", program), ("core", program.run_decompositions())):
                if name == "combined" and dialect == "training":
                    continue  # PyTorch puts torch.vmap there, which only decompositions open
                save(one, folder / "model.pt2")
                missing = pellucid("compile", folder / "model.pt2", "-o", folder / "none.plc", fails=True)
                assert "launches::" in missing and "--kernels" in missing, missing
                packages.append((f"{dialect}{' strict' if strict else ''}", folder / f"{dialect}{strict}.plc"))
                pellucid("compile", folder / "model.pt2", "--kernels", folder / "operators.py", "-o", packages[-1][1], "--target", "cpu:x86-64-v3", "--verify-each")
    kind = {"flag": "bool[]", "n": "i64[]"}[second]
    packages.append(("source", folder / "source.plc"))
    pellucid("compile", f"{folder / 'model.py'}:Model", "--input", "x=f32[rows=5:2..64,4]", "--input", f"{second}={kind}", "--weights", folder / "weights.npz", "-o", packages[-1][1], "--target", "cpu:x86-64-v3")
    found = {}
    for way, package in packages:
        model = loaded(folder, name, OPERATORS)
        state = ("--state", folder / f"{way}.safetensors") if "self.calls" in MODELS[name][1] else ()
        for number, call in enumerate(calls):
            with torch.no_grad():
                wanted = flat(model(*[value.clone() for value in call]))
            got = run_package(folder, package, [value.numpy() for value in call], len(wanted), *state)
            for i, want in enumerate(wanted):
                np.testing.assert_allclose(got[i], want.numpy(), rtol=2e-5, atol=2e-5, err_msg=f"{way}, call {number}, result {i}")
                # Archives hold the tree in which PyTorch combines elements, its own operators; a source has our order.
                same = found.setdefault((number, i, name == "combined" and way == "source"), got[i])
                assert same.dtype == got[i].dtype and same.tobytes() == got[i].tobytes(), f"call {number}, result {i}: {way} and {packages[0][0]} have other bits"
    print(f"ok      {name}: {', '.join(way for way, _ in packages)}", flush=True)


if __name__ == "__main__":
    import types

    OPERATORS = types.ModuleType("operators")
    exec(compile(REFERENCE, "operators.py", "exec"), OPERATORS.__dict__)
    check_each(sys.argv[2:] or MODELS, check)
