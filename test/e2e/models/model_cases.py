# SPDX-License-Identifier: Apache-2.0
"""The models of check_models.py: their inputs, and what they compute, in numpy."""
import dataclasses
import math

import numpy as np

BOTH = ("non-strict", "strict")


@dataclasses.dataclass
class Case:
    file: str
    name: str
    inputs: dict  # name: type as --input takes it
    values: dict  # name: function of (random generator, batch)
    reference: object  # of the inputs and w (inputs and weights by name), all float64
    batches: tuple = (1, 7, 16, 64)
    init: str = ""
    weights: dict = dataclasses.field(default_factory=dict)
    nodes: dict = dataclasses.field(default_factory=dict)  # target ending: how many
    modes: tuple = BOTH
    root: bool = False
    tolerance: float = 6e-6

    @property
    def label(self):
        return f"{self.file.removesuffix('.py')}:{self.name}" + (f"[{self.init}]" if self.init else "")


def normal(*shape):
    return lambda rng, *batch: rng.standard_normal((*batch, *shape)).astype(np.float32)


def projection(rows, columns):
    """Weights of nn.Linear's scale, so that the scores of an attention stay near 1, where softmax is well conditioned."""
    return lambda rng: (rng.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, weight=1.0, bias=0.0, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


def gated_network(x, w):
    for i in range(2):
        p = f"blocks.{i}."
        h = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w[p + "norm.weight"]
        gate, up = np.split(h @ w[p + "up.weight"].T, 2, axis=-1)
        x = x + (silu(gate) * up) @ w[p + "down.weight"].T + w[p + "down.bias"]
    h = layer_norm(x, w["head.0.weight"], w["head.0.bias"])
    return (h @ w["head.1.weight"].T + w["head.1.bias"]) * w["scale"] + w["shift"]


GATED_WEIGHTS = {
    **{f"blocks.{i}.norm.weight": normal(48) for i in range(2)},
    **{f"blocks.{i}.up.weight": lambda rng: rng.standard_normal((160, 48)).astype(np.float32) / 7 for i in range(2)},
    **{f"blocks.{i}.down.weight": lambda rng: rng.standard_normal((48, 80)).astype(np.float32) / 9 for i in range(2)},
    **{f"blocks.{i}.down.bias": normal(48) for i in range(2)},
    "head.0.weight": normal(48), "head.0.bias": normal(48), "head.1.weight": normal(5, 48), "head.1.bias": normal(5),
    "scale": normal(1), "shift": normal(5),
}

GATED_NODES = {
    "raw": {"triton_kernel_wrapper_mutation": 2},
    "triton_op": {"gated.swiglu.default": 2, "triton_kernel_wrapper_mutation": 0},
    "custom_op": {"gated.swiglu_opaque.default": 2, "triton_kernel_wrapper_mutation": 0},
}

gated = [
    Case("gated/model.py", "Network", {"x": "f32[batch:1..128,48]"}, {"x": normal(48)}, gated_network,
         init=f"mode={mode!r}", weights=GATED_WEIGHTS, nodes=nodes, root=True, tolerance=1e-5)
    for mode, nodes in GATED_NODES.items()
]


def max_and_softmax(x, w):
    return x.max(-1), softmax(x)


def max_and_exp(x, w):
    return x.max(-1), np.exp(x - x.max(-1, keepdims=True))


two_outputs = [
    Case("two_outputs.py", name, {"x": "f32[rows:1..64,33]"}, {"x": normal(33)}, reference, nodes=nodes)
    for name, reference, nodes in [
        ("raw", max_and_exp, {"triton_kernel_wrapper_mutation": 1}),
        ("normalized", max_and_softmax, {"triton_kernel_wrapper_mutation": 1}),
        ("op", max_and_softmax, {"two.max_and_exp.default": 1}),
        ("opaque", max_and_softmax, {"two.max_and_exp_opaque.default": 1}),
    ]
]


def scaled(x, s, w):
    return x * s[:, None]


TUNED_INPUTS = {"x": "f32[m:1..64,n:1..200]", "s": "f32[m]"}


def tuned_case(name, cols):
    return Case("tuned.py", name, TUNED_INPUTS, {"x": normal(cols), "s": normal()}, scaled)


tuned = [
    *[tuned_case(name, cols) for name in ("scale", "scale_op", "scale_opaque") for cols in (70, 128)],
    *[Case("tuned.py", name, {"x": f"f32[{dims}]"}, {"x": normal(*tail)}, reference, batches=(1, 3, 32, 64))
      for name, reference in (("plus_one", lambda x, w: x + 1), ("half", lambda x, w: x / 2))
      for dims, tail in (("b:1..64,80", (80,)), ("b:1..64,c:1..90", (37,)))],
]

in_place = [
    *[Case("in_place.py", "Accumulate", {"x": "f32[b:1..64,19]", "y": "f32[b,19]"}, {"x": normal(19), "y": normal(19)},
           lambda x, y, w: ((y + 0.25 * x + x) * 2, y), init=f"mode={mode!r}")
      for mode in ("raw", "triton_op", "custom_op")],
    Case("in_place.py", "mutate_input", {"x": "f32[b:1..64,19]", "y": "f32[b,19]"}, {"x": normal(19), "y": normal(19)},
         lambda x, y, w: y + 2 * x + 1),
    Case("in_place.py", "mutate_row", {"x": "f32[b:1..64,19]", "y": "f32[b,19]"}, {"x": normal(19), "y": normal(19)},
         lambda x, y, w: y.sum(0) + 3 * x[0]),
]

row_norm = [
    Case("row_norm.py", "Norm", {"x": "f32[b:1..64,3,150]"}, {"x": normal(3, 150)},
         lambda x, w: layer_norm(x, w.get("weight", 1.0), w.get("bias", 0.0)), init="dim=150," + init, weights=weights)
    for init, weights in [
        ("mode='raw'", {"weight": normal(150), "bias": normal(150)}),
        ("mode='triton_op'", {"weight": normal(150), "bias": normal(150)}),
        ("mode='custom_op'", {"weight": normal(150), "bias": normal(150)}),
        ("mode='triton_op',bias=False", {"weight": normal(150)}),
        ("mode='custom_op',bias=False,affine=False", {}),
        ("mode='raw',bias=False,affine=False", {}),
    ]
]


def masked_attention(x, mask, w):
    batch, seq, dim = x.shape
    heads, head = 4, dim // 4
    qkv = (x @ w["qkv.weight"].T + w["qkv.bias"]).reshape(batch, seq, 3, heads, head).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(head)
    keep = np.broadcast_to(mask[:, None, None, :], scores.shape)
    e = np.where(keep, np.exp(scores - scores.max(-1, keepdims=True)), 0)
    total = e.sum(-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    y = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, seq, dim)
    return y @ w["out.weight"].T + w["out.bias"], ~keep.any(-1)[:, 0]


def token_mask(seq):
    def make(rng, batch):
        mask = rng.random((batch, seq)) < 0.6
        mask[0] = False
        return mask

    return make


def masked_softmax(x, mask, w):
    with np.errstate(invalid="ignore"):
        return softmax(np.where(mask, x, -np.inf))


masked = [
    Case("masked_softmax.py", "Attention", {"x": "f32[b:1..32,9,32]", "mask": "bool[b,9]"},
         {"x": normal(9, 32), "mask": token_mask(9)}, masked_attention, batches=(1, 5, 32), nodes={"attn.masked_softmax.default": 1},
         weights={"qkv.weight": projection(96, 32), "qkv.bias": normal(96), "out.weight": projection(32, 32), "out.bias": normal(32)}),
    Case("masked_softmax.py", "plain", {"x": "f32[b:1..32,9]", "mask": "bool[b,9]"}, {"x": normal(9), "mask": token_mask(9)},
         masked_softmax, batches=(1, 5, 32)),
]


def embedded(ids, w):
    x = w["tokens.weight"][ids] + w["positions"]
    keep = (ids != 0)[..., None].astype(np.float64)
    pooled = (x * keep).sum(1) / np.maximum(keep.sum(1), 1)
    a, b = np.split(pooled @ w["project.weight"].T + w["project.bias"], 2, axis=-1)
    return a * np.tanh(b)


embedder = [
    Case("embedder.py", "Embedder", {"ids": "i64[b:1..32,7]"}, {"ids": lambda rng, batch: rng.integers(0, 50, (batch, 7))}, embedded,
         batches=(1, 5, 32), nodes={"tok.pool.default": 1, "triton_kernel_wrapper_mutation": 1},
         weights={"tokens.weight": normal(50, 24), "positions": normal(7, 24), "project.weight": normal(48, 24), "project.bias": normal(48)}),
]


def rotary(x, w):
    half = np.arange(0, 20, 2) / 20
    angles = np.arange(9)[:, None] / 10000.0**half
    a, b = x[..., :10], x[..., 10:]
    y = np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)
    return y * w.get("scale", 0.5) + np.arange(20)


