# SPDX-License-Identifier: Apache-2.0
"""Random numbers of programs: against Philox and float64 formulas of its words, and with the same bits from every CPU
level, number of threads and engine.

    random_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv[1]
MASK = np.uint64(0xFFFFFFFF)


def call(*words, fails=False):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, (words, done.stdout[-500:], done.stderr[-2000:])
    return done.stderr if fails else done.stdout


def words_of(seed, offset, site, count):
    """Philox 4x32 with ten rounds (Salmon et al., SC 2011)."""
    u = np.uint64
    i = np.arange(count, dtype=np.uint64)
    c = [i & MASK, (i >> u(32)) + u(site << 12), np.full(count, offset & 0xFFFFFFFF, np.uint64), np.full(count, offset >> 32, np.uint64)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        even, odd = u(0xD2511F53) * c[0], u(0xCD9E8D57) * c[2]
        c = [(odd >> u(32)) ^ c[1] ^ u(k[0]), odd & MASK, (even >> u(32)) ^ c[3] ^ u(k[1]), even & MASK]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(w, bits):
    if bits > 32:
        return ((w[0] | w[1] << np.uint64(32)) >> np.uint64(64 - bits)).astype("f8") * 2.0**-bits
    return (w[0] >> np.uint64(32 - bits)).astype("f8") * 2.0**-bits


def opened(w, wide):
    return ((w[0] | w[1] << np.uint64(32)) >> np.uint64(11)).astype("f8") * 2.0**-53 + 2.0**-54 if wide else w[0].astype("f4").astype("f8") * 2.0**-32 + 2.0**-33


def normal(w, wide):
    turns = ((w[2] | w[3] << np.uint64(32)) >> np.uint64(8)).astype("f8") * 2.0**-56 if wide else w[2].astype("f8") * 2.0**-32
    return np.sqrt(-2 * np.log(np.minimum(opened(w, wide), 1))) * np.cos(2 * np.pi * (turns - 0.125))


def randint(w, low, high):
    return np.array([low + ((int(a) | int(b) << 32) * (high - low) >> 64) for a, b in zip(w[0], w[1])])


def exact(what, got, want):
    assert got.shape == want.shape and (got == want).all(), (what, got[:4], want[:4])


def near(what, got, want, bound):
    off = np.abs(got.astype("f8") - want)
    assert got.shape == want.shape and (off <= bound).all(), (what, float(off.max()), bound)


class Package:
    def __init__(self, folder, name, *options, input="x=f32[b:0..64,7]"):
        self.path = folder / (name + "".join(options).replace("/", "") + ".plc")
        call("compile", f"{HERE / 'models.py'}:{name}", "--input", input, "-o", self.path, *options)
        self.results = len(json.loads(call("inspect", self.path, "--json"))["outputs"])

    def run(self, x, *options, fails=False):
        folder = self.path.parent
        np.save(folder / "x.npy", x)
        files = [folder / f"y{i}.npy" for i in range(self.results)]
        out = call("run", self.path, "--input", f"x=@{folder / 'x.npy'}", *[word for f in files for word in ("--output", f)], *options, fails=fails)
        return out if fails else [np.load(f) for f in files]


X = np.arange(35, dtype="f4").reshape(5, 7) - 10


def same(a, b):
    return all(p.tobytes() == q.tobytes() for p, q in zip(a, b))


def check_sources(folder):
    package = Package(folder, "sources")
    for seed, offset in ((0, 0), (7, 3), (2**64 - 1, 2**40 + 5)):
        y = package.run(X, "--seed", seed, "--offset", offset)
        w = [words_of(seed, offset, site, 64) for site in range(9)]
        cut = lambda site, n: [c[:n] for c in w[site]]  # noqa: E731
        exact("rand", y[0], uniform(cut(0, 37), 24).astype("f4"))
        exact("rand", y[1], uniform(cut(1, 37), 24).astype("f4"))
        near("randn", y[2], normal(cut(2, 37), False), 2e-6)
        exact("randint", y[3], randint(cut(3, 37), -3, 1000))
        exact("rand f64", y[4], uniform(cut(4, 9), 53))
        near("randn f64", y[5], normal(cut(5, 9), True), 1e-14)
        near("exponential", y[6], -np.log(opened(cut(6, 37), False)), 2e-6)
        exact("rand bf16", (y[7].view(np.uint16).astype(np.uint32) << 16).view("f4"), uniform(cut(7, 64), 8).astype("f4"))
        exact("rand f16", y[8], uniform(cut(8, 64), 11).astype("f2"))
        for options in (["--threads", 1], ["--target", "cpu:x86-64-v3"], ["--target", "cpu:x86-64-v3", "--threads", 3]):
            assert same(y, package.run(X, "--seed", seed, "--offset", offset, *options)), options
    # Without a seed every loading has one of its own.
    assert not same(package.run(X), package.run(X))


def check_distributions(folder):
    y = Package(folder, "distributions").run(X, "--seed", 11)

    def moments(i, mean, deviation):
        n, x = y[i].size, y[i].astype("f8")
        # Six deviations of the mean; the seed is fixed, so this passes always or never.
        assert abs(x.mean() - mean) < 6 * deviation / n**0.5 and abs(x.std() - deviation) < 0.1 * deviation + 1e-9, (i, x.mean(), x.std())

    moments(0, 2, 0.5)
    moments(1, 1, 4 / 12**0.5)
    moments(2, 0.3, 0.21**0.5)
    moments(3, 0.25, 0.1875**0.5)
    moments(4, 0.5, 0.5)
    moments(5, 4.5, 99**0.5 / 12**0.5)
    moments(6, 1, (1 / 3) ** 0.5)
    moments(7, 1, 2)
    moments(8, 3, 2)
    exact("randperm", np.sort(y[9]), np.arange(500))
    assert (y[9] != np.arange(500)).mean() > 0.9
    weights = np.arange(8) / 28
    assert np.abs(np.bincount(y[10], minlength=8) / 4000 - weights).max() < 0.04 and y[10].min() > 0
    channels = y[11].reshape(4000, 3)
    assert (channels == channels[:, :1]).all() and set(np.unique(y[11])) == {0, 2}
    moments(12, 0, 1)


def check_fusion(folder):
    fused, plain = Package(folder, "shapes"), Package(folder, "shapes", "--no-fusion")
    y = fused.run(X, "--seed", 5)
    assert same(y, plain.run(X, "--seed", 5))
    drawn, turned = uniform(words_of(5, 0, 0, 35), 24).astype("f4"), uniform(words_of(5, 0, 1, 35), 24).astype("f4")
    exact("rand_like", y[0], drawn.reshape(5, 7))
    exact("a use", y[1], X + drawn.reshape(5, 7))
    exact("another use", y[2], 2 * drawn.reshape(5, 7))
    exact("of a transposed tensor", y[3], turned.reshape(7, 5))
    exact("its use", y[4], X.T * turned.reshape(7, 5))
    exact("broadcast", y[5], X + uniform(words_of(5, 0, 2, 5), 24).astype("f4").reshape(5, 1))
    exact("no dims", y[6], uniform(words_of(5, 0, 3, 1), 24).astype("f4")[0:1].reshape(()))
    assert y[7].shape == (0, 3)
    near("summed", y[8], drawn.reshape(5, 7).sum(0), 1e-6)
    assert fused.run(X[:0], "--seed", 5)[0].shape == (0, 7)


def check_program_order(folder):
    """A draw whose result nobody uses keeps its number."""
    y = Package(folder, "unused_and_used").run(X, "--seed", 1)
    exact("the second", y[0], uniform(words_of(1, 0, 1, 5), 24).astype("f4"))


def check_training(folder):
    trained = Package(folder, "Dropping", "--train", input="x=f32[b:1..64,16]")
    x = np.ones((8, 16), "f4")
    a, b, c = trained.run(x, "--seed", 3), trained.run(x, "--seed", 3), trained.run(x, "--seed", 4)
    assert same(a, b) and not same(a, c)
    plain = Package(folder, "Dropping", input="x=f32[b:1..64,16]").run(x)[0]
    kept = uniform(words_of(3, 0, 0, 256), 24).reshape(8, 32) < 0.5
    exact("dropout", a[0], np.where(kept, 2 * plain, 0).astype("f4"))


def check_attention(folder):
    x = np.random.default_rng(1).standard_normal((6, 16)).astype("f4")
    y = Package(folder, "attention", input="x=f32[6,16]").run(x, "--seed", 4)
    q = x[:, :8].astype("f8").reshape(1, 2, -1, 4)
    scores = np.einsum("bhqd,bhkd->bhqk", q, q) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    kept = uniform(words_of(4, 0, 0, weights.size), 24).reshape(weights.shape) < 0.5
    near("dropped", y[0], np.where(kept, 2 * weights, 0) @ q, 2e-5)
    near("not dropped", y[1], weights @ q, 2e-5)
    assert (y[2][:, :, 0] == np.float32(4 / 3)).all() or (y[2][:, :, 0] == 0).any()


def check_branches(folder):
    package = Package(folder, "branches")
    exact("true", package.run(X + 100, "--seed", 2)[0], X + 100 + uniform(words_of(2, 0, 0, 35), 24).astype("f4").reshape(5, 7))
    exact("false", package.run(X - 100, "--seed", 2)[0], X - 100 - uniform(words_of(2, 0, 1, 35), 24).astype("f4").reshape(5, 7))


def mixed(x):
    """The end of MurmurHash3, which pellucid.draw_turn mixes turns with."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ (x >> 33)) * factor % 2**64
    return x ^ (x >> 33)


