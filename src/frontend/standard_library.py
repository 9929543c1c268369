# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.constexpr_function
def exponent_of(size):
    exponent = 0
    while size > 1:
        size = size >> 1
        exponent = exponent + 1
    return exponent


@triton.constexpr_function
def summing_type(given, wanted):
    if wanted is not None:
        return wanted
    if given.is_int() and given.primitive_bitwidth < 32:
        return tl.int32 if given.is_int_signed() else tl.uint32
    return None


@triton.constexpr_function
def integer_of(bits):
    if bits == 8:
        return tl.int8
    if bits == 16:
        return tl.int16
    return tl.int32 if bits == 32 else tl.int64


@triton.constexpr_function
def wrapped_dim(dim, rank):
    if dim is None:
        return rank - 1
    return dim + rank if dim < 0 else dim


# Arithmetic.

@triton.jit
def cdiv(x, div):
    return (x + (div - 1)) // div


@triton.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    # The dim is kept whatever keep_dims says, as from Triton 3.9: without it, only one dim or the first works.
    axis: tl.constexpr = 0 if dim is None else dim
    raised = tl.exp(x - max(x, axis, keep_dims=True))
    return tl.fdiv(raised, sum(raised, axis, keep_dims=True), ieee_rounding)


@triton.jit
def unsqueeze(x, dim: tl.constexpr):
    return tl.expand_dims(x, dim)


@triton.constexpr_function
def shape_without(shape, dim):
    axis = wrapped_dim(dim, len(shape))
    return [shape[i] for i in range(len(shape)) if i != axis]


@triton.jit
def squeeze(x, dim: tl.constexpr):
    tl.static_assert(x.shape[dim] == 1, "squeeze takes a dim of length 1")
    return tl.reshape(x, shape_without(x.shape, dim))


# Values of which the program expects that they vanished where the mask is true.

@triton.jit
def expect_zero(x, mask):
    return x


# Atomic reads and writes change nothing, or return nothing, of what those that do both do.

@triton.constexpr_function
def is_one_of(sem, known):
    return sem is None or sem in known


@triton.jit
def atomic_load(pointer, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):
    tl.static_assert(is_one_of(sem, ("acquire", "relaxed")), "atomic_load takes 'acquire' or 'relaxed'")
    kind: tl.constexpr = pointer.dtype.element_ty
    bits: tl.constexpr = integer_of(kind.primitive_bitwidth)
    found = tl.atomic_or(pointer.to(tl.pointer_type(bits), bitcast=True), 0, mask=mask, sem=sem, scope=scope)
    return found.to(kind, bitcast=True)


@triton.jit
def atomic_store(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):
    tl.static_assert(is_one_of(sem, ("release", "relaxed")), "atomic_store takes 'release' or 'relaxed'")
    tl.atomic_xchg(pointer, val, mask=mask, sem=sem, scope=scope)


@triton.jit
def not_yet_equal(pointer, expected, sem: tl.constexpr, scope: tl.constexpr):
    found = tl.atomic_load(pointer, sem=sem, scope=scope)
    tl.static_assert(found.dtype.is_int(), "atomic_poll takes pointers to integers")
    differ = (found != expected).to(tl.int32)
    if len(found.shape) > 0:
        differ = max(differ, axis=None)
    return differ != 0, found == found


# Waits without an end: what it waits for is written by a program that runs beside this one, or ran before it.
@triton.jit
def atomic_poll(pointer, expected_value, sem: tl.constexpr = None, scope: tl.constexpr = None, timeout_ns: tl.constexpr = None):
    tl.static_assert(timeout_ns is None, "atomic_poll waits as long as it takes; a timeout_ns is not supported")
    waits, seen = not_yet_equal(pointer, expected_value, sem, scope)
    while waits:
        waits, seen = not_yet_equal(pointer, expected_value, sem, scope)
    return seen


# Of tl.extra.cuda; on a CPU there is nothing equal.

@triton.jit
def smid():
    return tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)


@triton.jit
def globaltimer():
    return tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)


# Programs that wait for the launch before theirs: ours begin after it has ended.

@triton.jit
def gdc_wait():
    pass


@triton.jit
def gdc_launch_dependents():
    pass


