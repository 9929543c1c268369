# SPDX-License-Identifier: Apache-2.0
# Norms, powers and products of matrices: the rest of torch.linalg, in the namespace of linalg.py.


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    if ord in (1, -1, float("inf"), float("-inf")):
        first, second = [d % A.dim() for d in (reversed(dim) if abs(ord) == 1 else dim)]
        found = torch.abs(A if dtype is None else A.to(dtype)).sum(second, True)
        found = torch.amax(found, first, True) if ord > 0 else torch.amin(found, first, True)
        return found if keepdim else found.reshape([size for d, size in enumerate(A.shape) if d not in (first, second)])
    if ord not in ("nuc", 2, -2):
        return torch.ops.aten.linalg_matrix_norm(A, ord, list(dim), keepdim, dtype=dtype)
    x = A if dtype is None else A.to(dtype)
    first, second = [d % A.dim() for d in dim]
    S = svdvals(torch.movedim(x, (first, second), (-2, -1)))
    found = S.sum(-1) if ord == "nuc" else S.amax(-1) if ord == 2 else S.amin(-1)
    return found.reshape([1 if d in (first, second) else size for d, size in enumerate(A.shape)]) if keepdim else found


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    dims = [dim] if isinstance(dim, int) else dim
    if ord is not None and (A.dim() == 2 if dims is None else len(dims) == 2):
        return matrix_norm(A, ord, (-2, -1) if dims is None else tuple(dims), keepdim, dtype=dtype)
    return torch.ops.aten.linalg_norm(A, ord, dims, keepdim, dtype=dtype)


def matrix_power(A, n):
    _square(A, "linalg.matrix_power")
    if n == 1:
        return A.clone()
    if n < 0:
        return matrix_power(inv(A), -n)
    found, factor = None, A
    while n:
        if n % 2:
            found = factor if found is None else found @ factor
        n //= 2
        if n:
            factor = factor @ factor
    return A.clone().copy_(torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)) if found is None else found


def matrix_exp(A):
    """Its series, of a matrix halved until it is small, and squared as often."""
    _square(A, "linalg.matrix_exp")
    if A.numel() == 0:
        return A.clone()
    largest = float(torch.abs(A.detach()).sum(-1).amax())
    times = max(0, math.ceil(math.log2(largest)) + 2) if largest > 0 and math.isfinite(largest) else 0
    x = A / 2**times
    one = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    found = one + x / 18
    for k in range(17, 0, -1):
        found = one + x @ found / k
    for _ in range(times):
        found = found @ found
    return found


def multi_dot(tensors):
    """The order in which the fewest products are formed."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    row, column = tensors[0].dim() == 1, tensors[-1].dim() == 1
    if row:
        tensors[0] = tensors[0].unsqueeze(0)
    if column:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    sizes = [t.shape[0] for t in tensors] + [tensors[-1].shape[1]]
    n = len(tensors)
    best = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[(i, j)] = min((best[(i, k)][0] + best[(k + 1, j)][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i, j):
        return tensors[i] if i == j else product(i, best[(i, j)][1]) @ product(best[(i, j)][1] + 1, j)

    found = product(0, n - 1)
    if row:
        found = found.squeeze(0)
    return found.squeeze(-1) if column else found


def vander(x, *, N=None):
    N = x.shape[-1] if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x.unsqueeze(0) if x.dim() == 0 else x
    return torch.stack([x**k if k else torch.ones_like(x) for k in range(N)], -1)


def cross(input, other, *, dim=-1):
    return torch.ops.aten.linalg_cross(input, other, dim=dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return torch.diagonal(A, offset, dim1, dim2)


def tensorinv(A, ind=2):
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    sizes = list(A.shape[ind:]) + list(A.shape[:ind])
    rows, columns = math.prod(A.shape[:ind]), math.prod(A.shape[ind:])
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} != {rows}")
    return inv(A.reshape(rows, columns)).reshape(sizes)


def tensorsolve(A, B, dims=None):
    if dims is not None:
        dims = [d % A.dim() for d in dims]
        A = A.permute([d for d in range(A.dim()) if d not in dims] + dims)
    sizes, count = list(A.shape[B.dim():]), B.numel()
    if math.prod(sizes) != count:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
                           f"{math.prod(sizes)} != {math.prod(A.shape[:B.dim()])}")
    return solve(A.reshape(count, count), B.reshape(count)).reshape(sizes)


def vecdot(x, y, *, dim=-1):
    return (x * y).sum(dim)
