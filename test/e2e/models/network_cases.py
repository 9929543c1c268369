# SPDX-License-Identifier: Apache-2.0
"""Modules, losses, operators written with others, and torch.library's declarations."""
import math

import numpy as np

from model_cases import Case, layer_norm, normal, sigmoid, silu, softmax


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def mixer(x, w):
    y = layer_norm(x, eps=1e-6).swapaxes(1, 2)
    y = gelu(y @ w["tok.fc1.weight"].T + 0.5) @ w["tok.fc2.weight"].T + 0.5
    x = x + w["gamma"] * y.swapaxes(1, 2)
    return x + gelu(layer_norm(x, eps=1e-6) @ w["ch.0.weight"].T + 0.5) @ w["ch.2.weight"].T + 0.5


MIXER = {"gamma": normal(24), "tok.fc1.weight": normal(18, 9), "tok.fc2.weight": normal(9, 18), "ch.0.weight": normal(48, 24),
         "ch.2.weight": normal(24, 48)}
for key, size in {"tok.fc1": 18, "tok.fc2": 9, "ch.0": 48, "ch.2": 24}.items():
    MIXER[key + ".bias"] = lambda rng, size=size: np.full(size, 0.5, np.float32)
for key in ("norm1", "norm2"):
    MIXER[key + ".weight"] = lambda rng: np.ones(24, np.float32)
    MIXER[key + ".bias"] = lambda rng: np.zeros(24, np.float32)


def heads(x, w):
    h = x @ w["body.weight"].T + w["body.bias"]
    h = layer_norm(h.reshape(-1, 2, 4)).reshape(h.shape) * w["groups.weight"] + w["groups.bias"]
    h = np.maximum(h, 0)
    z = sum((h @ w[f"heads.{n}.weight"].T + w[f"heads.{n}.bias"]) * k for n, k in (("x", 2), ("y", 3)))
    for i in range(2):
        p = f"norms.{i}."
        z = (z - w[p + "running_mean"]) / np.sqrt(w[p + "running_var"] + 1e-5) * w[p + "weight"] + w[p + "bias"] + w[f"shifts.{i}"]
    return z + w["scales.k"], h


HEADS = {"body.weight": normal(8, 8), "body.bias": normal(8), "groups.weight": normal(8), "groups.bias": normal(8), "scales.k": normal(4),
         **{f"heads.{n}.{k}": normal(*s) for n in "xy" for k, s in (("weight", (4, 8)), ("bias", (4,)))},
         **{f"shifts.{i}": normal(4) for i in range(3)},
         **{f"norms.{i}.{k}": normal(4) for i in range(2) for k in ("weight", "bias", "running_mean")},
         **{f"norms.{i}.running_var": lambda rng: rng.random(4).astype(np.float32) + 0.5 for i in range(2)}}


def experts(x, w):
    p = softmax(x @ w["gate.weight"].T)
    y = np.einsum("ebf,efd->ebd", silu(np.einsum("bd,edf->ebf", x, w["w1"])), w["w2"])
    return np.einsum("be,ebd->bd", p, y), p


def residual(inplace):
    return lambda x, w: np.maximum(x + 1, 0) + (np.maximum(x + 1, 0) if inplace else x + 1)


def losses(x, y, w):
    rows = np.arange(len(y))
    logs = np.log(softmax(x))
    hot = np.eye(7)[y]
    distance = np.abs(x - hot)
    cosine = (x * hot).sum(1) / np.sqrt((x**2).sum(1))
    return (-logs[rows, y].mean(), np.where(y == 2, 0, -logs[rows, y]), hot.astype(np.int64), (distance**2).mean(), distance.sum(),
            np.where(distance < 1, distance**2 / 2, distance - 0.5).mean(), (np.logaddexp(0, x) - hot * x).mean(),
            (-hot * logs).sum() / len(y), cosine, (x.argmax(-1) == y).mean())


def composed(x, y, w):
    with np.errstate(all="ignore"):
        infinite = np.nan_to_num((x / (y - y)).astype(np.float32))
    return (np.pad(x, ((0, 0), (1, 2))), np.pad(x, ((3, 1), (0, 0)), constant_values=-1), x[:, 1:], x.cumsum(1), x.cumsum(0), x.cumprod(1),
            np.eye(x.shape[1]) + x[:1], np.linspace(0, 1, x.shape[1]), x + 0.3 * (y - x), x + 0.5 * y / (np.abs(y) + 1), np.hypot(x, y),
            np.sinh(x) + np.cosh(y) + np.tan(x * 0.1), np.modf(x)[0], np.count_nonzero(x > 0),
            np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)), infinite)


def indexing(x, i, w):
    return x[i], x[:, [0, -1]], x[i, 0], x[i][..., None], x[:, i[:2]], x[None, 0], x[-1, 1:3]


