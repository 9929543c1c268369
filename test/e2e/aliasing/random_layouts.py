# SPDX-License-Identifier: Apache-2.0
"""Random programs of memory formats and strides between the operators, views and writes of random_operators.py: channels last, transposed and
expanded operands, `out=`, strides of what operators give. Needs torch."""
import warnings

import programs
import random_operators

SIZES = [[2, 3, 4, 4], [1, 4, 3, 5], [2, 1, 3, 3], [2, 4, 1, 1], [3, 2, 2, 6], [0, 3, 4, 4], [1, 1, 4, 4], [2, 2, 2, 3, 3], [4, 6], [3, 1, 4], [2, 3, 4]]
DYNAMIC = [["n", 3, 4, 4], [2, 3, "n", 4], [2, 4, "n", "n"], ["n", 4], [2, "n", 3], [1, "n", 3, 3]]


class LayoutWriter(random_operators.OperatorWriter):
    def __init__(self, seed):
        super().__init__(seed)
        if self.dynamic:
            self.program["range"] = self.pick([1, 5], [2, 9], [4, 7])
        for name in self.program["inputs"]:
            sizes = DYNAMIC if self.dynamic and (name == "x" or self.random.random() < 0.5) else SIZES
            self.program["inputs"][name] = self.pick(*sizes)

    def relaid(self):
        """The same numbers in another order of memory."""
        a = self.tensor()
        t = self.tensors[a]
        form = f"memory_format={self.pick('torch.channels_last', 'torch.contiguous_format', 'torch.preserve_format') if t.dim() != 5 else 'torch.channels_last_3d'}"
        d, e = self.axis(t), self.axis(t)
        order = list(range(t.dim()))
        self.random.shuffle(order)
        back = [order.index(i) for i in range(t.dim())]
        return self.pick(
            f"{a}.to({form})", f"{a}.contiguous({form})", f"{a}.clone({form})", f"{a}.to(torch.float32, {form})", f"torch.empty_like({a}, {form}).copy_({a})", f"torch.zeros_like({a}, {form}) + {a}", f"torch.empty_like({a}).copy_({a})",
            f"{a}.permute({', '.join(map(str, order))}).contiguous().permute({', '.join(map(str, back))})", f"{a}.permute({', '.join(map(str, order))}).clone()", f"{a}.transpose({d}, {e}).contiguous().transpose({d}, {e})", f"{a}.transpose({d}, {e}) * 1",
            f"torch.cat([{a}, {a}.flip({d})], {e})", f"torch.stack([{a}, {a}], {d})", f"{a}.flip({d})", f"{a}.repeat_interleave(2, {d})", f"torch.where({a} > 0, {a}, 0)", f"{a}.expand(2, *{a}.shape).contiguous()", f"{a}.roll(1, {d})", f"{a}.index_select({d}, torch.tensor([0, 0]))",
            f"torch.empty({a}.shape[::-1], dtype={a}.dtype).permute({', '.join(str(i) for i in reversed(range(t.dim())))}).copy_({a})", f"{a}.sort({d}, stable=True)[0]", f"{a}.cumsum({d})", f"{a}.masked_fill({a} > 1, 0)", f"{a}.to(torch.float64)", f"torch.nn.functional.pad({a}, (1, 1))",
            f"{a}.unflatten({d}, (-1, 1)).transpose(0, -1)", f"{a}.flatten({d})", f"{a}.unfold({d}, 1, 1).squeeze(-1) + 0", f"{a}.new_empty({a}.shape).copy_({a})", f"torch.full_like({a}, 2) * {a}", f"{a}.sum({d}, keepdim=True) + {a} * 0", f"{a}.amax({d}, keepdim=True).expand_as({a})",
        )

    def over_images(self):
        a = self.tensor(rank=4, dtype="float")
        channels, k, stride, padding = self.size(a, 1), self.pick(1, 2, 3), self.pick(1, 2), self.pick(0, 1, 1)
        small = f"({a} % 3)"
        form = self.pick("", ".to(memory_format=torch.channels_last)")
        weights = f"((torch.arange(3 * {channels} * {k * k}) % 3 - 1).to({a}.dtype).reshape(3, {channels}, {k}, {k})){form}"
        depthwise = f"((torch.arange({channels} * {k * k}) % 3 - 1).to({a}.dtype).reshape({channels}, 1, {k}, {k}))"
        bias = self.pick("None", f"torch.arange(3).to({a}.dtype)")
        return self.pick(
            f"torch.nn.functional.conv2d({small}, {weights}, {bias}, stride={stride}, padding={padding})", f"torch.nn.functional.conv2d({small}, {weights}, stride=({stride}, 1), padding=({padding}, 0))", f"torch.nn.functional.conv2d({small}, {depthwise}, padding={padding}, groups={channels})",
            f"torch.nn.functional.conv_transpose2d({small}, {weights}.transpose(0, 1)[:{channels}], stride={stride})", f"torch.nn.functional.max_pool2d({a}, {k}, stride={stride}, padding={k // 2})", f"torch.nn.functional.max_pool2d({a}, {k}, ceil_mode=True)", f"torch.nn.functional.avg_pool2d({a} * 4, 2, stride={stride})",
            f"torch.nn.functional.adaptive_max_pool2d({a}, {self.pick(1, 2)})", f"torch.nn.functional.interpolate({a}, scale_factor={self.pick('2', '(2, 1)', '3')}, mode='nearest')", f"torch.nn.functional.pixel_shuffle({a}.repeat(1, 4, 1, 1), 2)", f"torch.nn.functional.pixel_unshuffle({a}.repeat(1, 1, 2, 2), 2)",
            f"torch.nn.functional.pad({a}, (1, 0, 2, 1))", f"torch.nn.functional.pad({a}, (1, 1, 1, 1), mode='{self.pick('reflect', 'replicate', 'circular')}')", f"torch.channel_shuffle({a}, 1)", f"torch.nn.functional.unfold({a}, {k}, padding={padding}, stride={stride})", f"{a}.sum((2, 3), keepdim=True) * {a}", f"{a}.sum((0, 2, 3))",
            f"{a}.amax(1)", f"{a} + torch.arange({channels}).to({a}.dtype).view(1, -1, 1, 1)", f"torch.cat([{a}, {a} * 2], 1)", f"{a}.chunk(2, 1)[0] * 2", f"{a}.flatten(2).transpose(1, 2)", f"{a}.permute(0, 2, 3, 1).reshape(-1, {channels})", f"{a}.mT @ {small}", f"torch.relu({a})", f"{a}.view({a}.shape[0], {channels}, -1)",
        )

    def given_out(self):
        """Results into memory of any layout, and copies between layouts."""
        a, b, c = self.tensor(), self.tensor(), self.tensor()
        memory = [self.tensors[name].untyped_storage().data_ptr() for name in (a, b, c)]
        if memory[2] in memory[:2]:
            raise LookupError("operands overlap")
        view = self.pick("", ".mT", "[0]", "[:, 1:]", ".transpose(0, 1)", "[..., ::2]", ".permute(1, 0, 2, 3)", "[:1]")
        return self.pick(
            f"torch.add({a}, {b}, out={c})", f"torch.mul({a}, 2, out={c}{view})", f"torch.sub({a}, {b}, out={c}{view})", f"{c}{view}.copy_({a})", f"{c}{view}.copy_({a}{view})", f"torch.sum({a}, 0, out={c}[0])", f"torch.cat([{a}, {b}], out={c})", f"torch.maximum({a}, {b}, out={c}{view})", f"{c}{view}.add_({a}{view})",
            f"torch.clamp({a}, 0, 2, out={c}{view})", f"torch.where({a} > 0, {a}, {b}, out={c})", f"torch.matmul({a}, {b}, out={c})", f"torch.neg({a}, out={c}{view})", f"torch.stack([{a}, {b}], out={c})", f"torch.amax({a}, 0, out={c}[0])", f"{c}{view}[...] = {a}", f"{c}{view} += {a}{view}", f"torch.cumsum({a}, 0, out={c})", f"torch.index_select({a}, 0, torch.tensor([0]), out={c}[:1])",
        )

    def run(self, body):
        """Without results that change the size of what they are written to, which PyTorch warns of."""
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="An output with one or more elements was resized")
            return super().run(body)

    def line(self):
        kind = self.random.random()
        if kind < 0.15:
            self.count += 1
            return f"v{self.count} = {self.layout()}"
        if kind < 0.3:
            return self.given_out()
        if kind < 0.45:
            return super().line()
        self.count += 1
        return f"v{self.count} = {self.over_images() if kind < 0.7 else self.relaid()}"


def make(seed):
    writer = LayoutWriter(seed)
    return programs.record(writer.build(writer.random.choice([3, 5, 8, 12])))
