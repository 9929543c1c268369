# SPDX-License-Identifier: Apache-2.0
# --- factors of matrices and what is solved with them; part of aten.py's namespace
#
# A factor is made column by column, in turns of a loop of the program: each takes the whole matrix and keeps what it must not change
# under a mask, so that sizes may be dynamic. Signs and pivots are those of LAPACK.


def _matrices(A):
    """In a type that they are computed in."""
    if not A.is_floating_point() or A.dtype in (torch.float16, torch.bfloat16):
        raise NotImplementedError(f"factors of matrices of {A.dtype}; float32 and float64 are there")
    return A


def _in_turns(body, carried, count, reverse=False):
    """`body(carried, k)` for each k; what it gives beside the new values, k by k along a first dim."""
    return torch._higher_order_ops.scan(body, list(carried), torch.arange(count), reverse=reverse)


def _column_of(A, k):
    return torch.index_select(A, -1, k.reshape(1))


def _row_of(A, k):
    return torch.index_select(A, -2, k.reshape(1))


def _at(A, k):
    """Element k, k, with dims of one."""
    return _column_of(_row_of(A, k), k)


def _numbers(A):
    """Indices of rows and of columns, as they broadcast."""
    return torch.arange(A.shape[-2]).unsqueeze(-1), torch.arange(A.shape[-1])


def _lower_part(A, unit):
    i, j = _numbers(A)
    one = torch.where(i == j, 1.0, 0.0).to(A.dtype)
    return torch.where(i > j, A, one) if unit else torch.where(i >= j, A, 0.0)


def _upper_part(A):
    i, j = _numbers(A)
    return torch.where(i <= j, A, 0.0)


def _lu_factors(A, pivot):
    """(LU, pivots counted from one, info)"""
    A = _matrices(A).clone()
    i, j = _numbers(A)
    turns = min(A.shape[-2], A.shape[-1])
    if turns is 0:
        return A, torch.zeros(list(A.shape[:-2]) + [0], dtype=torch.int32), torch.zeros(A.shape[:-2], dtype=torch.int32)

    def turn(carried, k):
        (M,) = carried
        column = _column_of(M, k)
        size = torch.where(i >= k, torch.abs(column), -1.0)
        # NaN counts as the largest.
        best = torch.argmax(size, -2, True) if pivot else torch.zeros_like(_column_of(_row_of(M, k), k), dtype=torch.int64) + k
        order = torch.where(i == k, best, torch.where(i == best, k, i))
        M = torch.gather(M, -2, order.expand(M.shape))
        top = _at(M, k)
        factor = torch.where(torch.logical_and(i > k, top != 0), _column_of(M, k) / top, torch.where(i > k, _column_of(M, k), 0.0))
        M = torch.where(torch.logical_and(i > k, j > k), M - factor * _row_of(M, k), torch.where(torch.logical_and(i > k, j == k), factor, M))
        return [M], best.squeeze(-1).squeeze(-1)

    (M,), best = _in_turns(turn, [A], turns)
    pivots = torch.movedim(best, 0, -1) + 1
    diagonal = F.diagonal(M, 0, -2, -1)
    places = torch.arange(turns) + 1
    info = torch.amin(torch.where(diagonal == 0, places, turns + 1), [-1])
    return M, pivots.to(torch.int32), torch.where(info > turns, 0, info).to(torch.int32)


def _order_of(pivots, rows):
    """Which row stands where after the exchanges."""
    start = torch.arange(rows).expand(list(pivots.shape[:-1]) + [rows]).clone()
    i = torch.arange(rows)
    swaps = torch.movedim(pivots.to(torch.int64), -1, 0) - 1

    def turn(carried, now):
        (order, k) = carried
        best = now.unsqueeze(-1)
        place = torch.where(i == k, best, torch.where(i == best, k, i))
        return [torch.gather(order, -1, place.expand(order.shape)), k + 1], k.clone()

    (order, _), _ = torch._higher_order_ops.scan(turn, [start, torch.zeros([], dtype=torch.int64)], swaps)
    return order


def _permutation(order, dtype):
    """P with P @ L @ U = A."""
    return (torch.arange(order.shape[-1]).unsqueeze(-1) == order.unsqueeze(-2)).to(dtype)


def _parity(pivots):
    moved = (pivots.to(torch.int64) != torch.arange(pivots.shape[-1]) + 1).to(torch.int64).sum(-1)
    return 1 - 2 * torch.remainder(moved, 2)


def _batches(A, B):
    """Both with the batches of both."""
    batch = F.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return A.expand(list(batch) + list(A.shape[-2:])), B.expand(list(batch) + list(B.shape[-2:]))


