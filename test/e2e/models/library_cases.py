# SPDX-License-Identifier: Apache-2.0
"""What public libraries do in host code around their kernels, against numpy."""
import numpy as np

from model_cases import Case, normal


def floats_of_sizes(x, w):
    n = len(x)
    return x.sum(0) / n, x * n**-0.5, x / np.sqrt(n + 1), np.full(3, 2 * n), np.full_like(x, 1 / n), np.log1p(x) + np.log2(n)


def positive(*shape):
    return lambda rng, n: rng.random((n, *shape), np.float32)


CASES = [
    Case("library.py", "context_of_a_launch", {"x": "f32[b:1..64,5]"}, {"x": normal(5)}, lambda x, w: x * 2.5, batches=(1, 7, 64)),
    Case("library.py", "result_of_a_dataclass", {"x": "f32[b:1..9,4]"}, {"x": normal(4)}, lambda x, w: (3 * x + 1, x - 1), batches=(1, 9)),
    Case("library.py", "probes", {"x": "f32[b:1..9,4]"}, {"x": normal(4)}, lambda x, w: 2 * x, batches=(1, 9)),
    Case("library.py", "floats_of_sizes", {"x": "f32[b:1..70,4]"}, {"x": positive(4)}, floats_of_sizes, batches=(1, 3, 70), tolerance=1e-5),
    Case("library.py", "floats_of_sizes_in_half", {"x": "f32[b:1..70,4]"}, {"x": positive(4)},
         lambda x, w: (x.astype(np.float16).astype(np.float32) / np.float32(len(x)), x - len(x) / 3), batches=(1, 3, 7), tolerance=2e-2),
    Case("library.py", "numbers_and_dicts", {"x": "f32[b:1..9,8]", "batch": '{"ids": i64[3], "bias": f32[3]}', "pair": "(f32[b,1], f32[1])", "p": "0.5", "causal": "True", "mode": '"double"'},
         {"x": normal(8), "batch_ids": lambda rng, n: rng.integers(0, 8, 3), "batch_bias": lambda rng, n: normal()(rng, 3), "pair_0": normal(1), "pair_1": lambda rng, n: normal()(rng, 1)},
         lambda x, batch_ids, batch_bias, pair_0, pair_1, w: 0.5 * x[:, batch_ids] + batch_bias + pair_0 * pair_1, batches=(1, 9)),
]
