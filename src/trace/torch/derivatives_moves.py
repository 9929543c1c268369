# SPDX-License-Identifier: Apache-2.0
# --- derivatives of what moves elements; part of derivatives.py's namespace


def _of_narrow(grad, sizes, dim, start, length):
    # Counted from the end, a part up to it ends at 0.
    first = start + sizes[dim] if isinstance(start, int) and start < 0 else start
    return torch.ops.aten.slice_scatter(_zeros(grad, sizes), grad, dim, first, first + length)


# --- casts

_moves("_to_copy.default", "to.dtype", "to.device", "to.dtype_layout", "to.other", "type_as.default", node="ToCopyBackward0", self=lambda grad: grad)
_none("view.dtype")

# --- views

_moves("alias.default", self=lambda grad: grad)
_moves("as_strided.default", self=lambda grad, self_sizes, self_strides, self_offset, size, stride, storage_offset: _of_strided(grad, self_sizes, self_strides, self_offset, size, stride, storage_offset))
_moves("chunk.default", "split.Tensor", node="SplitBackward0", self=lambda grads, dim: torch.cat(grads, dim))
_moves("split_with_sizes.default", self=lambda grads, dim: torch.cat(grads, dim))
_none("detach.default")
_moves("expand.default", node="ExpandBackward0", self=lambda grad: grad)
_moves("expand_as.default", node="ExpandBackward0", self=lambda grad: grad)
_moves("flatten.using_ints", "reshape.default", "unflatten.int", "view.default", "view_as.default", node="ViewBackward0", self=lambda grad, self_sizes: grad.reshape(self_sizes))
_moves("narrow.default", node="SliceBackward0", self=lambda grad, self_sizes, dim, start, length: _of_narrow(grad, self_sizes, dim, start, length))
_moves("permute.default", self=lambda grad, dims: torch.permute(grad, _inverse(dims)))
_moves("select.int", self=lambda grad, self_sizes, dim, index: torch.ops.aten.select_scatter(_zeros(grad, self_sizes), grad, dim, index))
_moves("slice.Tensor", self=lambda grad, self_sizes, dim, start, end, step: torch.ops.aten.slice_scatter(_zeros(grad, self_sizes), grad, dim, start, end, step))
_moves("squeeze.default", self=lambda grad, self_sizes: grad.reshape(self_sizes))
_moves("squeeze.dim", node="SqueezeBackward1", self=lambda grad, self_sizes: grad.reshape(self_sizes))
_moves("squeeze.dims", node="SqueezeBackward2", self=lambda grad, self_sizes: grad.reshape(self_sizes))
_moves("t.default", self=lambda grad: grad.t())
_moves("transpose.int", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
_moves("unbind.int", self=lambda grads, dim: torch.stack(grads, dim))
_moves("unsqueeze.default", self=lambda grad, dim: grad.squeeze(dim))


def _zeros(grad, sizes):
    return grad.new_zeros(list(sizes))


def _inverse(dims):
    order = [0] * len(dims)
    for i, d in enumerate(dims):
        order[d % len(dims)] = i
    return order


def _reach(sizes, strides):
    """How many places there are from a view's first element to its last."""
    return 1 + sum([(size - 1) * stride for size, stride in zip(sizes, strides)])


def _memory(of_sizes, of_strides, of_offset, sizes, strides, offset):
    """The memory that a base and its view lie in: where it begins, and its length. Of sizes that are not known it is the base's alone: no view goes beyond."""
    reaches = [_reach(of_sizes, of_strides), _reach(sizes, strides)]
    if not all([isinstance(number, int) for number in reaches + [offset, of_offset]]):
        return of_offset, reaches[0]
    low = min(of_offset, offset)
    return low, max(of_offset + reaches[0], offset + reaches[1]) - low


def _places(grad, memory, sizes, strides, offset):
    """For every element the place in that memory where it lies."""
    low, length = memory
    return torch.as_strided(torch.arange(length, device=grad.device), list(sizes), list(strides), offset - low).reshape([-1])


def _fills(sizes, strides, offset, memory):
    """Whether a base is known to be row-major, and to be all of the memory that holds it and its view."""
    return _is_row_major(sizes, strides) and memory == (offset, _reach(sizes, strides))


def _is_empty(*sizes):
    return any([isinstance(size, int) and size == 0 for one in sizes for size in one])


def _are_apart(sizes, strides):
    """Whether it is known that the elements of a view have places of their own."""
    reach = 0
    for stride, size in sorted([(stride, size) for size, stride in zip(sizes, strides) if isinstance(size, int) and isinstance(stride, int)]):
        if size == 1:
            continue
        if stride <= reach:
            return False
        reach += (size - 1) * stride
    return all([isinstance(number, int) for number in list(sizes) + list(strides)])


def _is_row_major(sizes, strides):
    expected = 1
    for size, stride in zip(reversed(list(sizes)), reversed(list(strides))):
        if not isinstance(size, int) or not isinstance(stride, int) or (size != 1 and stride != expected):
            return False
        expected *= size
    return expected != 0


def _of_view(grad, of_sizes, of_strides, of_offset, sizes, strides, offset):
    """The gradient of the base, from that of a view given by strides."""
    if _is_empty(of_sizes, sizes):
        return _zeros(grad, of_sizes)
    memory = _memory(of_sizes, of_strides, of_offset, sizes, strides, offset)
    if _fills(of_sizes, of_strides, of_offset, memory) and _are_apart(sizes, strides):
        return torch.as_strided_scatter(_zeros(grad, of_sizes), grad, list(sizes), list(strides), offset - of_offset)
    # By way of memory, for the base may be a view itself, with gaps, or with elements that lie in one place: these share what lies there.
    contents = torch.index_add(_zeros(grad, [memory[1]]), 0, _places(grad, memory, sizes, strides, offset), grad.reshape([-1]))
    places = _places(grad, memory, of_sizes, of_strides, of_offset)
    if not _are_apart(of_sizes, of_strides):
        counts = torch.index_add(_zeros(grad, [memory[1]]), 0, places, torch.ones_like(places).to(grad.dtype))
        contents = contents / torch.clamp(counts, min=1)
    return torch.index_select(contents, 0, places).reshape(list(of_sizes))


def _of_strided(grad, of_sizes, of_strides, of_offset, sizes, strides, offset):
    return _of_view(grad, of_sizes, of_strides, of_offset, sizes, strides, of_offset if offset is None else offset)


def _of_rest(grad, of_sizes, of_strides, of_offset, sizes, strides, offset):
    """The gradient of a base of which a view was written: none there."""
    if _is_empty(of_sizes, sizes):
        return grad
    memory = _memory(of_sizes, of_strides, of_offset, sizes, strides, offset)
    if _fills(of_sizes, of_strides, of_offset, memory) and _are_apart(sizes, strides):
        return torch.as_strided_scatter(grad.contiguous(), _zeros(grad, sizes), list(sizes), list(strides), offset - of_offset)
    written = torch.index_fill(torch.zeros(memory[1], dtype=torch.int32, device=grad.device), 0, _places(grad, memory, sizes, strides, offset), 1)
    return torch.where(torch.index_select(written, 0, _places(grad, memory, of_sizes, of_strides, of_offset)).reshape(list(of_sizes)) > 0, 0, grad)


def _of_place(grad, of_sizes, of_strides, of_offset, sizes, strides, offset):
    """The gradient of what was written to the view."""
    if _is_empty(of_sizes, sizes):
        return _zeros(grad, sizes)
    memory = _memory(of_sizes, of_strides, of_offset, sizes, strides, offset)
    if _fills(of_sizes, of_strides, of_offset, memory):
        return torch.as_strided(grad.contiguous(), list(sizes), list(strides), offset - of_offset)
    contents = torch.index_add(_zeros(grad, [memory[1]]), 0, _places(grad, memory, of_sizes, of_strides, of_offset), grad.reshape([-1]))
    return torch.index_select(contents, 0, _places(grad, memory, sizes, strides, offset)).reshape(list(sizes))


# --- copies

_moves(
    "as_strided_scatter.default",
    self=lambda grad, self_sizes, self_strides, self_offset, size, stride, storage_offset: _of_rest(
        grad, self_sizes, self_strides, self_offset, size, stride, self_offset if storage_offset is None else storage_offset
    ),
    src=lambda grad, self_sizes, self_strides, self_offset, size, stride, storage_offset: _of_place(
        grad, self_sizes, self_strides, self_offset, size, stride, self_offset if storage_offset is None else storage_offset
    ),
)
_moves("cat.default", tensors=lambda grad, tensors_sizes, dim: _of_cat(grad, tensors_sizes, dim))
_moves("clone.default", "contiguous.default", node="CloneBackward0", self=lambda grad: grad)
_moves("copy.default", node="CopyBackwards", self=_zero, src=lambda grad: grad)
_moves("repeat.default", self=lambda grad, self_sizes, repeats: _of_repeat(grad, self_sizes, repeats))
_moves(
    "select_scatter.default",
    self=lambda grad, dim, index: torch.ops.aten.select_scatter(grad, torch.zeros_like(grad.select(dim, index)), dim, index),
    src=lambda grad, dim, index: grad.select(dim, index),
)
_moves(
    "slice_scatter.default",
    self=lambda grad, src_sizes, dim, start, end, step: torch.ops.aten.slice_scatter(grad, _zeros(grad, src_sizes), dim, start, end, step),
    src=lambda grad, dim, start, end, step: torch.ops.aten.slice(grad, dim, start, end, step),
)
_moves("stack.default", tensors=lambda grad, dim: torch.unbind(grad, dim))
_moves("fill.Scalar", self=_zero)


def _of_cat(grad, sizes, dim):
    parts, start = [], 0
    for one in sizes:
        # What is empty and one-dimensional goes with anything.
        if len(one) == 1 and one[0] == 0 and grad.dim() != 1:
            parts.append(_zeros(grad, [0]))
            continue
        parts.append(grad.narrow(dim, start, one[dim]))
        start = start + one[dim]
    return parts


def _of_repeat(grad, sizes, repeats):
    lead = len(repeats) - len(sizes)
    shape, dims = [], []
    for d in range(len(repeats)):
        dims.append(len(shape))
        shape.extend([repeats[d], 1 if d < lead else sizes[d - lead]])
    return grad.reshape(shape).sum(dims).reshape(list(sizes)) if dims else grad


# --- new tensors, and what is drawn

_none(
    "empty_like.default", "full_like.default", "new_empty.default", "new_full.default", "new_ones.default", "new_zeros.default", "ones_like.default",
    "zeros_like.default", "rand_like.default", "randint_like.default", "randint_like.low_dtype", "randn_like.default",
)
_moves("bernoulli.default", "bernoulli.Tensor", "bernoulli.p", "exponential.default", "normal_functional.default", "random.default", "random.from", "random.to", "uniform.default", self=_zero)
_none("pellucid.bernoulli.default", "pellucid.bernoulli.Tensor", "pellucid.deviation.default", "pellucid.probability.default")
_none("pellucid.draw_turn.default", "pellucid.philox_exponential.default", "pellucid.philox_normal.default", "pellucid.philox_randint.default", "pellucid.philox_uniform.default")
_none("pellucid.cuda_exponential.default", "pellucid.cuda_normal.default", "pellucid.cuda_randint.default", "pellucid.cuda_uniform.default")
_moves("normal.Tensor_float", "normal.Tensor_Tensor", "normal.float_Tensor", node="NormalBackward0", mean=_zero, std=_zero)
_of("dropout.default", input=lambda grad, input, result, p, train: _of_dropout(grad, input, result, p, train))
_of("native_dropout.default", input=lambda grad, result1, p, train: grad * result1 * _kept_scale(p) if train or train is None else grad)


def _kept_scale(p):
    return 0.0 if p == 1 else 1.0 / (1.0 - p)


def _of_dropout(grad, input, result, p, train):
    if not train or p == 0:
        return grad
    # What was kept and is zero had no effect either way.
    return torch.where(result != 0, grad * _kept_scale(p), 0.0)


# --- gathers and scatters

_moves("embedding.default", weight=lambda grad, weight_sizes, indices, padding_idx, scale_grad_by_freq: torch.ops.aten.embedding_dense_backward(grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq))
_moves("gather.default", self=lambda grad, self_sizes, dim, index: torch.scatter_add(_zeros(grad, self_sizes), dim, index, grad))
_moves("index.Tensor", self=lambda grad, self_sizes, indices: torch.ops.aten.index_put(_zeros(grad, self_sizes), indices, grad, True))
_moves("index_select.default", self=lambda grad, self_sizes, dim, index: _of_index_select(grad, self_sizes, dim, index))
_moves(
    "index_add.default",
    self=lambda grad: grad,
    source=lambda grad, dim, index, alpha, source_sizes: _scaled(torch.index_select(grad, dim, index), alpha).reshape(list(source_sizes)),
)
_moves(
    "index_copy.default",
    self=lambda grad, dim, index: torch.index_fill(grad, dim, index, 0.0),
    source=lambda grad, dim, index, source_sizes: torch.index_select(grad, dim, index).reshape(list(source_sizes)),
)
_moves("index_fill.int_Scalar", self=lambda grad, dim, index: torch.index_fill(grad, dim, index, 0.0))
_moves(
    "index_put.default",
    self=lambda grad, indices, values_sizes, accumulate: grad if accumulate else torch.ops.aten.index_put(grad, indices, _zeros(grad, values_sizes)),
    values=lambda grad, indices: torch.ops.aten.index(grad, indices),
)
_moves("scatter.src", self=lambda grad, dim, index: torch.scatter(grad, dim, index, 0.0), src=lambda grad, dim, index, src_sizes: _at_places(grad, dim, index, src_sizes))
_moves("scatter.value", node="ScatterBackward1", self=lambda grad, dim, index: torch.scatter(grad, dim, index, 0.0))
_moves("scatter_add.default", self=lambda grad: grad, src=lambda grad, dim, index, src_sizes: _at_places(grad, dim, index, src_sizes))
_joint(
    "scatter_reduce.two",
    ["self", "src"],
    lambda grad, self, dim, index, src, reduce, include_self, result: _of_scatter_reduce(grad, self, dim, index, src, reduce, include_self, result),
)


def _of_index_select(grad, sizes, dim, index):
    if len(sizes) == 0:
        return grad.sum().reshape([])
    return torch.index_add(_zeros(grad, sizes), dim, index.reshape([-1]), grad)


def _at_places(grad, dim, index, sizes):
    """The gradient at the places that `index` names; elements of the source beyond it went nowhere."""
    found = torch.gather(grad, dim, index)
    for d in range(found.dim()):
        if found.shape[d] != sizes[d]:
            found = torch.cat([found, _zeros(grad, [sizes[k] - found.shape[k] if k == d else found.shape[k] for k in range(len(sizes))])], d)
    return found


class _WithoutPairsOfZeros(torch.autograd.Function):
    """Elements as they are. Of two zeros that are multiplied, the second derivative is the product of the rest, which nothing here knows."""

    @staticmethod
    def forward(ctx, of_part, zeros):
        ctx.save_for_backward(zeros)
        return of_part * 1

    @staticmethod
    def backward(ctx, grad):
        (zeros,) = ctx.saved_tensors
        if bool((zeros > 1).any()):
            raise RuntimeError("scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position in self")
        return grad, None


def _of_scatter_reduce(grad, self, dim, index, src, reduce, include_self, result):
    part = src
    for d in range(src.dim()):
        part = part.narrow(d, 0, index.shape[d])
    if reduce == "sum":
        of_self, of_part = grad, torch.gather(grad, dim, index)
    elif reduce == "mean":
        count = torch.ones_like(grad) if include_self else torch.zeros_like(grad)
        count = torch.scatter_add(count, dim, index, torch.ones_like(part))
        shares = grad / torch.where(count == 0, 1.0, count)
        of_self, of_part = shares, torch.gather(shares, dim, index)
    elif reduce == "amax" or reduce == "amin":
        winners = part == torch.gather(result, dim, index)
        own = self == result
        count = torch.scatter_add(own.to(grad.dtype) if include_self else torch.zeros_like(grad), dim, index, winners.to(grad.dtype))
        shares = grad / torch.where(count == 0, 1.0, count)
        of_self, of_part = torch.where(own, shares, 0.0), torch.where(winners, torch.gather(shares, dim, index), 0.0)
    else:
        # The product of the others. What no zero is divides the product itself, so that it hangs on a zero beside it.
        own = torch.where(self == 0, 1.0, self)
        of_self = grad * torch.scatter_reduce(own, dim, index, part, "prod", include_self=include_self) / own
        is_zero = part == 0
        zeros = torch.scatter_add(torch.zeros_like(grad), dim, index, is_zero.to(grad.dtype))
        is_only = torch.logical_and(is_zero, torch.gather(zeros, dim, index) == 1)
        others = torch.scatter_reduce(self, dim, index, torch.where(is_only, 1.0, part), "prod", include_self=include_self)
        rest = torch.gather(grad * result, dim, index) / torch.where(is_zero, 1.0, part)
        of_part = torch.where(is_only, torch.gather(grad * others, dim, index), rest)
        if torch.is_grad_enabled():
            of_part = _WithoutPairsOfZeros.apply(of_part, zeros)
    if not include_self:
        of_self = torch.scatter(of_self, dim, index, 0.0)
    for d in range(of_part.dim()):
        if of_part.shape[d] != src.shape[d]:
            of_part = torch.cat([of_part, _zeros(grad, [src.shape[k] - of_part.shape[k] if k == d else of_part.shape[k] for k in range(src.dim())])], d)
    return of_self, of_part


# --- orders

_moves("max.dim", "min.dim", node=None, self=lambda grad, self_sizes, dim, keepdim, result1: _of_chosen(grad, self_sizes, dim, keepdim, result1))
_moves("sort.default", "sort.stable", node="SortBackward0", self=lambda grad, self_sizes, dim, result1: _of_chosen(grad, self_sizes, dim, True, result1))
_moves("cummax.default", "cummin.default", node=None, self=lambda grad, self_sizes, dim, result1: _of_chosen(grad, self_sizes, dim, True, result1))
_moves("topk.default", self=lambda grad, self_sizes, dim, result1: _of_chosen(grad, self_sizes, dim, True, result1))


def _of_chosen(grad, sizes, dim, keepdim, indices):
    if len(sizes) == 0:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return torch.scatter_add(_zeros(grad, sizes), dim, indices, grad)


# --- convolutions


def _of_convolution(grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, needs):
    rank = weight.dim() - 2
    batched = input.dim() == rank + 2
    if not batched:
        grad, input = grad.unsqueeze(0), input.unsqueeze(0)
    of_input, of_weight, of_bias = torch.ops.aten.convolution_backward(
        grad, input, weight, bias_sizes, _all_dims(stride, rank), _all_dims(padding, rank), _all_dims(dilation, rank), transposed, _all_dims(output_padding, rank), groups, needs
    )
    if of_input is not None and not batched:
        of_input = of_input.squeeze(0)
    return of_input, of_weight, of_bias


def _all_dims(value, rank):
    values = [value] if isinstance(value, int) else list(value)
    return values * rank if len(values) == 1 else values


def _of_named_padding(grad, input, weight, bias_sizes, stride, padding, dilation, groups, needs):
    rank = weight.dim() - 2
    if padding == "valid":
        return _of_convolution(grad, input, weight, bias_sizes, stride, [0] * rank, dilation, False, [0] * rank, groups, needs)
    # As many places as the input has: more of the padding at the end where it is odd.
    dilation = _all_dims(dilation, rank)
    totals = [dilation[d] * (weight.shape[2 + d] - 1) for d in range(rank)]
    pads = []
    for d in range(rank - 1, -1, -1):
        pads.extend([totals[d] // 2, totals[d] - totals[d] // 2])
    of_input, of_weight, of_bias = _of_convolution(grad, torch.nn.functional.pad(input, pads), weight, bias_sizes, stride, [0] * rank, dilation, False, [0] * rank, groups, needs)
    if of_input is not None:
        for d in range(rank):
            of_input = of_input.narrow(d - rank, totals[d] // 2, input.shape[d - rank])
    return of_input, of_weight, of_bias


_convolved = ["input", "weight", "bias"]
_joint(
    "convolution.default",
    _convolved,
    lambda grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, needs: _of_convolution(
        grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, needs
    ),
    wide=False,
)
for _name in ("conv1d", "conv2d", "conv3d"):
    _joint(
        _name + ".default",
        _convolved,
        lambda grad, input, weight, bias_sizes, stride, padding, dilation, groups, needs: _of_convolution(
            grad, input, weight, bias_sizes, stride, padding, dilation, False, [0], groups, needs
        ),
        node="ConvolutionBackward0",
        wide=False,
    )
    _joint(
        _name + ".padding",
        _convolved,
        lambda grad, input, weight, bias_sizes, stride, padding, dilation, groups, needs: _of_named_padding(grad, input, weight, bias_sizes, stride, padding, dilation, groups, needs),
        node="ConvolutionBackward0",
        wide=False,
    )
for _name in ("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"):
    _joint(
        _name,
        _convolved,
        lambda grad, input, weight, bias_sizes, stride, padding, output_padding, groups, dilation, needs: _of_convolution(
            grad, input, weight, bias_sizes, stride, padding, dilation, True, output_padding, groups, needs
        ),
        node="ConvolutionBackward0",
        wide=False,
    )
