# SPDX-License-Identifier: Apache-2.0
"""Models whose sizes values decide. PyTorch and Pellucid run this file alike."""
import torch
import triton
import triton.language as tl
from torch import nn


class Nonzero(nn.Module):
    def forward(self, x):
        return torch.nonzero(x), x.nonzero(as_tuple=True)[0], torch.argwhere(x[0]), x[0, 0].nonzero(), torch.where(x > 1)[1]


class Static(nn.Module):
    def forward(self, x):
        return torch.nonzero_static(x, size=6), torch.nonzero_static(x, size=4, fill_value=7), torch.nonzero_static(x[0], size=60)


class Mask(nn.Module):
    def forward(self, x, y):
        z = x[x > 0.2]
        return z, z * 2 + 1, x[y], torch.masked_select(x, y[:, None]), x[y, 1], x[:, y], x[y][:, y]


class Several(nn.Module):
    """Masks beside other indices, masks of more dims, masks without any."""

    def forward(self, x, y):
        i = torch.tensor([0, 2, 1])
        return x[y.to(torch.uint8)], x[y, y], x[i][:, y], x[y[:, None] & y[None, :]], x[x.sum() > 0], x[None][:, y], x[..., y].sum()


class Computed(nn.Module):
    """What is made of a result goes on as usual, reductions of nothing too."""

    def forward(self, x):
        z = x[x > 0.2]
        return z.sum(), torch.softmax(z, 0), z.reshape(-1, 1) @ z.reshape(1, -1), torch.cat([z, z]), torch.sort(z)[0], z.cumsum(0), x.sum() + z.shape[0]


class Put(nn.Module):
    def forward(self, x, y, few):
        a = x.clone()
        a[x > 0] = y[x > 0]
        b = x.clone()
        b[x > 0] = 5.0
        c = x.clone()
        rows = x.sum(1) > 0
        c[rows] = 7
        d = x.clone()
        d[rows] = y[rows] * 2
        e = x.clone()
        e[rows, 0] = 1.5
        f = x.clone()
        f[rows] = few
        return a, b, c, d, e, f


class Exact(nn.Module):
    """As many values as there are places: checked when the program runs."""

    def forward(self, x, values):
        y = x.clone()
        y[x > 0] = values
        return y


class Unique(nn.Module):
    def forward(self, x):
        a, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        b, inverse2, counts2 = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
        return a, inverse, counts, b, inverse2, counts2, torch.unique_consecutive(x, dim=0), x.unique().shape[0] + x


class UniqueOf(nn.Module):
    def forward(self, x):
        return torch.unique(x), torch.unique_consecutive(x)


class UniqueSlices(nn.Module):
    def forward(self, x):
        a, inverse, counts = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
        return a, inverse, counts


class UniqueColumns(nn.Module):
    def forward(self, x, b):
        a, inverse = torch.unique(x, dim=1, return_inverse=True)
        return a, inverse, torch.unique(x, dim=-1), b.unique(dim=0), torch.unique(x[0, :, 0], dim=0)


class Nothing(nn.Module):
    def forward(self, x, y):
        return torch.nonzero(x), torch.nonzero(y), x[x > 0], torch.nonzero(y, as_tuple=True)[1]


class Repeat(nn.Module):
    def forward(self, x, r):
        return torch.repeat_interleave(x, r, dim=0), torch.repeat_interleave(r), x.repeat_interleave(r, 0).sum(), torch.repeat_interleave(x, r[:1], dim=1)


class Item(nn.Module):
    def forward(self, x, n):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= x.shape[0])
        return x[:k] * 2, torch.arange(k), torch.zeros(k, 3), x[:k].sum(0), torch.ones(k + 1) * k, torch.full((k, k), 2.5), torch.arange(2 * k, dtype=torch.float32).reshape(k, 2)


class Listed(nn.Module):
    def forward(self, x, n):
        a, b = n.tolist()
        torch._check_is_size(a)
        torch._check_is_size(b)
        torch._check(a + b == x.shape[0])
        return torch.zeros(a, b), x[a:], torch.arange(torch.sym_max(a, b)), torch.ones(torch.sym_min(a, 3))


class Count(nn.Module):
    def forward(self, x, w):
        return torch.bincount(x), torch.bincount(x, minlength=12), torch.bincount(x, weights=w)


class Dynamic(nn.Module):
    """Inputs whose sizes differ from call to call as well."""

    def forward(self, x, y):
        return x[x > 0], torch.nonzero(y), y[y.sum(1) > 0]


class Twice(nn.Module):
    """A size that hangs on another one."""

    def forward(self, x):
        z = x[x > 0]
        w = z[z > 1]
        return w, torch.zeros(w.shape[0], z.shape[0]), w.unique()


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        found = torch.nonzero(x)
        self.seen += found.shape[0]
        return found, self.seen + 0


@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)


@triton.jit
def row_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v - tl.sum(v, 0), mask=i < n)


class Launched(nn.Module):
    """Kernels with such sizes: as their grid, an argument, and a constant that is a power of two."""

    def forward(self, x):
        z = x[x > 0]
        n = z.shape[0]
        torch._check(n > 0)
        out, rows = torch.empty_like(z), torch.empty_like(z)
        scale_kernel[(triton.cdiv(n, 4),)](z, out, n, BLOCK=4)
        row_kernel[(1,)](z, rows, n, BLOCK=triton.next_power_of_2(n))
        return out, rows


class Drawn(nn.Module):
    """What is drawn differs; weights that are none are refused."""

    def forward(self, w):
        return torch.multinomial(w, 3, replacement=True) * 0


class Ends(nn.Module):
    """Ends of slices that are below 0 for some sizes, where they count from the end."""

    def forward(self, x):
        n = x.shape[0]
        return x[: n - 5], x[-(n - 3) :], x[n - 7 :], x[n - 4 : n - 2]


class EndsOfValues(nn.Module):
    def forward(self, x, n):
        k = n.item()
        return x[:k], x[k:], x[k : k + 2]
