#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models with the PyTorch that is here and compares what their archives compute with it, in both dialects; and a
model's Python source with its archive, bit for bit.

    fresh_archives_test.py PROGRAM [NAME…]

Exit code 77 where PyTorch is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.export import Dim, export, save
    from torch.nn import functional as F
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from safetensors_file import read_safetensors  # noqa: E402
from tool import pellucid, run_package  # noqa: E402

torch.set_num_threads(1)


class Calls(nn.Module):
    """One result for each row of a table of functions."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, *inputs):
        return tuple(row(*inputs) for row in self.rows)


def images():
    rows = [
        lambda x, v, i: F.max_pool2d(x, 3, 2, 1),
        lambda x, v, i: F.max_pool2d(x, (2, 3), ceil_mode=True),
        lambda x, v, i: F.max_pool2d(x, 2, dilation=2, return_indices=True)[1],
        lambda x, v, i: F.max_pool2d(x, 3, 2, 1, return_indices=True)[1],
        lambda x, v, i: F.max_pool1d(x[0], 3, 2),
        lambda x, v, i: F.max_pool3d(x.unsqueeze(0), 2),
        lambda x, v, i: F.avg_pool2d(x, 3, 2, 1),
        lambda x, v, i: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda x, v, i: F.avg_pool2d(x, 2, ceil_mode=True),
        lambda x, v, i: F.avg_pool2d(x, (3, 2), divisor_override=5),
        lambda x, v, i: F.avg_pool1d(x[0], 3, 1, 1),
        lambda x, v, i: F.avg_pool3d(x.unsqueeze(0), (1, 2, 2)),
        lambda x, v, i: F.adaptive_avg_pool2d(x, (1, 1)),
        lambda x, v, i: F.adaptive_avg_pool2d(x, (3, 4)),
        lambda x, v, i: F.adaptive_avg_pool2d(x, (None, 2)),
        lambda x, v, i: F.adaptive_avg_pool1d(x[0], 5),
        lambda x, v, i: F.adaptive_max_pool2d(x, (2, 3)),
        lambda x, v, i: F.pad(x, (1, 2, 0, 1), "reflect"),
        lambda x, v, i: F.pad(x, (2, 0, 3, 1), "replicate"),
        lambda x, v, i: F.pad(x, (1, 2, 0, 1), "circular"),
        lambda x, v, i: F.pad(x, (1, -1, 0, 2), value=0.5),
        lambda x, v, i: F.interpolate(x, scale_factor=2),
        lambda x, v, i: F.interpolate(x, size=(5, 13)),
        lambda x, v, i: F.interpolate(x, scale_factor=1.7),
        lambda x, v, i: F.interpolate(x, size=(9, 5), mode="bilinear"),
        lambda x, v, i: F.interpolate(x, size=(9, 13), mode="bilinear", align_corners=True),
        lambda x, v, i: F.interpolate(x, scale_factor=0.6, mode="bilinear"),
        lambda x, v, i: F.interpolate(x[0], size=11, mode="linear"),
        lambda x, v, i: F.pixel_shuffle(x, 2),
        lambda x, v, i: F.pixel_unshuffle(x[..., :6, :8], 2),
        lambda x, v, i: F.channel_shuffle(x, 2),
        lambda x, v, i: F.batch_norm(x, v, v * v + 1, v, v),
        lambda x, v, i: F.batch_norm(x, None, None, v, v, training=True),
        lambda x, v, i: F.instance_norm(x, weight=v),
        lambda x, v, i: F.group_norm(x, 2, v, v),
        lambda x, v, i: x.unfold(3, 2, 3),
        lambda x, v, i: F.unfold(x, (2, 3), padding=1, stride=2),
        lambda x, v, i: F.fold(F.unfold(x, (2, 3)), (7, 9), (2, 3)),
        lambda x, v, i: F.adaptive_max_pool2d(x, (3, 2), return_indices=True)[1],
        lambda x, v, i: F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.2, align_corners=False),
        lambda x, v, i: F.conv2d(x, x[:, :, :2, :4], v[:2], padding="same"),
        lambda x, v, i: F.conv1d(x[:, :, 0], x[:, :, 0, :4], padding="same", dilation=3),
        lambda x, v, i: F.avg_pool2d(x.to(memory_format=torch.channels_last), 2) + v[:, None, None],
        lambda x, v, i: x.to(torch.float64, memory_format=torch.channels_last).flatten(1),
        lambda x, v, i: F.grid_sample(x, torch.tanh(x[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.2, "nearest", "border", align_corners=True),
    ]
    return rows, (torch.randn(2, 4, 7, 9), torch.randn(4), torch.randint(0, 4, (5,)))


def tables():
    table, offsets = torch.randn(10, 3), torch.tensor([0, 2, 2, 5])
    weights = torch.rand(6)
    probabilities = torch.softmax(torch.randn(6, 4), 1)
    groups = torch.randn(3, 4, 8)
    rows = [
        lambda x, i, t: F.embedding_bag(i, table, offsets, mode="sum"),
        lambda x, i, t: F.embedding_bag(i, table, offsets, mode="mean"),
        lambda x, i, t: F.embedding_bag(i, table, offsets, mode="sum", per_sample_weights=weights),
        lambda x, i, t: F.embedding_bag(i, table, offsets, mode="mean", padding_idx=2),
        lambda x, i, t: F.embedding_bag(i.view(2, 3), table, mode="mean"),
        lambda x, i, t: F.cross_entropy(x, t),
        lambda x, i, t: F.cross_entropy(x, t, ignore_index=1, reduction="sum"),
        lambda x, i, t: F.nll_loss(F.log_softmax(x, 1), t, reduction="none"),
        lambda x, i, t: F.cross_entropy(x, probabilities),
        lambda x, i, t: F.mse_loss(x, x * 2),
        lambda x, i, t: F.l1_loss(x, x * 2, reduction="sum"),
        lambda x, i, t: F.smooth_l1_loss(x, x * 3, beta=0.7),
        lambda x, i, t: F.huber_loss(x, x * 3, delta=0.7),
        lambda x, i, t: F.binary_cross_entropy_with_logits(x, probabilities),
        lambda x, i, t: F.kl_div(x, probabilities, reduction="batchmean"),
        lambda x, i, t: F.cosine_similarity(x, probabilities),
        lambda x, i, t: F.one_hot(t, 5),
        lambda x, i, t: torch.var_mean(x, 1),
        lambda x, i, t: torch.std(x),
        lambda x, i, t: torch.var(x, (0, 1), correction=0),
        lambda x, i, t: torch.linalg.vector_norm(x, 3, 1),
        lambda x, i, t: x.norm(dim=1),
        lambda x, i, t: torch.logsumexp(x, 1),
        lambda x, i, t: torch.cdist(x, probabilities),
        lambda x, i, t: torch.einsum("ab,cb->ac", x, probabilities),
        lambda x, i, t: torch.tensordot(x, probabilities, ([0], [0])),
        lambda x, i, t: torch.addmv(x[:, 0], x, x[0], beta=0.5, alpha=2),
        lambda x, i, t: torch.outer(x[0], x[:, 1]),
        lambda x, i, t: torch.roll(x, (1, -1), (0, 1)),
        lambda x, i, t: torch.flip(x, (0, 1)),
        lambda x, i, t: torch.rot90(x),
        lambda x, i, t: torch.tril(x, 1) + torch.triu(x, -1),
        lambda x, i, t: torch.diag_embed(x, 1),
        lambda x, i, t: torch.diagonal(x, 1) * 2,
        lambda x, i, t: torch.repeat_interleave(x, 2, 1),
        lambda x, i, t: torch.tensor_split(x, 4)[1],
        lambda x, i, t: torch.aminmax(x, dim=0),
        lambda x, i, t: torch.stack(torch.aminmax(x)),
        lambda x, i, t: torch.angle(i),
        lambda x, i, t: F.unfold(x.reshape(1, 1, *x.shape), (2, 2), padding=2),
        lambda x, i, t: F.avg_pool2d(x.reshape(1, 1, *x.shape), 900, ceil_mode=True),
        lambda x, i, t: F.max_pool2d(x.reshape(1, 1, *x.shape), (17, 1), (17, 1), ceil_mode=True),
        lambda x, i, t: torch.meshgrid(x[0], x[:, 0], indexing="ij")[1] + 1,
        lambda x, i, t: torch.movedim(x, 0, 1) + 0,
        lambda x, i, t: torch.diff(x, dim=1, prepend=x[:, :1]),
        lambda x, i, t: torch.take(x, t),
        lambda x, i, t: torch.take_along_dim(x, t.unsqueeze(1), 1),
        lambda x, i, t: torch.median(x, 1)[0],
        lambda x, i, t: torch.kthvalue(x, 3, 0)[1],
        lambda x, i, t: torch.linalg.cross(x[:, :3], x[:, 1:]),
        lambda x, i, t: torch.kron(x[:2], x[:, :2]),
        lambda x, i, t: x.masked_scatter(x > 0, x.abs() * 2),
        lambda x, i, t: torch.isin(t, t[:2]),
        lambda x, i, t: torch.searchsorted(torch.tensor([0.0, 0.5, 1.0]), x, right=True),
        lambda x, i, t: F.triplet_margin_loss(x, x * 2, x + 1),
        lambda x, i, t: F.cosine_embedding_loss(x, probabilities, torch.tensor([1, -1, 1, -1, 1, -1])),
        lambda x, i, t: torch.nansum(torch.where(x > 0, x, float("nan")), 1),
        lambda x, i, t: torch.eye(3, 4) + torch.linspace(0, 1, 4),
        lambda x, i, t: torch.triu_indices(3, 4, 1),
        lambda x, i, t: torch.einsum("...a,ba->...b", x.reshape(2, 3, 4), probabilities),
        lambda x, i, t: torch.einsum("...ik,...j->ij", x.reshape(2, 3, 4), x[:2]),
        lambda x, i, t: torch.einsum("b...,...b", x.reshape(2, 1, 3, 4), x.reshape(3, 4, 2)),
        lambda x, i, t: torch.einsum("...a,...a", x.reshape(2, 3, 4), x.reshape(2, 3, 4)[:, :1]),
        lambda x, i, t: torch.einsum("aba->ba", x[:4].reshape(2, 4, 2)),
        lambda x, i, t: torch.einsum("aa", x[:4]),
        lambda x, i, t: torch.linalg.vander(x[0, 0], N=2),
        lambda x, i, t: torch._weight_norm(x, x[:, :1].abs(), 0),
        lambda x, i, t: torch._weight_norm(x.reshape(2, 3, 4), groups[0, 0, :4].abs().reshape(1, 1, 4), 2),
        lambda x, i, t: torch._weight_norm(x, x[0, 0], -1),
        lambda x, i, t: torch.ops.aten._weight_norm_interface(x, x[:1], 1),
        lambda x, i, t: torch.norm_except_dim(x, 2, 1),
        lambda x, i, t: torch.histc(x, 5),
        lambda x, i, t: torch.histc(x, 7, -1, 1.5),
        lambda x, i, t: torch.histc(x * 0 + 2, 3),
        lambda x, i, t: F.grouped_mm(x, groups, offs=torch.tensor([1, 1, 6], dtype=torch.int32)),
        lambda x, i, t: F.grouped_mm(x, groups.mT.contiguous().mT, offs=torch.tensor([0, 4, 6], dtype=torch.int32)),
        lambda x, i, t: F.grouped_mm(x.reshape(3, 2, 4), groups),
    ]
    return rows, (torch.randn(6, 4), torch.randint(0, 10, (6,)), torch.randint(0, 4, (6,)))


def elements():
    names = "sinh cosh asinh atanh frac erfc log10 sgn signbit deg2rad rad2deg isposinf isneginf nan_to_num".split()
    rows = [lambda x, y, n=name: getattr(torch, n)(x * 0.9) for name in names]
    rows += [
        lambda x, y: torch.acosh(x.abs() + 1.1),
        lambda x, y: F.glu(x),
        lambda x, y: F.celu(x, 1.3),
        lambda x, y: F.selu(x),
        lambda x, y: F.prelu(x, torch.tensor([0.3])),
        lambda x, y: F.logsigmoid(x),
        lambda x, y: F.softshrink(x, 0.3),
        lambda x, y: F.hardshrink(x, 0.3),
        lambda x, y: F.threshold(x, 0.1, 2.0),
        lambda x, y: torch.isclose(x, y, 0.5),
        lambda x, y: torch.lerp(x, y, 0.3),
        lambda x, y: torch.lerp(x, y, y.abs()),
        lambda x, y: torch.addcdiv(x, y, y.abs() + 1, value=0.5),
        lambda x, y: torch.logaddexp(x, y),
        lambda x, y: torch.xlogy(x, y.abs()),
        lambda x, y: torch.logit(torch.sigmoid(x), 1e-4),
        lambda x, y: torch.copysign(x, y),
        lambda x, y: torch.heaviside(torch.trunc(x), y),
        lambda x, y: torch.fmax(x, torch.where(y > 0, y, float("nan"))),
        lambda x, y: torch.fmin(x, torch.where(y > 0, y, float("nan"))),
        lambda x, y: torch.max(x, y) + torch.min(x, y),
        lambda x, y: x.masked_fill(y > 0, torch.tensor(3.0)),
        lambda x, y: (x > 0) & (y > 0) | (x < y),
    ]
    return rows, (torch.randn(5, 6), torch.randn(5, 6))


def recurrent():
    lstm, gru, rnn = nn.LSTM(3, 4, 2, bidirectional=True), nn.GRU(3, 4, batch_first=True), nn.RNN(3, 4, nonlinearity="relu")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([lstm, gru, rnn])

        def forward(self, x):
            (a, (h, c)), (b, g), (d, r) = (layer(x) for layer in self.layers)
            return a, h, c, b, g, d, r

    return Model(), (torch.randn(2, 5, 3),)


def complexes():
    """Numbers of two parts between real tensors: turned pairs, and transforms."""
    turns = torch.polar(torch.ones(7, 3), torch.outer(torch.arange(7.0), torch.tensor([1.0, 0.3, 0.1])))
    strided = torch.view_as_complex(torch.randn(6, 5, 2))[1::2].t()
    pair = lambda x: torch.view_as_complex(x.reshape(2, 7, 3, 2))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("turns", turns)
            self.register_buffer("strided", strided)

        def forward(self, x):
            z = pair(x)
            turned = z * self.turns[None, :7]
            angles = torch.polar(x[0, 0, :3].abs(), x[0, 1, :3])
            parts = torch.cat([z, turned.conj()], -1).transpose(1, 2).unsqueeze(0)
            return (
                torch.view_as_real(turned).flatten(2), torch.view_as_real(z * angles), torch.view_as_real(z / (self.turns + 2) - 1.5 * z), parts.abs(), parts[..., 1:].real, parts.imag.sum(-1),
                torch.view_as_real(self.strided * 2), (z.permute(2, 0, 1).reshape(3, -1).sum(1)).angle(), torch.view_as_real(torch.complex(x, x * 2)[0, :2].expand(3, 2, 6)),
                torch.fft.fft(x).imag, torch.fft.fft2(x).real, torch.fft.ifft(z, dim=1, norm="ortho").abs(), torch.fft.rfft(x, dim=1).real, torch.fft.irfft(torch.fft.rfft(x), n=6),
                torch.fft.irfft(z, n=5, dim=1), torch.fft.rfft(x, n=9, norm="forward").imag, torch.fft.fftn(torch.fft.fft(x, dim=-1), dim=(0, 1)).real, torch.fft.irfft2(torch.fft.rfft2(x), s=(7, 6)),
                torch.view_as_real(z @ z.transpose(1, 2)), torch.stack([z, z.exp()]).real.mean())

    return Model(), (torch.randn(2, 7, 6),)


def integers():
    """What decompositions leave of convolutions of integers, and of conjugates."""
    image = lambda x: (x * 3).to(torch.int64).view(2, 4, 6, 5)
    kernel = torch.randint(-4, 5, (6, 4, 3, 3))
    rows = [
        lambda x: F.conv2d(image(x), kernel, stride=2, padding=1),
        lambda x: F.conv2d(image(x), kernel[:, :2], torch.arange(6), padding="same", groups=2),
        lambda x: F.conv2d(image(x)[0], kernel, torch.arange(6)),
        lambda x: F.conv_transpose2d(image(x), kernel.transpose(0, 1).contiguous(), stride=(2, 1), padding=1, output_padding=(1, 0)),
        lambda x: F.conv_transpose2d(image(x), kernel[:4, :3], dilation=2, groups=2),
        lambda x: F.conv1d(image(x)[..., 0], kernel[..., 0], dilation=2),
        lambda x: torch.fft.ihfft(x).real + torch.fft.ihfft(x).imag,
        lambda x: torch.view_as_real(torch.fft.ihfft(x, n=9, norm="ortho").resolve_conj()).sum(-1),
        lambda x: torch.view_as_complex(x.view(4, 30, 2)).conj().imag * 2,
    ]
    return rows, (torch.randn(8, 30),)


# Each in one dialect, to save time; with names on the command line in both.
CHECKED = {"images": "core", "tables": "training", "elements": "core", "recurrent": "training", "complexes": "core", "integers": "core"}
SUITES = {"images": images, "tables": tables, "elements": elements, "recurrent": recurrent, "complexes": complexes, "integers": integers}


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for part in value for t in flat(part)]


def check_suite(folder, name, dialects):
    torch.manual_seed(3)
    rows, inputs = SUITES[name]()
    model = (rows if isinstance(rows, nn.Module) else Calls(rows)).eval()
    with torch.no_grad():
        expected = flat(model(*inputs))
    program = export(model, inputs)
    for dialect in dialects:
        archive, package = folder / f"{name}.pt2", folder / f"{name}.plc"
        save(program if dialect == "training" else program.run_decompositions(), archive)
        pellucid("compile", archive, "-o", package, "--target", "cpu:x86-64-v3")
        for i, (got, value) in enumerate(zip(run_package(folder, package, inputs, len(expected)), expected, strict=True)):
            value = value.numpy()
            assert got.dtype == value.dtype and got.shape == value.shape, f"{name} {dialect} {i}: {got.dtype}{got.shape}, not {value.dtype}{value.shape}"
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=2e-6, err_msg=f"{name}, {dialect}, row {i}")
    print(f"{name}: {len(expected)} results")


class Sizes(nn.Module):
    """Guards of multiples in other words, of max, with `or`; floats in the expressions of sizes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(64.0))

    def forward(self, x):
        n = x.shape[0]
        down = torch.arange(n, -n, -1.0, dtype=torch.int64)
        return x.reshape(-1, 4, x.shape[1]).sum(1), self.table[max(0, 64 - n) :] + x[:, 0], down, torch.arange(0, n, 2.0)


