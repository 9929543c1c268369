# SPDX-License-Identifier: Apache-2.0
"""Products are row-major whatever order their operands lie in: what is a view of one is written through."""
import torch
import torch.nn.functional as F


def laid(*sizes):
    """Its dims lie in memory the other way round."""
    count = 1
    for size in sizes:
        count *= size
    return (torch.arange(count, dtype=torch.float32) % 7 - 3).reshape(sizes[::-1]).permute(*range(len(sizes) - 1, -1, -1))


def show(name, y):
    flat = y.reshape(-1)
    flat += 1
    flat[:1] = 100.0
    print(name, tuple(y.shape), y.stride(), y.is_contiguous(), y.round(decimals=3).tolist())


w = laid(5, 3)
show("mm", torch.mm(laid(4, 5), w))
show("mm of one", torch.mm(laid(1, 5), w))
show("mm of none", torch.mm(laid(0, 5), w))
show("addmm", torch.addmm(laid(4, 3), laid(4, 5), w))
show("bmm", torch.bmm(laid(2, 4, 5), laid(2, 5, 3)))
for sizes in [(5,), (4, 5), (2, 4, 5), (2, 1, 4, 5)]:
    show(f"linear {sizes}", F.linear(laid(*sizes), w.t()))
    show(f"linear with bias {sizes}", F.linear(laid(*sizes), w.t(), torch.ones(3)))
    show(f"matmul {sizes}", laid(*sizes) @ w)
show("batches", laid(2, 3, 4, 5) @ laid(2, 3, 5, 2))
show("batches that repeat", laid(3, 4, 5) @ laid(2, 1, 5, 2))
# Of an order that only PyTorch knows.
y = F.scaled_dot_product_attention(laid(1, 2, 3, 4), laid(1, 2, 3, 4), laid(1, 2, 3, 4))
show("linear of attention", F.linear(y, laid(3, 4)))
z = y.transpose(1, 2).contiguous()
print(z.stride(), z.is_contiguous())

# The gradients of layers one behind the other: what is reshaped is added to in place.
x = laid(2, 4, 5).clone().requires_grad_()
first, second = laid(6, 5).clone().requires_grad_(), laid(3, 6).clone().requires_grad_()
for turn in range(5):
    F.linear(F.linear(x, first).transpose(1, 2).reshape(2, 4, 6), second).square().sum().backward()
    x.grad[1, 2, turn] = 0.0
    print(turn, x.grad.sum().item(), first.grad.sum().item(), second.grad.sum().item(), x.grad.stride(), first.grad.stride())
