# SPDX-License-Identifier: Apache-2.0
"""What public libraries do in host code around their kernels, against numpy."""
import numpy as np

from model_cases import Case, normal


def weight(*shape):
    return lambda rng: rng.standard_normal(shape).astype(np.float32)


def hooked(x, w):
    first = (2 * x) @ w["layers.0.weight"].T + w["layers.0.bias"]
    return first @ w["layers.1.weight"].T + w["layers.1.bias"] + w["shift"] + 2 * np.arange(4)


def floats_of_sizes(x, w):
    n = len(x)
    return x.sum(0) / n, x * n**-0.5, x / np.sqrt(n + 1), np.full(3, 2 * n), np.full_like(x, 1 / n), np.log1p(x) + np.log2(n)


def positive(*shape):
    return lambda rng, n: rng.random((n, *shape), np.float32)


def numbers_that_tensors_hold(x, target, w):
    count, mean = int((target != -100).sum()), float(x.mean(dtype=np.float64)) / 2
    flat = x.ravel() / count + (count + np.arange(x.size) % 64 + 64 * (np.arange(x.size) // 64)) % 3 + mean
    half = (x.astype(np.float16).astype(np.float32) * np.float32(mean)).astype(np.float16).astype(np.float32)
    return (flat.reshape(x.shape), x.sum(0) / (count + 1), target + count, np.full(3, 2 * count - 1), np.full(2, mean), (target + 5) * target[0], half, x * (count // 2),
            np.array(count))


CASES = [
    Case("library.py", "context_of_a_launch", {"x": "f32[b:1..64,5]"}, {"x": normal(5)}, lambda x, w: x * 2.5, batches=(1, 7, 64)),
    Case("library.py", "none_for_a_tensor", {"x": "f32[6,8]", "bias": "f32[8]"}, {"x": lambda rng, n: normal(8)(rng, 6), "bias": lambda rng, n: normal()(rng, 8)},
         lambda x, bias, w: (2 * x, 2 * x + bias), batches=(1,)),
    Case("library.py", "Hooked", {"x": "f32[b:1..9,4]"}, {"x": normal(4)}, hooked,
         weights={**{f"layers.{i}.{k}": weight(*s) for i in (0, 1) for k, s in (("weight", (4, 4)), ("bias", (4,)))}, "shift": weight(4)}, batches=(1, 9), tolerance=1e-4),
    Case("library.py", "result_of_a_dataclass", {"x": "f32[b:1..9,4]"}, {"x": normal(4)}, lambda x, w: (3 * x + 1, x - 1), batches=(1, 9)),
    Case("library.py", "probes", {"x": "f32[b:1..9,4]"}, {"x": normal(4)}, lambda x, w: 2 * x, batches=(1, 9)),
    Case("library.py", "floats_of_sizes", {"x": "f32[b:1..70,4]"}, {"x": positive(4)}, floats_of_sizes, batches=(1, 3, 70), tolerance=1e-5),
    Case("library.py", "floats_of_sizes_for_kernels", {"x": "f32[b:1..70,4]"}, {"x": positive(4)}, lambda x, w: x / len(x), batches=(1, 3, 70)),
    Case("library.py", "floats_of_sizes_in_half", {"x": "f32[b:1..70,4]"}, {"x": positive(4)},
         lambda x, w: ((x.astype(np.float16) / np.float32(len(x))).astype(np.float16), x - len(x) / 3), batches=(1, 3, 7), tolerance=2e-3),
    Case("library.py", "numbers_that_tensors_hold", {"x": "f32[b:1..70,4]", "target": "i64[b]"},
         {"x": positive(4), "target": lambda rng, n: np.where(np.arange(n) % 4 == 1, -100, rng.integers(0, 100, n))}, numbers_that_tensors_hold, batches=(1, 3, 70), tolerance=1e-3,
         modes=("non-strict",)),
    Case("library.py", "broadcast_and_squeeze", {"x": "f32[b:2..9,4]", "y": "f32[4]"}, {"x": normal(4), "y": lambda rng, n: normal()(rng, 4)},
         lambda x, y, w: (x * y, x, x), batches=(2, 9)),
    Case("library.py", "numbers_and_dicts", {"x": "f32[b:1..9,8]", "batch": '{"ids": i64[3], "bias": f32[3]}', "pair": "(f32[b,1], f32[1])", "p": "0.5", "causal": "True", "mode": '"double"'},
         {"x": normal(8), "batch_ids": lambda rng, n: rng.integers(0, 8, 3), "batch_bias": lambda rng, n: normal()(rng, 3), "pair_0": normal(1), "pair_1": lambda rng, n: normal()(rng, 1)},
         lambda x, batch_ids, batch_bias, pair_0, pair_1, w: 0.5 * x[:, batch_ids] + batch_bias + pair_0 * pair_1, batches=(1, 9)),
]