def _substituted(A, B, upper, unit):
    """X with A @ X = B of a triangular A."""
    A, B = _batches(A, B)
    i, j = _numbers(A)

    def turn(carried, k):
        (X,) = carried
        row = torch.where(j > k if upper else j < k, _row_of(A, k), 0.0)
        value = _row_of(B, k) - torch.matmul(row, X)
        value = value if unit else value / _at(A, k)
        return [torch.where(i == k, value, X)], k.clone()

    return _in_turns(turn, [torch.zeros_like(B)], A.shape[-1], upper)[0][0]


def _solved_by(LU, order, B):
    LU, B = _batches(LU, B)
    order = order.expand(LU.shape[:-1]).unsqueeze(-1).expand(B.shape)
    return _substituted(LU, _substituted(LU, torch.gather(B, -2, order), False, True), True, False)


def _is_vector(A, B):
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and list(B.shape) == list(A.shape[:-1]))


def _demand(info, text):
    torch._assert_async((info == 0).all(), text)


@_aten("aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()")
def _linalg_check_errors(info, api_name, is_matrix):
    _demand(info, f"{api_name}: a matrix is singular, or not positive-definite, or its decomposition did not converge")


def _turned(A):
    return A.transpose(-1, -2)


def _is_square(A, name):
    if A.dim() < 2 or not (A.shape[-1] is A.shape[-2] or _is_proved(A, A.shape[-1] == A.shape[-2])):
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {list(A.shape[-2:])}")


@_aten("aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)")
def _linalg_lu_factor_ex(A, pivot, check_errors):
    found = _lu_factors(A, pivot)
    if check_errors:
        _demand(found[2], "torch.linalg.lu_factor_ex: U has a zero on its diagonal, and using it on lu_solve would result in a division by zero.")
    return found


@_aten("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)")
def _linalg_lu_factor(A, pivot):
    return _lu_factors(A, pivot)[:2]


@_aten("aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)")
def _lu_with_info(self, pivot, check_errors):
    return _linalg_lu_factor_ex(self, pivot, check_errors)


@_aten("aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)")
def _lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    few = min(LU_data.shape[-2], LU_data.shape[-1])
    none = LU_data.new_empty([0])
    L, U = (_lower_part(LU_data[..., :few], True), _upper_part(LU_data[..., :few, :])) if unpack_data else (none, none)
    return _permutation(_order_of(LU_pivots, LU_data.shape[-2]), LU_data.dtype) if unpack_pivots else none, L, U


@_aten("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)")
def _linalg_lu(A, pivot):
    LU, pivots, _ = _lu_factors(A, pivot)
    P, L, U = _lu_unpack(LU, pivots, True, True)
    return P if pivot else A.new_empty([0]), L, U


@_aten("aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor")
def _linalg_lu_solve(LU, pivots, B, left, adjoint):
    order = _order_of(pivots, LU.shape[-1])
    other = B if left else _turned(B)
    if left != adjoint:
        X = _solved_by(LU, order, other)
    else:
        # The transposed matrix is that of U, L and the exchanges, from behind.
        found = _substituted(_turned(LU), _substituted(_turned(LU), other, False, False), True, True)
        X = torch.matmul(_permutation(order, LU.dtype), found)
    return X if left else _turned(X)


@_aten("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor")
def _lu_solve(self, LU_data, LU_pivots):
    return _linalg_lu_solve(LU_data, LU_pivots, self, True, False)


@_aten("aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)")
def _solve_with_factors(A, B, left, check_errors):
    _is_square(A, "linalg.solve")
    vector = left and _is_vector(A, B)
    other = B.unsqueeze(-1) if vector else B if left else _turned(B)
    LU, pivots, info = _lu_factors(A if left else _turned(A), True)
    if check_errors:
        _demand(info, "linalg.solve: The solver failed because the input matrix is singular.")
    X = _solved_by(LU, _order_of(pivots, A.shape[-1]), other)
    return X.squeeze(-1) if vector else X if left else _turned(X), LU, pivots, info


@_aten("aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)")
def _linalg_solve_ex(A, B, left, check_errors):
    found = _solve_with_factors(A, B, left, check_errors)
    return found[0], found[3]


@_aten("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor")
def _linalg_solve(A, B, left):
    return _solve_with_factors(A, B, left, True)[0]


def _identity_like(A):
    i, j = _numbers(A)
    return torch.where(i == j, 1.0, 0.0).to(A.dtype).expand(A.shape)


@_aten("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")
def _linalg_inv_ex(A, check_errors):
    _is_square(A, "linalg.inv")
    LU, pivots, info = _lu_factors(A, True)
    if check_errors:
        _demand(info, "linalg.inv: The inversion could not be completed because the input matrix is singular.")
    return _solved_by(LU, _order_of(pivots, A.shape[-1]), _identity_like(A)), info


