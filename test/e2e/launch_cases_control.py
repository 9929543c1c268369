# SPDX-License-Identifier: Apache-2.0
"""Branches, loops, helpers, compile-time values, checks and refusals."""
import numpy as np

from launch_case import Case, Words

FILE = "control.py"


def philox(seed, offsets):
    """The first word of Philox 4x32-10, as its paper has it."""
    c = [offsets.astype(np.uint64), np.zeros_like(offsets, np.uint64), np.zeros_like(offsets, np.uint64), np.zeros_like(offsets, np.uint64)]
    k0, k1, low = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k0, b & low, (a >> np.uint64(32)) ^ c[3] ^ k1, a & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return c[0].astype(np.uint32)


def helpers(rng):
    x = rng.standard_normal(200).astype(np.float32)
    for kind, function in (("relu", lambda v: np.maximum(v, 0)), ("square", lambda v: v * v), ("none", lambda v: v)):
        w = function(x.astype(np.float64)) - 0.25
        up, down = np.where(w > 0, 3 * w, 0), np.where(w < 0, -w, 0)
        yield Case(f"nested helpers {kind}", FILE, "nested_helpers", "4", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=200, KIND=kind),
                   dict(out_ptr=np.minimum(up + 2 * down, 2.5)), 1e-6)
    yield Case("nested helpers by default", FILE, "nested_helpers", "4", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=0), dict(out_ptr=np.zeros(200)), 0)
    yield Case("a failed static_assert", FILE, "nested_helpers", "4", dict(x_ptr=x, out_ptr=x, n=200, KIND="gelu"), {},
               refusal=r"control\.py:\d+:\d+: error: .*unknown activation")
    want = x.copy()
    pid = np.arange(200) // 32
    want[pid == 2], want[pid % 3 == 1] = -1, 0
    yield Case("early return", FILE, "early_return", "7", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=200, BLOCK=32), dict(out_ptr=want), 0)
    for mode in (0, -2, 3, 7, 11):
        y, shift = (x + 1, 5) if mode == 0 else (-x, -1) if mode < 0 or mode > 10 else (x * np.float32(mode), mode)
        yield Case(f"branches {mode}", FILE, "branches", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=200, mode=mode, BLOCK=256),
                   dict(out_ptr=(y * 2 if mode == 3 else y).astype(np.float64) + shift), 1e-6)
    for n in (256, 250):
        x = rng.standard_normal(n).astype(np.float32)
        yield Case(f"heuristics {n}", FILE, "even_or_masked", "4", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, BLOCK=64),
                   dict(out_ptr=x.astype(np.float64) + (1 if n == 256 else -1)), 1e-6)


def constant_returns(rng):
    x = rng.standard_normal(50).astype(np.float32)
    pid = np.arange(50) // 8
    for skip, limit, positive in ((None, 0, False), (1, 0, True), (3, 1, True), (3, -1, True), (2, 5, False)):
        w = x.astype(np.float64)
        want = -w if not positive else np.where(w > limit, w, 0) if limit > 0 else np.maximum(w, 0) if limit == 0 else -(w + 10)
        if skip is not None:
            want[pid == skip] = 0
            if skip > 2:
                want[pid > skip] = 0
                want[(pid > skip) & (np.arange(50) % 8 == 0)] = -1
        yield Case(f"an early return in a branch of constants {skip} {limit}", FILE, "constant_then_early_return", "7",
                   dict(x_ptr=x, out_ptr=np.zeros_like(x), n=50, limit=limit, SKIP=skip, POSITIVE=positive, BLOCK=8), dict(out_ptr=want), 1e-6)


