# SPDX-License-Identifier: Apache-2.0
# --- eigenvalues of symmetric matrices, singular values and what follows from them; part of aten.py's namespace
#
# Jacobi's rotations, all disjoint pairs of columns at once: in turn r of a sweep column j goes with column (r - j) mod n, so that n turns
# bring every pair together, for even and odd n. Computed in float64 and rounded once. Signs of vectors are not LAPACK's.


def _rotation(this, partner, product, first):
    """(cosine, sine) of the turn after which two columns have no product; the partner's sine is this one's negative."""
    twice = torch.where(product == 0, 1.0, 2.0 * product)
    theta = (partner - this) / twice
    tangent = torch.sign(theta) / (torch.abs(theta) + torch.sqrt(theta * theta + 1.0))
    tangent = torch.where(theta == 0, torch.where(first, 1.0, -1.0), tangent)
    tangent = torch.where(product == 0, 0.0, tangent)
    cosine = 1.0 / torch.sqrt(tangent * tangent + 1.0)
    return cosine, tangent * cosine


def _swept(carried, turn, left):
    """Sweeps until what is left before one is so small that after it nothing is: each squares it. `left` of NaN ends them, too."""
    count = carried[0].shape[-1]

    def goes_on(sweep, rest, *carried):
        return torch.logical_and(rest > 1e-9, sweep < 40)

    def sweep(number, rest, *carried):
        rest = left(carried)
        return (number + 1, rest, *_in_turns(turn, carried, count)[0])

    start = (torch.zeros([], dtype=torch.int64), torch.ones([], dtype=torch.float64), *carried)
    return torch._higher_order_ops.while_loop(goes_on, sweep, start)[2:]


def _partners(count, r):
    j = torch.arange(count)
    p = torch.remainder(r - j, count)
    return p, j < p


def _symmetric_spectrum(A, upper):
    """(values from the smallest, vectors as columns), in float64."""
    i, j = _numbers(A)
    wide = _matrices(A).to(torch.float64)
    wide = wide if not upper else _turned(wide)
    wide = torch.where(i >= j, wide, _turned(wide))
    one = (i == j).to(torch.float64).expand(wide.shape).clone()
    size = torch.sqrt(wide.square().sum([-2, -1], True))
    scaled = wide / torch.where(size == 0, 1.0, size)

    def left(carried):
        return torch.amax(torch.sqrt(torch.where(i == j, 0.0, carried[0]).square().sum([-2, -1])))

    def turn(carried, r):
        M, V = carried
        p, first = _partners(M.shape[-1], r)
        diagonal = F.diagonal(M, 0, -2, -1)
        places = p.unsqueeze(-1).expand(list(M.shape[:-1]) + [1])
        product = torch.where(p == torch.arange(M.shape[-1]), 0.0, torch.gather(M, -1, places).squeeze(-1))
        c, s = _rotation(diagonal, torch.index_select(diagonal, -1, p), product, first)
        M = c.unsqueeze(-1) * M - s.unsqueeze(-1) * torch.index_select(M, -2, p)
        c, s = c.unsqueeze(-2), s.unsqueeze(-2)
        return [c * M - s * torch.index_select(M, -1, p), c * V - s * torch.index_select(V, -1, p)], r.clone()

    M, V = _swept((scaled, one), turn, left)
    values = F.diagonal(M, 0, -2, -1) * size.squeeze(-1)
    values, order = torch.sort(values, -1)
    return values, torch.gather(V, -1, order.unsqueeze(-2).expand(V.shape))


def _is_nothing(A):
    return any(size is 0 for size in A.shape)


def _eigh(A, UPLO):
    _is_square(A, "linalg.eigh")
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if _is_nothing(A):
        return A.new_empty(list(A.shape[:-1])), A.clone()
    values, vectors = _symmetric_spectrum(A, UPLO in "uU")
    return values.to(A.dtype), vectors.to(A.dtype)


@_aten("aten::linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)")
def _linalg_eigh(self, UPLO):
    return _eigh(self, UPLO)