tables = [
    Case("tables.py", "Rotary", {"x": "f32[b:1..32,9,20]"}, {"x": normal(9, 20)}, rotary, batches=(1, 5, 32), weights=weights)
    for weights in ({}, {"scale": normal(20)})
]


def operators(x, y, w):
    z = (3 - (x + y - 2)) * y / 2
    z = -((1 / (1 + np.abs(z))) ** 2)
    return (z + x - 0.5) * y / 4


def alphas(x, y, w):
    a = x + 2 * y
    return a + 3 * (a - 0.5 * y), (x * 2 - 1) / 3, 1 - x


def in_place_methods(x, y, w):
    z = np.clip((x + y) * 2 - 1, -3, 3)
    z[:, 0] = 0
    z[:, 1:3] += 1
    filled = z.copy()
    filled[..., -1] = 7
    return z, filled


def slices(x, y, w):
    n = x.shape[1] // 2
    return (np.concatenate([-x[:, n:], x[:, :n]], 1) * y, np.repeat(x[:, None], 3, 1), x[:, ::2], x[:, -1], x[:, None, :3])


def maths(x, y, w):
    erf = np.vectorize(math.erf)
    return (
        np.exp(x) + np.log(np.abs(y) + 1) + np.sin(x) * np.cos(y),
        np.sqrt(np.abs(x)) + 1 / np.sqrt(y**2 + 1) + x**2 + (np.abs(y) + 0.5) ** 1.5,
        sigmoid(x) + np.tanh(y) + erf(x) + np.floor(y) + np.ceil(x) + np.round(x) + np.sign(y),
        np.clip(x, -1, 1) + np.maximum(y, 0) + np.minimum(x, 0.5) + np.abs(x) - x + 1 / (np.abs(y) + 1),
        np.mod(x, 2) + np.mod(y, 3) + np.exp2(x) + np.log2(np.abs(y) + 1) + np.log1p(np.abs(x)) + np.expm1(y),
    )


