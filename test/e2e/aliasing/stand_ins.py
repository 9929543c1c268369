# SPDX-License-Identifier: Apache-2.0
"""The kernels of model_header.py in plain torch, on the memory behind the pointers they get. Needs torch.

What a GPU would leave open is an error here: accesses outside of the storage, launches whose reads and writes overlap
without being the same elements.
"""
import torch


class triton:
    @staticmethod
    def cdiv(a, b):
        return -(-a // b)


def flat(tensor, count):
    """`count` elements from the tensor's pointer on."""
    return torch.as_strided(tensor, (count,), (1,), tensor.storage_offset())


def check_same_or_apart(a, b, count):
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return
    distance = abs(a.storage_offset() - b.storage_offset())
    if distance and distance < count:
        raise RuntimeError("two operands overlap in part")


def check_float(*tensors):
    for tensor in tensors:
        if tensor.dtype != torch.float32:
            raise RuntimeError("the kernels take f32")


class Kernel:
    def __init__(self, body):
        self.body = body

    def __getitem__(self, grid):
        def launch(*args, **constants):
            check_float(*(a for a in args if isinstance(a, torch.Tensor)))
            self.body(grid, *args, **constants)

        return launch


def scale(grid, x, n, factor, BLOCK):
    n = min(n, grid[0] * BLOCK)
    flat(x, n).mul_(factor)


def fill(grid, out, n, value, BLOCK):
    n = min(n, grid[0] * BLOCK)
    flat(out, n).fill_(value)


def map_(grid, x, out, n, BLOCK):
    assert grid == (1,) and n <= BLOCK
    check_same_or_apart(x, out, n)
    flat(out, n).copy_(flat(x, n).clone() * 2 + 1)


def add(grid, x, out, n, BLOCK):
    assert grid == (1,) and n <= BLOCK
    check_same_or_apart(x, out, n)
    flat(out, n).add_(flat(x, n).clone())


def pair(grid, a, b, n, BLOCK):
    assert grid == (1,) and n <= BLOCK
    check_same_or_apart(a, b, n)
    left, right = flat(a, n).clone(), flat(b, n).clone()
    flat(a, n).copy_(right + 1)
    flat(b, n).copy_(left - 1)


def strided(x, rows, columns, row_stride, column_stride):
    return torch.as_strided(x, (rows, columns), (row_stride, column_stride), x.storage_offset())


def rows_(grid, x, columns, row_stride, column_stride, value, BLOCK):
    assert columns <= BLOCK
    places = {r * row_stride + c * column_stride for r in range(grid[0]) for c in range(columns)}
    if len(places) != grid[0] * columns:
        raise RuntimeError("several programs write to one element")
    strided(x, grid[0], columns, row_stride, column_stride).add_(value)


def sums(grid, x, out, columns, row_stride, column_stride, BLOCK):
    assert columns <= BLOCK
    if x.untyped_storage().data_ptr() == out.untyped_storage().data_ptr():
        raise RuntimeError("one program reads what another writes")
    flat(out, grid[0]).copy_(strided(x, grid[0], columns, row_stride, column_stride).sum(1))


KERNELS = {
    "scale_kernel": Kernel(scale),
    "fill_kernel": Kernel(fill),
    "map_kernel": Kernel(map_),
    "add_kernel": Kernel(add),
    "pair_kernel": Kernel(pair),
    "rows_kernel": Kernel(rows_),
    "sums_kernel": Kernel(sums),
}
