#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs every operator, and compares values, shapes and dtypes with numpy in float64.

    operators_test.py PROGRAM [TEXT…]        all cases, or those whose expression has one of the texts
    operators_test.py --torch [TEXT…]        the same of PyTorch: what the cases expect is what it gives

Exit code 77 where numpy is missing. Shapes are odd, empty and 0-d; operands broadcast, transposed, sliced and expanded.
"""
import concurrent.futures
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

TEST = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TEST), str(TEST / "judge")]
from bfloat16 import from_bf16, to_bf16  # noqa: E402
from judge import bound_of, problem  # noqa: E402
from levels import runnable, skipped  # noqa: E402

HEADER = "import torch\nimport torch.nn.functional as F\n\n\n"
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i64": np.int64, "i32": np.int32,
          "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}
# What the functions of a case may round, in halves of a unit in the last place; the narrow types compute in f32 and round once.
ROUNDINGS = {"f64": 16, "f32": 16, "f16": 1.05, "bf16": 1.05}
# Below it the error is absolute: differences of numbers near 1 keep that of their operands.
FLOOR = {"f64": 1.0, "f32": 1.0, "f16": 2.0**-8, "bf16": 2.0**-12}
FLOATS = ("f32", "f64", "f16", "bf16")


def erf(x):
    return np.vectorize(__import__("math").erf, otypes=[np.float64])(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(x, w=None, b=None, eps=1e-5, dims=1):
    axes = tuple(range(x.ndim - dims, x.ndim))
    out = (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    return out * (1 if w is None else w) + (0 if b is None else b)


def rms_norm(x, w=None, eps=1e-6):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * (1 if w is None else w)


def gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


class Case:
    def __init__(self, text, inputs, want, dtype=None, sizes=None, low=-2.0, high=2.0, terms=0, roundings=None, signed_zeros=True, special=False):
        self.text, self.inputs, self.want, self.dtype = text, inputs, want, dtype
        self.sizes, self.low, self.high, self.special = sizes, low, high, special
        self.terms, self.roundings, self.signed_zeros = terms, roundings, signed_zeros


CASES = []


def case(text, inputs, want, **options):
    """`inputs`: `x=f32[m,5] y=f32[]`; a `*` for the dtype stands for each float dtype in turn."""
    for dtype in FLOATS if "*" in inputs else (None,):
        local = dict(options)
        if dtype:
            local.setdefault("dtype", dtype)
        if "dtype" not in local:
            raise ValueError(f"{text} with {inputs} does not say its result's type")
        CASES.append(Case(text, inputs.replace("*", dtype or ""), want, **local))


# Every size that `m` takes where it is a dim: to the end of its declared range; one more is refused.
LARGEST = 64
SIZES = (0, 1, 7, LARGEST)

# --- arithmetic, broadcasting, promotion ---
for op, f in (("+", np.add), ("-", np.subtract), ("*", np.multiply)):
    case(f"x {op} y", "x=*[m,5] y=*[m,5]", f)
    case(f"x {op} y", "x=*[m,1] y=*[3,1,5]", f)
    case(f"x {op} y", "x=f32[] y=f32[]", f, dtype="f32")
    case(f"x {op} 3", "x=i32[m,5]", lambda x, f=f: f(x, 3), dtype="i32")
    case(f"x {op} 0.5", "x=i32[m,5]", lambda x, f=f: f(x, 0.5), dtype="f32")
    case(f"2 {op} x", "x=i64[m]", lambda x, f=f: f(2, x), dtype="i64")
    case(f"x.t() {op} y[:, 1::2]", "x=f32[4,m] y=f32[m,9]", lambda x, y, f=f: f(x.T, y[:, 1::2]), dtype="f32")
case("x / y", "x=*[m,5] y=*[5]", lambda x, y: x / y, low=0.5)
case("x / y", "x=i32[m,5] y=i64[5]", lambda x, y: x / y, dtype="f32", low=1, high=20)
case("x / 4", "x=i64[m]", lambda x: x / 4, dtype="f32")
case("x + y", "x=bf16[m,5] y=f32[5]", np.add, dtype="f32")
case("x + y", "x=bf16[m,5] y=f16[5]", np.add, dtype="f32")
case("x + y", "x=i32[m,5] y=f16[5]", np.add, dtype="f16")
case("x + y", "x=i32[m,5] y=i64[]", np.add, dtype="i32")
# A tensor without dims is rounded to the result's type first.
case("x + y", "x=f16[m,5] y=f32[]", lambda x, y: x + np.float64(np.float16(y)), dtype="f16")
case("x + y", "x=i32[m,5] y=f64[]", np.add, dtype="f64")
case("x + y", "x=u8[m] y=i8[m]", np.add, dtype="i16", low=0, high=60)
case("x + y", "x=bool[m] y=i32[m]", np.add, dtype="i32")
case("x * True", "x=f32[m]", lambda x: x, dtype="f32")
case("torch.add(x, y, alpha=2)", "x=f32[m] y=f32[m]", lambda x, y: x + 2 * y, dtype="f32")
case("torch.sub(x, y, alpha=0.5)", "x=f32[m] y=f32[m]", lambda x, y: x - 0.5 * y, dtype="f32")
case("1.0 - x", "x=*[m,5]", lambda x: 1 - x)
case("2.0 / x", "x=*[m,5]", lambda x: 2 / x, low=0.5)
case("-x", "x=*[m,5]", np.negative)
case("-x", "x=i32[m,5]", np.negative, dtype="i32")
case("torch.abs(x)", "x=*[m,5]", np.abs)
case("x ** 2", "x=*[m,5]", lambda x: x**2)
case("x ** 0.5", "x=f32[m,5]", lambda x: x**0.5, low=0.1, dtype="f32")
case("x ** y", "x=f32[m,5] y=f32[m,5]", lambda x, y: x**y, low=0.1, dtype="f32")
case("x // 3", "x=i32[m]", lambda x: x // 3, dtype="i32")
case("x // y", "x=f32[m] y=f32[m]", np.floor_divide, dtype="f32", low=0.5)
case("x % 3", "x=i32[m]", lambda x: x % 3, dtype="i32")
case("x % 0.7", "x=f32[m]", lambda x: np.mod(x, np.float64(np.float32(0.7))), dtype="f32")
for name, f in (("minimum", np.minimum), ("maximum", np.maximum)):
    case(f"torch.{name}(x, y)", "x=*[m,5] y=*[5]", f)
    # Which of two zeros it is, no one says.
    case(f"torch.{name}(x, y)", "x=f32[m,5] y=f32[5]", f, special=True, dtype="f32", signed_zeros=False)
    case(f"torch.{name}(x, y)", "x=i64[m,5] y=i64[5]", f, dtype="i64")
case("x.clamp(-0.5, 1)", "x=*[m,5]", lambda x: np.clip(x, -0.5, 1))
case("x.clamp(min=0)", "x=i32[m]", lambda x: np.maximum(x, 0), dtype="i32")
case("torch.clamp(x, max=0.25)", "x=f32[m]", lambda x: np.minimum(x, 0.25), dtype="f32", special=True)
case("x & y", "x=i32[m] y=i32[m]", np.bitwise_and, dtype="i32")
case("(x > 0) & (y > 0) | ~(x > y)", "x=f32[m] y=f32[m]", lambda x, y: (x > 0) & (y > 0) | ~(x > y), dtype="bool")
case("torch.ops.aten._to_copy.default(x, dtype=torch.float64) + y", "x=i32[m] y=f32[m]", np.add, dtype="f64")
case("x.clamp_min(-0.5)", "x=*[m,5]", lambda x: np.maximum(x, -0.5))
case("torch.clamp_max(x, 1)", "x=i32[m]", lambda x: np.minimum(x, 1), dtype="i32")
case("torch.addcmul(x, y, z, value=0.5)", "x=*[m,5] y=*[m,1] z=*[5]", lambda x, y, z: x + 0.5 * y * z)
case("x.detach() * 2", "x=*[m,5]", lambda x: x * 2)
for name, f in (("logical_and", np.logical_and), ("logical_or", np.logical_or)):
    case(f"torch.{name}(x, y)", "x=f32[m,5] y=i32[5]", f, dtype="bool")
# --- comparisons, where, casts ---
for op in ("<", "<=", ">", ">=", "==", "!="):
    case(f"x {op} y", "x=f32[m,5] y=f32[5]", eval(f"lambda x, y: x {op} y"), dtype="bool", special=True)
    case(f"x {op} 1", "x=i64[m,5]", eval(f"lambda x: x {op} 1"), dtype="bool")
    case(f"x {op} y", "x=bf16[m] y=f32[m]", eval(f"lambda x, y: x {op} y"), dtype="bool")
case("torch.where(x > 0, x, y)", "x=*[m,5] y=*[5]", lambda x, y: np.where(x > 0, x, y))
case("torch.where(x > 0, x, 0.5)", "x=f16[m,5]", lambda x: np.where(x > 0, x, 0.5), dtype="f16")
case("torch.where(c, x, y)", "c=bool[5] x=i32[m,5] y=f32[]", lambda c, x, y: np.where(c, x, y), dtype="f32")
case("x.masked_fill(c, -1.5)", "x=f32[m,5] c=bool[5]", lambda x, c: np.where(c, -1.5, x), dtype="f32")
for target in ("f32", "f64", "f16", "bf16", "i64", "i32", "i8", "u8", "bool"):
    torch_name = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
                  "i8": "int8", "u8": "uint8", "bool": "bool"}[target]
    cast = (lambda x: np.trunc(x)) if target[0] in "iu" else (lambda x: x != 0) if target == "bool" else (lambda x: x)
    for source in ("f32", "bf16", "i32", "bool"):
        case(f"x.to(torch.{torch_name})", f"x={source}[m,5]", cast, dtype=target, low=0, high=100)
case("x.float()", "x=f16[m]", lambda x: x, dtype="f32")
case("x.half()", "x=f32[m]", lambda x: x, dtype="f16")
case("x.bfloat16() * 1.5", "x=f32[m]", lambda x: x * 1.5, dtype="bf16", roundings=2.1)
case("x.type_as(y)", "x=f32[m] y=f16[]", lambda x, y: x, dtype="f16")
# --- functions ---
for name, f, low in (("exp", np.exp, -3), ("log", np.log, 0.1), ("sqrt", np.sqrt, 0.1), ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1),
                     ("sin", np.sin, -9), ("cos", np.cos, -9), ("tanh", np.tanh, -4), ("sigmoid", sigmoid, -4),
                     ("relu", lambda x: np.maximum(x, 0), -2), ("floor", np.floor, -9), ("ceil", np.ceil, -9),
                     ("round", np.round, -9), ("log2", np.log2, 0.1), ("exp2", np.exp2, -3), ("erf", erf, -3),
                     ("reciprocal", lambda x: 1 / x, 0.3), ("square", np.square, -3), ("sign", np.sign, -3),
                     ("expm1", np.expm1, -1), ("log1p", np.log1p, 0.1)):
    case(f"torch.{name}(x)", "x=*[m,5]", f, low=low, high=4)
for name in ("exp", "sqrt", "rsqrt", "tanh", "sigmoid"):
    case(f"torch.{name}(x)", "x=i32[m]", {"exp": np.exp, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh,
                                          "sigmoid": sigmoid}[name], dtype="f32", low=1, high=9)
case("torch.exp(x)", "x=f32[m,5]", np.exp, dtype="f32", special=True)
case("torch.tanh(x)", "x=f32[m,5]", np.tanh, dtype="f32", special=True)
case("torch.relu(x)", "x=f32[m,5]", lambda x: np.where(x < 0, 0, x), dtype="f32", special=True)
case("F.silu(x)", "x=*[m,5]", lambda x: x * sigmoid(x), low=-6, high=6)
case("F.gelu(x)", "x=*[m,5]", gelu, low=-4, high=4)
case("F.gelu(x, approximate='tanh')", "x=*[m,5]", gelu_tanh, low=-4, high=4)
case("F.relu(x.t())", "x=f32[m,5]", lambda x: np.maximum(x, 0).T, dtype="f32")
case("F.softplus(x)", "x=f32[m,5]", lambda x: np.log1p(np.exp(x)), dtype="f32")
case("F.leaky_relu(x, 0.1)", "x=f32[m,5]", lambda x: np.where(x > 0, x, 0.1 * x), dtype="f32")
# --- reductions ---
for name, f in (("sum", np.sum), ("mean", np.mean), ("amax", np.max), ("amin", np.min)):
    if name in ("sum", "mean"):
        case(f"x.{name}()", "x=*[m,5]", f, sizes=(1, 7))
        case(f"x.{name}()", "x=f32[]", f, dtype="f32")
    for dim in ("0", "1", "-1", "(0, 2)", "(-1, -2)"):
        axis = eval(dim)
        case(f"x.{name}(dim={dim})", "x=*[3,m,5]", lambda x, f=f, a=axis: f(x, axis=a), sizes=(1, 7), terms=35 if name in ("sum", "mean") else 0)
    case(f"x.{name}(dim=-1, keepdim=True)", "x=f32[3,m,5]", lambda x, f=f: f(x, axis=-1, keepdims=True), dtype="f32")
    case(f"x.{name}(dim=1, keepdim=True)", "x=f32[3,m,5]", lambda x, f=f: f(x, axis=1, keepdims=True), dtype="f32", sizes=(1, 7))
    case(f"x.t().{name}(dim=0)", "x=f32[m,1500]", lambda x, f=f: f(x.T, axis=0), dtype="f32", terms=1500 if name in ("sum", "mean") else 0)
    case(f"x[:, ::2].{name}(dim=1)", "x=f32[m,9]", lambda x, f=f: f(x[:, ::2], axis=1), dtype="f32")
    case(f"x.{name}(dim=0)", "x=f32[37,m]", lambda x, f=f: f(x, axis=0), dtype="f32", terms=37 if name in ("sum", "mean") else 0)
case("x.sum(dim=0)", "x=f32[m,5]", lambda x: x.sum(axis=0), dtype="f32")
case("x.sum(dim=1)", "x=i32[m,5]", lambda x: x.sum(axis=1), dtype="i64")
case("x.sum(dim=1)", "x=bool[m,5]", lambda x: x.sum(axis=1), dtype="i64")
case("x.sum(dim=1, dtype=torch.float64)", "x=f32[m,5]", lambda x: x.sum(axis=1), dtype="f64")
case("x.mean(dim=0)", "x=f32[m,5]", lambda x: x.sum(axis=0) / np.float64(len(x)), dtype="f32")
case("(x * 2 + 1).sum(dim=-1)", "x=*[m,300]", lambda x: (x * 2 + 1).sum(axis=-1), terms=300, roundings=1.5)
case("x.amax(dim=1)", "x=f32[m,50]", lambda x: x.max(axis=1), dtype="f32", special=True)
case("x.amax(dim=1)", "x=i32[m,5]", lambda x: x.max(axis=1), dtype="i32")
case("x.argmax(dim=1)", "x=f32[m,50]", lambda x: x.argmax(axis=1), dtype="i64")
case("x.argmax(dim=0)", "x=f32[37,m]", lambda x: x.argmax(axis=0), dtype="i64")
case("x.argmin(dim=-1, keepdim=True)", "x=f32[m,1500]", lambda x: x.argmin(axis=-1)[..., None], dtype="i64")
case("x.argmax(dim=1)", "x=i32[m,5]", lambda x: x.argmax(axis=1), dtype="i64")
case("x.argmax()", "x=f32[5,7]", lambda x: x.argmax(), dtype="i64")
case("x.argmax(dim=1)", "x=f32[m,50]", lambda x: x.argmax(axis=1), dtype="i64", special=True)
case("x.prod(dim=1)", "x=f32[m,5]", lambda x: x.prod(axis=1), dtype="f32")
case("x.prod(dim=0)", "x=f32[5,m]", lambda x: x.prod(axis=0), dtype="f32")
case("x.prod()", "x=f64[5,3]", lambda x: x.prod(), dtype="f64")
case("x.any(dim=1)", "x=f32[m,5]", lambda x: x.any(axis=1), dtype="bool")
case("(x > 1.9).any(dim=0)", "x=f32[37,m]", lambda x: (x > 1.9).any(axis=0), dtype="bool")
case("(x > -1.5).all()", "x=f32[m,3]", lambda x: (x > -1.5).all(), dtype="bool")
case("x.amax(dim=0)", "x=bool[5,m]", lambda x: x.max(axis=0), dtype="bool")
case("x.any(dim=1)", "x=bool[m,5]", lambda x: x.any(axis=1), dtype="bool")
case("x.all(dim=1)", "x=bool[m,5]", lambda x: x.all(axis=1), dtype="bool")
case("x.max()", "x=f32[5,7]", lambda x: x.max(), dtype="f32")
case("x.var(dim=1)", "x=f32[m,7]", lambda x: x.var(axis=1, ddof=1), dtype="f32")
case("x.std(dim=1)", "x=f32[m,7]", lambda x: x.std(axis=1, ddof=1), dtype="f32")
# --- rows ---
for dim in (-1, 0, 1):
    case(f"torch.softmax(x, dim={dim})", "x=*[3,m,5]", lambda x, d=dim: softmax(x, d))
case("F.softmax(x, dim=-1)", "x=f32[m,1500]", lambda x: softmax(x, -1), dtype="f32")
case("F.softmax(x.t(), dim=-1)", "x=f32[50,m]", lambda x: softmax(x.T, -1), dtype="f32")
case("F.log_softmax(x, dim=-1)", "x=*[m,50]", lambda x: np.log(softmax(x, -1)))
case("F.softmax(x, dim=-1, dtype=torch.float32)", "x=bf16[m,50]", lambda x: softmax(x, -1), dtype="f32")
case("F.layer_norm(x, (5,))", "x=*[3,m,5]", layer_norm)
case("F.layer_norm(x, (5,), w, b, eps=1e-3)", "x=*[3,m,5] w=*[5] b=*[5]", lambda x, w, b: layer_norm(x, w, b, 1e-3))
case("F.layer_norm(x, (5,), w)", "x=f32[m,5] w=f32[5]", layer_norm, dtype="f32")
case("F.layer_norm(x, (4, 5), w, b)", "x=f32[m,4,5] w=f32[4,5] b=f32[4,5]", lambda x, w, b: layer_norm(x, w, b, dims=2), dtype="f32")
case("F.layer_norm(x.t(), (7,))", "x=f32[7,m]", lambda x: layer_norm(x.T), dtype="f32")
case("F.rms_norm(x, (5,), w, eps=1e-6)", "x=*[3,m,5] w=*[5]", rms_norm)
case("F.rms_norm(x, (1500,), eps=1e-6)", "x=f32[m,1500]", rms_norm, dtype="f32")
case("F.rms_norm(x, (5,), w)", "x=f32[m,5] w=f32[5]", lambda x, w: rms_norm(x, w, 1.1920929e-07), dtype="f32")
# --- products ---
case("x @ y", "x=*[m,19] y=*[19,6]", np.matmul, terms=20)
case("x @ y", "x=f32[m,19] y=f32[19,6]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f64[m,19] y=f64[19,6]", np.matmul, dtype="f64")
case("x @ y", "x=i32[m,19] y=i32[19,6]", np.matmul, dtype="i32")
case("x @ y.t()", "x=f32[m,19] y=f32[6,19]", lambda x, y: x @ y.T, dtype="f32", terms=20)
case("x @ y", "x=f32[3,m,19] y=f32[3,19,6]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f32[2,3,m,19] y=f32[19,6]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f32[2,1,m,19] y=f32[3,19,6]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f32[19] y=f32[19,6]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f32[m,19] y=f32[19]", np.matmul, dtype="f32", terms=20)
case("x @ y", "x=f32[19] y=f32[19]", np.matmul, dtype="f32", terms=20)
case("torch.matmul(x, y)", "x=f32[m,0] y=f32[0,6]", np.matmul, dtype="f32")
case("torch.bmm(x, y.transpose(1, 2))", "x=f32[3,m,19] y=f32[3,6,19]", lambda x, y: x @ y.swapaxes(1, 2), dtype="f32", terms=20)
case("torch.mm(x, y)", "x=bf16[m,19] y=bf16[19,6]", np.matmul, dtype="bf16", terms=20)
case("torch.addmm(b, x, y, beta=0.5, alpha=2)", "b=f32[6] x=f32[m,19] y=f32[19,6]", lambda b, x, y: 0.5 * b + 2 * (x @ y), dtype="f32", terms=20)
case("F.linear(x, w, b)", "x=*[3,m,19] w=*[6,19] b=*[6]", lambda x, w, b: x @ w.T + b, terms=20)
case("F.linear(x, w)", "x=f32[m,19] w=f32[6,19]", lambda x, w: x @ w.T, dtype="f32", terms=20)
case("F.linear(x, w, b)", "x=f32[19] w=f32[6,19] b=f32[6]", lambda x, w, b: x @ w.T + b, dtype="f32", terms=20)
case("F.linear(x.t(), w)", "x=f32[19,m] w=f32[6,19]", lambda x, w: x.T @ w.T, dtype="f32", terms=20)
# --- views and copies ---
case("torch.chunk(x, 3, dim=1)[1] * 2", "x=f32[m,8]", lambda x: x[:, 3:6] * 2, dtype="f32")
case("torch.chunk(x, 2, dim=-1)", "x=f32[m,7]", lambda x: (x[:, :4], x[:, 4:]), dtype="f32")
case("torch.split(x, 3, dim=1)", "x=f32[m,7]", lambda x: (x[:, :3], x[:, 3:6], x[:, 6:]), dtype="f32")
case("torch.split(x, 9, dim=1)[0] * 2", "x=f32[m,7]", lambda x: x * 2, dtype="f32")
case("torch.chunk(x, 1)[0] * 2", "x=f32[m,7]", lambda x: x * 2, dtype="f32")
case("x.split([2, 5], dim=-1)[1]", "x=i64[m,7]", lambda x: x[:, 2:], dtype="i64")
case("x.view(-1, 10)", "x=f32[m,2,5]", lambda x: x.reshape(-1, 10), dtype="f32")
case("x.view(x.shape[0], 5, 2) + 1", "x=f32[m,10]", lambda x: x.reshape(x.shape[0], 5, 2) + 1, dtype="f32")
case("x.reshape(5, -1)", "x=f32[m,2,5]", lambda x: x.reshape(5, x.size // 5), dtype="f32")
case("x.t().reshape(-1)", "x=f32[m,5]", lambda x: x.T.reshape(-1), dtype="f32")
case("x.flatten(1)", "x=f32[m,2,5]", lambda x: x.reshape(x.shape[0], 10), dtype="f32")
case("x.transpose(0, -1)", "x=f32[m,2,5]", lambda x: x.swapaxes(0, -1), dtype="f32")
case("x.transpose(1, 2).contiguous() * 2", "x=bf16[m,2,5]", lambda x: x.swapaxes(1, 2) * 2, dtype="bf16")
case("x.permute(2, 0, 1)", "x=f32[m,2,5]", lambda x: x.transpose(2, 0, 1), dtype="f32")
case("x.permute(2, 0, 1).contiguous().view(5, -1)", "x=i32[m,2,5]", lambda x: x.transpose(2, 0, 1).reshape(5, x.size // 5), dtype="i32")
case("x.unsqueeze(1) + y", "x=f32[m,5] y=f32[3,5]", lambda x, y: x[:, None] + y, dtype="f32")
case("x.squeeze(1)", "x=f32[m,1,5]", lambda x: x[:, 0], dtype="f32")
case("x.expand(3, -1, 5) * 2", "x=f32[m,1]", lambda x: np.broadcast_to(x, (3, x.shape[0], 5)) * 2, dtype="f32")
case("x[:, 1:-1:2]", "x=f32[m,9]", lambda x: x[:, 1:-1:2], dtype="f32")
case("x[:, -1]", "x=f32[m,9]", lambda x: x[:, -1], dtype="f32")
case("x[..., None] - x[:, None, :]", "x=f32[m,5]", lambda x: x[..., None] - x[:, None, :], dtype="f32")
case("x.mT @ y", "x=f32[3,7,5] y=f32[3,7,m]", lambda x, y: x.swapaxes(1, 2) @ y, dtype="f32", terms=7)
case("torch.cat([x, y], dim=0)", "x=f32[m,5] y=f32[3,5]", lambda x, y: np.concatenate([x, y]), dtype="f32")
case("torch.cat([x, y, x], dim=-1)", "x=i64[m,5] y=i64[m,2]", lambda x, y: np.concatenate([x, y, x], -1), dtype="i64")
case("torch.cat([x, y], dim=1)", "x=f32[m,5] y=f16[m,2]", lambda x, y: np.concatenate([x, y], 1), dtype="f32")
case("torch.cat([x.t(), y], dim=1)", "x=f32[5,m] y=f32[m,2]", lambda x, y: np.concatenate([x.T, y], 1), dtype="f32")
case("torch.cat((x * 2, torch.exp(x)))", "x=f32[m]", lambda x: np.concatenate([x * 2, np.exp(x)]), dtype="f32")
case("torch.stack([x, y], dim=1)", "x=f32[m,5] y=f32[m,5]", lambda x, y: np.stack([x, y], 1), dtype="f32")
case("x.clone()", "x=bool[m,5]", lambda x: x, dtype="bool")
case("x.repeat(2, 3)", "x=f32[m,5]", lambda x: np.tile(x, (2, 3)), dtype="f32")
case("x", "x=f32[m,5]", lambda x: x, dtype="f32")
case("(x, x)", "x=f32[m,5]", lambda x: (x, x), dtype="f32")
# --- factories ---
case("torch.zeros(3, 5) + x", "x=f32[5]", lambda x: np.zeros((3, 5)) + x, dtype="f32")
case("torch.ones(x.shape[0], 2, dtype=torch.int32)", "x=f32[m]", lambda x: np.ones((len(x), 2)), dtype="i32")
case("torch.full((2, 3), 1.5, dtype=x.dtype) * x", "x=f16[3]", lambda x: 1.5 * np.ones((2, 3)) * x, dtype="f16")
case("torch.zeros_like(x)", "x=bf16[m,5]", np.zeros_like, dtype="bf16")
case("torch.ones_like(x) - x", "x=f64[m,5]", lambda x: 1 - x, dtype="f64")
case("torch.full_like(x, 2.5) + x", "x=f32[m,5]", lambda x: 2.5 + x, dtype="f32")
case("torch.full_like(x, 7)", "x=i64[m,5]", lambda x: np.full_like(x, 7), dtype="i64")
case("torch.empty_like(x).fill_(2.0)", "x=f32[m,5]", lambda x: np.full_like(x, 2.0), dtype="f32")
case("torch.empty(x.shape[0], 3).zero_()", "x=f32[m,5]", lambda x: np.zeros((len(x), 3)), dtype="f32")
case("x.new_zeros(2, 3)", "x=f16[m]", lambda x: np.zeros((2, 3)), dtype="f16")
case("x.new_ones(x.shape[0])", "x=i32[m]", lambda x: np.ones(len(x)), dtype="i32")
case("x.new_full((3,), 0.5)", "x=f32[m]", lambda x: np.full(3, 0.5), dtype="f32")
case("x.new_empty(x.shape).copy_(x)", "x=f32[m,5]", lambda x: x, dtype="f32")
case("torch.arange(7) * x", "x=i64[m,7]", lambda x: np.arange(7) * x, dtype="i64")
case("torch.arange(x.shape[0]) + 1", "x=f32[m]", lambda x: np.arange(len(x)) + 1, dtype="i64")
case("torch.arange(0, 1, 0.25) + x", "x=f32[4]", lambda x: np.arange(0, 1, 0.25) + x, dtype="f32")
case("(torch.arange(x.shape[0]) * x).sum()", "x=f32[m]", lambda x: (np.arange(len(x)) * x).sum(), dtype="f32", terms=7)
case("torch.tensor(2.5) * x", "x=f32[m]", lambda x: 2.5 * x, dtype="f32")
# --- gathers ---
case("F.embedding(i, w)", "i=i64[m,3] w=*[11,5]", lambda i, w: w[i], low=0, high=11)
case("F.embedding(i, w)", "i=i32[m] w=f32[11,5]", lambda i, w: w[i], low=0, high=11, dtype="f32")
case("F.embedding(i, w.t())", "i=i64[m] w=f32[5,11]", lambda i, w: w.T[i], low=0, high=11, dtype="f32")
case("F.embedding(i, w) * 2 + 1", "i=i64[] w=f32[11,5]", lambda i, w: w[i] * 2 + 1, low=0, high=11, dtype="f32")
case("torch.index_select(w, 0, i)", "i=i64[m] w=f32[11,5]", lambda i, w: w[i], low=0, high=11, dtype="f32")
case("torch.index_select(w, 1, i)", "i=i64[m] w=f32[5,11]", lambda i, w: w[:, i], low=0, high=11, dtype="f32")
case("torch.gather(w, 1, i)", "i=i64[m,3] w=f32[m,11]", lambda i, w: np.take_along_axis(w, i, 1), low=0, high=11, dtype="f32")
# --- in place ---
case("x.clone().add_(1).mul_(y)", "x=f32[m,5] y=f32[5]", lambda x, y: (x + 1) * y, dtype="f32")
case("(lambda z: (z[:, 1].add_(5), z)[1])(x * 1)", "x=f32[m,5]", lambda x: x + 5 * (np.arange(5) == 1), dtype="f32")
case("(lambda z: (z[:, :3].mul_(2), z[:, 2:].add_(1), z)[2])(x * 1)", "x=f32[m,5]",
     lambda x: x * np.where(np.arange(5) < 3, 2, 1) + (np.arange(5) >= 2), dtype="f32")
case("(lambda z: (z.view(-1)[::2].zero_(), z)[1])(x * 1)", "x=f32[m,5]",
     lambda x: np.where(np.arange(x.size).reshape(x.shape) % 2 == 0, 0, x), dtype="f32")


# --- running sums and orders ---
def first(order, k, axis):
    return np.take(order, np.arange(k), axis)


def ascending(x, axis):
    return np.argsort(x, axis, kind="stable")


def descending(x, axis):
    # Equal elements keep their order; NaN comes first.
    return np.argsort(np.where(np.isnan(x), -np.inf, -np.clip(x, -1e300, 1e300)), axis, kind="stable")


def ordered(x, order, axis):
    return np.take_along_axis(x, order, axis), order


case("x.cumsum(-1)", "x=*[m,50]", lambda x: x.cumsum(1), low=0.0, high=1.0, terms=50)
case("x.cumsum(1)", "x=f32[m,2500]", lambda x: x.cumsum(1), dtype="f32", terms=2500)
case("x.cumsum(0)", "x=f32[m,300]", lambda x: x.cumsum(0), dtype="f32", terms=64)
case("x.t().cumsum(1)", "x=f32[37,m]", lambda x: x.T.cumsum(1), dtype="f32", terms=37)
case("x.cumsum(1)", "x=i32[m,5,3]", lambda x: x.cumsum(1), dtype="i64")
case("x.cumsum(0)", "x=bool[m]", lambda x: x.cumsum(0), dtype="i64")
case("x.cumsum(0, dtype=torch.float64)", "x=f32[m]", lambda x: x.cumsum(0), dtype="f64")
case("x.cumsum(0)", "x=f32[]", lambda x: x, dtype="f32")
case("x.cumsum(1)", "x=f32[m,50]", lambda x: x.cumsum(1) + 0.0, dtype="f32", terms=50, special=True)
case("x.cumprod(1)", "x=f32[m,40]", lambda x: x.cumprod(1), dtype="f32", low=0.9, high=1.1)
case("x[:, ::2].cumprod(0)", "x=i64[m,6]", lambda x: x[:, ::2].cumprod(0), dtype="i64", low=-3, high=3)
case("torch.sort(x)", "x=*[m,50]", lambda x: ordered(x, ascending(x, 1), 1))
case("tuple(torch.sort(x, dim=0, descending=True))", "x=f32[m,5]", lambda x: ordered(x, descending(x, 0), 0), dtype="f32")
case("x.sort(1, descending=True)", "x=f32[m,300]", lambda x: ordered(x, descending(x, 1), 1), dtype="f32", special=True)
case("x.sort(stable=True)", "x=f32[m,17]", lambda x: ordered(x, ascending(x, 1), 1), dtype="f32", special=True)
case("x.sort(1)", "x=i32[m,40]", lambda x: ordered(x, ascending(x, 1), 1), dtype="i32", low=0, high=9)
case("x.sort(1, True)", "x=u8[m,40]", lambda x: ordered(x, descending(x.astype(np.float64), 1), 1), dtype="u8", low=0, high=9)
case("torch.sort(x, 1)", "x=bool[m,9]", lambda x: ordered(x, ascending(x, 1), 1), dtype="bool")
case("torch.argsort(x)", "x=f32[m]", lambda x: ascending(x, 0), dtype="i64")
case("x.argsort(dim=-1, descending=True)", "x=i64[m,33]", lambda x: descending(x.astype(np.float64), 1), dtype="i64", low=0, high=5)
case("x.t().sort(0).values", "x=f32[m,20]", lambda x: np.sort(x.T, 0), dtype="f32")
case("x.topk(3)", "x=f32[m,50]", lambda x: ordered(x, first(descending(x, 1), 3, 1), 1), dtype="f32")
case("torch.topk(x, 2, dim=0, largest=False)", "x=f32[7,m]", lambda x: ordered(x, first(ascending(x, 0), 2, 0), 0), dtype="f32")
case("x.topk(5, 1)[1]", "x=f32[m,5]", lambda x: descending(x, 1), dtype="i64", special=True)
case("x.topk(0)", "x=f32[m,5]", lambda x: (x[:, :0], x[:, :0]), dtype="f32")
case("x.max(1)", "x=f32[m,50]", lambda x: (x.max(1), x.argmax(1)), dtype="f32")
case("torch.min(x, dim=0, keepdim=True).indices", "x=i32[5,m]", lambda x: x.argmin(0)[None], dtype="i64")
for name in ("tan", "atan"):
    case(f"torch.{name}(x)", "x=*[m,5]", {"tan": np.tan, "atan": np.arctan}[name], low=-1.5, high=1.5)
case("torch.asin(x) + torch.acos(x) * 2", "x=f32[m,5]", lambda x: np.arcsin(x) + 2 * np.arccos(x), dtype="f32", low=-1.0, high=1.0)
case("torch.atan2(x, y)", "x=f32[m,5] y=f32[5]", np.arctan2, dtype="f32", special=True)
case("torch.atan2(x, y)", "x=i32[m] y=f64[m]", np.arctan2, dtype="f64")


# --- several index tensors, writes by index ---
def put(x, key, values, add=False):
    y = x.copy()
    if add:
        np.add.at(y, key, values)
    else:
        y[key] = values
    return y


def scattered(x, axis, i, source, add=False):
    key = [np.arange(n).reshape([-1 if d == k else 1 for k in range(i.ndim)]) for d, n in enumerate(i.shape)]
    key[axis] = i
    return put(x, tuple(key), source, add)


INDEXED = {"low": 0, "high": 3, "dtype": "f32"}
case("x[i, j]", "x=f32[3,4,5] i=i64[m] j=i64[m]", lambda x, i, j: x[i, j], **INDEXED)
case("x[i[:, None], j]", "x=f32[3,4,5] i=i64[m] j=i32[2]", lambda x, i, j: x[i[:, None], j], **INDEXED)
case("x[i, :, j]", "x=f32[3,4,5] i=i64[m] j=i64[m]", lambda x, i, j: x[i, :, j], **INDEXED)
case("x[:, i, j - 3]", "x=f32[m,4,5] i=i64[2,1] j=i64[3]", lambda x, i, j: x[:, i, j - 3], **INDEXED)
case("x[i, 1]", "x=f32[3,4,5] i=i64[m]", lambda x, i: x[i, 1], **INDEXED)
case("x[1, :, i]", "x=f32[3,4,5] i=i64[m]", lambda x, i: x[1][:, i], **INDEXED)
case("x[..., i, None]", "x=f32[m,4] i=i64[2]", lambda x, i: x[..., i, None], **INDEXED)
case("x[:, [2, -1, 0]]", "x=f32[m,4]", lambda x: x[:, [2, -1, 0]], dtype="f32")
case("x[[0, 2], [1, 3]]", "x=f32[3,4,m]", lambda x: x[[0, 2], [1, 3]], dtype="f32")
case("x.t()[i, j]", "x=f32[m,4] i=i64[3] j=i64[3]", lambda x, i, j: x.T[i, j], sizes=(3, 9), **INDEXED)
case("torch.gather(x, 1, i).sum() + x[i[:, 0], 0]", "x=f32[m,4] i=i64[m,2]",
     lambda x, i: np.take_along_axis(x, i, 1).sum() + x[i[:, 0], 0], sizes=(3, 7), terms=20, **INDEXED)
SET = "(lambda z: (z.__setitem__({}, {}), z)[1])(x * 1)"
case(SET.format("i", "0"), "x=f32[3,m] i=i64[2]", lambda x, i: put(x, i, 0), **INDEXED)
case(SET.format("(i, j)", "2.5"), "x=f32[3,3,m] i=i64[4] j=i64[4]", lambda x, i, j: put(x, (i, j), 2.5), **INDEXED)
case(SET.format("x > 0.5", "-1"), "x=f32[m,4]", lambda x: np.where(x > 0.5, -1, x), dtype="f32")
case(SET.format("(slice(1, 3), [0, -1])", "7"), "x=f32[3,m]", lambda x: put(x, (slice(1, 3), [0, -1]), 7), dtype="f32", sizes=(2, 5))
case("x.index_put((i,), v, accumulate=True)", "x=f32[3,m] i=i64[20] v=f32[20,m]", lambda x, i, v: put(x, i, v, True), terms=20, **INDEXED)
case("x.index_add(0, i, v)", "x=f32[3,m] i=i64[20] v=f32[20,m]", lambda x, i, v: put(x, i, v, True), terms=20, **INDEXED)
case("x.index_add(1, i, v, alpha=-2)", "x=f32[m,3,2] i=i64[7] v=f32[m,7,2]",
     lambda x, i, v: put(x, (slice(None), i), -2 * v, True), terms=20, **INDEXED)
case("(lambda z: z.index_add_(0, i, v))(x * 1)", "x=i64[3] i=i64[m] v=i64[m]", lambda x, i, v: put(x, i, v, True), low=0, high=3, dtype="i64")
case("x.index_copy(0, i, x[:1])", "x=f32[3,m] i=i64[1]", lambda x, i: put(x, i, x[:1]), **INDEXED)
case("x.index_fill(1, i, 4)", "x=f32[m,3] i=i64[2]", lambda x, i: put(x, (slice(None), i), 4), **INDEXED)
case("x.scatter(1, i, v)", "x=f32[m,3] i=i64[m,1] v=f32[m,2]", lambda x, i, v: scattered(x, 1, i, v[:, :1]), **INDEXED)
case("torch.zeros(x.shape[0], 3).scatter_(1, i, 1.0)", "x=f32[m] i=i64[m,1]",
     lambda x, i: scattered(np.zeros((len(x), 3)), 1, i, 1.0), **INDEXED)
case("x.scatter_add(0, i, v)", "x=f32[3,m] i=i64[9,m] v=f32[9,m]", lambda x, i, v: scattered(x, 0, i, v, True), terms=20, **INDEXED)
case("x.scatter_add(1, i, x)", "x=bf16[m,3] i=i64[m,3]", lambda x, i: scattered(x, 1, i, x, True), low=0, high=3, dtype="bf16", roundings=4)

# --- functions written with other operators ---
case("F.scaled_dot_product_attention(q, q, q, attn_mask=k)", "q=f32[m,3,4] k=bool[m,3,3]",
     lambda q, k: np.nan_to_num(np.where(k, np.exp(q @ q.swapaxes(1, 2) / 2), 0)
                                / np.maximum(np.where(k, np.exp(q @ q.swapaxes(1, 2) / 2), 0).sum(-1, keepdims=True), 1e-300)) @ q, dtype="f32", terms=20)
case("F.scaled_dot_product_attention(q, k, k, enable_gqa=True)", "q=f32[m,4,3,2] k=f32[m,2,5,2]",
     lambda q, k: softmax(q @ np.repeat(k, 2, 1).swapaxes(2, 3) / np.sqrt(2), -1) @ np.repeat(k, 2, 1), dtype="f32", terms=20)
case("torch.tensor([[1, 2.5], [-3, 4]]) * x", "x=f32[m,1,2]", lambda x: np.array([[1, 2.5], [-3, 4]]) * x, dtype="f32")
case("x + torch.tensor([3, 1, 2])", "x=f32[m,3]", lambda x: x + [3, 1, 2], dtype="f32")
case("x[:, torch.tensor([True, False, True]).to(torch.int64)]", "x=f32[m,3]", lambda x: x[:, [1, 0, 1]], dtype="f32")
case("x.unfold(1, 3, 2) * 1", "x=f32[m,9]", lambda x: np.stack([x[:, s:s + 3] for s in (0, 2, 4, 6)], 1), dtype="f32")
case("x.diagonal(1) + 0", "x=f32[m,4]", lambda x: np.diagonal(x, 1), dtype="f32", sizes=(1, 3, 7))
case("x.repeat_interleave(3, dim=1)", "x=f32[m,4]", lambda x: x.repeat(3, 1), dtype="f32")
case("x.norm(p=3, dim=1) + x.norm(0, 1)", "x=f32[m,4]", lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3) + 4, dtype="f32", terms=20)
case("F.softsign(x) + F.tanhshrink(x) + F.softshrink(x) + F.hardshrink(x) + F.threshold(x, 0.1, 2)", "x=f32[m,40]",
     lambda x: x / (1 + abs(x)) + x - np.tanh(x) + np.sign(x) * np.maximum(abs(x) - 0.5, 0) + np.where(abs(x) > 0.5, x, 0) + np.where(x > 0.1, x, 2), dtype="f32")
case("F.mish(x)", "x=*[m,5]", lambda x: x * np.tanh(np.logaddexp(0, x)), low=-6, high=30)
case("F.hardsigmoid(x)", "x=f32[m,5]", lambda x: np.where(np.isnan(x), x, np.clip(x + 3, 0, 6) / 6), low=-5.0, high=5.0, dtype="f32", special=True)
case("torch.logaddexp(x, y) + torch.logit(torch.sigmoid(x)) + F.celu(x)", "x=f32[m,5] y=f32[5]",
     lambda x, y: np.logaddexp(x, y) + x + np.where(x > 0, x, np.expm1(x)), dtype="f32", terms=20)
case("torch.diff(x) + torch.stack(x.tensor_split(2, dim=1)[0].unbind(1), 1)", "x=f32[m,3]", lambda x: np.diff(x) + x[:, :2], dtype="f32")
case("torch.meshgrid(x, y, indexing='xy')[0] * 1", "x=f32[m] y=f32[3]", lambda x, y: np.meshgrid(x, y)[0], dtype="f32")
case("torch.bitwise_left_shift(x, y) | torch.bitwise_right_shift(y, 1)", "x=i32[m,5] y=i32[5]",
     lambda x, y: x << y | y >> 1, dtype="i32", low=0, high=9)
case("torch.scalar_tensor(2.5) * x", "x=f32[m]", lambda x: 2.5 * x, dtype="f32")
case("x << 2 | x >> 1", "x=i32[m,5]", lambda x: x << 2 | x >> 1, dtype="i32", low=0, high=99)
# --- -0 + -0 begins with +0 ---
case("(x * -0.0).cumsum(1)", "x=f32[m,5]", lambda x: np.zeros_like(x), low=0.5, high=1.0, dtype="f32")
case("(x * -0.0).t().cumsum(1)", "x=bf16[5,m]", lambda x: np.zeros_like(x.T), low=0.5, high=1.0, dtype="bf16")
# --- joins, read where they are used ---
case("torch.cat((-x[..., 3:], x[..., :3]), dim=-1) * y + x", "x=f32[m,2,6] y=f32[m,1,6]",
     lambda x, y: np.concatenate([-x[..., 3:], x[..., :3]], -1) * y + x, dtype="f32")
case("torch.cat((-x, y), dim=-1) * torch.cat((y, x), dim=-1)", "x=bf16[3,m] y=bf16[3,2]",
     lambda x, y: np.concatenate([-x, y], -1) * np.concatenate([y, x], -1), dtype="bf16")
case("torch.cat((-x[:, x.shape[1] // 2:], x[:, :x.shape[1] // 2]), dim=-1) * x", "x=f32[3,m]",
     lambda x: np.concatenate([-x[:, x.shape[1] // 2:], x[:, :x.shape[1] // 2]], -1) * x, dtype="f32")
case("torch.cat((x * 2, y.t(), x[:, :1].expand(-1, 3)), dim=1) + 1", "x=f32[m,5] y=f64[4,m]",
     lambda x, y: np.concatenate([x * 2, y.T, np.broadcast_to(x[:, :1], (len(x), 3))], 1) + 1, dtype="f64")
case("torch.cat((torch.exp(x), y, torch.ones(2, 5)), dim=0).t() - 1", "x=f32[m,5] y=f32[3,5]",
     lambda x, y: np.concatenate([np.exp(x), y, np.ones((2, 5))]).T - 1, dtype="f32")
case("torch.stack((x[..., ::2] * 2, x[..., 1::2] - 1), dim=-1).flatten(-2) * x", "x=f64[m,8]",
     lambda x: np.stack([x[..., ::2] * 2, x[..., 1::2] - 1], -1).reshape(x.shape) * x, dtype="f64")
case("torch.cat((x, torch.cat((x * 2, y), dim=1)), dim=1) * 3", "x=i32[m,3] y=i32[m,4]",
     lambda x, y: np.concatenate([x, x * 2, y], 1) * 3, dtype="i32")
case("torch.cat((x // 2, y), dim=1) + 1", "x=i64[m,3] y=i64[m,4]", lambda x, y: np.concatenate([x // 2, y], 1) + 1, dtype="i64")
case("torch.cat((x.transpose(1, 2) * 2, y), dim=0) + 1", "x=f32[m,4,5] y=f32[2,5,4]",
     lambda x, y: np.concatenate([x.swapaxes(1, 2) * 2, y]) + 1, dtype="f32")


class Input:
    def __init__(self, text):
        self.name, rest = text.split("=")
        self.dtype, dims = rest.rstrip("]").split("[")
        self.dims = [d for d in dims.split(",") if d]
        self.declared = False

    def text(self, seen):
        dims = []
        for d in self.dims:
            dims.append(f"m:0..{LARGEST}" if d == "m" and not seen else d)
            seen |= {"m"} if d == "m" else set()
        return f"{self.name}={self.dtype}[{','.join(dims)}]", seen

    def random(self, rng, m, case):
        shape = tuple(m if d == "m" else int(d) for d in self.dims)
        if self.dtype == "bool":
            return rng.integers(0, 2, shape).astype(np.bool_)
        if self.dtype[0] in "iu":
            low, high = (-20, 20) if isinstance(case.low, float) else (case.low, case.high)
            return rng.integers(int(low), int(high), shape).astype(DTYPES[self.dtype])
        values = np.asarray(rng.uniform(case.low, case.high, shape), np.float32)
        if case.special and values.size:
            for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
                values.reshape(-1)[rng.integers(values.size)] = value
        return to_bf16(values) if self.dtype == "bf16" else values.astype(DTYPES[self.dtype])

    def exact(self, values):
        if self.dtype == "bf16":
            return from_bf16(values).astype(np.float64)
        return values.astype(np.float64) if values.dtype.kind == "f" else values


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "is 8 in the example" not in line]
        raise AssertionError(f"{command[1]}: " + "\n".join(lines[:3]))
    return done.stdout


def compare(got, want, dtype, bound, signed_zeros=True):
    return problem(got, np.asarray(want), bound, dtype, signed_zeros)


def bound_for(case, dtype, want, inputs):
    """Sums are linear: the same of the inputs' magnitudes is what their terms add up to."""
    size = None
    if case.terms and dtype in ROUNDINGS:
        with np.errstate(all="ignore"):
            size = case.want(*[np.abs(x) if x.dtype.kind == "f" else x for x in inputs])
        size = np.maximum(np.abs(np.asarray(size if not isinstance(size, tuple) else size[0], np.float64)), 1.0)
    return bound_of(dtype, want, case.roundings or ROUNDINGS.get(dtype, 0), case.terms, size, FLOOR.get(dtype, 0))


