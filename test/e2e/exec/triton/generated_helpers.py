# SPDX-License-Identifier: Apache-2.0
# torch._inductor.runtime.triton_helpers, each beside torch or Python's math.
import math

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers as H
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math


@triton.jit
def parts(i, o, e, n, WHAT: tl.constexpr, B: tl.constexpr):
    x = tl.arange(0, B)
    m = x < n
    v = tl.load(i + x, m)
    if WHAT == "frexp":
        a, b = H.frexp(v)
        tl.store(o + x, a, m)
        tl.store(e + x, b, m)
    elif WHAT == "up":
        tl.store(o + x, H.nextafter(v, tl.full([B], float("inf"), v.dtype)), m)
    else:
        tl.store(o + x, H.nextafter(v, tl.full([B], float("-inf"), v.dtype)), m)


@triton.jit
def integers(a, b, o, n, WHAT: tl.constexpr, B: tl.constexpr):
    x = tl.arange(0, B)
    m = x < n
    p = tl.load(a + x, m, other=1)
    q = tl.load(b + x, m, other=1)
    if WHAT == "div":
        r = H.div_floor_integer(p, q)
    elif WHAT == "rem":
        r = H.remainder_integer(p, q)
    else:
        r = H.pow_integer(p, q)
    tl.store(o + x, r, m)


