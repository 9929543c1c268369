# SPDX-License-Identifier: Apache-2.0
"""Addresses: masks and what stands in for them, views, tables, block pointers, descriptors, atomics, shapes of tiles."""
import numpy as np

from launch_case import Bf16, Case, Table, View

FILE = "memory.py"


def masks(rng):
    for dtype in (np.float32, np.float16):
        for n in (1, 77, 128):
            x = rng.standard_normal(128).astype(dtype)
            i = np.arange(128)
            w = x.astype(np.float64)
            want = np.stack([np.where(i < n, w, -3), np.where(i < n, w, 7.5), np.where((i < n) & (i % 3 != 1), w, i * 0.5),
                             np.where(i < n, w[np.clip(n - 1 - i, 0, None)], w[0])])
            yield Case(f"other values {np.dtype(dtype).name} {n}", FILE, "other_values", "1",
                       dict(x_ptr=x, out_ptr=np.zeros((4, 128), dtype), n=n, fill=7.5, BLOCK=128), dict(out_ptr=want), 0)
    table, index = rng.standard_normal((31, 70)).astype(np.float32), rng.integers(-3, 34, 20).astype(np.int64)
    ok = (index >= 0) & (index < 31)
    want = np.where(ok[:, None], table[np.clip(index, 0, 30)], 0)
    yield Case("embedding", FILE, "gather_rows", "20,2",
               dict(table_ptr=table, index_ptr=index, out_ptr=np.zeros((20, 70), np.float32), rows=31, dim=70, table_stride=70, BLOCK=64),
               dict(out_ptr=want), 0)
    for dtype in (np.float32, np.float16, np.float64):
        # Eighths, so that the sums are exact in every order.
        grad, index = (rng.integers(-30, 30, (20, 33)) / 8).astype(dtype), rng.integers(0, 6, 20).astype(np.int32)
        want = np.zeros((6, 33))
        np.add.at(want, index, grad.astype(np.float64))
        yield Case(f"embedding backward {np.dtype(dtype).name}", FILE, "scatter_add_rows", "20",
                   dict(grad_ptr=grad, index_ptr=index, out_ptr=np.zeros((6, 33), dtype), dim=33, BLOCK=64), dict(out_ptr=want), 0)
    for n, block in ((1, 1), (5, 1), (3, 2), (781, 1024), (65536, 65536), (40000, 65536)):
        x = rng.standard_normal(n).astype(np.float32)
        w = x.astype(np.float64)
        yield Case(f"block of {block} for {n}", FILE, "one_block", str(-(-n // block)), dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, BLOCK=block),
                   dict(out_ptr=np.where(w > 0, w, np.expm1(w)) / (1 + np.exp(-w))), 1e-6)
    empty = np.zeros(0, np.float32)
    for grid in ("0", "1"):
        yield Case(f"no elements, grid {grid}", FILE, "one_block", grid, dict(x_ptr=empty, out_ptr=empty, n=0, BLOCK=64), dict(out_ptr=empty), 0)
    x = rng.standard_normal((3, 21)).astype(np.float32)
    yield Case("scalars only", FILE, "scalars_only", "3", dict(x_ptr=x, out_ptr=np.zeros(3, np.float32), n=21),
               dict(out_ptr=x.astype(np.float64).mean(-1)), 1e-6)
    z, y, x, k = np.meshgrid(np.arange(2), np.arange(3), np.arange(5), np.arange(4), indexing="ij")
    yield Case("three axes", FILE, "three_axes", "5,3,2", dict(out_ptr=np.zeros((2, 3, 5, 4), np.int32), BLOCK=4),
               dict(out_ptr=(x + 10 * y + 100 * z + 1000 * k).astype(np.int32)), 0)


def views(rng):
    base = np.arange(200, dtype=np.float32)
    zeros = np.zeros((5, 7), np.float32)
    yield Case("a view with strides", FILE, "copy_strided", "2,1",
               dict(x_ptr=View(base, "offset=3,shape=5x7,strides=20x2"), out_ptr=zeros, rows=5, cols=7, sr=20, sc=2, BR=4, BC=8),
               dict(out_ptr=base[3:].copy()[np.arange(5)[:, None] * 20 + np.arange(7) * 2]), 0)
    yield Case("negative strides", FILE, "copy_strided", "2,1",
               dict(x_ptr=View(base, "offset=150,shape=1,strides=1"), out_ptr=zeros, rows=5, cols=7, sr=-20, sc=-1, BR=4, BC=8),
               dict(out_ptr=base[150 - np.arange(5)[:, None] * 20 - np.arange(7)]), 0)
    yield Case("stride zero", FILE, "copy_strided", "2,1", dict(x_ptr=base, out_ptr=zeros, rows=5, cols=7, sr=0, sc=3, BR=4, BC=8),
               dict(out_ptr=np.tile(base[np.arange(7) * 3], (5, 1))), 0)
    tensors = [rng.standard_normal(333).astype(np.float32) for _ in range(3)]
    total = sum(t.astype(np.float64) for t in tensors)
    yield Case("table of addresses", FILE, "batched_add", "3",
               dict(table_ptr=Table(*tensors), out_ptr=np.zeros(333, np.float32), n=333, COUNT=3, BLOCK=128),
               {"out_ptr": total, "table_ptr[2]": total * 2, "table_ptr[0]": tensors[0]}, 1e-6)
    x = rng.standard_normal(64).astype(np.float32)
    yield Case("far offsets", FILE, "far_away", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), stride=1 << 40, BLOCK=64), dict(out_ptr=x), 0)


