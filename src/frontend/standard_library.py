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


# Random numbers: Philox 4x32 and 4x64 (Salmon et al., SC 2011).

@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = 10):
    if c0.dtype == tl.uint32:
        step0: tl.constexpr = 0x9E3779B9
        step1: tl.constexpr = 0xBB67AE85
        factor0: tl.constexpr = 0xD2511F53
        factor1: tl.constexpr = 0xCD9E8D57
    else:
        tl.static_assert(c0.dtype == tl.uint64, "philox counts in uint32 or uint64")
        step0: tl.constexpr = 0x9E3779B97F4A7C15
        step1: tl.constexpr = 0xBB67AE8584CAA73B
        factor0: tl.constexpr = 0xD2E7470EE14C6C93
        factor1: tl.constexpr = 0xCA5A826395121157
    for _ in tl.static_range(n_rounds):
        even, odd = c0, c2
        c0 = tl.umulhi(factor1, odd) ^ c1 ^ k0
        c2 = tl.umulhi(factor0, even) ^ c3 ^ k1
        c1 = odd * factor1
        c3 = even * factor0
        k0 = k0 + step0
        k1 = k1 + step1
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = 10):
    seed = tl.to_tensor(seed)
    tl.static_assert(seed.dtype.is_int(), "the seed of philox is an integer")
    seed = seed.to(tl.uint64)
    c0 = tl.to_tensor(c0)
    c1 = tl.to_tensor(c1)
    c2 = tl.to_tensor(c2)
    c3 = tl.to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        word: tl.constexpr = tl.uint32
        high = ((seed >> 32) & 0xffffffff).to(tl.uint32)
        low = (seed & 0xffffffff).to(tl.uint32)
    else:
        tl.static_assert(c0.dtype.primitive_bitwidth == 64, "philox counts in 32 or 64 bits")
        word: tl.constexpr = tl.uint64
        high = tl.full((1, ), 0, tl.uint64)
        low = seed
    return philox_impl(c0.to(word, bitcast=True), c1.to(word, bitcast=True), c2.to(word, bitcast=True),
                       c3.to(word, bitcast=True), low, high, n_rounds)


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = 10):
    offset = tl.to_tensor(offset)
    low = offset.to(tl.uint32)
    zero = low * 0
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(tl.uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr = 10):
    first, a, b, c = randint4x(seed, offset, n_rounds)
    return first


@triton.jit
def uint_to_uniform_float(x):
    # The largest scale whose product with the largest integer rounds to less than 1.
    if x.dtype.primitive_bitwidth == 32:
        x = x.to(tl.int32, bitcast=True)
        scale = 4.6566127342e-10
    else:
        x = x.to(tl.int64, bitcast=True)
        scale = 1.0842020432385337e-19
    return tl.where(x < 0, -x - 1, x) * scale


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr = 10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offsets, n_rounds: tl.constexpr = 10):
    a, b, c, d = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)


@triton.jit
def pair_uniform_to_normal(u1, u2):
    # Box and Muller
    angle = 6.283185307179586 * u2
    radius = tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u1)))
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr = 10):
    a, b, c, d = randint4x(seed, offset, n_rounds)
    first, second = pair_uniform_to_normal(uint_to_uniform_float(a), uint_to_uniform_float(b))
    return first


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = 10):
    a, b, c, d = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(a, b)
    n3, n4 = pair_uniform_to_normal(c, d)
    return n1, n2, n3, n4


# The random numbers of programs: functions of a seed, the number of the run, that of the call site and the element's
# index. Every operation rounds in one way only (integers, powers of two, fma, divisions and roots to nearest), and no
# product that a sum might be merged with is left: the bits are the same on every target.

@triton.jit
def _draw_word(x):
    return tl.to_tensor(x).to(tl.int64).to(tl.uint64, bitcast=True)


@triton.jit
def _draw_mixed(x):
    # Of 64 bits, one for one (the end of MurmurHash3).
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53
    return x ^ (x >> 33)


@triton.jit
def _draw_turn(outer, inner):
    return (_draw_mixed(_draw_word(outer)) + _draw_word(inner)).to(tl.int64, bitcast=True)