@triton.jit
def rows(i, o, oi, R, N, WHAT: tl.constexpr, X: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * X + tl.arange(0, X)[:, None]
    c = tl.arange(0, B)[None, :]
    m = (r < R) & (c < N)
    v = tl.load(i + r * N + c, m, other=0.0)
    if WHAT == "sort" or WHAT == "rsort":
        s, k = H.sort_with_index(v, tl.broadcast_to(c.to(tl.int16), [X, B]), N, 1, stable=True, descending=WHAT == "rsort")
        tl.store(o + r * N + c, s, m)
        tl.store(oi + r * N + c, k.to(tl.int64), m)
    elif WHAT == "argmax":
        a, k = H.max_with_index(tl.where(m, v, float("-inf")), tl.broadcast_to(c, [X, B]), 1)
        tl.store(o + r, a[:, None], r < R)
        tl.store(oi + r, k[:, None].to(tl.int64), r < R)
    elif WHAT == "argmin":
        a, k = H.min_with_index(tl.where(m, v, float("inf")), tl.broadcast_to(c, [X, B]), 1)
        tl.store(o + r, a[:, None], r < R)
        tl.store(oi + r, k[:, None].to(tl.int64), r < R)
    elif WHAT == "prod":
        tl.store(o + r, H.prod(tl.where(m, v, 1.0), 1)[:, None], r < R)
    elif WHAT == "any":
        tl.store(oi + r, H.any(m & (v > 0.5), 1)[:, None].to(tl.int64), r < R)
    elif WHAT == "max":
        tl.store(o + r, H.max2(tl.where(m, v, float("-inf")), 1)[:, None], r < R)


@triton.jit
def in_pieces(i, o, p, R, N, WHAT: tl.constexpr, X: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * X + tl.arange(0, X)[:, None]
    piece = tl.arange(0, B)[None, :]
    if WHAT == "welford":
        mean = tl.zeros([X, B], tl.float32)
        m2 = tl.zeros([X, B], tl.float32)
        weight = tl.zeros([X, B], tl.float32)
        for start in range(0, N, B):
            m = (r < R) & (start + piece < N)
            v = tl.load(i + r * N + start + piece, m, other=0.0)
            mean_next, m2_next, weight_next = H.welford_reduce(v, mean, m2, weight, start == 0)
            mean = tl.where(m, mean_next, mean)
            m2 = tl.where(m, m2_next, m2)
            weight = tl.where(m, weight_next, weight)
        a, b, w = H.welford(mean, m2, weight, 1)
        tl.store(o + r, a[:, None], r < R)
        tl.store(p + r, (b / w)[:, None], r < R)
    else:
        most = tl.full([X, B], float("-inf"), tl.float32)
        total = tl.zeros([X, B], tl.float32)
        for start in range(0, N, B):
            m = (r < R) & (start + piece < N)
            v = tl.load(i + r * N + start + piece, m, other=0.0)
            most_next, total_next = H.online_softmax_combine(most, total, v, False)
            most = tl.where(m, most_next, most)
            total = tl.where(m, total_next, total)
        a, b = H.online_softmax_reduce(most, total, 1, False)
        tl.store(o + r, a[:, None], r < R)
        tl.store(p + r, b[:, None], r < R)


@triton.jit
def buckets(v, bounds, o, n, NB, right: tl.constexpr, B: tl.constexpr):
    x = tl.arange(0, B)
    a = tl.load(v + x, x < n)
    k = H.bucketize_binary_search(a, bounds, NB, NB, 1, 0, tl.int32, right, None, None, None)
    tl.store(o + x, k, x < n)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scan(i, o, words, n, WIDE: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    x = p * B + tl.arange(0, B)
    v = tl.load(i + x, x < n, other=0.0)
    own = tl.reduce(v, 0, plus)
    if WIDE:
        before = H.exclusive_scan_decoupled_lookback_64(words, own, p, plus)
    else:
        before = H.exclusive_scan_decoupled_lookback(words, own, p, plus, DTYPE_VALUE_AS_UINT=tl.uint32, DTYPE_PACK=tl.uint64)
    here = tl.associative_scan(v, 0, plus)
    tl.store(o + x, tl.where(p == 0, here, before + here), x < n)


@triton.jit
def draws(o, oi, seed, n, B: tl.constexpr):
    x = tl.arange(0, B)
    tl.store(o + x, H.rand4x(seed, x, B), x < n)
    tl.store(oi + x, H.randint64(seed, x, tl.full([1], -5, tl.int64), tl.full([1], 1000, tl.int64)), x < n)


@triton.jit
def packed(i, o, B: tl.constexpr):
    v = tl.load(i + tl.arange(0, B))
    tl.store(o + tl.arange(0, B), H.inline_asm_unpack(H.inline_asm_pack(v, 8), v, 8) + libdevice.erf(v) * 0 + tl_math.abs(v) * 0)


device = "cuda"
wrong = []


def check(name, got, want, near=False):
    got, want = torch.nan_to_num(got.cpu().double(), 77.0), torch.nan_to_num(want.cpu().double(), 77.0)
    if not (torch.allclose(got, want, rtol=2e-6, atol=2e-6) if near else torch.equal(got, want)):
        wrong.append(name)
        print(name, got, want)


torch.manual_seed(3)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    values = [0.0, -0.0, 1.0, -1.0, 3.7, 1e-3, -6e4, float("inf"), float("-inf"), float("nan"), 0.5, 6e-8, -2.5]
    if dtype in (torch.float32, torch.float64):
        values += [1e-45, -3e-42, 3e38]
    x = torch.tensor(values, dtype=dtype)
    o, e = torch.empty_like(x).to(device), torch.empty(x.shape, dtype=torch.int32, device=device)
    parts[(1,)](x.to(device), o, e, x.numel(), "frexp", 16)
    expected = [math.frexp(v) if math.isfinite(v) else (v, 0) for v in x.tolist()]
    check(f"frexp {dtype}", o, torch.tensor([m for m, _ in expected], dtype=torch.float64))
    check(f"exponent {dtype}", e, torch.tensor([n for _, n in expected]))
    for what, end in (("up", float("inf")), ("down", float("-inf"))):
        parts[(1,)](x.to(device), o, e, x.numel(), what, 16)
        ends = torch.full_like(x, end)
        if dtype in (torch.float32, torch.float64):
            check(f"nextafter {dtype}", o, torch.nextafter(x, ends))
        else:  # no number of the type lies between
            between = (x.double() + o.cpu().double()) / 2
            finite = x.isfinite() & o.cpu().isfinite()
            check(f"nextafter {dtype}", ((o.cpu().double() > x.double()) == (end > 0))[finite], torch.ones(int(finite.sum())))
            rounded = between.to(dtype)
            check(f"nextafter {dtype}", ((rounded == x) | (rounded == o.cpu()))[finite], torch.ones(int(finite.sum())))

for dtype in (torch.int16, torch.int32, torch.int64):
    a = torch.randint(-100, 100, (50,)).to(dtype)
    b = (torch.randint(1, 9, (50,)) * (1 - 2 * torch.randint(0, 2, (50,)))).to(dtype)
    o = torch.empty_like(a).to(device)
    for what, other, want in (("div", b, torch.div(a, b, rounding_mode="floor")), ("rem", b, torch.remainder(a, b)), ("pow", b.abs(), torch.pow(a, b.abs()))):
        integers[(1,)](a.to(device), other.to(device), o, 50, what, 64)
        check(f"{what} {dtype}", o, want)

for R, N in ((1, 1), (5, 37), (3, 64)):
    v = torch.randn(R, N)
    v[-1, : N // 3] = v[-1, 0].item()
    if N > 1:
        v[0, N // 2] = float("nan")
    B = triton.next_power_of_2(N)
    for what in ("sort", "rsort", "argmax", "argmin", "prod", "any", "max"):
        many = "sort" in what
        o = torch.zeros((R, N) if many else R, device=device)
        oi = torch.zeros((R, N) if many else R, dtype=torch.int64, device=device)
        rows[(triton.cdiv(R, 2),)](v.to(device), o, oi, R, N, what, 2, B)
        if many:
            s, k = torch.sort(v, 1, stable=True, descending=what == "rsort")
            check(what, oi, k)
            check(what, o, s)
        elif what in ("argmax", "argmin"):
            check(what, oi, v.argmax(1) if what == "argmax" else v.argmin(1))
        elif what == "any":
            check(what, oi, (v > 0.5).any(1).long())
        else:
            check(what, o, v.prod(1) if what == "prod" else v.amax(1), near=True)
    v = torch.randn(R, N)
    for what, first, second in (("welford", v.mean(1), v.var(1, correction=0)), ("softmax", v.amax(1), (v - v.amax(1, True)).exp().sum(1))):
        o, p = torch.zeros(R, device=device), torch.zeros(R, device=device)
        in_pieces[(triton.cdiv(R, 2),)](v.to(device), o, p, R, N, what, 2, 16)
        check(what, o, first, near=True)
        check(what, p, second, near=True)

bounds, v = torch.randn(13).sort()[0], torch.randn(50)
v[:13] = bounds
for right in (False, True):
    o = torch.empty(50, dtype=torch.int32, device=device)
    buckets[(1,)](v.to(device), bounds.to(device), o, 50, 13, right, 64)
    check("bucketize", o, torch.bucketize(v, bounds, right=right))
for dtype, words in ((torch.float32, 16), (torch.float64, 48)):
    v, o = torch.randn(1000).to(dtype), torch.empty(1000, device=device, dtype=dtype)
    scan[(16,)](v.to(device), o, torch.zeros(words, dtype=torch.int64, device=device), 1000, dtype == torch.float64, 64)
    check("scan", o / 100, v.double().cumsum(0) / 100, near=True)
o, oi = torch.empty(30, device=device), torch.empty(30, dtype=torch.int64, device=device)
draws[(1,)](o, oi, 42, 30, 32)
print("draws", bool((o >= 0).all() and (o < 1).all() and o.unique().numel() == 30), bool((oi >= -5).all() and (oi < 1000).all()))
v, o = torch.randn(4).to(device), torch.empty(4, device=device)
packed[(1,)](v, o, 4)
check("packed", o, v)
print("wrong:", wrong)
