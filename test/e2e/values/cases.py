# SPDX-License-Identifier: Apache-2.0
"""Which calls of models.py are compared: for each model its inputs' specs with their dynamic dims, and the calls' tensors."""
import numpy as np

rng = np.random.default_rng(7)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def whole(most, *shape, dtype=np.int64):
    return rng.integers(0, most, shape).astype(dtype)


def mask(*values):
    return np.array(values, dtype=bool)


nothing, everything = normal(6, 6) - 9, abs(normal(6, 6)) + 1
some, none, all_of = mask(1, 0, 1, 1, 0, 1), mask(*[0] * 6), mask(*[1] * 6)

CASES = {
    "Nonzero": ({"x": "f32[7,5]"}, [{"x": v} for v in (np.maximum(normal(7, 5), 0), np.zeros((7, 5), np.float32), np.ones((7, 5), np.float32),
                                                       np.full((7, 5), np.nan, np.float32), -np.zeros((7, 5), np.float32))]),
    "Static": ({"x": "f32[7,5]"}, [{"x": v} for v in (np.maximum(normal(7, 5), 0), np.zeros((7, 5), np.float32), np.ones((7, 5), np.float32))]),
    "Mask": ({"x": "f32[6,6]", "y": "bool[6]"}, [{"x": normal(6, 6), "y": some}, {"x": nothing, "y": none}, {"x": everything, "y": all_of}]),
    "Several": ({"x": "f32[6,6]", "y": "bool[6]"}, [{"x": normal(6, 6), "y": some}, {"x": nothing, "y": none}, {"x": everything, "y": all_of}]),
    "Computed": ({"x": "f32[6,6]"}, [{"x": normal(6, 6)}, {"x": nothing}, {"x": everything}]),
    "Put": ({"x": "f32[6,6]", "y": "f32[6,6]", "few": "f32[1,6]"},
            [{"x": v, "y": normal(6, 6), "few": normal(1, 6)} for v in (normal(6, 6), nothing, everything)]),
    "Exact": ({"x": "f32[4]", "values": "f32[3]"}, [{"x": np.float32([1, -1, 2, 3]), "values": normal(3)}, {"x": np.float32([1, -1, -2, 3]), "values": normal(3)}]),
    "Unique": ({"x": "i64[4,5]"}, [{"x": whole(5, 4, 5)}, {"x": whole(50, 4, 5)}, {"x": whole(1, 4, 5)}, {"x": np.repeat(whole(9, 2, 5), 2, 0)}]),
    "UniqueOf": ({"x": "f32[n:0..99]"}, [{"x": v.astype(np.float32)} for v in (normal(9).round(), np.array([1, np.nan, 1, np.nan, -np.inf, np.inf]), normal(0))]),
    "Repeat": ({"x": "f32[4,3]", "r": "i64[4]"}, [{"x": normal(4, 3), "r": np.int64(v)} for v in ([2, 0, 3, 1], [0, 0, 0, 0], [1, 40, 0, 2], [2, -1, 3, 1])]),
    "Item": ({"x": "f32[9,3]", "n": "i64[]"}, [{"x": normal(9, 3), "n": np.array(v)} for v in (4, 0, 9, 1, 10, -1)]),
    "Listed": ({"x": "f32[9,3]", "n": "i64[2]"}, [{"x": normal(9, 3), "n": np.int64(v)} for v in ([4, 5], [0, 9], [9, 0], [3, 3])]),
    "Count": ({"x": "i64[20]", "w": "f32[20]"}, [{"x": v, "w": normal(20)} for v in (whole(9, 20), whole(1, 20), whole(9, 20) - 1)]),
    "Dynamic": ({"x": "f32[n:0..5000]", "y": "f32[m:0..9,k:0..9]"},
                [{"x": normal(n), "y": normal(m, k)} for n, m, k in ((5, 3, 4), (0, 9, 1), (5000, 0, 9), (1, 1, 1))]),
    "Twice": ({"x": "f32[n:0..5000]"}, [{"x": normal(n)} for n in (40, 0, 5000)]),
    "Kept": ({"x": "f32[7]"}, [{"x": np.float32([0, 1, 2, 0, 3, 0, 0])}]),
    "Launched": ({"x": "f32[30]"}, [{"x": v} for v in (normal(30), abs(normal(30)) + 1, np.float32([1] + [-1] * 29), nothing.reshape(-1)[:30])]),
    "Drawn": ({"w": "f32[4]"}, [{"w": np.float32(v)} for v in ([1, 0, 2, 3], [1, -1, 2, 3], [0, 0, 0, 0], [1, np.nan, 2, 3], [1, np.inf, 2, 3])]),
    "Ends": ({"x": "f32[n:0..9]"}, [{"x": normal(n)} for n in (0, 1, 3, 4, 5, 6, 9)]),
    "EndsOfValues": ({"x": "f32[6]", "n": "i64[]"}, [{"x": normal(6), "n": np.array(n)} for n in (0, 2, 6, 9, -1, -2, -6, -9)]),
    "UniqueSlices": ({"x": "i64[n:0..40,5]"}, [{"x": v} for v in (whole(2, 9, 5), whole(2, 40, 5), whole(1, 7, 5), whole(9, 1, 5), whole(9, 0, 5))]),
    "UniqueColumns": ({"x": "f32[2,6,3]", "b": "bool[4,6]"}, [{"x": whole(2, 2, 6, 3).astype(np.float32) - 0.5, "b": whole(2, 4, 6) > 0},
                                                              {"x": -np.zeros((2, 6, 3), np.float32) * np.sign(normal(2, 6, 3)), "b": whole(1, 4, 6) > 0}]),
    "Nothing": ({"x": "f32[0,3]", "y": "f32[2,0,2]"}, [{"x": normal(0, 3), "y": normal(2, 0, 2)}]),
}
# Of these PyTorch exports archives too.
ARCHIVES = ["Nonzero", "Static", "Mask", "Computed", "Unique", "Item", "Listed", "Twice", "UniqueColumns", "Nothing"]