def check(program, levels, number, case, folder):
    inputs = [Input(text) for text in case.inputs.split()]
    (folder / "model.py").write_text(f"{HEADER}def f({', '.join(i.name for i in inputs)}):\n    return {case.text}\n")
    package, command, seen = folder / "p.plc", [], set()
    for i in inputs:
        text, seen = i.text(seen)
        command += ["--input", text]
    run(program, "compile", "--verify-each", folder / "model.py:f", "--target", ",".join(levels), "-o", package, *command)
    rng = np.random.default_rng(number)
    for m in (case.sizes or SIZES) if seen else (None,):
        arrays = [i.random(rng, m, case) for i in inputs]
        exact = [i.exact(a) for i, a in zip(inputs, arrays)]
        with np.errstate(all="ignore"):
            want = case.want(*exact)
        want = want if isinstance(want, tuple) else (want,)
        command = []
        for i, array in zip(inputs, arrays):
            np.save(folder / f"{i.name}.npy", array)
            command += ["--input", f"{i.name}=@{folder / i.name}.npy" + (":bf16" if i.dtype == "bf16" else "")]
        for k in range(len(want)):
            command += ["--output", folder / f"out{k}.npy"]
        for level in levels:
            report = json.loads(run(program, "run", package, "--json", "--target", level, "--guard", "end", *command))["outputs"]
            if len(report) != len(want):
                return f"{len(report)} results, expected {len(want)}"
            for k, expected in enumerate(want):
                dtype = report[k]["dtype"]
                if k == 0 and dtype != case.dtype:
                    return f"result is {dtype}, expected {case.dtype}"
                bound = bound_for(case, dtype, expected, exact)
                if problem := compare(np.load(folder / f"out{k}.npy"), expected, dtype, bound, case.signed_zeros):
                    return f"m={m} result {k} on {level}: {problem}"
    return refuses_one_more(program, package, inputs, case, folder) if seen else None


