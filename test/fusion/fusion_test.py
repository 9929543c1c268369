#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles functions around kernels with and without fusion; compares what was fused and every number.

    fusion_test.py PROGRAM [NAME…]

Each case says how many launches and buffers are left, which edges are (not) fused and why, and what numpy computes in
float64. Inputs are random with odd sizes, empty, and with NaN and infinities. Exit code 77 where numpy is missing.
"""
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "judge")]
from bfloat16 import from_bf16, to_bf16  # noqa: E402
from judge import problem  # noqa: E402
from levels import runnable, skipped  # noqa: E402

MODELS = pathlib.Path(__file__).resolve().parent / "models.py"
F32 = 3e-6
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def bf16(x):
    return from_bf16(to_bf16(np.asarray(x, np.float32))).astype(np.float64)


def f16(x):
    return np.asarray(x).astype(np.float16).astype(np.float64)


def f32(x):
    return np.asarray(x).astype(np.float32).astype(np.float64)


def e4m3(x):
    """Rounds to three bits of mantissa, ties to even; subnormal below 2^-6. For values below 448."""
    step = np.exp2(np.maximum(np.floor(np.log2(np.maximum(np.abs(x), 2.0**-20))), -6) - 3)
    return np.round(x / step) * step


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True)) if x.size else x
    return e / e.sum(axis=-1, keepdims=True)


class Case:
    """`inputs`: texts for --input. `want`: numpy, from float64 inputs to a result or a tuple. `sizes`: the values of each
    dynamic dim. `fused`: pairs of nodes. `refused`: pairs with a pattern for the reason."""

    def __init__(self, name, inputs, want, launches, buffers=0, fused=(), refused=(), sizes=({},), tolerance=F32,
                 special=True, kernels=None, index=None):
        self.name, self.inputs, self.want = name, inputs, want
        self.launches, self.buffers, self.fused, self.refused = launches, buffers, fused, refused
        self.kernels = kernels
        self.sizes, self.tolerance, self.special, self.index = sizes, tolerance, special, index


N = [{"n": n} for n in (1, 7, 64, 1000)]
N0 = [{"n": 0}] + N
X = "x=f32[n:0..5000]"
ROWS = [{"m": m} for m in (0, 1, 5, 33)]
XROW = "x=f32[m:0..64,50]"


def other(text):
    return rf"masked with other.*{text}"


def half(x, limit):
    out = x.copy()
    out[:limit] += 10.0
    return out


def silu_layers(x, count):
    for _ in range(count):
        x = silu(x * 2 + 1) * 0.5
    return x


def rows_doubled(x):
    times = np.ones(len(x))
    times[:3] *= 2
    times[2:] *= 2
    z = x * times[:, None]
    return z + 1, z[:3], z[2:]


CASES = [
    # Before, after, both.
    Case("before", [X, "s=f32[]"], lambda x, s: silu(f32(x * s)), 1, fused=[("mul", "silu_kernel")], sizes=N0),
    Case("after", [X, "r=f32[n]"], lambda x, r: silu(x) * 0.5 + r, 1, fused=[("silu_kernel", "mul"), ("mul", "add")], sizes=N0),
    Case("both", ["x=f32[m:0..64,50]", "s=f32[]", "b=f32[50]", "r=f32[m,50]"],
         lambda x, s, b, r: silu(x * s + b) * 0.5 + r, 1,
         fused=[("mul", "add"), ("add", "silu_kernel"), ("silu_kernel", "mul_1"), ("mul_1", "add_1")], sizes=ROWS),
    Case("both", ["x=bf16[m:0..64,50]", "s=bf16[]", "b=bf16[50]", "r=bf16[m,50]"],
         lambda x, s, b, r: bf16(bf16(bf16(silu(bf16(bf16(x * s) + b))) * 0.5) + r), 1, sizes=ROWS, tolerance=1e-2),
    Case("both", ["x=f16[3,5,11]", "s=f16[1]", "b=f16[11]", "r=f16[3,5,11]"],
         lambda x, s, b, r: f16(f16(f16(silu(f16(f16(x * s) + b))) * 0.5) + r), 1, tolerance=2e-3),
    Case("both", ["x=f32[3,n:0..9,11]", "s=f32[1,1]", "b=f32[n,11]", "r=f32[3,n,11]"],
         lambda x, s, b, r: silu(x * s + b) * 0.5 + r, 1, sizes=[{"n": 0}, {"n": 1}, {"n": 9}]),
    Case("both_op", ["x=f32[m:0..64,50]", "s=f32[]", "b=f32[1,50]", "r=f32[m,50]"],
         lambda x, s, b, r: silu(x * s + b) * 0.5 + r, 1, sizes=ROWS),
    Case("row_vectors", [XROW, "w=f32[50]", "b=f32[50]"], lambda x, w, b: ((x * w + b) * 2 + 1) * w, 1, sizes=ROWS),
    Case("columns", [XROW, "c=f32[m,1]", "b=f32[50]"], lambda x, c, b: silu(x * c + b) * c - 1, 1, sizes=ROWS),
    Case("columns", ["x=f32[m:0..64,n:0..50]", "c=f32[m,1]", "b=f32[n]"], lambda x, c, b: silu(x * c + b) * c - 1, 1,
         sizes=[{"m": m, "n": n} for m, n in ((0, 7), (7, 0), (1, 1), (64, 50), (5, 33), (33, 1))]),
    Case("columns", ["x=f16[m:1..9,1]", "c=f16[m,1]", "b=f16[1]"], lambda x, c, b: f16(f16(f16(silu(f16(f16(x * c) + b))) * c) - 1), 1,
         sizes=[{"m": 1}, {"m": 9}], tolerance=2e-3),
    Case("columns_in_tiles", ["x=f32[m:1..64,n:1..90]", "c=f32[m,1]", "b=f32[n]"], lambda x, c, b: b * c - x * c, 1,
         sizes=[{"m": m, "n": n} for m, n in ((1, 1), (64, 90), (5, 33), (17, 32))]),
    Case("middle_dims", ["x=f32[3,m:1..9,4,5]", "p=f32[3,1,4,1]", "q=f32[m,1,5]"], lambda x, p, q: silu(x * p + q) * q, 1,
         sizes=[{"m": 1}, {"m": 9}]),
    Case("middle_dims", ["x=bf16[m:1..9,2,n:1..7,1]", "p=bf16[m,1,n,1]", "q=bf16[1,2,1,1]"],
         lambda x, p, q: bf16(bf16(silu(bf16(bf16(x * p) + q))) * q), 1, sizes=[{"m": 1, "n": 1}, {"m": 9, "n": 7}], tolerance=2e-2),
    Case("expanded_operand", [XROW, "c=f32[m,1]"], lambda x, c: silu(x + c) * c, 1, sizes=ROWS),
    Case("constants", [X], lambda x: np.clip(silu((x + 1) / 2 - 3) ** 2, -4, 4), 1, sizes=N0),
    Case("activations", [X, "y=f32[n]"],
         lambda x, y: np.maximum(np.tanh(x) + sigmoid(y) + np.exp(-np.abs(x)), 0), 1, sizes=N0, special=False),
    Case("masked_fill", [X, "y=f32[n]"],
         lambda x, y: np.where(silu(np.where(x > y, x, y * 0.5)) >= 0.25, 1.0, y), 1, sizes=N0),
    Case("bool_operand", [X, "keep=bool[n]"], lambda x, keep: np.where(keep, silu(np.where(keep, x, 0.5)), -1.0), 1, sizes=N0),
    Case("bool_result", [X], lambda x: silu(x * 2) > 0.125, 1, sizes=N0),
    Case("bool_kernel", [X], lambda x: x > 0, 1, sizes=N0),
    Case("round_trips", [X, "r=f16[n]"],
         lambda x, r: f16(f16(f32(bf16(bf16(x) * 1.7) * 1.5)) + r), 1, sizes=N0, tolerance=1e-2),
    Case("other_dtype", [X], lambda x: f16(f16(f32(x + 0.125) * 1.5) * 3.0), 1, sizes=N0, tolerance=2e-3),
    Case("integers", ["x=i32[n:0..5000]"], lambda x: (x * 3 + x - 7) // 2, 1, sizes=N0),
    Case("integers", ["x=i64[n:0..5000]"], lambda x: (x * 3 + x - 7) // 2, 1, sizes=N0),
    Case("sequence", [X, "r=f32[n]"], lambda x, r: silu(silu(x * 2) + r) - 1, 2, 1, sizes=N0),
    # The first, the last, and one kernel that all layers between share.
    Case("repeated", [X], lambda x: silu_layers(x, 5), 5, 4, kernels=3, sizes=N0),
    Case("address_given_away", [X], lambda x: x * 2 * 3, 2, buffers=2, refused=[("giving_kernel", "mul", "it is not known how the kernel uses")], sizes=N),
    Case("persistent", [X], lambda x: (x + 1) * 3 * 2, 1, sizes=N0),
    Case("loop", [XROW], lambda x: (x * 2 + 1) * 3, 1, sizes=ROWS),
    Case("center", [XROW], lambda x: (x * 2 - (x * 2).mean(axis=1, keepdims=True)) * 3, 1, sizes=ROWS, tolerance=2e-5),
    Case("tile", ["x=f32[m:0..64,n:0..70]", "r=f32[m,n]"], lambda x, r: -(x * 2) + r, 1,
         sizes=[{"m": 0, "n": 5}, {"m": 1, "n": 1}, {"m": 33, "n": 70}]),
    Case("block_pointer", ["x=f32[m:0..64,n:0..70]", "r=f32[m,n]"], lambda x, r: (x * 2) ** 2 + r, 1,
         sizes=[{"m": 0, "n": 5}, {"m": 1, "n": 1}, {"m": 33, "n": 70}]),
    Case("guarded", [XROW], lambda x: (x + 1) * 0.25 * 2, 1, sizes=ROWS),
    Case("scaled_softmax", [XROW, "r=f32[m,50]"], lambda x, r: softmax(x * 0.125) + r, 1, sizes=ROWS),
    Case("softmax_after", [XROW, "r=f32[m,50]"], lambda x, r: softmax(x) * r, 1, sizes=ROWS),
    Case("softmax_before", [XROW], lambda x: softmax(x * 2 + 1), 1, sizes=ROWS, tolerance=1e-5),
    Case("reduced", [XROW, "r=f32[m]"], lambda x, r: (x * 2).sum(axis=1) * r, 1, sizes=ROWS, tolerance=2e-5),
    Case("cleared", [X], lambda x: silu(x + 1) + 1, 1, sizes=N0),
    Case("reshaped", [XROW, "r=f32[m,50]"], lambda x, r: silu(x * 2) * r, 1, sizes=ROWS),
    Case("matmul", ["a=f32[m:1..64,19]", "b=f32[19,n:1..64]", "r=f32[n]"], lambda a, b, r: np.maximum(a @ b + r, 0), 1,
         sizes=[{"m": 1, "n": 1}, {"m": 33, "n": 17}], tolerance=2e-5, special=False),
    Case("gathered", ["x=f32[100]", "index=i64[n:1..5000]"], lambda x, index: x[index] * 2 + 1 - 1, 1, sizes=N, index=100),
    Case("neighbours", [X], lambda x: np.pad(x * 2, 1)[:-2] + np.pad(x * 2, 1)[2:], 1, sizes=N0),
    Case("two_outputs_before", [X], lambda x: (x * 2 + 1, x * 2 - 1), 1, sizes=N0),
    Case("same_operand", [X], lambda x: x * 4, 1, fused=[("mul", "add_kernel")], sizes=N0),
    Case("gated", [X], lambda x: silu(x) * sigmoid(silu(x)), 1, fused=[("silu_kernel", "sigmoid"), ("silu_kernel", "mul")],
         sizes=N0),
    Case("leaky", [X], lambda x: np.where(silu(x) > 0, silu(x), silu(x) * 0.1) + 1, 1,
         fused=[("silu_kernel", "gt"), ("silu_kernel", "where"), ("where", "add")], sizes=N0),
    Case("diamond", [X, "r=f32[n]"], lambda x, r: (silu(x) * 2) * (silu(x) + r) + r, 1,
         fused=[("silu_kernel", "mul"), ("silu_kernel", "add"), ("mul_1", "add_1")], sizes=N0),
    Case("constant_tensors", [X], lambda x: silu(x * 2.5) + 1, 1, fused=[("full", "mul"), ("full_1", "add")], sizes=N0),
    Case("residual_sum", [XROW, "r=f32[m,50]"], lambda x, r: (x + r).sum(axis=1), 1, fused=[("add", "row_sum_kernel")],
         sizes=ROWS, tolerance=2e-5),
    Case("scaled_sum", [XROW, "s=f32[]"], lambda x, s: (x * s).sum(axis=1), 1, fused=[("mul", "row_sum_kernel")],
         sizes=ROWS, tolerance=2e-5),
    Case("truncated_sum", [XROW], lambda x: np.trunc(x).sum(axis=1), 1, fused=[("to", "row_sum_kernel")], sizes=ROWS,
         special=False),
    Case("positive_count", [XROW], lambda x: (x > 0).sum(axis=1), 1, fused=[("gt", "count_kernel")], sizes=ROWS),
    Case("eight_bits", [X], lambda x: silu(e4m3(x)) * 2, 1, sizes=N0, special=False),
    # Several readers: what others need is stored by the kernel, too.
    Case("two_readers_before", [X], lambda x: (silu(x * 2), x * 2), 1, fused=[("mul", "silu_kernel")], sizes=N0),
    Case("two_readers_after", [X], lambda x: (silu(x) + 1, silu(x) * 2), 1,
         fused=[("silu_kernel", "add"), ("silu_kernel", "mul")], sizes=N0),
    Case("kept_after", [X], lambda x: (silu(x), silu(x) * 2), 1, fused=[("silu_kernel", "mul")], sizes=N0),
    Case("two_outputs_after", [X], lambda x: (x + 2, (x - 1) * 2), 1,
         fused=[("two_outputs_kernel", "add"), ("two_outputs_kernel", "mul")], sizes=N0),
    Case("residual_softmax", ["x=bf16[m:0..64,50]", "r=bf16[m,50]"], lambda x, r: (bf16(softmax(bf16(x * r))), bf16(bf16(x * r) * 2)),
         1, fused=[("mul", "where_softmax_kernel"), ("where_softmax_kernel", "mul_1")], sizes=ROWS, tolerance=2.0**-8),
    Case("residual_by_view", ["x=f32[m:0..64,5,10]", "r=f32[m,5,10]"], lambda x, r: (silu(x + r) + x + r), 2, 2,
         fused=[("add", "silu_kernel")], refused=[("silu_kernel", "add_1", "alias")], sizes=ROWS),
    Case("kept_flags", [X], lambda x: (~(x > 0), np.where(x > 0, x, 0.0)), 1, fused=[("gt", "not_kernel"), ("not_kernel", "where")], sizes=N0),
    Case("kept_in_tiles", [XROW], lambda x: (x * -2, x * 2 - 1), 1, fused=[("mul", "tile_kernel")], sizes=ROWS),
    Case("kept_many", [X], lambda x: (silu(x) + 1, silu(x) * 2, silu(x) - 3, silu(x)), 1,
         fused=[("silu_kernel", "add"), ("silu_kernel", "mul"), ("silu_kernel", "sub")], sizes=N0),
    Case("read_before", [X], lambda x: (silu(silu(x * 2) + x * 2), silu(x * 2)), 2, 1, fused=[("mul", "silu_kernel")], sizes=N0),
    # What must stay apart.
    Case("reader_comes_first", [X], lambda x: silu(x * 2) + (x * 2).sum(), None, None,
         refused=[("mul", "silu_kernel", "two readers: .*sum")], sizes=N, tolerance=1e-3),
    Case("kept_of_a_part", [X], lambda x: (np.where(np.arange(len(x)) < len(x) - 5, x * 2 + 10, 0), x * 2 + 1), None, None,
         refused=[("mul", "head_kernel", "two readers.*cannot store it")], sizes=N),
    Case("kept_of_neighbours", [X], lambda x: (np.pad(x * 2, 1)[:-2] + np.pad(x * 2, 1)[2:], x * 2 + 1), None, None,
         refused=[("mul", "neighbours_kernel", "two readers.*cannot store it")], sizes=N0),
    Case("kept_of_a_weight", [XROW, "w=f32[50]"], lambda x, w: (x * (w * 2), w * 2 + 1), None, None,
         refused=[("mul", "affine_kernel", "two readers.*several programs")], sizes=[{"m": 1}, {"m": 33}]),
    Case("shifted_sum", [XROW, "s=f32[]"], lambda x, s: (x + s).sum(axis=1), 2, 1,
         refused=[("add", "row_sum_kernel", other("line"))], sizes=ROWS, tolerance=2e-5),
    Case("small_count", [XROW], lambda x: (x <= 0.5).sum(axis=1), 2, 1, refused=[("le", "count_kernel", other("line"))],
         sizes=ROWS),
    Case("foreign_operand", ["x=f32[m:0..64,50]", "t=f32[50,m]"], lambda x, t: silu(x + t.T), 2, 1,
         refused=[("add", "silu_kernel", "foreign stride")], sizes=ROWS),
    Case("sliced_operand", [XROW, "t=f32[m,51]"], lambda x, t: silu(x * t[:, 1:]), 2, 1,
         refused=[("mul", "silu_kernel", "foreign stride")], sizes=ROWS),
    Case("gapped_column", [XROW, "t=f32[m,3]"], lambda x, t: silu(x * t[:, :1]), 2, 1,
         refused=[("mul", "silu_kernel", "foreign stride")], sizes=ROWS),
    Case("foreign_view", ["x=f32[m:2..64,50]"], lambda x: (x * 2)[1:] * 2 + 1, 2, 1,
         refused=[("slice_1", "row_kernel", "foreign stride")], sizes=[{"m": 2}, {"m": 33}]),
    Case("transposed_after", [XROW], lambda x: silu(x).T + 1, 2, 1, refused=[("silu_kernel", "t", "foreign stride")], sizes=ROWS),
    Case("atomic", [X], lambda x: x * 2 + 1, 3, 1, refused=[("atomic_kernel", "add", "atomic")], sizes=N0),
    Case("read_back", [X], lambda x: (x + 1) ** 2 * 2, 2, 1, refused=[("read_back_kernel", "mul", "read-back")], sizes=N0),
    Case("in_place", [X], lambda x: x * 4 + 1, 3, 1,
         refused=[("mul", "double_in_place_kernel", "read-back"), ("double_in_place_kernel", "add", "read-back")], sizes=N0),
    Case("overwritten_operand", [X, "y=f32[n]"], lambda x, y: silu(y * 2), 3, 1,
         refused=[("mul", "silu_kernel", "alias.*overwrites")], sizes=N0),
    Case("alias", [X, "y=f32[n]"], lambda x, y: silu(y + 1) * 2, 3, 1,
         refused=[("add", "silu_kernel", "alias"), ("silu_kernel", "mul", "alias: the kernel writes into 'y'")], sizes=N0),
    Case("overwrites_operand", [X], lambda x: x * 4 + 1, 3, 1, refused=[("mul", "add_kernel", "alias.*writes it as 'out_ptr'")],
         sizes=N0),
    Case("same_operand_exp", [X], lambda x: np.exp(x) * 2, 2, 1, refused=[("exp", "add_kernel", "cost")], sizes=N0),
    Case("output_twice", [X], lambda x: x * 4 + 1, 3, 1, refused=[("add_kernel_1", "add", "alias|read-back")], sizes=N0),
    Case("masked_softmax", [XROW, "s=f32[]"], lambda x, s: softmax(x * s), 2, 1,
         refused=[("mul", "softmax_kernel", other(r"line \d+"))], sizes=ROWS, tolerance=1e-5),
    Case("exp_sum", [XROW], lambda x: np.exp(x).sum(axis=1), 2, 1, refused=[("exp", "row_sum_kernel", other("line"))],
         sizes=ROWS, tolerance=1e-5),
    Case("sum_no_other", [XROW], lambda x: (x + 1).sum(axis=1), 2, 1,
         refused=[("add", "row_sum_no_other_kernel", other("line"))], sizes=ROWS, tolerance=2e-5),
    Case("partial", [X], lambda x: np.where(np.arange(len(x)) < len(x) - 5, x + 10, 0) * 2, 2, 1,
         refused=[("head_kernel", "where", "partial store")], sizes=N),
    Case("partial_zeros", [X], lambda x: half(np.zeros_like(x), 0) + np.where(np.arange(len(x)) < len(x) - 5, x + 10, 0) + 2, 3, 1,
         refused=[("head_kernel", "add", "partial store")], sizes=N),
    Case("data_mask", [X], lambda x: np.where(x > 0, x + 10, 0) + 2, 3, 1,
         refused=[("positive_kernel", "add", "partial store")], sizes=N0),
    Case("even", [X], lambda x: np.where(np.arange(len(x)) % 2 == 0, x + 10, 0) + 2, 3, 1,
         refused=[("even_kernel", "add", "partial store")], sizes=N0),
    Case("overlapping", [X], lambda x: x + 12, 3, 1, refused=[("overlapping_kernel", "add", "partial store")], sizes=N0),
    Case("short_grid", [X], lambda x: np.where(np.arange(len(x)) < 64, silu(x), 0) + 2, 3, 1,
         refused=[("silu_kernel", "add", "partial store.*grid")], sizes=N0),
    Case("two_stores", [X], lambda x: np.where(np.arange(len(x)) < len(x) - 3, x * 5, x) + 2, 2, 1,
         refused=[("two_stores_kernel", "add", "2 stores")], sizes=N),
    Case("exp_in_loop", [XROW], lambda x: np.exp(x) - np.exp(x).mean(axis=1, keepdims=True), 2, 1,
         refused=[("exp", "center_kernel", "cost|masked with other")], sizes=ROWS, tolerance=2e-5),
    Case("exp_neighbours", [X], lambda x: np.pad(np.exp(x), 1)[:-2] + np.pad(np.exp(x), 1)[2:], 2, 1,
         refused=[("exp", "neighbours_kernel", "cost|masked with other")], sizes=N0),
    Case("exp_of_weight", [XROW, "w=f32[50]"], lambda x, w: x * np.exp(w), 2, 1, refused=[("exp", "affine_kernel", "cost")],
         sizes=ROWS),
    Case("matmul_before", ["a=f32[m:1..64,19]", "b=f32[19,n:1..64]"], lambda a, b: a * 2 @ b, 2, 1,
         refused=[("mul", "matmul_kernel", "cost")], sizes=[{"m": 1, "n": 1}, {"m": 33, "n": 17}], tolerance=2e-5,
         special=False),
    Case("opaque", [X], lambda x: silu(x * 2) + 1, 3, 2,
         refused=[("boundary", "silu_kernel", "boundary"), ("silu_kernel", "boundary_1", "boundary")], sizes=N0),
    Case("transposing_store", [XROW], lambda x: x.T + 1, 1, sizes=ROWS),
    Case("wider_after", ["x=f32[50]", "r=f32[m:0..9,50]"], lambda x, r: silu(x) + r, 2, 1,
         refused=[("silu_kernel", "add", "another shape")], sizes=[{"m": 0}, {"m": 9}]),
    Case("needs_result", [X], lambda x: silu(x) / silu(x).sum(), None, None, refused=[("silu_kernel", "div", "needs the kernel's result$")],
         sizes=N, tolerance=1e-3),
    Case("overlapping_views", ["x=f32[m:4..64,50]"], rows_doubled, None, None, sizes=[{"m": 4}, {"m": 33}]),
    Case("view_into_base", ["x=f32[m:4..64,50]"], lambda x: np.concatenate([silu(x[1:2]), x[1:]]) * 2, None, None,
         sizes=[{"m": 4}, {"m": 33}]),
    Case("kept_contents", [X], lambda x: ((x + 1) * 3, (x + 1) * 2 - 1), None, None, sizes=N0),
    Case("mutates_input", [X], lambda x: x * 6, None, None, sizes=N0,
         refused=[("double_in_place_kernel", "mul", "read-back")]),
    Case("volatile_load", [X], lambda x: x * 4, 2, 1, refused=[("mul", "volatile_kernel", "volatile load")], sizes=N0),
    Case("counted", [X], lambda x: silu(x + np.arange(len(x))), 2, 1,
         fused=[("add", "silu_kernel")], sizes=N0, tolerance=2e-5),
    Case("divided", ["x=i32[n:0..5000]", "y=i32[n]"], lambda x, y: x // (y * 2 + 1) + x, 2, 1,
         refused=[("floor_divide", "add_kernel", "divided by zero")], sizes=N0),
    Case("by_address", [X], lambda x: x * 4, 2, 1, refused=[("mul", "address_kernel", "ptr_to_int")], sizes=N0),
    Case("spare_output", [X], lambda x: x * 2 + 1, 2, 1,
         refused=[("spare_kernel", "add", "alias: the kernel also has its output as 'spare_ptr'")], sizes=N0),
    Case("kernels_only", [X], lambda x: silu(silu(x)), 2, 1,
         refused=[("silu_kernel", "silu_kernel_1", "kernels are not fused")], sizes=N0),
]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr}")
    return done.stdout


class Input:
    def __init__(self, text):
        self.name, rest = text.split("=")
        self.dtype, dims = rest.rstrip("]").split("[")
        self.dims = [d.split(":")[0] for d in dims.split(",") if d]

    def shape(self, sizes):
        return tuple(int(d) if d.isdigit() else sizes[d] for d in self.dims)

    def random(self, rng, sizes, special, index):
        shape = self.shape(sizes)
        if self.dtype == "bool":
            return rng.integers(0, 2, shape).astype(np.bool_)
        if self.dtype[0] == "i":
            return rng.integers(0, index, shape).astype(DTYPES[self.dtype]) if index else rng.integers(-99, 99, shape).astype(DTYPES[self.dtype])
        values = rng.standard_normal(shape).astype(np.float32)
        if special and values.size:
            flat = values.reshape(-1)
            for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
                flat[rng.integers(flat.size)] = value
        return to_bf16(values) if self.dtype == "bf16" else values.astype(DTYPES[self.dtype])

    def exact(self, values):
        if self.dtype == "bf16":
            return from_bf16(values).astype(np.float64)
        return values.astype(np.float64) if values.dtype.kind == "f" else values


def close(got, want, tolerance):
    """Each element may be off by `tolerance`, relative where it is above 1."""
    want = np.asarray(want)
    with np.errstate(invalid="ignore"):
        bound = tolerance * np.maximum(1.0, np.abs(want.astype(np.float64)))
    return problem(got, want, bound, signed_zeros=False)


def launch_package(program, package, level, inputs, arrays, folder, tag, results):
    command = [program, "run", package, "--target", level]
    for item, array in zip(inputs, arrays):
        np.save(folder / f"{item.name}.npy", array)
        command += ["--input", f"{item.name}=@{folder / item.name}.npy" + (":bf16" if item.dtype == "bf16" else "")]
    outputs = [folder / f"{tag}{i}.npy" for i in range(results)]
    for path in outputs:
        command += ["--output", path]
    run(*command)
    return [np.load(path) for path in outputs]


def as_numbers(array, dtype):
    return from_bf16(array.view(np.uint16)).astype(np.float64) if dtype == "bf16" else array


def check(program, case, folder):
    problems = []
    inputs = [Input(text) for text in case.inputs]
    common = [program, "compile", "--verify-each", f"{MODELS}:{case.name}", "--target", "cpu"]
    for text in case.inputs:
        common += ["--input", text]
    fused, plain = folder / "fused.plc", folder / "plain.plc"
    run(*common, "-o", fused)
    run(*common, "--no-fusion", "-o", plain)
    inside = json.loads(run(program, "inspect", fused, "--json"))
    if case.launches is not None and len(inside["launches"]) != case.launches:
        problems.append(f"{len(inside['launches'])} launches, expected {case.launches}")
    if case.buffers is not None and len(inside["buffers"]) != case.buffers:
        problems.append(f"{len(inside['buffers'])} buffers, expected {case.buffers}")
    if case.kernels is not None and len(inside["kernels"]) != case.kernels:
        problems.append(f"{len(inside['kernels'])} kernels, expected {case.kernels}")
    edges = json.loads(run(program, "explain", fused, "--json"))["edges"]
    known = {(e["from"], e["to"]): e for e in edges}
    for pair in case.fused:
        if not known.get(pair, {"fused": False})["fused"]:
            problems.append(f"{pair} is not fused: {known.get(pair)}")
    for source, target, why in case.refused:
        edge = known.get((source, target))
        if edge is None or edge["fused"] or not re.search(why, edge["reason"]):
            problems.append(f"{source} -> {target} is not refused for '{why}': {edge}")
    if problems:
        problems.append("edges: " + json.dumps(edges, indent=1))

    rng = np.random.default_rng(7)
    for sizes, level, special in itertools.product(case.sizes, runnable(), (False, True) if case.special else (False,)):
        arrays = [i.random(rng, sizes, special, case.index) for i in inputs]
        with np.errstate(all="ignore"):
            want = case.want(*[i.exact(a) for i, a in zip(inputs, arrays)])
        want = want if isinstance(want, tuple) else (want,)
        got = launch_package(program, fused, level, inputs, arrays, folder, "fused", len(want))
        apart = launch_package(program, plain, level, inputs, arrays, folder, "plain", len(want))
        dtype = inputs[0].dtype
        for i, (mine, other_way, expected) in enumerate(zip(got, apart, want)):
            if mine.dtype != other_way.dtype:
                problems.append(f"result {i}: type {mine.dtype}, unfused {other_way.dtype}")
            mine, other_way = as_numbers(mine, dtype), as_numbers(other_way, dtype)
            for what, wrong in (("numpy", close(mine, expected, case.tolerance)),
                                ("the unfused program", close(mine, other_way, min(case.tolerance, 1e-5)))):
                if wrong:
                    problems.append(f"result {i} at {sizes} special={special} on {level} against {what}: {wrong}")
    return problems


def verify_passes(program, name, inputs, folder):
    """--verify names each fused kernel with its error, and the package is written."""
    command = [program, "compile", f"{MODELS}:{name}", "--verify", "--json", "-o", folder / "p.plc"]
    report = json.loads(run(*command, *[word for text in inputs for word in ("--input", text)]))
    fused = report["verified"]
    good = len(fused) == 1 and fused[0]["ok"] and fused[0]["max_error"] <= fused[0]["allowed"]
    return [] if good and (folder / "p.plc").exists() else [f"unexpected: {fused}"]


def verify_fails(program, folder):
    """Fused, the product is contracted with the difference; --verify says so and writes nothing."""
    command = [program, "compile", f"{MODELS}:residue", "--verify", "-o", folder / "p.plc"]
    done = subprocess.run([*command, "--input", X, "--input", "y=f32[n]"], capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
    good = done.returncode == 1 and re.search("error: fused kernel 'residue_kernel' computes .* with an error of", lines[0])
    return [] if good and not list(folder.iterdir()) else [f"exit {done.returncode}: {lines}, left {list(folder.iterdir())}"]


VERIFY = {
    "verify_both": lambda program, folder: verify_passes(
        program, "both", ["x=bf16[m:0..64,50]", "s=bf16[]", "b=bf16[50]", "r=bf16[m,50]"], folder),
    "verify_center": lambda program, folder: verify_passes(program, "center", [XROW], folder),
    "verify_bool_kernel": lambda program, folder: verify_passes(program, "bool_kernel", [X], folder),
    "verify_gathered": lambda program, folder: verify_passes(program, "gathered", ["x=f32[100]", "index=i64[n:1..500]"], folder),
    "verify_residue": verify_fails,
}


def main():
    program, names = sys.argv[1], sys.argv[2:]
    cases = [(i, c) for i, c in enumerate(CASES) if not names or c.name in names]
    failed = 0
    for name, test in VERIFY.items():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for problem in test(program, pathlib.Path(folder)):
                failed += 1
                print(f"FAILED {name}\n    {problem}")

    def one(item):
        index, case = item
        with tempfile.TemporaryDirectory() as folder:
            try:
                return check(program, case, pathlib.Path(folder))
            except AssertionError as error:
                return [str(error)]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (index, case), problems in zip(cases, pool.map(one, cases)):
            if problems:
                failed += 1
                print(f"FAILED {case.name} {case.inputs[0]}")
                for problem in problems:
                    print("   ", problem.replace("\n", "\n    "))
    print(f"{failed} failed; {len(cases)} cases and {len(VERIFY)} verifications" + skipped(len(cases)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