@_aten("aten::linalg_inv(Tensor A) -> Tensor")
def _linalg_inv(A):
    return _linalg_inv_ex(A, True)[0]


@_aten("aten::inverse(Tensor self) -> Tensor")
def _inverse_of(self):
    return _linalg_inv(self)


@_aten("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor")
def _linalg_tensorinv(self, ind):
    before, after = list(self.shape[:ind]), list(self.shape[ind:])
    count = 1
    for size in after:
        count = count * size
    return _linalg_inv(self.reshape([-1, count])).reshape(after + before)


@_aten("aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor")
def _linalg_tensorsolve(self, other, dims):
    if dims is not None:
        self = torch.movedim(self, list(dims), list(range(self.dim() - len(dims), self.dim())))
    after = list(self.shape[other.dim() :])
    return _linalg_solve(self.reshape([other.numel(), -1]), other.reshape(-1), True).reshape(after)


# --- determinants


@_aten("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)")
def _det_with_factors(A):
    _is_square(A, "linalg.det")
    LU, pivots, _ = _lu_factors(A, True)
    return torch.prod(F.diagonal(LU, 0, -2, -1), -1) * _parity(pivots).to(A.dtype), LU, pivots


@_aten("aten::linalg_det(Tensor A) -> Tensor")
def _linalg_det(A):
    return _det_with_factors(A)[0]


@_aten("aten::det(Tensor self) -> Tensor")
def _det(self):
    return _det_with_factors(self)[0]


@_aten("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)")
def _slogdet_with_factors(A):
    _is_square(A, "linalg.slogdet")
    LU, pivots, _ = _lu_factors(A, True)
    diagonal = F.diagonal(LU, 0, -2, -1)
    return torch.prod(torch.sign(diagonal), -1) * _parity(pivots).to(A.dtype), torch.log(torch.abs(diagonal)).sum(-1), LU, pivots


@_aten("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)")
def _linalg_slogdet(A):
    return _slogdet_with_factors(A)[:2]


@_aten("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)")
def _slogdet(self):
    return _slogdet_with_factors(self)[:2]


@_aten("aten::logdet(Tensor self) -> Tensor")
def _logdet(self):
    sign, size = _slogdet_with_factors(self)[:2]
    return torch.where(sign < 0, float("nan"), size)


# --- triangular matrices, Cholesky


@_aten("aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor")
def _linalg_solve_triangular(self, B, upper, left, unitriangular):
    if left:
        return _substituted(self, B, upper, unitriangular)
    return _turned(_substituted(_turned(self), _turned(B), not upper, unitriangular))


@_aten("aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)")
def _triangular_solve(self, A, upper, transpose, unitriangular):
    A, B = _batches(A, self)
    return _substituted(_turned(A) if transpose else A, B, upper != transpose, unitriangular), A.clone()


@_aten("aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)")
def _linalg_cholesky_ex(self, upper, check_errors):
    _is_square(self, "linalg.cholesky")
    A = _matrices(_turned(self) if upper else self).clone()
    if A.shape[-1] is 0:
        return A, torch.zeros(A.shape[:-2], dtype=torch.int32)
    i, j = _numbers(A)

    def turn(carried, k):
        (M,) = carried
        top = _at(M, k)
        column = torch.where(i > k, _column_of(M, k) / torch.sqrt(top), 0.0)
        whole = torch.where(i == k, torch.sqrt(top), column)
        M = torch.where(torch.logical_and(i > k, j > k), M - column * _turned(column), torch.where(torch.logical_and(i >= k, j == k), whole, M))
        return [M], top.squeeze(-1).squeeze(-1)

    (M,), tops = _in_turns(turn, [A], A.shape[-1])
    tops = torch.movedim(tops, 0, -1)
    places = torch.arange(A.shape[-1]) + 1
    info = torch.amin(torch.where(tops > 0, A.shape[-1] + 1, places), [-1])
    info = torch.where(info > A.shape[-1], 0, info).to(torch.int32)
    if check_errors:
        _demand(info, "linalg.cholesky: The factorization could not be completed because the input is not positive-definite.")
    L = _lower_part(M, False)
    return _turned(L) if upper else L, info


@_aten("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")
def _linalg_cholesky(self, upper):
    return _linalg_cholesky_ex(self, upper, True)[0]


@_aten("aten::cholesky(Tensor self, bool upper=False) -> Tensor")
def _cholesky(self, upper):
    return _linalg_cholesky_ex(self, upper, True)[0]