def destinations(x, w):
    y = x + 1
    y[:, :2] *= 2
    z = -y
    z[:, 0] = 0
    return y, np.maximum(silu(x), 0), z


def gated(x, w):
    return 2 * (sigmoid(x) * (x + 1) * 0.5 + sigmoid(x) * x) + 3, x - 1


def router(x, w):
    p = softmax(x @ w["gate.weight"].T)
    ids = np.argsort(-p, -1, kind="stable")[:, :2]
    weights = np.take_along_axis(p, ids, 1)
    weights = weights / weights.sum(1, keepdims=True) * np.array([1, 0.5, 0.25, 0.125, 2])[ids]
    return x + (weights[..., None] * w["table"][ids]).sum(1), np.bincount(ids.ravel(), minlength=5)


def ordered(x, y, w):
    down = np.argsort(-x, 1, kind="stable")
    values = np.take_along_axis(x, down, 1)
    return (values, down, np.argsort(y, 0, kind="stable"), x.max(1), x.argmax(1), values[:, :3], down[:, :3], x.cumsum(1), np.arctan2(x, y))


def chosen(x, i, w):
    added, doubled = x.copy(), x.copy()
    np.add.at(added, i, x[i])
    doubled[i] = x[i] * 2
    return x[i, i], x[:, i], x[i[:, None], i], added, doubled


XY = {"x": "f32[b:1..64,5]", "y": "f32[b,5]"}
CASES = [
    Case("networks.py", "Mixer", {"x": "f32[b:1..32,9,24]"}, {"x": normal(9, 24)}, mixer, weights=MIXER, batches=(1, 5, 32), tolerance=5e-5),
    Case("networks.py", "Mixer", {"x": "f32[b:1..32,9,24]"}, {"x": normal(9, 24)}, mixer, init="tokens=9,dim=24", weights=MIXER,
         batches=(3,), modes=("strict",), tolerance=5e-5),
    Case("networks.py", "Heads", {"x": "f32[b:1..32,8]"}, {"x": normal(8)}, heads, weights=HEADS, batches=(1, 5, 32), tolerance=1e-5),
    *[Case("networks.py", "Residual", {"x": "f32[b:1..32,8]"}, {"x": normal(8)}, residual(inplace), init=f"inplace={inplace}", batches=(1, 5))
      for inplace in (True, False)],
    Case("networks.py", "Experts", {"x": "f32[b:1..32,16]"}, {"x": normal(16)}, experts, batches=(1, 5, 32), tolerance=6e-5,
         weights={"gate.weight": normal(4, 16), "w1": normal(4, 16, 32), "w2": normal(4, 32, 16)}),
    Case("networks.py", "losses", {"x": "f32[b:1..32,7]", "y": "i64[b]"}, {"x": normal(7), "y": lambda rng, b: rng.integers(0, 7, b)}, losses,
         batches=(1, 5, 32)),
    Case("networks.py", "composed", XY, {"x": normal(5), "y": normal(5)}, composed, batches=(1, 5, 33), tolerance=1e-5),
    Case("networks.py", "indexing", {"x": "f32[b:2..32,5]", "i": "i64[4]"},
         {"x": normal(5), "i": lambda rng, b: np.array([0, 1, -1, -2])}, indexing, batches=(2, 5)),
    Case("networks.py", "destinations", {"x": "f32[b:1..32,5]"}, {"x": normal(5)}, destinations, batches=(1, 5)),
    Case("orders.py", "Router", {"x": "f32[b:1..64,12]"}, {"x": normal(12)}, router, batches=(1, 5, 64), tolerance=1e-4,
         weights={"gate.weight": normal(5, 12), "table": normal(5, 12), "scale": lambda rng: np.array([1, 0.5, 0.25, 0.125, 2], np.float32)},
         nodes={"orders.mix.default": 1, "aten.topk.default": 1}),
    Case("orders.py", "ordered", {"x": "f32[b:1..64,8]", "y": "f32[b,8]"}, {"x": normal(8), "y": normal(8)}, ordered, batches=(1, 5, 64)),
    Case("orders.py", "chosen", {"x": "f32[8,8]", "i": "i64[n:1..5]"}, {"x": lambda rng, n: rng.standard_normal((8, 8)).astype(np.float32),
         "i": lambda rng, n: np.array([7, 0, 7, 3, 0][:n])}, chosen, batches=(1, 5), tolerance=1e-6),
    Case("orders.py", "nothing", {"x": "f32[b:1..9,3]"}, {"x": normal(3)}, lambda x, w: np.zeros((0, 3)), batches=(1, 9)),
    Case("libraries.py", "gated", {"x": "f32[b:1..32,8]"}, {"x": normal(8)}, gated, batches=(1, 5, 32),
         nodes={"shelf.gate.default": 2, "shelf.shift.default": 2}),
]
