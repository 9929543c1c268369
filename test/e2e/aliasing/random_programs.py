# SPDX-License-Identifier: Apache-2.0
"""Random programs over tensors that share memory. Needs torch, which says what each line does.

A line is tried in torch with all lines before it and kept where torch takes it, for every value of the dynamic dim.
"""
import random

import programs

SIZES = [[4, 6], [6, 4], [3, 4], [2, 3, 4], [12], [1, 6], [4, 1], [2, 2, 3], [5]]
DYNAMIC = [["n", 4], [3, "n"], ["n"], [2, "n", 3], ["n", "n"]]


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dynamic = self.random.random() < 0.3
        self.program = {"inputs": {}, "body": [], "results": ["x"]}
        for name in ["x", "y", "z"][: self.random.choice([1, 2, 2, 3])]:
            sizes = DYNAMIC if self.dynamic and (name == "x" or self.random.random() < 0.5) else SIZES
            self.program["inputs"][name] = self.random.choice(sizes)
        self.tensors = {}
        self.count = 0

    def pick(self, *items):
        return self.random.choice(items)

    def tensor(self, rank=None, shape=None, dtype="torch.float32"):
        """The name of one, younger ones more often."""
        names = [
            n for n, t in self.tensors.items()
            if (rank is None or t.dim() >= rank) and (shape is None or list(t.shape) == shape) and (dtype is None or str(t.dtype) == dtype)
        ]
        if not names:
            raise LookupError("no such tensor")
        return self.random.choice(names[-4:] if self.random.random() < 0.6 else names)

    def apart(self, name):
        """A tensor that shares no memory with the named one, or is that: PyTorch leaves undefined what overlapping operands give."""
        other, t = self.tensor(), self.tensors[name]
        u = self.tensors[other]
        same = u.data_ptr() == t.data_ptr() and u.shape == t.shape and u.stride() == t.stride()
        if not same and u.untyped_storage().data_ptr() == t.untyped_storage().data_ptr():
            raise LookupError("operands overlap")
        return other

    def axis(self, t):
        return self.random.randrange(-t.dim(), t.dim()) if t.dim() else 0

    def size(self, name, d):
        return f"{name}.shape[{d}]" if self.dynamic else str(self.tensors[name].shape[d])

    # --- expressions that may share memory

    def view(self):
        name = self.tensor(dtype=None)
        t = self.tensors[name]
        d = self.axis(t)
        choices = [
            f"{name}.reshape(-1)", f"{name}.flatten()", f"{name}.ravel()", f"{name}.contiguous()", f"{name}.view(-1)",
            f"{name}.view_as({name})", f"{name}.type_as({name})", f"{name}.to(torch.float32)", f"{name}.float()", f"{name}.detach()",
            f"{name}.expand_as({name})", f"{name}.squeeze()", f"{name}.unsqueeze(0)", f"{name}.T", f"{name}[...]", f"{name}[None]", f"{name}.data",
            f"{name}.reshape({name}.shape)", f"torch.reshape({name}, (-1,))", f"torch.flatten({name})", f"{name}.unsqueeze(-1)", f"{name}.expand(2, *{name}.shape)",
            f"{name}.clone()", f"{name}.unsqueeze({d}).squeeze({d})", f"torch.atleast_2d({name})", f"{name}.real",
        ]
        if t.dim() >= 1:
            s = t.shape[d]
            start = self.random.randrange(0, max(1, s))
            choices += [
                f"{name}[{self.pick(0, -1)}]", f"{name}[{start}:]", f"{name}[:{self.pick(1, 2, 3)}]", f"{name}[::2]", f"{name}.narrow({d}, 0, {self.pick(1, 2)})",
                f"{name}.select({d}, 0)", f"{name}.chunk(2, {d})[0]", f"{name}.chunk(2, {d})[-1]", f"{name}.split(2, {d})[-1]", f"{name}.unbind({d})[0]",
                f"{name}.movedim({d}, 0)", f"{name}.unflatten({d}, (1, -1))", f"{name}.unfold({d}, 2, 2)", f"torch.tensor_split({name}, 2, {d})[0]",
                f"{name}.flatten({d})", f"{name}.reshape(1, -1)", f"{name}.narrow({d}, {start}, 1)",
            ]
        if t.dim() >= 2:
            e = self.axis(t)
            order = list(range(t.dim()))
            self.random.shuffle(order)
            choices += [
                f"{name}.transpose({d}, {e})", f"{name}.permute({', '.join(map(str, order))})", f"{name}.mT", f"{name}.swapaxes({d}, {e})", f"{name}[:, {self.pick(0, 1)}:]",
                f"{name}[:, ::2]", f"{name}[:, 0]", f"{name}.diagonal()", f"{name}.flatten(0, 1)", f"{name}.transpose({d}, {e}).contiguous()",
                f"{name}.transpose({d}, {e}).reshape(-1)", f"{name}.transpose(0, 1).reshape({self.size(name, 1)}, -1)", f"{name}[1:, 1:]", f"{name}[:, :2].reshape(-1)",
                f"{name}.mT.mT", f"{name}.as_strided(({self.size(name, 1)},), (1,))", f"{name}[:, :{self.size(name, 1)} - 1]", f"torch.einsum('ij->ji', {name})",
            ]
        return self.random.choice(choices)

    # --- expressions with memory of their own

    def fresh(self):
        name = self.tensor()
        t = self.tensors[name]
        other = self.tensor()
        d = self.axis(t)
        choices = [
            f"{name} + 1", f"{name} * 2", f"1 - {name}", f"{name} - {other}", f"{name} + {other}", f"{other} * {name}", f"torch.relu({name})", f"torch.clamp({name}, -5, 9)",
            f"torch.where({name} > 1, {name}, {other})", f"torch.zeros_like({name})", f"torch.ones_like({name})", f"{name}.clone()", f"torch.maximum({name}, {other})",
            f"{name}.sum()", f"{name}.abs()", f"torch.full_like({name}, 3)", f"{name}.to(torch.int32)", f"({name} > 0).float()", f"torch.zeros({name}.shape)", f"{name}.new_zeros({name}.shape)",
            f"torch.zeros({name}.numel()).view({name}.shape)", f"torch.stack([{name}, {name}])", f"torch.neg({name})",
        ]
        if t.dim() >= 1:
            choices += [
                f"{name}.sum({d})", f"{name}.amax({d}, keepdim=True)", f"torch.cat([{name}, {other}], {d})", f"torch.cat([{name}], {d})", f"{name}.cumsum({d})", f"{name}.flip({d})",
                f"{name}.repeat_interleave(1, {d})", f"{name}[[0, 0]]", f"{name}.sort({d})[0]", f"torch.roll({name}, 1, {d})",
            ]
        if t.dim() == 2:
            choices += [f"{name} @ {name}.t()", f"torch.matmul({name}, {other})", f"{name}.t() + {other}", f"torch.tril({name})", f"{name}.t() * 1"]
        return self.random.choice(choices)

    # --- lines that write

    def write(self):
        name = self.tensor()
        t = self.tensors[name]
        other = self.apart(name)
        choices = [
            f"{name}.add_(1)", f"{name}.mul_(2)", f"{name} += {self.pick(1, 2, 3)}", f"{name} *= 2", f"{name}.copy_({other})", f"{name}.fill_({self.pick(7, -3)})", f"{name}.zero_()",
            f"{name}.clamp_(-3, 8)", f"{name}.add_({other})", f"{name}.relu_()", f"{name}[...] = {self.pick(4, 5)}", f"{name}[:] = {other}", f"{name}[{name} > 3] = 0", f"{name}.sub_(1)",
            f"{name}.neg_()", f"torch.add({name}, 1, out={name})", f"{name}.masked_fill_({name} > 2, 1)", f"{name}.data.add_(2)", f"{name} -= {other}",
        ]
        if t.dim() >= 1:
            choices += [
                f"{name}[0] = {self.pick(6, 8)}", f"{name}[-1] += 1", f"{name}[1:] = 9", f"{name}[::2] *= 2", f"{name}[0] = {other}", f"{name}[[0]] = 5", f"{name}[:1] = {name}[-1:] + 1",
                f"{name}.flatten().add_(1)", f"{name}.reshape(-1)[0] = 11", f"{name}.view(-1).mul_(2)", f"{name}.contiguous().add_(2)",
            ]
        if t.dim() >= 2:
            choices += [
                f"{name}[:, 0] = 3", f"{name}[:, 1:] += 2", f"{name}.t().add_(1)", f"{name}.mT[0] = 2", f"{name}[0, 1] = 13", f"{name}.diagonal().fill_(0)", f"{name}.transpose(0, 1).contiguous().add_(1)",
                f"{name}[:, [0]] = 1", f"{name}.t_()", f"{name}.unsqueeze_(0)",
            ]
        return self.random.choice(choices)

    def launch(self):
        name, other = self.tensor(), self.tensor()
        t = self.tensors[name]
        base = self.pick("{}", "{}", "{}.contiguous()", "{}.reshape(-1)", "{}.view(-1)", "{}[1:]", "{}.flatten()", "{}.t()").format(name)
        source = self.pick("{}", "{}", "{}.contiguous()", "{}.reshape(-1)", "{}.float()").format(other)
        n = self.pick(f"{name}.numel()", f"{name}.numel()", f"{name}.shape[0]" if t.dim() else "1")
        choices = [
            f"scale_kernel[(triton.cdiv({n}, 8),)]({base}, {n}, 2, BLOCK=8)", f"fill_kernel[(triton.cdiv({n}, 8),)]({base}, {n}, {self.pick(4, -2)}, BLOCK=8)",
            f"map_kernel[(1,)]({source}, {base}, {n}, BLOCK=64)", f"add_kernel[(1,)]({source}, {base}, {n}, BLOCK=64)", f"pair_kernel[(1,)]({base}, {source}, {n}, BLOCK=64)",
        ]
        if t.dim() >= 2:
            rows = f"{name}.shape[0]"
            choices += [
                f"rows_kernel[({rows},)]({name}, {name}.shape[1], {name}.stride(0), {name}.stride(1), 3, BLOCK=8)",
                f"sums_kernel[({rows},)]({name}, {other}, {name}.shape[1], {name}.stride(0), {name}.stride(1), BLOCK=8)",
            ]
        return self.random.choice(choices)

    # --- the program

    def line(self):
        kind = self.random.random()
        if kind < 0.35:
            self.count += 1
            return f"v{self.count} = {self.view()}"
        if kind < 0.5:
            self.count += 1
            return f"v{self.count} = {self.fresh()}"
        if kind < 0.75:
            return self.write()
        if kind < 0.95:
            return self.launch()
        return f"for i in range({self.pick(2, 3)}): {self.write()}"

    def run(self, body):
        """The tensors after the lines, for the dims' example; raises what torch raises."""
        program = dict(self.program, body=body)
        names = None
        for n in (1, 2, 5, 4) if self.dynamic else (4,):
            names, _ = programs.run_in_torch(program, n)
        import torch

        return {name: t for name, t in names.items() if isinstance(t, torch.Tensor)}

    def build(self, lines):
        self.tensors = self.run([])
        for _ in range(lines):
            try:
                line = self.line()
                tensors = self.run(self.program["body"] + [line])
            except Exception:  # torch refuses the line, or there is no tensor for it
                continue
            self.program["body"].append(line)
            self.tensors = tensors
        names = list(self.tensors)
        count = min(len(names), self.random.choice([1, 2, 4, 6, 9]))
        self.program["results"] = [self.random.choice(names) for _ in range(count)]
        return self.program


def make(seed):
    writer = Writer(seed)
    return programs.record(writer.build(writer.random.choice([4, 6, 8, 12, 16])))
