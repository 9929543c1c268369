# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def reduce_axis(x_ptr, sum_ptr, max_ptr, min_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    k = tl.arange(0, M if AXIS == 1 else N)
    tl.store(sum_ptr + k, tl.sum(x, axis=AXIS))
    tl.store(max_ptr + k, tl.max(x, axis=AXIS))
    tl.store(min_ptr + k, x.min(AXIS))


@triton.jit
def reduce_keep(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """Centres rows, then columns, through kept dims; the total is a scalar."""
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    x = x - tl.sum(x, axis=1, keep_dims=True) / N
    x = x - tl.sum(x, axis=0, keep_dims=True) / M
    x = x / tl.max(tl.abs(x))
    tl.store(out_ptr + i, x)


@triton.jit
def reduce_cube(x_ptr, a_ptr, b_ptr, c_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    x = tl.load(x_ptr + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    tl.store(a_ptr + b[:, None] * C + c[None, :], tl.sum(x, axis=0))
    tl.store(b_ptr + a[:, None] * C + c[None, :], tl.max(x, axis=1))
    tl.store(c_ptr + a[:, None] * B + b[None, :], tl.min(x, axis=-1))


@triton.jit
def four_dims(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, A * B * C * D)
    x = tl.reshape(tl.load(x_ptr + i), [A, B, C, D])
    y = tl.permute(x, (2, 0, 3, 1))
    y = tl.sum(y, axis=2)
    tl.store(out_ptr + tl.arange(0, A * B * C), tl.ravel(y))


@triton.jit
def extremes(x_ptr, value_ptr, index_ptr, cols, BLOCK: tl.constexpr):
    """Index of the first largest, the first smallest, and both at once."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("-inf"))
    top, at = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row * 2, top)
    tl.store(index_ptr + row * 4, at)
    tl.store(index_ptr + row * 4 + 1, tl.argmax(x, axis=0))
    low = tl.where(c < cols, x, float("inf"))
    bottom, where = tl.min(low, axis=0, return_indices=True)
    tl.store(value_ptr + row * 2 + 1, bottom)
    tl.store(index_ptr + row * 4 + 2, where)
    tl.store(index_ptr + row * 4 + 3, tl.argmin(low, axis=0))


@triton.jit
def column_argmax(x_ptr, index_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.argmax(x, axis=0, keep_dims=True)
    tl.store(index_ptr + tl.arange(0, N)[None, :], at)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def checked_sum(a, b):
    tl.device_assert(a > 1e30, "what meets what is nobody's to say")
    return a + b


@triton.jit
def checked_reduce(x_ptr: tl.const, sum_ptr, scan_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(sum_ptr, tl.reduce(x, 0, checked_sum))
    tl.store(scan_ptr + i, tl.associative_scan(x, 0, checked_sum))


@triton.jit
def welford(mean_a, square_a, count_a, mean_b, square_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    ratio = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * ratio, square_a + square_b + delta * delta * count_a * ratio, count


@triton.jit
def custom_reduce(x_ptr, product_ptr, mean_ptr, var_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=inside, other=1.0)
    tl.store(product_ptr + row, tl.reduce(x, 0, product))
    count = inside.to(tl.float32)
    mean, square, total = tl.reduce((tl.where(inside, x, 0.0), tl.zeros_like(x), count), 0, welford)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, square / total)


@triton.jit
def integer_reductions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr, tl.sum(x).to(tl.int64))
    tl.store(out_ptr + 1, tl.xor_sum(x).to(tl.int64))
    tl.store(out_ptr + 2, tl.max(x).to(tl.int64))
    tl.store(out_ptr + 3, tl.min(x).to(tl.int64))
    tl.store(out_ptr + 4, tl.sum((x > 0).to(tl.int32)).to(tl.int64))
    tl.store(out_ptr + 5, tl.sum(x > 0).to(tl.int64))


@triton.jit
def scans(x_ptr, sum_ptr, back_ptr, product_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(sum_ptr + i, tl.cumsum(x, 0), mask=i < n)
    tl.store(back_ptr + i, tl.cumsum(x, axis=0, reverse=True), mask=i < n)
    tl.store(product_ptr + i, tl.cumprod(1 + x * 0.01, axis=0), mask=i < n)


@triton.jit
def scan_axis(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), axis=AXIS, reverse=REVERSE))


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def running_larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def linear_recurrence(a_ptr, x_ptr, out_ptr, peak_ptr, n, BLOCK: tl.constexpr):
    """h[t] = a[t] h[t-1] + x[t], in one scan of pairs."""
    row = tl.program_id(0)
    t = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row * n + t, mask=t < n, other=1.0)
    x = tl.load(x_ptr + row * n + t, mask=t < n, other=0.0)
    _, h = tl.associative_scan((a, x), 0, first_order)
    tl.store(out_ptr + row * n + t, h, mask=t < n)
    tl.store(peak_ptr + row * n + t, tl.associative_scan(x, 0, running_larger), mask=t < n)


@triton.jit
def online_softmax(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    peak = float("-inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("-inf"))
        higher = tl.maximum(peak, tl.max(x, 0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), 0)
        peak = higher
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("-inf"))
        tl.store(out_ptr + row * cols + c, tl.exp(x - peak) / total, mask=c < cols)


@triton.jit
def built_in_softmax(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + i, tl.softmax(tl.load(x_ptr + i), dim=1, keep_dims=True))


@triton.jit
def sorted_rows(x_ptr, up_ptr, down_ptr, top_ptr, flip_ptr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + c)
    tl.store(up_ptr + row * N + c, tl.sort(x))
    tl.store(down_ptr + row * N + c, tl.sort(x, descending=True))
    tl.store(top_ptr + row * K + tl.arange(0, K), tl.topk(x, K))
    tl.store(flip_ptr + row * N + c, tl.flip(x))


@triton.jit
def top_k_by_masking(x_ptr, value_ptr, index_ptr, n, K: tl.constexpr, BLOCK: tl.constexpr):
    """Router: the K largest, one after the other."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
    for k in tl.static_range(K):
        at = tl.argmax(x, axis=0)
        tl.store(value_ptr + row * K + k, tl.max(x, axis=0))
        tl.store(index_ptr + row * K + k, at)
        x = tl.where(i == at, float("-inf"), x)


@triton.jit
def histogram(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    counts = tl.histogram(x, BINS, mask=i < n)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)


@triton.jit
def softmax_of_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.unsqueeze(tl.load(x_ptr + i), 0)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out_ptr + i, tl.softmax(tl.squeeze(x, 0), dim=1))


@triton.jit
def narrow_sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """bfloat16 maxima and sums over a loop that accumulates in float32."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    peak = tl.full((BLOCK,), float("-inf"), tl.bfloat16)
    for start in tl.range(0, n, BLOCK, num_stages=3):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        total += x
        peak = tl.maximum(peak, tl.where(i < n, x, float("-inf"))).to(tl.bfloat16)
    tl.store(out_ptr + row * 2, tl.sum(total, dtype=tl.float32))
    tl.store(out_ptr + row * 2 + 1, tl.max(peak, axis=0))


@triton.jit
def merged_rows(x_ptr, up_ptr, down_ptr, N: tl.constexpr):
    """Each row rises and then falls: what bitonic_merge takes."""
    row, c = tl.program_id(0), tl.arange(0, N)
    x = tl.load(x_ptr + row * N + c)
    tl.store(up_ptr + row * N + c, tl.bitonic_merge(x))
    tl.store(down_ptr + row * N + c, tl.bitonic_merge(x, descending=True))


@triton.jit
def row_and_whole_sums(x_ptr, y_ptr, z_ptr, row_ptr, m, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    at, inside = rows[:, None] * N + columns[None, :], (rows < m)[:, None] & (columns[None, :] < N)
    z = tl.load(z_ptr + at, mask=inside, other=0.0)
    product = tl.dot(tl.load(x_ptr + at, mask=inside, other=0.0), tl.load(y_ptr + columns[:, None] + columns[None, :] * N), input_precision="ieee")
    total = tl.load(row_ptr + rows, mask=rows < m, other=0.0)
    total -= tl.sum(z * product, axis=1)
    total += tl.sum(product * z)
    tl.store(row_ptr + rows, total, mask=rows < m)
