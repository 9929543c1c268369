#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model's Python source and the archive that PyTorch makes of it give packages with the same numbers, bit for bit.

    same_bits_test.py PROGRAM [NAME…]

Exit code 77 where PyTorch is missing.
"""
import pathlib
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch.export import Dim, export, save
except ImportError as missing:
    print(f"skipped: this Python has no PyTorch ({missing})")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tool import pellucid, run_package  # noqa: E402

torch.set_num_threads(1)

SOURCE = '''
import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    """Tied embeddings, causal attention, a write through a view, a loss."""

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


class Images(nn.Module):
    """Convolutions, batch norm, pools, a residual."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8)
        self.second, self.group = nn.Conv2d(8, 8, 3, padding=1, groups=2), nn.GroupNorm(2, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)), inplace=True)
        x = F.max_pool2d(x, 2) + F.avg_pool2d(self.group(self.second(x)), 2)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Sums(nn.Module):
    """Reductions, orders, indices, selections."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(30, dtype=torch.float32).view(10, 3))

    def forward(self, x, i):
        values, places = torch.topk(x, 3, dim=1)
        rows = self.table[i]
        y = x.clone()
        y[y > 1] = 0.25
        y[:, 1:3] += rows[:, :2]
        return values.cumsum(1), places, torch.where(x > 0, x, x.exp()).std(1), torch.einsum("ab,cb->ac", x, y), x.softmax(0).logsumexp(1)


class Norms(nn.Module):
    """Halves and doubles, numbers of sizes, gated products."""

    def __init__(self):
        super().__init__()
        self.norm, self.gate = nn.RMSNorm(16), nn.Linear(16, 32, bias=False)

    def forward(self, x):
        a, b = self.gate(self.norm(x)).chunk(2, -1)
        y = F.silu(a) * b
        z = torch.cat((y, x), 0)
        return z.mean(-1, keepdim=True) * x.shape[0], (y.to(torch.float16) * 2).sum(1), y.double().var(0)


class Heads(nn.Module):
    """torch.nn.MultiheadAttention with a mask, a feed-forward block, dropout that does nothing."""

    def __init__(self):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(16, 4, batch_first=True), nn.LayerNorm(16)
        self.up, self.down, self.dropout = nn.Linear(16, 40), nn.Linear(40, 16), nn.Dropout(0.1)

    def forward(self, x, mask):
        y = self.norm(x + self.attention(x, x, x, attn_mask=mask, need_weights=False)[0])
        return self.norm(y + self.dropout(self.down(F.relu(self.up(y)))))


class Draws(nn.Module):
    """Random numbers of every kind: one call site each, in the order of the program."""

    def forward(self, x):
        made = torch.empty(9)
        return (
            torch.rand(3, 5), torch.randn_like(x), torch.randint(-3, 10, (4,)), torch.randperm(7), F.dropout(x, 0.25), torch.empty(6).normal_(2.0, 0.5),
            torch.empty(5, dtype=torch.float64).uniform_(-1, 1), torch.bernoulli(torch.full((8,), 0.3)), torch.empty(4).exponential_(2.0), torch.rand_like(x),
            torch.multinomial(torch.arange(1.0, 7.0), 3), made.bernoulli_(0.5), torch.empty(9).random_(5), torch.normal(0.0, 1.0, (3,)),
            F.dropout2d(torch.ones(2, 3, 4, 4), 0.5), F.alpha_dropout(x, 0.5, True), F.rrelu(x, training=True), F.gumbel_softmax(x),
            F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5),
        )
'''

B, L = {"name": "b", "min": 2, "max": 16}, {"name": "l", "min": 2, "max": 16}


def floats(*shape):
    return lambda sizes: torch.randn(*(sizes.get(s, s) for s in shape))


def whole(limit, *shape):
    return lambda sizes: torch.randint(0, limit, tuple(sizes.get(s, s) for s in shape))


# Inputs: (--input, values by the sizes of b and l, dynamic dims); then the number of results.
MODELS = {
    "Decoder": ([("ids=i64[b=3:2..16,l=5:2..16]", whole(50, "b", "l"), {0: "b", 1: "l"})], 2),
    "Images": ([("x=f32[b=3:2..16,3,32,32]", floats("b", 3, 32, 32), {0: "b"})], 1),
    "Sums": ([("x=f32[b=3:2..16,7]", floats("b", 7), {0: "b"}), ("i=i64[b]", whole(10, "b"), {0: "b"})], 5),
    "Norms": ([("x=f32[b=3:2..16,16]", floats("b", 16), {0: "b"})], 3),
    "Heads": ([("x=f32[b=3:2..16,6,16]", floats("b", 6, 16), {0: "b"}), ("mask=f32[6,6]", floats(6, 6), {})], 1),
}


def check(folder, name):
    inputs, count = MODELS[name]
    scope = {}
    exec(SOURCE, scope)
    torch.manual_seed(1)
    model = scope[name]().eval()
    for parameter in model.parameters():
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    np.savez(folder / "state.npz", **{key: value.detach().numpy() for key, value in model.state_dict().items()})
    dims = {"b": Dim("b", min=2, max=16), "l": Dim("l", min=2, max=16)}
    example = tuple(make({"b": 3, "l": 5}) for _, make, _ in inputs)
    save(export(model, example, dynamic_shapes=tuple({d: dims[s] for d, s in dynamic.items()} for _, _, dynamic in inputs)), folder / "model.pt2")
    pellucid("compile", folder / "model.pt2", "-o", folder / "archive.plc", "--target", "cpu:x86-64-v3")
    pellucid("compile", f"{folder / 'models.py'}:{name}", *[w for spec, _, _ in inputs for w in ("--input", spec)], "--weights", folder / "state.npz", "-o",
             folder / "source.plc", "--target", "cpu:x86-64-v3")
    for sizes in ({"b": 3, "l": 5}, {"b": 16, "l": 2}, {"b": 2, "l": 16}):
        values = [make(sizes) for _, make, _ in inputs]
        one, other = (run_package(folder, folder / f"{which}.plc", values, count) for which in ("archive", "source"))
        with torch.no_grad():
            expected = model(*[v.clone() for v in values])
        expected = expected if isinstance(expected, tuple) else (expected,)
        for i in range(count):
            assert one[i].dtype == other[i].dtype and one[i].tobytes() == other[i].tobytes(), f"{name} at {sizes}: result {i} of the source and its archive differ"
            np.testing.assert_allclose(one[i].astype(np.float64), expected[i].double().numpy(), rtol=2e-3 if one[i].itemsize == 2 else 2e-4, atol=2e-5)
    print(f"ok      {name}", flush=True)


def check_draws(folder, count=19):
    """Both dialects of the archive, and the source: the same seed gives the same numbers."""
    scope = {}
    exec(SOURCE, scope)
    x = torch.arange(-7.0, 7.0).reshape(2, 7)
    program = export(scope["Draws"](), (x,))
    save(program, folder / "training.pt2")
    decomposed = program.run_decompositions()
    decomposed.range_constraints.clear()  # PyTorch leaves a symbol there that nothing mentions
    save(decomposed, folder / "aten.pt2")
    found = {}
    for name, words in (("source", [f"{folder / 'models.py'}:Draws", "--input", "x=f32[2,7]"]), ("training", [folder / "training.pt2"]), ("aten", [folder / "aten.pt2"])):
        pellucid("compile", *words, "-o", folder / f"{name}.plc", "--target", "cpu:x86-64-v3")
        found[name] = run_package(folder, folder / f"{name}.plc", [x], count, "--seed", 3)
    for name in ("training", "aten"):
        # In ATen's dialect attention is other products; the weights that it drops are the same.
        np.testing.assert_allclose(found[name][count - 1], found["source"][count - 1], rtol=1e-5, atol=1e-5)
        for i in range(count if name == "training" else count - 1):
            assert found[name][i].tobytes() == found["source"][i].tobytes(), f"draw {i} of the source and its archive ({name}) differ"
    print("ok      Draws", flush=True)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "models.py").write_text(SOURCE)
        for name in sys.argv[2:] or MODELS:
            check(folder, name)
        if not sys.argv[2:]:
            check_draws(folder)


main()
