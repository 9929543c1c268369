# SPDX-License-Identifier: Apache-2.0
"""Writes the TTIR that the installed Triton makes of the kernels below, one file per kernel, as it leaves the front end.

Usage: make_corpus.py FOLDER. Needs triton (3.6 or later), no GPU. The files in this folder were written by it.
"""
import pathlib
import sys

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

V36 = not triton.__version__.startswith("3.9")
KERNELS = []


def kernel(signature, constants=None, oldest_only=False, newest_only=False):
    def add(function):
        if not (oldest_only if not V36 else newest_only):
            KERNELS.append((triton.jit(function), signature, constants or {}))
        return function
    return add


PTRS3 = "x:*fp32 y:*fp32 z:*fp32 n:i32"


@kernel(PTRS3, {"B": 128})
def add(x, y, z, n, B: tl.constexpr):
    offsets = tl.program_id(0) * B + tl.arange(0, B)
    mask = offsets < n
    tl.store(z + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask), mask)


@triton.jit
def add_one(value, scalar):
    return value + scalar


@kernel("x:*fp32 n:i32 z:*fp32", {"B": 128})
def scalar_through_call(x, n, z, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(z + offsets, add_one(tl.load(x + offsets), n))


@kernel("z:*fp32 n:i32 x:*fp32", {"B": 128})
def out_of_order(z, n, x, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(z + offsets, tl.load(x + offsets), offsets < n)


@kernel("x:*fp32 z:*fp32 n:i32", {"M": 16, "N": 32})
def reduce_sum(x, z, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    tile = tl.load(x + rows[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0.0)
    tl.store(z + rows, tl.sum(tile, 1))


@kernel("x:*fp32 z:*i32", {"N": 64})
def argmax(x, z, N: tl.constexpr):
    tl.store(z, tl.argmax(tl.load(x + tl.arange(0, N)), 0))


@kernel("x:*fp32 z:*fp32 n:i32", {"N": 64})
def cumsum_with_assert(x, z, n, N: tl.constexpr):
    tl.device_assert(n < N, "too long")
    columns = tl.arange(0, N)
    tl.store(z + columns, tl.cumsum(tl.load(x + columns), 0))


@triton.jit
def one_of(x, y):
    return x


@triton.jit
def swapped(x, y):
    return y, x


@kernel(PTRS3, {"B": 64})
def call_returns_pointer(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    p = one_of(x, y)
    tl.store(z + offsets, tl.load(p + offsets))


@kernel(PTRS3, {"B": 64})
def call_returns_pointers(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    a, b = swapped(x, z)
    tl.store(a + offsets, tl.load(b + offsets))


@kernel(PTRS3 + " c:i1", {"B": 64})
def nested_if(x, y, z, n, c, B: tl.constexpr):
    offsets = tl.arange(0, B)
    if c:
        if n > 3:
            value = tl.load(x + offsets)
        else:
            value = tl.load(x + offsets + 1)
        tl.store(z + offsets, value)
    else:
        tl.store(z + offsets, tl.load(x + offsets) + 1)


@kernel(PTRS3 + " c:i1", {"B": 64})
def if_yields_pointers(x, y, z, n, c, B: tl.constexpr):
    offsets = tl.arange(0, B)
    if c:
        source = x
        target = y
    else:
        source = x + 1
        target = z
    tl.store(target + offsets, tl.load(source + offsets))


@kernel(PTRS3, {"B": 64})
def loop(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for i in range(0, n, B):
        total += tl.load(x + i + offsets) * tl.load(y + i + offsets)
    tl.store(z + offsets, total)


@kernel(PTRS3, {"B": 64})
def nested_loop(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    for i in range(0, n, B):
        for j in range(0, n):
            tl.store(z + i + offsets, tl.load(x + i + j + offsets))
        tl.store(z + offsets, tl.load(x + offsets))


@kernel(PTRS3, {"B": 64})
def carried_pointers(x, y, z, n, B: tl.constexpr):
    p = x + tl.arange(0, B)
    q = z + tl.arange(0, B)
    for _ in range(0, n, B):
        tl.store(q, tl.load(p))
        p += B
        q += B


@kernel(PTRS3, {"B": 64})
def carried_and_swapped(x, y, z, n, B: tl.constexpr):
    p = x + tl.arange(0, B)
    q = z + tl.arange(0, B)
    for _ in range(0, n, B):
        tl.store(q, tl.load(p))
        t = p
        p = q
        q = t


@kernel(PTRS3, {"B": 64})
def early_return(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    if n == 0:
        return
    value = tl.load(x + offsets)
    if n == 1:
        tl.store(z + offsets, value)
        return
    tl.store(z + offsets, value + 1)


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32}, oldest_only=True)
def block_pointer_1d(x, z, n, B: tl.constexpr):
    source = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    target = tl.make_block_ptr(z, (n,), (1,), (0,), (B,), (0,))
    tl.store(target, tl.load(source, boundary_check=(0,)), boundary_check=(0,))


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32}, oldest_only=True)
def block_pointer_for(x, z, n, B: tl.constexpr):
    source = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (B, B), (1, 0))
    target = tl.make_block_ptr(z, (n, n), (n, 1), (0, 0), (B, B), (1, 0))
    for _ in range(0, n, B):
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        source = tl.advance(source, (0, B))
        target = tl.advance(target, (B, 0))


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32}, oldest_only=True)
def block_pointer_while(x, z, n, B: tl.constexpr):
    source = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    target = tl.make_block_ptr(z, (n,), (1,), (0,), (B,), (0,))
    i = 0
    while i < n:
        tl.store(target, tl.load(source))
        source = tl.advance(source, (B,))
        target = tl.advance(target, (B,))
        i += B


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32})
def descriptors(x, z, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n, n], [n, 1], [B, B])
    target = tl.make_tensor_descriptor(z, [n, n], [n, 1], [B, B])
    for i in range(0, n, B):
        target.store([0, i], source.load([i, 0]))


