# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, x_stride, out_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(out_ptr + row * out_stride + c, e / tl.sum(e, axis=0), mask=c < cols)


@triton.jit
def masked_softmax(x_ptr, keep_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    """Rows of which some elements do not count."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    keep = tl.load(keep_ptr + row * cols + c, mask=inside, other=0) != 0
    x = tl.load(x_ptr + row * cols + c, mask=inside & keep, other=float("-inf"))
    peak = tl.max(x, axis=0)
    e = tl.where(keep, tl.exp(x - peak), 0.0)
    tl.store(out_ptr + row * cols + c, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def rms_norm(x_ptr, weight_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * cols
    out_ptr += row * cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares) / cols + eps)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        w = tl.load(weight_ptr + c, mask=c < cols)
        tl.store(out_ptr + c, x * scale * w, mask=c < cols)


@triton.jit
def layer_norm(x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(c < cols, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / cols
    y = centred / tl.sqrt(variance + eps)
    y = y * tl.load(weight_ptr + c, mask=c < cols) + tl.load(bias_ptr + c, mask=c < cols)
    tl.store(mean_ptr + row, mean)
    tl.store(out_ptr + row * cols + c, y, mask=c < cols)


@triton.jit
def row_argmax(x_ptr, value_ptr, index_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("-inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def cumulative(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0)
    tl.store(out_ptr + row * cols + c, tl.cumsum(x, axis=0), mask=c < cols)


@triton.jit
def column_sums(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, rows, ROWS):
        r = start + tl.arange(0, ROWS)
        inside = (r[:, None] < rows) & (c[None, :] < cols)
        total += tl.sum(tl.load(x_ptr + r[:, None] * cols + c[None, :], mask=inside, other=0.0), axis=0)
    tl.store(out_ptr + c, total, mask=c < cols)


def _block(args):
    return triton.next_power_of_2(args["cols"])


@triton.autotune(
    configs=[
        triton.Config({"SCALE": 2}, num_warps=2),
        triton.Config({"SCALE": 2}, num_warps=4, num_stages=2),
    ],
    key=["cols"],
)
@triton.heuristics({"BLOCK": _block, "EVEN": lambda args: args["cols"] == args["BLOCK"]})
@triton.jit
def tuned_sum(x_ptr, out_ptr, cols, SCALE: tl.constexpr, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + row * cols + c)
    else:
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) * SCALE)