def check_sizes(folder):
    model, inputs = Sizes(), [torch.randn(n, 3) for n in (16, 20)]
    save(export(model, (inputs[0],), dynamic_shapes=({0: Dim.AUTO},)), folder / "sizes.pt2")
    pellucid("compile", folder / "sizes.pt2", "-o", folder / "sizes.plc", "--target", "cpu:x86-64-v3")
    for x in inputs:
        for got, value in zip(run_package(folder, folder / "sizes.plc", [x], 4), model(x), strict=True):
            assert got.dtype == value.numpy().dtype, f"{got.dtype} for {value.dtype}"
            np.testing.assert_allclose(got, value.numpy(), rtol=1e-6)
    print("sizes in other words")


class Parts(nn.Module):
    """Parts whose sizes values decide, which are as long together as what they are of; a condition that a tensor holds."""

    def forward(self, x, counts):
        sizes = counts.tolist()
        for size in sizes:
            torch._check(size >= 0)
        torch._check((counts < 100).all().item(), lambda: "too many")
        parts = [part * (i + 1) for i, part in enumerate(x.split(sizes))]
        return torch.cat(parts) + x, parts[1].sum(0)


def check_parts(folder):
    model, x = Parts(), torch.randn(9, 2)
    save(export(model, (x, torch.tensor([2, 3, 4]))), folder / "parts.pt2")
    pellucid("compile", folder / "parts.pt2", "-o", folder / "parts.plc", "--target", "cpu:x86-64-v3")
    for counts in ([2, 3, 4], [0, 9, 0], [8, 0, 1]):
        counts = torch.tensor(counts)
        for got, value in zip(run_package(folder, folder / "parts.plc", [x, counts], 2), model(x, counts), strict=True):
            np.testing.assert_allclose(got, value.numpy(), rtol=1e-6)
    for counts, words in (([2, 3, 5], "u0 + u1 + u2"), ([100, 0, -91], "")):
        np.save(folder / "counts.npy", np.array(counts))
        done = subprocess.run([sys.argv[1], "run", folder / "parts.plc", "--input", f"x=@{folder}/x.npy", "--input", f"counts=@{folder}/counts.npy"], capture_output=True, text=True)
        assert done.returncode and words in done.stderr, done.stderr
    print("parts that values decide")


