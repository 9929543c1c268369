# SPDX-License-Identifier: Apache-2.0
# --- results whose sizes values decide; part of aten.py's namespace
#
# _read_size(tensor, least, most, text) is the integer in a tensor as a size of the program, _check_sizes(tensor,
# condition, text) ends a call in which the condition does not hold.


def _flat_places(mask, text):
    """Where a flat mask holds, in order: its running sum says for each such element how many came before."""
    known = _remembered(mask)
    if known is not None:
        return known
    size = mask.numel()
    count = _read_size(mask.sum(), 0, size, text)
    target = torch.where(mask, torch.cumsum(mask.to(torch.int64), 0) - 1, size)
    # What does not hold falls behind the end.
    written = torch.zeros([size + 1], dtype=torch.int64).scatter(0, target, torch.arange(size))
    return _remember(mask, torch.as_strided(written, [count], [1]))


def _places(mask, text):
    if mask.dim() == 1:
        return _flat_places(mask, text)
    known = _remembered(mask)
    if known is not None:
        return known
    return _remember(mask, _flat_places(mask.reshape(-1), text))


def _as_mask(self):
    return self if self.dtype == torch.bool else self != 0


def _columns(places, shape):
    """Places in a row-major tensor as one index for each of its dims."""
    if len(shape) == 1:
        return [places]
    if [size for size in shape if size is 0]:
        return [places] * len(shape)  # there are none
    columns = []
    stride = 1
    for size in reversed(shape):
        column = places if stride is 1 else torch.div(places, stride, rounding_mode="floor")
        columns.append(column if len(columns) == len(shape) - 1 else torch.remainder(column, size))
        stride = stride * size
    columns.reverse()
    return columns


@_aten("aten::nonzero(Tensor self) -> Tensor")
def _nonzero(self):
    places = _places(_as_mask(self), "nonzero")
    if self.dim() == 0:
        return torch.empty([places.shape[0], 0], dtype=torch.int64)
    # Laid out as PyTorch does: an index of all elements after the other.
    return torch.stack(_columns(places, list(self.shape)), 0).t()


@_aten("aten::nonzero_numpy(Tensor self) -> Tensor[]")
def _nonzero_numpy(self):
    if self.dim() == 0:
        self = self.unsqueeze(0)
    columns = _columns(_places(_as_mask(self), "nonzero"), list(self.shape))
    # Nobody writes to what is kept.
    return [columns[0].clone()] if len(columns) == 1 else columns


@_aten("aten::argwhere(Tensor self) -> Tensor")
def _argwhere(self):
    return _nonzero(self)


@_aten("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor")
def _nonzero_static(self, size, fill_value):
    mask = _as_mask(self).reshape(-1)
    count = mask.numel()
    target = torch.cumsum(mask.to(torch.int64), 0) - 1
    target = torch.where(torch.logical_and(mask, target < size), target, size)
    places = torch.full([size + 1], -1, dtype=torch.int64).scatter(0, target, torch.arange(count))[:size]
    if self.dim() == 0:
        return torch.empty([size, 0], dtype=torch.int64)
    columns = [torch.where(places < 0, fill_value, column) for column in _columns(places, list(self.shape))]
    return torch.stack(columns, 1)


@_aten("aten::where(Tensor condition) -> Tensor[]")
def _where_nonzero(condition):
    return _nonzero_numpy(condition)


@_aten("aten::masked_select(Tensor self, Tensor mask) -> Tensor")
def _masked_select(self, mask):
    if mask.dtype != torch.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = F.broadcast_shapes(self.shape, mask.shape)
    return torch.index_select(self.expand(shape).reshape(-1), 0, _places(mask.expand(shape), "masked_select"))


# --- masks as indices


def _mask_indices(self, mask, dim):
    """Of dims `dim` and on of the tensor, which the mask stands for."""
    mask = _as_mask(mask)
    if mask.dim() == 0:
        return [_places(mask.reshape(1), "a mask as an index")]
    for i in range(mask.dim()):
        size, own = self.shape[dim + i], mask.shape[i]
        message = f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed tensor {list(self.shape)} at index {dim + i}"
        if _is_proved(mask, size != own):
            raise IndexError(message)
        _check_sizes(mask, size == own, "IndexError: " + message)
    return _columns(_places(mask, "a mask as an index"), list(mask.shape))