@kernel("x:*fp32 z:*fp32 w:*fp32 n:i32", {"B": 32})
def descriptor_kinds(x, z, w, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n, n], [n, 1], [1, B])
    target = tl.make_tensor_descriptor(z, [n, n], [n, 1], [1, B])
    sums = tl.make_tensor_descriptor(w, [n, n], [n, 1], [B, B])
    rows = source.gather(tl.arange(0, B), 0)
    target.scatter(rows, tl.arange(0, B), 0)
    sums.atomic_add([0, 0], rows)


@kernel(PTRS3, {"B": 64})
def in_place(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x + offsets, tl.load(x + offsets) * 2)


@kernel("x:*i32 y:*i32 z:*i32", {"B": 64})
def asm_pure(x, y, z, B: tl.constexpr):
    offsets = tl.arange(0, B)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    tl.store(z + offsets, tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [a, b], tl.int32, True, 1))


@kernel("x:*i32 y:*i32 z:*i32", {"B": 64})
def asm_impure(x, y, z, B: tl.constexpr):
    offsets = tl.arange(0, B)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    tl.store(z + offsets, tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [a, b], tl.int32, False, 1))


@kernel("x:*fp32 z:*fp32", {"B": 64})
def atomics(x, z, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.atomic_add(z + offsets, tl.load(x + offsets))


@kernel("x:*fp32 lock:*i32")
def locked(x, lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(x, tl.load(x) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel("table:*i64 z:*fp32 n:i32", {"B": 64})
def pointer_table(table, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    source = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(z + offsets, tl.load(source + offsets))


@kernel("x:*fp32 z:*i64")
def address_stored(x, z):
    tl.store(z, x.to(tl.int64))


@kernel("x:*fp32 z:*fp32", {"M": 32, "N": 64})
def views(x, z, M: tl.constexpr, N: tl.constexpr):
    p = x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    q = tl.reshape(tl.trans(z + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]), (M * N,))
    tl.store(q, tl.reshape(tl.load(p), (M * N,)))


@kernel("x:*fp32 z:*fp32", {"B": 64})
def other_element_type(x, z, B: tl.constexpr):
    offsets = tl.arange(0, B)
    p = x.to(tl.pointer_type(tl.int32), bitcast=True)
    q = z.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(q + offsets, tl.load(p + offsets) ^ 1)


@kernel(PTRS3, {"B": 64})
def chosen_pointer(x, y, z, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    p = tl.where(offsets < n, x + offsets, y + offsets)
    tl.store(z + offsets, tl.load(p))


@kernel("a:*fp16 b:*fp16 c:*fp32 n:i32", {"B": 32})
def matmul(a, b, c, n, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    columns = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    pa = a + rows[:, None] * n + tl.arange(0, B)[None, :]
    pb = b + tl.arange(0, B)[:, None] * n + columns[None, :]
    for k in range(0, n, B):
        total = tl.dot(tl.load(pa), tl.load(pb), total)
        pa += B
        pb += B * n
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@kernel("x:*fp32 z:*fp32 i:*i32", {"B": 64})
def rearranged(x, z, i, B: tl.constexpr):
    offsets = tl.arange(0, B)
    value = tl.load(x + offsets, eviction_policy="evict_last")
    lower, upper = tl.split(tl.join(value, -value))
    value = tl.gather(tl.sort(lower + upper), tl.load(i + offsets, cache_modifier=".cg"), 0)
    tl.device_print("value", value)
    tl.store(z + offsets, tl.flip(value, 0), cache_modifier=".cs")
    tl.store(i + tl.arange(0, 16), tl.histogram(offsets, 16))


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32}, oldest_only=True)
def block_pointer_edges(x, z, n, B: tl.constexpr):
    source = tl.make_block_ptr(x, (n, n - 3), (n, 1), (-5, 7), (B, B), (1, 0))
    target = tl.make_block_ptr(z, (n - 3, n), (1, n), (7, -5), (B, B), (0, 1))
    for i in range(0, 3):
        if i == 1:
            source = tl.advance(source, (B, -B))
        tile = tl.load(source, boundary_check=(0, 1), padding_option="nan")
        tl.store(target, tl.trans(tile), boundary_check=(0, 1))
        target = tl.advance(target, (1, B))


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 32})
def descriptor_edges(x, z, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n, n - 3], [n, 1], [B, B], padding_option="nan")
    target = tl.make_tensor_descriptor(z, [n, n - 3], [n, 1], [B, B])
    for i in range(0, 3):
        target.store([i * 8 - 5, 7], source.load([7, i * 8 - 5]))


