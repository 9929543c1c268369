# SPDX-License-Identifier: Apache-2.0
"""torch.linalg of scripts: factors of matrices are computed on the host (_factors), from values; their derivatives are written with
operators, so that they can be differentiated again."""
import math

import torch
from torch._pellucid_composites import _returned


class LinAlgError(RuntimeError):
    pass


LinAlgError.__name__, LinAlgError.__qualname__, LinAlgError.__module__ = "_LinAlgError", "_LinAlgError", "torch._C"


def _square(A, name):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    if A.dtype not in (torch.float32, torch.float64):
        raise NotImplementedError(f"{name} of {A.dtype}; float32 and float64 are there")


def _turned(A):
    return A.transpose(-1, -2)


def _worst(infos):
    """The first of a batch that failed, and what it says."""
    found = [(i, info) for i, info in enumerate(infos.reshape(-1).tolist()) if info != 0]
    return found[0] if found else (None, 0)


def _of_batch(name, place, dims):
    return f"{name}: " if dims <= 2 else f"{name}: (Batch element {place}): "


# --- Cholesky


class _Cholesky(torch.autograd.Function):
    _named_as = "LinalgCholeskyExBackward0"

    @staticmethod
    def forward(ctx, A):
        L, infos = _factors("cholesky", A.detach())
        ctx.save_for_backward(L)
        ctx.mark_non_differentiable(infos)
        return L, infos

    @staticmethod
    def backward(ctx, grad, _infos):
        (L,) = ctx.saved_tensors
        inner = _turned(L) @ grad.tril()
        inner = inner.tril() - 0.5 * torch.diag_embed(torch.diagonal(inner, dim1=-2, dim2=-1))
        found = solve_triangular(_turned(L), _turned(solve_triangular(_turned(L), _turned(inner), upper=True)), upper=True)
        return 0.5 * (found + _turned(found))


def cholesky_ex(A, *, upper=False, check_errors=False):
    _square(A, "linalg.cholesky")
    L, infos = _Cholesky.apply(A)
    place, order = _worst(infos) if check_errors else (None, 0)
    if order:
        raise LinAlgError(_of_batch("linalg.cholesky", place, A.dim()) + "The factorization could not be completed because the input is not positive-definite (the leading minor of "
                          f"order {order} is not positive-definite).")
    return _returned("linalg_cholesky_ex", ("L", "info"), (_turned(L) if upper else L, infos))


def cholesky(A, *, upper=False):
    return cholesky_ex(A, upper=upper, check_errors=True)[0]


class _CholeskySolve(torch.autograd.Function):
    """Reads one triangle of L; what PyTorch says of the other's derivative comes from the product with all of L."""

    _named_as = "CholeskySolveBackward0"

    @staticmethod
    def forward(ctx, B, L, upper):
        lower = _turned(L) if upper else L
        X = solve_triangular(_turned(lower), solve_triangular(lower, B, upper=False), upper=True)
        ctx.save_for_backward(L, X)
        ctx.upper = upper
        return X

    @staticmethod
    def backward(ctx, grad):
        L, X = ctx.saved_tensors
        of_b = _CholeskySolve.apply(grad, L, ctx.upper)
        both = of_b @ _turned(X)
        both = both + _turned(both)
        return of_b, -(L @ both if ctx.upper else both @ L), None


def cholesky_solve(B, L, upper=False):
    _square(L, "cholesky_solve")
    L, B = _batched(L, B)
    return _CholeskySolve.apply(B, L, upper)


def cholesky_inverse(L, upper=False):
    return cholesky_solve(torch.eye(L.shape[-1], dtype=L.dtype), L, upper)


# --- systems of equations


class _SolveTriangular(torch.autograd.Function):
    _named_as = "LinalgSolveTriangularBackward0"

    @staticmethod
    def forward(ctx, A, B, upper, unitriangular):
        (X,) = _factors("triangular_upper" if upper else "triangular_lower", A.detach(), B.detach(), unitriangular)
        ctx.save_for_backward(A, X)
        ctx.upper, ctx.unit = upper, unitriangular
        return X

    @staticmethod
    def backward(ctx, grad):
        A, X = ctx.saved_tensors
        of_b = _SolveTriangular.apply(_turned(A), grad, not ctx.upper, ctx.unit)
        of_a = -of_b @ _turned(X)
        edge = 1 if ctx.unit else 0
        return of_a.triu(edge) if ctx.upper else of_a.tril(-edge), of_b, None, None


