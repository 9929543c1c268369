# SPDX-License-Identifier: Apache-2.0
"""What each model of models.py is called with: three calls, of different sizes where a dim is dynamic."""
import numpy as np


def numbers(*shape, seed=0):
    """The same everywhere, of either sign, exact in float32."""
    count = int(np.prod(shape, dtype=np.int64))
    return (((np.arange(count) * 37 + seed * 11) % 101 - 50) / 16).astype(np.float32).reshape(shape)


def rows(columns, sizes=(5, 8, 3)):
    return [[numbers(n, columns, seed=i)] for i, n in enumerate(sizes)]


def cache():
    calls = []
    for i, pos in enumerate(([0], [3], [9])):
        calls.append([numbers(2, 3, 1, 4, seed=i + part) for part in range(3)] + [np.array(pos)])
    return calls


# NAME: the inputs as --input has them, the calls, whether in training.
CASES = {
    "Counter": (["x=f32[batch:1..9,4]"], rows(4), False),
    "Bound": (["x=f32[3]"], [[numbers(3, seed=i)] for i in range(3)], False),
    "Cache": (["q=f32[2,3,1,4]", "k=f32[2,3,1,4]", "v=f32[2,3,1,4]", "pos=i64[1]"], cache(), False),
    "Slices": (["x=f32[2,3,3]"], [[numbers(2, 3, 3, seed=i)] for i in range(3)], False),
    "Flags": (["index=i64[2]"], [[np.array(index)] for index in ([0, 4], [4, 4], [2, 0])], False),
    "Twice": (["x=f32[batch:2..9,3]"], rows(3), False),
    "Scale": (["x=f32[batch:1..9,3]"], rows(3), False),
    "Norms": (["x=f32[batch:2..9,3]"], rows(3), True),
    "Branching": (["x=f32[n:1..9,3]"], [[numbers(n, 3, seed=i) + by] for i, (n, by) in enumerate(((4, 2), (2, -5), (7, 1), (3, 3), (1, -1)))], False),
    "Looping": (["x=f32[rows:1..9,3]", "n=i64[]"], [[numbers(n, 3, seed=i), np.array(turns)] for i, (n, turns) in enumerate(((2, 3), (1, 0), (5, 8)))], False),
    "Tables": (["x=f32[2,2,3]", "at=i64[2]"], [[numbers(2, 2, 3, seed=i), np.array(at)] for i, at in enumerate(([1, 3], [4, 4], [0, 3]))], False),
    "Images": (["x=f32[batch:1..4,2,5,3]"], [[numbers(n, 2, 5, 3, seed=n)] for n in (4, 1, 2)], True),
}
