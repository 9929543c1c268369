#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose image sizes, lengths and batches differ from call to call: the archive keeps the whole range that PyTorch gives it, source and
archive give the same bits, and both give what PyTorch gives, at five sizes.

    dynamic_sizes_test.py PROGRAM [--all | NAME…]        nothing: every third model, to save time

Exit code 77 where PyTorch is missing.
"""
import json
import pathlib
import subprocess
import sys

try:
    import numpy as np
    import torch
    from torch.export import Dim, export, save
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tool import check_each  # noqa: E402

torch.set_num_threads(1)

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n\n"

IMAGES = ["x=f32[b=2:1..8,3,h=32:16..600,w=40:16..600]"]
IMAGE_SIZES = [{"b": 2, "h": 32, "w": 32}, {"b": 1, "h": 17, "w": 33}, {"b": 3, "h": 131, "w": 64}, {"b": 2, "h": 16, "w": 201}, {"b": 5, "h": 56, "w": 97}]
ROWS = ["x=f32[b=2:1..8,l=7:2..300,12]"]
ROW_SIZES = [{"b": 2, "l": 7}, {"b": 1, "l": 2}, {"b": 3, "l": 31}, {"b": 5, "l": 64}, {"b": 2, "l": 101}]
LINES = ["x=f32[b=2:1..8,6,l=25:16..400]"]
LINE_SIZES = [{"b": 2, "l": 25}, {"b": 1, "l": 16}, {"b": 3, "l": 31}, {"b": 5, "l": 64}, {"b": 2, "l": 399}]

# Of each model: its inputs, sizes, its constructor's lines and what forward gives.
MODELS = {
    "resnet": (IMAGES, IMAGE_SIZES, """
        self.a, self.n, self.p = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.MaxPool2d(3, 2, 1)
        self.b, self.c, self.d = nn.Conv2d(8, 12, 3, 2, 1), nn.Conv2d(12, 12, 3, 1, 1), nn.Conv2d(8, 12, 1, 2)
        self.q, self.l = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(12, 5)""", """
        x = self.p(F.relu(self.n(self.a(x))))
        return self.l(torch.flatten(self.q(F.relu(self.c(F.relu(self.b(x))) + self.d(x))), 1))"""),
    "pooled to seven": (IMAGES, IMAGE_SIZES, """
        self.a, self.q, self.l = nn.Conv2d(3, 4, 3, 2), nn.AdaptiveAvgPool2d((7, 3)), nn.Linear(84, 5)""", """
        return self.l(torch.flatten(self.q(self.a(x)), 1))"""),
    "largest of windows": (IMAGES, IMAGE_SIZES, "", """
        return F.adaptive_max_pool2d(x, (3, 5), return_indices=True), F.adaptive_max_pool2d(x[:, :, 1:], (3, 4)), F.adaptive_avg_pool2d(x, (5, 2))"""),
    "strided": (IMAGES, IMAGE_SIZES, """
        self.a, self.b, self.c = nn.Conv2d(3, 4, 3, 2), nn.Conv2d(4, 4, 5, 3, 2), nn.ConvTranspose2d(4, 2, 3, 2, 1, output_padding=1)""", """
        x = F.avg_pool2d(F.max_pool2d(self.b(self.a(x)), 2, ceil_mode=True), 2, 1, 1, count_include_pad=False)
        return self.c(x), x.mean((2, 3))"""),
    "upsampled": (IMAGES, IMAGE_SIZES, """
        self.a = nn.Conv2d(3, 4, 3, 2, 1)""", """
        y = self.a(x)
        z = F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)
        return torch.cat([x, z], 1), F.interpolate(y, scale_factor=2.0), F.interpolate(x, size=(9, 11), mode="bicubic"), F.interpolate(y, size=x.shape[-2:])"""),
    "antialiased": (IMAGES, IMAGE_SIZES, "", """
        y = F.interpolate(x, size=(24, 20), mode="bilinear", antialias=True)
        return y, F.interpolate(y, size=x.shape[-2:], mode="bicubic", antialias=True), F.interpolate(x, scale_factor=0.4, mode="bilinear", antialias=True)"""),
    "corners": (IMAGES, IMAGE_SIZES, "", """
        h, w = x.shape[2] // 16, x.shape[3] // 16
        return [F.interpolate(x, size=(h, w), mode=mode, align_corners=True) for mode in ("bilinear", "bicubic")], F.interpolate(x[..., 0], size=w, mode="linear", align_corners=True)"""),
    "pyramid": (IMAGES, IMAGE_SIZES, """
        self.a = nn.ModuleList([nn.Conv2d(3, 4, 1) for _ in range(4)])""", """
        parts = [F.interpolate(a(F.adaptive_avg_pool2d(x, s)), size=x.shape[2:], mode="bilinear") for a, s in zip(self.a, (1, 2, 3, 6))]
        return torch.cat([x] + parts, 1)"""),
    "fused": (IMAGES, IMAGE_SIZES, """
        self.a, self.n = nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(2, 8)""", """
        y = self.n(self.a(x))
        return y, F.grid_sample(x, torch.tanh(y[:, :2, :3, :4]).permute(0, 2, 3, 1) * 1.4, "bilinear", "reflection", False), F.interpolate(y, scale_factor=2, mode="nearest-exact")"""),
    "patches": (["x=f32[b=2:1..8,3,8*h:2..40,8*w:2..40]"], [{"b": 2, "h": 4, "w": 5}, {"b": 4, "h": 2, "w": 2}, {"b": 3, "h": 9, "w": 3}, {"b": 2, "h": 17, "w": 4}, {"b": 2, "h": 3, "w": 13}], """
        self.a, self.n, self.t = nn.Conv2d(3, 16, 8, 8), nn.LayerNorm(16), nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)""", """
        y = self.a(x)
        t = self.t(self.n(y.flatten(2).transpose(1, 2)))
        return t.transpose(1, 2).reshape(y.shape), F.pixel_shuffle(y, 4)"""),
    "attention": (ROWS, ROW_SIZES, """
        self.a, self.p = nn.MultiheadAttention(12, 3, batch_first=True), nn.Embedding(512, 12)""", """
        y = x + self.p(torch.arange(x.shape[1]))
        mask = torch.triu(torch.full((x.shape[1], x.shape[1]), float("-inf")), 1)
        return self.a(y, y, y, attn_mask=mask, need_weights=False)[0], self.a(x, y, y)"""),
    "lstm": (ROWS, ROW_SIZES, """
        self.a = nn.LSTM(12, 8, 2, batch_first=True, bidirectional=True)""", """
        y, (h, c) = self.a(x)
        return y, h, c"""),
    "gru and rnn": (ROWS, ROW_SIZES, """
        self.a, self.b = nn.GRU(12, 8, batch_first=True), nn.RNN(8, 4)""", """
        y, h = self.a(x)
        return self.b(y.transpose(0, 1)), h"""),
    "projected lstm": (ROWS, ROW_SIZES, """
        self.a = nn.LSTM(12, 8, bias=False, proj_size=3)""", """
        y, (h, c) = self.a(x.transpose(0, 1))
        return y.sum(0), h, c"""),
    "running": (ROWS, ROW_SIZES, "", """
        return x.cummax(1), x.cummin(0), x.cumsum(1), x.logcumsumexp(1), x.flip(1), x.roll(1, 1), torch.diff(x, dim=1)"""),
    "halves": (ROWS, ROW_SIZES, "", """
        a, b = x.tensor_split(2, 1)
        return a.mean(1) + b.mean(1), x[:, ::2], x[:, -1], x[:, : x.shape[1] // 2].sum(1), torch.stack([c.amax(1) for c in x.tensor_split(2, 1)])"""),
    "windows of lines": (LINES, LINE_SIZES, """
        self.a = nn.Conv1d(6, 8, 4, 3, 1)""", """
        y = self.a(x)
        return F.adaptive_avg_pool1d(y, 4), F.adaptive_max_pool1d(y, 3), x.unfold(2, 5, 2).mean(-1), F.pad(y, (1, 2), mode="reflect"), F.avg_pool1d(y, 3, 2, 1)"""),
    "framed": (LINES, LINE_SIZES, """
        self.register_buffer("w", torch.hann_window(16))""", """
        n = x.shape[-1]
        y = F.pad(x, (0, (8 - n % 8) % 8))
        around = [F.pad(x, ((8 - n % 8) % 8, 0), mode=mode) for mode in ("reflect", "replicate", "circular")]
        return y.unfold(-1, 8, 8).sum(2), y.reshape(x.shape[0], 6, -1, 8).amax(-1), around"""),
}