def _batched(A, B):
    lead = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return A.expand(list(lead) + list(A.shape[-2:])), B.expand(list(lead) + list(B.shape[-2:]))


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    _square(A, "linalg.solve_triangular")
    if not left:
        return _turned(solve_triangular(_turned(A), _turned(B), upper=not upper, unitriangular=unitriangular))
    A, B = _batched(A, B)
    return _SolveTriangular.apply(A, B, upper, unitriangular)


class _Solve(torch.autograd.Function):
    _named_as = "LinalgSolveExBackward0"

    @staticmethod
    def forward(ctx, A, B):
        X, infos = _factors("solve", A.detach(), B.detach())
        ctx.save_for_backward(A, X)
        ctx.mark_non_differentiable(infos)
        return X, infos

    @staticmethod
    def backward(ctx, grad, _infos):
        A, X = ctx.saved_tensors
        of_b = _Solve.apply(_turned(A), grad)[0]
        return -of_b @ _turned(X), of_b


def _solved(A, B, name):
    _square(A, name)
    if A.dtype != B.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type {A.dtype} and B of type {B.dtype} instead")
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    A, B = _batched(A, B)
    return _Solve.apply(A, B)


def solve(A, B, *, left=True):
    if B.dim() == 1 or (B.dim() == A.dim() - 1 and list(B.shape) == list(A.shape[:-1])):
        return solve(A, B.unsqueeze(-1), left=True).squeeze(-1) if left else solve(_turned(A), B.unsqueeze(-1)).squeeze(-1)
    if not left:
        return _turned(solve(_turned(A), _turned(B)))
    X, infos = _solved(A, B, "linalg.solve")
    place, order = _worst(infos)
    if order:
        raise LinAlgError(_of_batch("torch.linalg.solve", place, A.dim()) + "The solver failed because the input matrix is singular.")
    return X


def inv_ex(A, *, check_errors=False):
    _square(A, "linalg.inv")
    X, infos = _solved(A, torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape), "linalg.inv")
    place, order = _worst(infos) if check_errors else (None, 0)
    if order:
        raise LinAlgError(_of_batch("linalg.inv", place, A.dim()) + f"The diagonal element {order} is zero, the inversion could not be completed because the input matrix is singular.")
    return _returned("linalg_inv_ex", ("inverse", "info"), (X, infos))


def inv(A):
    return inv_ex(A, check_errors=True)[0]


def inverse(input):
    return inv(input)


# --- LU and determinants


def lu_factor(A, *, pivot=True):
    if not pivot:
        raise NotImplementedError("linalg.lu_factor without pivots")
    LU, pivots, infos = _factors("lu", A.detach())
    if A.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError("the derivative of linalg.lu_factor; solve, inv and det have theirs")
    return _returned("linalg_lu_factor", ("LU", "pivots"), (LU, pivots))


def lu(A, *, pivot=True):
    LU, pivots = lu_factor(A, pivot=pivot)
    if A.dim() != 2:
        raise NotImplementedError("linalg.lu of batches")
    m, n, k = A.shape[0], A.shape[1], min(A.shape[0], A.shape[1])
    order = list(range(m))
    for i, other in enumerate(pivots.tolist()):
        order[i], order[other - 1] = order[other - 1], order[i]
    P = torch.zeros(m, m, dtype=A.dtype)
    P[order, list(range(m))] = 1.0
    return _returned("linalg_lu", ("P", "L", "U"), (P, LU[:, :k].tril(-1) + torch.eye(m, k, dtype=A.dtype), LU[:k].triu()))


