# SPDX-License-Identifier: Apache-2.0
"""Random programs of mixed dtypes: tensors with and without dims, Python's numbers and bools, sizes of one and none, integers below zero
under division and shifts, writes through views of views. Needs torch. Values stay exact, as random_operators.py has it."""
import programs
import random_operators

SIZES = [[4, 6], [1, 6], [4, 1], [1, 1], [6], [1], [], [], [0, 6], [4, 0], [0], [2, 4, 6], [2, 1, 6], [2, 4, 1], [1, 4, 6]]
DYNAMIC = [["n", 6], [4, "n"], ["n"], ["n", 1], [1, "n"], [2, "n", 1], ["n", "n"], [1, "n", 6]]
KINDS = ["f32", "f64", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool"]
NUMBERS = ["2", "-3", "0", "1", "-1", "5", "0.5", "-1.5", "2.0", "True", "False", "-0.25", "7"]
WHOLE = ["2", "-3", "1", "-1", "5", "-7", "3", "True"]
DTYPES = [f"torch.{name}" for name in programs.TORCH_NAMES.values()]


class MixtureWriter(random_operators.OperatorWriter):
    def __init__(self, seed):
        super().__init__(seed)
        for name in ["x", "y", "z"]:
            self.program["inputs"][name] = None
        for name in self.program["inputs"]:
            self.program["inputs"][name] = self.pick(*(DYNAMIC if self.dynamic and (name == "x" or self.random.random() < 0.5) else SIZES))
            self.program["dtypes"][name] = self.pick(*KINDS)

    def scalar(self):
        """A tensor without dims."""
        a = self.tensor()
        return self.pick(
            f"torch.tensor({self.pick(*NUMBERS)})", f"torch.tensor({self.pick(*NUMBERS)}, dtype={self.pick(*DTYPES)})", f"{a}.sum()", f"{a}.amax()", f"{a}.reshape(-1)[0]", f"{a}.any()",
            f"torch.scalar_tensor({self.pick(*NUMBERS)})", f"{a}.select(0, 0).sum()", f"torch.full((), {self.pick(*NUMBERS)}, dtype={self.pick(*DTYPES)})", f"{a}.numel() * torch.ones((), dtype={self.pick(*DTYPES)})",
            f"torch.zeros(()).to({self.pick(*DTYPES)}) + {self.pick(*NUMBERS)}",
        )

    def operand(self):
        kind = self.random.random()
        return self.tensor() if kind < 0.5 else f"({self.scalar()})" if kind < 0.7 else self.pick(*NUMBERS) if kind < 0.9 else f"({self.tensor()} > {self.pick(*NUMBERS)})"

    def size_number(self):
        a = self.tensor(rank=1)
        return self.pick(f"{a}.shape[0]", f"{a}.numel()", f"({a}.shape[-1] - 3)", f"({a}.shape[0] % 3)", f"({a}.shape[0] // 2)", f"-{a}.shape[0]", f"({a}.shape[0] > 2)", f"min({a}.shape[0], 3)")

    def mixture(self):
        a, b, n, whole = self.operand(), self.operand(), self.pick(*NUMBERS), self.pick(*WHOLE)
        t, u = self.tensor(), self.tensor()
        d, dtype = self.axis(self.tensors[t]), self.pick(*DTYPES)
        n = self.size_number() if self.random.random() < 0.15 else n
        return self.pick(
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{t} / {a}", f"{a} // {b}", f"{a} % {b}", f"{t} // {whole}", f"{t} % {whole}", f"{whole} // {t}", f"{whole} % {t}", f"{n} - {t}", f"{n} * {t}",
            f"torch.div({t}, {a}, rounding_mode='{self.pick('floor', 'trunc')}')", f"torch.fmod({t}, {a})", f"torch.remainder({t}, {a})", f"torch.floor_divide({t}, {a})", f"torch.remainder({n}, {t})",
            f"{t} << {self.pick('1', '3', u, '9', '-1', '40')}", f"{t} >> {self.pick('1', '2', u, '9', '-1', '70')}", f"{whole} << {t}", f"{whole} >> {t}", f"{t} & {a}", f"{t} | {a}", f"{t} ^ {a}", f"~{t}", f"-{t}", f"{whole} & {t}",
            f"{a} == {b}", f"{a} < {b}", f"{t} >= {n}", f"{t} != {a}", f"{n} > {t}", f"torch.where({t} > {n}, {a}, {b})", f"torch.where({t}.bool(), {n}, {b})", f"torch.where({u} == {t}, {t}, {n})",
            f"torch.maximum({t}, {a})", f"torch.minimum({u}, {t})", f"torch.clamp({t}, {n}, {self.pick(*NUMBERS)})", f"torch.clamp({t}, min={n})", f"torch.clamp({t}, {u}, None)", f"{t}.clip(max={n})",
            f"torch.add({t}, {a}, alpha={n})", f"torch.sub({t}, {a}, alpha={whole})", f"torch.rsub({t}, {n})", f"torch.addcmul({t}, {u}, {t}, value={n})", f"torch.lerp({t}, {u}, {self.pick('0.5', '0.25', '2.0')})",
            f"{t} ** 2", f"{t} ** {u}", f"{whole} ** {t}", f"{t} ** {self.pick('3', '0', '1', '-1', '0.5', '2.0')}", f"torch.float_power({t}, 2)", f"torch.bitwise_and({t}, {u})", f"torch.logical_xor({t}, {u})",
            f"torch.cat([{t}.reshape(-1), {u}.reshape(-1)])", f"torch.stack([{t}, {t} * {n}])", f"torch.cat([{t}, {u}], {d})", f"torch.result_type({t}, {a}) == {dtype} and {t} or {u}", f"{t}.to({dtype})", f"{t}.to({dtype}) + {a}",
            f"torch.full_like({t}, {n})", f"torch.full_like({t}, {n}, dtype={dtype})", f"{t}.new_full((2,), {n})", f"torch.zeros_like({t}, dtype={dtype}) + {n}", f"torch.ones(3, dtype={dtype}) * {a}", f"{t}.masked_fill({u} > 0, {n})",
            f"{t}.sum()", f"{t}.sum({d})", f"{t}.sum({d}, dtype={dtype})", f"{t}.prod()", f"{t}.mean(dtype=torch.float64)", f"{t}.float().mean({d})", f"{t}.cumsum({d})", f"{t}.any()", f"{t}.all({d})", f"{t}.amax()", f"{t}.argmax()",
            f"{t}.max({d})[0]", f"{t}.sort({d}, stable=True)[0]", f"torch.sign({t}) * {n}", f"torch.abs({t}) + {n}", f"torch.sgn({t})", f"torch.signbit({t})", f"torch.copysign({t}, {a})", f"torch.floor({t} / 2)", f"torch.round({t} / 2)",
            f"torch.heaviside({t}, {u})", f"torch.isin({t}, {n})", f"torch.gcd({t}, {u})", f"torch.lcm({t}, {u})", f"torch.fmax({t}, {u})", f"torch.hypot({t}, {u})", f"torch.count_nonzero({t})", f"torch.nan_to_num({t} / {a})", f"torch.diff({t}, dim={d})",
            f"({t} > 0) + ({u} > 0)", f"({t} > 0) * ({u} > 0)", f"({t} > 0) + {n}", f"({t} > 0) * {n}", f"({t} > 0) / 2", f"({t} > 0) // 1", f"({t} > 0).sum({d})", f"({t} > 0).prod()", f"({t} > 0).cumsum({d})", f"({t} > 0) ** 2", f"({t} > 0) << 2",
            f"torch.eq({t}, {n}) - 1", f"({t} != 0) | ({u} != 0)", f"({t} > 0).float() - {n}", f"torch.logical_not({t}) & True", f"torch.arange({n}, 6) + {t}.sum()", f"torch.arange(0, 3, 0.5) * {a}", f"torch.linspace(0, 4, 5) + {a}",
            f"{t}.expand(2, *{t}.shape) + {a}", f"{t}.unsqueeze(-1) * {u}", f"{t}.unsqueeze(0) - {u}", f"torch.broadcast_tensors({t}, {u})[{self.pick(0, 1)}]", f"{t}.expand_as({u}) + {n}", f"torch.broadcast_to({t}, (2, 4, 6)) * {n}", f"torch.outer({t}.reshape(-1), {u}.reshape(-1))",
        )

    def written(self):
        """A view of a view, or the tensor."""
        name = self.tensor()
        for _ in range(self.pick(0, 1, 2, 3)):
            d = self.axis(self.tensors[name]) if name in self.tensors else self.pick(0, -1)
            name = self.pick(
                f"{name}[1:]", f"{name}[::2]", f"{name}[..., :1]", f"{name}[..., 1:]", f"{name}.t()", f"{name}.mT", f"{name}.transpose(0, -1)", f"{name}.unsqueeze({d})", f"{name}.squeeze({d})", f"{name}.view(-1)", f"{name}.flatten()",
                f"{name}[0]", f"{name}[-1]", f"{name}.select({d}, 0)", f"{name}.narrow({d}, 0, 1)", f"{name}.reshape(-1)", f"{name}[:, :2]", f"{name}.diagonal()", f"{name}[None]", f"{name}.view_as({name})", f"{name}.detach()", f"{name}.unflatten(0, (1, -1))",
                f"{name}.chunk(2)[-1]", f"{name}.split(2)[0]", f"{name}.movedim(0, -1)", f"{name}[..., 0]", f"{name}.expand_as({name})", f"{name}[()]",
            )
        return name

    def mixed_write(self):
        v, a, n = self.written(), self.operand(), self.pick(*NUMBERS)
        a = f"{a}.clone()" if a in self.tensors else a
        return self.pick(
            f"{v}.add_({a})", f"{v}.sub_({a})", f"{v}.mul_({a})", f"{v}.div_({self.pick('2', '4', '-2')})", f"{v}.copy_({a})" if not a[0].isdigit() and a[0] != "-" and a not in ("True", "False") else f"{v}.fill_({n})", f"{v}.fill_({a})", f"{v}.zero_()",
            f"{v}.floor_divide_({self.pick(*WHOLE)})", f"{v}.remainder_({self.pick(*WHOLE)})", f"{v}.clamp_({n}, 5)", f"{v}.neg_()", f"{v}.add_({a}, alpha={n})", f"{v}.masked_fill_({v} > 0, {n})", f"{v}[...] = {a}", f"{v}[0] = {a}", f"{v}[..., -1] = {n}",
            f"{v}[{v} > 1] = {n}", f"{v}.bitwise_and_(3)", f"{v}.bitwise_or_({self.pick(*WHOLE)})", f"{v}.bitwise_left_shift_(1)", f"{v}.logical_not_()", f"{v}.pow_(2)", f"{v}.lt_({a})", f"{v}.eq_({n})", f"{v}.copy_({v} + {n})", f"{v}.abs_()", f"{v}.trunc_()",
            f"{v}.add_({v})", f"{v}.where({v} > 0, {n})", f"torch.add({self.tensor()}, {n}, out={v})", f"{v}.set_({v} * 1)" if self.random.random() < 0.1 else f"{v}.sign_()", f"{v}[1:] += {n}", f"{v}[..., :1] *= {a}", f"{v}.cumsum_(0)", f"{v}.fmod_({self.pick(*WHOLE)})",
        )

    def augmented(self):
        """`x += a` names the tensor anew where it is an item of nothing."""
        name, a = self.tensor(), self.operand()
        return f"{name} {self.pick('+', '-', '*', '/', '//', '%', '&', '|', '^', '<<', '>>')}= {a}"

    def line(self):
        kind = self.random.random()
        if kind < 0.3:
            return self.mixed_write()
        if kind < 0.36:
            return self.augmented()
        self.count += 1
        if kind < 0.44:
            return f"v{self.count} = {self.view()}"
        if kind < 0.5:
            return f"v{self.count} = {self.scalar()}"
        return f"v{self.count} = {self.mixture()}"


def make(seed):
    writer = MixtureWriter(seed)
    return programs.record(writer.build(writer.random.choice([3, 5, 8, 12])))
