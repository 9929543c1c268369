# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, sorting and what is built on them."""
import numpy as np

from launch_case import Bf16, Case

FILE = "reductions.py"


def reductions(rng):
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-13), (np.int32, 0), (np.float16, 0)):
        for axis in (0, 1):
            # Whole numbers, so that the sums of float16 are exact in every order.
            x = np.rint(rng.standard_normal((16, 64)) * 8).astype(dtype) if dtype == np.float16 else (rng.standard_normal((16, 64)) * 10).astype(dtype)
            w = x.astype(np.float64 if np.dtype(dtype).kind == "f" else np.int64)
            size = 64 if axis == 0 else 16
            zeros = np.zeros(size, dtype)
            yield Case(f"reduce {np.dtype(dtype).name} axis {axis}", FILE, "reduce_axis", "1",
                       dict(x_ptr=x, sum_ptr=zeros, max_ptr=zeros, min_ptr=zeros, M=16, N=64, AXIS=axis),
                       dict(sum_ptr=w.sum(axis), max_ptr=w.max(axis), min_ptr=w.min(axis)), tolerance)
    for shape in ((1, 32), (32, 1), (8, 128)):
        x = rng.standard_normal(shape).astype(np.float32)
        w = x.astype(np.float64)
        if 1 not in shape:
            w = w - w.mean(1, keepdims=True)
            w = w - w.mean(0, keepdims=True)
            yield Case(f"kept dims {shape}", FILE, "reduce_keep", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), M=shape[0], N=shape[1]),
                       dict(out_ptr=w / np.abs(w).max()), 1e-6)
        else:
            for axis in (0, 1):
                size = shape[1 - axis]
                zeros = np.zeros(size, np.float32)
                yield Case(f"reduce {shape} axis {axis}", FILE, "reduce_axis", "1",
                           dict(x_ptr=x, sum_ptr=zeros, max_ptr=zeros, min_ptr=zeros, M=shape[0], N=shape[1], AXIS=axis),
                           dict(sum_ptr=w.sum(axis), max_ptr=w.max(axis), min_ptr=w.min(axis)), 1e-6)
    x = rng.standard_normal((4, 8, 16)).astype(np.float32)
    w = x.astype(np.float64)
    yield Case("reduce a cube", FILE, "reduce_cube", "1",
               dict(x_ptr=x, a_ptr=np.zeros((8, 16), np.float32), b_ptr=np.zeros((4, 16), np.float32), c_ptr=np.zeros((4, 8), np.float32),
                    A=4, B=8, C=16), dict(a_ptr=w.sum(0), b_ptr=w.max(1), c_ptr=w.min(2)), 1e-6)
    x = rng.standard_normal((2, 4, 8, 16)).astype(np.float32)
    yield Case("four dims", FILE, "four_dims", "1", dict(x_ptr=x, out_ptr=np.zeros((8, 2, 4), np.float32), A=2, B=4, C=8, D=16),
               dict(out_ptr=x.astype(np.float64).transpose(2, 0, 3, 1).sum(2)), 1e-6)
    for cols in (1, 100, 257):
        x = rng.integers(0, 20, (7, cols)).astype(np.float32)
        i, j = x.argmax(-1), x.argmin(-1)
        yield Case(f"extremes {cols}", FILE, "extremes", "7",
                   dict(x_ptr=x, value_ptr=np.zeros((7, 2), np.float32), index_ptr=np.zeros((7, 4), np.int32), cols=cols, BLOCK=512),
                   dict(value_ptr=np.stack([x.max(-1), x.min(-1)], -1), index_ptr=np.stack([i, i, j, j], -1)), 0)
    x = rng.integers(-9, 9, (32, 16)).astype(np.int32)
    yield Case("column argmax", FILE, "column_argmax", "1", dict(x_ptr=x, index_ptr=np.zeros((1, 16), np.int32), M=32, N=16),
               dict(index_ptr=x.argmax(0)[None]), 0)
    x = (1 + rng.standard_normal((5, 100)) * 0.1).astype(np.float32)
    w = x.astype(np.float64)
    yield Case("custom reductions", FILE, "custom_reduce", "5",
               dict(x_ptr=x, product_ptr=np.zeros(5, np.float32), mean_ptr=np.zeros(5, np.float32), var_ptr=np.zeros(5, np.float32), cols=100,
                    BLOCK=128), dict(product_ptr=w.prod(-1), mean_ptr=w.mean(-1), var_ptr=w.var(-1)), 1e-5)
    x = np.rint(rng.standard_normal(64) * 9).astype(np.float32)
    w = x.astype(np.float64)
    yield Case("an assertion of what combines two elements", FILE, "checked_reduce", "1",
               dict(x_ptr=x, sum_ptr=np.zeros(1, np.float32), scan_ptr=np.zeros(64, np.float32), BLOCK=64),
               dict(sum_ptr=w.sum()[None], scan_ptr=w.cumsum()), 0)
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32):
        info = np.iinfo(dtype)
        x = rng.integers(max(info.min, -2**40), min(info.max, 2**40), 333, dtype=np.int64).astype(dtype)
        # Sums of narrow integers are kept in 32 bits.
        wide = {"i": np.int32, "u": np.uint32}[np.dtype(dtype).kind] if np.dtype(dtype).itemsize < 4 else dtype
        total = x.astype(wide).sum(dtype=wide).astype(np.int64)
        want = np.array([total, np.bitwise_xor.reduce(x).astype(np.int64), max(int(x.max()), 0), min(int(x.min()), 0), (x > 0).sum(), (x > 0).sum()])
        yield Case(f"reduce {np.dtype(dtype).name} exactly", FILE, "integer_reductions", "1",
                   dict(x_ptr=x, out_ptr=np.zeros(6, np.int64), n=333, BLOCK=512), dict(out_ptr=want), 0)