@_aten("aten::_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)")
def _linalg_eigh_of(A, UPLO, compute_v):
    values, vectors = _eigh(A, UPLO)
    return values, vectors if compute_v else A.new_empty([0])


@_aten("aten::linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor")
def _linalg_eigvalsh(self, UPLO):
    return _eigh(self, UPLO)[0]


# --- singular values


def _orthogonal_columns(A):
    """(A @ V, V, lengths of the columns), of which the longest is first: A in float64, one-sided rotations."""
    wide = _matrices(A).to(torch.float64)
    # By their largest number, so that no square overflows.
    size = torch.amax(torch.abs(wide), [-2, -1], True)
    size = torch.where(size == 0, 1.0, size)
    j = torch.arange(A.shape[-1])
    one = (j.unsqueeze(-1) == j).to(torch.float64)
    one = one.expand(list(A.shape[:-2]) + list(one.shape)).clone()

    def left(carried):
        """The largest cosine between two columns that are more than rounding."""
        W = carried[0]
        products = torch.matmul(_turned(W), W)
        length = torch.sqrt(F.diagonal(products, 0, -2, -1))
        counts = length > 1e-14 * torch.sqrt(length.square().sum([-1], True))
        both = torch.logical_and(counts.unsqueeze(-1), counts.unsqueeze(-2))
        both = torch.logical_and(both, j.unsqueeze(-1) != j)
        scale = torch.where(both, length.unsqueeze(-1) * length.unsqueeze(-2), 1.0)
        return torch.amax(torch.where(both, torch.abs(products), 0.0) / scale)

    def turn(carried, r):
        W, V = carried
        p, first = _partners(W.shape[-1], r)
        other = torch.index_select(W, -1, p)
        length = W.square().sum([-2])
        product = torch.where(p == j, 0.0, (W * other).sum([-2]))
        c, s = _rotation(length, torch.index_select(length, -1, p), product, first)
        c, s = c.unsqueeze(-2), s.unsqueeze(-2)
        return [c * W - s * other, c * V - s * torch.index_select(V, -1, p)], r.clone()

    W, V = _swept((wide / size, one), turn, left)
    length = torch.sqrt(W.square().sum([-2]))
    length, order = torch.sort(length, -1, True)
    order = order.unsqueeze(-2)
    W, V = torch.gather(W, -1, order.expand(W.shape)), torch.gather(V, -1, order.expand(V.shape))
    return W * size, V, length * size.squeeze(-1)


def _is_wide(A):
    """Its transpose has fewer columns to turn. What is not known may be either."""
    return _is_known(A.shape[-2]) and _is_known(A.shape[-1]) and A.shape[-2] < A.shape[-1]


def _identity(A, count):
    return F.eye(count, None, A.dtype).expand(list(A.shape[:-2]) + [count, count]).clone()


def _svd_factors(A, full):
    """(U, S, V) with A = U @ diag(S) @ V.mT, in A's type."""
    if _is_wide(A):
        V, S, U = _svd_factors(_turned(A), full)
        return U, S, V
    few = min(A.shape[-2], A.shape[-1])
    if _is_nothing(A):
        rows, columns = (A.shape[-2], A.shape[-1]) if full else (few, few)
        U = _identity(A, rows) if full else A.new_empty(list(A.shape[:-1]) + [few])
        V = _identity(A, columns) if full else A.new_empty(list(A.shape[:-2]) + [A.shape[-1], few])
        return U, A.new_empty(list(A.shape[:-2]) + [few]), V
    W, V, S = _orthogonal_columns(A)
    # Householder's reflections keep the directions of columns that stand on one another, and fill up those that have no length.
    Q, R = _linalg_qr(W, "complete" if full else "reduced")
    sign = torch.where(F.diagonal(R, 0, -2, -1) < 0, -1.0, 1.0).unsqueeze(-2)
    S = S[..., :few]
    U = torch.cat([Q[..., :few] * sign, Q[..., few:]], -1) if full else Q * sign
    return U.to(A.dtype), S.to(A.dtype), (V if full else V[..., :few]).to(A.dtype)


