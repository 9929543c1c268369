# SPDX-License-Identifier: Apache-2.0
# torch._inductor.runtime.triton_helpers: what kernels that torch.compile wrote call. Parameters are
# named and ordered as there; what later versions added has a default.
import triton
import triton.language as tl
from triton.language import math
from triton.language.extra import libdevice


def set_driver_to_gpu():
    pass


def set_driver_to_cpu():
    pass


@triton.jit
def promote_to_tensor(x):
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def if_mask(mask, val):
    """None without a mask: a load takes `other` only beside one."""
    if mask is None:
        return None
    return val


@triton.constexpr_function
def constexpr_next_power_of_2(n):
    return triton.next_power_of_2(n)


@triton.jit
def device_assert_then(cond, msg, r):
    tl.device_assert(cond, msg)
    return r


# ---- integers: kernels divide towards zero, PyTorch towards minus infinity


@triton.jit
def div_floor_integer(a, b):
    towards_zero = a // b
    is_rounded_up = (a % b != 0) & ((a < 0) != (b < 0))
    return tl.where(is_rounded_up, towards_zero - 1, towards_zero)


@triton.jit
def remainder_integer(a, b):
    left = a % b
    return tl.where((left != 0) & ((a < 0) != (b < 0)), left + b, left)


@triton.jit
def pow_integer(base, exponent):
    bits: tl.constexpr = exponent.dtype.primitive_bitwidth
    left = exponent.to(tl.core.get_int_dtype(bits, signed=False))
    power = tl.full(base.shape, 1, base.dtype)
    square = base
    for _ in tl.static_range(bits):
        power = tl.where((left & 1) == 1, power * square, power)
        square = square * square
        left = left >> 1
    return power


# ---- reductions: a NaN wins, and of equal values the first


@triton.jit
def minimum(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def fmaximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def _strict_minimum(a, b):
    return tl.where(a == b, b, minimum(a, b))


@triton.jit
def _strict_maximum(a, b):
    return tl.where(a == b, b, maximum(a, b))


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def min2_strict(a, dim):
    return tl.reduce(a, dim, _strict_minimum)


@triton.jit
def max2_strict(a, dim):
    return tl.reduce(a, dim, _strict_maximum)


@triton.jit
def fmax2(a, dim):
    return tl.reduce(a, dim, fmaximum)


@triton.jit
def _product(a, b):
    return a * b


@triton.jit
def prod(input, axis):
    return tl.reduce(input, axis, _product)


@triton.jit
def _either(a, b):
    return a | b


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _either)


@triton.jit
def _first_of(is_better, a_value, a_index, b_value, b_index):
    if is_floating(a_value):
        a_nan = a_value != a_value
        b_nan = b_value != b_value
        is_better = is_better | (a_nan & ~b_nan)
        is_equal = (a_value == b_value) | (a_nan & b_nan)
    else:
        is_equal = a_value == b_value
    takes_a = is_better | (is_equal & (a_index < b_index))
    return tl.where(takes_a, a_value, b_value), tl.where(takes_a, a_index, b_index)


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    return _first_of(a_value < b_value, a_value, a_index, b_value, b_index)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    return _first_of(a_value > b_value, a_value, a_index, b_value, b_index)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def min_with_first_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_first_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    """The one element whose mask is set, bit for bit."""
    bits: tl.constexpr = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, signed=False)
    chosen = tl.sum(x.to(bits, bitcast=True) * mask, dim, keep_dims=keep_dims)
    return chosen.to(bits).to(x.dtype, bitcast=True)


# ---- a row's softmax in one pass: the largest value so far, and the sum of exponentials beside it


@triton.jit
def exp(x, use_fast_math: tl.constexpr):
    if use_fast_math:
        return math.exp(x)
    else:
        return libdevice.exp(x)


@triton.jit
def _larger(a, b, strict_signed_zero: tl.constexpr):
    if strict_signed_zero:
        return _strict_maximum(a, b)
    else:
        return maximum(a, b)


