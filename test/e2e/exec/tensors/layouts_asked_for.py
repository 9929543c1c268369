# SPDX-License-Identifier: Apache-2.0
"""Which tensor x.to(memory_format=…) and its kin are: x itself, so that what is written is seen there, or one of other strides. And parts of
results whose strides only the run knows, seen flat: nothing is read beyond them."""
import torch


def layouts(sizes):
    plain = torch.arange(float(torch.Size(sizes).numel())).reshape(sizes)
    yield plain
    yield plain.contiguous(memory_format=torch.channels_last)
    yield torch.empty(sizes).copy_(plain).to(memory_format=torch.channels_last)
    yield torch.empty(sizes[::-1]).permute(3, 2, 1, 0).copy_(plain)
    yield plain.transpose(2, 3).contiguous().transpose(2, 3)
    yield plain.transpose(0, 1).contiguous().transpose(0, 1)


for sizes in ((2, 3, 4, 4), (2, 1, 4, 4), (1, 1, 4, 4), (1, 3, 4, 4), (2, 3, 1, 1), (1, 3, 4, 1)):
    for x in layouts(sizes):
        said = [x.stride()]
        for wanted in (torch.channels_last, torch.contiguous_format, torch.preserve_format):
            y = x.to(memory_format=wanted)
            said += [y.data_ptr() == x.data_ptr(), y.stride()]
            if wanted is not torch.preserve_format:  # of dims of one element, strides may be kept or not
                said += [x.to(torch.float64, memory_format=wanted).stride(), x.to(memory_format=wanted, copy=True).stride(), torch.zeros_like(x, memory_format=wanted).stride()]
            if wanted is torch.channels_last:
                said.append(x.double(memory_format=wanted).stride())
            y[0, 0, 0, 0] = 100
            said.append(x[0, 0, 0, 0].item())
            x[0, 0, 0, 0] = 0
        print(list(sizes), *said)
part = torch.zeros(2, 6, 4, 4).to(memory_format=torch.channels_last)[:, 1:4]
print(part.stride(), part.to(memory_format=torch.channels_last).data_ptr() == part.data_ptr(), part.contiguous(memory_format=torch.channels_last).stride())
print(torch.empty(3, 1, 2, 2, memory_format=torch.channels_last).stride(), torch.nn.Conv2d(1, 4, 3).to(memory_format=torch.channels_last).weight.stride())
for wanted in (torch.channels_last, torch.channels_last_3d):
    for x in (torch.zeros(2, 3), torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 3, 4, 5)):
        try:
            print(x.to(memory_format=wanted).stride())
        except RuntimeError as error:
            print(error)

E = torch.ones(()).expand
for sizes, step in (((3,), (1,)), ((3, 3), (3, 1)), ((1, 1, 3, 3), (9, 9, 3, 1))):
    whole = torch.as_strided_scatter(torch.zeros(sizes), E(sizes), sizes, step, 0)
    part = whole
    for dim in range(len(sizes)):
        part = part.narrow(dim, 1, 1) if sizes[dim] > 1 else part
    print(part.flatten().tolist(), part.reshape(-1).tolist(), (part.reshape(1) + 1).tolist(), part.reshape(1, 1).sum().item())
for n in (1, 2, 3):
    x = torch.arange(1.0, n * n + 1).reshape(1, 1, n, n).requires_grad_()
    for padding in (0, 1, 2):
        slope, = torch.autograd.grad((torch.nn.functional.unfold(x, 1, padding=padding) ** 2).sum(), [x])
        print(slope.flatten().tolist())
    x = torch.arange(1.0, n * n + 1).reshape(n, n).transpose(0, 1).detach().requires_grad_()
    slope, = torch.autograd.grad(torch.nn.functional.unfold(x.reshape(1, -1, n, n), 1, padding=1).sum(), [x])
    print(slope.tolist())
a = torch.arange(12.0).reshape(3, 4)
for made in (a.t() @ a, torch.stack([a.t(), a.t()], 1), a.t().cumsum(0), torch.einsum("ij,kj->ki", a, a), torch.cat([a.t(), a.t()], 1), a.t().sum(0, keepdim=True).expand(4, 3)):
    for part in (made[1:], made[1:, 1:], made[2:3, 1:2], made[:, 1]):
        flat = part.reshape(-1)
        print(flat.tolist(), flat[1:].reshape(-1).tolist(), (flat * 2).tolist())
