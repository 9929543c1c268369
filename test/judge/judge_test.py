#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every comparator of the Python tests refuses an array with one poisoned element, wherever it stands.

Exit code 77 where numpy is missing.
"""
import importlib
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST / folder) for folder in ("judge", ".", "e2e", "e2e/exec/draws", "e2e/models", "fusion", "passes/graph", "../bench")]
from bfloat16 import to_bf16  # noqa: E402
from judge import bound_of, errors_of_largest, judge, numbers, problem  # noqa: E402

failures = []


def expect(good, what):
    if not good:
        failures.append(what)


def refused(function, *arguments):
    """True where a comparator finds something, by a text or by raising."""
    try:
        result = function(*arguments)
    except (AssertionError, Exception) as error:  # noqa: BLE001 - whatever it raises is a refusal if it says something
        return bool(str(error))
    return bool(result) and not isinstance(result, float)


def comparators():
    """Each as function(got, want) with its loosest tolerance below 1; it gives a text, or raises."""
    launch_case = importlib.import_module("launch_case")
    yield "launch_case.compare", lambda got, want: launch_case.compare(got, want, 0.1)
    models = importlib.import_module("check_models")
    yield "check_models.compare", lambda got, want: models.compare("x", got, want, 0.1)
    operators = importlib.import_module("operators_test")
    yield "operators_test.compare", lambda got, want: operators.compare(got, want, "f32", 0.1)
    fusion = importlib.import_module("fusion_test")
    yield "fusion_test.close", lambda got, want: fusion.close(got, want, 0.1)
    random_fusion = importlib.import_module("random_fusion_test")
    yield "random_fusion_test.difference", lambda got, want: random_fusion.difference(got, np.asarray(want, np.float32), "f32")
    products = importlib.import_module("products_test")
    yield "products_test.check", lambda got, want: products.check("x", got, "f32", np.asarray(want), np.full(np.shape(want), 1e4))
    edges = importlib.import_module("edge_cases_test")
    yield "edge_cases_test.compare", lambda got, want: edges.compare(got, "f32", "f32", np.shape(want), np.asarray(want), False)
    guessed = importlib.import_module("guessed_launches")
    yield "guessed_launches.difference", lambda got, want: "" if guessed.difference("fp32", got, np.asarray(want, np.float32)) <= guessed.BOUNDS["fp32"] else "far"
    yield "judge.problem", lambda got, want: problem(got, want, 0.1)
    yield "judge.errors_of_largest", lambda got, want: "" if (errors_of_largest(got, want) > 0.1).sum() == 0 else "far"
    draws = importlib.import_module("device_draws_test")
    yield "device_draws_test.differing", lambda got, want: str(np.shape(got) != np.shape(want) or draws.differing(np.ravel(got), np.ravel(want), 0.1) or "")


def poison(compare, name):
    want = np.array([[0.5, -2.0, 3.0, 0.25], [1.0, 7.5, -0.125, 2.0], [4.0, 0.75, -1.0, 6.0]])
    right = want.astype(np.float32)
    expect(not refused(compare, right.copy(), want), f"{name} refuses equal arrays")
    special = want.copy()
    special[0, 1], special[1, 0], special[2, 2] = np.nan, np.inf, -np.inf
    expect(not refused(compare, special.astype(np.float32), special), f"{name} refuses equal NaN and infinities")
    for place in (0, 5, 11):
        for value in (np.nan, np.inf, -np.inf, 1e30, -1e30):
            got = right.copy()
            got.flat[place] = value
            expect(refused(compare, got, want), f"{name} takes {value} at {place}")
            expect(refused(compare, right, got.astype(np.float64)), f"{name} takes a number for {value} at {place}")
            for other in (np.nan, np.inf, -np.inf):
                if not (value == other or np.isnan(value) and np.isnan(other)):
                    wanted = want.copy()
                    wanted[...] = 1.0
                    wanted.flat[place] = other
                    changed = wanted.astype(np.float32)
                    changed.flat[place] = value
                    expect(refused(compare, changed, wanted), f"{name} takes {value} for {other} at {place}")
        got = right.copy()
        got.flat[place] += 1.2 * max(1.0, abs(want.flat[place]))
        expect(refused(compare, got, want), f"{name} takes an element that is off at {place}")
    for shape in ((12,), (4, 3), (3, 4, 1), (1, 3, 4)):
        expect(refused(compare, right.reshape(shape), want), f"{name} takes shape {shape}")
    for wrong in (right[:2], right[:, :3], right[:0], right[:1]):
        expect(refused(compare, wrong, want), f"{name} takes shape {wrong.shape}")
    expect(refused(compare, right[0, 0], want), f"{name} takes one number for a matrix")
    ones = np.ones((3, 4))
    expect(refused(compare, np.float32(1), ones), f"{name} takes one number for many equal ones")


def judge_itself():
    zero = np.array([0.0, -0.0, 1.0])
    expect(problem(zero.astype(np.float32)[[1, 1, 2]], zero), "-0 is taken for 0")
    expect(problem(zero.astype(np.float32)[[0, 0, 2]], zero), "0 is taken for -0")
    expect(not problem(zero.astype(np.float32)[[1, 1, 2]], zero, signed_zeros=False), "-0 is refused where signs do not matter")
    for kind in (np.float64, np.float16, np.int32, np.uint16):
        expect(problem(np.ones(3, kind), np.ones(3), dtype="f32"), f"{kind} is taken for f32")
    expect(not problem(np.ones(3, np.float32), np.ones(3), dtype="f32"), "f32 is refused")
    bits = to_bf16(np.array([1.0, -0.5, np.nan], np.float32))
    expect(not problem(bits, np.array([1.0, -0.5, np.nan]), dtype="bf16"), "bits of bf16 are refused")
    expect(not problem(bits.view("V2"), np.array([1.0, -0.5, np.nan])), "the type that numpy gives bf16 is refused")
    expect(problem(bits, np.array([1.0, 0.5, np.nan]), dtype="bf16"), "another bf16 is taken")
    expect(numbers(bits.reshape(1, 3), "bf16").shape == (1, 3), "bf16 loses its shape")
    big = np.array([2**53, 2**63 - 1])
    expect(problem(big, big + np.array([1, 0])), "integers are compared as float64")
    expect(problem(np.array([255], np.uint8), np.array([-1], np.int8)), "bits are compared instead of numbers")
    for bound in (np.nan, np.inf, -1.0):
        expect(problem(np.array([2.0, 1.0]), np.array([1.0, 1.0]), bound), f"a bound of {bound} takes everything")
    expect(problem(np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.array([np.nan, 1.0])), "a bound of NaN at one element takes it")
    expect(not problem(np.float16([np.inf]), np.array([65521.0]), dtype="f16"), "what overflows f16 must be infinite")
    expect(problem(np.float16([65504]), np.array([65521.0]), dtype="f16"), "what overflows f16 may be finite")
    expect(not problem(np.zeros((0, 3), np.float32), np.zeros((0, 3))), "nothing is refused")
    verdict = judge(np.array([1.0, 2.5]), np.array([1.0, 2.0]), 1.0)
    expect((verdict.largest, verdict.of_bound) == (0.5, 0.5), "the largest share is wrong")


def bounds():
    """A correctly rounded result is within its bound, a sum of a type within its own, and neither with a term too few."""
    rng = np.random.default_rng(3)
    for dtype, kind in (("f64", np.longdouble), ("f32", np.float64), ("f16", np.float64)):
        x = rng.standard_normal(1000).astype(kind)
        cast = {"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype]
        expect(not problem(x.astype(cast), x.astype(np.float64), bound_of(dtype, x)), f"{dtype}: correct rounding is refused")
    x = rng.standard_normal(1000)
    for dtype, cast in (("f64", np.float32), ("f32", np.float16)):
        expect(problem(np.tan(x).astype(cast), np.tan(x), bound_of(dtype, np.tan(x), 16)), f"{dtype}: a narrower tan is taken")
    for count in (3, 300, 5000):
        terms = (rng.uniform(-2, 2, count) * 2 + 1).astype(np.float32)
        exact, size = terms.astype(np.float64).sum(), np.abs(terms.astype(np.float64)).sum()
        bound = bound_of("f32", exact, 1, count, size)
        expect(not problem(np.cumsum(terms)[-1], np.float64(exact), bound), f"a sum of {count} in f32 is refused")
        missing = exact - terms[np.abs(terms) > 0.5][0]
        expect(problem(np.float32(missing), np.float64(exact), bound), f"a sum of {count} without one of its terms is taken")


def main():
    for name, compare in comparators():
        poison(compare, name)
    judge_itself()
    bounds()
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