class _SignedLog(torch.autograd.Function):
    _named_as = "LinalgSlogdetBackward0"

    @staticmethod
    def forward(ctx, A):
        LU, pivots, infos = _factors("lu", A.detach())
        ctx.save_for_backward(A)
        diagonal = torch.diagonal(LU, dim1=-2, dim2=-1)
        swaps = (pivots != torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)).sum(-1)
        sign = torch.where(swaps % 2 == 1, -1.0, 1.0).to(A.dtype) * torch.prod(torch.sign(diagonal), -1)
        ctx.mark_non_differentiable(sign)
        return sign, torch.log(torch.abs(diagonal)).sum(-1)

    @staticmethod
    def backward(ctx, _sign, grad):
        (A,) = ctx.saved_tensors
        return grad.unsqueeze(-1).unsqueeze(-1) * _turned(inv(A))


def slogdet(A):
    _square(A, "linalg.slogdet")
    return _returned("linalg_slogdet", ("sign", "logabsdet"), _SignedLog.apply(A))


def logdet(input):
    sign, log = slogdet(input)
    return torch.where(sign == -1.0, float("nan"), log)


class _Det(torch.autograd.Function):
    _named_as = "LinalgDetBackward0"

    @staticmethod
    def forward(ctx, A):
        LU, pivots, infos = _factors("lu", A.detach())
        swaps = (pivots != torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)).sum(-1)
        det = torch.where(swaps % 2 == 1, -1.0, 1.0).to(A.dtype) * torch.prod(torch.diagonal(LU, dim1=-2, dim2=-1), -1)
        ctx.save_for_backward(A)
        return det

    @staticmethod
    def backward(ctx, grad):
        """The cofactors: of a matrix that has no inverse by its singular values."""
        (A,) = ctx.saved_tensors
        X, infos = _solved(A, torch.eye(A.shape[-1], dtype=A.dtype).expand(A.shape), "linalg.inv")
        if _worst(infos)[1] == 0:
            return (grad * det(A)).unsqueeze(-1).unsqueeze(-1) * _turned(X)
        U, S, Vh = _factors("svd", A.detach())
        rest = [torch.prod(torch.cat([S[..., :i], S[..., i + 1:]], -1), -1) for i in range(S.shape[-1])]
        sign = det(U) * det(Vh)
        return (grad * sign).unsqueeze(-1).unsqueeze(-1) * ((U * torch.stack(rest, -1).unsqueeze(-2)) @ Vh)


def det(A):
    _square(A, "linalg.det")
    return _Det.apply(A)


# --- QR, eigenvalues, singular values


def _lower_mirrored(M):
    return M.tril() + _turned(M.tril(-1))


class _Qr(torch.autograd.Function):
    _named_as = "LinalgQrBackward0"

    @staticmethod
    def forward(ctx, A, mode):
        Q, R = _factors("qr_complete" if mode == "complete" else "qr", A.detach())
        ctx.save_for_backward(A, Q, R)
        ctx.mode = mode
        return Q, R

    @staticmethod
    def backward(ctx, grad_q, grad_r):
        A, Q, R = ctx.saved_tensors
        m, n = A.shape[-2], A.shape[-1]
        if m < n or (ctx.mode == "complete" and m != n):
            raise NotImplementedError("the derivative of linalg.qr of a matrix with more columns than rows, or of a complete Q")
        M = R @ _turned(grad_r) - _turned(grad_q) @ Q
        return _turned(solve_triangular(R, _turned(grad_q + Q @ _lower_mirrored(M)), upper=True)), None


def qr(A, mode="reduced"):
    if mode == "r":
        return _returned("linalg_qr", ("Q", "R"), (A.new_empty([0]), _Qr.apply(A, "reduced")[1]))
    return _returned("linalg_qr", ("Q", "R"), _Qr.apply(A, mode))


def _differences(values):
    """values[j] - values[i], ones on the diagonal."""
    E = values.unsqueeze(-2) - values.unsqueeze(-1)
    return E + torch.eye(values.shape[-1], dtype=values.dtype)


class _Eigh(torch.autograd.Function):
    _named_as = "LinalgEighBackward0"

    @staticmethod
    def forward(ctx, A):
        L, V = _factors("eigh", A.detach())
        ctx.save_for_backward(L, V)
        return L, V

    @staticmethod
    def backward(ctx, grad_values, grad_vectors):
        L, V = ctx.saved_tensors
        inner = _turned(V) @ grad_vectors
        inner = inner - torch.diag_embed(torch.diagonal(inner, dim1=-2, dim2=-1))
        return V @ (inner / _differences(L) + torch.diag_embed(grad_values)) @ _turned(V)


