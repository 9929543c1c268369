# SPDX-License-Identifier: Apache-2.0
# --- shapes; part of aten.py's namespace


@_aten("aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor")
def _repeat_interleave(self, repeats, dim, output_size):
    return F.repeat_interleave(self, repeats, dim, output_size)


@_aten("aten::tile(Tensor self, SymInt[] dims) -> Tensor")
def _tile(self, dims):
    return F.tile(self, dims)


@_aten("aten::meshgrid(Tensor[] tensors) -> Tensor[]")
def _meshgrid(tensors):
    return F.meshgrid(tensors)


@_aten("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")
def _meshgrid_indexing(tensors, indexing):
    return F.meshgrid(tensors, indexing=indexing)


@_aten("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor")
def _tril(self, diagonal):
    return F.tril(self, diagonal)


@_aten("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor")
def _triu(self, diagonal):
    return F.triu(self, diagonal)


@_aten("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor")
def _roll(self, shifts, dims):
    if len(shifts) == 0:
        raise RuntimeError("`shifts` required")
    if self.dim() == 0 or any(isinstance(size, int) and size == 0 for size in self.shape):
        return self.clone()
    if len(dims) == 0:
        return F.roll(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    for shift, dim in zip(shifts, dims):
        self = F.roll(self, shift, dim)
    return self


@_aten("aten::flip(Tensor self, int[] dims) -> Tensor")
def _flip(self, dims):
    return F.flip(self, dims)


@_aten("aten::fliplr(Tensor self) -> Tensor")
def _fliplr(self):
    return F.flip(self, [1])


@_aten("aten::flipud(Tensor self) -> Tensor")
def _flipud(self):
    return F.flip(self, [0])


@_aten("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")
def _rot90(self, k, dims):
    k = k % 4
    if k == 0:
        return self.clone()
    if k == 2:
        return F.flip(self, dims)
    a, b = dims
    return F.flip(self, [b]).transpose(a, b).clone() if k == 1 else F.flip(self, [a]).transpose(a, b).clone()


@_aten("aten::diag(Tensor self, int diagonal=0) -> Tensor")
def _diag(self, diagonal):
    if self.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")
    return _diag_embed(self, diagonal, 0, 1) if self.dim() == 1 else F.diagonal(self, diagonal, 0, 1).clone()


@_aten("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def _diagonal_copy(self, offset, dim1, dim2):
    return F.diagonal(self, offset, dim1, dim2).clone()


@_aten("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def _diagonal_scatter(self, src, offset, dim1, dim2):
    whole = self.clone()
    F.diagonal(whole, offset, dim1, dim2).copy_(src)
    return whole


@_aten("aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor")
def _as_strided_copy(self, size, stride, storage_offset):
    return self.as_strided(size, stride, self.storage_offset() if storage_offset is None else storage_offset).clone()


@_aten("aten::block_diag(Tensor[] tensors) -> Tensor")
def _block_diag(tensors):
    matrices = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    width, before, rows = 0, 0, []
    for matrix in matrices:
        width = width + matrix.shape[1]
    for matrix in matrices:
        rows.append(F.pad(matrix, [before, width - before - matrix.shape[1]]))
        before = before + matrix.shape[1]
    return torch.cat(rows, 0)


@_aten("aten::cartesian_prod(Tensor[] tensors) -> Tensor")
def _cartesian_prod(tensors):
    return torch.stack([grid.reshape(-1) for grid in F.meshgrid(tensors)], 1) if len(tensors) > 1 else tensors[0]


@_aten("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
def _movedim(self, source, destination):
    return F.movedim(self, source, destination)


@_aten("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
def _movedims(self, source, destination):
    return F.movedim(self, source, destination)


@_aten("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")
def _swapaxes(self, axis0, axis1):
    return torch.transpose(self, axis0, axis1)


@_aten("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
def _swapdims(self, dim0, dim1):
    return torch.transpose(self, dim0, dim1)


@_aten("aten::adjoint(Tensor(a) self) -> Tensor(a)")
def _adjoint(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::numpy_T(Tensor(a) self) -> Tensor(a)")
def _numpy_T(self):
    return torch.permute(self, list(reversed(range(self.dim()))))


@_aten("aten::mT(Tensor(a) self) -> Tensor(a)")
def _mT(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::matrix_H(Tensor(a) self) -> Tensor(a)")
def _matrix_H(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
def _diagonal(self, offset, dim1, dim2):
    return F.diagonal(self, offset, dim1, dim2)


@_aten("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
def _diag_embed(self, offset, dim1, dim2):
    rank = self.dim() + 1
    dim1, dim2 = F._wrapped(dim1, rank), F._wrapped(dim2, rank)
    size = self.shape[-1] + abs(offset)
    rows, columns = torch.arange(size).unsqueeze(1), torch.arange(size).unsqueeze(0)
    spread = F.pad(self, [max(offset, 0), max(-offset, 0)]).unsqueeze(-2)
    square = torch.where(columns - rows == offset, spread, torch.zeros([], dtype=self.dtype))
    return torch.movedim(square, [-2, -1], [dim1, dim2])


@_aten("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)")
def _unfold(self, dimension, size, step):
    return F.unfold(self, dimension, size, step)


@_aten("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")
def _tensor_split_sections(self, sections, dim):
    return F.tensor_split(self, sections, dim)


@_aten("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")
def _tensor_split_indices(self, indices, dim):
    return F.tensor_split(self, indices, dim)


@_aten("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]")
def _unsafe_split(self, split_size, dim):
    return torch.ops.aten.split.Tensor(self, split_size, dim)


@_aten("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]")
def _unsafe_split_with_sizes(self, split_sizes, dim):
    return torch.ops.aten.split_with_sizes.default(self, split_sizes, dim)


@_aten("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
def _unsafe_chunk(self, chunks, dim):
    return torch.chunk(self, chunks, dim)


@_aten("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]")
def _split_sizes(self, split_size, dim):
    return torch.ops.aten.split_with_sizes.default(self, split_size, dim)


@_aten("aten::hstack(Tensor[] tensors) -> Tensor")
def _hstack(tensors):
    return F.hstack(tensors)


@_aten("aten::vstack(Tensor[] tensors) -> Tensor")
def _vstack(tensors):
    return F.vstack(tensors)


@_aten("aten::column_stack(Tensor[] tensors) -> Tensor")
def _column_stack(tensors):
    return torch.cat([x.reshape(-1, 1) if x.dim() < 2 else x for x in tensors], 1)


@_aten("aten::dstack(Tensor[] tensors) -> Tensor")
def _dstack(tensors):
    return torch.cat([F.atleast_3d(x) for x in tensors], 2)


@_aten("aten::atleast_1d(Tensor self) -> Tensor")
def _atleast_1d(self):
    return F.atleast_1d(self)


@_aten("aten::atleast_2d(Tensor self) -> Tensor")
def _atleast_2d(self):
    return F.atleast_2d(self)


@_aten("aten::atleast_3d(Tensor self) -> Tensor")
def _atleast_3d(self):
    return F.atleast_3d(self)


@_aten("aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor")
def _narrow_copy(self, dim, start, length):
    return self.narrow(dim, start, length).clone()


@_aten("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]")
def _unbind_copy(self, dim):
    return [part.clone() for part in torch.unbind(self, dim)]


@_aten("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]")
def _split_copy(self, split_size, dim):
    return [part.clone() for part in torch.ops.aten.split.Tensor(self, split_size, dim)]


@_aten("aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]")
def _split_with_sizes_copy(self, split_sizes, dim):
    return [part.clone() for part in torch.ops.aten.split_with_sizes.default(self, split_sizes, dim)]


@_aten("aten::mH(Tensor(a) self) -> Tensor(a)")
def _mH(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::concat(Tensor[] tensors, int dim=0) -> Tensor")
def _concat(tensors, dim):
    return torch.cat(tensors, dim)


@_aten("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor")
def _concatenate(tensors, dim):
    return torch.cat(tensors, dim)


@_aten("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]")
def _broadcast_tensors(tensors):
    return F.broadcast_tensors(tensors)


@_aten("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")
def _broadcast_to(self, size):
    return self.expand(size)


@_aten("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor")
def _unsafe_view(self, size):
    return self.view(size)


@_aten("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def _reshape_as(self, other):
    return self.reshape(other.shape)


@_aten("aten::ravel(Tensor(a) self) -> Tensor(a)")
def _ravel(self):
    return self.contiguous().view(-1)


@_aten("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor")
def _unsqueeze_copy(self, dim):
    return self.unsqueeze(dim).clone()


@_aten("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor")
def _expand_copy(self, size, implicit):
    return self.expand(size).clone()


@_aten("aten::view_copy(Tensor self, SymInt[] size) -> Tensor")
def _view_copy(self, size):
    return self.reshape(size).clone()


@_aten("aten::permute_copy(Tensor self, int[] dims) -> Tensor")
def _permute_copy(self, dims):
    return torch.permute(self, dims).clone()


@_aten("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor")
def _transpose_copy(self, dim0, dim1):
    return torch.transpose(self, dim0, dim1).clone()


@_aten("aten::t_copy(Tensor self) -> Tensor")
def _t_copy(self):
    return self.t().clone()


@_aten("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor")
def _select_copy(self, dim, index):
    return torch.select(self, dim, index).clone()


@_aten("aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor")
def _slice_copy(self, dim, start, end, step):
    return torch.ops.aten.slice.Tensor(self, dim, start, end, step).clone()


@_aten("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor")
def _squeeze_copy(self, dim):
    return self.squeeze(dim).clone()


@_aten("aten::detach_copy(Tensor self) -> Tensor")
def _detach_copy(self):
    return self.detach().clone()


@_aten("aten::alias_copy(Tensor self) -> Tensor")
def _alias_copy(self):
    return self.clone()


@_aten("aten::lift_fresh_copy(Tensor self) -> Tensor")
def _lift_fresh_copy(self):
    return self.clone()


@_aten("aten::lift_fresh(Tensor(a) self) -> Tensor(a)")
def _lift_fresh(self):
    return self


@_aten("aten::resolve_conj(Tensor(a) self) -> Tensor(a)")
def _resolve_conj(self):
    return self


@_aten("aten::resolve_neg(Tensor(a) self) -> Tensor(a)")
def _resolve_neg(self):
    return self


@_aten("aten::_neg_view(Tensor self) -> Tensor")
def _neg_view(self):
    """The other sign: a view in PyTorch, which only what decompositions leave holds, and nothing writes to."""
    return -self


@_aten("aten::conj(Tensor(a) self) -> Tensor(a)")
def _conj(self):
    return self


@_aten("aten::real(Tensor(a) self) -> Tensor(a)")
def _real(self):
    return self


@_aten("aten::positive(Tensor(a) self) -> Tensor(a)")
def _positive(self):
    return self


@_aten("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
def _diff(self, n, dim, prepend, append):
    parts = [x for x in (prepend, self, append) if x is not None]
    return F.diff(torch.cat(parts, dim) if len(parts) > 1 else self, n, dim)


# --- other sizes of the same memory


def _resized(self, size):
    """The first of its elements, row by row; of its own sizes it stays as it lies. More of them would have no value."""
    if list(self.shape) == list(size):
        return self.view_as(self)
    count = 1
    for n in size:
        count = count * n
    if not _is_proved(self, count <= self.numel()):
        raise NotImplementedError(f"resize_() to {list(size)} of a tensor of {list(self.shape)}: elements that it did not have before would have no value; write torch.cat() or reshape()")
    strides, stride = [], 1
    for n in reversed(list(size)):
        strides.append(stride)
        stride = stride * n
    strides.reverse()
    return torch.as_strided(self, list(size), strides, self.storage_offset())


@_aten("aten::resize(Tensor(a) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a)")
def _resize(self, size, memory_format):
    return _resized(self, size)


@_aten("aten::resize_as(Tensor(a) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a)")
def _resize_as(self, the_template, memory_format):
    return _resized(self, list(the_template.shape))
