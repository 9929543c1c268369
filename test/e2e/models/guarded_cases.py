# SPDX-License-Identifier: Apache-2.0
"""Launches that depend on a dynamic size, at sizes on both sides of every condition."""
import numpy as np

from model_cases import Case, normal


def rows(*shape):
    """Five rows; the dynamic size is their length."""
    return lambda rng, n: rng.standard_normal((*shape, n)).astype(np.float32)


def block_size(x, w):
    fitting = max(64, 1 << (x.size - 1).bit_length())
    return x * max(b for b in (1024, 256, 64) if b <= fitting)


CASES = [
    *[Case("guarded.py", name, {"x": "f32[b:1..1024,16]"}, {"x": normal(16)}, lambda x, w: x + 1, batches=(1, 4, 7, 63, 1024))
      for name in ("even", "even_transparent", "even_closed")],
    Case("guarded.py", "row_sum", {"x": "f32[5,n:1..1500]"}, {"x": rows(5)}, lambda x, w: x.sum(1),
         batches=(1, 16, 17, 255, 256, 257, 1024, 1500), tolerance=6e-5),
    Case("guarded.py", "two_dims", {"x": "f32[m:1..64,n:1..100]"}, {"x": normal(64)},
         lambda x, w: x * (3 if x.shape[0] > 10 else 2), batches=(1, 8, 9, 16, 64)),
    Case("guarded.py", "two_dims", {"x": "f32[m:1..64,n:1..100]"}, {"x": rows(9)}, lambda x, w: x * 2, batches=(1, 33, 100)),
    Case("guarded.py", "pruned", {"x": "f32[b:1..200,16]"}, {"x": normal(16)}, block_size, batches=(1, 4, 9, 40, 200), tolerance=1e-5),
    Case("guarded.py", "hooked", {"x": "f32[b:1..64,16]"}, {"x": normal(16)}, lambda x, w: x.sum(keepdims=True).reshape(1),
         batches=(1, 5, 64), tolerance=6e-5),
]