@triton.jit
def zeros(shape, dtype):
    return tl.full(shape, 0, dtype)


@triton.jit
def zeros_like(input):
    return tl.full(input.shape, 0, input.dtype)


@triton.jit
def ravel(x, can_reorder=False):
    return tl.reshape(x, [x.numel], can_reorder=can_reorder)


@triton.jit
def interleave(a, b):
    joined = tl.join(a, b)
    if len(joined.shape) == 1:
        return joined
    return tl.reshape(joined, joined.shape[:-2] + [2 * joined.shape[-2]])


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    linear = i * size_j + j
    in_group = size_g * size_j
    first = linear // in_group * size_g
    rows = tl.minimum(size_i - first, size_g)
    linear = linear % in_group
    return first + linear % rows, linear // rows


# Reductions and scans.

@triton.jit
def add_pair(a, b):
    return a + b


@triton.jit
def multiply_pair(a, b):
    return a * b


@triton.jit
def xor_pair(a, b):
    return a ^ b


@triton.jit
def or_pair(a, b):
    return a | b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b)


@triton.jit
def pick(take_first, value1, index1, value2, index2):
    return tl.where(take_first, value1, value2), tl.where(take_first, index1, index2)


@triton.jit
def larger_leftmost(value1, index1, value2, index2):
    tie = value1 == value2 and index1 < index2
    return pick(value1 > value2 or tie, value1, index1, value2, index2)


@triton.jit
def larger_any(value1, index1, value2, index2):
    return pick(value1 > value2, value1, index1, value2, index2)


@triton.jit
def smaller_leftmost(value1, index1, value2, index2):
    tie = value1 == value2 and index1 < index2
    return pick(value1 < value2 or tie, value1, index1, value2, index2)


@triton.jit
def smaller_any(value1, index1, value2, index2):
    return pick(value1 < value2, value1, index1, value2, index2)


@triton.jit
def extreme_input(input):
    if input.dtype.primitive_bitwidth >= 32:
        return input
    return input.to(tl.float32 if input.dtype.is_floating() else tl.int32)


@triton.jit
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    input = tl._promote_bfloat16_to_float32(input)
    if return_indices:
        return tl._reduce_with_indices(input, axis, larger_leftmost if return_indices_tie_break_left else larger_any, keep_dims=keep_dims)
    return tl.reduce(extreme_input(input), axis, larger, keep_dims=keep_dims)


@triton.jit
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    input = tl._promote_bfloat16_to_float32(input)
    if return_indices:
        return tl._reduce_with_indices(input, axis, smaller_leftmost if return_indices_tie_break_left else smaller_any, keep_dims=keep_dims)
    return tl.reduce(extreme_input(input), axis, smaller, keep_dims=keep_dims)


@triton.jit
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    value, index = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


@triton.jit
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    value, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


@triton.jit
def sum(input, axis=None, keep_dims=False, dtype: tl.constexpr = None):
    wide: tl.constexpr = summing_type(input.dtype, dtype)
    if wide is not None:
        input = input.to(wide)
    return tl.reduce(input, axis, add_pair, keep_dims=keep_dims)


@triton.jit
def xor_sum(input, axis=None, keep_dims=False):
    tl.static_assert(input.dtype.is_int(), "xor_sum takes integers")
    return tl.reduce(input, axis, xor_pair, keep_dims=keep_dims)


@triton.jit
def reduce_or(input, axis, keep_dims=False):
    tl.static_assert(input.dtype.is_int(), "reduce_or takes integers")
    return tl.reduce(input, axis, or_pair, keep_dims=keep_dims)


@triton.jit
def cumsum(input, axis=0, reverse=False, dtype: tl.constexpr = None):
    input = tl._promote_bfloat16_to_float32(input)
    wide: tl.constexpr = summing_type(input.dtype, dtype)
    if wide is not None:
        input = input.to(wide)
    return tl.associative_scan(input, axis, add_pair, reverse)


@triton.jit
def cumprod(input, axis=0, reverse=False, dtype: tl.constexpr = None):
    input = tl._promote_bfloat16_to_float32(input)
    if dtype is not None:
        input = input.to(dtype)
    return tl.associative_scan(input, axis, multiply_pair, reverse)


