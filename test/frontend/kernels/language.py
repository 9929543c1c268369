# SPDX-License-Identifier: Apache-2.0
"""The language itself: helpers, constants, control flow, tuples, types as values."""
import math

import triton
import triton.language as tl

CASES = [
    ("helpers", "*fp32, *fp32, i32, BLOCK=64"),
    ("constants", "*fp32, *i32, i32, BLOCK=64, MODE='fast', FLAG=True, EXTRA=None"),
    ("constants", "*fp32, *i32, i32, BLOCK=64, MODE='slow', FLAG=False, EXTRA=3"),
    ("branches", "*fp32, *i32, i32, fp32, BLOCK=32"),
    ("early_return", "*fp32, i32, i32, BLOCK=32"),
    ("early_return_value", "*fp32, *fp32, i32, BLOCK=32"),
    ("loops", "*fp32, *i64, i32, i32, i64, BLOCK=32"),
    ("loop_carries_only_what_changes", "*fp32, *fp32, i32, USE=False, N=4"),
    ("loop_carries_only_what_changes", "*fp32, *fp32, i32, USE=True, N=4"),
    ("static_loops", "*fp32, *fp32, BLOCK=16, N=4"),
    ("while_loops", "*i32, *fp32, i32"),
    ("tuples", "*fp32, *fp32, i32, i32, BLOCK=16"),
    ("types_as_values", "*bf16, *fp32, *i8, i64, fp32, BLOCK=32"),
    ("ternaries", "*fp32, i32, fp32, BLOCK=32"),
    ("host_functions", "*fp32, i32, BLOCK=48"),
    ("function_arguments", "*fp32, *fp32, BLOCK=16"),
    ("optional_pointers", "*fp32, None, *fp32, i32, BLOCK=16"),
    ("optional_pointers", "*fp32, *fp32, None, i32, BLOCK=16"),
    ("large_integers", "*i64, *u64, i64, BLOCK=16"),
    ("printing_and_asserting", "*fp32, *i32, i32, BLOCK=16"),
    ("annotations_and_strings", "*fp32, i32, BLOCK=16, KIND='sum'"),
]

SCALE = tl.constexpr(0.125)
LIMITS = tl.constexpr((2, 7))
DTYPE = tl.constexpr(tl.float16)


@triton.constexpr_function
def round_up(n, multiple):
    return (n + multiple - 1) // multiple * multiple


@triton.jit
def scaled(x, factor=2.0, offset: tl.constexpr = 1):
    """Defaults, keywords and a constexpr parameter."""
    return x * factor + offset


@triton.jit
def both(x, y):
    return x + y, x - y


@triton.jit
def stores(ptr, i, value):
    tl.store(ptr + i, value)


@triton.jit
def nested(x, n: tl.constexpr):
    a, b = both(x, scaled(x, offset=n))
    return scaled(a, factor=0.5) * b


