# SPDX-License-Identifier: Apache-2.0
# --- products; part of aten.py's namespace


@_aten("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")
def _einsum(equation, tensors, path):
    return F.einsum(equation, *tensors)


@_aten("aten::outer(Tensor self, Tensor vec2) -> Tensor")
def _outer(self, vec2):
    return F.outer(self, vec2)


@_aten("aten::mv(Tensor self, Tensor vec) -> Tensor")
def _mv(self, vec):
    return torch.matmul(self, vec)


@_aten("aten::dot(Tensor self, Tensor tensor) -> Tensor")
def _dot(self, tensor):
    if self.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.dim()}D and {tensor.dim()}D tensors")
    if self.dtype != tensor.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {self.dtype} and {tensor.dtype}")
    return torch.matmul(self, tensor)


@_aten("aten::vdot(Tensor self, Tensor other) -> Tensor")
def _vdot(self, other):
    return torch.matmul(self, other)


def _scaled_sum(input, product, beta, alpha):
    if not product.is_floating_point():
        # As PyTorch takes a factor for whole numbers.
        kind = bool if product.dtype == torch.bool else int
        beta, alpha = kind(beta), kind(alpha)
    if product.dtype == torch.bool:
        none = torch.zeros_like(product)
        return torch.logical_or(product if alpha else none, input if beta else none)
    product = product if alpha == 1 else product * alpha
    # A factor of 0 takes nothing of the input, not even NaN.
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


@_aten("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor")
def _cross(self, other, dim):
    shape = F.broadcast_shapes(self.shape, other.shape)
    a, b = self.expand(shape), other.expand(shape)
    if dim is None:
        threes = [d for d, size in enumerate(shape) if size == 3]
        if not threes:
            raise RuntimeError("no dimension of size 3 in input")
        dim = threes[0]
    return _linalg_cross(a, b, dim)


@_aten("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor")
def _linalg_cross(self, other, dim):
    parts = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts.append(self.select(dim, j) * other.select(dim, k) - self.select(dim, k) * other.select(dim, j))
    return torch.stack(parts, dim)


@_aten("aten::trace(Tensor self) -> Tensor")
def _trace(self):
    return F.diagonal(self).sum()


@_aten("aten::kron(Tensor self, Tensor other) -> Tensor")
def _kron(self, other):
    rank = max(self.dim(), other.dim())
    a, b = [1] * (rank - self.dim()) + list(self.shape), [1] * (rank - other.dim()) + list(other.shape)
    spread = [n for pair in zip(a, [1] * rank) for n in pair], [n for pair in zip([1] * rank, b) for n in pair]
    return (self.reshape(spread[0]) * other.reshape(spread[1])).reshape([m * n for m, n in zip(a, b)])


@_aten("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _baddbmm(self, batch1, batch2, beta, alpha):
    return _scaled_sum(self, torch.bmm(batch1, batch2), beta, alpha)


@_aten("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addmv(self, mat, vec, beta, alpha):
    return _scaled_sum(self, torch.matmul(mat, vec), beta, alpha)


@_aten("aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addr(self, vec1, vec2, beta, alpha):
    return _scaled_sum(self, F.outer(vec1, vec2), beta, alpha)


@_aten("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addbmm(self, batch1, batch2, beta, alpha):
    if self.is_floating_point() and self.dtype != torch.float64:
        # Rounded once, not after each product.
        wide = _scaled_sum(self.float(), torch.bmm(batch1.float(), batch2.float()).sum(0), beta, alpha)
        return wide.to(batch1.dtype)
    return _scaled_sum(self, torch.bmm(batch1, batch2).sum(0), beta, alpha)


@_aten("aten::inner(Tensor self, Tensor other) -> Tensor")
def _inner(self, other):
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    return torch.tensordot(self, other, dims=([-1], [-1])) if self.dim() > 2 or other.dim() > 2 else torch.matmul(self, other.t() if other.dim() == 2 else other)


@_aten("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
def _tensordot(self, other, dims_self, dims_other):
    # A dim of one element is summed with all of the other's.
    for i, j in zip(dims_self, dims_other):
        if self.shape[i] is not other.shape[j] and self.shape[i] == 1:
            other = torch.sum(other, [j], True)
        elif self.shape[i] is not other.shape[j] and other.shape[j] == 1:
            self = torch.sum(self, [i], True)
    left, right = [F._wrapped(d, self.dim()) for d in dims_self], [F._wrapped(d, other.dim()) for d in dims_other]
    rows = [d for d in range(self.dim()) if d not in left]
    columns = [d for d in range(other.dim()) if d not in right]
    summed = F._product([self.shape[d] for d in left])
    a = torch.permute(self, rows + left).reshape([F._product([self.shape[d] for d in rows]), summed])
    b = torch.permute(other, right + columns).reshape([summed, F._product([other.shape[d] for d in columns])])
    return torch.mm(a, b).reshape([self.shape[d] for d in rows] + [other.shape[d] for d in columns])
