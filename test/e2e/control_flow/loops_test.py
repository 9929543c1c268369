#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops that change what they carry in place, and associative scans in chunks: the numbers are those of the same loops in
numpy, and what stays in place is copied in no turn.

    loops_test.py PROGRAM

Exit code 77 where numpy is missing.
"""
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tool import pellucid  # noqa: E402

SOURCE = '''
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


def rows(cache, xs):
    def body(c, slice):
        i, x = slice
        return c.index_copy(0, i[None], x[None]), x.sum()

    return scan(body, cache, (torch.arange(xs.shape[0]), xs))


def outside(cache, xs):
    c = cache.clone()

    def body(t, slice):
        i, x = slice
        c[i] = x + c[i]
        return t + x.sum(), c[0].sum()

    return scan(body, torch.zeros(()), (torch.arange(xs.shape[0]), xs)), c


def counted(cache, n):
    def body(i, c):
        return i + 1, c.index_put((i[None],), c[:1] + 1)

    return while_loop(lambda i, c: i < n, body, (torch.zeros((), dtype=torch.int64), cache))


def needed(cache, xs):
    """What a turn began with is read after it was changed."""
    def body(c, slice):
        i, x = slice
        changed = c.index_copy(0, i[None], x[None])
        return changed, (c * changed).sum()

    return scan(body, cache, (torch.arange(xs.shape[0]), xs))


def crossed(a, b, n):
    """Each is the other's next contents."""
    def body(i, a, b):
        return i + 1, b.index_put((i[None],), a[:1] + 1), a.index_put((i[None],), b[1:2] - 1)

    return while_loop(lambda i, a, b: i < n, body, (torch.zeros((), dtype=torch.int64), a, b))


def twice(a, n):
    """Two that begin as one."""
    def body(i, a, b):
        return i + 1, a.index_put((i[None],), b[:1] + 1), b + 1

    start = a * 1
    return while_loop(lambda i, a, b: i < n, body, (torch.zeros((), dtype=torch.int64), start, start)), start


def nested(cache, xs):
    """A loop in a loop, on the same memory."""
    def outer(c, x):
        def inner(k, slice):
            i, v = slice
            return k.index_copy(0, i[None], v[None] + k[:1]), v.sum()

        changed, sums = scan(inner, c.clone(), (torch.arange(x.shape[0]), x))
        return changed, sums

    return scan(outer, cache, xs)


def sums(x):
    return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")


def recurrence(a, b, scale):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] * scale + right[1]

    return associative_scan(combine, (a, b), 0, combine_mode="generic")
