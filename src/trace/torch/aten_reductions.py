# SPDX-License-Identifier: Apache-2.0
# --- reductions; part of aten.py's namespace


@_aten("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
def _var_dim(self, dim, unbiased, keepdim):
    return F.var(self, dim, unbiased, keepdim)


@_aten("aten::var(Tensor self, bool unbiased=True) -> Tensor")
def _var(self, unbiased):
    return F.var(self, None, unbiased)


@_aten("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
def _std_dim(self, dim, unbiased, keepdim):
    return F.std(self, dim, unbiased, keepdim)


@_aten("aten::std(Tensor self, bool unbiased=True) -> Tensor")
def _std(self, unbiased):
    return F.std(self, None, unbiased)


@_aten("aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")
def _var_mean(self, dim, correction, keepdim):
    return F.var_mean(self, dim, True, keepdim, 1 if correction is None else correction)


@_aten("aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")
def _var_mean_dim(self, dim, unbiased, keepdim):
    return F.var_mean(self, dim, unbiased, keepdim)


@_aten("aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")
def _std_mean(self, dim, correction, keepdim):
    return F.std_mean(self, dim, True, keepdim, 1 if correction is None else correction)


@_aten("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
def _var_mean_all(self, unbiased):
    return F.var_mean(self, None, unbiased)


@_aten("aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")
def _std_mean_dim(self, dim, unbiased, keepdim):
    return F.std_mean(self, dim, unbiased, keepdim)


@_aten("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
def _std_mean_all(self, unbiased):
    return F.std_mean(self, None, unbiased)


def _nothing(self):
    """The median of no elements: NaN, which as an int is what a processor makes of it."""
    if self.is_floating_point():
        return torch.full([], float("nan"), dtype=self.dtype, device=self.device)
    wide = self.dtype in (torch.int32, torch.int64)
    value = True if self.dtype == torch.bool else torch.iinfo(self.dtype).min if wide else 0
    return torch.full([], value, dtype=self.dtype, device=self.device)


def _check_has_elements(self, dim):
    if self.dim() and type(self.shape[dim]) is int and self.shape[dim] == 0:
        raise IndexError(f"median(): Expected reduction dim {dim % self.dim()} to have non-zero size.")


def _kth(input, k, dim, keepdim):
    if input.dim() == 0:
        value, place = _kth(input.reshape(1), k, 0, False)
        return value, place
    size = input.shape[dim]
    if type(k) is int and type(size) is int and not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % input.dim()}")
    values, places = torch.ops.aten.sort.stable(input, stable=True, dim=dim, descending=False)
    value, place = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    return tuple(x.clone(memory_format=torch.contiguous_format) for x in ((value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))))


@_aten("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _kthvalue(self, k, dim, keepdim):
    return _kth(self, k, dim, keepdim)


@_aten("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _median_dim(self, dim, keepdim):
    _check_has_elements(self, dim)
    if self.is_floating_point():
        if self.dim() == 0:
            return _kth(self, 1, 0, keepdim)
        # The largest elements are NaN; one of them makes the median one.
        values, places = torch.ops.aten.sort.stable(self, stable=True, dim=dim, descending=False)
        size = self.shape[dim]
        value, place = values.narrow(dim, (size + 1) // 2 - 1, 1), places.narrow(dim, (size + 1) // 2 - 1, 1)
        last, at = values.narrow(dim, size - 1, 1), places.narrow(dim, size - 1, 1)
        value, place = torch.where(torch.isnan(last), last, value), torch.where(torch.isnan(last), at, place)
        return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))
    return _kth(self, (self.shape[dim] + 1) // 2, dim, keepdim)


@_aten("aten::median(Tensor self) -> Tensor")
def _median(self):
    if type(self.numel()) is int and self.numel() == 0:
        return _nothing(self)
    value = _median_dim(self.reshape(-1), 0, False)[0]
    if not self.requires_grad:
        return value
    # All elements that are the median share its gradient.
    value = value.detach()
    same = (self == value) & torch.isfinite(value)
    wide = torch.promote_types(self.dtype, torch.float32)  # a count of elements fits no f16
    shared = torch.where(same, self - self.detach(), 0.0).to(wide).sum() / same.sum().clamp(min=1)
    return value + shared.to(self.dtype)


def _vector_norm(x, ord, dim, keepdim, dtype):
    if dtype is not None:
        x = x.to(dtype)
    dim = list(range(x.dim())) if dim is None or len(dim) == 0 else dim
    if x.dtype in (torch.float16, torch.bfloat16):
        return F.norm(x.float(), ord, dim, keepdim).to(x.dtype)
    return F.norm(x, ord, dim, keepdim)


@_aten("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_vector_norm(self, ord, dim, keepdim, dtype):
    return _vector_norm(self, ord, dim, keepdim, dtype)


@_aten("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor")
def _norm_scalar(self, p):
    return _vector_norm(self, p, None, False, None)


@_aten("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")
def _norm_dim(self, p, dim, keepdim):
    return _vector_norm(self, 2 if p is None else p, dim, keepdim, None)


@_aten("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_norm(self, ord, dim, keepdim, dtype):
    matrix = self.dim() == 2 if dim is None else len(dim) == 2
    if ord is not None and matrix:
        return _matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)
    return _vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype)


@_aten("aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _nansum(self, dim, keepdim, dtype):
    kept = torch.where(torch.isnan(self), 0.0, self) if self.is_floating_point() else self
    return torch.sum(kept, [] if dim is None else dim, keepdim, dtype=dtype)


@_aten("aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _nanmean(self, dim, keepdim, dtype):
    dims = [] if dim is None else dim
    count = torch.sum((self == self).to(self.dtype), dims, keepdim)
    return torch.sum(torch.where(self == self, self, 0.0), dims, keepdim, dtype=dtype) / count


@_aten("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def _safe_softmax(self, dim, dtype):
    weights = torch.ops.aten.softmax.int(self, dim, dtype)
    return torch.where((self == float("-inf")).all(dim, True), 0.0, weights)


@_aten("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor")
def _count_nonzero(self, dim):
    return F.count_nonzero(self, dim)


@_aten("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
def _count_nonzero_dims(self, dim):
    return F.count_nonzero(self, dim)


@_aten("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
def _any_dims(self, dim, keepdim):
    result = self != 0
    for d in sorted([F._wrapped(d, self.dim()) for d in (range(self.dim()) if dim is None else dim)], reverse=True):
        result = torch.any(result, d, keepdim)
    return result.to(torch.uint8) if self.dtype == torch.uint8 else result


@_aten("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
def _all_dims(self, dim, keepdim):
    result = self != 0
    for d in sorted([F._wrapped(d, self.dim()) for d in (range(self.dim()) if dim is None else dim)], reverse=True):
        result = torch.all(result, d, keepdim)
    return result.to(torch.uint8) if self.dtype == torch.uint8 else result


@_aten("aten::_is_all_true(Tensor self) -> Tensor")
def _is_all_true(self):
    return torch.all(self)


@_aten("aten::_is_any_true(Tensor self) -> Tensor")
def _is_any_true(self):
    return torch.any(self)


@_aten("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
def _aminmax(self, dim, keepdim):
    return F.aminmax(self, dim, keepdim)


@_aten("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")
def _cdist(x1, x2, p, compute_mode):
    return F.cdist(x1, x2, p, compute_mode)


@_aten("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor")
def _cdist_forward(x1, x2, p, compute_mode):
    return F.cdist(x1, x2, p, compute_mode)