@_aten("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor")
def _cholesky_solve(self, input2, upper):
    first, second = (_turned(input2), input2) if upper else (input2, _turned(input2))
    return _substituted(second, _substituted(first, self, False, False), True, False)


@_aten("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor")
def _cholesky_inverse(self, upper):
    return _cholesky_solve(_identity_like(self), self, upper)


# --- QR, by reflections


@_aten("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)")
def _geqrf(self):
    A = _matrices(self).clone()
    if A.shape[-2] is 0 or A.shape[-1] is 0:
        return A, A.new_empty(list(A.shape[:-2]) + [0])
    i, j = _numbers(A)

    def turn(carried, k):
        (M,) = carried
        column, top = _column_of(M, k), _at(M, k)
        below = torch.where(i > k, column, 0.0)
        # Of the largest element's size, so that no square overflows.
        largest = torch.maximum(torch.amax(torch.abs(below), [-2], True), torch.abs(top))
        by = torch.where(largest == 0, 1.0, largest)
        rest = (below / by).square().sum([-2], True)
        length = by * torch.sqrt(rest + (top / by).square())
        beta = torch.where(rest == 0, top, torch.where(top < 0, length, -length))
        tau = torch.where(rest == 0, 0.0, (beta - top) / beta)
        tail = torch.where(rest == 0, 0.0, below / torch.where(rest == 0, 1.0, top - beta))
        v = torch.where(i == k, 1.0, tail)
        changed = M - tau * v * torch.matmul(_turned(v), M)
        M = torch.where(torch.logical_and(i >= k, j > k), changed, torch.where(j == k, torch.where(i == k, beta, torch.where(i > k, tail, M)), M))
        return [M], tau.squeeze(-1).squeeze(-1)

    (M,), tau = _in_turns(turn, [A], min(A.shape[-2], A.shape[-1]))
    return M, torch.movedim(tau, 0, -1)


def _reflected(A, tau, C, reverse):
    """The reflections of A's columns on C, the first one last where `reverse`."""
    i = torch.arange(A.shape[-2]).unsqueeze(-1)

    def turn(carried, k):
        (M,) = carried
        v = torch.where(i == k, 1.0, torch.where(i > k, _column_of(A, k), 0.0))
        return [M - _column_of(tau.unsqueeze(-2), k) * v * torch.matmul(_turned(v), M)], k.clone()

    return _in_turns(turn, [C], tau.shape[-1], reverse)[0][0]


def _orthogonal(A, tau, columns):
    i = torch.arange(A.shape[-2]).unsqueeze(-1)
    one = (i == torch.arange(columns)).to(A.dtype)
    return _reflected(A, tau, one.expand(list(A.shape[:-2]) + list(one.shape)).clone(), True)


@_aten("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor")
def _linalg_householder_product(input, tau):
    return _orthogonal(input, tau, input.shape[-1])


@_aten("aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor")
def _ormqr(self, input2, input3, left, transpose):
    C = input3 if left else _turned(input3)
    found = _reflected(self, input2, C.clone(), transpose != left)
    return found if left else _turned(found)


@_aten("aten::linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)")
def _linalg_qr(A, mode):
    M, tau = _geqrf(A)
    few = min(A.shape[-2], A.shape[-1])
    if mode == "complete":
        return _orthogonal(M, tau, A.shape[-2]), _upper_part(M)
    R = _upper_part(M[..., :few, :])
    return (A.new_empty([0]) if mode == "r" else _orthogonal(M, tau, few)), R


@_aten("aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)")
def _qr(self, some):
    return _linalg_qr(self, "reduced" if some else "complete")


# --- powers


@_aten("aten::matrix_exp(Tensor self) -> Tensor")
def _matrix_exp(self):
    _is_square(self, "linalg.matrix_exp")
    A = self.to(torch.float64)
    if A.shape[-1] is 0:
        return self.clone()
    # Halved until it is small, and the sum of its powers squared as often.
    size = torch.amax(torch.abs(A).sum([-2], True), [-1], True)
    halvings = torch.clamp(torch.ceil(torch.log2(torch.clamp(size, min=1e-30))) + 1, 0, 60)
    A = A * torch.exp2(-halvings)
    one = _identity_like(A)
    total = one
    for k in range(14, 0, -1):
        total = one + torch.matmul(A, total) / k

    def turn(carried, k):
        (M,) = carried
        return [torch.where(k < halvings, torch.matmul(M, M), M)], k.clone()

    return _in_turns(turn, [total], 60)[0][0].to(self.dtype)


@_aten("aten::linalg_matrix_exp(Tensor self) -> Tensor")
def _linalg_matrix_exp(self):
    return _matrix_exp(self)
