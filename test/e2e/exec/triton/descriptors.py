# SPDX-License-Identifier: Apache-2.0
# Tensor descriptors that the host makes, of tensors whose sizes are no multiples of the block.
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(nargs):
    m, n = nargs["M"], nargs["N"]
    nargs["a_desc"].block_shape = [m, n]
    if isinstance(nargs["c_desc"], TensorDescriptor):
        nargs["c_desc"].block_shape = [m, n]


@triton.autotune(configs=[triton.Config({"M": m, "N": n}, pre_hook=set_blocks) for m, n in ((16, 32), (32, 16))], key=["rows"])
@triton.jit
def shifted(a_desc, c_desc, rows, row, column, factor, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    tl.static_assert(isinstance(a_desc, tl.tensor_descriptor))
    x = a_desc.load([i + row, j + column])
    c_desc.store([i, j], (x * factor + a_desc.shape[0] + a_desc.strides[0]).to(c_desc.dtype))


@triton.jit
def inner(desc_or_ptr, n, stride, BLOCK: tl.constexpr):
    if isinstance(desc_or_ptr, tl.tensor_descriptor):
        return desc_or_ptr
    else:
        return tl.make_tensor_descriptor(desc_or_ptr, shape=[n, stride], strides=[stride, 1], block_shape=[1, BLOCK])


@triton.jit
def row_sums(x, out, n, stride, a_shape_0, BLOCK: tl.constexpr):
    d = inner(x, n, stride, BLOCK)
    r = tl.program_id(0)
    tl.store(out + r, tl.sum(d.load([r, 0]).to(tl.float32)) + a_shape_0)


def shift(a, row, column, padding="zero", dtype=torch.float32, factor=2.0):
    c = torch.full(a.shape, -1.0, dtype=dtype, device="cuda")
    desc = TensorDescriptor(a, shape=list(a.shape), strides=list(a.stride()), block_shape=[1, 1], padding=padding)
    out = TensorDescriptor.from_tensor(c, [1, 1])
    grid = lambda META: (triton.cdiv(a.shape[0], META["M"]), triton.cdiv(a.shape[1], META["N"]))
    shifted[grid](desc, out, a.shape[0], row, column, factor)
    return c, desc


def expected(a, row, column, outside=0.0, factor=2.0):
    want = torch.full(a.shape, outside, dtype=torch.float64)
    m, n = a.shape
    want[: max(m - row, 0), : max(n - column, 0)] = a[row:, column:].double().cpu()
    return want * factor + m + a.stride(0)


for shape, row, column in (((37, 44), 0, 0), ((37, 44), 3, 5), ((16, 16), 15, 15), ((33, 128), 40, 0)):
    a = torch.randn(*shape, device="cuda")
    c, desc = shift(a, row, column)
    print(shape, torch.equal(c.double().cpu(), (expected(a, row, column)).float().double()) or (c.double().cpu() - expected(a, row, column)).abs().max().item() < 1e-5, desc.block_shape)
wide = torch.randn(20, 64, device="cuda")
part = wide[:, :40]
print(torch.allclose(shift(part, 1, 2)[0].cpu().double(), expected(part, 1, 2), atol=1e-5))
nan = shift(part, 4, 0, "nan")[0]
print(nan[:16].isnan().any().item(), nan[16:].isnan().all().item())
half = torch.randn(20, 64, device="cuda").half()
print(torch.allclose(shift(half, 0, 8, dtype=torch.float16)[0].cpu().double(), expected(half, 0, 8), rtol=2e-3, atol=1e-2))
sums = torch.empty(20, device="cuda")
row_sums[(20,)](TensorDescriptor.from_tensor(wide, [1, 64]), sums, 20, 64, 5.0, BLOCK=64)
other = torch.empty(20, device="cuda")
row_sums[(20,)](wide, other, 20, 64, 5.0, BLOCK=64)
print(torch.equal(sums, other), torch.allclose(sums.cpu().double(), wide.double().sum(1).cpu() + 5, atol=1e-4))
for words in (lambda: TensorDescriptor(wide, [20, 64], [64], [1, 64]), lambda: TensorDescriptor(wide, [20, 64], [64, 2], [1, 64]), lambda: TensorDescriptor(wide[:, :3], [20, 3], [3, 1], [1, 16]),
              lambda: TensorDescriptor(wide, [20, 64], [64, 1], [1, 64], padding="one")):
    try:
        words()
        print("no error")
    except AssertionError as error:
        print(error)
import sys

if "small" in sys.argv:
    row_sums[(20,)](TensorDescriptor.from_tensor(wide, [1, 2]), sums, 20, 64, 5.0, BLOCK=64)