class Padded(nn.Module):
    """Guards of rounded sizes: that the padded width is one of several windows, that no part is a single row; and a choice."""

    def forward(self, x, y):
        windows = F.pad(x, (0, (8 - x.shape[1] % 8) % 8)).view(x.shape[0], -1, 8)
        size = torch.sym_ite(y.shape[0] > 4, y.shape[0] * 2, y.shape[0] + 1)
        return windows.sum(-1), y[1::2].sum() + y.shape[0] // 2, torch.roll(y, y.shape[0] // 2, 0), torch.zeros(size) + y.sum(), torch.stack(torch.chunk(y, 3, 0))


def check_guards(folder):
    """An archive is for all sizes that its guards allow, and for no others."""
    model = Padded()
    save(export(model, (torch.randn(2, 13), torch.randn(6, 2)), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO})), folder / "guards.pt2")
    said = subprocess.run([sys.argv[1], "compile", folder / "guards.pt2", "-o", folder / "guards.plc", "--target", "cpu:x86-64-v3"], capture_output=True, text=True)
    assert said.returncode == 0 and "the program is for" not in said.stderr, said.stderr
    for width, rows in ((13, 6), (16, 9), (9, 15), (1001, 30), (24, 300)):
        values = [torch.randn(3, width), torch.randn(rows, 2)]
        for got, value in zip(run_package(folder, folder / "guards.plc", values, 5), model(*values), strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)
    # One window and three single rows: what PyTorch's module refuses, too.
    for width, rows, words in ((8, 6, "at least 9"), (13, 3, ""), (13, 7, "multiple of 3")):
        values = [torch.randn(3, width), torch.randn(rows, 2)]
        try:
            run_package(folder, folder / "guards.plc", values, 5)
            raise SystemExit(f"{width} and {rows} are beyond the guards")
        except AssertionError as refusal:
            assert words in str(refusal), refusal
    print("guards of rounded sizes")


