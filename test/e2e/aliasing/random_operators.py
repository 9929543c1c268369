# SPDX-License-Identifier: Apache-2.0
"""Random programs of every kind of operator and dtype, between views and writes of random_programs.py. Needs torch.

Every value stays exact: integers go in, and what an operator rounds (softmax, a mean, exp) is scaled and rounded to integers where
torch says that no element lies near the middle of two.
"""
import programs
import random_programs

SIZES = [[4, 6], [6, 4], [2, 3, 4], [12], [1, 6], [4, 1], [2, 2, 3], [5], [1], [], [1, 1], [0], [0, 3], [3, 0], [2, 0, 4], [17], [3, 33], [2, 3, 5, 4], [16, 16], [8, 8]]
DYNAMIC = [["n", 4], [3, "n"], ["n"], [2, "n", 3], ["n", "n"], ["n", 16]]
KINDS = ["f32", "f32", "f32", "bf16", "f16", "i64", "i32", "f64", "bool", "u8", "i8", "i16"]
FLOATS = ["torch.float32", "torch.bfloat16", "torch.float16", "torch.float64"]
INTEGERS = ["torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8"]
# How far from the middle between two integers torch's value must be.
MARGIN = {"torch.float32": 0.01, "torch.float64": 0.01, "torch.float16": 0.05, "torch.bfloat16": 0.2}