@triton.jit
def helpers(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = scaled(x) + scaled(x, 3) + scaled(x, offset=4) + scaled(factor=x, x=x)
    s, d = both(y, n)
    stores(out_ptr, i, s * d + nested(x, 5))
    stores(ptr=out_ptr, value=nested(x, n=6), i=i + BLOCK)


@triton.jit
def constants(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MODE: tl.constexpr, FLAG: tl.constexpr, EXTRA: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i) * SCALE
    half: tl.constexpr = BLOCK // 2
    if MODE == "fast":
        x = x + 1
    elif MODE == "slow" and not FLAG:
        x = x - half
    else:
        tl.static_assert(False, "unknown mode")
    if EXTRA is not None:
        x += EXTRA
    if FLAG and EXTRA is None:
        x *= LIMITS[0]
    x += 3 if FLAG else LIMITS[1]
    y = x.to(DTYPE)
    tl.static_assert(BLOCK % 16 == 0)
    tl.static_assert(half * 2 == BLOCK, f"BLOCK={BLOCK} is odd")
    k = (BLOCK + 1) // 2 - -BLOCK % 7 + (BLOCK >> 1) + (BLOCK & 12) + int(SCALE * 8)
    tl.store(x_ptr + i, y)
    tl.store(out_ptr + i, i + k)
    if BLOCK >= 64 or n > 3:
        tl.store(out_ptr, n)


@triton.jit
def branches(x_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    x = tl.load(x_ptr + i)
    scale = alpha
    if n > 10:
        scale = alpha * 2
        extra = x + 1
    elif n == 5:
        scale = 0.5
        extra = x
    else:
        extra = x - 1
    if pid == 0:
        tl.store(out_ptr, n)
    if pid > 1 and n < 3:
        x = x * scale
        if pid > 2:
            x = x + extra
    if n:
        x += 1
    if not (pid > 0):
        x -= 1
    tl.store(x_ptr + i, x * scale + extra)


@triton.jit
def early_return(x_ptr, n, m, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if m == 3:
        tl.store(x_ptr + i, x + 1)
        return
    elif m == 4:
        tl.store(x_ptr + i, x + 2)
    else:
        x = x * 2
    tl.store(x_ptr + i, x)


@triton.jit
def first_positive(x, n):
    if n > 0:
        return x
    return -x


@triton.jit
def early_return_value(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, first_positive(x, n) + first_positive(x + 1, n - 1))


@triton.jit
def loops(x_ptr, out_ptr, n, m, big, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for j in range(n):
        acc += tl.load(x_ptr + i + j * BLOCK)
    for j in range(2, n, 3):
        for k in range(0, m):
            if k != j:
                acc += tl.load(x_ptr + i) * k
    total = acc.to(tl.int64)
    for j in range(n - 1, -1, -1):
        total = total * 2 + j
    for j in range(big):
        total += j
    for j in tl.range(0, n, num_stages=2, loop_unroll_factor=4):
        total += j
    for _ in range(0, 4):
        total += 1
    count = 0
    for j in range(0, m):
        count += 1
        total += count
    tl.store(out_ptr + i, total)


@triton.jit
def loop_carries_only_what_changes(x_ptr, out_ptr, n, USE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, 16)
    base = x_ptr + i
    acc = tl.zeros([16], tl.float32)
    size: tl.constexpr = N
    for j in range(0, n):
        if USE:
            base += 16
        step = tl.zeros([size], tl.float32)
        acc += tl.load(base) + tl.sum(step)
    tl.store(out_ptr + i, acc)


@triton.jit
def static_loops(x_ptr, out_ptr, BLOCK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in tl.static_range(N):
        x = x * (k + 1)
        if k % 2 == 0:
            x += 1
    for k in tl.static_range(N, 0, -1):
        for j in tl.static_range(1, k, 2):
            x += k * j
    tl.store(out_ptr + i, x)


@triton.jit
def while_loops(n_ptr, x_ptr, limit):
    n = tl.load(n_ptr)
    x = tl.load(x_ptr)
    steps = 0
    while n > 0 and steps < limit:
        n = n // 2
        x = x * 0.5
        steps += 1
    tl.store(n_ptr, steps + n)
    low = 0
    high = limit
    while low < high:
        middle = (low + high) // 2
        value = tl.load(n_ptr + middle)
        if value < 7:
            low = middle + 1
        else:
            high = middle
    tl.store(n_ptr, low)
    tl.store(x_ptr, x)


@triton.jit
def swap(pair):
    return pair[1], pair[0]


@triton.jit
def tuples(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    shape = (n, m)
    pointers = (x_ptr, out_ptr)
    x = tl.load(pointers[0] + i)
    a, b = swap(shape)
    (c, d), e = (a, b), n
    total = x
    for j in tl.static_range(len(shape)):
        total += shape[j]
    state = (total, x)
    for j in range(n):
        state = (state[0] + state[1], state[1] * 2)
    tl.store(pointers[1] + i, state[0] + state[1] + a - b + c * d + e)
    z = tl.zeros((BLOCK, 2), tl.float32) + tl.zeros([BLOCK, 2], tl.float32)
    tl.store(out_ptr + i, tl.sum(z, 1))


@triton.jit
def types_as_values(x_ptr, out_ptr, b_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    dtype: tl.constexpr = x_ptr.dtype.element_ty
    x = tl.load(x_ptr + i)
    if dtype == tl.bfloat16:
        x = x.to(tl.float32)
    if x.dtype.is_fp32() and x_ptr.type.element_ty.is_bf16():
        x += 1
    tl.static_assert(x.type.scalar == tl.float32)
    tl.static_assert(x.shape[0] == BLOCK)
    tl.static_assert(n.dtype.is_int() and alpha.dtype.is_floating())
    tl.static_assert(b_ptr.dtype.element_ty.primitive_bitwidth == 8)
    acc_type = tl.float32 if x_ptr.dtype.element_ty.primitive_bitwidth < 32 else tl.float64
    acc = tl.zeros(x.shape, acc_type)
    b = tl.load(b_ptr + i).to(acc.dtype)
    tl.store(out_ptr + i, (acc + x + b).to(out_ptr.dtype.element_ty))
    table = b_ptr.to(tl.pointer_type(tl.float32))
    tl.store(table + i, x)
    address = x_ptr.to(tl.int64) + n
    tl.store(address.to(tl.pointer_type(tl.bfloat16)) + i, x)
    tl.store(out_ptr + i, tl.full([BLOCK], alpha, x.dtype))


@triton.jit
def ternaries(x_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    k = n if n > 4 else 4
    scale = alpha if k == 4 else alpha * 2.0
    y = x + (1 if BLOCK > 16 else 2)
    tl.store(x_ptr + i, y * scale + k)


@triton.jit
def host_functions(x_ptr, n, BLOCK: tl.constexpr):
    padded: tl.constexpr = triton.next_power_of_2(BLOCK)
    wide: tl.constexpr = round_up(BLOCK, 64)
    i = tl.arange(0, padded)
    x = tl.load(x_ptr + i, mask=i < BLOCK)
    x = x * (triton.cdiv(BLOCK, 32) + wide) + math.pi
    x += min(BLOCK, 7) + max(BLOCK, 7, 9)
    tl.store(x_ptr + i, x + tl.zeros([wide], tl.float32), mask=i < n)


@triton.jit
def apply(x, function: tl.constexpr):
    return function(x)


@triton.jit
def square(x):
    return x * x


@triton.jit
def larger_of(a, b):
    return tl.maximum(a, b)


@triton.jit
def function_arguments(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = apply(x, square) + tl.reduce(x, 0, larger_of)
    y += tl.associative_scan(x, 0, larger_of)
    tl.store(out_ptr + i, y)


@triton.jit
def optional_pointers(x_ptr, bias_ptr, mask_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    bias = None
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + i)
    if bias is not None:
        x += bias
    mask = None if mask_ptr is None else tl.load(mask_ptr + i) > 0
    tl.store(x_ptr + i, x, mask=mask)


@triton.jit
def large_integers(x_ptr, u_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i) * 6364136223846793005 + 1442695040888963407
    u = tl.load(u_ptr + i) ^ 0x9E3779B97F4A7C15
    tl.store(x_ptr + i, x >> 33)
    tl.store(u_ptr + i, (u >> 33) * 0xFF51AFD7ED558CCD % 1000003)
    tl.store(x_ptr + n * 0x100000000 + i, (u & 0xFFFFFFFF).to(tl.int64))


@triton.jit
def printing_and_asserting(x_ptr, i_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    index = tl.load(i_ptr + i)
    tl.device_assert(index < n, "index out of range")
    tl.device_assert(index >= 0, "negative", mask=i < n)
    assert n > 0, "n is not positive"
    tl.device_print("x", x)
    tl.device_print("index: ", index, n, hex=True)
    print("done")
    tl.static_print("BLOCK", BLOCK)
    tl.store(x_ptr + index, x)


@triton.jit
def annotations_and_strings(x_ptr: tl.tensor, n: "int", BLOCK: "tl.constexpr", KIND: tl.constexpr) -> None:
    """Annotations are read and mean nothing more."""
    i = tl.arange(0, BLOCK)
    x: tl.tensor = tl.load(x_ptr + i)
    y = 0.0
    if KIND == "sum":
        y = tl.sum(x, axis=0)
    elif KIND != "none":
        y = tl.max(x, axis=0)
    pass
    tl.store(x_ptr, y)