@triton.jit
def _draw_words(seed, offset, site, turn, i):
    element = tl.to_tensor(i).to(tl.int64).to(tl.uint64, bitcast=True)
    run = _draw_word(offset) + element * 0
    high = (element >> 32) + (_draw_word(site) << 12)
    key = _draw_word(seed)
    if turn is not None:
        key = key ^ _draw_mixed(_draw_word(turn))
    return philox(key, (element & 0xffffffff).to(tl.uint32), (high & 0xffffffff).to(tl.uint32),
                  (run & 0xffffffff).to(tl.uint32), (run >> 32).to(tl.uint32))


@triton.jit
def _draw_wide(low, high):
    return low.to(tl.uint64) | (high.to(tl.uint64) << 32)


@triton.jit
def _philox_uniform(seed, offset, site, turn, i, bits: tl.constexpr):
    a, b, c, d = _draw_words(seed, offset, site, turn, i)
    if bits > 32:
        x = (_draw_wide(a, b) >> (64 - bits)).to(tl.int64).to(tl.float64)
    else:
        x = (a >> (32 - bits)).to(tl.int32).to(tl.float32)
    scale: tl.constexpr = 1.0 / (1 << bits)
    return x * tl.full((1, ), scale, x.dtype)


@triton.jit
def _draw_log32(u):
    # Of floats in [2^-33, 1]: the exponent's part and cephes' polynomial of what is left, in [sqrt(1/2), sqrt(2)).
    bits = u.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3f3504f3) >> 23
    f = (bits - (exponent << 23)).to(tl.float32, bitcast=True) - 1.0
    e = exponent.to(tl.float32)
    p = tl.fma(f, tl.full((1, ), 7.0376836292e-2, tl.float32), tl.full((1, ), -1.1514610310e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 1.1676998740e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -1.2420140846e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 1.4249322787e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -1.6668057665e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 2.0000714765e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -2.4999993993e-1, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 3.3333331174e-1, tl.float32))
    square = f * f
    y = tl.fma(e, tl.full((1, ), -2.12194440e-4, tl.float32), square * f * p)
    y = tl.fma(square, tl.full((1, ), -0.5, tl.float32), y) + f
    return tl.fma(e, tl.full((1, ), 0.693359375, tl.float32), y)


@triton.jit
def _draw_log64(u):
    # Of doubles in [2^-54, 1]: the exponent's part and fdlibm's polynomial of s = f / (2 + f).
    bits = u.to(tl.int64, bitcast=True)
    exponent = (bits - 0x3fe6a09e667f3bcd) >> 52
    f = (bits - (exponent << 52)).to(tl.float64, bitcast=True) - 1.0
    e = exponent.to(tl.float64)
    s = f / (f + 2.0)
    z = s * s
    p = tl.fma(z, tl.full((1, ), 1.479819860511658591e-01, tl.float64), tl.full((1, ), 1.531383769920937332e-01, tl.float64))
    p = tl.fma(p, z, tl.full((1, ), 1.818357216161805012e-01, tl.float64))
    p = tl.fma(p, z, tl.full((1, ), 2.222219843214978396e-01, tl.float64))
    p = tl.fma(p, z, tl.full((1, ), 2.857142874366239149e-01, tl.float64))
    p = tl.fma(p, z, tl.full((1, ), 3.999999999940941908e-01, tl.float64))
    p = tl.fma(p, z, tl.full((1, ), 6.666666666666735130e-01, tl.float64))
    half = f * 0.5
    r = tl.fma(z, p, half * f)
    low = tl.fma(s, r, e * tl.full((1, ), 1.90821492927058770002e-10, tl.float64))
    return tl.fma(e, tl.full((1, ), 6.93147180369123816490e-01, tl.float64), f - tl.fma(half, f, -low))


@triton.jit
def _draw_logarithm(a, b, wide: tl.constexpr):
    # Of a number in (0, 1] with all bits of the words.
    if wide:
        x = (_draw_wide(a, b) >> 11).to(tl.int64).to(tl.float64)
        scale: tl.constexpr = 1.0 / (1 << 53)
        result = _draw_log64(tl.fma(x, tl.full((1, ), scale, tl.float64), tl.full((1, ), scale / 2, tl.float64)))
    else:
        scale: tl.constexpr = 1.0 / (1 << 32)
        x = a.to(tl.float32)
        result = _draw_log32(tl.fma(x, tl.full((1, ), scale, tl.float32), tl.full((1, ), scale / 2, tl.float32)))
    return result


