# SPDX-License-Identifier: Apache-2.0
"""Reductions over rows: softmax, norms, losses."""
import triton
import triton.language as tl

CASES = [
    ("softmax_persistent", "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32, BLOCK=1024, num_stages=4"),
    ("softmax_online", "*bf16, *bf16, i32, i32, BLOCK=256"),
    ("rmsnorm", "*bf16:16, *bf16:16, *bf16:16, *fp32, i32, i32, fp32, BLOCK=512"),
    ("rmsnorm_loop", "*fp16, *fp16, *fp16, i32, fp32, BLOCK=128"),
    ("layernorm_forward", "*fp16, *fp16, *fp16, *fp16, *fp32, *fp32, i32, i32, fp32, BLOCK=128"),
    ("layernorm_backward_dx", "*fp16, *fp16, *fp16, *fp16, *fp16, *fp16, *fp32, *fp32, *i32, i32, i32, GROUP=64, BLOCK=256"),
    ("layernorm_backward_dwdb", "*fp16, *fp16, *fp32, *fp32, i32, i32, BLOCK_M=32, BLOCK_N=128"),
    ("cross_entropy_forward", "*bf16, *fp32, *fp32, *i64, i32, i64, BLOCK=1024, CAP=0.0"),
    ("cross_entropy_forward", "*bf16, *fp32, *fp32, *i64, i32, i64, BLOCK=1024, CAP=30.0"),
    ("cross_entropy_backward", "*bf16, *fp32, *fp32, *i64, i32, i64, BLOCK=512"),
    ("row_statistics", "*fp16, *fp32, *i32, i32, BLOCK=64"),
    ("integer_reductions", "*i8, *i32, *u8, *i64, BLOCK=64"),
    ("reduce_two_dims", "*bf16, *fp32, *i32, M=16, N=32"),
    ("welford", "*fp32, *fp32, i32, BLOCK=128"),
    ("standard_softmax", "*fp32, *fp32, M=8, N=64"),
]


@triton.jit
def softmax_persistent(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        start = in_ptr + row * in_stride
        cols = tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(start + cols, mask=mask, other=-float("inf"))
        x = x - tl.max(x, axis=0)
        numerator = tl.exp(x)
        y = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + cols, y, mask=mask)


