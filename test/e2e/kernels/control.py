# SPDX-License-Identifier: Apache-2.0
from typing import NamedTuple

import torch
import triton
import triton.language as tl

SCALE = tl.constexpr(3)
LIMIT = tl.constexpr(2.5)


@triton.jit
def split_sign(x, gain: tl.constexpr = 2.0):
    """Two results, one default."""
    return tl.where(x > 0, x * gain, 0.0), tl.where(x < 0, -x, 0.0)


@triton.jit
def activate(x, KIND: tl.constexpr):
    if KIND == "relu":
        return tl.maximum(x, 0.0)
    elif KIND == "square":
        return x * x
    else:
        tl.static_assert(KIND == "none", "unknown activation")
        return x


@triton.jit
def nested_helpers(x_ptr, out_ptr, n, KIND: tl.constexpr = "relu", BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    up, down = split_sign(activate(x, KIND) - 0.25, gain=SCALE)
    a, (b, c) = up, split_sign(down)
    tl.store(out_ptr + i, tl.minimum(a + b - c, LIMIT), mask=i < n)


@triton.jit
def early_return(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid % 3 == 1:
        return
    i = pid * BLOCK + tl.arange(0, BLOCK)
    if pid == 2 and n > 0:
        tl.store(out_ptr + i, -1.0, mask=i < n)
        return
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def branches(x_ptr, out_ptr, n, mode, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if mode == 0:
        y = x + 1
        shift = 5
    elif mode < 0 or mode > 10:
        y = -x
        shift = -1
    else:
        y = x * mode
        shift = mode
    z = y if mode != 3 else y * 2
    tl.store(out_ptr + i, z + shift, mask=i < n)


@triton.jit
def collatz(x_ptr, out_ptr):
    """A while loop whose length is data."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + pid, steps)


@triton.jit
def binary_search(edges_ptr, x_ptr, out_ptr, count, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    low = tl.zeros([BLOCK], tl.int32)
    high = tl.full([BLOCK], count, tl.int32)
    while tl.max(high - low, axis=0) > 0:
        middle = (low + high) // 2
        open_ = low < high
        edge = tl.load(edges_ptr + middle, mask=open_, other=0.0)
        right = edge < x
        low = tl.where(open_ & right, middle + 1, low)
        high = tl.where(open_ & ~right, middle, high)
    tl.store(out_ptr + i, low, mask=i < n)


@triton.jit
def unrolled(x_ptr, out_ptr, n, TAPS: tl.constexpr, DILATION: tl.constexpr, BLOCK: tl.constexpr):
    """A causal convolution, its taps written out by the compiler."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for tap in tl.static_range(0, TAPS):
        at = i - tap * DILATION
        total += tl.load(x_ptr + at, mask=(at >= 0) & (i < n), other=0.0) * (tap + 1)
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def backwards(x_ptr, out_ptr, n):
    total = 0.0
    for k in range(n - 1, -1, -1):
        total = total * 0.5 + tl.load(x_ptr + k)
        tl.store(out_ptr + k, total)


@triton.jit
def nested_loops(out_ptr, a, b):
    total = 0
    for i in range(a):
        for j in range(i, b, 2):
            if (i + j) % 3 == 0:
                total += i * j
            else:
                total -= 1
    tl.store(out_ptr, total)


@triton.jit
def persistent(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Each program takes every num_programs-th tile."""
    for tile in tl.range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0), flatten=True):
        i = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def compile_time(out_ptr, bias_ptr, DTYPE: tl.constexpr, NAME: tl.constexpr, SHAPE: tl.constexpr = (4, 8), FLAG: tl.constexpr = True):
    """Tuples, types, strings, None and shapes decided while compiling."""
    ROWS: tl.constexpr = SHAPE[0]
    COLS: tl.constexpr = SHAPE[1]
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    x = tl.full(SHAPE, 1.5, DTYPE)
    tl.static_assert(x.shape[0] == ROWS and x.dtype == DTYPE and x.numel == ROWS * COLS)
    if FLAG and NAME == "twice":
        x *= 2
    elif NAME in ("thrice", "triple"):
        x *= 3
    if bias_ptr is not None:
        x += tl.load(bias_ptr + tl.arange(0, COLS))[None, :]
    if x.dtype.is_floating() and DTYPE.primitive_bitwidth == 32:
        x += 0.25
    tl.store(out_ptr + i, x + len(SHAPE) + min(ROWS, COLS))


@triton.jit
def checked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.device_assert(x < 100, "an index is too large")
    tl.store(out_ptr + i, x, mask=i < n)


@triton.jit
def talkative(x_ptr, n):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    tl.device_print("value", x)


@triton.jit
def assembly(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, y)


@triton.jit
def wrong_shape(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    y = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 8), x + y)


@triton.jit
def odd_range(out_ptr):
    tl.store(out_ptr + tl.arange(0, 12), 1.0)


@triton.jit
def undefined_name(out_ptr):
    tl.store(out_ptr, missing + 1)


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def even_or_masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) - 1, mask=i < n)


@triton.jit
def random_numbers(out_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.randint(seed, i), mask=i < n)


@triton.jit
def dropout(x_ptr, out_ptr, keep_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=i < n)
    tl.store(keep_ptr + i, keep, mask=i < n)


class Rows(NamedTuple):
    base: tl.tensor
    stride: tl.tensor
    width: tl.constexpr = 8


@triton.jit
def row_pointers(rows, r):
    columns = tl.arange(0, 8)
    return Rows(rows.base + r * rows.stride + columns, stride=rows.stride, width=rows.width)


@triton.jit
def named_tuples(x_ptr, out_ptr, stride, count, swap: tl.constexpr):
    source, target = Rows(x_ptr, stride), Rows(base=out_ptr, width=8, stride=stride)
    tl.static_assert(isinstance(source, Rows) and len(source) == 3)
    for r in range(count):
        here = row_pointers(source, r)
        there = row_pointers(target, count - 1 - r if swap else r)
        tl.store(there.base, tl.load(here.base))
    if count > 2:
        last = Rows(target.base, target.stride * 2)
    else:
        last = Rows(target.base + 1, target.stride)
    tl.store(last.base + last[1], -1.0)


def make_filler(value=4.0, factor=0.5):
    fill = tl.constexpr(value)

    @triton.jit
    def filler(out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, BLOCK), fill)

    return filler


@triton.jit
def starred(out_ptr, a, b, c, d):
    values = (a, b, c, d)
    first, *rest = values
    *front, last = rest
    tl.store(out_ptr + 0, first)
    tl.store(out_ptr + 1, last)
    tl.store(out_ptr + 2, front[0] * len(front))
    [*none, x, y] = front
    tl.store(out_ptr + 3, x - y + len(none))


@triton.jit
def target_queries(out_ptr):
    if tl.target_info.is_cuda() and tl.target_info.cuda_capability_geq(9, 0):
        tl.store(out_ptr, tl.inline_asm_elementwise("mov.u32 $0, 1;", "=r", [], tl.int32, True, 1))
    elif tl.target_info.is_hip() or tl.target_info.is_hip_cdna3() or tl.target_info.is_hip_cdna4() or tl.target_info.current_target() is not None:
        tl.store(out_ptr, 2)
    else:
        tl.store(out_ptr, 3)


@triton.jit
def walrus(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    last = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        if (total := tl.sum(tl.load(x_ptr + i, mask=(inside := i < n), other=0.0))) > 0:
            tl.store(out_ptr + i, total, mask=inside)
        last = tl.maximum(last, total)
    tl.store(out_ptr + n, last)


@triton.autotune(configs=[triton.Config({"BLOCK": 4, "SCALE": 2.0}), triton.Config({"BLOCK": 8, "SCALE": 3.0})], key=["n"])
@triton.heuristics({"EVEN": lambda args: torch.cuda.get_device_properties("cuda").multi_processor_count > 1, "ADD": lambda args: args["n"]})
@triton.jit
def tuned(out_ptr, n, BLOCK: tl.constexpr, SCALE: tl.constexpr, EVEN: tl.constexpr, ADD: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, i * SCALE + ADD + EVEN)


@triton.jit
def signed_part(x, POSITIVE: tl.constexpr, limit):
    if POSITIVE:
        if limit > 0:
            return tl.where(x > limit, x, 0.0)
        elif limit == 0:
            return tl.maximum(x, 0.0)
        x += 10
    return -x


@triton.jit
def constant_then_early_return(x_ptr, out_ptr, n, limit, SKIP: tl.constexpr, POSITIVE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if SKIP is not None:
        if pid == SKIP:
            return
        if SKIP > 2:
            if pid > SKIP:
                tl.store(out_ptr + pid * BLOCK, -1.0)
                return
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, signed_part(tl.load(x_ptr + i, mask=i < n), POSITIVE, limit), mask=i < n)


@triton.aggregate
class Window:
    """Where a program reads; its constructor is written by triton.aggregate."""

    pointer: tl.tensor
    n: tl.tensor
    BLOCK: tl.constexpr = 64

    @triton.jit
    def offsets(self):
        return tl.program_id(0) * self.BLOCK + tl.arange(0, self.BLOCK)

    @triton.jit
    def load(self, other=0.0):
        offsets = self.offsets()
        return tl.load(self.pointer + offsets, mask=offsets < self.n, other=other)

    @triton.jit
    def store(self, value):
        offsets = self.offsets()
        tl.store(self.pointer + offsets, value, mask=offsets < self.n)

    @triton.jit
    def __getitem__(self, power):
        x = self.load()
        for _ in tl.static_range(power - 1):
            x *= self.load()
        return x


@triton.aggregate
class Running:
    """What a loop carries; the constructor is its own."""

    total: tl.tensor
    count: tl.tensor
    scale: tl.constexpr

    def __init__(self, total, count, scale=2):
        self.total = total
        self.count = count
        self.scale = tl.constexpr(scale + 1)

    @triton.jit
    def add(self, x):
        return Running(self.total + x * self.scale, self.count + 1, self.scale - 1)

    @staticmethod
    @triton.jit
    def start(like):
        return Running(tl.zeros_like(like), 0)

    @triton.constexpr_function
    def squared_scale(self):
        return self.scale * self.scale


@triton.aggregate
class Halved(Running):
    @triton.jit
    def mean(self):
        return self.total / self.count / 2


@triton.jit
def aggregates(x_ptr, out_ptr, turns, n, BLOCK: tl.constexpr = 32):
    source = Window(x_ptr, n, BLOCK=BLOCK)
    running = Running.start(source.load())
    for i in range(turns):
        running = running.add(source[2])
    halved = Halved(running.total, running.count, scale=4)
    if turns > 2:
        halved = tl.aggregate_replace(halved, total=halved.total + 1.0, scale=4)
    Window(out_ptr, n, BLOCK).store(halved.mean() * halved.scale)


@triton.jit
def changed_aggregate(x_ptr, n):
    window = Window(x_ptr, n)
    window.n = 3


@triton.aggregate
class Forgetful:
    a: tl.tensor
    b: tl.tensor

    def __init__(self, a):
        self.a = a


@triton.jit
def forgetful_aggregate(x_ptr):
    Forgetful(x_ptr)


@triton.jit
def aggregate_of_a_variable(x_ptr, n):
    Window(x_ptr, n, BLOCK=n)


@triton.jit
def aggregate_without_a_field(x_ptr, n):
    tl.store(x_ptr, Window(x_ptr, n).missing)


@triton.jit
def unpacked_aggregate(x_ptr, n):
    pointer, size, block = Window(x_ptr, n)


@triton.jit
def weighted(first, *rest, scale: tl.constexpr = 1):
    total = first * scale
    for i in tl.static_range(len(rest)):
        total += rest[i] * (i + 2)
    return total


@triton.jit
def pairs_of(*values):
    return tl.tuple([v + 1 for v in values]) + tl.tuple((values[0], len(values)))


@triton.jit
def rest_of_arguments(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    turns = 0
    while tl.condition(turns < n, disable_licm=True):
        turns += 7
    shape: tl.constexpr = (1, 2, 3)
    a, b, c, count = pairs_of(x, turns)
    total = weighted(a, b) + weighted(c, scale=3) + weighted(*shape) + weighted(x, x, x, count, scale=2)
    tl.store(out_ptr + i, total, mask=i < n)