@triton.jit
def _philox_exponential(seed, offset, site, turn, i, wide: tl.constexpr):
    a, b, c, d = _draw_words(seed, offset, site, turn, i)
    # Never 0, by which samplers divide.
    least: tl.constexpr = 1.0 / (1 << (54 if wide else 33))
    x = 0.0 - _draw_logarithm(a, b, wide)
    return tl.maximum(x, tl.full((1, ), least, x.dtype))


@triton.jit
def _draw_sine_cosine(x):
    # On [-pi/4, pi/4], Taylor's series.
    z = x * x
    sine = tl.full((1, ), 1.0 / 362880.0, x.dtype)
    cosine = tl.full((1, ), -1.0 / 3628800.0, x.dtype)
    if x.dtype == tl.float64:
        sine = tl.fma(z, tl.full((1, ), 1.0 / 355687428096000.0, x.dtype), tl.full((1, ), -1.0 / 1307674368000.0, x.dtype))
        sine = tl.fma(sine, z, tl.full((1, ), 1.0 / 6227020800.0, x.dtype))
        sine = tl.fma(sine, z, tl.full((1, ), -1.0 / 39916800.0, x.dtype))
        sine = tl.fma(sine, z, tl.full((1, ), 1.0 / 362880.0, x.dtype))
        cosine = tl.fma(z, tl.full((1, ), -1.0 / 6402373705728000.0, x.dtype), tl.full((1, ), 1.0 / 20922789888000.0, x.dtype))
        cosine = tl.fma(cosine, z, tl.full((1, ), -1.0 / 87178291200.0, x.dtype))
        cosine = tl.fma(cosine, z, tl.full((1, ), 1.0 / 479001600.0, x.dtype))
        cosine = tl.fma(cosine, z, tl.full((1, ), -1.0 / 3628800.0, x.dtype))
    sine = tl.fma(sine, z, tl.full((1, ), -1.0 / 5040.0, x.dtype))
    sine = tl.fma(sine, z, tl.full((1, ), 1.0 / 120.0, x.dtype))
    sine = tl.fma(sine, z, tl.full((1, ), -1.0 / 6.0, x.dtype))
    cosine = tl.fma(cosine, z, tl.full((1, ), 1.0 / 40320.0, x.dtype))
    cosine = tl.fma(cosine, z, tl.full((1, ), -1.0 / 720.0, x.dtype))
    cosine = tl.fma(cosine, z, tl.full((1, ), 1.0 / 24.0, x.dtype))
    cosine = tl.fma(cosine, z, tl.full((1, ), -0.5, x.dtype))
    return tl.fma(sine * z, x, x), tl.fma(cosine, z, tl.full((1, ), 1.0, x.dtype))


@triton.jit
def _philox_normal(seed, offset, site, turn, i, wide: tl.constexpr):
    # Box and Muller. The angle is a quadrant and what lies around its middle.
    a, b, c, d = _draw_words(seed, offset, site, turn, i)
    logarithm = _draw_logarithm(a, b, wide)
    radius = tl.sqrt_rn(logarithm * -2.0)
    if wide:
        turn = _draw_wide(c, d)
        quadrant = (turn >> 62).to(tl.int64)
        inside = ((turn & 0x3fffffffffffffff) >> 8).to(tl.int64) - 0x20000000000000
        x = inside.to(tl.float64) * tl.full((1, ), 8.719671245021579e-17, tl.float64)
        word: tl.constexpr = tl.int64
        sign_bit: tl.constexpr = 63
    else:
        quadrant = (c >> 30).to(tl.int32)
        inside = (c & 0x3fffffff).to(tl.int32) - 0x20000000
        x = inside.to(tl.float32) * tl.full((1, ), 1.4629180792671596e-9, tl.float32)
        word: tl.constexpr = tl.int32
        sign_bit: tl.constexpr = 31
    sine, cosine = _draw_sine_cosine(x)
    magnitude = radius * tl.where((quadrant & 1) != 0, sine, cosine)
    sign = ((quadrant ^ (quadrant >> 1)) & 1) << sign_bit
    return (magnitude.to(word, bitcast=True) ^ sign).to(magnitude.dtype, bitcast=True)


