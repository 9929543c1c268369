# SPDX-License-Identifier: Apache-2.0
"""Calls of attention, what they give in float64, and how far a correct result may be from that."""
import dataclasses
import re

import numpy as np

UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}


def shared(x, heads):
    """Each head as often as heads of the query share it."""
    return np.repeat(x, heads // x.shape[-3], axis=-3)


def attention(q, k, v, mask=None, causal=False, scale=None, gqa=False):
    """The result, what rounding may change in it as a multiple of a unit of f32 and of the operands' type, and the logarithms of the
    sums. `mask` is bool, or added. As PyTorch's reference: a row that attends to nothing gives zeros."""
    if gqa:
        k, v = shared(k, q.shape[-3]), shared(v, q.shape[-3])
    with np.errstate(all="ignore"):
        scale = (q.shape[-1] or 1) ** -0.5 if scale is None else scale
        scores = q @ k.swapaxes(-1, -2) * scale
        scores = np.where(np.abs(scores) > 3.4e38, np.copysign(np.inf, scores), scores)  # no case of f64 comes near
        reach = np.abs(q) @ np.abs(k).swapaxes(-1, -2) * abs(scale)
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        if mask is not None and mask.dtype == bool:
            scores = scores + np.where(mask, 0.0, -np.inf)
        elif mask is not None:
            scores = scores + mask
            reach = reach + np.where(np.isfinite(mask), np.abs(mask), 0.0)
        nothing = (scores == -np.inf).all(-1, keepdims=True)
        top = np.where(nothing, 0.0, scores.max(-1, keepdims=True, initial=-np.inf))
        weights = np.exp(scores - top)
        total = weights.sum(-1, keepdims=True)
        weights = np.where(nothing, 0.0, weights / np.where(total == 0, 1, total))
        result = weights @ v
        # An exponent is off by the rounding of its sum of products and of what is taken from it; and so is its weight, by that share.
        keys = max(k.shape[-2], 1)
        reach = np.where(np.isfinite(scores), reach * (4 * max(k.shape[-1], 1) ** 0.5 + 4) + 4 * np.abs(scores - top) + 8, 0.0)
        worst = reach.max(-1, keepdims=True, initial=0.0) + 4 * keys**0.5 + 8
        size = weights @ np.where(np.isfinite(v), np.abs(v), 0.0)
        sums = np.where(nothing, 0.0, top + np.log(np.where(nothing, 1.0, total)))[..., 0]
    return result, 2 * worst * size, 2 * size, sums


def bound_of(dtype, want, of_single, of_own):
    """Weights are rounded to the operands' type before they meet the values; everything else is computed in f32, or f64."""
    own, single = UNIT[dtype], UNIT["f64" if dtype == "f64" else "f32"]
    with np.errstate(all="ignore"):
        return 1.5 * own * np.abs(want) + single * of_single + (own * of_own if own > single else 0.0) + 1e-37


@dataclasses.dataclass
class Case:
    text: str  # of q, k, v, mask
    inputs: str  # `q=2,3,5,8`; a bool mask is `m=b:2,1,5,7`, one that is added `m=+:5,7`; `l` is a dynamic length
    keywords: dict = dataclasses.field(default_factory=dict)
    dtypes: tuple = ("f32", "bf16")
    change: object = None  # of the arrays by name, before they are rounded
    turned: tuple = ()  # inputs whose dims 1 and 2 are exchanged
    sums: bool = False  # the logarithms of sums are the second result
    lengths: tuple = (1, 7, 64, 129)

    @property
    def names(self):
        return re.findall(r"(\w+)=", self.inputs)


ALL = ("f32", "f64", "f16", "bf16")
SDPA = "F.scaled_dot_product_attention"


def lowest(arrays):
    """Masks of models: the lowest number for what is not to be seen; one row sees nothing, another has one number everywhere."""
    m = arrays["m"]
    m[...] = np.where(m > 0, 0.0, -3.0e38)
    m[..., 1, :] = -3.0e38
    return arrays


def infinite(arrays):
    m = arrays["m"]
    m[...] = np.where(m > 0, m, -np.inf)
    m[..., 2, :] = -np.inf
    return arrays


def nothing_seen(arrays):
    arrays["m"][..., 3, :] = False
    arrays["m"][..., 0, :-1] = False
    return arrays


def huge(arrays):
    arrays["q"] *= 300.0
    arrays["k"] *= 300.0
    return arrays


def not_numbers(arrays):
    arrays["q"][..., 1, 0] = np.nan
    arrays["q"][..., 2, :] = 0
    arrays["q"][..., 2, 0] = np.inf
    arrays["v"][..., 0, 1] = np.inf
    return arrays


def overflowing(arrays):
    arrays["q"][...] = -1e30
    arrays["k"][...] = 1e30
    arrays["k"][..., 8:, :] = -1e30
    return arrays


CASES = [
    Case(f"{SDPA}(q, k, v)", "q=2,3,37,24 k=2,3,75,24 v=2,3,75,24", dtypes=ALL),
    Case(f"{SDPA}(q, k, v)", "q=1,2,200,64 k=1,2,260,64 v=1,2,260,64", dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v)", "q=130,17 k=129,17 v=129,5", dtypes=ALL),
    Case(f"{SDPA}(q, k, v)", "q=2,9,1 k=2,66,1 v=2,66,1", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,1,2,33,80 k=2,1,2,70,80 v=2,1,2,70,96"),
    Case(f"{SDPA}(q, k, v)", "q=1,2,20,256 k=1,2,40,256 v=1,2,40,200", dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v)", "q=1,2,5,300 k=1,2,9,300 v=1,2,9,20", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,3,20,16 k=1,3,21,16 v=3,21,16", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,1,20,16 k=1,3,21,16 v=2,3,21,16", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, is_causal=True)", "q=2,2,200,32 k=2,2,200,32 v=2,2,200,32", dict(causal=True), dtypes=ALL),
    Case(f"{SDPA}(q, k, v, is_causal=True)", "q=2,70,24 k=2,150,24 v=2,150,40", dict(causal=True), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, is_causal=True)", "q=2,150,24 k=2,70,24 v=2,70,24", dict(causal=True)),
    Case(f"{SDPA}(q, k, v, m)", "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=b:37,75", change=nothing_seen, dtypes=ALL),
    Case(f"{SDPA}(q, k, v, m)", "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=b:2,1,1,75", dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, m)", "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=b:3,37,1", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, m)", "q=2,3,140,16 k=2,3,75,16 v=2,3,75,16 m=+:2,3,140,75", change=infinite, dtypes=ALL),
    Case(f"{SDPA}(q, k, v, m, scale=0.3)", "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=+:1,1,37,75", dict(scale=0.3), change=lowest),
    Case(f"{SDPA}(q, k, v, m)", "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=+:1"),
    Case(f"{SDPA}(q, k, v, scale=-0.7)", "q=2,37,16 k=2,75,16 v=2,75,16", dict(scale=-0.7), dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, scale=0.0)", "q=2,37,16 k=2,75,16 v=2,75,16", dict(scale=0.0), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, is_causal=True, enable_gqa=True)", "q=2,6,90,16 k=2,2,90,16 v=2,2,90,16", dict(causal=True, gqa=True), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, enable_gqa=True)", "q=1,6,30,16 k=1,2,40,16 v=1,3,40,16", dict(gqa=True)),
    Case(f"{SDPA}(q, k, v, enable_gqa=True)", "q=2,8,1,32 k=2,2,700,32 v=2,2,700,32", dict(gqa=True), dtypes=ALL),
    Case(f"{SDPA}(q, k, v, is_causal=True, enable_gqa=True)", "q=2,8,3,32 k=2,2,70,32 v=2,2,70,32", dict(causal=True, gqa=True), dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, m, enable_gqa=True)", "q=2,8,3,32 k=2,2,70,32 v=2,2,70,32 m=+:2,8,3,70", dict(gqa=True), change=infinite, dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, m, enable_gqa=True)", "q=2,8,2,32 k=2,2,70,32 v=2,2,70,32 m=b:8,1,70", dict(gqa=True)),
    Case(f"{SDPA}(q, k, v)", "q=3,2,1,48 k=3,2,1100,48 v=3,2,1100,40", dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, m)", "q=1,2,5,24 k=1,2,1100,24 v=1,2,1100,24 m=+:5,1100", change=infinite, dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,3,5,16 k=2,3,0,16 v=2,3,0,16", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, is_causal=True)", "q=2,3,0,16 k=2,3,7,16 v=2,3,7,16", dict(causal=True), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,3,5,0 k=2,3,7,0 v=2,3,7,16", dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v)", "q=2,60,32 k=2,90,32 v=2,90,32", change=huge),
    Case(f"{SDPA}(q, k, v)", "q=2,60,32 k=2,90,32 v=2,90,32", change=not_numbers),
    Case(f"{SDPA}(q, k, v)", "q=2,5,8 k=2,7,8 v=2,7,8", change=overflowing),
    Case(f"{SDPA}(q, k, v)", "q=2,5,8 k=2,9,8 v=2,9,8", change=overflowing, dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, is_causal=True).transpose(1, 2)", "q=2,50,3,24 k=2,50,3,24 v=2,50,3,24", dict(causal=True), turned=("q", "k", "v"), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, m)", "q=2,50,3,24 k=2,3,60,24 v=2,60,3,24 m=b:2,3,50,60", turned=("q", "v")),
    Case("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, False, attn_mask=m)",
         "q=2,3,37,16 k=2,3,75,16 v=2,3,75,16 m=+:37,75", change=infinite, sums=True),
    Case("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, is_causal=True)",
         "q=2,3,90,16 k=2,3,90,16 v=2,3,90,16", dict(causal=True), sums=True),
    Case(f"{SDPA}(q, k, v)", "q=2,3,l,20 k=2,3,l,20 v=2,3,l,20", dtypes=("bf16",)),
    Case(f"{SDPA}(q, k, v, is_causal=True)", "q=l,2,l,16 k=l,2,l,16 v=l,2,l,16", dict(causal=True), lengths=(1, 5, 70), dtypes=("f32",)),
    Case(f"{SDPA}(q, k, v, m, enable_gqa=True)", "q=2,6,1,64 k=2,2,l,64 v=2,2,l,64 m=b:l", dict(gqa=True), lengths=(1, 300, 1100)),
    Case(f"{SDPA}(q, k, v)", "q=2,3,l k=2,5,l v=2,5,l", lengths=(1, 20, 200), dtypes=("bf16",)),
]