# Bitonic sorting. A tile of 2**n elements is seen as a hypercube of n dims of size 2; dim 0 of the algorithm is the
# innermost one.

@triton.jit
def position(rank: tl.constexpr, bit: tl.constexpr):
    return tl.reshape(tl.arange(0, 2), [1] * (rank - bit - 1) + [2] + [1] * bit)


@triton.jit
def exchange(x, flip, bit: tl.constexpr):
    rank: tl.constexpr = exponent_of(x.numel)
    bits = x.to(integer_of(x.dtype.primitive_bitwidth), bitcast=True)
    # The element on the other side of the dim: the xor of both, xored with this one.
    partner = (bits ^ xor_sum(bits, rank - 1 - bit, True)).to(x.dtype, bitcast=True)
    return tl.where((x > partner) != (flip ^ position(rank, bit)), partner, x)


@triton.jit
def merge(x, stage: tl.constexpr, order: tl.constexpr):
    # order: 0 ascending, 1 descending, 2 alternating
    integers: tl.constexpr = x.dtype.is_int()
    if order == 2:
        flip = position(exponent_of(x.numel), stage)
    else:
        flip = order
    if order == 2 and integers:
        # ~x descends where x ascends: all exchanges then go one way, and those within a thread are a minimum and a maximum.
        turned = (0 - flip).to(x.dtype)
        x = x ^ turned
        for i in tl.static_range(stage):
            x = exchange(x, 0, stage - 1 - i)
        x = x ^ turned
    else:
        for i in tl.static_range(stage):
            x = exchange(x, flip, stage - 1 - i)
    return x


@triton.jit
def sort_impl(x, k: tl.constexpr = None, dim: tl.constexpr = None, descending: tl.constexpr = 0):
    along: tl.constexpr = wrapped_dim(dim, len(x.shape))
    tl.static_assert(along == len(x.shape) - 1, "only the last dim can be sorted")
    size: tl.constexpr = exponent_of(x.shape[-1])
    kept: tl.constexpr = size if k is None else exponent_of(k)
    rank: tl.constexpr = exponent_of(x.numel)
    cube = tl.reshape(x, [2] * rank if rank else [1])
    for i in tl.static_range(1, kept + 1):
        cube = merge(cube, i, 2 if i < size else descending)
    for i in tl.static_range(kept + 1, size + 1):
        if descending:
            cube = max(cube, axis=exponent_of(cube.numel) - 1 - kept)
        else:
            cube = min(cube, axis=exponent_of(cube.numel) - 1 - kept)
        cube = merge(cube, kept, 2 if i < size else descending)
    return tl.reshape(cube, x.shape[:-1] + [2**kept])


@triton.jit
def sort(x, dim: tl.constexpr = None, descending: tl.constexpr = 0):
    return sort_impl(x, dim=dim, descending=descending)


@triton.jit
def topk(x, k: tl.constexpr, dim: tl.constexpr = None, descending: tl.constexpr = True):
    tl.static_assert(k > 0 and (k & (k - 1)) == 0 and k <= x.shape[-1], f"the k of topk is a power of two that the last dim holds, got {k}")
    return sort_impl(x, k=k, dim=dim, descending=descending)


@triton.jit
def bitonic_merge(x, dim: tl.constexpr = None, descending: tl.constexpr = 0):
    along: tl.constexpr = wrapped_dim(dim, len(x.shape))
    tl.static_assert(along == len(x.shape) - 1, "only the last dim can be merged")
    cube = tl.reshape(x, [2] * exponent_of(x.numel))
    return tl.reshape(merge(cube, exponent_of(x.shape[-1]), descending), x.shape)


@triton.jit
def flip(x, dim=None):
    along: tl.constexpr = wrapped_dim(dim, len(x.shape))
    tl.static_assert(0 <= along and along < len(x.shape), "the dim of flip is out of range")
    steps: tl.constexpr = exponent_of(x.shape[along])
    y = tl.reshape(x.to(integer_of(x.dtype.primitive_bitwidth), bitcast=True), x.shape[:along] + [2] * steps + x.shape[along + 1:])
    for i in tl.static_range(steps):
        y = y ^ xor_sum(y, along + i, True)
    return tl.reshape(y, x.shape).to(x.dtype, bitcast=True)