@triton.jit
def online_softmax_reduce(lhs_max, lhs_sum, dim, use_fast_math: tl.constexpr, strict_signed_zero: tl.constexpr = False):
    if strict_signed_zero:
        row_max = max2_strict(lhs_max, dim)
    else:
        row_max = max2(lhs_max, dim)
    beside = tl.expand_dims(row_max, dim)
    below = tl.where(beside == float("-inf"), 0, lhs_max - beside)
    return row_max, tl.sum(lhs_sum * exp(below, use_fast_math), dim)


@triton.jit
def online_softmax_combine_with_sum(lhs_max, lhs_sum, rhs_max, rhs_sum, use_fast_math: tl.constexpr, strict_signed_zero: tl.constexpr = False):
    both = _larger(lhs_max, rhs_max, strict_signed_zero)
    is_empty = both == float("-inf")
    lhs_share = tl.where(is_empty, 1.0, exp(lhs_max - both, use_fast_math))
    rhs_share = tl.where(is_empty, 1.0, exp(rhs_max - both, use_fast_math))
    return both, lhs_sum * lhs_share + rhs_sum * rhs_share


@triton.jit
def online_softmax_combine(lhs_max, lhs_sum, rhs_max, use_fast_math: tl.constexpr, strict_signed_zero: tl.constexpr = False):
    return online_softmax_combine_with_sum(lhs_max, lhs_sum, rhs_max, 1.0, use_fast_math, strict_signed_zero)


@triton.jit
def online_softmax_reduce_scalar_combine(lhs_max, lhs_sum, rhs, rhs_mask, dim, use_fast_math: tl.constexpr, strict_signed_zero: tl.constexpr = False):
    values = tl.where(rhs_mask, rhs, float("-inf")).to(lhs_max.dtype)
    rhs_max, rhs_sum = online_softmax_reduce(values, tl.where(rhs_mask, 1.0, 0.0), dim, use_fast_math, strict_signed_zero)
    return online_softmax_combine_with_sum(lhs_max, lhs_sum, rhs_max, rhs_sum, use_fast_math, strict_signed_zero)


# ---- mean and sum of squared deviations


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration=False):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        before = value - mean
        new_weight = weight + 1
        new_mean = mean + before / new_weight
        new_m2 = m2 + before * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    # Equal infinities are no distance apart.
    apart = tl.where(mean_1 == mean_2, 0.0, mean_2 - mean_1)
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + apart * share, m2_1 + m2_2 + apart * apart * weight_1 * share, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


# ---- parts of floats


@triton.jit
def fp8e4m3fn_to_float32(x):
    return x.to(tl.uint8).to(tl.float8e4nv, bitcast=True).to(tl.float32)


@triton.jit
def nextafter(x, y):
    # As integers: neighbours of one sign differ by one, also among subnormal numbers.
    width: tl.constexpr = x.dtype.primitive_bitwidth
    unsigned: tl.constexpr = tl.core.get_int_dtype(width, signed=False)
    sign: tl.constexpr = 1 << (width - 1)
    from_bits = x.to(unsigned, bitcast=True)
    to_bits = y.to(unsigned, bitcast=True)
    is_away = ((from_bits & sign) == (to_bits & sign)) & (to_bits > from_bits)
    moved = tl.where(is_away, from_bits + 1, from_bits - 1).to(unsigned)
    from_zero = ((to_bits & sign) | 1).to(unsigned)
    near = tl.where((from_bits & (sign - 1)) == 0, from_zero, moved).to(unsigned).to(x.dtype, bitcast=True)
    return tl.where((x != x) | (y != y), x + y, tl.where(x == y, y, near))


