#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes edge_cases.txt: every operator on tensors that are easily forgotten, and what PyTorch says to each call.

    record_edge_cases.py OPERATORS [edge_cases.txt]      OPERATORS: one target a line, as `pellucid-operators` prints them
    record_edge_cases.py --add aten.relu.default...      these operators' calls alone, in the file as it is
    record_edge_cases.py --numbers                       number_operands.txt: every operator that takes a number, with numbers
                                                         that single precision or 32 bits do not hold

Needs torch. Per operator: tensors without dims, without elements, of one element and of one value, in every position; all
element types with one tensor each. What the other arguments are follows from their names. A line of the file is

    EXPRESSION <tab> dtype shape: values; dtype shape: values        or        EXPRESSION <tab> raises

in which `abs.default(` stands for `torch.ops.aten.abs.default(`, and names for tensors (edge_case_tensors.py).
"""
import itertools
import pathlib
import sys

import torch

from edge_case_tensors import CONSTANTS, FLOATS, INTEGERS, PLACES, spelled_out

DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
          "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}


def inputs(name):
    """The tensor that `x_f32` stands for."""
    letter, kind = name.split("_")
    dtype = DTYPES["i64" if kind == "at" else kind]
    if kind == "at":
        whole = torch.tensor(PLACES)
    elif dtype.is_floating_point:
        whole = torch.tensor(FLOATS, dtype=torch.float64)
    else:
        whole = torch.tensor(INTEGERS)
    if kind == "u8":
        whole = whole.abs()
    if kind == "bool":
        whole = whole > 1
    whole = whole.to(dtype)
    return {"x": whole, "s": whole[0, 3], "e": whole[:0], "z": whole[:, :0], "o": whole[0, :1], "v": whole[:, 0],
            "l": whole[1], "w": whole.t(), "q": whole.expand(2, 3, 4), "r": whole.t().expand(2, 4, 3)}[letter].clone(
                memory_format=torch.contiguous_format)


def atoms(kind):
    """Tensors of one element type that are easily forgotten: inputs and constants."""
    constants = [name for name in CONSTANTS if kind[0] in "fb" and kind != "bool" or name != "nans"]
    return [f"{name}_{kind}" for name in ["s", "e", "z", "o", "v", *constants]]


# Tensors that fit, where a matrix of 3 by 4 does not: by operator and argument.
FITTING = {"mm.mat2": "w", "matmul.other": "w", "addmm.mat2": "w", "addmm.self": "v", "bmm.self": "q", "bmm.mat2": "r",
           "linear.bias": "v", "scaled_dot_product_attention.attn_mask": "v", "layer_norm.weight": "l", "layer_norm.bias": "l", "rms_norm.weight": "l", "select_scatter.src": "l",
           "index_select.index": "v", "index_add.index": "v", "index_copy.index": "v", "index_fill.index": "v"}
# Overloads that PyTorch names otherwise.
SPELLED_THERE = {"aten.bitwise_left_shift.Scalar": "aten.bitwise_left_shift.Tensor_Scalar",
                 "aten.bitwise_right_shift.Scalar": "aten.bitwise_right_shift.Tensor_Scalar"}
DRAWS = {"rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal", "normal_functional", "uniform", "bernoulli",
         "exponential", "random"}
# Numbers that a type does not hold, divisions by zero, places that are not there.
FURTHER = """
torch.clamp(x_u8, -3, 3)
torch.clamp_max(x_u8, 300)
torch.clamp(x_u8, max=-1)
torch.clamp(x_i8, -1000, 1000)
torch.clamp(x_i8, min=1000)
x_i8 + 300
x_i8 - 300
x_i8 * 300
300 - x_u8
x_u8 + (-1)
x_i32 + 2**40
torch.add(x_i8, x_i8, alpha=300)
torch.add(x_i8, x_i8, alpha=1.5)
torch.add(x_i32, x_i32, alpha=True)
x_u8 == -1
x_u8 == 260
x_u8 < 300
x_i8 > 1000
torch.where(x_u8 > 2, x_u8, -1)
torch.where(x_u8 > 2, x_u8, 300)
x_u8.masked_fill(x_u8 > 2, -1)
x_u8.masked_fill(x_u8 > 2, 300)
torch.full([2], 300, dtype=torch.int8)
torch.full([2], -1, dtype=torch.uint8)
torch.full([2], 1.7, dtype=torch.int32)
torch.full([2], float('nan'), dtype=torch.int32)
torch.full_like(x_u8, 300)
torch.ops.aten.fill.Scalar(x_i8, 1.9)
x_u8 & 300
x_u8 | (-1)
0.5 < x_f32
2 >= x_i32
torch.add(x_bool, x_bool, alpha=False)
torch.pow(x_i64, x_i64.abs())
torch.pow(x_i64, x_i64)
torch.pow(x_i8, 5)
torch.pow(x_u8, x_u8)
torch.pow(x_i32, -1)
torch.pow(x_f64, 7)
torch.pow(3, x_i32.abs())
torch.div(x_bf16, x_bf16.flip(1), rounding_mode='trunc')
torch.var(x_f32, 1, correction=1.5)
torch.cat([x_f32, x_f32[0, :0], x_f32], 1)
torch.gather(x_f32, 1, x_u8[:0])
torch.ops.aten.index_put(x_f32, [x_f32 > 0.1], s_f32)
torch.ops.aten.index_put(x_f32, [x_f32[:, 0] > 0], x_f32[0])
torch.ops.aten.index_put(x_i32, [None, x_i32[0] > 0], x_i32[:, :1], True)
torch.ops.aten.index_put(x_f32, [x_f32 > 100], o_f32)
torch.scatter_reduce(x_f32, 1, x_at, x_f32, 'amax', include_self=False)
torch.scatter_reduce(x_i32, 0, x_at % 3, x_i32, 'mean')
torch.scatter_reduce(x_i8, 1, x_at, x_i8, 'prod', include_self=False)
torch.scatter_reduce(x_bf16, 1, x_at * 0, x_bf16, 'sum')
torch.scatter_reduce(nans_f32.expand(3, 4), 1, x_at, x_f32, 'amin')
torch.scatter_reduce(x_f32, 1, x_at + 2, x_f32, 'amin')
x_i8 // 300
x_i8 % 300
x_i8 // 0
x_i8 // 2**40
x_i32 % 0
x_i32 // zeros_i32
x_i64 % zeros_i64
x_i64 // x_at
torch.fmod(x_i32, 0)
torch.fmod(x_i8, zeros_i8)
torch.fmod(x_i8, 300)
torch.div(x_i32, 0, rounding_mode='trunc')
torch.div(x_i32, zeros_i32, rounding_mode='trunc')
torch.div(x_u8, zeros_u8, rounding_mode='floor')
torch.div(x_i32, zeros_i32)
(x_i64 // zeros_i64).sum()
x_f32 // zeros_f32
e_i32 // 0
e_i32 // e_i32
torch.full([2], -2**63) // x_i64[0, 1:3]
torch.full([2], -2**63) // -1
torch.full([2], -2**63) % -1
torch.fmod(torch.full([2], -2**63), -1)
torch.full([2], -2147483648, dtype=torch.int32) // -1
x_i8 << 9
x_i8 << -1
x_i8 >> 9
x_u8 >> 9
x_i32 << 40
x_i32 >> -1
x_i64 << x_i64
x_i64 >> 70
torch.addcmul(x_i8, x_i8, x_i8, value=300)
torch.addcmul(x_i8, x_i8, x_i8, value=-1.7)
torch.nn.functional.hardtanh(x_i8, -300, 300)
torch.nn.functional.hardtanh(x_u8, -1, 1)
torch.nn.functional.hardtanh(x_i8, -1.7, 1.7)
torch.nn.functional.relu6(x_u8)
torch.index_fill(x_i8, 0, o_at, 300)
torch.scatter(x_i8, 0, x_at, 300)
torch.hypot(x_i32, x_i32)
torch.hypot(torch.full([2], 1e30), torch.full([2], 1e30))
(x_f32).view(torch.int32)
(nans_f32).view(torch.int32).sum()
(x_bf16).view(torch.float16)
(x_f16).view(torch.bfloat16)
(x_i64).view(torch.float64).view(torch.int64)
(x_u8).view(torch.int8)
(e_f32).view(torch.int32)
(s_f32).view(torch.int32)
(x_i8).view(torch.float8_e4m3fn).float()
(x_i32).view(torch.float32)
torch.hypot(torch.full([2], 1e200, dtype=torch.float64), torch.full([2], 1e-200, dtype=torch.float64))
torch.hypot(torch.full([2], 3e4, dtype=torch.float16), torch.full([2], 3e4, dtype=torch.float16))
torch.hypot(x_bf16, torch.full([], float('inf')))
(x_f32 * 100).to(torch.uint8)
(x_f64 * 1e9).to(torch.uint8)
(x_f64 * 3e18).to(torch.uint8)
(x_bf16 * -90).to(torch.uint8)
(x_f16 * 90).to(torch.int8)
(x_f32 * 1e9).to(torch.int8)
(nans_f32).to(torch.uint8)
(x_f32 / 0).to(torch.int8)
x_u8 + (x_f32 * 50).to(torch.uint8)
torch.ops.aten.copy(x_u8, x_f32 * 50)
torch.nn.functional.one_hot(x_at, 3)
torch.nn.functional.one_hot(x_at, 2)
torch.nn.functional.one_hot(torch.full([2], -1), 3)
torch.nn.functional.one_hot(e_at, 3)
torch.nn.functional.embedding(torch.full([2], 3), x_f32)
torch.nn.functional.embedding(torch.full([2], -1), x_f32)
torch.index_select(x_f32, 0, torch.full([2], 3))
torch.gather(x_f32, 0, torch.full([1, 4], 3))
torch.gather(x_f32, 0, torch.full([1, 4], -1))
torch.scatter(x_f32, 0, torch.full([1, 4], 3), x_f32)
torch.scatter_add(x_f32, 1, torch.full([1, 4], 4), x_f32)
torch.index_add(x_f32, 0, torch.full([3], 3), x_f32)
x_f32[torch.full([2], 3)]
x_f32[torch.full([2], -3)]
x_f32[torch.full([2], -4)]
x_f32[:, torch.full([2], 4)]
e_f32[torch.full([0], 4)]
torch.sub(x_bool, x_bool)
torch.sub(x_f32, x_bool)
1.0 - x_bool
torch.as_strided(x_f32, [3, 4], [4, 1], 1)
torch.as_strided(x_f32[1:], [2, 4], [4, 1], 4)
torch.as_strided(x_f32[1:], [2, 4], [4, 1], 5)
torch.as_strided(x_f32, [3, 4], [4, -1], 3)
torch.sum(x_i8)
torch.prod(x_i8)
torch.sum(x_bool)
torch.softmax(s_f32, 0)
torch.softmax(s_f32, 1)
torch.ones_like(x_f32).sum(-1)
torch.zeros(3, 4).sum(-1)
torch.zeros(3, 4).argmax(1)
torch.ones(3, 0).sum(1)
torch.ones(3, 0).amax(1)
torch.conv1d(x_f32, q_f32)
torch.conv1d(q_f32, q_f32, v_f32[:2], padding=2)
torch.conv1d(q_f32, q_f32, padding=[1], stride=[2], dilation=2)
torch.conv1d(q_f32[:0], q_f32)
torch.conv1d(q_f32, q_f32[:0])
torch.conv1d(q_f32, q_f32[:, :1], groups=3)
torch.conv1d(torch.ones(2, 4, 5), torch.ones(6, 1, 2), groups=4)
torch.conv1d(q_f32, torch.ones(3, 1, 3), padding="same", groups=3)
torch.conv1d(q_f32, torch.ones(3, 1, 3), stride=2, padding="same", groups=3)
torch.conv1d(q_f32, torch.ones(1, 3, 3), padding="other")
torch.conv1d(q_f32, q_f32, padding=-1)
torch.conv1d(q_f32, q_f32, stride=0)
torch.conv1d(q_f32, q_f32, dilation=0)
torch.conv1d(q_f32, q_f32, dilation=2)
torch.conv1d(q_f32, q_f32, groups=0)
torch.conv1d(q_f32, q_f32, groups=2)
torch.conv1d(q_f32, q_f64)
torch.conv1d(q_f32, q_f32, v_f32)
torch.conv2d(q_f32, torch.ones(2, 2, 2, 3))
torch.conv2d(q_f32.unsqueeze(0), torch.ones(2, 2, 2, 3), padding=1, stride=[1, 2])
torch.conv2d(torch.full([1, 2, 3, 4], float('nan')), torch.ones(1, 2, 3, 3), padding=1)
torch.conv2d(torch.zeros(0, 2, 3, 4), torch.ones(1, 2, 3, 3))
torch.conv3d(q_f32.unsqueeze(0), torch.ones(3, 1, 1, 2, 2))
torch.conv3d(q_f32.unsqueeze(0).unsqueeze(0), torch.ones(3, 1, 1, 2, 2), padding=[1, 0, 1])
torch.conv_transpose1d(q_f32, q_f32.transpose(0, 1))
torch.conv_transpose1d(q_f32, torch.ones(3, 2, 2), stride=3, padding=1, output_padding=2)
torch.conv_transpose1d(q_f32, torch.ones(3, 2, 2), output_padding=1)
torch.conv_transpose2d(q_f32, torch.ones(2, 3, 2, 2), stride=2)
torch.conv_transpose3d(q_f32.unsqueeze(0), torch.ones(1, 1, 2, 2, 2), groups=1)
torch.convolution(q_f32, q_f32, None, [1], [0], [1], False, [0], 1)
torch.convolution(q_f32, q_f32, None, [1], [2], [1], True, [0], 1)
"""


# --- what stands for the arguments that are no tensors -------------------------------------------------------------------
BY_NAME = {"reduce": ["'sum'", "'prod'", "'mean'", "'amax'", "'amin'"], 
    "keepdim": ["False", "True"], "descending": ["False", "True"], "largest": ["True", "False"], "stable": ["True"],
    "half_to_float": ["False"], "train": ["False"], "accumulate": ["False", "True"], "implicit": ["False"], "p": ["0.5"], "dropout_p": ["0.0"],
    "normalized_shape": ["[4]"], "eps": ["1e-05"], "rounding_mode": ["'floor'", "'trunc'"], "approximate": ["'none'", "'tanh'"],
    "size": ["[3, 4]", "[-1]", "[1]", "[2, 3, 4]"], "shape": ["[-1]", "[4, 3]", "[1, 1]", "[]"],
    "stride": ["[4, 1]", "[1]"], "sizes": ["[1, -1]"], "dims": ["[1, 0]", "[]"], "repeats": ["[2, 1]", "[2, 1, 3]"],
    "dim0": ["0"], "dim1": ["-1"], "start_dim": ["0"], "end_dim": ["-1"], "chunks": ["2"], "split_size": ["2"],
    "split_sizes": ["[1, 2]"], "index": ["0", "-1"], "length": ["1"], "k": ["1", "0"], "memory_format": ["torch.contiguous_format"],
    "end": ["3"], "start": ["0", "1"], "step": ["1"], "exponent": ["2", "0.5"], "storage_offset": ["0"],
    "fill_value": ["2", "-0.5"], "value": ["2", "-0.5"], "s": ["1.5"], "min": ["-1"], "max": ["2"], "correction": ["1"],
    "groups": ["1"], "dilation": ["1"], "output_padding": ["0"], "transposed": ["False"],
    "negative_slope": ["0.1"], "padding_idx": ["-1"], "dtype": ["torch.float32"], "device": ["torch.device('cpu')"],
}
BY_NAME.update({"low": ["-2"], "high": ["5", "-3"], "n": ["5", "0", "-1"], "mean": ["1.5"], "std": ["0.5", "-0.5"], "from": ["-1"], "to": ["4", "-2"], "lambd": ["2.0", "0.0"]})
BY_TYPE = {"int": ["0", "-1"], "int[]": ["[0]", "[-1]", "[]"], "number": ["2", "0.5"], "float": ["0.5"], "bool": ["False"],
           "str": ["'valid'", "'same'"]}
# These keep their defaults: what they choose is compared in operators_test.py.
LEFT_OUT = {"layout", "pin_memory", "non_blocking", "copy", "scale_grad_by_freq", "sparse", "sparse_grad", "cudnn_enable", "sorted",
            "beta", "threshold", "generator", "scale", "input_scale", "rounding"}


def is_tensor(argument):
    return "Tensor" in str(argument.type)


def choices(argument):
    kind = str(argument.type)
    if argument.name in BY_NAME:
        return BY_NAME[argument.name]
    if kind.startswith("Optional["):
        kind = kind[len("Optional["):-1]
    kind = {"List[int]": "int[]", "List[SymInt]": "int[]", "SymInt": "int", "Scalar": "number"}.get(kind, kind)
    return BY_TYPE[kind]


def kind_of(argument, kind):
    return "at" if argument.name in ("index", "indices") else "bool" if argument.name in ("condition", "mask") else kind


def spelled(argument, text):
    """Tensor lists hold the tensor twice, lists of indices hold it once."""
    if "List" in str(argument.type):
        return f"[{text}]" if argument.name == "indices" else f"[{text}, {text}]"
    return text


def calls(target):
    """Every expression of one operator."""
    name_here = target.removeprefix("aten.")
    space, name, overload = SPELLED_THERE.get(target, target).split(".")
    schema = getattr(getattr(getattr(torch.ops, space), name), overload)._schema
    tensors = [a for a in schema.arguments if is_tensor(a)]
    plain = [a for a in schema.arguments if not is_tensor(a) and a.name not in LEFT_OUT
             and not (a.name in ("dtype", "device", "memory_format") and a.has_default_value())]
    options = list(itertools.islice(itertools.zip_longest(*[choices(a) for a in plain]), 4)) or [()]
    # zip_longest fills with None: an argument with fewer choices keeps its last one.
    options = [tuple(value if value is not None else choices(a)[-1] for a, value in zip(plain, option)) for option in options]

    def text(chosen, option):
        words = []
        for argument in schema.arguments:
            value = chosen.get(argument.name)
            if value is None and argument in plain:
                value = option[plain.index(argument)]
            if value is None:
                continue
            words.append(f"{argument.name}={value}" if argument.kwarg_only else value)
        return f"{name_here}({', '.join(words)})"

    def fitting(argument, kind):
        return f"{FITTING.get(f'{name}.{argument.name}', 'x')}_{kind_of(argument, kind)}"

    def base(kind):
        return {a.name: spelled(a, fitting(a, kind)) for a in tensors}

    seen = {}
    for option in options:
        seen[text(base("f32"), option)] = None
    number = 0
    for position in tensors:
        for atom in atoms(kind_of(position, "f32")):
            chosen = base("f32")
            chosen[position.name] = spelled(position, atom)
            for option in options if len(tensors) == 1 else [options[number % len(options)]]:
                seen[text(chosen, option)] = None
            number += 1
    if len(tensors) > 1:
        for which in range(len(atoms("i64"))):
            chosen = {a.name: spelled(a, atoms(kind_of(a, "f32"))[which]) for a in tensors}
            seen[text(chosen, options[which % len(options)])] = None
    for number, kind in enumerate(k for k in DTYPES if k != "f32"):
        for which in ("s", "full"):
            chosen = {a.name: spelled(a, f"s_{kind_of(a, kind)}" if which == "s" else fitting(a, kind)) for a in tensors}
            if tensors or which == "s":
                seen[text(chosen, options[number % len(options)])] = None
    return list(seen)


# --- what PyTorch says ---------------------------------------------------------------------------------------------------
DIGITS = {"f64": 17, "f32": 9, "f16": 5, "bf16": 4}


def number(value, kind):
    return f"{value:.{DIGITS[kind]}g}" if kind in DIGITS else str(int(value))


def described(result):
    results = result if isinstance(result, (tuple, list)) else (result,)
    words = []
    for tensor in results:
        kind = next(k for k, dtype in DTYPES.items() if dtype == tensor.dtype)
        values = " ".join(number(v, kind) for v in tensor.contiguous().flatten().tolist())
        words.append(f"{kind} {','.join(map(str, tensor.shape))}: {values}")
    return "; ".join(words)


def answer(expression):
    names = {name: inputs(name) for kind in [*DTYPES, "at"] for letter in "xsezovlwqr" for name in [f"{letter}_{kind}"]
             if name in expression and f"s{name}" not in expression}
    expression = spelled_out(expression)
    for ours, theirs in SPELLED_THERE.items():
        expression = expression.replace(ours, theirs)
    try:
        result = eval(expression, {"torch": torch, **names})
    except Exception:
        return "raises"
    return described(result)


def lines_of(target):
    lines = []
    for expression in calls(target):
        # What empty tensors and draws hold is nobody's business; only that the call is one.
        said = answer(expression)
        if ".empty" in target or ".new_empty" in target or target.split(".")[1] in DRAWS:
            said = "; ".join(part.split(":")[0] + ":" for part in said.split("; ")) if said != "raises" else said
        lines.append(f"{expression}\t{said}")
    return lines


# Numbers that become wrong in single precision, in 32 bits, in a double.
NUMBERS = {"f64": ["0.1", "16777217", "1e+300", "-0.3"], "i64": ["5000000000", "9007199254740993", "-2147483649", "0.1"]}
FURTHER_NUMBERS = """
torch.full([2], {})
torch.full([2], {}, dtype=torch.float64)
torch.full_like(x_f64, {})
torch.tensor([{}, 1], dtype=torch.float64)
torch.tensor({}, dtype=torch.float64)
x_f64.new_full([2], {})
torch.arange(0, 3, 0.1, dtype=torch.float64) * {}
torch.arange({}, 0.1 + {}, 0.03, dtype=torch.float64)
torch.linspace({}, 0.7, 5, dtype=torch.float64)
torch.linspace(torch.tensor({}, dtype=torch.float64), 0.7, 5, dtype=torch.float64)
{} + x_f64
{} - x_f64
{} * x_f64
{} / x_f64
{} // x_f64
{} % x_f64
{} ** x_f64
x_f64 + {}
x_f64 - {}
x_f64 / {}
x_f64 // {}
x_f64 % {}
x_f64 ** {}
x_f64.abs() ** {}
x_f64 == {}
x_f64 < {}
torch.tensor({}, dtype=torch.float64) == {}
torch.add(x_f64, x_f64, alpha={})
torch.sub(x_f64, x_f64, alpha={})
torch.rsub(x_f64, x_f64, alpha={})
torch.addcmul(x_f64, x_f64, x_f64, value={})
torch.addcdiv(x_f64, x_f64, x_f64, value={})
torch.addmm(v_f64, x_f64, w_f64, beta={}, alpha=0.7)
torch.addmm(v_f64, x_f64, w_f64, alpha={})
torch.baddbmm(q_f64[:, :, :3], q_f64, r_f64, beta={}, alpha={})
torch.lerp(x_f64, x_f64 * 2, {})
torch.where(x_f64 > 0, x_f64, {})
torch.where(x_f64 > 0, {}, x_f64)
torch.where(x_f64 > 0, {}, torch.tensor(0.7, dtype=torch.float64))
x_f64.masked_fill(x_f64 > 0, {})
x_f64.clone().fill_({})
x_f64.clamp(min={})
x_f64.clamp(max={})
x_f64.clip({}, 1e+301)
torch.nn.functional.pad(x_f64, (1, 2), value={})
torch.nn.functional.elu(x_f64, {})
torch.nn.functional.celu(x_f64, {})
torch.nn.functional.leaky_relu(x_f64, {})
torch.nn.functional.hardtanh(x_f64, {}, 1e+301)
torch.nn.functional.threshold(x_f64, 0.1, {})
torch.nn.functional.threshold(x_f64, {}, 20)
torch.nn.functional.softplus(x_f64, 0.3, {})
torch.nn.functional.softplus(x_f64, 0.3)
torch.nn.functional.softshrink(x_f64, 0.3)
torch.nn.functional.hardshrink(x_f64, {})
torch.nn.functional.selu(x_f64)
torch.nn.functional.silu(x_f64)
torch.nn.functional.mish(x_f64)
torch.nn.functional.gelu(x_f64)
torch.nn.functional.gelu(x_f64, approximate='tanh')
torch.nn.functional.hardswish(x_f64)
torch.nn.functional.hardsigmoid(x_f64)
torch.nn.functional.layer_norm(x_f64, [4], eps=0.1)
torch.nn.functional.rms_norm(x_f64, [4], eps=0.1)
torch.nn.functional.batch_norm(x_f64, l_f64, l_f64.abs(), eps=0.1)
torch.nn.functional.group_norm(q_f64, 3, eps=0.1)
torch.nn.functional.normalize(x_f64, eps=0.1)
torch.nn.functional.cosine_similarity(x_f64, x_f64 + 0.1, eps=0.1)
torch.nn.functional.scaled_dot_product_attention(q_f64, q_f64, q_f64, scale=0.1)
torch.nn.functional.scaled_dot_product_attention(q_f64, q_f64, q_f64)
torch.nn.functional.smooth_l1_loss(x_f64, x_f64 * 0.3, beta=0.3)
torch.nn.functional.huber_loss(x_f64, x_f64 * 0.3, delta=0.3)
torch.nn.functional.cross_entropy(x_f64, torch.tensor([0, 1, 2]), label_smoothing=0.3)
torch.logit(x_f64, eps=0.1)
torch.nan_to_num(x_f64 / 0, nan={}, posinf={}, neginf=-0.1)
torch.heaviside(x_f64, torch.tensor(0.1, dtype=torch.float64))
torch.float_power(x_i64.abs(), 0.3)
torch.pow(0.3, x_i64.double())
torch.pow(x_f64.abs(), 0.3)
torch.pow(0.999, x_f64)
torch.round(x_f64 * 0.3, decimals=1)
(x_f64 * 30).round(decimals=-1)
2.5 % (x_i64.abs() + 1)
[i64] // x_i64
[i64] % x_i64
5 // x_f64
3 << (x_i64 % 3)
700 >> (x_i64 % 3)
torch.tensor([300, 1], dtype=torch.int8)
torch.tensor([-1, 1], dtype=torch.uint8)
torch.var(x_f64, 1, correction=0.3)
torch.std(x_f64, 1, correction=0.3)
torch.norm(x_f64, 0.7)
torch.linalg.vector_norm(x_f64, 0.7)
torch.logspace(0.1, 0.7, 4, base=0.3, dtype=torch.float64)
torch.quantile(x_f64, 0.3)
torch.cumsum(x_f64 * 0.1, 1)
torch.scatter(x_f64, 1, x_at, {})
torch.index_fill(x_f64, 0, o_at, {})
torch.prod(x_f64 * {})
torch.cat([x_f64, torch.full([3, 1], {}, dtype=torch.float64)], 1)
torch.deg2rad(x_f64)
torch.rad2deg(x_f64)
torch.sinc(x_f64 * 0.3)
torch.logaddexp2(x_f64, x_f64 * 0.3)
torch.exp2(x_f64 * 0.3)
torch.log1p(x_f64.abs() * 0.3)
torch.erf(x_f64 * 0.3)
torch.digamma(x_f64.abs() + 0.3)
torch.lgamma(x_f64.abs() + 0.3)
x_i64 + [i64]
x_i64 * [i64]
[i64] - x_i64
x_i64 // [i64]
x_i64 % [i64]
x_i64 & [i64]
x_i64 | [i64]
x_i64 ^ [i64]
x_i64 == [i64]
x_i64 < [i64]
x_i64.clamp(min=[i64])
x_i64.clamp(max=[i64])
torch.where(x_i64 > 0, x_i64, [i64])
torch.full([2], [i64])
torch.full_like(x_i64, [i64])
x_i64.masked_fill(x_i64 > 0, [i64])
torch.tensor([[i64], 2])
torch.arange([i64], [i64] + 3)
torch.add(x_i64, x_i64, alpha=[i64])
torch.sub(x_i64, x_i64, alpha=[i64])
torch.addcmul(x_i64, x_i64, x_i64, value=[i64])
x_f64 + [i64]
x_f64 * [i64]
torch.full([2], [i64], dtype=torch.float64)
x_i64 / [i64]
x_i64 * 0.1
(x_i64 + [i64]).double() * 0.1
"""


def takes_numbers(target):
    schema = getattr(getattr(getattr(torch.ops, target.split(".")[0]), target.split(".")[1]), SPELLED_THERE.get(target, target).split(".")[2])._schema
    return any(choosable(a) for a in schema.arguments)


def choosable(argument):
    return str(argument.type).removeprefix("Optional[").removesuffix("]") in ("number", "float", "Scalar") and argument.name not in LEFT_OUT | {"dropout_p"}


def numbers_of(target, kind):
    """The calls of one operator with each number in the place of each argument that is one."""
    name_here = target.removeprefix("aten.")
    space, name, overload = SPELLED_THERE.get(target, target).split(".")
    schema = getattr(getattr(getattr(torch.ops, space), name), overload)._schema
    for place in filter(choosable, schema.arguments):
        for value in NUMBERS[kind]:
            words = []
            for argument in schema.arguments:
                if is_tensor(argument):
                    text = spelled(argument, f"{FITTING.get(f'{name}.{argument.name}', 'x')}_{kind_of(argument, kind)}")
                elif argument is place:
                    text = value
                elif argument.name == "dtype" and not tensors_of(schema):
                    text = {"f64": "torch.float64", "i64": "torch.int64"}[kind]
                elif argument.has_default_value() or argument.name in LEFT_OUT:
                    continue
                else:
                    text = choices(argument)[0]
                words.append(f"{argument.name}={text}" if argument.kwarg_only else text)
            yield f"{name_here}({', '.join(words)})"


def tensors_of(schema):
    return [a for a in schema.arguments if is_tensor(a)]


def write_numbers():
    """Where PyTorch refuses or rounds as it likes (a number that an integer type does not hold) there is no line."""
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs/operators.md").read_text()
    targets = [line.split("(")[0].replace("::", ".") for line in page.splitlines() if line.startswith("aten::")]
    expressions = []
    for target in targets:
        if target.split(".")[1] not in DRAWS | {"arange"} and takes_numbers(target):  # an arange would have as many elements
            expressions += [call for kind in NUMBERS for call in numbers_of(target, kind)]
    for line in FURTHER_NUMBERS.strip().splitlines():
        kind = "i64" if "[i64]" in line else "f64"
        values = NUMBERS[kind][:3] if "{}" in line or "[i64]" in line else [""]
        expressions += [line.replace("{}", value).replace("[i64]", value) for value in values]
    lines = [f"{expression}\t{answer(expression)}" for expression in dict.fromkeys(expressions)]
    lines = [line for line in lines if not line.endswith("raises")]
    (pathlib.Path(__file__).parent / "number_operands.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} calls with numbers")


def add(targets):
    """The calls of each operator behind those of the operators before it in the alphabet, and FURTHER's that are new."""
    out = pathlib.Path(__file__).parent / "edge_cases.txt"
    lines = out.read_text().splitlines()
    further = FURTHER.strip().splitlines()
    for target in targets:
        name = target.removeprefix("aten.") + "("
        lines = [line for line in lines if not line.startswith(name)]
        ours = [i for i, line in enumerate(lines) if line.split("(")[0].count(".") == 1 and line.split("(")[0] + "(" < name and line.split("\t")[0] not in further]
        place = ours[-1] + 1 if ours else 0
        lines[place:place] = lines_of(target)
    known = {line.split("\t")[0] for line in lines}
    lines += [f"{expression}\t{answer(expression)}" for expression in further if expression not in known]
    out.write_text("\n".join(lines) + "\n")


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "--numbers":
        write_numbers()
        return
    if sys.argv[1] == "--add":
        add(sys.argv[2:])
        return
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "edge_cases.txt")
    lines = []
    for target in pathlib.Path(sys.argv[1]).read_text().split():
        lines += lines_of(target)
    lines += [f"{expression}\t{answer(expression)}" for expression in FURTHER.strip().splitlines()]
    out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} calls, {sum(line.endswith('raises') for line in lines)} of them refused by PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