'''


class Compiled:
    made = 0

    def __init__(self, folder, name, **specs):
        Compiled.made += 1
        self.folder, self.names, self.package = folder, list(specs), folder / f"{name}{Compiled.made}.plc"
        words = [word for key, spec in specs.items() for word in ("--input", f"{key}={spec}")]
        pellucid("compile", f"{folder / 'loops.py'}:{name}", *words, "-o", self.package, "--target", "cpu:x86-64-v3", "--verify-each")

    def __call__(self, count, *values):
        words = []
        for name, value in zip(self.names, values, strict=True):
            np.save(self.folder / f"{name}.npy", value)
            words += ["--input", f"{name}=@{self.folder / name}.npy"]
        pellucid("run", self.package, *words, *[word for i in range(count) for word in ("--output", self.folder / f"o{i}.npy")])
        return [np.load(self.folder / f"o{i}.npy") for i in range(count)]

    def steps_of_turns(self):
        """The lines of inspect that stand inside of a loop."""
        lines = pellucid("inspect", self.package).splitlines()
        return [line.strip() for line in lines if line.startswith("    ")]


def whole(rng, *shape):
    """Sums of these are exact."""
    return rng.integers(-9, 10, shape).astype(np.float32)


def same(name, got, expected):
    assert len(got) == len(expected)
    for i, (one, want) in enumerate(zip(got, expected)):
        np.testing.assert_array_equal(one, np.asarray(want, one.dtype), err_msg=f"{name}, result {i}")


def check_in_place(folder):
    rng = np.random.default_rng(3)
    cache = "f32[50,6]"
    for name in ("rows", "outside", "needed"):
        compiled = Compiled(folder, name, cache=cache, xs="f32[n=5:1..50,6]")
        inside = compiled.steps_of_turns()
        copies = [line for line in inside if line.startswith("copy") or "clone" in line]
        assert bool(copies) == (name == "needed"), f"{name}: {inside}"
        for n in (1, 2, 7, 50):
            c, xs, stacked, total = whole(rng, 50, 6), whole(rng, n, 6), [], 0
            results = compiled(3 if name == "outside" else 2, c, xs)
            for i in range(n):
                before = c.copy()
                c[i] = xs[i] + (c[i] if name == "outside" else 0)
                total += xs[i].sum()
                stacked.append({"rows": xs[i].sum(), "outside": c[0].sum(), "needed": (before * c).sum()}[name])
            same(name, results, [total, stacked, c] if name == "outside" else [c, stacked])
    compiled = Compiled(folder, "counted", cache=cache, n="i64[]")
    assert not [line for line in compiled.steps_of_turns() if line.startswith("copy")], compiled.steps_of_turns()
    for n in (0, 1, 4, 5):
        c = whole(rng, 50, 6)
        results = compiled(2, c, np.int64(n))
        for i in range(n):
            c[i] = c[0] + 1
        same("counted", results, [n, c])
    compiled = Compiled(folder, "crossed", a="f32[9,2]", b="f32[9,2]", n="i64[]")
    for n in (0, 1, 2, 7):
        a, b = whole(rng, 9, 2), whole(rng, 9, 2)
        results = compiled(3, a, b, np.int64(n))
        for i in range(n):
            c, d = b.copy(), a.copy()
            c[i], d[i] = a[0] + 1, b[1] - 1
            a, b = c, d
        same("crossed", results, [n, a, b])
    compiled = Compiled(folder, "twice", a="f32[9,2]", n="i64[]")
    for n in (0, 3):
        a = whole(rng, 9, 2)
        results, b, start = compiled(4, a, np.int64(n)), a.copy(), a.copy()
        for i in range(n):
            a[i], b = b[0] + 1, b + 1
        same("twice", results, [n, a, b, start])
    compiled = Compiled(folder, "nested", cache="f32[8,3]", xs="f32[n=2:1..5,m=3:1..8,3]")
    for n, m in ((1, 1), (3, 8), (4, 3)):
        c, xs, stacked = whole(rng, 8, 3), whole(rng, n, m, 3), np.zeros((n, m))
        results = compiled(2, c, xs)
        for i in range(n):
            for j in range(m):
                c[j] = xs[i, j] + c[0]
                stacked[i, j] = xs[i, j].sum()
        same("nested", results, [c, stacked])


def check_chunks(folder):
    rng = np.random.default_rng(4)
    long = (1, 2, 255, 256, 257, 512, 700, 70_000)
    for columns in ("", ",3", ",2,5"):
        compiled = Compiled(folder, "sums", x=f"i64[t=9:0..100000{columns}]")
        for turns in (0, *(long if columns == ",3" else (257, 66_000))):
            x = rng.integers(-99, 100, (turns, *map(int, columns.split(",")[1:])))
            same(f"sums of {x.shape}", compiled(1, x), [x.cumsum(0)])
    assert pellucid("inspect", compiled.package).count("scan_join") >= 2
    compiled = Compiled(folder, "recurrence", a="f64[t=9:1..5000,4]", b="f64[t,4]", scale="f64[4]")
    # One chunk has the bits of a scan turn by turn.
    known = Compiled(folder, "recurrence", a="f64[200,4]", b="f64[200,4]", scale="f64[4]")
    for turns in (1, 200, 256, 3000):
        a, b, scale = rng.uniform(0.97, 1.03, (turns, 4)), rng.standard_normal((turns, 4)), np.ones(4)
        got = compiled(2, a, b, scale)
        x, y = a.copy(), b.copy()
        for t in range(1, turns):
            x[t], y[t] = x[t - 1] * a[t], y[t - 1] * a[t] + b[t]
        np.testing.assert_allclose(got[0], x, rtol=1e-11)
        np.testing.assert_allclose(got[1], y, rtol=1e-9, atol=1e-11)
        if turns == 200:
            same("recurrence of a known length", known(2, a, b, scale), got)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "loops.py").write_text(SOURCE)
        check_in_place(folder)
        check_chunks(folder)
    print("ok")


main()
