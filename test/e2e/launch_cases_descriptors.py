# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptors: tiles that reach over the edges, atomics, rows by index."""
import functools

import numpy as np

from launch_case import Case

FILE = "descriptors.py"


def atomics(rng):
    folds = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    for dtype in (np.int32, np.uint32):
        x = rng.integers(0, 1 << 30, (24, 12)).astype(dtype)
        starts = {name: rng.integers(0, 1 << 30, (8, 12)).astype(dtype) for name in folds}
        want = {f"{name}_ptr": functools.reduce(fold, x.reshape(3, 8, 12), starts[name]) for name, fold in folds.items()}
        yield Case(f"descriptor atomics {np.dtype(dtype).name}", FILE, "descriptor_atomics", "3",
                   {"x_ptr": x, **{f"{name}_ptr": start for name, start in starts.items()}, "M": 24, "N": 12, "BM": 8, "BN": 16}, want, 0)


def cases():
    rng = np.random.default_rng(29)
    x = rng.standard_normal((37, 44)).astype(np.float32)
    yield Case("descriptor functions", FILE, "descriptor_functions", "3,2",
               dict(x_ptr=x, out_ptr=np.zeros_like(x), M=37, N=44, BM=16, BN=32), dict(out_ptr=x * 2), 0)
    yield from atomics(rng)
    x, scattered = rng.standard_normal((21, 20)).astype(np.float32), rng.standard_normal((21, 20)).astype(np.float32)
    index = np.array([3, 20, 0, 7, 25, 11, 14, 1], np.int32)
    padded = np.pad(x, ((0, 10), (0, 12)))
    want = scattered.copy()
    inside = index[index < 21]
    want[inside, 8:] = x[inside, 8:]
    yield Case("descriptor gather and scatter", FILE, "descriptor_rows", "1",
               dict(x_ptr=x, gathered_ptr=np.ones((8, 16), np.float32), scattered_ptr=scattered, index_ptr=index, M=21, N=20, ROWS=8, BN=16),
               dict(gathered_ptr=padded[index, 8:24], scattered_ptr=want), 0)