@triton.jit
def softmax_online(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    out_ptr += row * stride
    m = float("-inf")
    d = 0.0
    for i in range(0, n, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    for i in range(0, n, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
        tl.store(out_ptr + cols, tl.exp(x - m) / d, mask=cols < n)


@triton.jit
def rmsnorm(y_ptr, x_ptr, w_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0)
    w = tl.load(w_ptr + cols, mask=mask, other=0)
    dtype = x.dtype
    x = x.to(tl.float32)
    mean_square = tl.sum(x * x, axis=0) / n
    rstd = tl.rsqrt(mean_square + eps)
    tl.store(rstd_ptr + row, rstd)
    x = (x * rstd).to(dtype)
    tl.store(y_ptr + row * stride + cols, x * (1.0 + w), mask=mask)


@triton.jit
def rmsnorm_loop(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
        total += x * x
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * n + cols, x * scale * w, mask=mask)


@triton.jit
def layernorm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y_ptr += row * stride
    x_ptr += row * stride
    mean = 0
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=0) / n
    var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.0)
        var += x * x
    rstd = 1 / tl.sqrt(tl.sum(var, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layernorm_backward_dx(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, n,
                          GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x_ptr += row * stride
    dy_ptr += row * stride
    dx_ptr += row * stride
    lock_id = row % GROUP
    lock_ptr += lock_id
    count_ptr = lock_ptr + GROUP
    dw_ptr = dw_ptr + lock_id * n + cols
    db_ptr = db_ptr + lock_id * n + cols
    x = tl.load(x_ptr + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.)
    wdy = tl.where(mask, w * dy, 0.)
    c1 = tl.sum(xhat * wdy, axis=0) / n
    c2 = tl.sum(wdy, axis=0) / n
    tl.store(dx_ptr + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptr, mask=mask)
        partial_db += tl.load(db_ptr, mask=mask)
    tl.store(dw_ptr, partial_dw, mask=mask)
    tl.store(db_ptr, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def layernorm_backward_dwdb(dw_ptr, db_ptr, out_dw_ptr, out_db_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    cols = pid * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, m, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        offs = rows[:, None] * n + cols[None, :]
        dw += tl.load(dw_ptr + offs, mask=mask, other=0.)
        db += tl.load(db_ptr + offs, mask=mask, other=0.)
    tl.store(out_dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < n)
    tl.store(out_db_ptr + cols, tl.sum(db, axis=0), mask=cols < n)


@triton.jit
def cross_entropy_forward(logits_ptr, loss_ptr, lse_ptr, labels_ptr, vocab, stride, BLOCK: tl.constexpr, CAP: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row * stride.to(tl.int64)
    loss_ptr += row
    lse_ptr += row
    labels_ptr += row
    cols = tl.arange(0, BLOCK)
    mask = cols < vocab
    label = tl.load(labels_ptr).to(tl.int32)
    logits = tl.load(logits_ptr + cols, mask=mask, other=-float("inf")).to(tl.float32)
    if CAP > 0:
        logits = CAP * tl.exp(logits / CAP)
    c = tl.max(logits, 0)
    lse = c + tl.log(tl.sum(tl.exp(logits - c), 0))
    if label != -100:
        x = tl.load(logits_ptr + label).to(tl.float32)
        if CAP > 0:
            x = CAP * tl.exp(x / CAP)
        loss = lse - x
    else:
        loss = 0.0
    tl.store(lse_ptr, lse)
    tl.store(loss_ptr, loss)


@triton.jit
def cross_entropy_backward(logits_ptr, dloss_ptr, lse_ptr, labels_ptr, vocab, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    block = tl.program_id(1)
    logits_ptr += row * stride
    dloss_ptr += row
    cols = block * BLOCK + tl.arange(0, BLOCK)
    mask = cols < vocab
    label = tl.load(labels_ptr + row).to(tl.int32)
    if label != -100:
        dloss = tl.load(dloss_ptr)
    else:
        dloss = 0.0
    x = tl.load(logits_ptr + cols, mask=mask, other=-float("inf")).to(tl.float32)
    lse = tl.load(lse_ptr + row)
    y = tl.exp(x - lse)
    y = tl.where(cols == label, y - 1.0, y)
    tl.store(logits_ptr + cols, dloss * y, mask=mask)


@triton.jit
def row_statistics(x_ptr, out_ptr, index_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x, 0))
    tl.store(out_ptr + 2, x.min())
    best, where = tl.max(x, axis=0, return_indices=True)
    tl.store(out_ptr + 3, best)
    tl.store(index_ptr, where)
    tl.store(index_ptr + 1, tl.argmax(x, 0))
    tl.store(index_ptr + 2, tl.argmin(x, axis=0, tie_break_left=False))
    tl.store(out_ptr + 4 + i, tl.cumsum(x, 0))
    tl.store(out_ptr + 68 + i, tl.cumsum(x.to(tl.float32), axis=0, reverse=True))
    tl.store(out_ptr + 132 + i, tl.cumprod(x, 0))


@triton.jit
def integer_reductions(s_ptr, i_ptr, u_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + i)
    w = tl.load(i_ptr + i)
    u = tl.load(u_ptr + i)
    tl.store(out_ptr, tl.sum(s))
    tl.store(out_ptr + 1, tl.sum(u, 0))
    tl.store(out_ptr + 2, tl.sum(s > 3))
    tl.store(out_ptr + 3, tl.max(s, 0) + tl.min(w, 0) + tl.max(u, 0))
    tl.store(out_ptr + 4, tl.xor_sum(w, 0))
    tl.store(out_ptr + 5, tl.reduce_or(w, 0))
    tl.store(out_ptr + 6, tl.sum(s, dtype=tl.int64))


@triton.jit
def reduce_two_dims(x_ptr, out_ptr, index_ptr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols)
    tl.store(out_ptr + rows, tl.sum(x, axis=1))
    tl.store(out_ptr + cols, tl.max(x, axis=-2))
    tl.store(out_ptr + rows[:, None] + tl.zeros([1, 1], tl.int32), tl.sum(x.to(tl.float32), axis=1, keep_dims=True))
    tl.store(out_ptr, tl.sum(x.to(tl.float32)))
    value, index = tl.min(x, axis=1, return_indices=True, return_indices_tie_break_left=False)
    tl.store(out_ptr + rows, value)
    tl.store(index_ptr + rows, index)
    y = x.to(tl.float32)
    y = y - tl.max(y, axis=1)[:, None]
    y = y / tl.sum(tl.exp(y), axis=1)[:, None]
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], y)


@triton.jit
def combine_welford(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    ratio = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * weight_a * ratio, weight


@triton.jit
def welford(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    weight = (i < n).to(tl.float32)
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), weight), 0, combine_welford)
    tl.store(out_ptr, mean)
    tl.store(out_ptr + 1, m2 / count)


@triton.jit
def standard_softmax(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.softmax(x))
    tl.store(out_ptr + i, tl.softmax(x, dim=1, keep_dims=True))
