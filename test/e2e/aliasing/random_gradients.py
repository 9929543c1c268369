# SPDX-License-Identifier: Apache-2.0
"""Random programs with gradients: leaves with views and writes in place between operators whose slopes are whole numbers, gradients with
weights, of several results, twice through one graph, of gradients, accumulated by backward(). Needs torch. Values stay exact, as random_operators.py has it."""
import programs
import random_operators

SIZES = [[4, 6], [6, 4], [2, 3, 4], [12], [1, 6], [4, 1], [5], [1], [], [0, 3], [3, 3], [2, 1, 3], [1, 2, 4, 4], [2, 2, 2, 3]]
DYNAMIC = [["n", 4], [3, "n"], ["n"], [2, "n", 3], ["n", "n"], ["n", 1], [1, 2, "n", 4]]


class GradientWriter(random_operators.OperatorWriter):
    def __init__(self, seed):
        super().__init__(seed)
        self.kind = self.pick("f32", "f32", "f32", "f64", "f64", "bf16", "f16")
        if self.dynamic:
            self.program["range"] = self.pick([1, 6], [1, 9], [2, 8])
        self.leaves = []
        for name in ["x", "y", "z"]:
            sizes = DYNAMIC if self.dynamic and (name == "x" or self.random.random() < 0.5) else SIZES
            self.program["inputs"][name] = self.pick(*sizes)
            self.program["dtypes"][name] = self.kind if name != "z" or self.random.random() < 0.6 else self.pick("f32", "f64", "i64", "bool")

    def begin(self):
        """The leaves, whose memory is sometimes a caller's and sometimes a view's."""
        for name in ("x", "y") if self.random.random() < 0.7 else ("x",):
            made = self.pick("{}.detach().requires_grad_()", "{}.clone().requires_grad_()", "{}.transpose(0, -1).detach().requires_grad_()", "({} * 1).requires_grad_()", "{}.reshape(-1).detach().requires_grad_()")
            if not self.program["inputs"][name] and "transpose" in made:
                made = "{}.detach().requires_grad_()"
            self.leaves.append(name + name)
            self.program["body"].append(f"{name}{name} = {made.format(name)}")
        self.tensors = self.run(self.program["body"])

    def tensor(self, rank=None, shape=None, dtype="any"):
        """Those that gradients go through more often."""
        if dtype in ("any", None) and self.random.random() < 0.75:
            names = [n for n, t in self.tensors.items() if t.requires_grad and (rank is None or t.dim() >= rank) and (shape is None or list(t.shape) == shape)]
            if names:
                return self.random.choice(names[-4:] if self.random.random() < 0.6 else names)
        return super().tensor(rank, shape, dtype)

    def smooth(self):
        a, b = self.tensor(), self.tensor()
        t = self.tensors[a]
        d = self.axis(t)
        size = self.size(a, d) if t.dim() else "1"
        index = self.pick(f"(torch.arange({self.pick('2', '3', size)}) * 7 % {size})", "torch.zeros(2, dtype=torch.int64)", "torch.tensor([0, -1, 0])")
        full = f"({a}.detach().abs().long() % {size})"
        c = self.pick(2, 3, -1, 0.5)
        rows, columns = self.size(a, t.dim() - 2 if t.dim() > 1 else 0) if t.dim() else "1", self.size(a, t.dim() - 1) if t.dim() else "1"
        images, k, stride, padding = f"{a}.reshape(1, -1, {rows}, {columns})", self.pick(1, 2, 3), self.pick(1, 2), self.pick(0, 1)
        weights = f"((torch.arange(2 * {images}.shape[1] * {k * k}) % 3 - 1).to({a}.dtype).reshape(2, -1, {k}, {k}))"
        return self.pick(
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} * {c}", f"{c} - {a}", f"{a} / 2", f"-{a}", f"{a} ** 2", f"{a} ** 3", f"torch.square({a})", f"{a}.abs()", f"torch.relu({a})", f"torch.clamp({a}, -2, 3)", f"torch.clamp({a}, min=0)",
            f"torch.where({a} > {b}, {a}, {b})", f"torch.where({a} > 0, {a}, {c})", f"torch.where({b} > 1, 2.0, {a})", f"torch.maximum({a}, {b})", f"torch.minimum({a}, {b})", f"torch.lerp({a}, {b}, 0.5)", f"torch.addcmul({a}, {b}, {a}, value=2)",
            f"torch.nn.functional.leaky_relu({a}, 0.5)", f"torch.nn.functional.hardtanh({a}, -2, 3)", f"torch.nn.functional.threshold({a}, 1, -2)", f"torch.nn.functional.relu6({a})", f"{a}.masked_fill({b} > 0, {c})", f"{a} * ({b} > 1)",
            f"{a}.sum()", f"{a}.sum({d})", f"{a}.sum({d}, keepdim=True)", f"{a}.amax({d})", f"{a}.max({d})[0]", f"{a}.min({d}, keepdim=True)[0]", f"{a}.max()", f"{a}.cumsum({d})", f"{a}.prod({d})", f"{a}.mean({d}) * {size}", f"{a}.median({d})[0]", f"{a}.diff(dim={d})",
            f"{a}.sort({d}, stable=True)[0]", f"torch.topk({a}, 1, {d})[0]", f"{a}.flip({d})", f"{a}.roll(1, {d})", f"torch.cat([{a}, {b}], {d})", f"torch.cat([{a}, {a} * 2], {d})", f"torch.stack([{a}, {b}])", f"{a}.repeat(2, *[1] * {t.dim()})", f"{a}.repeat_interleave(2, {d})",
            f"{a}.tile(2)", f"{a}.expand(3, *{a}.shape)", f"{a}.unfold({d}, 2, 1)", f"torch.gather({a}, {d}, {full})", f"{a}.index_select({d}, {index})", f"{a}[{index}]", f"{a}[..., {index}]", f"torch.take_along_dim({a}, {full}, {d})", f"{a}[{a}.detach() > 0].sum()",
            f"torch.scatter({a}, {d}, {full}, {b})", f"torch.scatter_add({a}, {d}, {full}, {b})", f"torch.scatter({a}, {d}, {full}, 2.0)", f"{a}.index_add({d}, {index}, {a}.index_select({d}, {index}))", f"{a}.index_copy({d}, torch.arange({size}), {a}.flip({d}))", f"{a}.index_fill({d}, {index}, 3)",
            f"{a}.masked_scatter({b} > 0, {a} * 2)", f"torch.index_put({a}, ({index},), {a}[{index}] * 2, accumulate={self.pick('True', 'False')})", f"torch.nn.functional.pad({a}, (1, 2))", f"torch.nn.functional.pad({a}, (-1, 1), value=3)", f"torch.nn.functional.pad({a}.reshape(1, -1, {columns}), (1, 1), mode='{self.pick('reflect', 'replicate', 'circular')}')",
            f"torch.tril({a})", f"torch.triu({a}, 1)", f"torch.diag_embed({a})", f"{a} @ {a}.mT", f"{a} @ {b}.mT", f"torch.matmul({a}, {b})", f"torch.nn.functional.linear({a}, {b})", f"torch.einsum('ij,kj->ik', {a}, {b})", f"torch.outer({a}.reshape(-1), {b}.reshape(-1))", f"torch.dot({a}.reshape(-1), {a}.reshape(-1))",
            f"torch.addmm({b}, {a}, {a}.t())", f"torch.bmm({a}, {a}.mT)", f"torch.baddbmm({b}, {a}, {a}.mT)", f"torch.kron({a}, {b})", f"torch.nn.functional.embedding(torch.tensor([0, 1, 0]), {a})", f"torch.trace({a})", f"torch.nn.functional.mse_loss({a}, {b}, reduction='sum')",
            f"torch.nn.functional.l1_loss({a}, {b}, reduction='sum')", f"torch.nn.functional.smooth_l1_loss({a}, {b}, reduction='none')", f"torch.nn.functional.conv2d({images}, {weights}, stride={stride}, padding={padding})", f"torch.nn.functional.max_pool2d({images}, {k}, stride={stride})",
            f"torch.nn.functional.avg_pool2d({images}, 2, stride={stride}) * 4", f"torch.nn.functional.interpolate({images}, scale_factor=2, mode='nearest')", f"torch.nn.functional.unfold({images}, {k}, padding={padding})", f"torch.nn.functional.adaptive_max_pool2d({images}, 1)", f"torch.nn.functional.pixel_shuffle({images}.repeat(1, 4, 1, 1), 2)",
            f"{a}.to(torch.float64)", f"{a}.float()", f"{a}.clone()", f"{a}.detach() * {b}", f"{a}.contiguous()", f"torch.cumprod({a}, {d})", f"torch.floor({a}) + {a}", f"torch.sign({a}) * {a}", f"{a}.norm(p=1)", f"torch.cdist({a}, {a}, p=1.0)", f"torch.aminmax({a})[1]", f"{a}.logical_not() + {a}", f"torch.hypot({a}, {a} * 0)",
            f"torch.cummax({a}, {d})[0]", f"torch.renorm({a}, 1, 0, 1e6)", f"torch.block_diag({a}, {b})", f"torch.cross({a}, {b}, dim={d})", f"torch.special.xlogy({a} * 0, {a}.abs() + 1) + {a}", f"torch.cumsum({a}, {d}).flip({d})", f"torch.movedim({a}, 0, -1)", f"torch.rot90({a})", f"torch.tensordot({a}, {a}, 1)", f"torch.nn.functional.glu(torch.cat([{a}, {a} * 0 + 100], -1))",
        )

    def written(self):
        """In place on what is no leaf."""
        a, b = self.tensor(), self.tensor()
        if a in self.leaves:
            raise LookupError("a leaf")
        t = self.tensors[a]
        d = self.axis(t)
        c = self.pick(2, -1, 0.5)
        view = self.pick("", "", "[0]", "[1:]", "[..., 0]", "[::2]", ".mT", ".view(-1)", ".select(0, 0)", "[:, :1]", ".diagonal()", ".narrow(-1, 0, 1)", "[0][..., 1:]", ".unsqueeze(0)", ".transpose(0, -1)")
        return self.pick(
            f"{a}{view}.mul_({c})", f"{a}{view}.add_({b})", f"{a}{view}.add_({c})", f"{a}{view}.copy_({b})", f"{a}{view}.fill_({c})", f"{a}{view}.zero_()", f"{a}{view}.mul_({b})", f"{a}{view}.sub_({b}, alpha=2)", f"{a}{view}.relu_()", f"{a}{view}.clamp_(-2, 3)",
            f"{a}{view}.neg_()", f"{a}{view}.pow_(2)", f"{a}{view}.masked_fill_({b} > 0, {c})", f"{a}{view}.abs_()", f"{a}[0] = {b}", f"{a}[0] = {c}", f"{a}[..., -1] = {b}", f"{a}[{a}.detach() > 1] = {c}", f"{a}[[0]] += {b}", f"{a} *= {c}", f"{a} += {b}", f"{a}{view}.div_(2)",
            f"{a}.index_add_({d}, torch.tensor([0]), {b})", f"{a}.scatter_({d}, ({a}.detach().abs().long() % {self.size(a, d) if t.dim() else '1'}), {b})", f"{a}.index_fill_({d}, torch.tensor([0]), {c})", f"{a}.tril_()", f"{a}.cumsum_({d})", f"{a}.detach_()" if self.random.random() < 0.2 else f"{a}{view}.lerp_({b}, 0.5)",
            f"{a}.masked_scatter_({b} > 0, {b})", f"{a}.index_put_((torch.tensor([0, 0]),), {b}, accumulate=True)", f"{a}{view}.addcmul_({b}, {b})", f"torch.relu_({a})", f"{a}{view}.square_()", f"{a}.squeeze_()", f"{a}.t_()",
        )

    def gradient(self):
        """One more line that differentiates what there is; its names are gradients."""
        roots = [n for n, t in self.tensors.items() if t.requires_grad and n not in self.leaves]
        if not roots:
            raise LookupError("nothing to differentiate")
        self.count += 1
        made = f"g{self.count}"
        root, other = self.random.choice(roots[-3:]), self.random.choice(roots)
        of = self.pick(*self.leaves, self.random.choice(roots))
        weights = self.pick(f"(torch.arange({root}.numel()) % 3 - 1).reshape({root}.shape).to({root}.dtype)", f"torch.ones_like({root})", f"{root}.detach().sign()")
        again = self.pick("", ", create_graph=True", ", retain_graph=True", ", retain_graph=True")
        return self.pick(
            f"{made}, = torch.autograd.grad({root}.sum(), [{of}], allow_unused=True, materialize_grads=True{again})",
            f"{made}, = torch.autograd.grad({root}, {of}, {weights}, allow_unused=True, materialize_grads=True{again})",
            f"{made}, = torch.autograd.grad([{root}.sum(), {other}.sum() * 2], [{of}], allow_unused=True, materialize_grads=True{again})",
            f"{made}, {made}b = torch.autograd.grad(({root} * {root}).sum(), [{of}, {self.leaves[0]}], allow_unused=True, materialize_grads=True{again})",
            f"{root}.sum().backward({'retain_graph=True' if again else ''}); {made} = {self.leaves[0]}.grad.clone()",
            f"{root}.backward({weights}{', retain_graph=True' if again else ''}); {made} = {self.leaves[-1]}.grad",
            f"with torch.no_grad(): {self.leaves[0]}.mul_({self.pick(2, -1)}); {made} = {self.leaves[0]}.detach().clone()",
        )

    def line(self):
        kind = self.random.random()
        if kind < 0.15:
            return self.gradient()
        if kind < 0.3:
            return self.written()
        self.count += 1
        return f"v{self.count} = {self.view() if kind < 0.5 else self.smooth()}"

    def build(self, lines):
        self.begin()
        for attempt in range(lines + 6):
            last = attempt >= lines
            if last and sum("grad" in line for line in self.program["body"]) > len(self.leaves):
                break
            try:
                line = self.gradient() if last else self.line()
                tensors = self.run(self.program["body"] + [line])
            except Exception:  # torch refuses the line, or there is no tensor for it
                continue
            self.program["body"].append(line)
            self.tensors = tensors
        gradients = [name for name in self.tensors if name.startswith("g")]
        names = list(self.tensors)
        self.program["results"] = (gradients + [self.random.choice(names) for _ in range(3)])[:9]
        return self.program


def make(seed):
    writer = GradientWriter(seed)
    return programs.record(writer.build(writer.random.choice([3, 5, 8, 12])))