def _mask_over(self, mask):
    """A mask that stands for the first dims, as one that broadcasts."""
    for i in range(mask.dim()):
        if _is_proved(mask, self.shape[i] != mask.shape[i]):
            raise IndexError(f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed tensor {list(self.shape)} at index {i}")
    return mask.reshape(list(mask.shape) + [1] * (self.dim() - mask.dim())) if mask.dim() else mask


def _of_size(vector, count, text):
    """Its first dim as `count`, which is checked where it is not known."""
    own = vector.shape[0]
    if _is_proved(vector, own == count):
        return vector
    if own is 1:
        return vector
    if _is_proved(vector, own != count):
        raise RuntimeError(text)
    _check_sizes(vector, own == count, text)
    vector = vector.contiguous()
    return torch.as_strided(vector, [count] + list(vector.shape[1:]), list(vector.stride()))


def _same_sizes(indices):
    """Index tensors of one dim whose sizes values decide, made of one size."""
    first = None
    result = []
    for index in indices:
        if index is not None and index.dim() == 1 and index.shape[0] is not 1:
            if first is None:
                first = index
            index = _of_size(index, first.shape[0], "IndexError: shape mismatch: indexing tensors could not be broadcast together")
        result.append(index)
    return result


def _values_for(self, indices, values):
    """Values for the places that masks chose: as many as there are, or one for all."""
    rank, chosen = 0, None
    for index in indices:
        if index is not None:
            rank = rank + 1
            if index.dim() > 1:
                return values
            if index.shape[0] is not 1:
                chosen = index
    rest = self.dim() - rank
    if chosen is None or values.dim() <= rest or indices[0] is None:
        return values
    if values.dim() != rest + 1:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result")
    return _of_size(values, chosen.shape[0], f"RuntimeError: shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape {[chosen.shape[0]] + list(self.shape[rank:])}")


def _opened_masks(self, indices):
    """The tensor and index tensors, masks replaced by the places where they hold."""
    opened = []
    for index in indices:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            opened.append(index)
            continue
        if index.dim() == 0:
            self = self.unsqueeze(len(opened))
        opened.extend(_mask_indices(self, index, len(opened)))
    return self, _same_sizes(opened)


def _index_masks(self, indices):
    self, opened = _opened_masks(self, indices)
    return torch.ops.aten.index.Tensor(self, opened)


def _index_put_masks(self, indices, values, accumulate=False):
    shape = self.shape
    wide, opened = _opened_masks(self, indices)
    return torch.ops.aten.index_put.default(wide, opened, _values_for(wide, opened, values), accumulate).reshape(shape)


def _split_by_values(self, sizes, dim):
    """The parts of split(sizes), of which values decide some; None where they are known to fill the dim."""
    dim, total = F._wrapped(dim, self.dim()), 0
    for size in sizes:
        total = total + size
    own = self.shape[dim]
    if _is_proved(self, total == own) or _is_proved(self, total != own):
        return None
    for size in sizes:
        _check_sizes(self, size >= 0, f"RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, but got {size}")
    _check_sizes(self, total == own, f"RuntimeError: split_with_sizes expects split_sizes to sum exactly to {own} (input tensor's size at dimension {dim}), but got {total}")
    strides, at, parts = list(self.stride()), self.storage_offset(), []
    # The last is what the others leave, so that what joins the parts again is as large as they were together.
    for size in list(sizes[:-1]) + [own - (total - sizes[-1])]:
        parts.append(torch.as_strided(self, [size if d == dim else n for d, n in enumerate(self.shape)], strides, at))
        at = at + size * strides[dim]
    return parts


@_aten("aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]")
def _tensor_split_values(self, tensor_indices_or_sections, dim):
    """Places that a tensor holds: as many as it has elements, none before the one in front of it."""
    if tensor_indices_or_sections.dim() != 1 or not _is_known(tensor_indices_or_sections.shape[0]):
        raise NotImplementedError("tensor_split() into as many parts as a tensor says; give the number, or a list of places")
    dim = F._wrapped(dim, self.dim())
    size, strides, parts, begin = self.shape[dim], list(self.stride()), [], 0
    for i in range(tensor_indices_or_sections.shape[0] + 1):
        end = size
        if i < tensor_indices_or_sections.shape[0]:
            end = _read_size(tensor_indices_or_sections.select(0, i), 0, size, "tensor_split, a place")
        _check_sizes(self, begin <= end, f"RuntimeError: tensor_split() at places that do not ascend: {end} after {begin}")
        own = [end - begin if d == dim else n for d, n in enumerate(self.shape)]
        parts.append(torch.as_strided(self, own, strides, self.storage_offset() + begin * strides[dim]))
        begin = end
    return parts


# --- what occurs


def _numbered_groups(first, text):
    """Of sorted or neighbouring elements: which group each belongs to, and where the groups begin."""
    return torch.cumsum(first.to(torch.int64), 0) - 1, _places(first, text)


def _starts(sorted, dim=0):
    """Whether an element differs from the one before it."""
    i = torch.arange(sorted.shape[dim])
    before = torch.index_select(sorted, dim, torch.clamp(i - 1, min=0))
    differs = sorted != before
    if sorted.dim() > 1:
        differs = differs.transpose(0, dim).reshape(sorted.shape[dim], -1).any(1)
    return torch.logical_or(differs, i == 0)


def _group_counts(group, starts):
    ones = torch.ones(group.shape, dtype=torch.int64)
    return torch.zeros([starts.shape[0]], dtype=torch.int64).scatter_add(0, group, ones)


def _none():
    return torch.empty([0], dtype=torch.int64)


def _unique_of(self, inverse, counts):
    flat = self.reshape(-1)
    if flat.dtype == torch.bool:
        values, order = torch.sort(flat.to(torch.uint8), stable=True)
        values = values.to(torch.bool)
    else:
        values, order = torch.sort(flat, stable=True)
    group, starts = _numbered_groups(_starts(values), "unique")
    result = values[starts]
    back = torch.zeros(flat.shape, dtype=torch.int64).scatter(0, order, group).reshape(self.shape) if inverse else _none()
    return result, back, _group_counts(group, starts) if counts else _none()


@_aten("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)")
def _unique2(self, sorted, return_inverse, return_counts):
    return _unique_of(self, return_inverse, return_counts)


@_aten("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)")
def _unique_pair(self, sorted, return_inverse):
    return _unique_of(self, return_inverse, False)[:2]


@_aten("aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)")
def _unique_consecutive(self, return_inverse, return_counts, dim):
    shape, sliced = self.shape, dim is not None
    if dim is None:
        self, dim = self.reshape(-1), 0
    dim = F._wrapped(dim, self.dim())
    group, starts = _numbered_groups(_starts(self, dim), "unique_consecutive")
    result = torch.index_select(self, dim, starts)
    if sliced:
        return result, group, _group_counts(group, starts)
    group = group.reshape(shape)
    return result, group if return_inverse else _none(), _group_counts(group.reshape(-1), starts) if return_counts else _none()


def _ranked(columns):
    """Of each column by itself: how many different elements are less than the one at a place."""
    values, order = torch.sort(columns, 0, stable=True)
    i = torch.arange(values.shape[0])
    before = torch.index_select(values, 0, torch.clamp(i - 1, min=0))
    differs = torch.logical_and(values != before, (i > 0).unsqueeze(1))
    group = torch.cumsum(differs.to(torch.int64), 0)
    return torch.zeros(values.shape, dtype=torch.int64).scatter(0, order, group)


def _ranked_rows(rows, count):
    """Of rows of `count` elements: how many different rows come before each. Ranks of neighbours are joined until one is left."""
    size = rows.shape[0]
    ranks = _ranked(rows.to(torch.uint8) if rows.dtype == torch.bool else rows)
    while count > 1:
        if count % 2:
            ranks = torch.cat([ranks, torch.zeros([size, 1], dtype=torch.int64)], 1)
        count = (count + 1) // 2
        pairs = ranks.reshape([size, count, 2])
        ranks = _ranked(pairs[:, :, 0] * size + pairs[:, :, 1])
    return ranks.reshape([size])


@_aten("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)")
def _unique_dim(self, dim, sorted, return_inverse, return_counts):
    if self.dim() == 0:
        raise RuntimeError("unique_dim: a tensor without dims has no slices")
    dim = F._wrapped(dim, self.dim())
    size = self.shape[dim]
    count = 1
    for d, other in enumerate(self.shape):
        if d != dim:
            if not _is_known(other):
                raise NotImplementedError("unique() of slices whose size is not known, " + str(list(self.shape)) + " along dim " + str(dim) + "; flatten all but one dim of known size")
            count = count * other
    if count == 0:
        if _is_known(size) and size == 0:
            return self, _none(), _none()
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    rank = _ranked_rows(self.movedim(dim, 0).reshape([size, count]), count)
    ordered, order = torch.sort(rank, stable=True)
    group, starts = _numbered_groups(_starts(ordered), "unique")
    # Of equal slices the first.
    return torch.index_select(self, dim, torch.index_select(order, 0, starts)), rank, _group_counts(group, starts)


@_aten("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor")
def _bincount(self, weights, minlength):
    if self.dim() != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if self.is_floating_point():
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{F._scalar_name(self.dtype)}'")
    torch._check_range(self, 0, 2**62, "RuntimeError", "bincount only supports 1-d non-negative integral inputs.")
    wide = self.to(torch.int64)
    edge = torch.tensor([-1, 0])
    least = torch.cat([wide, edge[1:]]).amin()
    _read_size(least, 0, None, "bincount only supports 1-d non-negative integral inputs; the least")
    most = torch.clamp(torch.cat([wide, edge[:1]]).amax() + 1, min=minlength)
    count = _read_size(most, 0, None, "bincount")
    if weights is None:
        weights = torch.ones(wide.shape, dtype=torch.int64)
    elif weights.dtype != torch.float32:
        weights = weights.to(torch.float64)
    return torch.zeros([count], dtype=weights.dtype).scatter_add(0, wide, weights)


# --- repeats


def _repeated_places(repeats, output_size):
    """0 as often as the first count says, then 1 …"""
    if repeats.dtype not in (torch.int32, torch.int64):
        raise RuntimeError("repeats has to be Long or Int tensor")
    if repeats.dim() != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    wide = repeats.to(torch.int64)
    torch._check_range(repeats, 0, 2**62, "RuntimeError", "repeats can not be negative")
    _read_size((wide < 0).sum(), 0, 0, "repeats can not be negative; how many are")
    total = wide.sum()
    count = _read_size(total, 0, None, "repeat_interleave")
    if output_size is not None:
        _check_sizes(repeats, count == output_size, "RuntimeError: allocated size does not match required size")
        count = output_size
    # Each source adds one where its repeats end.
    ends = torch.cumsum(wide, 0)
    marks = torch.zeros([count + 1], dtype=torch.int64).scatter_add(0, ends, torch.ones(wide.shape, dtype=torch.int64))
    return torch.as_strided(torch.cumsum(marks, 0), [count], [1])


@_aten("aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor")
def _repeat_interleave_places(repeats, output_size):
    return _repeated_places(repeats, output_size)


@_aten("aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor")
def _repeat_interleave_counts(self, repeats, dim, output_size):
    if dim is None:
        self, dim = self.reshape(-1), 0
    if repeats.dim() == 0:
        repeats = repeats.reshape(1)
    if repeats.shape[0] is 1:
        repeats = repeats.expand([self.shape[dim]])
    elif _is_proved(self, repeats.shape[0] != self.shape[dim]):
        raise RuntimeError("repeats must have the same size as input along dim")
    else:
        repeats = _of_size(repeats, self.shape[dim], "RuntimeError: repeats must have the same size as input along dim")
    return torch.index_select(self, dim, _repeated_places(repeats, output_size))

