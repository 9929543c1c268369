#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random calls of tensors that hold special values (NaN, infinities, -0, ends of each type, what another type does not hold), empty and
0-dim ones, views: `pellucid exec` against torch, which must be there.

    random_values.py PELLUCID [--seed N --count M --seconds S --errors] [--record SCRIPT.py…]

Each seed is a script of 60 calls. What torch gives and exec gives otherwise, raises or refuses is printed once for each kind of call; `--errors` adds
what torch refuses. --record writes what torch prints for scripts of tensors/ that tensors_test.py compares by `same`.
"""
import argparse
import contextlib
import io
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

# What the script of recorded values begins with.
HEADER = (pathlib.Path(__file__).resolve().parent / "tensors/special_values.py").read_text().split("\nshow(", 1)[0] + "\n"
FLOATS = {
    "float32": "nan inf -inf 0.0 -0.0 1.5 -2.5 3.4e38 1e-45 -1e-40 127.5 128.0 255.7 256.0 -1.0 -0.5 0.5 2147483648.0 -2147483648.0 4294967296.0 9.3e18 -9.3e18 1e20 2.0 3.0 65520.0 1e10",
    "float64": "nan inf -inf 0.0 -0.0 1.5 -2.5 1e300 5e-324 1e-310 127.5 9007199254740993.0 255.7 -1.0 -0.5 2147483647.5 -2147483649.0 9.223372036854775e18 1e20 0.1 3.0 2.5 1e-8",
    "float16": "nan inf -inf 0.0 -0.0 1.5 -2.5 65504.0 6e-8 -129.0 127.5 256.0 -1.0 -0.5 300.0 0.1 3.0 2048.0",
    "bfloat16": "nan inf -inf 0.0 -0.0 1.5 -2.5 3e38 -129.0 127.5 256.0 -1.0 -0.5 0.1 3.0 1e10 9.3e18",
}
INTEGERS = {"int64": (-(2**63), 2**63 - 1), "int32": (-(2**31), 2**31 - 1), "int16": (-(2**15), 2**15 - 1), "int8": (-128, 127), "uint8": (0, 255)}
DTYPES = [*FLOATS, *INTEGERS, "bool"]
SHAPES = [(), (1,), (3,), (5,), (2, 3), (3, 1), (1, 4), (0,), (0, 3), (2, 0), (2, 3, 2), (7,), (4, 4), (2, 1, 3)]
NUMBERS = "0 1 2 -1 -3 7 0.5 -1.5 2.0 -0.0 nan inf -inf True False 1e10 2**40 300 -129 1e-9 2**62 65536.0 3e38".split()
ELEMENTWISE = (
    "abs neg sign sgn floor ceil trunc round frac exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv sigmoid isnan isinf "
    "isfinite isposinf isneginf signbit logical_not bitwise_not square positive lgamma digamma logit deg2rad rad2deg sinc i0 nan_to_num relu isreal"
).split()
PAIRS = (
    "maximum minimum fmax fmin atan2 hypot copysign fmod remainder floor_divide true_divide pow logaddexp logaddexp2 nextafter ldexp xlogy heaviside gcd lcm bitwise_and bitwise_left_shift "
    "bitwise_right_shift logical_and logical_xor eq ne lt float_power"
).split()
REDUCTIONS = "sum prod mean amax amin max min argmax argmin any all std var median nansum logsumexp".split()
LINES = "cumsum cumprod cummax cummin logcumsumexp aminmax softmax log_softmax sort argsort unique nonzero diff flip squeeze unsqueeze nanmean nanmedian norm count_nonzero mode kthvalue".split()
IN_PLACE = "add_ sub_ mul_ div_ floor_divide_ remainder_ fmod_ pow_ copy_ fill_ eq_ lt_ bitwise_and_ bitwise_xor_ logical_and_ copysign_ atan2_ clamp_min_ clamp_max_ bitwise_left_shift_".split()
INDICES = [
    "[0]", "[-1]", "[..., 0]", "[None]", "[:, None]", "[::2]", "[1:]", "[:0]", "[..., None]", "[torch.tensor([0, -1])]", "[torch.tensor([0, 0, 1])]", "[torch.tensor(0)]", "[[0, 1]]", "[[True, False, True]]",
    "[torch.tensor([[0, 1], [1, 0]])]", "[:, torch.tensor([0, 1])]", "[torch.tensor([0, 1]), torch.tensor([1, 0])]", "[torch.tensor([0, 1]), :, torch.tensor([1, 0])]", "[0, ..., torch.tensor([0, 1])]",
    "[torch.tensor([0, 1]), None]", "[torch.tensor([[0], [1]]), torch.tensor([0, 1])]", "[True]", "[False]", "[..., torch.tensor([True, False, True])]", "[torch.tensor(True)]", "[None, torch.tensor([1, 0]), ..., 0]",
    "[torch.tensor([], dtype=torch.long)]", "[-1:, None, 0]", "[[0, 1], [0, 1]]", "[()]", "[torch.tensor([1, 0], dtype=torch.uint8)]", "[torch.tensor([1, 0], dtype=torch.int32)]",
]
PLACES = ["0", "-1", "slice(1, None)", "Ellipsis", "(Ellipsis, 0)", "slice(None, None, 2)", "t > 0", "t != t", "[0, 1]", "torch.tensor([0, 0, 1])", "None", "(0, Ellipsis)", "True", "()"]
BOUNDS = {"torch.float64": 1e-13, "torch.float32": 3e-6, "torch.float16": 2e-3, "torch.bfloat16": 1.6e-2}


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return self.pick(*NUMBERS)

    def value(self, dtype, tame):
        if dtype in FLOATS:
            return self.pick("1.5", "-2.5", "0.5", "3.0", "-0.75", "2.0", "7.25") if tame else self.pick(*FLOATS[dtype].split())
        if dtype == "bool":
            return self.pick("True", "False")
        low, high = INTEGERS[dtype]
        if tame:
            return str(self.random.randint(max(low, -9), min(high, 9)))
        values = [0, 1, 2, 3, 5, 7, high, high - 1, low, low + 1, high // 2 + 1, 100] + ([-1, -2, -7, -3, -100] if low else [])
        values += [2**53 + 1, -(2**53) - 1, 2**31, 2**32 + 5, 2**62] if dtype == "int64" else [2**24 + 1, 2**30] if dtype == "int32" else []
        return str(self.pick(*values))

    def literal(self, shape, dtype, tame):
        return "[" + ", ".join(self.literal(shape[1:], dtype, tame) for _ in range(shape[0])) + "]" if shape else self.value(dtype, tame)

    def tensor(self, dtype=None, shape=None, tame=None):
        dtype, shape = dtype or self.pick(*DTYPES), self.pick(*SHAPES) if shape is None else shape
        tame = self.random.random() < 0.35 if tame is None else tame
        made = f"torch.empty({shape}, dtype=torch.{dtype})" if 0 in shape else f"torch.tensor({self.literal(shape, dtype, tame)}, dtype=torch.{dtype})"
        kind = self.random.random()
        if len(shape) >= 2 and kind < 0.15:
            return made + ".transpose(0, 1)"
        if shape and kind < 0.22:
            return made + self.pick("[1:]", "[::2]", "[:-1]", "[::3]", "[...]")
        if kind < 0.28:
            return made + (f".expand(2, {', '.join(map(str, shape))})" if shape else ".expand(3)")
        return made + (".flip(0)" if shape and kind < 0.32 else "")

    def operand(self):
        kind = self.random.random()
        return self.number() if kind < 0.3 else self.tensor(shape=()) if kind < 0.5 else self.tensor()

    def call(self):
        return self.pick(self.arithmetic, self.arithmetic, self.elementwise, self.cast, self.reduced, self.ordered, self.indexed, self.written, self.written, self.moved, self.made, self.functional, self.asked)()

    def arithmetic(self):
        t, a, b, n, m = self.tensor(), self.operand(), self.operand(), self.number(), self.number()
        left, right = self.pick((t, a), (a, t))
        return self.pick(
            f"{left} {self.pick('+', '-', '*', '/', '//', '%', '**')} {right}", f"{left} {self.pick('+', '-', '*', '/', '//', '%', '**')} {right}", f"{left} {self.pick('&', '|', '^', '<<', '>>')} {right}",
            f"{left} {self.pick('<', '<=', '==', '!=', '>', '>=')} {right}", f"torch.{self.pick(*PAIRS)}({t}, {a})", f"torch.div({t}, {a}, rounding_mode={self.pick(repr('floor'), repr('trunc'), 'None')})",
            f"torch.clamp({t}, {n}, {m})", f"torch.clamp({t}, {self.pick('min', 'max')}={a})", f"torch.clamp({t}, {self.tensor()}, {self.tensor()})", f"torch.where({self.tensor('bool')}, {t}, {a})", f"torch.where({t} > {n}, {a}, {b})",
            f"torch.add({t}, {a}, alpha={n})", f"torch.sub({t}, {a}, alpha={n})", f"torch.rsub({t}, {n})", f"torch.lerp({t}, {t}, {n})", f"torch.addcmul({t}, {t}, {self.tensor()}, value={n})",
        )

    def elementwise(self):
        t = self.tensor()
        return self.pick(f"torch.{self.pick(*ELEMENTWISE)}({t})", f"torch.round({t}, decimals={self.pick('1', '2', '-1')})", f"-{t}", f"~{t}", f"abs({t})")

    def cast(self):
        t, dtype = self.tensor(), f"torch.{self.pick(*DTYPES)}"
        return self.pick(f"{t}.to({dtype})", f"{t}.to({dtype}).to(torch.{self.pick(*DTYPES)})", f"{t}.{self.pick('bool', 'int', 'float', 'long', 'half', 'double', 'byte', 'short', 'char')}()")

    def reduced(self):
        t, d = self.tensor(), self.pick("0", "-1", "1", "-2")
        return self.pick(
            f"{t}.{self.pick(*REDUCTIONS)}({self.pick('', d, d)})", f"{t}.{self.pick(*REDUCTIONS)}({d}, keepdim=True)", f"{t}.{self.pick('sum', 'prod', 'cumsum', 'cumprod')}({d}, dtype=torch.{self.pick(*DTYPES)})",
            f"{t}.{self.pick('sum', 'amax', 'any', 'mean', 'std', 'all')}(({self.pick('0, 1', '-1,', '0, -1', '0,')}))", f"{t}.{self.pick(*LINES)}({self.pick('', d, d)})", f"torch.std_mean({t})", f"torch.var({t}, {d}, correction={self.pick('0', '1', '2')})",
        )

    def ordered(self):
        t, d = self.tensor(), self.pick("0", "-1", "1")
        return self.pick(
            f"torch.sort({t}, dim={d}, descending={self.pick('True', 'False')}, stable=True)", f"torch.topk({t}, {self.pick('0', '1', '2', '3')}, {d}, {self.pick('True', 'False')})[0]", f"torch.kthvalue({t}, {self.pick('1', '2')}, {d})[0]",
            f"torch.searchsorted({t}.flatten().sort()[0], {self.tensor()})", f"torch.bucketize({t}, torch.tensor([-1.0, 0.0, 2.0]))", f"torch.unique({t}, return_counts=True)", f"torch.unique_consecutive({t})",
        )

    def indexed(self):
        t, d, index = self.tensor(), self.pick("0", "-1"), f"{self.tensor('int64', tame=True)} % 2"
        return self.pick(
            f"{t}{self.pick(*INDICES)}", f"{t}{self.pick(*INDICES)}", f"{t}{self.pick(*INDICES)}{self.pick(*INDICES)}", f"torch.gather({t}, {d}, {index})", f"{t}.take({index})", f"{t}.masked_select({self.tensor('bool')})",
            f"{t}.index_select({d}, torch.tensor([0, 1]))", f"{t}.scatter({d}, {index}, {self.number()})", f"{t}.scatter_add({d}, {index}, {t})", f"{t}.index_fill({d}, torch.tensor([0]), {self.number()})",
        )

    def written(self):
        t, a = self.tensor(), self.operand()
        return self.pick(
            f"after({t}.clone(), lambda t: t.__setitem__({self.pick(*PLACES)}, {a}))", f"after({t}.clone(), lambda t: t.{self.pick(*IN_PLACE)}({a}))", f"after({t}.clone(), lambda t: t.masked_fill_(t == t, {a}))",
            f"after({t}.clone(), lambda t: t{self.pick('[1:]', '[::2]', '[0]', '.T', '.view(-1)[:2]', '[..., 0]')}.{self.pick('add_', 'mul_', 'copy_', 'sub_')}({a}))",
            f"after({t}.clone(), lambda t: t.{self.pick('neg_', 'abs_', 'exp_', 'sqrt_', 'sigmoid_', 'floor_', 'zero_', 'relu_', 'trunc_', 'reciprocal_', 'logical_not_', 'bitwise_not_', 'sign_', 'round_', 'frac_')}())",
        )

    def moved(self):
        t, d = self.tensor(), self.pick("0", "-1", "1")
        return self.pick(
            f"torch.cat([{t}, {self.tensor()}], {d})", f"torch.stack([{t}, {t}], {d})", f"{t}.repeat_interleave({self.pick('0', '1', '2')})", f"{t}.repeat(2, {self.pick('1', '2', '0')})", f"{t}.roll({self.pick('1', '-2', '5')}, {d})",
            f"torch.tril({t}, {self.pick('0', '-1', '1')})", f"torch.triu({t})", f"torch.diag({t})", f"{t}.chunk({self.pick('1', '2', '3')}, {d})", f"{t}.split({self.pick('1', '2')}, {d})",
            f"torch.tensor_split({t}, {self.pick('2', '3', '(1, 2)')}, {d})", f"torch.block_diag({t}, {t})", f"F.pad({t}, (1, {self.pick('0', '1', '-1', '2')}), value={self.number()})", f"torch.argwhere({t})",
        )

    def made(self):
        n, m, dtype = self.number(), self.number(), f"torch.{self.pick(*DTYPES)}"
        return self.pick(
            f"torch.arange({self.pick('5', '2.5', '-3', '0, 4, 0.5', '3, -3, -2')})", f"torch.linspace({n}, {m}, {self.pick('0', '1', '3', '5')}, dtype={dtype})", f"torch.full({self.pick(*SHAPES)}, {n}, dtype={dtype})",
            f"torch.full({self.pick(*SHAPES)}, {n})", f"torch.tensor({n}, dtype={dtype})", f"torch.tensor([{n}, {m}])", f"torch.full_like({self.tensor()}, {n})", f"torch.zeros_like({self.tensor()}) + {n}",
        )

    def functional(self):
        t, d = self.tensor(), self.pick("0", "-1")
        names = "relu gelu silu softplus elu selu leaky_relu hardtanh relu6 hardswish hardsigmoid mish softsign logsigmoid tanhshrink celu".split()
        return self.pick(f"F.{self.pick(*names)}({t})", f"F.softmax({t}, {d})", f"F.one_hot({self.tensor('int64', tame=True)}.abs())", f"torch.trapezoid({t})", f"torch.{self.pick('equal', 'allclose', 'isclose')}({t}, {t})")

    def asked(self):
        t = self.tensor()
        return self.pick(
            f"{t}.{self.pick('item', 'tolist', 'numel', 'dim', 'is_contiguous', 'element_size')}()", f"{self.pick('bool', 'int', 'float', 'len', 'list')}({self.tensor(shape=self.pick((), (1,), (2,)))})", f"{self.number()} in {t}",
            f"torch.result_type({t}, {self.operand()})", f"torch.promote_types(torch.{self.pick(*DTYPES)}, torch.{self.pick(*DTYPES)})", f"torch.can_cast(torch.{self.pick(*DTYPES)}, torch.{self.pick(*DTYPES)})",
        )


NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|nan|inf)")


def same_number(want, got, bound, smallest):
    if want == got or want.lstrip("-") == got.lstrip("-") == "nan":
        return True
    if any(word in (want + got) for word in ("nan", "inf")) or not any(mark in want for mark in ".e"):
        return False
    a, b = float(want), float(got)
    return math.copysign(1, a) == math.copysign(1, b) if a == b else abs(a - b) <= bound * max(abs(a), abs(b)) + smallest


def same(want, got):
    """Whether two lines of a script say the same, floats within some roundings of the narrowest type that is named."""
    if want == got:
        return True
    numbers, others = NUMBER.findall(want), NUMBER.findall(got)
    if NUMBER.sub("#", want) != NUMBER.sub("#", got) or len(numbers) != len(others):
        return False
    bound = max([value for dtype, value in BOUNDS.items() if dtype in want], default=1e-6)
    smallest = 2.4e-7 if "float16" in want else 1e-300 if "float64" in want else 1e-37
    return all(same_number(a, b, bound, smallest) for a, b in zip(numbers, others))


def lines_of(output):
    return dict(line.split(" ", 1) for line in output.splitlines() if re.match(r"\d+ ", line))


def of_torch(path):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(path.read_text(), str(path), "exec"), {})
    return lines_of(out.getvalue())


def of_exec(program, path, calls):
    """The lines, and why each call that is missing was refused: a refusal ends a script, which goes on behind it."""
    got, refused, begin = {}, {}, 0
    while True:
        path.write_text(HEADER + "".join(f"show({k}, lambda: {call})\n" if k >= begin else "\n" for k, call in enumerate(calls)))
        done = subprocess.run([program, "exec", str(path)], capture_output=True, text=True, timeout=600)
        got.update(lines_of(done.stdout))
        if done.returncode == 0:
            return got, refused
        begin = max([begin] + [int(k) + 1 for k in got] + [k + 1 for k in refused])
        place = re.search(rf"{re.escape(path.name)}:(\d+):\d+: error: (.*)", done.stderr)
        at = int(place[1]) - HEADER.count("\n") - 1 if place else -1
        at = at if at >= begin else begin
        if at >= len(calls):
            return got, refused
        refused[at] = place[2] if place else f"exit code {done.returncode}: {done.stderr[-300:]}"
        begin = at + 1


def kind_of(want, got):
    if want.startswith("raises"):
        return "torch refuses"
    return "exec raises" if got.startswith("raises") else "another value"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=10**9)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--record", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.record:
        for path in options.record:
            path.with_suffix(".expected").write_text("".join(f"{k} {line}\n" for k, line in of_torch(path).items()))
        return 0
    seen, compared, end = {}, 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "values.py")
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() > end:
                break
            writer = Writer(seed)
            calls = [writer.call() for _ in range(60)]
            path.write_text(HEADER + "".join(f"show({k}, lambda: {call})\n" for k, call in enumerate(calls)))
            want = of_torch(path)
            got, refused = of_exec(options.program, path, calls)
            for k, call in enumerate(calls):
                line, ours = want.get(str(k), "nothing"), got.get(str(k), "nothing")
                if k in refused:
                    kind, ours = "refused" if not line.startswith("raises") else "torch refuses", refused[k]
                else:
                    compared += 1
                    kind = kind_of(line, ours)
                if same(line, ours) or (kind == "torch refuses" and not options.errors and not re.match("exit code (?!1:)", ours)):
                    continue
                names = re.findall(r"torch\.(?!tensor|float|int|uint|bool|bf|empty)([\w.]+)\(|\)\.(\w+)\(|F\.(\w+)", call)
                key = kind, re.sub(r"[\d.]+", "#", ours)[:60] if kind == "refused" else "/".join(sorted({"".join(name) for name in names})) or re.sub(r"torch\.\w+|[\[\]\d.,\s]+|nan|inf", "", call)[:40]
                seen[key] = seen.get(key, 0) + 1
                if seen[key] == 1:
                    print(f"{kind}: seed {seed}: {call[:400]}\n    torch {line[:300]}\n    exec  {ours[:300]}", flush=True)
    for (kind, what), count in sorted(seen.items(), key=lambda entry: (entry[0][0], -entry[1])):
        print(f"{count} {kind}: {what}")
    print(f"{compared} compared, {sum(seen.values())} wrong")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