def scans(rng):
    for n, block in ((1, 2), (333, 512), (1000, 1024)):
        x = rng.standard_normal(n).astype(np.float32)
        w = x.astype(np.float64)
        zeros = np.zeros(n, np.float32)
        yield Case(f"scans {n}", FILE, "scans", "1", dict(x_ptr=x, sum_ptr=zeros, back_ptr=zeros, product_ptr=zeros, n=n, BLOCK=block),
                   dict(sum_ptr=w.cumsum(), back_ptr=w[::-1].cumsum()[::-1], product_ptr=(1 + w * 0.01).cumprod()), 2e-5)
    for axis in (0, 1):
        for reverse in (False, True):
            x = rng.integers(-99, 99, (8, 32)).astype(np.int32)
            want = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
            yield Case(f"scan axis {axis} reverse {reverse}", FILE, "scan_axis", "1",
                       dict(x_ptr=x, out_ptr=np.zeros_like(x), M=8, N=32, AXIS=axis, REVERSE=reverse), dict(out_ptr=want), 0)
    a, x = rng.uniform(0.5, 1, (3, 200)).astype(np.float32), rng.standard_normal((3, 200)).astype(np.float32)
    h, state = np.zeros((3, 200)), np.zeros(3)
    for t in range(200):
        state = a[:, t].astype(np.float64) * state + x[:, t]
        h[:, t] = state
    yield Case("linear recurrence", FILE, "linear_recurrence", "3",
               dict(a_ptr=a, x_ptr=x, out_ptr=np.zeros_like(x), peak_ptr=np.zeros_like(x), n=200, BLOCK=256),
               dict(out_ptr=h, peak_ptr=np.maximum.accumulate(x, -1)), 2e-6)
    x = (rng.standard_normal((4, 781)) * 5).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    yield Case("online softmax", FILE, "online_softmax", "4", dict(x_ptr=x, out_ptr=np.zeros_like(x), cols=781, BLOCK=128),
               dict(out_ptr=e / e.sum(-1, keepdims=True)), 1e-6)
    x = rng.standard_normal((8, 64)).astype(np.float32)
    e = np.exp(x.astype(np.float64))
    yield Case("built-in softmax", FILE, "built_in_softmax", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), M=8, N=64),
               dict(out_ptr=e / e.sum(-1, keepdims=True)), 1e-6)


