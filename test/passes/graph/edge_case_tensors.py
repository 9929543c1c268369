# SPDX-License-Identifier: Apache-2.0
"""What the names in edge_cases.txt stand for: `x_f32` is an input, a letter and an element type; `zeros_f32` a constant."""
import re

FLOATS = [[-2.0, -0.5, 0.0, 1.5], [2.5, -0.0, 3.0, 0.25], [-1.25, 7.0, -3.0, 0.75]]
INTEGERS = [[-2, 5, 1, 3], [7, -1, 2, -4], [4, 6, -3, 1]]
PLACES = [[0, 1, 2, 0], [2, 2, 1, 0], [1, 0, 0, 2]]  # of the kind `at`
TORCH = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "uint8", "i32": "int32",
         "i64": "int64", "bool": "bool", "at": "int64"}
CONSTANTS = {"zeros": "torch.zeros([3, 4], dtype={})", "single": "torch.full([], {value}, dtype={})",
             "ones": "torch.ones([1, 4], dtype={}).expand([3, 4])", "nans": "torch.full([3, 4], float('nan'), dtype={})"}
VALUES = {"bool": "True", "u8": "2", "at": "1", "i8": "-2", "i32": "-2", "i64": "-2"}


def constant(match):
    name, kind = match.groups()
    return CONSTANTS[name].format(f"torch.{TORCH[kind]}", value=VALUES.get(kind, "-0.0"))


def spelled_out(expression):
    """`abs.default(zeros_f32)` as Python has it."""
    expression = re.sub(r"\b(zeros|single|ones|nans)_(" + "|".join(TORCH) + r")\b", constant, expression)
    return re.sub(r"^(?=[a-z_0-9]+\.[A-Za-z_]+\()(?!torch\.)", "torch.ops.aten.", expression)