@triton.jit
def _philox_randint(seed, offset, site, turn, i, low, high):
    a, b, c, d = _draw_words(seed, offset, site, turn, i)
    word = _draw_wide(a, b)
    count = _draw_word(high) - _draw_word(low) + word * 0
    return (_draw_word(low) + tl.umulhi(word, count)).to(tl.int64, bitcast=True)


# PyTorch's own draws of a CUDA device. A thread is a subsequence of the generator and draws four words at a time; an
# element's number of 32 bits is one of them, one of 64 two.

@triton.jit
def _cuda_place(i, threads: tl.constexpr, width: tl.constexpr, vector: tl.constexpr):
    # Which thread draws the element, in which of its turns, and as which number of the turn. 0 threads: as many as are needed.
    element = tl.to_tensor(i).to(tl.int64).to(tl.uint32)
    if vector > 1:
        group = element // vector
        number = element % vector
    else:
        group = element
        number = element * 0
    if threads == 0:
        thread = group
        turn = group * 0
    elif vector > 1:
        thread = group % threads
        turn = group // threads
    else:
        inside = group % (threads * width)
        thread = inside % threads
        turn = group // (threads * width)
        number = inside // threads
    if vector > 4:
        turn = turn * (vector // 4) + number // 4
        number = number % 4
    return thread, turn, number


@triton.jit
def _cuda_words(seed, offset, thread, turn):
    # The offset counts words.
    count = (_draw_word(offset) >> 2) + turn.to(tl.uint64)
    return philox(_draw_word(seed) + count * 0, (count & 0xffffffff).to(tl.uint32), (count >> 32).to(tl.uint32), thread, thread * 0)


@triton.jit
def _cuda_open(word):
    # In (0, 1].
    return tl.fma(word.to(tl.float32), tl.full((1, ), 1.0 / 4294967296.0, tl.float32), tl.full((1, ), 0.5 / 4294967296.0, tl.float32))


@triton.jit
def _cuda_open_wide(first, second):
    word = first.to(tl.uint64) ^ (second.to(tl.uint64) << 21)
    return tl.fma(word.to(tl.float64), tl.full((1, ), 1.0 / 9007199254740992.0, tl.float64), tl.full((1, ), 0.5 / 9007199254740992.0, tl.float64))


@triton.jit
def _cuda_uniform(seed, offset, i, low, range, high, bits: tl.constexpr, threads: tl.constexpr, vector: tl.constexpr):
    thread, turn, number = _cuda_place(i, threads, 2 if bits == 53 else 4, vector)
    a, b, c, d = _cuda_words(seed, offset, thread, turn)
    if bits == 53:
        x = _cuda_open_wide(tl.where(number == 0, a, c), tl.where(number == 0, b, d))
    else:
        x = _cuda_open(tl.where(number < 2, tl.where(number == 0, a, b), tl.where(number == 2, c, d)))
    x = tl.fma(x, tl.full((1, ), range, x.dtype), tl.full((1, ), low, x.dtype))
    if bits == 11:
        x = x.to(tl.float16)
    if bits == 8:
        x = x.to(tl.bfloat16)
    # What is rounded to the end of the range is its beginning.
    return tl.where(x == tl.full((1, ), high, x.dtype), tl.full((1, ), low, x.dtype), x)


@triton.jit
def _cuda_log(u):
    # As CUDA's logf of floats in [2^-33, 1]: the exponent's part and a polynomial of what is left, in [2/3, 4/3).
    bits = u.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3f2aaaab) >> 23
    f = (bits - (exponent << 23)).to(tl.float32, bitcast=True) - 1.0
    p = tl.fma(f, tl.full((1, ), -0.13018856942653656, tl.float32), tl.full((1, ), 0.1408461034297943, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -0.12148627638816833, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 0.1398061066865921, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -0.16684235632419586, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 0.20012299716472626, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -0.24999669194221497, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), 0.333331823348999, tl.float32))
    p = tl.fma(p, f, tl.full((1, ), -0.5, tl.float32))
    return tl.fma(exponent.to(tl.float32), tl.full((1, ), 0.6931471824645996, tl.float32), tl.fma(p * f, f, f))


