# SPDX-License-Identifier: Apache-2.0
"""Kernels of the kind that networks are trained and served with."""
import numpy as np

from launch_case import Bf16, Case

FILE = "networks.py"


def norms(rng):
    rows, cols, groups = 10, 100, 3
    x, dy = rng.standard_normal((rows, cols)).astype(np.float32), rng.standard_normal((rows, cols)).astype(np.float32)
    w = rng.standard_normal(cols).astype(np.float32)
    wide, grad = x.astype(np.float64), dy.astype(np.float64)
    mean, rstd = wide.mean(-1), 1 / np.sqrt(wide.var(-1) + 1e-5)
    hat = (wide - mean[:, None]) * rstd[:, None]
    wdy = grad * w
    dx = (wdy - hat * (hat * wdy).mean(-1, keepdims=True) - wdy.mean(-1, keepdims=True)) * rstd[:, None]
    dw, db = (np.stack([v[g::groups].sum(0) for g in range(groups)]) for v in (grad * hat, grad))
    part = np.full((groups, cols), 5, np.float32)
    yield Case("layer norm backward", FILE, "layer_norm_backward", str(rows),
               dict(dy_ptr=dy, x_ptr=x, w_ptr=w, mean_ptr=mean.astype(np.float32), rstd_ptr=rstd.astype(np.float32), dx_ptr=np.zeros_like(x),
                    dw_ptr=part, db_ptr=part, lock_ptr=np.zeros(2 * groups, np.int32), cols=cols, GROUP=groups, BLOCK=128),
               dict(dx_ptr=dx, dw_ptr=dw, db_ptr=db), 1e-5)
    rstd = 1 / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6)
    m = grad * w
    yield Case("rms norm backward", FILE, "rms_norm_backward", str(rows),
               dict(dy_ptr=dy, x_ptr=x, w_ptr=w, dx_ptr=np.zeros_like(x), dw_ptr=np.zeros(cols, np.float32), cols=cols, eps=1e-6, BLOCK=128),
               dict(dx_ptr=rstd * m - rstd**3 / cols * (m * wide).sum(-1, keepdims=True) * wide, dw_ptr=(grad * wide * rstd).sum(0)), 1e-5)
    x, w = Bf16(rng.standard_normal((2, 6, 25))), rng.standard_normal(6).astype(np.float32)
    g = x.values.reshape(2, 3, 50)
    norm = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)
    yield Case("group norm bf16", FILE, "group_norm", "2,3",
               dict(x_ptr=x, w_ptr=w, out_ptr=Bf16(np.zeros((2, 6, 25))), per_group=2, spatial=25, eps=1e-5, GROUPS=3, BLOCK=32),
               dict(out_ptr=norm.reshape(2, 6, 25) * w[:, None]), 8e-3)