def arrays_of(case, dtype, length, seed):
    """Inputs by name, rounded to what `dtype` holds and as float64, or bool."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, kind, dims in re.findall(r"(\w+)=([b+]?):?([\w,]+)", case.inputs):
        shape = [length if d == "l" else int(d) for d in dims.split(",")]
        arrays[name] = rng.random(shape) < 0.6 if kind == "b" else rng.standard_normal(shape)
    if case.change:
        arrays = case.change(arrays)
    return {name: rounded(a, dtype) if a.dtype != bool else a for name, a in arrays.items()}


def rounded(array, dtype):
    with np.errstate(all="ignore"):
        if dtype == "bf16":
            bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
            near = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
            return np.where(np.isnan(array), np.nan, near).astype(np.float64)
        return array.astype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype]).astype(np.float64)


def expected(case, arrays):
    """As attention, of the inputs as they are given."""
    turned = [np.swapaxes(a, 1, 2) if name in case.turned else a for name, a in arrays.items()]
    result = list(attention(*turned, **case.keywords))
    if case.text.endswith(".transpose(1, 2)"):
        result[:3] = [np.swapaxes(r, 1, 2) for r in result[:3]]
    return result


def body_of(case):
    """The function that a model computes."""
    text = "".join(f"    {n} = {n}.transpose(1, 2)\n" for n in case.turned)
    return f"import torch\nimport torch.nn.functional as F\n\n\ndef f({', '.join(case.names)}):\n{text}    return {case.text}\n"
