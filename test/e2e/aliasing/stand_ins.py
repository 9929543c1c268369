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
    def __init__(self, body, of_floats=True):
        self.body, self.of_floats = body, of_floats

    def __getitem__(self, grid):
        def launch(*args, **constants):
            if self.of_floats:
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


def check_apart(out, *others):
    for other in others:
        if other.untyped_storage().data_ptr() == out.untyped_storage().data_ptr():
            raise RuntimeError("one program reads what another writes")


def check_dtypes(*tensors):
    """Of one dtype, and none of those that Triton's arithmetic widens."""
    if len({t.dtype for t in tensors}) != 1 or tensors[0].dtype not in (torch.float32, torch.int32, torch.int64, torch.float64):
        raise RuntimeError("these dtypes are for other kernels")


def gather(grid, x, index, out, n, size, BLOCK):
    check_apart(out, x, index)
    check_dtypes(x, out)
    if index.dtype not in (torch.int32, torch.int64) or grid[0] * BLOCK < n or size == 0:
        raise RuntimeError("the kernel takes integers")
    where = flat(index, n).abs() % size
    flat(out, n).copy_(flat(x, size)[where.long()])


def scan(grid, x, out, n, BLOCK):
    assert grid == (1,) and n <= BLOCK
    check_same_or_apart(x, out, n)
    check_dtypes(x, out)
    flat(out, n).copy_(flat(x, n).clone().cumsum(0))


def count(grid, x, out, n, BLOCK):
    """The sum of all, added to the first element by every program."""
    check_apart(out, x)
    check_dtypes(x, out)
    n = min(n, grid[0] * BLOCK)
    if n:
        flat(out, 1).add_(flat(x, n).sum())


def dot(grid, x, out, rows, columns, BLOCK):
    assert grid == (1,) and rows <= BLOCK and columns <= BLOCK
    check_apart(out, x)
    if x.dtype not in (torch.float32, torch.bfloat16, torch.float16) or out.dtype != torch.float32:
        raise RuntimeError("the kernel takes floats")
    a = flat(x, rows * columns).reshape(rows, columns).float() % 4
    flat(out, rows * rows).copy_((a @ a.t()).reshape(-1))


def sort(grid, x, out, n, BLOCK):
    assert grid == (1,) and n <= BLOCK
    check_same_or_apart(x, out, n)
    check_dtypes(x, out)
    flat(out, n).copy_(flat(x, n).clone().sort()[0])


def row_max(grid, x, out, columns, BLOCK):
    assert 0 < columns <= BLOCK
    check_apart(out, x)
    check_dtypes(x, out)
    flat(out, grid[0]).copy_(flat(x, grid[0] * columns).reshape(grid[0], columns).amax(1))


def cast(grid, x, out, n, BLOCK):
    check_apart(out, x)
    if torch.bool in (x.dtype, out.dtype) or torch.uint8 in (x.dtype, out.dtype) or grid[0] * BLOCK < n:
        raise RuntimeError("the kernel takes signed numbers")
    flat(out, n).copy_(flat(x, n))


def turn(grid, x, out, rows, columns, ROWS, COLUMNS):
    check_apart(out, x)
    check_dtypes(x, out)
    flat(out, rows * columns).copy_(flat(x, rows * columns).reshape(rows, columns).t().reshape(-1))


KERNELS = {
    "gather_kernel": Kernel(gather, of_floats=False),
    "scan_kernel": Kernel(scan, of_floats=False),
    "count_kernel": Kernel(count, of_floats=False),
    "dot_kernel": Kernel(dot, of_floats=False),
    "sort_kernel": Kernel(sort, of_floats=False),
    "row_max_kernel": Kernel(row_max, of_floats=False),
    "cast_kernel": Kernel(cast, of_floats=False),
    "turn_kernel": Kernel(turn, of_floats=False),
    "scale_kernel": Kernel(scale),
    "fill_kernel": Kernel(fill),
    "map_kernel": Kernel(map_),
    "add_kernel": Kernel(add),
    "pair_kernel": Kernel(pair),
    "rows_kernel": Kernel(rows_),
    "sums_kernel": Kernel(sums),
}