def orders(rng):
    for dtype in (np.float32, np.int32, np.int64, np.float16):
        x = (rng.standard_normal((3, 64)) * 100).astype(dtype)
        up = np.sort(x, -1)
        yield Case(f"sort {np.dtype(dtype).name}", FILE, "sorted_rows", "3",
                   dict(x_ptr=x, up_ptr=np.zeros_like(x), down_ptr=np.zeros_like(x), top_ptr=np.zeros((3, 8), dtype), flip_ptr=np.zeros_like(x),
                        N=64, K=8),
                   dict(up_ptr=up, down_ptr=up[:, ::-1], top_ptr=up[:, ::-1][:, :8], flip_ptr=x[:, ::-1]), 0)
    up = np.sort(rng.standard_normal((3, 32)).astype(np.float32), -1)
    yield Case("bitonic merge", FILE, "merged_rows", "3",
               dict(x_ptr=np.concatenate([up[:, ::2], up[:, :0:-2]], -1), up_ptr=np.zeros_like(up), down_ptr=np.zeros_like(up), N=32),
               dict(up_ptr=up, down_ptr=up[:, ::-1]), 0)
    x = rng.permutation(5 * 60).reshape(5, 60).astype(np.float32)
    order = np.argsort(-x, -1)[:, :4]
    yield Case("top k by masking", FILE, "top_k_by_masking", "5",
               dict(x_ptr=x, value_ptr=np.zeros((5, 4), np.float32), index_ptr=np.zeros((5, 4), np.int64), n=60, K=4, BLOCK=64),
               dict(value_ptr=np.take_along_axis(x, order, -1), index_ptr=order), 0)
    x = rng.integers(0, 32, 1000).astype(np.int32)
    yield Case("histogram of tiles", FILE, "histogram", "4", dict(x_ptr=x, counts_ptr=np.zeros(32, np.int32), n=1000, BINS=32, BLOCK=256),
               dict(counts_ptr=np.bincount(x, minlength=32).astype(np.int32)), 0)
    for shape in ((4, 16), (8, 8)):
        x = (rng.standard_normal(shape) * 4).astype(np.float32)
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        yield Case(f"softmax of {shape}", FILE, "softmax_of_rows", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), M=shape[0], N=shape[1]),
                   dict(out_ptr=e / e.sum(1, keepdims=True)), 1e-6)
    # The whole sum sees the tile as one row, whose loads have two indices.
    for rows, columns, m in ((64, 64, 64), (64, 64, 37), (32, 128, 5), (128, 32, 128)):
        x, y, z, start = (rng.standard_normal(size).astype(np.float32) for size in ((rows, columns), (columns, columns), (rows, columns), rows))
        y /= 32  # The whole's thousands of terms cancel, and its error is that of their magnitudes.
        kept = np.where(np.arange(rows)[:, None] < m, x, 0).astype(np.float64)
        product = z * (kept @ y.astype(np.float64).T)
        sums = np.where(np.arange(rows) < m, start - product.sum(1) + product.sum(), start)
        yield Case(f"row and whole sums {rows}x{columns} of {m}", FILE, "row_and_whole_sums", "1",
                   dict(x_ptr=x, y_ptr=y, z_ptr=z, row_ptr=start, m=m, M=rows, N=columns), dict(row_ptr=sums), 1e-5)
    x = Bf16(rng.standard_normal((3, 300)))
    yield Case("sums of bfloat16", FILE, "narrow_sums", "3", dict(x_ptr=x, out_ptr=np.zeros((3, 2), np.float32), n=300, BLOCK=128),
               dict(out_ptr=np.stack([x.values.sum(-1), x.values.max(-1)], -1)), 1e-5)


def cases():
    rng = np.random.default_rng(13)
    for part in (reductions, scans, orders):
        yield from part(rng)