@triton.jit
def frexp(x):
    if x.dtype.primitive_bitwidth < 32:
        wide = x.to(tl.float32)
    else:
        wide = x
    is_plain = (wide == wide) & (wide != 0) & (tl.abs(wide) != float("inf"))
    exponent = tl.where(is_plain, libdevice.ilogb(wide) + 1, 0)
    # In two steps: 2 ** 1075 itself is no float64, nor 2 ** 150 a float32.
    half = exponent // 2
    mantissa = libdevice.ldexp(libdevice.ldexp(wide, -half), half - exponent)
    return tl.where(is_plain, mantissa, wide).to(x.dtype), exponent


# ---- random numbers


@triton.jit
def _interleaved(r0, r1, r2, r3):
    count: tl.constexpr = 4 * r0.numel
    return tl.reshape(tl.join(tl.join(r0, r2), tl.join(r1, r3)), [count])


@triton.jit
def rand4x(seed, offsets, BLOCK: tl.constexpr):
    places = offsets.to(tl.uint32)
    one_seed = tl.min(seed + places * 0, axis=0)
    if BLOCK % 4 != 0:
        return tl.rand(one_seed, places)
    else:
        r0, r1, r2, r3 = tl.rand4x(one_seed, tl.min(places, axis=0) // 4 + tl.arange(0, BLOCK // 4))
        return _interleaved(r0, r1, r2, r3)


@triton.jit
def randn4x(seed, offsets, BLOCK: tl.constexpr):
    places = offsets.to(tl.uint32)
    one_seed = tl.min(seed + places * 0, axis=0)
    if BLOCK % 4 != 0:
        return tl.randn(one_seed, places)
    else:
        r0, r1, r2, r3 = tl.randn4x(one_seed, tl.min(places, axis=0) // 4 + tl.arange(0, BLOCK // 4))
        return _interleaved(r0, r1, r2, r3)


@triton.jit
def randint64(seed, offset, low, high):
    low_bits, high_bits, _, _ = tl.randint4x(seed, offset)
    drawn = low_bits.to(tl.uint64) | (high_bits.to(tl.uint64) << 32)
    return (drawn % (high - low).to(tl.uint64)).to(tl.int64) + low


@triton.jit
def rand_eager_kernel(seed, offset_blocks, tid, VEC: tl.constexpr):
    """What PyTorch's own kernel draws: VEC numbers a thread, four of each counter."""
    place = tid.to(tl.uint64)
    thread = place // VEC
    counter = offset_blocks.to(tl.uint64) + (place % VEC) // 4
    low: tl.constexpr = 0xFFFFFFFF
    u0, u1, u2, u3 = tl.philox(seed, (counter & low).to(tl.uint32), (counter >> 32).to(tl.uint32), (thread & low).to(tl.uint32), (thread >> 32).to(tl.uint32))
    lane = place % 4
    drawn = tl.where(lane < 2, tl.where(lane == 0, u0, u1), tl.where(lane == 2, u2, u3))
    step: tl.constexpr = 1.0 / 4294967296.0
    return 1.0 - (drawn.to(tl.float32) * step + step * 0.5)


# ---- searching and sorting


@triton.jit
def bucketize_binary_search(values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE, boundary_indices, indexing_dtype: tl.constexpr, right: tl.constexpr, sorter_ptr=None, SORTER_STRIDE=None, sorter_indices=None):
    """How many boundaries of its row a value lies beyond."""
    first = tl.zeros(values.shape, dtype=indexing_dtype)
    last = tl.full(values.shape, BOUNDARIES_SIZE, dtype=indexing_dtype)
    left = BOUNDARIES_SIZE + 1
    while left > 1:
        middle = (first + last) // 2
        is_there = (middle * BOUNDARIES_STRIDE + boundary_indices < BOUNDARIES_UNDERLYING_NUMEL) & (middle < BOUNDARIES_SIZE)
        if sorter_ptr is None or SORTER_STRIDE is None:
            place = middle
        else:
            place = tl.load(sorter_ptr + sorter_indices + SORTER_STRIDE * middle, mask=is_there, other=0)
        boundary = tl.load(boundaries_ptr + boundary_indices + BOUNDARIES_STRIDE * place, mask=is_there, other=0)
        if right:
            is_beyond = values >= boundary
        else:
            is_beyond = values > boundary
        if is_floating(values):
            is_beyond = is_beyond | (values != values)
        first = tl.where(is_beyond & is_there, middle + 1, first)
        last = tl.where(is_beyond, last, middle)
        left = (left + 1) // 2
    return first


@triton.jit
def _other_of_pair(x, distance: tl.constexpr):
    """Each element's partner, `distance` places away."""
    pairs = tl.reshape(x, [x.numel // (2 * distance), 2, distance])
    low, high = tl.split(tl.permute(pairs, (0, 2, 1)))
    return tl.reshape(tl.permute(tl.join(high, low), (0, 2, 1)), x.shape)


@triton.jit
def _stands_before(a, a_index, b, b_index, rnumel, descending: tl.constexpr):
    """NaN is the largest; of equal values the first stands first; what is beyond `rnumel` is last."""
    if descending:
        before = a > b
    else:
        before = a < b
    equal = a == b
    if is_floating(a):
        a_nan = a != a
        b_nan = b != b
        if descending:
            before = before | (a_nan & ~b_nan)
        else:
            before = before | (b_nan & ~a_nan)
        equal = equal | (a_nan & b_nan)
    before = before | (equal & (a_index < b_index))
    if rnumel is not None:
        a_there = a_index < rnumel
        b_there = b_index < rnumel
        before = (a_there & ~b_there) | ((a_there == b_there) & before)
    return before


@triton.jit
def sort_with_index(x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False, descending: tl.constexpr = False):
    """Bitonic, along the last dimension, values and indices together; always stable."""
    x, idxs = tl.broadcast(x, idxs)
    rank: tl.constexpr = len(x.shape)
    tl.static_assert(dim is None or dim == rank - 1, "only the last dimension is sorted")
    length: tl.constexpr = x.shape[rank - 1]
    steps: tl.constexpr = tl.core._log2(length)
    count: tl.constexpr = x.numel
    place = tl.reshape(tl.arange(0, count) % length, x.shape)
    for stage in tl.static_range(1, steps + 1):
        rises = ((place >> stage) & 1) == 0
        for step in tl.static_range(stage):
            other = _other_of_pair(x, 2 ** (stage - 1 - step))
            other_index = _other_of_pair(idxs, 2 ** (stage - 1 - step))
            is_low = (place & 2 ** (stage - 1 - step)) == 0
            keeps = _stands_before(x, idxs, other, other_index, rnumel, descending) == (is_low == rises)
            x = tl.where(keeps, x, other)
            idxs = tl.where(keeps, idxs, other_index)
    return x, idxs


# ---- scans over several programs: each publishes its sum, then its sum with all before it


@triton.jit
def pack_value_flag(value, flag, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr):
    width: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    return (value.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK) << width) | flag.to(DTYPE_PACK)


@triton.jit
def unpack_value(pack, DTYPE_VALUE: tl.constexpr, DTYPE_VALUE_AS_UINT: tl.constexpr):
    width: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    return (pack >> width).to(DTYPE_VALUE_AS_UINT).to(DTYPE_VALUE, bitcast=True)


@triton.jit
def unpack_flag(pack, DTYPE_FLAG: tl.constexpr):
    return pack.to(DTYPE_FLAG)


@triton.jit
def exclusive_scan_decoupled_lookback(scratch_base, block_value, index, combine_fn, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr):
    """A value of at most 32 bits and its flag (1: of this program, 2: of all up to it) are one word."""
    value_type: tl.constexpr = block_value.dtype
    if index > 0:
        own = pack_value_flag(block_value, tl.full([], 1, DTYPE_VALUE_AS_UINT), DTYPE_VALUE_AS_UINT, DTYPE_PACK)
        tl.atomic_xchg(scratch_base + index, own, sem="relaxed")
    before = tl.zeros([], value_type)
    is_known = False
    asked = index - 1
    while asked >= 0:
        word = tl.atomic_add(scratch_base + asked, 0, sem="relaxed")
        flag = unpack_flag(word, DTYPE_VALUE_AS_UINT)
        while flag == 0:
            word = tl.atomic_add(scratch_base + asked, 0, sem="relaxed")
            flag = unpack_flag(word, DTYPE_VALUE_AS_UINT)
        value = unpack_value(word, value_type, DTYPE_VALUE_AS_UINT)
        if is_known:
            before = combine_fn(value, before)
        else:
            before = value
            is_known = True
        asked = tl.where(flag == 2, -1, asked - 1)
    if is_known:
        whole = combine_fn(before, block_value)
    else:
        whole = block_value
    done = pack_value_flag(whole, tl.full([], 2, DTYPE_VALUE_AS_UINT), DTYPE_VALUE_AS_UINT, DTYPE_PACK)
    tl.atomic_xchg(scratch_base + index, done, sem="relaxed")
    return before


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index, combine_fn):
    """Three words a program: the flag, its own value, that of all up to it."""
    if index > 0:
        tl.store(scratch_base + 3 * index + 1, block_value.to(tl.uint64, bitcast=True))
        tl.debug_barrier()
        tl.atomic_xchg(scratch_base + 3 * index, tl.full([], 1, tl.uint64), sem="release")
    before = tl.zeros([], block_value.dtype)
    is_known = False
    asked = index - 1
    while asked >= 0:
        flag = tl.atomic_add(scratch_base + 3 * asked, 0, sem="acquire")
        while flag == 0:
            flag = tl.atomic_add(scratch_base + 3 * asked, 0, sem="acquire")
        value = tl.load(scratch_base + 3 * asked + flag.to(tl.int32)).to(block_value.dtype, bitcast=True)
        if is_known:
            before = combine_fn(value, before)
        else:
            before = value
            is_known = True
        asked = tl.where(flag == 2, -1, asked - 1)
    if is_known:
        whole = combine_fn(before, block_value)
    else:
        whole = block_value
    tl.store(scratch_base + 3 * index + 2, whole.to(tl.uint64, bitcast=True))
    tl.debug_barrier()
    tl.atomic_xchg(scratch_base + 3 * index, tl.full([], 2, tl.uint64), sem="release")
    return before


@triton.jit
def x_grid_barrier(sem):
    """Waits for all programs along x; needs all of them to run at once."""
    top: tl.constexpr = 0x80000000
    tl.debug_barrier()
    count = tl.num_programs(0).to(tl.uint32)
    # The program at 0 brings what the others lack of the top bit.
    share = tl.where(tl.program_id(0) == 0, top - (count - 1), 1).to(tl.uint32)
    arrived = tl.atomic_add(sem, share, sem="release")
    is_open = False
    while not is_open:
        now = tl.atomic_add(sem, 0, sem="acquire")
        is_open = ((arrived ^ now) & top) != 0
    tl.debug_barrier()


# ---- operands of inline assembly: several elements in one register


@triton.jit
def inline_asm_pack(x, pack: tl.constexpr):
    line = tl.ravel(x)
    lacking: tl.constexpr = tl.core._log2(pack) - tl.core._log2(line.numel)
    for _ in tl.static_range(lacking):
        line = tl.reshape(tl.join(line, tl.zeros_like(line)), (2 * line.shape[0],))
    return line


@triton.jit
def inline_asm_unpack(x, orig, pack: tl.constexpr):
    line = x
    lacking: tl.constexpr = tl.core._log2(pack) - tl.core._log2(orig.numel)
    for _ in tl.static_range(lacking):
        line, _ = tl.split(tl.reshape(line, (line.shape[0] // 2, 2)))
    return tl.reshape(line, orig.shape)
