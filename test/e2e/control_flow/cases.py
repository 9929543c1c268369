# SPDX-License-Identifier: Apache-2.0
"""Which calls of models.py are compared: tensors, as (dtype, shape, how), for each the input's spec with its dynamic dims."""
import numpy as np

# name: ({input: spec}, [{input: value maker}])
rng = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def weights():
    """Of the one model that has some."""
    generator = np.random.default_rng(3)
    return {name: generator.standard_normal(shape).astype(np.float32) / 2 for name, shape in
            (("first.weight", (6, 6)), ("first.bias", (6,)), ("second.weight", (6, 6)), ("second.bias", (6,)))}


def flag(value):
    return np.array(value)


CASES = {
    "branch": ({"x": "f32[n:0..100,3]"}, [{"x": abs(normal(4, 3))}, {"x": -abs(normal(7, 3))}, {"x": normal(0, 3)}]),
    "branch_of_float": ({"x": "f32[5]", "flag": "f32[1]"}, [{"x": normal(5), "flag": np.float32([v])} for v in (0.0, 0.5, -0.0, float("nan"))]),
    "branch_of_size": ({"x": "f32[n:1..9,2]"}, [{"x": normal(n, 2)} for n in (1, 4, 5, 9)]),
    "branch_known": ({"x": "f32[3]"}, [{"x": normal(3)}]),
    "branch_lookup": (
        {"x": "f32[4,3]", "table": "f32[6,3]", "index": "i64[4]"},
        [{"x": normal(4, 3), "table": normal(6, 3), "index": np.array(i)} for i in ([0, 5, 2, 1], [0, 6, 2, 1])],
    ),
    "branch_nested": (
        {"x": "f32[n:1..20,6]", "flag": "bool[]"},
        [{"x": abs(normal(5, 6)), "flag": flag(True)}, {"x": -abs(normal(1, 6)), "flag": flag(True)}, {"x": normal(3, 6), "flag": flag(False)}],
    ),
    "branch_views": ({"x": "f32[5,7]", "flag": "bool[]"}, [{"x": normal(5, 7), "flag": flag(v)} for v in (True, False)]),
    "branch_tree": ({"x": "f32[4,3]", "flag": "bool[]"}, [{"x": normal(4, 3), "flag": flag(v)} for v in (True, False)]),
    "branch_types": (
        {"x": "f32[9]", "i": "i32[4]", "flag": "bool[]"},
        [{"x": normal(9), "i": np.array([7, -3, 0, 2**20], np.int32), "flag": flag(v)} for v in (True, False)],
    ),
    "newton": ({"x": "f32[n:1..50]"}, [{"x": abs(normal(n)) + 0.5} for n in (1, 50)]),
    "count_down": ({"n": "i64[]", "x": "f64[k:0..40]"}, [{"n": np.array(n), "x": normal(k, dtype=np.float64)} for n, k in ((0, 5), (1, 5), (2, 40), (7, 1), (8, 3))]),
    "loop_tree": ({"n": "i32[]", "x": "f32[3,5]"}, [{"n": np.array(n, np.int32), "x": normal(3, 5)} for n in (0, 1, 6)]),
    "loop_in_loop": ({"n": "i64[]", "x": "f32[4]"}, [{"n": np.array(n), "x": normal(4)} for n in (0, 1, 5, 6)]),
    "loop_beside_loop": ({"n": "i64[]", "x": "f32[33]"}, [{"n": np.array(n), "x": normal(33)} for n in (0, 3, 4)]),
    "cumulative": ({"init": "f32[3]", "x": "f32[t:0..30,3]"}, [{"init": normal(3), "x": normal(t, 3)} for t in (1, 2, 30, 0)]),
    "scan_backwards": (
        {"init": "f32[2,4]", "x": "f32[2,t:1..30,4]", "w": "f32[4,4]"},
        [{"init": normal(2, 4), "x": normal(2, t, 4), "w": normal(4, 4)} for t in (1, 6)],
    ),
    "scan_counted": ({"x": "f32[4]"}, [{"x": normal(4) * 8}]),
    "scan_in_scan": ({"x": "f32[3,5]"}, [{"x": normal(3, 5)}]),
    "mapped": ({"x": "f32[t:1..9,2,3]", "y": "f32[3,4]"}, [{"x": normal(t, 2, 3), "y": normal(3, 4)} for t in (1, 5)]),
    "products": ({"x": "f64[3,7]"}, [{"x": normal(3, 7, dtype=np.float64)}]),
    "matrix_products": ({"x": "f32[t:0..9,3,3]"}, [{"x": normal(t, 3, 3)} for t in (1, 2, 9, 0)]),
    "products_backwards": ({"x": "f32[2,6]"}, [{"x": normal(2, 6)}]),
    "largest": ({"x": "i64[8,3]"}, [{"x": rng.integers(-9, 9, (8, 3))}]),
    "whole_numbers": ({"x": "f32[3]"}, [{"x": normal(3)}]),
    "given_up": ({"x": "f32[3]"}, [{"x": abs(normal(3))}, {"x": abs(normal(3)) + 30}]),
    "constant_inside": ({"x": "f32[2,3]"}, [{"x": normal(2, 3)}]),
    "places_in_a_branch": ({"x": "f32[n:1..40]"}, [{"x": normal(n) + by} for n, by in ((1, 2), (7, 0.4), (40, 1), (9, -2), (1, -3))]),
    "places_in_a_scan": ({"x": "f32[t:0..9,n:1..40]"}, [{"x": np.sort(normal(t, n), 0)} for t, n in ((5, 7), (1, 1), (9, 40), (0, 5))]),
    "places_in_a_loop": ({"n": "i64[]", "x": "f32[k:3..30]"}, [{"n": np.array(n), "x": normal(k)} for n, k in ((0, 4), (1, 3), (4, 30), (3, 9))]),
    "lengths": ({"x": "f32[4,n:1..20]", "n": "i64[4]"}, [{"x": normal(4, 6), "n": np.array([0, 6, 3, 1])}, {"x": normal(4, 2), "n": np.array([1, 0, 0, 2])}]),
    "gradient_of_a_loop": ({"n": "i64[]", "x": "f32[k:1..9]", "w": "f32[k]"}, [{"n": np.array(n), "x": normal(k), "w": normal(k)} for n, k in ((0, 3), (1, 1), (5, 9))]),
    "Net": ({"x": "f32[b:1..9,6]", "n": "i64[]"}, [{"x": normal(b, 6), "n": np.array(n)} for b, n in ((1, 0), (4, 1), (9, 6))]),
}

# Of these, archives: the call that they were exported with, and those that an archive takes (two rows at least, mostly).
# PyTorch exports no associative scan of another mode than "pointwise".
ARCHIVES = {
    "branch": (0, (0, 1)),
    "branch_of_size": (2, (1, 2, 3)),
    "branch_nested": (0, (0, 2)),
    "branch_views": (0, (0, 1)),
    "branch_types": (0, (0, 1)),
    "newton": (1, (1,)),
    "count_down": (2, (0, 1, 2, 4)),
    "loop_in_loop": (1, (0, 1, 2, 3)),
    "loop_beside_loop": (0, (0, 1, 2)),
    "cumulative": (2, (1, 2)),
    "scan_backwards": (1, (1,)),
    "scan_in_scan": (0, (0,)),
    "mapped": (1, (1,)),
    "largest": (0, (0,)),
    "places_in_a_branch": (2, (1, 2, 3)),
    "lengths": (0, (0,)),
    "Net": (1, (1, 2)),
}