def loops(rng):
    x = np.array([1, 2, 7, 27, 97], np.int32)
    yield Case("collatz", FILE, "collatz", "5", dict(x_ptr=x, out_ptr=np.zeros(5, np.int32)), dict(out_ptr=np.array([0, 1, 16, 111, 118], np.int32)), 0)
    edges, x = np.sort(rng.standard_normal(33)).astype(np.float32), rng.standard_normal(300).astype(np.float32)
    yield Case("binary search", FILE, "binary_search", "3", dict(edges_ptr=edges, x_ptr=x, out_ptr=np.zeros(300, np.int32), count=33, n=300, BLOCK=128),
               dict(out_ptr=np.searchsorted(edges, x).astype(np.int32)), 0)
    w = x.astype(np.float64)
    for taps, dilation in ((1, 1), (4, 1), (3, 5)):
        want = sum(np.concatenate([np.zeros(t * dilation), w[:300 - t * dilation]]) * (t + 1) for t in range(taps))
        yield Case(f"unrolled convolution {taps}", FILE, "unrolled", "5",
                   dict(x_ptr=x, out_ptr=np.zeros_like(x), n=300, TAPS=taps, DILATION=dilation, BLOCK=64), dict(out_ptr=want), 1e-6)
    want, state = np.zeros(50), 0.0
    for k in reversed(range(50)):
        state = state * 0.5 + w[k]
        want[k] = state
    yield Case("a loop backwards", FILE, "backwards", "1", dict(x_ptr=x[:50].copy(), out_ptr=np.zeros(50, np.float32), n=50), dict(out_ptr=want), 1e-6)
    for a, b in ((0, 9), (7, 12), (20, 3)):
        want = sum(i * j if (i + j) % 3 == 0 else -1 for i in range(a) for j in range(i, b, 2))
        yield Case(f"nested loops {a} {b}", FILE, "nested_loops", "1", dict(out_ptr=np.zeros(1, np.int32), a=a, b=b), dict(out_ptr=np.array([want], np.int32)), 0)
    for grid in ("1", "3", "9"):
        yield Case(f"persistent programs {grid}", FILE, "persistent", grid, dict(x_ptr=x, out_ptr=np.zeros_like(x), n=300, BLOCK=64), dict(out_ptr=2 * w), 0)


def constants(rng):
    bias = rng.standard_normal(8).astype(np.float32)
    for name, factor in (("twice", 2), ("triple", 3), ("other", 1)):
        for given in (bias, None):
            want = np.full((4, 8), 1.5) * factor + (0 if given is None else bias) + 0.25 + 2 + 4
            yield Case(f"compile time {name} {'with' if given is not None else 'without'} bias", FILE, "compile_time", "1",
                       dict(out_ptr=np.zeros((4, 8), np.float32), bias_ptr=given, DTYPE=Words("tl.float32"), NAME=name),
                       dict(out_ptr=want), 1e-6)


def tuples(rng):
    x = rng.standard_normal((5, 11)).astype(np.float32)
    for count, swap in ((5, True), (2, False), (0, True)):
        want = np.zeros((5, 11))
        rows = x[:count, :8].astype(np.float64)
        want[:count, :8] = rows[::-1] if swap else rows
        want.flat[22 if count > 2 else 12] = -1
        yield Case(f"named tuples {count}", FILE, "named_tuples", "1",
                   dict(x_ptr=x, out_ptr=np.zeros_like(x), stride=11, count=count, swap=swap), dict(out_ptr=want), 0)
    yield Case("starred targets", FILE, "starred", "1", dict(out_ptr=np.zeros(4, np.float32), a=2.5, b=3.5, c=-1.0, d=9.0),
               dict(out_ptr=np.array([2.5, 9, 7, 4.5])), 0)


def rest(rng):
    x = rng.standard_normal(60).astype(np.float32)
    w, turns = x.astype(np.float64), 63
    # (x + 1) + 2 * (turns + 1), 3 * x, 1 + 2 * 2 + 3 * 3, 2 * x + 2 * x + 3 * x + 4 * 2
    want = (w + 1) + 2 * (turns + 1) + 3 * w + 14 + 7 * w + 8
    yield Case("what *args takes, tl.tuple and tl.condition", FILE, "rest_of_arguments", "1", dict(out_ptr=np.zeros(60, np.float32), x_ptr=x, n=60, BLOCK=64), dict(out_ptr=want), 1e-6)
    yield Case("a function with *args is not launched", FILE, "pairs_of", "1", dict(), {},
               refusal=r"kernel 'pairs_of' has a '\*values' parameter")


def walrus(rng):
    x = rng.standard_normal(75).astype(np.float32)
    totals = np.add.reduceat(x.astype(np.float64), np.arange(0, 75, 16))
    want = np.append(np.where(totals > 0, totals, 0).repeat(16)[:75], max(0, totals.max()))
    yield Case("names assigned in expressions", FILE, "walrus", "1", dict(x_ptr=x, out_ptr=np.zeros(76, np.float32), n=75, BLOCK=16),
               dict(out_ptr=want), 1e-6)