def refuses_one_more(program, package, inputs, case, folder):
    command = [program, "run", package]
    for i in inputs:
        np.save(folder / f"{i.name}.npy", i.random(np.random.default_rng(0), LARGEST + 1, case))
        command += ["--input", f"{i.name}=@{folder / i.name}.npy" + (":bf16" if i.dtype == "bf16" else "")]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode == 1 and str(LARGEST) in done.stderr and str(LARGEST + 1) in done.stderr:
        return None
    return f"m={LARGEST + 1} of 0..{LARGEST} is not refused: exit {done.returncode} {done.stderr.strip()[:200]}"


def check_torch(number, case):
    import torch
    import torch.nn.functional

    kinds = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64",
             torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}
    inputs = [Input(text) for text in case.inputs.split()]
    rng = np.random.default_rng(number)
    dynamic = any("m" in i.dims for i in inputs)
    for m in (case.sizes or SIZES) if dynamic else (None,):
        arrays = [i.random(rng, m, case) for i in inputs]
        exact = [i.exact(a) for i, a in zip(inputs, arrays)]
        with np.errstate(all="ignore"):
            want = case.want(*exact)
        want = want if isinstance(want, tuple) else (want,)
        names = {"torch": torch, "F": torch.nn.functional}
        for i, array in zip(inputs, arrays):
            tensor = torch.from_numpy(np.array(array).view(np.int16) if i.dtype == "bf16" else np.array(array))
            names[i.name] = tensor.view(torch.bfloat16) if i.dtype == "bf16" else tensor
        got = eval(case.text, names)
        got = (got,) if isinstance(got, torch.Tensor) else tuple(got)
        if len(got) != len(want):
            return f"{len(got)} results, expected {len(want)}"
        for k, (tensor, expected) in enumerate(zip(got, want)):
            dtype = kinds[tensor.dtype]
            if k == 0 and dtype != case.dtype:
                return f"result is {dtype}, expected {case.dtype}"
            if "sort(" in case.text and "stable=True" not in case.text:
                continue  # in which order equal elements come, no one says
            array = tensor.contiguous().view(torch.int16).numpy().view(np.uint16) if dtype == "bf16" else tensor.numpy()
            # Its sums and functions of the narrow types round more than once.
            bound = bound_for(case, dtype, expected, exact) * (3 if dtype in ("f16", "bf16") else 1)
            if problem := compare(array, expected, dtype, bound, case.signed_zeros):
                return f"m={m} result {k}: {problem}"
    return None


def has_torch():
    try:
        import torch
    except Exception as error:  # an installation without its libraries raises OSError, and more
        print(f"skipped: this Python cannot import torch: {error}")
        return False
    torch.set_num_threads(1)
    return True


def main():
    program, words = sys.argv[1], sys.argv[2:]
    cases = [(i, c) for i, c in enumerate(CASES) if not words or any(w in c.text for w in words)]
    failed = 0
    levels = runnable()
    if program == "--torch":
        if not has_torch():
            return 77
        levels = ["PyTorch"]

    def one(item):
        if program == "--torch":
            return check_torch(*item)
        with tempfile.TemporaryDirectory() as folder:
            try:
                return check(program, levels, item[0], item[1], pathlib.Path(folder))
            except AssertionError as error:
                return str(error)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (number, item), problem in zip(cases, pool.map(one, cases)):
            if problem:
                failed += 1
                print(f"FAILED {item.text}   with {item.inputs}\n    {problem}")
    print(f"{len(cases) - failed} of {len(cases)} cases passed on {' and '.join(levels)}" + ("" if program == "--torch" else skipped(len(cases))))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