def check_loops(folder):
    """Each turn has numbers of its own: the key is the seed and the mixed turn."""

    def drawn(seed, site, *turns):
        turn = turns[0]
        for inner in turns[1:]:
            turn = (mixed(turn) + inner) % 2**64
        return uniform(words_of(seed ^ mixed(turn), 1, site, 7), 24).astype("f4")

    for options in ((), ("--no-fusion",)):
        y = Package(folder, "in_a_scan", *options).run(X, "--seed", 9, "--offset", 1)
        total = X.sum(0)
        for t in range(5):
            total = total + drawn(9, 0, t)
        exact("carried", y[0], total)
        exact("stacked", y[1], np.stack([X[t] + drawn(9, 1, t) for t in range(5)]))
        y = Package(folder, "in_a_loop", *options).run(X, "--seed", 9, "--offset", 1)
        exact("before", y[0], uniform(words_of(9, 1, 0, 3), 24).astype("f4"))
        exact("behind", y[4], uniform(words_of(9, 1, 6, 3), 24).astype("f4"))
        assert y[1] == 3
        want = X.copy()
        for t in range(3):
            step = uniform(words_of(9 ^ mixed(t), 1, 2 if t else 3, 35), 24).astype("f4").reshape(5, 7)
            want = want + step if t else want - step
        exact("carried by the loop", y[2], want)
        exact("of a loop in a loop", y[3], np.stack([want[t] + drawn(9, 5, 2, t) for t in range(5)]))
    package = Package(folder, "in_a_map")
    y = package.run(np.ones((40, 7), "f4"), "--seed", 3)
    rows = {row.tobytes() for row in y[0]}
    assert set(np.unique(y[0])) == {0, 2} and len(rows) > 20, len(rows)
    for threads in (1, 2):
        assert same(y, package.run(np.ones((40, 7), "f4"), "--seed", 3, "--threads", threads))
    said = call("compile", f"{HERE / 'models.py'}:in_an_associative_scan", "--input", "x=f32[5,7]", "-o", folder / "no.plc", fails=True)
    assert "models.py:" in said.splitlines()[0] and "an associative scan combines slices in an order of its own" in said, said


