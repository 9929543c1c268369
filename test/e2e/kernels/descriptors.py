# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptors: the functional spellings, atomics, gather and scatter."""
import triton
import triton.language as tl


@triton.jit
def descriptor_functions(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    tile = tl.load_tensor_descriptor(x, [m, n])
    tl.store_tensor_descriptor(out, [m, n], tile + tile)


@triton.jit
def descriptor_atomics(x_ptr, add_ptr, min_ptr, max_ptr, and_ptr, or_ptr, xor_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Every program applies its own tile of x to the one tile that the targets are."""
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    tile = x.load([tl.program_id(0) * BM, 0])
    tl.make_tensor_descriptor(add_ptr, [BM, N], [N, 1], [BM, BN]).atomic_add([0, 0], tile)
    tl.make_tensor_descriptor(min_ptr, [BM, N], [N, 1], [BM, BN]).atomic_min([0, 0], tile)
    tl.make_tensor_descriptor(max_ptr, [BM, N], [N, 1], [BM, BN]).atomic_max([0, 0], tile)
    tl.make_tensor_descriptor(and_ptr, [BM, N], [N, 1], [BM, BN]).atomic_and([0, 0], tile)
    tl.make_tensor_descriptor(or_ptr, [BM, N], [N, 1], [BM, BN]).atomic_or([0, 0], tile)
    tl.make_tensor_descriptor(xor_ptr, [BM, N], [N, 1], [BM, BN]).atomic_xor([0, 0], tile)


@triton.jit
def descriptor_rows(x_ptr, gathered_ptr, scattered_ptr, index_ptr, M, N, ROWS: tl.constexpr, BN: tl.constexpr):
    """Rows by index: indices outside of the tensor read zeros and write nothing."""
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    scattered = tl.make_tensor_descriptor(scattered_ptr, [M, N], [N, 1], [1, BN])
    i, j = tl.arange(0, ROWS), tl.arange(0, BN)
    index = tl.load(index_ptr + i)
    rows = x.gather(index, 8)
    tl.store(gathered_ptr + i[:, None] * BN + j[None, :], rows)
    scattered.scatter(rows, index, 8)