class OperatorWriter(random_programs.Writer):
    def __init__(self, seed):
        super().__init__(seed)
        self.kind = self.pick(*KINDS)
        if self.dynamic:
            self.program["range"] = self.pick([1, 6], [0, 5], [0, 9], [1, 40], [2, 17])
        self.program["dtypes"] = {}
        for name in self.program["inputs"]:
            sizes = DYNAMIC if self.dynamic and (name == "x" or self.random.random() < 0.5) else SIZES
            self.program["inputs"][name] = self.pick(*sizes)
            self.program["dtypes"][name] = self.pick(self.kind, self.kind, *KINDS)

    def tensor(self, rank=None, shape=None, dtype="any"):
        """Where views ask for f32, any dtype does."""
        if dtype == "float":
            names = [n for n, t in self.tensors.items() if str(t.dtype) in FLOATS and (rank is None or t.dim() >= rank)]
        elif dtype == "integer":
            names = [n for n, t in self.tensors.items() if str(t.dtype) in INTEGERS and (rank is None or t.dim() >= rank)]
        elif dtype == "index":
            names = [n for n, t in self.tensors.items() if str(t.dtype) in INTEGERS[:2] and (rank is None or t.dim() >= rank)]
        else:
            return super().tensor(rank, shape, None)
        if not names:
            raise LookupError("no such tensor")
        return self.random.choice(names[-4:] if self.random.random() < 0.6 else names)

    # --- by family

    def pointwise(self):
        a, b = self.tensor(), self.tensor()
        c = self.pick(2, 3, 5, -3)
        return self.pick(
            f"{a} // {c}", f"{a} % {c}", f"torch.remainder({a}, {c})", f"torch.fmod({a}, {c})", f"torch.sign({a})", f"torch.abs({a})", f"-{a}",
            f"{a} == {b}", f"{a} < {b}", f"({a} > 0) & ({b} > 0)", f"({a} > 0) ^ ({b} < 2)", f"~({a} > 0)", f"torch.where({a} > 0, {a}, {b})",
            f"torch.where({a} > {b}, {c}, {a})", f"torch.minimum({a}, {b})", f"torch.clamp({a}, min={c})", f"torch.clamp({a}, 0, 3)", f"torch.clamp({a}, {b}, None)",
            f"{a}.pow(2)", f"torch.square({a})", f"{a} / 2", f"{a} / 4", f"torch.div({a}, {c}, rounding_mode='floor')", f"torch.div({a}, {c}, rounding_mode='trunc')",
            f"{a} + {b} * 2", f"torch.add({a}, {b}, alpha=2)", f"torch.logical_not({a})", f"torch.isnan({a})", f"torch.relu({a})", f"torch.nn.functional.leaky_relu({a}, 0.5)",
            f"torch.heaviside({a}, {b})", f"torch.lerp({a}, {b}, 0.5)", f"torch.addcmul({a}, {b}, {b})", f"torch.floor({a} / 2)", f"torch.ceil({a} / 2)", f"torch.trunc({a} / 2)",
            f"torch.round({a} / 2)", f"{a} * ({b} > 1)", f"torch.eq({a}, {c}).sum()", f"{a}.masked_fill({b} > 0, {c})", f"torch.nan_to_num({a})", f"torch.rsub({a}, {b})",
            f"{a}.bool()", f"{a}.logical_and({b})", f"torch.copysign({a}, {b})", f"torch.bitwise_and({a}, {b})", f"torch.bitwise_or({a}, 5)", f"torch.bitwise_xor({a}, {b})",
            f"torch.bitwise_not({a})", f"{a} << 2", f"{a} >> 1", f"torch.threshold({a}, 1, -2)", f"torch.nn.functional.hardtanh({a}, -2, 3)", f"torch.reciprocal({a}.sign() * 2)",
        )

    def cast(self):
        a = self.tensor()
        return self.pick(f"{a}.to(torch.bfloat16)", f"{a}.half()", f"{a}.float()", f"{a}.double()", f"{a}.int()", f"{a}.long()", f"{a}.to(torch.int8)", f"{a}.abs().to(torch.uint8)",
                         f"{a}.bool()", f"{a}.to(torch.int16)", f"{a}.type_as({self.tensor()})")

    def reduction(self):
        a = self.tensor(rank=self.pick(0, 1, 2, 2, 3))
        t = self.tensors[a]
        dims = sorted(self.random.sample(range(t.dim()), self.random.randint(0, t.dim())))
        if self.random.random() < 0.3:
            dims = [d - t.dim() for d in dims]
        keep = self.pick("", ", keepdim=True")
        d = self.axis(t)
        return self.pick(
            f"{a}.sum({dims}{keep})", f"{a}.sum({dims}{keep})", f"{a}.amax({dims}{keep})", f"{a}.amin({dims}{keep})", f"{a}.sum()", f"{a}.prod({d}{keep})", f"{a}.any({d}{keep})",
            f"{a}.all()", f"{a}.all({d}{keep})", f"torch.any({a} > 3)", f"{a}.max({d}{keep})[0]", f"{a}.min({d})[0]", f"{a}.max()", f"{a}.argmax({d}{keep})", f"{a}.argmin({d})", f"torch.argmax({a})",
            f"torch.count_nonzero({a})", f"{a}.cumsum({d})", f"{a}.cumsum({d}, dtype=torch.float32)", f"{a}.cumprod({d})", f"{a}.sum({d}, dtype=torch.int64)",
            f"{a}.diff(dim={d})", f"torch.aminmax({a})[1]", f"{a}.median({d})[0]", f"torch.trace({a})", 
            f"{a}.sum({dims}{keep}).sum()", f"({a} > 0).sum({dims}{keep})", f"{a}.amax({dims}{keep}) - {a}.amin({dims}{keep})",
        )

    def indexing(self):
        a = self.tensor(rank=1)
        t = self.tensors[a]
        d = self.axis(t)
        size = self.size(a, d)
        count = self.pick("2", "3", size, "1")
        index = self.pick(f"(torch.arange({count}) * 7 % {size})", f"torch.zeros({count}, dtype=torch.int64)", f"(torch.arange({count}) % 2)", f"torch.argsort({a}.select({d}, 0).reshape(-1), stable=True)")
        full = self.pick(f"({a}.abs().long() % {size})", f"torch.argsort({a}, {d}, stable=True)", f"torch.zeros_like({a}, dtype=torch.int64)")
        b = self.tensor()
        choices = [
            f"{a}.index_select({d}, {index})", f"torch.gather({a}, {d}, {full})", f"torch.take_along_dim({a}, {full}, {d})", f"torch.take({a}, {index})", f"{a}[{index}]", f"{a}[..., {index}]",
            f"{a}.sort({d}, stable=True)[1]", f"{a}.sort({d}, descending=True)[0]", f"torch.topk({a}, {self.pick(1, 2)}, {d})[0]", f"torch.topk({a}, 1, {d}, largest=False)[0]", f"torch.argsort({a}, {d}, stable=True)",
            f"torch.scatter({a}, {d}, {full}, {self.pick(3, 0)})", f"torch.scatter_add({a}, {d}, {full}, {a})", f"torch.scatter_reduce({a}, {d}, {full}, {a}, 'amax')",
            f"{a}.index_add({d}, {index}, {a}.index_select({d}, {index}))", f"{a}.index_fill({d}, {index}, 5)", f"{a}.index_copy({d}, torch.arange({size}), {a}.flip({d}))",
            f"torch.nn.functional.one_hot({a}.abs().long() % 4, 4)", f"torch.nn.functional.embedding({full} % {self.size(a, 0)}, {a})", f"{a}.repeat_interleave(2, {d})",
            f"{a}[{a} > 100].sum()", f"torch.roll({a}, 2, {d})", f"torch.flip({a}, [{d}])", f"{a}.tile(2)", f"{a}.repeat(2, *[1] * {t.dim()})", f"torch.searchsorted({a}.sort()[0], {a})",
            f"torch.bucketize({a}, torch.tensor([-1, 0, 2, 5]))", f"torch.tril({a})", f"torch.triu({a}, 1)", f"{a}.masked_scatter({a} > 1, {b})",
            f"torch.cat([{a}, {a}], {d})", f"torch.cat([{a}, {b}, {a}], {d})", f"torch.stack([{a}, {a} + 1], {d})", f"torch.nn.functional.pad({a}, (1, 2))", f"torch.nn.functional.pad({a}, ({self.pick(-1, 0, 1)}, 1), value=3)",
            f"torch.nn.functional.pad({a}, (0, 1, 2, 0))", f"torch.meshgrid({a}.reshape(-1), {a}.reshape(-1), indexing='ij')[1]", f"torch.diag_embed({a})", 
            f"torch.index_put({a}, ({index},), {a}.select(0, 0), accumulate=True)", f"{a}[{index}, 0]", f"torch.kron({a}, {a})",
        ]
        return self.pick(*choices)

    def product(self):
        a, b = self.tensor(rank=1), self.tensor(rank=1)
        t = self.tensors[a]
        rows, columns = self.size(a, t.dim() - 2 if t.dim() > 1 else 0), self.size(a, t.dim() - 1)
        small = lambda x: f"({x} % 3)"
        a2, b2 = small(a), small(b)
        bias = self.pick("", f", torch.arange({rows}).to({a}.dtype) % 2")
        images = f"{a2}.reshape(1, -1, {rows}, {columns})"
        stride, padding, dilation = self.pick(1, 2), self.pick(0, 1, 2), self.pick(1, 1, 2)
        k = self.pick(1, 2, 3)
        weights = f"((torch.arange(3 * {images}.shape[1] * {k * k}) % 3 - 1).to({a}.dtype).reshape(3, -1, {k}, {k}))"
        line = f"{a2}.reshape(1, -1, {columns})"
        taps = f"((torch.arange(2 * {line}.shape[1] * {k}) % 3 - 1).to({a}.dtype).reshape(2, -1, {k}))"
        return self.pick(
            f"{a2} @ {a2}.mT", f"{a2}.mT @ {a2}", f"torch.matmul({a2}, {b2})", f"{a2} @ {b2}.mT", f"torch.nn.functional.linear({a2}, {a2}{bias})", f"torch.addmm({a2}.sum(), {a2}, {a2}.t())",
            f"torch.bmm({a2}, {a2}.mT)", f"torch.einsum('ij,kj->ik', {a2}, {b2})", f"torch.einsum('bij,bkj->bik', {a2}, {a2})", f"torch.outer({a2}.reshape(-1), {b2}.reshape(-1))",
            f"torch.dot({a2}.reshape(-1), {a2}.reshape(-1))", f"torch.mv({a2}, {a2}[0])", f"torch.baddbmm({a2} @ {a2}.mT, {a2}, {a2}.mT, beta=2, alpha=-1)", 
            f"torch.nn.functional.conv2d({images}, {weights}, stride={stride}, padding={padding}, dilation={dilation})", f"torch.nn.functional.conv1d({line}, {taps}, stride={stride}, padding={padding}, dilation={dilation})",
            f"torch.nn.functional.max_pool2d({images}, {self.pick(1, 2)}, stride={stride})", f"torch.nn.functional.avg_pool2d({images} * 4, 2)", f"torch.nn.functional.conv_transpose2d({images}, {weights}.transpose(0, 1).contiguous()[:{images}.shape[1]], stride={stride})",
            f"torch.tensordot({a2}, {a2}, {self.pick(1, 2)})", f"torch.cdist({a2}, {a2}, p=1.0)",
        )

    def rounded(self):
        """What rounds, scaled and rounded to an integer."""
        a, b = self.tensor(dtype="float"), self.tensor(dtype="float")
        t = self.tensors[a]
        d = self.axis(t)
        dims = sorted(self.random.sample(range(t.dim()), self.random.randint(1, max(1, t.dim())))) if t.dim() else []
        q = f"({a} % 4).reshape(1, 1, -1, {self.size(a, t.dim() - 1) if t.dim() else 1})"
        inner = self.pick(
            f"torch.softmax({a}, {d}) * 8", f"torch.log_softmax({a}, {d})", f"{a}.mean({dims}) * 4", f"{a}.mean() * 3", f"torch.exp({a} * 0.3)", f"torch.sigmoid({a}) * 9", f"torch.tanh({a} / 2) * 5",
            f"torch.nn.functional.gelu({a}) * 2", f"torch.nn.functional.silu({a}) * 3", f"torch.sin({a}) * 7", f"torch.sqrt({a}.abs()) * 3", f"torch.rsqrt({a}.abs() + 1) * 9", f"torch.logsumexp({a}, {dims})",
            f"torch.nn.functional.layer_norm({a}, {a}.shape[-1:]) * 4", f"torch.var({a}, {dims}, correction=0)", f"torch.std({a}, {d})", f"torch.norm({a}) * 2", f"{a} / 3 * 2", f"torch.log({a}.abs() + 1) * 5",
            f"torch.nn.functional.scaled_dot_product_attention({q}, {q}, {q}) * 3", f"torch.nn.functional.scaled_dot_product_attention({q}, {q}, {q}, is_causal=True) * 3", f"torch.nn.functional.rms_norm({a}, {a}.shape[-1:]) * 4",
            f"torch.atan2({a}, {b}.abs() + 1) * 5", f"torch.erf({a} / 3) * 8", f"torch.exp2({a} / 2)", f"torch.nn.functional.softplus({a}) * 2", f"torch.nn.functional.mse_loss({a}, {a} + 1) * 3", f"torch.softmax({a}.reshape(-1), 0) * 12",
            f"torch.nn.functional.normalize({a}, dim={d}) * 6", f"torch.hypot({a}, {b})", f"torch.pow({a}.abs() + 1, 0.5) * 5", f"torch.nn.functional.interpolate({a}.reshape(1, 1, -1), scale_factor=2.0, mode='nearest')",
            f"torch.cos({a}.sum({dims})) * 6", f"torch.softmax({a}, {d}).sum({d}) * 5.3", f"torch.exp({a} - {a}.amax({d}, keepdim=True)) * 9",
        )
        value = self.evaluate(inner)
        away = ((value.double() - value.double().floor()) - 0.5).abs()
        if value.numel() and not bool((away > MARGIN[str(t.dtype)] * (1 + value.double().abs() / 8)).all()):
            raise LookupError("near the middle between two integers")
        return f"torch.round({inner})"

    def evaluate(self, text):
        """In torch, after the lines so far; for dynamic dims, of the example."""
        import torch

        import stand_ins

        return eval(text, {"torch": torch, "triton": stand_ins.triton, **self.tensors})

    def indexed_write(self):
        a, b = self.tensor(rank=1), self.tensor()
        t = self.tensors[a]
        d = self.axis(t)
        size = self.size(a, d)
        index = self.pick(f"(torch.arange({self.pick('2', '1', size)}) * 5 % {size})", f"torch.tensor([{self.pick('0', '0, 1', '-1, 0')}])")
        full = f"({a}.abs().long() % {size})"
        return self.pick(
            f"{a}[{index}] = {self.pick(3, 0)}", f"{a}[{index}] += 1", f"{a}[..., {index}] = 2", f"{a}[{a} > {self.pick(0, 2)}] = 1", f"{a}.index_fill_({d}, {index}, 4)", f"{a}.index_add_({d}, {index}, {a}.index_select({d}, {index}).clone())",
            f"{a}.scatter_({d}, {full}, 2)", f"{a}.index_copy_({d}, torch.arange({size}), {a}.flip({d}))", f"{a}.masked_fill_({b} > 0, -1)", f"{a}[{index}] = {b}", f"{a}.select({d}, 0).copy_({b})", f"{a}.narrow({d}, 0, 1).zero_()",
            f"{a}.bitwise_and_(3)", f"{a}.floor_divide_(2)", f"{a}.remainder_(3)", f"{a}.pow_(2)", f"{a}.abs_()", f"{a}.sign_()", f"{a}.clamp_(min=0)", f"{a}.t().copy_({b})", f"{a}.logical_not_()", f"{a}.scatter_add_({d}, {full}, {a}.clone())",
            f"{a}.index_put_(({index},), {a}[{index}].clone(), accumulate=True)", f"{a}.sub_({b}, alpha=2)", f"{a}.cumsum_({d})", f"{a}.lerp_({b}, 0.5)", f"{a}.tril_()", f"{a}.copy_({b}.to({a}.dtype))", f"{a}.view(-1)[{index}] = 1",
        )

    def launch(self):
        """All but a few kernels take any dtype; more of them than in random_programs.py."""
        if self.random.random() < 0.5:
            return super().launch()
        name, other = self.tensor(), self.tensor()
        n = self.pick(f"{name}.numel()", f"{other}.numel()")
        index = self.tensor(dtype="index") if self.random.random() < 0.5 else other
        return self.pick(
            f"gather_kernel[(triton.cdiv({n}, 16),)]({other}, {index}, {name}, {n}, {other}.numel(), BLOCK=16)", f"scan_kernel[(1,)]({other}, {name}, {n}, BLOCK=64)",
            f"count_kernel[(triton.cdiv({n}, 8),)]({other}, {name}, {n}, BLOCK=8)", f"dot_kernel[(1,)]({other}, {name}, {other}.shape[0], {other}.shape[1], BLOCK=16)",
            f"sort_kernel[(1,)]({other}, {name}, {n}, BLOCK=32)", f"row_max_kernel[({other}.shape[0],)]({other}, {name}, {other}.shape[1], BLOCK=32)",
            f"cast_kernel[(triton.cdiv({n}, 32),)]({other}, {name}, {n}, BLOCK=32)", f"turn_kernel[(triton.cdiv({other}.shape[0], 4), triton.cdiv({other}.shape[1], 8))]({other}, {name}, {other}.shape[0], {other}.shape[1], ROWS=4, COLUMNS=8)",
        )

    # --- lines

    def layout(self):
        a = self.tensor()
        if self.dynamic or not self.tensors[a].numel():
            return f"torch.tensor([{a}.dim()])"
        return f"torch.tensor([s for s, n in zip({a}.stride(), {a}.shape) if n > 1] + [int({a}.is_contiguous())])"

    def line(self):
        kind = self.random.random()
        if kind < 0.05:
            self.count += 1
            return f"v{self.count} = {self.layout()}"
        if kind < 0.2:
            return super().line()
        if kind < 0.3:
            return self.launch()
        if kind < 0.4:
            return self.indexed_write()
        self.count += 1
        family = self.pick(self.pointwise, self.pointwise, self.reduction, self.reduction, self.indexing, self.indexing, self.product, self.rounded, self.rounded, self.cast, self.view)
        return f"v{self.count} = {family()}"

    def run(self, body):
        import torch

        program = dict(self.program, body=body)
        tensors = None
        for n in programs.values_of_n(program) + [4] if self.dynamic else (4,):
            names, _ = programs.run_in_torch(program, n)
            values = {name: t for name, t in names.items() if isinstance(t, torch.Tensor)}
            for name, t in values.items():
                if t.dtype.is_complex or t.numel() > 4096:
                    raise RuntimeError("not for these programs")
                if t.is_floating_point() and name not in self.tensors and t.numel() and not bool((t.double() * 64 % 1 == 0).all() if t.isfinite().all() else False):
                    raise RuntimeError("values that are not exact")
            tensors = values
        return tensors


def make(seed):
    writer = OperatorWriter(seed)
    return programs.record(writer.build(writer.random.choice([3, 5, 8, 12])))
