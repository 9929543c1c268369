# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh


@triton.jit
def layer_norm_backward(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, lock_ptr, cols, GROUP: tl.constexpr,
                        BLOCK: tl.constexpr):
    """Partial weight gradients are added up in GROUP buffers, each behind a lock."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * cols + c, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + c, mask=mask, other=0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / cols
    c2 = tl.sum(wdy, axis=0) / cols
    tl.store(dx_ptr + row * cols + c, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    group = row % GROUP
    lock = lock_ptr + group
    count = lock + GROUP
    dw, db = dy * xhat, dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(dw_ptr + group * cols + c, mask=mask)
        db += tl.load(db_ptr + group * cols + c, mask=mask)
    tl.store(dw_ptr + group * cols + c, dw, mask=mask)
    tl.store(db_ptr + group * cols + c, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def group_norm(x_ptr, w_ptr, out_ptr, per_group, spatial, eps, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    batch, group = tl.program_id(0), tl.program_id(1)
    base = (batch * GROUPS + group) * per_group * spatial
    size = per_group * spatial
    mean, square = 0.0, 0.0
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0.0).to(tl.float32)
        mean += tl.sum(x)
        square += tl.sum(x * x)
    mean /= size
    rstd = tl.rsqrt(square / size - mean * mean + eps)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + group * per_group + i // spatial, mask=i < size, other=0.0)
        tl.store(out_ptr + base + i, ((x - mean) * rstd * w).to(out_ptr.dtype.element_ty), mask=i < size)


@triton.jit
def rms_norm_backward(dy_ptr, x_ptr, w_ptr, dx_ptr, dw_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * cols + c, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + c, mask=mask, other=0.0).to(tl.float32)
    rstd = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / cols + eps)
    m = dy * w
    dx = rstd * m - rstd * rstd * rstd / cols * tl.sum(m * x, axis=0) * x
    tl.store(dx_ptr + row * cols + c, dx, mask=mask)
    tl.atomic_add(dw_ptr + c, dy * x * rstd, mask=mask)


@triton.jit
def rotary(q_ptr, cos_ptr, sin_ptr, seq, heads, D: tl.constexpr, BLOCK_H: tl.constexpr, BACKWARD: tl.constexpr):
    """In place; the two halves of a head turn against each other."""
    row = tl.program_id(0)
    half: tl.constexpr = D // 2
    d = tl.arange(0, half)
    position = row % seq
    cos = tl.load(cos_ptr + position * half + d)[None, :]
    sin = tl.load(sin_ptr + position * half + d)[None, :]
    if BACKWARD:
        sin = -sin
    h = tl.arange(0, BLOCK_H)[:, None]
    mask = h < heads
    first = q_ptr + (row * heads + h) * D + d[None, :]
    second = first + half
    a = tl.load(first, mask=mask, other=0.0)
    b = tl.load(second, mask=mask, other=0.0)
    tl.store(first, a * cos - b * sin, mask=mask)
    tl.store(second, b * cos + a * sin, mask=mask)


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, vocab, stride, ignore_index, smoothing: tl.constexpr, BLOCK: tl.constexpr):
    """Loss, and the gradient over the logits in place, in two passes."""
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    logits_ptr += row * stride
    if target == ignore_index:
        for start in range(0, vocab, BLOCK):
            c = start + tl.arange(0, BLOCK)
            tl.store(logits_ptr + c, 0.0, mask=c < vocab)
        tl.store(loss_ptr + row, 0.0)
        return
    peak = float("-inf")
    total = 0.0
    plain = 0.0
    chosen = tl.load(logits_ptr + target).to(tl.float32)
    for start in range(0, vocab, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + c, mask=c < vocab, other=float("-inf")).to(tl.float32)
        if smoothing > 0:
            plain += tl.sum(tl.where(c < vocab, x, 0.0))
        higher = tl.maximum(peak, tl.max(x))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher))
        peak = higher
    lse = peak + tl.log(total)
    loss = lse - (1 - smoothing) * chosen
    if smoothing > 0:
        loss -= smoothing * plain / vocab
    for start in range(0, vocab, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + c, mask=c < vocab, other=float("-inf")).to(tl.float32)
        g = tl.exp(x - lse) - smoothing / vocab - tl.where(c == target, 1 - smoothing, 0.0)
        tl.store(logits_ptr + c, g, mask=c < vocab)
    tl.store(loss_ptr + row, loss)


@triton.jit
def swiglu(x_ptr, out_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(x_ptr + row * half * 2 + c, mask=c < half, other=0).to(tl.float32)
    up = tl.load(x_ptr + row * half * 2 + half + c, mask=c < half, other=0)
    tl.store(out_ptr + row * half + c, (gate * tl.sigmoid(gate)).to(up.dtype) * up, mask=c < half)


@triton.jit
def geglu_tanh(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0).to(tl.float32)
    b = tl.load(b_ptr + i, mask=i < n, other=0)
    inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    tl.store(out_ptr + i, 0.5 * a * (1 + tanh(inner)) * b, mask=i < n)


@triton.jit
def selective_scan(u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, out_ptr, length, dim, N: tl.constexpr, BLOCK_D: tl.constexpr):
    """One step after the other over time, a state of N per channel."""
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, N)
    inside = d < dim
    a = -tl.exp(tl.load(a_ptr + d[:, None] * N + n[None, :], mask=inside[:, None], other=0.0))
    skip = tl.load(d_ptr + d, mask=inside, other=0.0)
    state = tl.zeros((BLOCK_D, N), dtype=tl.float32)
    for t in range(length):
        u = tl.load(u_ptr + t * dim + d, mask=inside, other=0.0)
        delta = tl.load(delta_ptr + t * dim + d, mask=inside, other=0.0)
        delta = tl.where(delta <= 20.0, tl.log(1 + tl.exp(delta)), delta)
        b = tl.load(b_ptr + t * N + n)
        c = tl.load(c_ptr + t * N + n)
        state = state * tl.exp(delta[:, None] * a) + (delta * u)[:, None] * b[None, :]
        tl.store(out_ptr + t * dim + d, tl.sum(state * c[None, :], axis=1) + u * skip, mask=inside)


@triton.jit
def adam(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, step, decay: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p, g = tl.load(p_ptr + i, mask=mask), tl.load(g_ptr + i, mask=mask).to(tl.float32)
    m = beta1 * tl.load(m_ptr + i, mask=mask) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + i, mask=mask) + (1 - beta2) * g * g
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)
    c1 = 1 - tl.exp2(step * tl.log2(beta1))
    c2 = 1 - tl.exp2(step * tl.log2(beta2))
    if decay != 0.0:
        p *= 1 - lr * decay
    tl.store(p_ptr + i, p - lr * (m / c1) / (tl.sqrt(v / c2) + eps), mask=mask)


@triton.jit
def max_pool(x_ptr, out_ptr, index_ptr, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oh, ow = i // OW, i % OW
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    at = tl.full([BLOCK], -1, tl.int64)
    for kh in tl.static_range(K):
        for kw in tl.static_range(K):
            h, w = oh * S - P + kh, ow * S - P + kw
            ok = (h >= 0) & (h < H) & (w >= 0) & (w < W) & (i < OH * OW)
            x = tl.load(x_ptr + h * W + w, mask=ok, other=float("-inf"))
            at = tl.where(x > best, h * W + w, at)
            best = tl.maximum(best, x)
    tl.store(out_ptr + i, best, mask=i < OH * OW)
    tl.store(index_ptr + i, at, mask=i < OH * OW)


@triton.jit
def jagged_mean(values_ptr, offsets_ptr, out_ptr, dim, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """Means over rows of every length; empty rows give zero."""
    row = tl.program_id(0)
    begin, end = tl.load(offsets_ptr + row), tl.load(offsets_ptr + row + 1)
    d = tl.arange(0, BLOCK_D)
    total = tl.zeros([BLOCK_D], tl.float32)
    for start in range(begin, end, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        x = tl.load(values_ptr + t[:, None] * dim + d[None, :], mask=(t[:, None] < end) & (d[None, :] < dim), other=0.0)
        total += tl.sum(x, axis=0)
    count = tl.maximum(end - begin, 1)
    tl.store(out_ptr + row * dim + d, total / count, mask=d < dim)