def pellucid(*words):
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done


def dims_of(spec):
    """`x=f32[b=2:1..8,3,8*h:2..40]`: of each dim a number, or a symbol's name, factor and range."""
    name, _, rest = spec.partition("=f32[")
    dims = []
    for text in rest[:-1].split(","):
        if text.isdigit():
            dims.append(int(text))
            continue
        factor, _, symbol = text.rpartition("*")
        symbol, _, bounds = symbol.partition(":")
        low, high = bounds.split("..")
        dims.append((symbol.partition("=")[0], int(factor or 1), int(low), int(high)))
    return name, dims


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for part in value for t in flat(part)]


def results(folder, package, values, count):
    names = [i["name"] for i in json.loads(pellucid("inspect", package, "--json").stdout)["inputs"]]
    words = ["run", package]
    for name, value in zip(names, values, strict=True):
        np.save(folder / f"{name}.npy", value.numpy())
        words += ["--input", f"{name}=@{folder / name}.npy"]
    for i in range(count):
        words += ["--output", folder / f"out{i}.npy"]
    pellucid(*words)
    return [np.load(folder / f"out{i}.npy") for i in range(count)]


def check(folder, name):
    specs, sizes, made, forward = MODELS[name]
    inputs = [dims_of(spec) for spec in specs]
    text = HEAD + f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__(){made}\n\n    def forward(self, {', '.join(n for n, _ in inputs)}):{forward}\n"
    (folder / "model.py").write_text(text)
    scope = {}
    exec(text, scope)
    torch.manual_seed(3)
    model = scope["Model"]().eval()
    np.savez(folder / "state.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    symbols, shapes = {}, []
    for _, dims in inputs:
        shape = {}
        for d, dim in enumerate(dims):
            if isinstance(dim, tuple):
                symbol, factor, low, high = dim
                symbols.setdefault(symbol, Dim(symbol, min=low, max=high))
                shape[d] = symbols[symbol] if factor == 1 else factor * symbols[symbol]
        shapes.append(shape)

    def values(size):
        return [torch.randn([dim if isinstance(dim, int) else dim[1] * size[dim[0]] for dim in dims]) for _, dims in inputs]

    try:
        with torch.no_grad():
            save(export(model, tuple(values(sizes[0])), dynamic_shapes=tuple(shapes)), folder / "model.pt2")
        ways = ["archive", "source"]
    except torch._dynamo.exc.UserError:
        ways = ["source"]  # PyTorch fixes such a size, or would have more of it known
    weights = ["--weights", folder / "state.npz"] if model.state_dict() else []
    # What a package is for stands in its warnings: none may narrow a size.
    made = {"archive": [folder / "model.pt2"], "source": [f"{folder / 'model.py'}:Model", *[w for s in specs for w in ("--input", s)], *weights]}
    for way in ways:
        said = pellucid("compile", *made[way], "-o", folder / f"{way}.plc", "--target", "cpu:x86-64-v3").stderr
        assert "the program is for" not in said, f"{name}: {said}"
    for size in sizes:
        given = values(size)
        with torch.no_grad():
            expected = flat(model(*given))
        found = [results(folder, folder / f"{way}.plc", given, len(expected)) for way in ways]
        for i, want in enumerate(expected):
            np.testing.assert_allclose(found[0][i], want.numpy(), rtol=2e-4, atol=3e-5, err_msg=f"{name}, result {i} at {size}")
            for other in found[1:]:
                assert found[0][i].dtype == other[i].dtype and found[0][i].tobytes() == other[i].tobytes(), f"{name} at {size}: result {i} of the source and its archive differ"
    print(f"ok      {name} ({' and '.join(ways)})", flush=True)


class Odd(torch.nn.Module):
    """What PyTorch suggests where a size must be odd: a multiple of another number, less one."""

    def forward(self, x):
        n = x.shape[1]
        return x[:, : n // 2] + x[:, n // 2 + 1 :], x.reshape(-1)


def check_odd(folder):
    half = Dim("half", min=2, max=50)
    save(export(Odd(), (torch.randn(2, 7, 3),), dynamic_shapes=({0: Dim("b", max=9), 1: 2 * half - 1},)), folder / "model.pt2")
    pellucid("compile", folder / "model.pt2", "-o", folder / "odd.plc", "--target", "cpu:x86-64-v3")
    for b, n in ((2, 7), (1, 5), (9, 99), (4, 5), (3, 51)):
        x = torch.randn(b, n, 3)
        for found, want in zip(results(folder, folder / "odd.plc", [x], 2), Odd()(x), strict=True):
            np.testing.assert_array_equal(found, want.numpy())
    for n, why in ((8, "must be 7"), (101, "must be in 5..99"), (1, "must be in 5..99")):
        np.save(folder / "x.npy", np.zeros((2, n, 3), np.float32))
        done = subprocess.run([sys.argv[1], "run", folder / "odd.plc", "--input", f"x=@{folder / 'x.npy'}"], capture_output=True, text=True)
        assert done.returncode == 1 and why in done.stderr, f"a size of {n}: {done.stderr}"
    print("ok      an odd size", flush=True)


class Grids(torch.nn.Module):
    """Sums of what comes down and goes up again: sizes that fit are multiples of eight, and a few beside them."""

    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Conv2d(3, 3, 3, 2, 1), torch.nn.Conv2d(3, 3, 3, 4, 1)

    def forward(self, x):
        y = torch.relu(self.a(x))
        return y + torch.nn.functional.interpolate(self.b(y), scale_factor=4.0)


def check_grids(folder):
    model = Grids().eval()
    save(export(model, (torch.randn(1, 3, 32, 64),), dynamic_shapes=({2: Dim.AUTO, 3: Dim.AUTO},)), folder / "model.pt2")
    pellucid("compile", folder / "model.pt2", "-o", folder / "grids.plc", "--target", "cpu:x86-64-v3")
    for h, w in ((32, 64), (64, 32), (96, 200), (16, 104), (512, 24)):
        x = torch.randn(1, 3, h, w)
        with torch.no_grad():
            np.testing.assert_allclose(results(folder, folder / "grids.plc", [x], 1)[0], model(x).numpy(), rtol=1e-4, atol=1e-5)
    # The same from its source, where a branch asks.
    (folder / "even.py").write_text("def f(x):\n    return x.sum() if x.shape[0] % 4 == 0 else x.mean()\n")
    said = pellucid("compile", f"{folder / 'even.py'}:f", "--input", "x=f32[n=12:2..400]", "-o", folder / "even.plc", "--target", "cpu:x86-64-v3").stderr
    assert "multiples of 4" in said, said
    for n in (4, 396):
        assert results(folder, folder / "even.plc", [torch.ones(n)], 1)[0] == n
    print("ok      sizes on a grid", flush=True)


if __name__ == "__main__":
    chosen = list(MODELS)[::3] if len(sys.argv) < 3 else list(MODELS) if sys.argv[2] == "--all" else sys.argv[2:]
    check_each([*chosen, check_odd, check_grids], lambda folder, name: name(folder) if callable(name) else check(folder, name))