@triton.jit
def first_above(x, limit, n):
    if n == 0:
        return -1
    if tl.load(x) > limit:
        return 0
    tl.store(x, limit)
    return 1


@kernel("x:*fp32 z:*i32 n:i32")
def helper_returns_early(x, z, n):
    total = 0
    for i in range(0, n):
        total += first_above(x + i, 0.5, n - 10 * i)
    tl.store(z, total)


@kernel("x:*fp32 z:*fp32 n:i32", {"B": 64})
def carried_indices(x, z, n, B: tl.constexpr):
    indices = tl.arange(0, B)
    targets = z + tl.arange(0, B) * 2
    for i in range(0, 5):
        tl.store(targets, tl.load(x + indices))
        indices += i * n
        targets += B * 2
        targets += n
    tl.store(targets, indices.to(tl.float32))


@kernel("x:*i32 z:*i32 flag:*i32", {"B": 64}, newest_only=True)
def atomics_of_39(x, z, flag, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.extra.cuda.gdc_wait()
    tl.atomic_poll(flag, 1, timeout_ns=1000)
    tl.atomic_poll(x + offsets, 1, sem="relaxed")
    value = tl.atomic_load(x + offsets, mask=offsets < 3, sem="acquire", scope="gpu")
    tl.atomic_store(z + offsets, tl.fdiv(value.to(tl.float32), 3.0, approx=True).to(tl.int32), sem="release")
    tl.extra.cuda.gdc_launch_dependents()


def text_of(function, signature, constants):
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    types = dict(pair.split(":") for pair in signature.split())
    types.update({name: "constexpr" for name in constants})
    positions = {(function.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(fn=function, signature=types, constexprs=positions)
    arguments = [target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context]
    return str(source.make_ir(*arguments))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    here = str(pathlib.Path(__file__).resolve())
    for function, signature, constants in KERNELS:
        text = text_of(function, signature, constants).replace(here, "make_corpus.py")
        (folder / (function.__name__ + ".ttir")).write_text(text)


if __name__ == "__main__":
    main()