def elsewhere(rng):
    yield Case("a target asked for", FILE, "target_queries", "1", dict(out_ptr=np.zeros(1, np.int32)), dict(out_ptr=np.array([3], np.int32)), 0)
    for chosen, block, scale in ((dict(), 4, 2), (dict(BLOCK=16, SCALE=0.5), 16, 0.5)):
        want = np.append(np.arange(block) * scale + 31, np.zeros(16 - block))
        yield Case(f"arguments given in place of decorators {block}", FILE, "tuned", "1",
                   dict(out_ptr=np.zeros(16, np.float32), n=30, EVEN=True, **chosen), dict(out_ptr=want), 0)
    for name in ("make_filler.filler", "filler"):
        yield Case(f"a kernel that a function makes: {name}", FILE, name, "1", dict(out_ptr=np.zeros(8, np.float32), BLOCK=8),
                   dict(out_ptr=np.full(8, 4.0)), 0)


def checks(rng):
    x = rng.integers(0, 100, 300).astype(np.int32)
    yield Case("a device_assert that holds", FILE, "checked", "3", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=300, BLOCK=128), dict(out_ptr=x), 0)
    bad = x.copy()
    bad[200] = 100
    yield Case("a device_assert that fails", FILE, "checked", "3", dict(x_ptr=bad, out_ptr=x, n=300, BLOCK=128), {},
               refusal=r"control\.py:\d+:\d+: .*an index is too large")
    yield Case("device_print", FILE, "talkative", "2", dict(x_ptr=np.array([12345, -77], np.int32), n=2), {}, prints=r"(?s)value.*12345")
    ints = np.zeros(8, np.int32)
    yield Case("inline assembly", FILE, "assembly", "1", dict(x_ptr=ints, out_ptr=ints, BLOCK=8), dict(out_ptr=ints + 1),
               refusal=r"control\.py:\d+:\d+: error: .*(asm|assembly)", refused_on_cuda=False)
    x = np.zeros(16, np.float32)
    for kernel, pattern in (("wrong_shape", "8.*16"), ("odd_range", "power of"), ("undefined_name", "missing")):
        args = dict(x_ptr=x, out_ptr=x) if kernel == "wrong_shape" else dict(out_ptr=x)
        yield Case(f"refused: {kernel}", FILE, kernel, "1", args, {}, refusal=rf"control\.py:\d+:\d+: error: .*{pattern}")


def aggregates(rng):
    x = rng.standard_normal(100).astype(np.float32)
    for turns in (0, 1, 4):
        total = turns * 3 * x.astype(np.float64) ** 2 + (turns > 2)
        want = total / max(turns, 1) / 2 * 5 if turns else np.full(100, np.nan)
        yield Case(f"aggregates, {turns} turns", FILE, "aggregates", "4", dict(x_ptr=x, out_ptr=np.zeros_like(x), turns=turns, n=100), dict(out_ptr=want), 1e-5)
    for kernel, pattern in (("changed_aggregate", "set by its constructor alone; make a changed copy with tl.aggregate_replace"),
                            ("forgetful_aggregate", "constructor of 'Forgetful' has not set 'b'"), ("aggregate_of_a_variable", "field 'BLOCK' of 'Window' is a constexpr"), ("aggregate_without_a_field", "'Window' has no field 'missing'"),
                            ("unpacked_aggregate", "a value of 'Window' cannot be unpacked")):
        args = dict(x_ptr=x, n=100)
        if kernel == "forgetful_aggregate":
            del args["n"]
        yield Case(f"refused: {kernel}", FILE, kernel, "1", args, {}, refusal=rf"control\.py:\d+:\d+: error: .*{pattern}")


def randomness(rng):
    for seed in (0, 42, 0x123456789):
        want = philox(seed, np.arange(500))
        yield Case(f"random integers {seed}", FILE, "random_numbers", "4", dict(out_ptr=np.zeros(500, np.uint32), seed=seed, n=500, BLOCK=128),
                   dict(out_ptr=want), 0)
    x = rng.standard_normal(500).astype(np.float32)
    bits = philox(7, np.arange(500)).view(np.int32)
    uniform = np.where(bits < 0, -bits.astype(np.int64) - 1, bits) * 4.6566127342e-10
    keep = uniform > np.float32(0.3)
    yield Case("dropout", FILE, "dropout", "4",
               dict(x_ptr=x, out_ptr=np.zeros_like(x), keep_ptr=np.zeros(500, np.bool_), n=500, p=0.3, seed=7, BLOCK=128),
               dict(out_ptr=np.where(keep, x / 0.7, 0), keep_ptr=keep), 1e-6)


def cases():
    rng = np.random.default_rng(23)
    for part in (helpers, constant_returns, loops, constants, tuples, rest, walrus, elsewhere, checks, aggregates, randomness):
        yield from part(rng)