def layers(rng):
    seq, heads, d = 5, 3, 16
    q = rng.standard_normal((2 * seq, heads, d)).astype(np.float32)
    angle = rng.standard_normal((seq, d // 2))
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    for backward in (False, True):
        c, s = (np.tile(t.astype(np.float64), (2, 1))[:, None] for t in (cos, -sin if backward else sin))
        a, b = q[..., :8].astype(np.float64), q[..., 8:].astype(np.float64)
        yield Case(f"rotary embedding {'backward' if backward else 'forward'}", FILE, "rotary", str(2 * seq),
                   dict(q_ptr=q, cos_ptr=cos, sin_ptr=sin, seq=seq, heads=heads, D=d, BLOCK_H=4, BACKWARD=backward),
                   dict(q_ptr=np.concatenate([a * c - b * s, b * c + a * s], -1)), 1e-6)
    vocab = 781
    for smoothing in (0.0, 0.1):
        x, target = (rng.standard_normal((4, vocab)) * 3).astype(np.float32), np.array([0, 780, -100, 77], np.int64)
        w = x.astype(np.float64)
        lse = np.log(np.exp(w).sum(-1))
        hot = np.zeros((4, vocab))
        hot[np.arange(4), np.maximum(target, 0)] = 1
        loss = lse - (1 - smoothing) * (hot * w).sum(-1) - smoothing * w.mean(-1)
        grad = np.exp(w - lse[:, None]) - smoothing / vocab - hot * (1 - smoothing)
        loss[2], grad[2] = 0, 0
        yield Case(f"cross entropy, smoothing {smoothing}", FILE, "cross_entropy", "4",
                   dict(logits_ptr=x, target_ptr=target, loss_ptr=np.zeros(4, np.float32), vocab=vocab, stride=vocab, ignore_index=-100,
                        smoothing=smoothing, BLOCK=256), dict(loss_ptr=loss, logits_ptr=grad), 2e-6)
    x = rng.standard_normal((3, 2 * 201)).astype(np.float16)
    w = x.astype(np.float64)
    yield Case("swiglu float16", FILE, "swiglu", "3,4", dict(x_ptr=x, out_ptr=np.zeros((3, 201), np.float16), half=201, BLOCK=64),
               dict(out_ptr=w[:, :201] / (1 + np.exp(-w[:, :201])) * w[:, 201:]), 4e-3)
    a, b = Bf16(rng.standard_normal(333) * 3), Bf16(rng.standard_normal(333))
    gelu = 0.5 * a.values * (1 + np.tanh(0.7978845608028654 * (a.values + 0.044715 * a.values**3)))
    yield Case("geglu bf16", FILE, "geglu_tanh", "3", dict(a_ptr=a, b_ptr=b, out_ptr=Bf16(np.zeros(333)), n=333, BLOCK=128),
               dict(out_ptr=gelu * b.values), 8e-3)
    T, dim, N = 12, 21, 8
    u, delta = (rng.standard_normal((T, dim)).astype(np.float32) for _ in range(2))
    b, c = (rng.standard_normal((T, N)).astype(np.float32) for _ in range(2))
    a, skip = rng.uniform(-1, 1, (dim, N)).astype(np.float32), rng.standard_normal(dim).astype(np.float32)
    state, out = np.zeros((dim, N)), np.zeros((T, dim))
    for t in range(T):
        step = np.log1p(np.exp(delta[t].astype(np.float64)))
        state = state * np.exp(step[:, None] * -np.exp(a.astype(np.float64))) + (step * u[t])[:, None] * b[t]
        out[t] = state @ c[t] + u[t].astype(np.float64) * skip
    yield Case("selective scan", FILE, "selective_scan", "2",
               dict(u_ptr=u, delta_ptr=delta, a_ptr=a, b_ptr=b, c_ptr=c, d_ptr=skip, out_ptr=np.zeros_like(u), length=T, dim=dim, N=N, BLOCK_D=16),
               dict(out_ptr=out), 1e-5)


def training(rng):
    n = 333
    p, g, m = (rng.standard_normal(n).astype(np.float32) for _ in range(3))
    v = rng.uniform(0, 1, n).astype(np.float32)
    for decay in (0.0, 0.25):
        gw, b1, b2 = g.astype(np.float64), float(np.float32(0.9)), float(np.float32(0.999))
        m2, v2 = b1 * m + (1 - b1) * gw, b2 * v.astype(np.float64) + (1 - b2) * gw**2
        want = p * (1 - 0.01 * decay) - 0.01 * (m2 / (1 - b1**3)) / (np.sqrt(v2 / (1 - b2**3)) + 1e-8)
        yield Case(f"adam, decay {decay}", FILE, "adam", "3",
                   dict(p_ptr=p, g_ptr=g, m_ptr=m, v_ptr=v, n=n, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, step=3, decay=decay, BLOCK=128),
                   dict(p_ptr=want, m_ptr=m2, v_ptr=v2), 1e-5)
    H, W = 9, 11
    x = rng.standard_normal((H, W)).astype(np.float32)
    padded = np.pad(x, 1, constant_values=-np.inf)
    place = np.pad(np.arange(H * W).reshape(H, W), 1)
    OH, OW = 5, 6
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))[::2, ::2].reshape(OH, OW, 9)
    places = np.lib.stride_tricks.sliding_window_view(place, (3, 3))[::2, ::2].reshape(OH, OW, 9)
    best = windows.argmax(-1)[..., None]
    yield Case("max pool", FILE, "max_pool", "2",
               dict(x_ptr=x, out_ptr=np.zeros((OH, OW), np.float32), index_ptr=np.zeros((OH, OW), np.int64), H=H, W=W, OH=OH, OW=OW, K=3, S=2, P=1,
                    BLOCK=16), dict(out_ptr=windows.max(-1), index_ptr=np.take_along_axis(places, best, -1)[..., 0]), 0)
    lengths = np.array([3, 0, 17, 1])
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    values = rng.standard_normal((21, 13)).astype(np.float32)
    want = np.stack([values[a:b].astype(np.float64).sum(0) / max(b - a, 1) for a, b in zip(offsets, offsets[1:])])
    yield Case("jagged mean", FILE, "jagged_mean", "4",
               dict(values_ptr=values, offsets_ptr=offsets, out_ptr=np.zeros((4, 13), np.float32), dim=13, BLOCK_T=8, BLOCK_D=16), dict(out_ptr=want), 1e-6)


def cases():
    rng = np.random.default_rng(29)
    for part in (norms, layers, training):
        yield from part(rng)