def blocks(rng):
    x = rng.standard_normal((37, 45)).astype(np.float32)
    want = np.pad(x.astype(np.float64), ((0, 0), (0, 3))).reshape(37, 3, 16).sum(1)
    yield Case("block pointers in a loop", FILE, "shift_block", "3", dict(x_ptr=x, out_ptr=np.zeros((37, 16), np.float32), M=37, N=45, BM=16, BN=16),
               dict(out_ptr=want), 1e-6)
    half = x.astype(np.float16)
    want = np.pad(half.astype(np.float64), ((0, 0), (0, 3))).reshape(37, 3, 16).sum(1)
    yield Case("block pointers of float16", FILE, "shift_block", "3",
               dict(x_ptr=half, out_ptr=Bf16(np.zeros((37, 16))), M=37, N=45, BM=16, BN=16), dict(out_ptr=want), 8e-3)
    x = rng.integers(-99, 99, 781).astype(np.int16)
    yield Case("one-dimensional block pointers", FILE, "block_1d", "7", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=781, BLOCK=128),
               dict(out_ptr=x * 2 + 1), 0)
    x = rng.standard_normal((37, 44)).astype(np.float32)
    yield Case("tensor descriptors", FILE, "descriptor_copy", "3,2",
               dict(x_ptr=x, out_ptr=np.zeros_like(x), M=37, N=44, stride_m=44, stride_n=1, BM=16, BN=32),
               dict(out_ptr=x + np.float32(1)), 1e-6)


def atomics(rng):
    x = rng.standard_normal(1000).astype(np.float32)
    zero = np.zeros(1, np.int32)
    yield Case("a lock", FILE, "locked_sum", "8", dict(x_ptr=x, lock_ptr=zero, count_ptr=zero, out_ptr=np.full(1, 99, np.float32), n=1000, BLOCK=128),
               dict(out_ptr=x.astype(np.float64).sum(keepdims=True), lock_ptr=zero), 1e-4)
    for dtype in (np.int32, np.int64, np.uint32):
        x = rng.integers(0 if dtype == np.uint32 else -1000, 1000, 333).astype(dtype)
        start = rng.integers(0, 100, (6, 4)).astype(dtype)
        want = start.copy()
        for i, v in enumerate(x):
            s = i % 4
            with np.errstate(over="ignore"):
                want[0, s] += v
            want[1, s], want[2, s] = max(want[1, s], v), min(want[2, s], v)
            want[3, s] &= v
            want[4, s] |= v
            want[5, s] ^= v
        old = rng.integers(0, 100, 333).astype(dtype)
        with np.errstate(over="ignore"):
            after = old + x
        yield Case(f"atomics {np.dtype(dtype).name}", FILE, "every_atomic", "3",
                   dict(x_ptr=x, out_ptr=start, old_ptr=old, n=333, BLOCK=128), dict(out_ptr=want, old_ptr=after), 0)
    x = rng.standard_normal(1000).astype(np.float32)
    yield Case("PTX of tl.extra.cuda on a CPU", FILE, "where_and_when", "1", dict(out_ptr=np.zeros(2, np.int64)), {},
               refusal=r"assembly for another processor|inline assembly cannot be interpreted|is not pure")
    yield Case("polls", FILE, "waits_for_the_one_before", "5",
               dict(turn_ptr=np.arange(5, dtype=np.int32), flag_ptr=np.zeros(6, np.int32), seen_ptr=np.zeros(5, np.int32), BLOCK=8),
               dict(flag_ptr=np.arange(6), seen_ptr=np.full(5, 9)), 0)
    yield Case("float atomics", FILE, "float_atomics", "4",
               dict(x_ptr=x, sum_ptr=np.zeros(1, np.float32), max_ptr=np.full(1, -9, np.float32), min_ptr=np.full(1, 9, np.float32), n=1000, BLOCK=256),
               dict(sum_ptr=x.astype(np.float64).sum(keepdims=True), max_ptr=x.max(keepdims=True), min_ptr=x.min(keepdims=True)), 1e-5)


def shapes(rng):
    x, y = rng.standard_normal((8, 16)).astype(np.float32), rng.standard_normal((8, 16)).astype(np.float32)
    yield Case("transpose, interleave, split", FILE, "permute_and_join", "1",
               dict(x_ptr=x, y_ptr=y, a_ptr=np.zeros((16, 8), np.float32), b_ptr=np.zeros((8, 32), np.float32), c_ptr=np.zeros((8, 8), np.float32),
                    M=8, N=16),
               dict(a_ptr=(x + y).T, b_ptr=np.stack([x, y], -1).reshape(8, 32), c_ptr=x[:, ::2] - x[:, 1::2]), 0)
    x, index = rng.standard_normal(64).astype(np.float32), rng.integers(0, 64, 32).astype(np.int32)
    yield Case("gather within a tile", FILE, "tile_gather", "1", dict(x_ptr=x, index_ptr=index, out_ptr=np.zeros(32, np.float32), N=64, K=32),
               dict(out_ptr=x[index]), 0)


def cases():
    rng = np.random.default_rng(17)
    for part in (masks, views, blocks, atomics, shapes):
        yield from part(rng)
