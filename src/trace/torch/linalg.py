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


class _LuFactor(torch.autograd.Function):
    _named_as = "LinalgLuFactorExBackward0"

    @staticmethod
    def forward(ctx, A):
        LU, pivots, _infos = _factors("lu", A.detach())
        ctx.save_for_backward(LU, pivots)
        ctx.mark_non_differentiable(pivots)
        return LU, pivots

    @staticmethod
    def backward(ctx, grad, _pivots):
        """Of the rows in their order of P: what both triangles of the square part are asked for, and what is beside or below it."""
        LU, pivots = ctx.saved_tensors
        m, n = LU.shape[-2], LU.shape[-1]
        k = min(m, n)
        square, of_lower, of_upper = LU[..., :k, :k], grad[..., :k, :k].tril(-1), grad[..., :k, :k].triu()
        lower, upper = square.tril(-1) + torch.eye(k, dtype=LU.dtype, device=LU.device), square.triu()
        lower_asked, upper_asked = _turned(lower) @ of_lower, of_upper @ _turned(upper)
        if n > k:
            lower_asked = lower_asked - grad[..., :, k:] @ _turned(LU[..., :, k:])
        if m > k:
            upper_asked = upper_asked - _turned(LU[..., k:, :]) @ grad[..., k:, :]
        found = solve_triangular(_turned(lower), lower_asked.tril(-1) + upper_asked.triu(), upper=True, unitriangular=True)
        found = solve_triangular(_turned(upper), found, upper=False, left=False)
        if n > k:
            found = torch.cat([found, solve_triangular(_turned(lower), grad[..., :, k:], upper=True, unitriangular=True)], -1)
        if m > k:
            found = torch.cat([found, solve_triangular(_turned(upper), grad[..., k:, :], upper=False, left=False)], -2)
        return torch.gather(found, -2, torch.argsort(_rows_taken(pivots, m), -1).unsqueeze(-1).expand(found.shape))


def _rows_taken(pivots, m):
    """Which row of A each row of L U is."""
    lead = list(pivots.shape[:-1])
    found = []
    for swaps in pivots.reshape(math.prod(lead), pivots.shape[-1]).tolist():
        order = list(range(m))
        for i, other in enumerate(swaps):
            order[i], order[other - 1] = order[other - 1], order[i]
        found.append(order)
    return torch.tensor(found, dtype=torch.int64, device=pivots.device).reshape(lead + [m])


def lu_factor(A, *, pivot=True):
    if not pivot:
        raise NotImplementedError("linalg.lu_factor without pivots")
    return _returned("linalg_lu_factor", ("LU", "pivots"), _LuFactor.apply(A))


def lu(A, *, pivot=True):
    LU, pivots = lu_factor(A, pivot=pivot)
    m, n = A.shape[-2], A.shape[-1]
    k = min(m, n)
    places = torch.arange(m, device=A.device).unsqueeze(-1)
    P = (places == _rows_taken(pivots, m).unsqueeze(-2)).to(A.dtype)
    L = LU[..., :k].tril(-1) + torch.eye(m, k, dtype=A.dtype, device=A.device)
    return _returned("linalg_lu", ("P", "L", "U"), (P, L, LU[..., :k, :].triu()))


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
    def forward(ctx, A, upper):
        L, V = _factors("eigh", _turned(A.detach()) if upper else A.detach())
        ctx.save_for_backward(L, V)
        return L, V

    @staticmethod
    def backward(ctx, grad_values, grad_vectors):
        L, V = ctx.saved_tensors
        inner = _turned(V) @ grad_vectors
        inner = inner - torch.diag_embed(torch.diagonal(inner, dim1=-2, dim2=-1))
        found = V @ (inner / _differences(L) + torch.diag_embed(grad_values)) @ _turned(V)
        return 0.5 * (found + _turned(found)), None


def eigh(A, UPLO="L"):
    _square(A, "linalg.eigh")
    return _returned("linalg_eigh", ("eigenvalues", "eigenvectors"), _Eigh.apply(A, UPLO.upper() == "U"))


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
        # What is missing to a basis: no derivative is asked of it.
        if m > k:
            U = torch.cat([U, _factors("qr_complete", U.detach())[0][..., k:]], -1)
        else:
            Vh = torch.cat([Vh, _turned(_factors("qr_complete", _turned(Vh).detach())[0][..., k:])], -2)
    return _returned("linalg_svd", ("U", "S", "Vh"), (U, S, Vh))


def svdvals(A, *, driver=None):
    return _Svd.apply(A)[1]


class _Pinv(torch.autograd.Function):
    """Its derivative takes the inverse as it is: singular values may be equal, and a matrix that is said to be symmetric is read as a whole."""

    _named_as = "LinalgPinvBackward0"

    @staticmethod
    def forward(ctx, A, atol, rtol, hermitian):
        read = A.detach()
        U, S, Vh = _factors("svd", read.tril() + _turned(read.tril(-1)) if hermitian else read)
        least = torch.clamp(S.amax(-1, True) * rtol, min=atol)
        X = _turned(Vh) @ (torch.where(S > least, 1.0 / S, 0.0).unsqueeze(-1) * _turned(U))
        ctx.save_for_backward(A, X)
        return X

    @staticmethod
    def backward(ctx, grad):
        A, X = ctx.saved_tensors
        asked = _turned(grad)
        if A.shape[-2] <= A.shape[-1]:
            inner = asked @ X
            turned = inner @ _turned(X)
            found = turned - _turned(X @ inner) - A @ (X @ turned) + _turned(X) @ (X @ (asked - inner @ A))
        else:
            inner = X @ asked
            turned = _turned(X) @ inner
            found = turned - _turned(inner @ X) + ((asked - A @ inner) @ X) @ _turned(X) - (turned @ X) @ A
        return found, None, None, None


def pinv(A, *, atol=None, rtol=None, hermitian=False):
    if 0 in A.shape:
        return _turned(A) * 1
    if rtol is None:
        rtol = max(A.shape[-2:]) * torch.finfo(A.dtype).eps if atol is None else 0.0
    bounds = [b.detach().unsqueeze(-1) if isinstance(b, torch.Tensor) else b for b in (0.0 if atol is None else atol, rtol)]
    return _Pinv.apply(A, bounds[0], bounds[1], hermitian)


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    if 0 in A.shape[-2:]:
        return torch.zeros(A.shape[:-2], dtype=torch.int64, device=A.device)
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
    """What comes beside the solution depends on the driver, as there: gels finds no rank, gelsy no residuals and no singular values."""
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}")
    m, n = A.shape[-2], A.shape[-1]
    is_vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and list(B.shape) == list(A.shape[:-1]))
    right = B.unsqueeze(-1) if is_vector else B
    X = pinv(A, rtol=rcond) @ right
    rank = matrix_rank(A, rtol=rcond)
    left = A.new_empty([0])
    if m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all())):
        left = ((A @ X - right) ** 2).sum(-2)
    if driver == "gels":
        rank = rank.new_empty([0])
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else A.new_empty([0])
    return _returned("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"), (X.squeeze(-1) if is_vector else X, left, rank, values))