def eigh(A, UPLO="L"):
    _square(A, "linalg.eigh")
    return _returned("linalg_eigh", ("eigenvalues", "eigenvectors"), _Eigh.apply(A if UPLO.upper() == "L" else _turned(A)))


def eigvalsh(A, UPLO="L"):
    return eigh(A, UPLO)[0]


class _Svd(torch.autograd.Function):
    _named_as = "LinalgSvdBackward0"

    @staticmethod
    def forward(ctx, A):
        U, S, Vh = _factors("svd", A.detach())
        ctx.save_for_backward(U, S, Vh)
        return U, S, Vh

    @staticmethod
    def backward(ctx, grad_u, grad_s, grad_vh):
        U, S, Vh = ctx.saved_tensors
        V, grad_v = _turned(Vh), _turned(grad_vh)
        m, n, k = U.shape[-2], V.shape[-2], S.shape[-1]
        row, column = S.unsqueeze(-2), S.unsqueeze(-1)
        E = (row - column) * (row + column) + torch.eye(k, dtype=S.dtype)
        of_u, of_v = _turned(U) @ grad_u, _turned(V) @ grad_v
        inner = ((of_u - _turned(of_u)) / E) * row + column * ((of_v - _turned(of_v)) / E) + torch.diag_embed(grad_s)
        found = U @ inner @ Vh
        if m > k:
            found = found + ((grad_u - U @ of_u) / row) @ Vh
        if n > k:
            found = found + (U / row) @ _turned(grad_v - V @ of_v)
        return found


def svd(A, full_matrices=True, *, driver=None):
    U, S, Vh = _Svd.apply(A)
    k, m, n = S.shape[-1], A.shape[-2], A.shape[-1]
    if full_matrices and m != n:
        if A.requires_grad and torch.is_grad_enabled():
            raise NotImplementedError("the derivative of linalg.svd with full_matrices=True; pass False")
        # What is missing to a basis.
        if m > k:
            U = torch.cat([U, _factors("qr_complete", U.detach())[0][..., k:]], -1)
        else:
            Vh = torch.cat([Vh, _turned(_factors("qr_complete", _turned(Vh).detach())[0][..., k:])], -2)
    return _returned("linalg_svd", ("U", "S", "Vh"), (U, S, Vh))


def svdvals(A, *, driver=None):
    return _Svd.apply(A)[1]


def pinv(A, *, atol=None, rtol=None, hermitian=False):
    if hermitian:
        # PyTorch's derivative is that of the whole matrix.
        whole = A.detach()
        A = whole.tril() + _turned(whole.tril(-1)) + (A - whole)
    if 0 in A.shape:
        return _turned(A) * 1
    U, S, Vh = _Svd.apply(A)
    if rtol is None:
        rtol = max(A.shape[-2:]) * torch.finfo(A.dtype).eps if atol is None else 0.0
    least = torch.clamp(S.detach().amax(-1, True) * rtol, min=0.0 if atol is None else atol)
    return _turned(Vh) @ (torch.where(S > least, 1.0 / S, 0.0).unsqueeze(-1) * _turned(U))


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    if hermitian:
        A = A.tril() + _turned(A.tril(-1))
    S = svdvals(A.detach())
    if rtol is None:
        rtol = max(A.shape[-2:]) * torch.finfo(A.dtype).eps if atol is None else 0.0
    return (S > torch.clamp(S.amax(-1, True) * rtol, min=0.0 if atol is None else atol)).sum(-1)


def cond(A, p=None):
    if p is None or p in (2, -2):
        S = svdvals(A)
        return S[..., -1] / S[..., 0] if p == -2 else S[..., 0] / S[..., -1]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def lstsq(A, B, rcond=None, *, driver=None):
    X = pinv(A, rtol=rcond) @ B
    rank = matrix_rank(A)
    left = ((A @ X - B) ** 2).sum(-2) if A.shape[-2] > A.shape[-1] and A.dim() == 2 and int(rank) == A.shape[-1] else A.new_empty([0])
    return _returned("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"), (X, left, rank, A.new_empty([0])))


# --- norms, powers, products


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
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
    return torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape).clone() if found is None else found


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
