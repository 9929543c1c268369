# SPDX-License-Identifier: Apache-2.0
# Kernels that read and write tensors through tables of their addresses.
import torch
import triton
import triton.language as tl


@triton.jit
def scale_all(table, sizes, factor, BLOCK: tl.constexpr):
    g = tl.program_id(0)
    x = tl.load(table + g).to(tl.pointer_type(tl.float32))
    n = tl.load(sizes + g)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, i < n) * factor + g, i < n)


@triton.jit
def add_at(out, address, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = address.to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(out + i, i < n) + tl.load(x + i, i < n), i < n)


@triton.jit
def write_both(out, table, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out + i, i * 1.0, i < n)
    tl.store(x + i, i * 2.0, i < n)


def table_of(tensors):
    return torch.tensor([t.data_ptr() for t in tensors], device="cuda"), torch.tensor([t.numel() for t in tensors], dtype=torch.int32, device="cuda")


def scale(table, sizes, factor):
    scale_all[(table.numel(),)](table, sizes, factor, BLOCK=16)


group = [torch.arange(n, dtype=torch.float32, device="cuda") for n in (1, 5, 33)]
view, copy = group[2][1:3], group[2].clone()
table, sizes = table_of(group)
print(table.dtype, (table % 16).tolist(), len(set(table.tolist())))
assert [t.data_ptr() for t in group] == table.tolist()
scale(table, sizes, 2.0)
print([t[:4].tolist() for t in group], view.tolist(), copy[:4].tolist())
before = group[1] + 0
# What operators write is seen by the next launch, and its writes by operators.
group[1].add_(100)
group[0][:] = 7
scale(table, sizes, 10.0)
print(before.tolist(), group[0].tolist(), group[1].tolist(), view.tolist())
# Nobody asked in between.
for _ in range(3):
    scale(table, sizes, 1.0)
print(group[1].tolist(), group[2][:3].tolist(), (group[2] - view[0]).sum().item())
# New memory, made by a factory and read by nobody before.
out = torch.zeros(6, device="cuda")
scale(*table_of([out, group[0]]), 1.0)
scale(*table_of([group[0], out]), 1.0)
print(out.tolist(), group[0].item())
# An address as an argument; the pieces of a tensor.
x = torch.arange(8, dtype=torch.float32, device="cuda")
y = torch.ones(4, device="cuda")
add_at[(1,)](y, x.data_ptr(), 4, BLOCK=4)
add_at[(1,)](y, x[2:].data_ptr(), 4, BLOCK=4)
print(y.tolist(), x[2:].data_ptr() - x.data_ptr(), x.data_ptr() % 64, x.data_ptr() == y.data_ptr(), x.view(2, 4).data_ptr() == x.data_ptr())
print(isinstance(int(x.data_ptr()), int), x.data_ptr() > 0, hex(x.data_ptr()) == f"{x.data_ptr():#x}", x.storage_offset() * 4 + x.untyped_storage().data_ptr() == x.data_ptr())
# Half of a pair of launches is a view of a parameter; reverse mode goes on behind it.
p = torch.nn.Parameter(torch.ones(3, device="cuda"))
with torch.no_grad():
    scale(*table_of([p]), 4.0)
(p * p).sum().backward()
print(p.tolist(), p.grad.tolist())
# A read-only argument that is written through its address.
z = torch.zeros(4, device="cuda")
w = torch.zeros(4, device="cuda")
write_both[(1,)](w, torch.tensor([z.data_ptr()], device="cuda"), 4, BLOCK=4)
print(w.tolist(), z.tolist())


def compiled(t, s):
    scale(t, s, 1.0)
    return t + 0


print(bool((torch.compile(compiled)(table, sizes) == table).all()), group[1][0].item())
if __name__ == "__main__":
    import sys

    if "both" in sys.argv:
        write_both[(1,)](z, torch.tensor([z.data_ptr()], device="cuda"), 4, BLOCK=4)
