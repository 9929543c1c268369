# SPDX-License-Identifier: Apache-2.0
# Random numbers: Philox 4x32 and 4x64 (Salmon et al., SC 2011); part of standard_library.py's namespace.

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
