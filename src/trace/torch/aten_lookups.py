# SPDX-License-Identifier: Apache-2.0
# --- lookups; part of aten.py's namespace


def _bag_of(offsets, count, include_last_offset):
    """For each index the bag that it is in: how many offsets are not behind it, less one."""
    starts = offsets[:-1] if include_last_offset else offsets
    ones = torch.ones_like(starts)
    steps = torch.index_add(torch.zeros([count + 1], dtype=starts.dtype), 0, starts, ones)
    return torch.cumsum(steps, 0)[:count] - 1, starts


def _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx):
    count = indices.numel()
    bag, starts = _bag_of(offsets.to(torch.int64), count, include_last_offset)
    bags = starts.numel()
    rows = torch.ops.aten.embedding.default(weight, indices, -1, scale_grad_by_freq)
    if weight.dtype in (torch.float16, torch.bfloat16):
        rows = rows.float()
    counted = torch.ones([count], dtype=rows.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if padding_idx is not None and padding_idx >= 0:
        kept = indices != padding_idx
        rows, counted = torch.where(kept.unsqueeze(1), rows, 0.0), torch.where(kept, counted, 0.0)
    if mode == 2:
        return _largest_of_bags(weight, rows, counted, bag, bags), None, None, None
    out = torch.index_add(torch.zeros([bags, weight.shape[1]], dtype=rows.dtype), 0, bag, rows)
    sizes = torch.index_add(torch.zeros([bags], dtype=counted.dtype), 0, bag, counted)
    if mode == 1:
        out = out / torch.clamp(sizes, min=1.0).unsqueeze(1)
    # What only a gradient needs is not made.
    return out.to(weight.dtype), None, None, None


def _largest_of_bags(weight, rows, counted, bag, bags):
    """The largest of each column; zeros for a bag that has nothing."""
    none = torch.full([bags, weight.shape[1]], float("-inf"), dtype=rows.dtype)
    rows = torch.where((counted > 0).unsqueeze(1), rows, float("-inf"))
    largest = torch.ops.aten.scatter_reduce.two(none, 0, bag.unsqueeze(1).expand(rows.shape), rows, "amax")
    sizes = torch.index_add(torch.zeros([bags], dtype=counted.dtype), 0, bag, counted)
    return torch.where((sizes > 0).unsqueeze(1), largest, 0.0).to(weight.dtype)


@_aten("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    if padding_idx is not None and padding_idx < 0:
        padding_idx = padding_idx + weight.shape[0]
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_plain(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, None)


@_aten("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_core(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_forward(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor")
def _one_hot(self, num_classes):
    return F.one_hot(self, num_classes)


@_aten("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
def _take_along_dim(self, indices, dim):
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    shape = F.broadcast_shapes(*[[1 if d == F._wrapped(dim, self.dim()) else n for d, n in enumerate(x.shape)] for x in (self, indices)])
    sizes = [[x.shape[d] if d == F._wrapped(dim, self.dim()) else n for d, n in enumerate(shape)] for x in (self, indices)]
    return self.expand(sizes[0]).gather(dim, _from_the_front(indices.expand(sizes[1]), self.shape[dim]))


def _from_the_front(indices, size):
    """Negative ones count from the end."""
    return torch.where(indices < 0, indices + size, indices)


def _halved(sorted_sequence, self, size, right):
    """The search itself, step by step: it decides where there is a NaN, which no order holds."""
    row = sorted_sequence.expand(list(self.shape[:-1]) + [size]) if sorted_sequence.dim() == self.dim() else sorted_sequence
    low = torch.zeros_like(self, dtype=torch.int64)
    high = low + size
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        place = torch.clamp(middle, max=size - 1)
        at = row[place] if row.dim() == 1 else torch.gather(row, -1, place)
        goes_on = torch.logical_and(low < high, torch.logical_not(at > self if right else at >= self))
        low, high = torch.where(goes_on, middle + 1, low), torch.where(goes_on, high, torch.minimum(middle, high))
    return low


@_aten("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor")
def _searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    if sorter is not None:
        sorted_sequence = torch.gather(sorted_sequence, -1, sorter)
    if side is not None:
        right = side == "right"
    self = self.contiguous()  # the result is dense, whatever the values' strides
    size = sorted_sequence.shape[-1]
    if type(size) is int and size > 0:
        return _halved(sorted_sequence, self, size, right).to(torch.int32 if out_int32 else torch.int64)
    values = self.unsqueeze(-1)
    row = sorted_sequence if sorted_sequence.dim() == 1 else sorted_sequence.unsqueeze(-2)
    below = row <= values if right else row < values
    if self.is_floating_point():
        below = below | torch.isnan(values)  # which stands behind all numbers
    return below.sum(-1).to(torch.int32 if out_int32 else torch.int64)


@_aten("aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor")
def _bucketize(self, boundaries, out_int32, right):
    return _searchsorted(boundaries, self, out_int32, right, None, None)


@_aten("aten::take(Tensor self, Tensor index) -> Tensor")
def _take(self, index):
    torch._check_range(index, -self.numel(), self.numel(), "IndexError", f"out of range: tried to access index {{}} on a tensor of {self.numel()} elements.")
    return self.reshape(-1)[index]


@_aten("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")
def _unsafe_index(self, indices):
    return torch.ops.aten.index.Tensor(self, indices)


@_aten("aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor")
def _unsafe_index_put(self, indices, values, accumulate):
    return torch.ops.aten.index_put.default(self, indices, values, accumulate)


@_aten("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor")
def _masked_scatter(self, mask, source):
    shape = F.broadcast_shapes(self.shape, mask.shape)
    input, kept = self.expand(shape).reshape(-1), mask.expand(shape).reshape(-1)
    place = torch.clamp(torch.cumsum(kept.to(torch.int64), 0) - 1, min=0)
    return torch.where(kept, source.reshape(-1)[place], input).reshape(shape)


@_aten("aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor")
def _isin(elements, test_elements, assume_unique, invert):
    found = torch.any(elements.unsqueeze(-1) == test_elements.reshape(-1), -1)
    return torch.logical_not(found) if invert else found


@_aten("aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor")
def _isin_scalar(elements, test_element, assume_unique, invert):
    return elements != test_element if invert else elements == test_element


@_aten("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")
def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    lead = self.shape[:-2]
    kh, kw = kernel_size
    height, width = output_size[0] + 2 * padding[0], output_size[1] + 2 * padding[1]
    rows = (height - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    columns = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    i = (torch.arange(kh) * dilation[0]).reshape(-1, 1, 1, 1) + (torch.arange(rows) * stride[0]).reshape(1, 1, -1, 1)
    j = (torch.arange(kw) * dilation[1]).reshape(1, -1, 1, 1) + (torch.arange(columns) * stride[1]).reshape(1, 1, 1, -1)
    place = (i * width + j).reshape(-1)
    channels = self.shape[-2] // (kh * kw)
    values = self.reshape(list(lead) + [channels, kh * kw * rows * columns])
    whole = torch.zeros(list(lead) + [channels, height * width], dtype=self.dtype)
    whole = torch.index_add(whole, len(lead) + 1, place, values).reshape(list(lead) + [channels, height, width])
    return whole[..., padding[0] : height - padding[0], padding[1] : width - padding[1]].clone()


@_aten("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")
def _im2col(self, kernel_size, dilation, padding, stride):
    windows = _Windows(self, list(kernel_size), list(stride), list(padding), list(dilation), False, 0, False)
    lead, x = list(self.shape[:-3]), windows.input
    own = list(x.stride())
    # All windows' elements as one view, whose copy is one launch.
    strides = own[:-2] + [own[d - 2] * dilation[d] for d in range(2)] + [own[d - 2] * stride[d] for d in range(2)]
    places = x.as_strided(list(self.shape[:-2]) + list(kernel_size) + windows.out, strides, x.storage_offset())
    columns = places.reshape(lead + [self.shape[-3] * kernel_size[0] * kernel_size[1], windows.out[0] * windows.out[1]])
    # Windows of one element are a view so far.
    return columns.clone() if list(kernel_size) == [1, 1] else columns


@_aten("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor")
def _index_fill(self, dim, index, value):
    if self.dim() == 0:
        return _index_fill(self.reshape(1), 0, index, value).reshape([])
    # A place that is named twice is filled once: so says the value's derivative.
    along = [1] * self.dim()
    along[dim] = self.shape[dim]
    filled = torch.zeros([self.shape[dim]], dtype=torch.int32, device=self.device).index_fill(0, index.reshape(-1), 1)
    return torch.where(filled.reshape(along) == 1, value.to(self.dtype), self)
