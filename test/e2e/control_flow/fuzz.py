#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of branches, loops and scans in one another, with views, writes to what was made outside, closures, sizes that
values decide and zero turns. Values stay integers, so that results are compared exactly with the same source run by PyTorch, branch
by branch and turn by turn.

    fuzz.py PROGRAM [--from SEED] [--count N] [--seconds S] [--saved | --archive | --exec] [--keep FOLDER] [--target T] [--option=…]
"""
import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SHAPES = {"s": (), "v": (4,), "m": (3, 4), "t": (4, 3)}
IMPORTS = """import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
"""
PLAIN = '''import torch


def _leaves(tree):
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


def cond(pred, yes, no, operands=()):
    return (yes if bool(pred) else no)(*operands)


def while_loop(goes_on, body, carried):
    carried = tuple(c.clone() if isinstance(c, torch.Tensor) else c for c in carried)
    while bool(goes_on(*carried)):
        carried = tuple(body(*carried))
    return carried


def scan(step, init, xs, dim=0, reverse=False):
    order = range(xs.shape[dim])
    rows = {}
    carry = init
    for i in reversed(order) if reverse else order:
        carry, rows[i] = step(carry, xs.select(dim, i))
    return carry, torch.stack([rows[i] for i in order], dim)


def each(f, xs, *args):
    return torch.stack([f(x, *args) for x in xs])


def associative_scan(combine, xs, dim, reverse=False, combine_mode="generic"):
    order = list(range(xs.shape[dim]))
    order = order[::-1] if reverse else order
    rows = {order[0]: xs.select(dim, order[0])}
    for before, i in zip(order, order[1:]):
        rows[i] = combine(rows[before], xs.select(dim, i))
    return torch.stack([rows[i] for i in range(len(order))], dim)


torch.cond = cond
'''


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.names = [], 0
        self.writable = []  # of the scopes around: names that may be written

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def pick(self, env, kind):
        there = [name for name, has in env if has == kind]
        return self.random.choice(there) if there else None

    def leaf(self, env, kind):
        r = self.random
        name = self.pick(env, kind)
        ways = []
        if name:
            ways += [name] * 4
        if kind == "s":
            v, m = self.pick(env, "v"), self.pick(env, "m")
            ways += [f"{v}.sum()", f"{v}.amax()", f"{v}[{r.randrange(4)}]"] if v else []
            ways += [f"{m}.sum()", f"{m}[1, 2]"] if m else []
            ways += [f"torch.tensor({float(r.randrange(-3, 4))})"]
            if v and r.random() < 0.3:
                ways += [f"{v}[{v} > {r.randrange(-3, 4)}].sum()", f"(torch.nonzero({v} > 0).sum() + 0).float()", f"torch.unique({v}).shape[0] + {v}[0]"]
        if kind == "v":
            s, m, t = self.pick(env, "s"), self.pick(env, "m"), self.pick(env, "t")
            ways += [f"{s}.expand(4)"] if s else []
            ways += [f"{m}[{r.randrange(3)}]", f"{m}.sum(0)", f"{m}.amax(0)"] if m else []
            ways += [f"{t}[:, {r.randrange(3)}]", f"{t}.sum(1)"] if t else []
            ways += [f"torch.arange(4, dtype=torch.float32)"]
        if kind == "m":
            v, t = self.pick(env, "v"), self.pick(env, "t")
            ways += [f"{v}.expand(3, 4)", f"torch.stack([{v}, {v} * 2, {v} - 1])"] if v else []
            ways += [f"{t}.t()"] if t else []
        if kind == "t":
            m, v = self.pick(env, "m"), self.pick(env, "v")
            ways += [f"{m}.t()"] if m else []
            ways += [f"{v}.unsqueeze(1).expand(4, 3)"] if v else []
        return r.choice(ways or ["torch.zeros(" + str(list(SHAPES[kind])) + ")"])

    def expression(self, env, kind, depth=2):
        """A tensor of its own memory, of small integers."""
        r = self.random
        if depth == 0:
            return f"({self.leaf(env, kind)} + {r.randrange(3)})"
        a, b = (self.expression(env, kind, depth - 1) if r.random() < 0.4 else self.leaf(env, kind) for _ in range(2))
        way = r.randrange(8)
        made = [f"{a} + {b}", f"{a} - {b}", f"{a} * {r.randrange(-2, 3)}", f"torch.maximum({a}, {b})", f"torch.where({a} > {b}, {a}, {b} + 1)", f"-({a})", f"{a} * {b}", f"torch.flip({a}, [0])" if kind != "s" else f"{a} * 2"][way]
        return f"({made}).clamp(-60, 60)"

    def condition(self, env):
        return f"({self.leaf(env, 's')} > {self.random.randrange(-4, 5)})"

    def result(self, env, kind):
        return self.expression(env, kind, 1)

    def block(self, env, indent, depth, writable):
        """Statements; the names that they make are added to `env`."""
        for _ in range(self.random.randrange(1, 4)):
            self.statement(env, indent, depth, writable)

    def statement(self, env, indent, depth, writable):
        r = self.random
        ways = ["plain", "plain"] + (["write"] * 2 if writable else [])
        if depth:
            ways += ["cond", "cond", "while", "scan", "map", "associative", "view"]
        getattr(self, r.choice(ways))(env, indent, depth, writable)

    def plain(self, env, indent, depth, writable):
        kind = self.random.choice("svvmmt")
        name = self.fresh(kind)
        self.line(indent, f"{name} = {self.expression(env, kind)}")
        env.append((name, kind))
        writable.append((name, kind))

    def view(self, env, indent, depth, writable):
        if not writable:
            return self.plain(env, indent, depth, writable)
        of, kind = self.random.choice(writable)
        text, made = {"m": (f"{of}[{self.random.randrange(3)}]", "v"), "t": (f"{of}.t()", "m"), "v": (f"{of}[{self.random.randrange(4)}]", "s"), "s": (f"{of}.view(1)[0]", "s")}[kind]
        name = self.fresh("w")
        self.line(indent, f"{name} = {text}")
        env.append((name, made))
        writable.append((name, made))

    def write(self, env, indent, depth, writable):
        name, kind = self.random.choice(writable)
        value = self.expression(env, kind, 1)
        self.line(indent, self.random.choice([f"{name}.add_({value}).clamp_(-60, 60)", f"{name}.copy_({value})", f"{name}.mul_(2).clamp_(-60, 60)", f"{name}[...] = {value}"]))

    def inner(self, writable, share=0.5):
        """What a region may write of what is outside."""
        return [one for one in writable if self.random.random() < share]

    def cond(self, env, indent, depth, writable):
        r = self.random
        kinds = [r.choice("svm") for _ in range(r.randrange(1, 3))]
        operands = [r.choice(env) for _ in range(r.randrange(0, 3))]
        names = [self.fresh("yes"), self.fresh("no")]
        outside = self.inner(writable)
        for name in names:
            formal = [(self.fresh("p"), kind) for _, kind in operands]
            self.line(indent, f"def {name}({', '.join(n for n, _ in formal)}):")
            inner = env + formal
            mine = list(outside) + [f for f, o in zip(formal, operands) if o in writable and r.random() < 0.3]
            self.block(inner, indent + 1, depth - 1, mine)
            self.line(indent + 1, "return (" + ", ".join(self.result(inner, k) for k in kinds) + ",)")
        self.assign(env, indent, kinds, f"torch.cond({self.condition(env)}, {names[0]}, {names[1]}, ({''.join(n + ', ' for n, _ in operands)}))", writable)

    def assign(self, env, indent, kinds, text, writable):
        made = [self.fresh(kind) for kind in kinds]
        self.line(indent, "".join(name + ", " for name in made) + "= " + text)
        for name, kind in zip(made, kinds):
            env.append((name, kind))
            writable.append((name, kind))

    def while_(self, env, indent, depth, writable):
        r = self.random
        kinds = [r.choice("svmt") for _ in range(r.randrange(1, 3))]
        formal = [(self.fresh("c"), kind) for kind in kinds]
        counter, goes_on, body = self.fresh("i"), self.fresh("goes"), self.fresh("body")
        names = ", ".join([counter] + [n for n, _ in formal])
        extra = f" & {self.condition(env + formal)}" if r.random() < 0.3 else ""
        self.line(indent, f"def {goes_on}({names}):")
        self.line(indent + 1, f"return ({counter} < {r.randrange(0, 5)}){extra}")
        self.line(indent, f"def {body}({names}):")
        inner = env + formal
        self.block(inner, indent + 1, depth - 1, self.inner(writable))
        self.line(indent + 1, f"return ({counter} + 1, " + ", ".join(self.result(inner, k) for k in kinds) + ")")
        start = ", ".join(self.leaf(env, k) + " * 1" for k in kinds)
        turns = self.fresh("n")
        made = [self.fresh(kind) for kind in kinds]
        self.line(indent, f"{turns}, {', '.join(made)} = while_loop({goes_on}, {body}, (torch.tensor(0.0), {start}))")
        for name, kind in [(turns, "s"), *zip(made, kinds)]:
            env.append((name, kind))

    def scan(self, env, indent, depth, writable):
        r = self.random
        carry, x, step = (self.fresh("c"), r.choice("svm")), self.fresh("x"), self.fresh("step")
        dim = r.randrange(2)
        over, row, made = [("m", "v", "m"), ("t", "v", "t")][dim]
        self.line(indent, f"def {step}({carry[0]}, {x}):")
        inner = env + [carry, (x, row)]
        self.block(inner, indent + 1, depth - 1, self.inner(writable))
        self.line(indent + 1, f"return {self.result(inner, carry[1])}, {self.result(inner, row)}")
        self.assign(env, indent, [carry[1], made], f"scan({step}, {self.leaf(env, carry[1])} * 1, {self.leaf(env, over)} * 1, dim={dim}, reverse={r.random() < 0.4})", writable)

    def map(self, env, indent, depth, writable):
        x, f = self.fresh("x"), self.fresh("f")
        given = self.random.choice(env) if self.random.random() < 0.5 else None
        formal = (self.fresh("p"), given[1]) if given else None
        self.line(indent, f"def {f}({x}{', ' + formal[0] if formal else ''}):")
        inner = env + [(x, "v")] + ([formal] if formal else [])
        self.block(inner, indent + 1, depth - 1, self.inner(writable))
        self.line(indent + 1, f"return {self.result(inner, 'v')}")
        self.assign(env, indent, ["m"], f"(each({f}, {self.leaf(env, 'm')} * 1{', ' + given[0] if given else ''}),)", writable)

    def associative(self, env, indent, depth, writable):
        combine = self.random.choice(["torch.maximum(a, b)", "(a + b)", "a * 0 + b", "torch.minimum(a, b)"])
        kind, dim = self.random.choice([("m", 0), ("m", 1), ("v", 0), ("t", -1)])
        self.assign(env, indent, [kind], f"(associative_scan(lambda a, b: {combine}, {self.leaf(env, kind)}, {dim}, reverse={self.random.random() < 0.4}, combine_mode='generic'),)", writable)

    def program(self):
        env = [("x", "m"), ("y", "v"), ("z", "s")]
        writable = []
        self.line(0, "def f(x, y, z):")
        self.line(1, "k = x * 1")
        env.append(("k", "m"))
        writable.append(("k", "m"))
        for _ in range(self.random.randrange(2, 6)):
            self.statement(env, 1, 3, writable)
        results = [name for name, _ in env[3:]]
        self.line(1, "return (" + ", ".join(f"{name} * 1" for name in results) + ",)")
        return "\n".join(self.lines) + "\n"


setattr(Writer, "while", Writer.while_)


def inputs(seed):
    numbers = np.random.default_rng(seed)
    for _ in range(3):
        yield [numbers.integers(-5, 6, SHAPES[kind]).astype(np.float32) for kind in "mvs"]


class NotExported(Exception):
    pass


class Wrapped(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y, z):
        return self.function(x, y, z)


def exported(model, call, folder):
    """PyTorch takes fewer of these programs than the compiler: no aliases, no writes where it differentiates …"""
    spec = importlib.util.spec_from_file_location(f"fuzzed_{model.stat().st_mtime_ns}", model)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch._dynamo.reset()
    try:
        with torch.no_grad():
            program = torch.export.export(Wrapped(module.f), tuple(torch.from_numpy(np.array(a)) for a in call))
            torch.export.save(program, folder / "model.pt2")
    except Exception as problem:
        raise NotExported(str(problem)) from None
    return folder / "model.pt2"


def check(words, seed, folder, options):
    text = Writer(seed).program()
    model = folder / "model.py"
    # PyTorch exports pointwise ones only.
    model.write_text(IMPORTS + "\n\n" + (text.replace("'generic'", "'pointwise'") if words.archive else text))
    scope = {}
    kept = torch.cond
    try:
        exec(compile(PLAIN + "\n\n" + text, "plain", "exec"), scope)
        wanted = []
        for call in inputs(seed):
            wanted.append([r.numpy() for r in scope["f"](*(torch.from_numpy(np.array(a)) for a in call))])
    finally:
        torch.cond = kept

    def pellucid(*given):
        done = subprocess.run([words.program, *map(str, given)], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(f"exit {done.returncode}: {done.stdout[-300:]}{done.stderr[:600]}")
        return done.stdout

    if words.exec:
        model.write_text(model.read_text() + "\n\nimport json\n" + "".join(
            f"print(json.dumps([[list(r.shape), r.tolist()] for r in f({', '.join(f'torch.tensor({np.array(a).tolist()}, dtype=torch.float32)' for a in call)})]))\n" for call in inputs(seed)))
        try:
            lines = pellucid("exec", model).splitlines()
        except AssertionError as problem:
            if "do not support input mutation" in str(problem):  # as PyTorch says of a script
                raise NotExported(str(problem)) from None
            raise
        for at, (line, want) in enumerate(zip(lines, wanted, strict=True)):
            for i, ((shape, got), one) in enumerate(zip(json.loads(line), want, strict=True)):
                assert shape == list(one.shape) and np.array_equal(np.array(got).reshape(shape), one), f"call {at}, result {i}:\n{got}\nwanted\n{one}"
        return
    specs = ["--input", "x=f32[3,4]", "--input", "y=f32[4]", "--input", "z=f32[]"]
    source = [f"{model}:f", *specs]
    if words.archive:
        source = [exported(model, next(inputs(seed)), folder)]
    if words.saved:
        pellucid("export", *source, "-o", folder / "saved.program")
        source = [folder / "saved.program"]
    package = folder / "model.plc"
    pellucid("compile", *source, "-o", package, "--verify-each", "--target", words.target, *options)
    for at, (call, want) in enumerate(zip(inputs(seed), wanted)):
        given = []
        for name, value in zip("xyz", call):
            np.save(folder / f"{name}.npy", value)
            given += ["--input", f"{name}=@{folder / name}.npy"]
        for i in range(len(want)):
            given += ["--output", folder / f"out{i}.npy"]
        pellucid("run", package, *given, "--target", words.target.partition(":")[0])
        for i, one in enumerate(want):
            got = np.load(folder / f"out{i}.npy")
            assert got.shape == one.shape and np.array_equal(got, one), f"call {at}, result {i}:\n{got}\nwanted\n{one}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--saved", action="store_true")
    parser.add_argument("--archive", action="store_true", help="through torch.export")
    parser.add_argument("--exec", action="store_true", help="as a script")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--target", default="cpu:x86-64-v3")
    parser.add_argument("--option", action="append", default=[])
    words = parser.parse_args()
    torch.set_num_threads(1)
    end, failed, done, skipped = time.monotonic() + words.seconds, 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for seed in range(words.first, words.first + words.count):
            if time.monotonic() > end:
                break
            done += 1
            try:
                check(words, seed, folder, words.option)
            except NotExported:
                skipped += 1
            except Exception as problem:  # noqa: BLE001
                failed += 1
                print(f"seed {seed}: {problem}"[:900], flush=True)
                if words.keep:
                    words.keep.mkdir(exist_ok=True)
                    (words.keep / f"{seed}.py").write_text((folder / "model.py").read_text())
    print(json.dumps({"programs": done, "failed": failed, "not exported": skipped, "from": words.first}))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