def reductions(x, y, w):
    return (
        x.sum(), x.sum(-1), x.sum(0, keepdims=True), x.mean(1, keepdims=True), x.mean(), y.mean(), x.max(-1), y.min(1), x.max(), y.min(),
        x.var(-1, ddof=1), x.std(-1), np.sqrt((x**2).sum(-1)), y.argmax(-1), (x > 0).any(1), (x < 9).all(), np.log(np.exp(x).sum(-1)),
        np.sqrt((x**2).sum(1)), x.prod(1),
    )


def extremes(x, y, w):
    return x.max(-1), x.argmax(-1), y.min(1, keepdims=True), y.argmin(1, keepdims=True), x.max(1), x.argmax(1)


def attention(q, k, v, w):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    causal = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    return softmax(scores) @ v + np.sqrt(2) * (softmax(causal) @ v)


XY = {"x": "f32[b:1..64,8]", "y": "f32[b,8]"}
spellings = [
    *[Case("spellings.py", name, XY, {"x": normal(8), "y": normal(8)}, reference, batches=(2, 13), tolerance=1e-5)
      for name, reference in [("operators", operators), ("alphas", alphas), ("in_place", in_place_methods), ("slices", slices),
                              ("maths", maths), ("reductions", reductions), ("extremes", extremes)]],
    Case("spellings.py", "attention", {n: "f32[b:1..64,2,6,8]" for n in "qkv"}, {n: normal(2, 6, 8) for n in "qkv"}, attention,
         batches=(1, 5)),
]

CASES = [*gated, *two_outputs, *tuned, *in_place, *row_norm, *masked, *embedder, *tables, *spellings]