def check_refusals(folder):
    plain = Package(folder, "Dropping", input="x=f32[b:1..64,16]")
    assert "draws no random numbers" in plain.run(np.ones((1, 16), "f4"), "--seed", 1, fails=True)
    drawing = Package(folder, "unused_and_used")
    assert "is for runs with --seed" in drawing.run(X, "--offset", 1, fails=True)
    assert "not an integer" in drawing.run(X, "--seed", -1, fails=True)


def check_engines(folder):
    """The interpreter computes each operation by its definition: what it and every level give alike, no target rounds otherwise."""
    for kernel, outputs in (("narrow", "uniform=f4 normal=f4 exponential=f4 words=i8"), ("wide", "uniform=f8 normal=f8 exponential=f8")):
        names = [word.split("=") for word in outputs.split()]
        for seed in (1, 2**62 + 12345):
            found = []
            for engine in (["--reference"], ["--target", "cpu:x86-64-v3"], ["--target", "cpu"]):
                for name, dtype in names:
                    np.save(folder / f"{name}.npy", np.zeros(1024, dtype))
                words = [word for name, _ in names for word in ("--arg", f"{name}=@{folder / name}.npy", "--out", f"{name}={folder / name}_out.npy")]
                call("launch", f"{HERE / 'kernels.py'}:{kernel}", "--grid", "1", *words, "--arg", f"seed={seed}", "--arg", "offset=3", "--arg", "site=77", "--arg", "BLOCK=1024", *engine)
                found.append([np.load(folder / f"{name}_out.npy") for name, _ in names])
            assert same(found[0], found[1]) and same(found[0], found[2]), (kernel, seed)
            w = words_of(seed, 3, 77, 1024)
            near(kernel, found[0][1], normal(w, kernel == "wide"), 3e-6 if kernel == "narrow" else 1e-14)
            near(kernel, found[0][2], -np.log(np.minimum(opened(w, kernel == "wide"), 1)), 3e-6 if kernel == "narrow" else 1e-14)


def check_ptx(folder):
    """PTX of the same: nothing approximate and nothing flushed."""
    path = folder / "cuda.plc"
    call("compile", f"{HERE / 'models.py'}:sources", "--input", "x=f32[b:1..64,7]", "--target", "cuda:sm_80", "-o", path)
    kernels = [name for name in re.findall(r"fused_philox_\w+", call("inspect", path)) if not name.endswith("_unaligned")]
    ptx = "".join(call("inspect", path, "--ir", f"{kernel}:asm", "--target", "cuda:sm_80") for kernel in dict.fromkeys(kernels))
    for word in ("sqrt.rn.f32", "sqrt.rn.f64", "fma.rn.f32", "fma.rn.f64", "div.rn.f64", "mul.hi.u32"):
        assert word in ptx, (word, kernels)
    for word in ("approx", "ftz", "div.full", "lg2", "ex2"):
        assert word not in ptx, [line for line in ptx.splitlines() if word in line][:3]


def main():
    checks = [check_sources, check_distributions, check_fusion, check_program_order, check_training, check_attention, check_branches, check_loops, check_refusals, check_engines, check_ptx]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for check in checks:
            try:
                check(pathlib.Path(folder))
            except AssertionError as error:
                failed += 1
                print(f"FAILED {check.__name__}: {error}")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