@triton.jit
def _cuda_normal(seed, offset, i, mean, std, threads: tl.constexpr, wide: tl.constexpr):
    # Box and Muller: a pair of words gives a sine and a cosine.
    thread, turn, number = _cuda_place(i, threads, 2 if wide else 4, 1)
    a, b, c, d = _cuda_words(seed, offset, thread, turn)
    if wide:
        radius = tl.sqrt_rn(_draw_log64(_cuda_open_wide(a, b)) * -2.0)
        # In half turns; a quadrant and what lies around its middle.
        angle = (c.to(tl.uint64) ^ (d.to(tl.uint64) << 21)).to(tl.float64) * tl.full((1, ), 1.0 / 4503599627370496.0, tl.float64) + tl.full((1, ), 1.0 / 9007199254740992.0, tl.float64)
        nearest = tl.floor(angle * 2.0 + 0.5)
        sine, cosine = _draw_sine_cosine(tl.fma(nearest, tl.full((1, ), -0.5, tl.float64), angle) * tl.full((1, ), 3.141592653589793, tl.float64))
        quadrant = (nearest.to(tl.int64) + number.to(tl.int64)) & 3
        x = tl.where((quadrant & 1) != 0, cosine, sine)
        x = tl.where(quadrant > 1, 0.0 - x, x) * radius
    else:
        radius = tl.sqrt_rn(_cuda_log(_cuda_open(tl.where(number < 2, a, c))) * -2.0)
        angle = tl.fma(tl.where(number < 2, b, d).to(tl.float32), tl.full((1, ), 1.462918119976564e-09, tl.float32), tl.full((1, ), 7.31459059988282e-10, tl.float32))
        # The device's own approximations, as curand takes them.
        x = libdevice.fast_sinf(angle)
        if threads != 0:
            x = tl.where((number & 1) != 0, libdevice.fast_cosf(angle), x)
        x = x * radius
    return tl.fma(x, tl.full((1, ), std, x.dtype), tl.full((1, ), mean, x.dtype))


@triton.jit
def _cuda_exponential(seed, offset, i, factor, threads: tl.constexpr, wide: tl.constexpr):
    thread, turn, number = _cuda_place(i, threads, 2 if wide else 4, 1)
    a, b, c, d = _cuda_words(seed, offset, thread, turn)
    # Of what is nearest to 1 it is not 0, by which samplers divide.
    if wide:
        x = _cuda_open_wide(tl.where(number == 0, a, c), tl.where(number == 0, b, d))
        least: tl.constexpr = 1.0 / 9007199254740992.0
        logarithm = _draw_log64(x)
    else:
        x = _cuda_open(tl.where(number < 2, tl.where(number == 0, a, b), tl.where(number == 2, c, d)))
        least: tl.constexpr = 1.0 / 16777216.0
        logarithm = libdevice.fast_logf(x)
    logarithm = tl.where(x >= 1.0 - least, tl.full((1, ), 0.0 - least, x.dtype), logarithm)
    return logarithm * tl.full((1, ), factor, x.dtype)


@triton.jit
def _cuda_randint(seed, offset, i, low, range, threads: tl.constexpr, wide: tl.constexpr):
    thread, turn, number = _cuda_place(i, threads, 2 if wide else 4, 1)
    a, b, c, d = _cuda_words(seed, offset, thread, turn)
    if wide:
        word = _draw_wide(tl.where(number == 0, b, d), tl.where(number == 0, a, c))
        rest = word % (_draw_word(range) + word * 0)
    else:
        word = tl.where(number < 2, tl.where(number == 0, a, b), tl.where(number == 2, c, d))
        rest = (word % (_draw_word(range).to(tl.uint32) + word * 0)).to(tl.uint64)
    return (rest + _draw_word(low)).to(tl.int64, bitcast=True)