class Outside(nn.Module):
    """Complex at both ends, and the casts of autocast."""

    def forward(self, z, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.softmax(x @ x.mT, -1) @ x
        return z * torch.polar(torch.ones(3), x[0, :3]), y, torch.fft.fft(x)


def check_outside(folder):
    model, inputs = Outside(), (torch.randn(4, 3, dtype=torch.complex64), torch.randn(4, 6))
    save(export(model, inputs), folder / "outside.pt2")
    pellucid("compile", folder / "outside.pt2", "-o", folder / "outside.plc", "--target", "cpu:x86-64-v3")
    pairs, product, waves = run_package(folder, folder / "outside.plc", [torch.view_as_real(inputs[0]), inputs[1]], 3)
    want = model(*inputs)
    np.testing.assert_allclose(pairs, torch.view_as_real(want[0]).numpy(), rtol=1e-5, atol=1e-6)
    assert product.dtype == np.uint16, "bf16 leaves autocast"
    np.testing.assert_allclose((product.astype(np.uint32) << 16).view(np.float32), want[1].float().numpy(), rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(waves, torch.view_as_real(want[2]).numpy(), rtol=1e-4, atol=1e-5)
    print("complex at both ends, casts of autocast")


class Chosen(nn.Module):
    """Two of the three results of _unique2 are read by nobody."""

    def forward(self, x):
        return torch.unique(x).sum(), x * 2


def check_dead(folder):
    """What an archive says of results that nobody reads is of something else in some versions, and is not asked."""
    x = torch.tensor([3, 1, 3, 2])
    save(export(Chosen(), (x,)), folder / "chosen.pt2")
    changed = 0
    with zipfile.ZipFile(folder / "chosen.pt2") as whole, zipfile.ZipFile(folder / "dead.pt2", "w", zipfile.ZIP_STORED) as dead:
        for info in whole.infolist():
            content = whole.read(info)
            if info.filename.endswith("models/model.json"):
                for name in (b"getitem_1", b"getitem_2"):
                    content = content.replace(b'"%s"' % name, b'"_unique2_unused_%s"' % name[-1:])
                graph = json.loads(content)
                tensors = graph["graph_module"]["graph"]["tensor_values"]
                for name in [name for name in tensors if "_unused_" in name]:
                    tensors[name] = {**tensors[name], "dtype": 7, "sizes": [{"as_int": 0}], "strides": [{"as_int": 1}]}
                    changed += 1
                content = json.dumps(graph).encode()
            dead.writestr(info.filename, content)
    assert changed == 2, changed
    pellucid("compile", folder / "dead.pt2", "-o", folder / "dead.plc", "--target", "cpu:x86-64-v3")
    total, twice = run_package(folder, folder / "dead.plc", [x], 2)
    assert int(total) == 6 and twice.tolist() == [6, 2, 6, 4], (total, twice)
    print("results that nobody reads")


def check_training(folder):
    """Batch norm in training: the running statistics are the package's state, and change as PyTorch's do."""
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).train()
    inputs = [torch.randn(5, 4) for _ in range(3)]
    program = export(model, (inputs[0],))
    model[1].reset_running_stats()
    save(program.run_decompositions(), folder / "training.pt2")
    state = folder / "state.safetensors"
    pellucid("compile", folder / "training.pt2", "-o", folder / "training.plc", "--target", "cpu:x86-64-v3")
    for x in inputs:
        np.save(folder / "x.npy", x.numpy())
        pellucid("run", folder / "training.plc", "--input", f"input=@{folder / 'x.npy'}", "--state", state, "--output", folder / "y.npy")
        np.testing.assert_allclose(np.load(folder / "y.npy"), model(x).detach().numpy(), rtol=1e-4, atol=1e-5)
        kept = read_safetensors(state)
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            np.testing.assert_allclose(kept[f"1.{name}"], getattr(model[1], name).numpy(), rtol=1e-5, atol=1e-6)
    print("batch norm in training keeps its statistics")


SOURCE = '''
import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(50, 24), nn.LayerNorm(24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 50, bias=False)
        self.out.weight = self.tokens.weight

    def forward(self, ids):
        x = self.norm(self.tokens(ids))
        q, k, v = self.qkv(x).view(ids.shape[0], ids.shape[1], 3, 2, 12).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        y[:, 0].mul_(0.5)
        return F.log_softmax(self.out(F.gelu(y) + x), -1), F.cross_entropy(self.out(x).flatten(0, 1), ids.flatten())
'''


def check_source(folder):
    """The file and its archive are one program: the same bits come out."""
    path = folder / "same_model.py"
    path.write_text(SOURCE)
    scope = {}
    exec(SOURCE, scope)
    torch.manual_seed(1)
    model = scope["Model"]().eval()
    np.savez(folder / "state.npz", **{name: value.detach().numpy() for name, value in model.state_dict().items()})
    ids = torch.randint(0, 50, (2, 7))
    save(export(model, (ids,), dynamic_shapes=({0: Dim("batch", min=1, max=8), 1: Dim("length", min=2, max=16)},)), folder / "same.pt2")
    pellucid("compile", folder / "same.pt2", "-o", folder / "archive.plc", "--target", "cpu:x86-64-v3")
    pellucid("compile", f"{path}:Model", "--input", "ids=i64[batch=2:1..8,length=7:2..16]", "--weights", folder / "state.npz", "-o", folder / "source.plc",
             "--target", "cpu:x86-64-v3")
    for shape in ((2, 7), (1, 16), (8, 2)):
        ids = torch.randint(0, 50, shape)
        a, b = run_package(folder, folder / "archive.plc", [ids], 2), run_package(folder, folder / "source.plc", [ids], 2)
        for i, (one, other) in enumerate(zip(a, b)):
            assert one.tobytes() == other.tobytes(), f"result {i} at {shape}: the source and its archive differ"
        with torch.no_grad():
            np.testing.assert_allclose(a[0], model(ids)[0].numpy(), rtol=1e-4, atol=1e-5)
    print("the source and its archive agree")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name in sys.argv[2:] or SUITES:
            check_suite(folder, name, ("training", "core") if sys.argv[2:] else (CHECKED[name],))
        check_source(folder)
        check_training(folder)
        check_sizes(folder)
        check_parts(folder)
        check_guards(folder)
        check_outside(folder)
        check_dead(folder)


if __name__ == "__main__":
    main()