def _singular_values(A):
    if _is_nothing(A):
        return A.new_empty(list(A.shape[:-2]) + [min(A.shape[-2], A.shape[-1])])
    few = min(A.shape[-2], A.shape[-1])
    return _orthogonal_columns(_turned(A) if _is_wide(A) else A)[2][..., :few].to(A.dtype)


@_aten("aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)")
def _linalg_svd_of(A, full_matrices, compute_uv, driver):
    if not compute_uv:
        return A.new_empty([0]), _singular_values(A), A.new_empty([0])
    U, S, V = _svd_factors(A, full_matrices)
    return U, S, _turned(V)


@_aten("aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)")
def _linalg_svd(A, full_matrices, driver):
    return _linalg_svd_of(A, full_matrices, True, driver)


@_aten("aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor")
def _linalg_svdvals(A, driver):
    return _singular_values(A)


@_aten("aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
def _svd(self, some, compute_uv):
    if not compute_uv:
        rows, columns = self.shape[-2], self.shape[-1]
        lead = list(self.shape[:-2])
        return self.new_zeros(lead + [rows, rows]), _singular_values(self), self.new_zeros(lead + [columns, columns])
    return _svd_factors(self, not some)


# --- what singular values decide


def _least(A, values, atol, rtol):
    """What counts as nothing among them, with a last dim of one. Limits are numbers, tensors or None."""
    largest = values[..., :1] if values.shape[-1] is not 0 else values.sum([-1], True)
    default = torch.finfo(A.dtype).eps * max(A.shape[-2], A.shape[-1])
    if atol is not None and rtol is None:
        atol = atol if isinstance(atol, torch.Tensor) else torch.full([], atol, dtype=A.dtype)
        rtol = torch.where(atol > 0, 0.0, default)
    rtol = default if rtol is None else rtol
    atol, rtol = (t.unsqueeze(-1).to(values.dtype) if isinstance(t, torch.Tensor) and t.dim() else t for t in (atol, rtol))
    relative = largest * rtol
    return relative if atol is None else torch.maximum(relative, atol + torch.zeros_like(relative))


def _rank(A, atol, rtol, hermitian):
    if _is_nothing(A):
        return torch.zeros(list(A.shape[:-2]), dtype=torch.int64)
    values = torch.sort(torch.abs(_eigh(A, "L")[0]), -1, True)[0] if hermitian else _singular_values(A)
    return (values > _least(A, values, atol, rtol)).to(torch.int64).sum([-1])


@_aten("aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor")
def _linalg_matrix_rank_tensors(input, atol, rtol, hermitian):
    return _rank(input, atol, rtol, hermitian)


@_aten("aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
def _linalg_matrix_rank_numbers(self, atol, rtol, hermitian):
    return _rank(self, atol, rtol, hermitian)


@_aten("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor")
def _linalg_matrix_rank(self, tol, hermitian):
    return _rank(self, tol, 0.0, hermitian)


@_aten("aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor")
def _linalg_matrix_rank_tol(input, tol, hermitian):
    return _rank(input, tol, 0.0, hermitian)


def _pseudo_inverse(A, atol, rtol, hermitian):
    if _is_nothing(A):
        return A.new_empty(list(A.shape[:-2]) + [A.shape[-1], A.shape[-2]])
    if hermitian:
        values, vectors = _eigh(A, "L")
        size = torch.abs(values)
        kept = size > _least(A, torch.sort(size, -1, True)[0], atol, rtol)
        return torch.matmul(vectors * torch.where(kept, 1.0 / values, 0.0).unsqueeze(-2), _turned(vectors))
    if _is_wide(A):
        return _turned(_pseudo_inverse(_turned(A), atol, rtol, False))
    W, V, S = _orthogonal_columns(A)
    least = _least(A, S, atol, rtol)
    by = torch.where(S > least, 1.0 / S, 0.0).unsqueeze(-2)
    return torch.matmul(V * by, _turned(W * by)).to(A.dtype)


@_aten("aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor")
def _linalg_pinv_tensors(self, atol, rtol, hermitian):
    return _pseudo_inverse(self, atol, rtol, hermitian)


@_aten("aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
def _linalg_pinv_numbers(self, atol, rtol, hermitian):
    return _pseudo_inverse(self, atol, rtol, hermitian)


@_aten("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor")
def _linalg_pinv(self, rcond, hermitian):
    return _pseudo_inverse(self, 0.0, rcond, hermitian)


@_aten("aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor")
def _linalg_pinv_rcond(self, rcond, hermitian):
    return _pseudo_inverse(self, 0.0, rcond, hermitian)


@_aten("aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def _pinverse(self, rcond):
    return _pseudo_inverse(self, 0.0, rcond, False)


@_aten("aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)")
def _linalg_lstsq(self, b, rcond, driver):
    """By singular values, whatever the driver: of all solutions the shortest."""
    vector = b.dim() == self.dim() - 1
    right = b.unsqueeze(-1) if vector else b
    driver = "gelsy" if driver is None else driver
    few = min(self.shape[-2], self.shape[-1])
    if _is_nothing(self):
        solution = right.new_zeros(list(right.shape[:-2]) + [self.shape[-1], right.shape[-1]])
        return solution.squeeze(-1) if vector else solution, self.new_empty([0]), self.new_zeros(list(self.shape[:-2]), dtype=torch.int64), self.new_empty([0])
    least = None if rcond is None else float(rcond)
    solution = torch.matmul(_pseudo_inverse(self, 0.0, least, False) if least is not None else _pseudo_inverse(self, None, None, False), right)
    values = _singular_values(self)
    rank = torch.zeros([0], dtype=torch.int64) if driver == "gels" else (values > _least(self, values, None, least)).to(torch.int64).sum([-1])
    known = _is_known(self.shape[-2]) and _is_known(self.shape[-1])
    left = self.new_empty([0])
    if known and self.shape[-2] > self.shape[-1] and driver != "gelsy":
        # Of full rank; PyTorch gives none otherwise, which is no size of a program's.
        left = (torch.matmul(self, solution) - right).square().sum([-2])
    return solution.squeeze(-1) if vector else solution, left, rank, values[..., :few] if driver in ("gelsd", "gelss") else self.new_empty([0])


# --- norms of matrices by their singular values


def _norm_of_values(self, ord, rows, columns, keepdim):
    x = torch.movedim(self, [rows, columns], [-2, -1])
    values = _singular_values(x)
    if ord == "nuc":
        found = values.sum([-1])
    elif values.shape[-1] is 0:
        if ord < 0:
            raise RuntimeError("linalg.matrix_norm: the smallest singular value of a matrix that has none")
        found = values.sum([-1])
    else:
        found = values[..., 0] if ord > 0 else values[..., -1]
    return torch.movedim(found.unsqueeze(-1).unsqueeze(-1), [-2, -1], [rows, columns]) if keepdim else found


@_aten("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor")
def _nuclear_norm(self, keepdim):
    return _norm_of_values(self, "nuc", 0, 1, keepdim)


@_aten("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor")
def _nuclear_norm_dims(self, dim, keepdim):
    return _norm_of_values(self, "nuc", F._wrapped(dim[0], self.dim()), F._wrapped(dim[1], self.dim()), keepdim)


def _condition(self, p):
    if p in (None, 2, -2):
        values = _singular_values(self)
        if values.shape[-1] is 0:
            return values.sum([-1])
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    _is_square(self, "linalg.cond")
    if _is_nothing(self):
        return self.sum([-2, -1])
    # Of a singular matrix it is infinite.
    inverse, info = _linalg_inv_ex(self, False)
    found = _matrix_norm(self, p, [-2, -1], False, None) * _matrix_norm(inverse, p, [-2, -1], False, None)
    return torch.where(info == 0, found, float("inf")).to(self.dtype)


@_aten("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor")
def _linalg_cond(self, p):
    return _condition(self, p)


@_aten("aten::linalg_cond.p_str(Tensor self, str p) -> Tensor")
def _linalg_cond_named(self, p):
    return _condition(self, p)
