# SPDX-License-Identifier: Apache-2.0
def topk(input, k, dim=-1, largest=True, sorted=True):
    return _ordered(*torch.ops.aten.topk.default(input, k, dim, largest, sorted), "topk")


def sort(input, dim=-1, descending=False, stable=None):
    if stable is None:
        return _ordered(*torch.ops.aten.sort.default(input, dim, descending), "sort")
    return _ordered(*torch.ops.aten.sort.stable(input, stable=stable, dim=dim, descending=descending), "sort")


def argsort(input, dim=-1, descending=False, stable=False):
    return torch.ops.aten.argsort.default(input, dim, descending)


def scatter(input, dim, index, src=None, value=None, reduce=None):
    if reduce is not None:
        raise NotImplementedError(f"scatter with reduce='{reduce}'; scatter_add is there")
    src = value if src is None else src
    # A tensor without dims counts as one element.
    if input.dim() == 1 and index.dim() == 0:
        index = index.unsqueeze(0)
        src = src.unsqueeze(0) if isinstance(src, torch.Tensor) and src.dim() == 0 else src
    if isinstance(src, torch.Tensor):
        return torch.ops.aten.scatter.src(input, dim, index, src)
    return torch.ops.aten.scatter.value(input, dim, index, src)


def index_fill(input, dim, index, value):
    if not isinstance(value, torch.Tensor):
        return torch.ops.aten.index_fill.int_Scalar(input, dim, index, value)
    if value.dim() != 0:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
    return torch.ops.aten.index_fill.int_Tensor(input, dim, index, value)


def index_put(input, indices, values, accumulate=False):
    return torch.ops.aten.index_put.default(input, list(indices), values, accumulate)


def swapaxes(input, axis0, axis1):
    return torch.transpose(input, axis0, axis1)


def swapdims(input, dim0, dim1):
    return torch.transpose(input, dim0, dim1)


def movedim(input, source, destination):
    rank = input.dim()
    if isinstance(source, int):
        source, destination = [source], [destination]
    source = [_wrapped(d, rank) for d in source]
    destination = [_wrapped(d, rank) for d in destination]
    if rank == 0:
        return input.view([])
    rest = [d for d in range(rank) if d not in source]
    order = []
    for d in range(rank):
        order.append(source[destination.index(d)] if d in destination else rest.pop(0))
    return torch.permute(input, order)


def flip(input, dims):
    if not isinstance(dims, int) and len(dims) == 0:
        return input.clone()
    flipped = input
    for dim in [dims] if isinstance(dims, int) else dims:
        size = input.shape[dim]
        flipped = torch.index_select(flipped, dim, size - 1 - torch.arange(size))
    # Laid out as the input: a kernel sees the strides.
    return flipped if input.is_contiguous() else torch.empty_like(input).copy_(flipped)


def roll(input, shifts, dims=None):
    shifts = list(shifts) if isinstance(shifts, (list, tuple)) else [shifts]
    dims = list(dims) if isinstance(dims, (list, tuple)) else [] if dims is None else [dims]
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return roll(input.reshape(-1), shifts, 0).reshape(input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for shift, dim in zip(shifts, dims):
        size = input.shape[dim]
        if size == 0:
            return input.clone()
        split = (size - shift) % size
        input = torch.cat([input.narrow(dim, split, size - split), input.narrow(dim, 0, split)], dim)
    return input


def hstack(tensors):
    return torch.cat(tensors, 0 if tensors[0].dim() == 1 else 1)


def vstack(tensors):
    return torch.cat([x.unsqueeze(0) if x.dim() == 1 else x for x in tensors], 0)


def _offsets(input):
    rows, columns = torch.arange(input.shape[-2]), torch.arange(input.shape[-1])
    return columns.unsqueeze(0) - rows.unsqueeze(1)


def tril(input, diagonal=0):
    if input.dim() < 2:
        raise RuntimeError("tril: input tensor must have at least 2 dimensions")
    return torch.where(_offsets(input) <= diagonal, input, torch.zeros_like(input))


def triu(input, diagonal=0):
    if input.dim() < 2:
        raise RuntimeError("triu: input tensor must have at least 2 dimensions")
    return torch.where(_offsets(input) >= diagonal, input, torch.zeros_like(input))


def outer(input, vec2):
    return input.unsqueeze(1) * vec2.unsqueeze(0)


def pad(input, pad, mode="constant", value=None):
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.dim():
        raise RuntimeError(f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and input of dimension {input.dim()}")
    if mode != "constant":
        return torch.ops.aten.pad.default(input, pad, mode, value)
    value = 0 if value is None else value
    padded = False
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        if before < 0 or after < 0:
            start = -before if before < 0 else 0
            stop = input.shape[dim] + (after if after < 0 else 0)
            input = input.narrow(dim, start, stop - start)
        parts = [input]
        for count, place in ((before, 0), (after, len(parts) + 1)):
            # Nothing or more: cat takes parts without elements.
            if _is_proved(input, count >= 0) and count is not 0 or count > 0:
                shape = list(input.shape)
                shape[dim] = count
                parts.insert(place, input.new_full(shape, value))
        if len(parts) > 1:
            input, padded = torch.cat(parts, dim), True
    return input if padded else input.clone()


def _check_layout(layout):
    if layout is not None and layout != "strided":
        raise NotImplementedError(f"tensors of the layout {layout}; all are strided")


def eye(n, m=None, dtype=None, device=None, layout=None, requires_grad=False):
    _check_layout(layout)
    rows, columns = torch.arange(n, device=device), torch.arange(n if m is None else m, device=device)
    made = (rows.unsqueeze(1) == columns.unsqueeze(0)).to(torch.get_default_dtype() if dtype is None else dtype)
    return made.requires_grad_() if requires_grad else made


def linspace(start, end, steps, dtype=None, device=None, layout=None, requires_grad=False):
    _check_layout(layout)
    start, end = (float(bound) if isinstance(bound, bool) else bound for bound in (start, end))
    dtype = torch.float64 if dtype is float else torch.int64 if dtype is int else dtype
    if dtype == torch.bool:
        raise NotImplementedError('"linspace_cpu" not implemented for \'Bool\'')
    if dtype is not None and not dtype.is_floating_point:
        start, end = (int(bound) if isinstance(bound, float) and math.isfinite(bound) else bound for bound in (start, end))
    dtype = torch.get_default_dtype() if dtype is None else dtype
    i = torch.arange(steps, dtype=torch.float32 if dtype.is_floating_point and dtype != torch.float64 else torch.float64, device=device)
    if steps == 1:
        line = torch.full_like(i, start)
    else:
        step = (end - start) / (steps - 1)
        line = torch.where(i < steps // 2, start + step * i, end - step * (steps - 1 - i))
    line = line.to(dtype)
    return line.requires_grad_() if requires_grad else line


def repeat_interleave(input, repeats=None, dim=None, output_size=None):
    if isinstance(repeats, torch.Tensor):
        return torch.ops.aten.repeat_interleave.self_Tensor(input, repeats, dim, output_size=output_size)
    if repeats is None:
        return torch.ops.aten.repeat_interleave.Tensor(input, output_size=output_size)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = _wrapped(dim, input.dim())
    shape = list(input.shape)
    expanded = shape[: dim + 1] + [repeats] + shape[dim + 1 :]
    shape[dim] = shape[dim] * repeats
    if output_size is not None and output_size != shape[dim]:
        raise RuntimeError(f"repeat_interleave: output_size={output_size}, but {shape[dim]} elements are made")
    return input.unsqueeze(dim + 1).expand(expanded).clone(memory_format=torch.contiguous_format).reshape(shape)


def tile(input, dims):
    if isinstance(dims, int):
        dims = (dims,)
    return input.repeat([1] * (input.dim() - len(dims)) + list(dims))


def broadcast_shapes(*shapes):
    """`1 is 1` holds for the number alone: a dynamic size counts as one that is not 1."""
    shapes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = []
    rank = 0
    for shape in shapes:
        rank = len(shape) if len(shape) > rank else rank
    for i in range(rank):
        size = 1
        for shape in shapes:
            own = shape[-1 - i] if i < len(shape) else 1
            if own is 1:
                continue
            if size is not 1 and size != own:
                raise RuntimeError(f"broadcast_shapes: sizes {size} and {own} do not match at dim -{i + 1}")
            size = own
        result.insert(0, size)
    return tuple(result)


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    shape = broadcast_shapes(*[tensor.shape for tensor in tensors])
    return tuple(tensor.expand(shape) for tensor in tensors)


def broadcast_to(input, size):
    return input.expand(size)


def ravel(input):
    # reshape() gives views where the strides allow, and this the tensor's memory only where it is contiguous.
    return input.contiguous().view(-1)


def reshape_as(input, other):
    return input.reshape(other.shape)


def adjoint(input):
    return torch.transpose(input, -2, -1)


def positive(input):
    return input


def _of_each(function, tensors):
    several = tensors[0] if len(tensors) == 1 else tensors
    return tuple(function(one) for one in several)


def atleast_1d(input, *others):
    if others or isinstance(input, (list, tuple)):
        return _of_each(atleast_1d, (input, *others))
    return input.reshape(1) if input.dim() == 0 else input


def atleast_2d(input, *others):
    if others or isinstance(input, (list, tuple)):
        return _of_each(atleast_2d, (input, *others))
    if input.dim() == 0:
        return input.reshape(1, 1)
    return input.unsqueeze(0) if input.dim() == 1 else input


def atleast_3d(input, *others):
    if others or isinstance(input, (list, tuple)):
        return _of_each(atleast_3d, (input, *others))
    if input.dim() == 0:
        return input.reshape(1, 1, 1)
    if input.dim() == 1:
        return input.unsqueeze(0).unsqueeze(-1)
    return input.unsqueeze(-1) if input.dim() == 2 else input


def numel(input):
    return input.numel()


def moveaxis(input, source, destination):
    return movedim(input, source, destination)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    if n == 0:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    input = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = input.shape[dim]
        if isinstance(size, int) and size == 0:
            return input.clone()
        later, earlier = input.narrow(dim, 1, size - 1), input.narrow(dim, 0, size - 1)
        input = torch.logical_xor(later, earlier) if input.dtype == torch.bool else later - earlier
    return input


def diagonal(input, offset=0, dim1=0, dim2=1):
    rank = input.dim()
    dim1, dim2 = _wrapped(dim1, rank), _wrapped(dim2, rank)
    size, stride = list(input.shape), list(input.stride())
    rows = size[dim1] + offset if offset < 0 else size[dim1]
    columns = size[dim2] - offset if offset > 0 else size[dim2]
    start = stride[dim2] * offset if offset > 0 else -stride[dim1] * offset
    kept = [d for d in range(rank) if d != dim1 and d != dim2]
    length = _smaller(rows, columns)
    return input.as_strided([size[d] for d in kept] + [length], [stride[d] for d in kept] + [stride[dim1] + stride[dim2]], input.storage_offset() + start)


def unfold(input, dimension, size, step):
    if input.dim() == 0:
        if size not in (0, 1):
            raise RuntimeError(f"maximum size for tensor at dimension {dimension} is 1 but size is {size}")
        return input.as_strided([size], [1], input.storage_offset())
    dimension = _wrapped(dimension, input.dim())
    shape, stride = list(input.shape), list(input.stride())
    if step <= 0 or (isinstance(shape[dimension], int) and isinstance(size, int) and not 0 <= size <= shape[dimension]):
        raise RuntimeError(f"unfold of dim {dimension}, which has {shape[dimension]} elements, takes at most as many and a step greater than zero, got {size} and {step}")
    count = (shape[dimension] - size) // step + 1
    shape[dimension : dimension + 1] = [count]
    strides = stride[:dimension] + [stride[dimension] * step] + stride[dimension + 1 :]
    return input.as_strided(shape + [size], strides + [stride[dimension]], input.storage_offset())


def tensor_split(input, indices_or_sections, dim=0):
    size = input.shape[dim]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        # The first parts are longer by one, so many as remain; no branch on a size that is not known.
        cuts = [i * (size // count) + _smaller(i, size % count) for i in range(count + 1)]
    else:
        # Places as a slice has them: from the end below zero, and none beyond the tensor.
        places = indices_or_sections.tolist() if isinstance(indices_or_sections, torch.Tensor) else indices_or_sections
        inside = [cut if not isinstance(size, int) else _larger(cut + size, 0) if cut < 0 else _smaller(cut, size) for cut in places]
        cuts = [0] + inside + [size]
    lengths = [cuts[i + 1] - cuts[i] for i in range(len(cuts) - 1)]
    return tuple(input.narrow(dim, cuts[i], _larger(n, 0) if isinstance(n, int) else n) for i, n in enumerate(lengths))


def block_diag(*tensors):
    return torch.ops.aten.block_diag.default(list(tensors))


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if indexing not in ("ij", "xy"):
        raise ValueError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    rank = len(tensors)
    for tensor in tensors:
        if tensor.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    shape = [1] * rank
    for tensor, place in zip(tensors, places):
        shape[place] = tensor.numel()
    return tuple(tensor.reshape([-1 if d == place else 1 for d in range(rank)]).expand(shape) for tensor, place in zip(tensors, places))


def take_along_dim(input, indices, dim=None):
    return torch.ops.aten.take_along_dim.default(input, indices, dim)


def _product(sizes):
    count = 1
    for size in sizes:
        count = count * size
    return count


def _contract(a, a_labels, b, b_labels, kept):
    """The product of two tensors, summed over the labels that are in neither `kept` nor the result."""
    for_a = [c for c in a_labels if c not in b_labels and c not in kept]
    for_b = [c for c in b_labels if c not in a_labels and c not in kept]
    if for_a:
        a = a.sum([a_labels.index(c) for c in for_a])
    if for_b:
        b = b.sum([b_labels.index(c) for c in for_b])
    a_labels = [c for c in a_labels if c not in for_a]
    b_labels = [c for c in b_labels if c not in for_b]
    size = dict(zip(b_labels, b.shape))
    size.update(zip(a_labels, a.shape))
    batch = [c for c in a_labels if c in b_labels and c in kept]
    summed = [c for c in a_labels if c in b_labels and c not in kept]
    rows = [c for c in a_labels if c not in b_labels]
    columns = [c for c in b_labels if c not in a_labels]
    shape = [[size[c] for c in group] for group in (batch, rows, columns, summed)]
    a = torch.permute(a, [a_labels.index(c) for c in batch + rows + summed])
    b = torch.permute(b, [b_labels.index(c) for c in batch + summed + columns])
    if not summed:
        result = a.reshape(shape[0] + shape[1] + [1] * len(columns)) * b.reshape(shape[0] + [1] * len(rows) + shape[2])
    else:
        b_count, m, n, k = [_product(group) for group in shape]
        left = a.reshape([b_count, m, k] if batch else [m, k])
        right = b.reshape([b_count, k, n] if batch else [k, n])
        result = torch.matmul(left, right).reshape(shape[0] + shape[1] + shape[2])
    return result, batch + rows + columns


def _without_ellipsis(inputs, output, arrow, operands):
    """Terms of labels alone, operands and output: what '...' stands for has numbers as labels, aligned at its end."""
    terms, reach = [], 0
    for term, operand in zip(inputs, operands):
        first, dots, last = term.partition("...")
        if "." in first + last:
            raise ValueError("einsum: '.' stands only in '...'")
        count = operand.dim() - len(first) - len(last) if dots else 0
        if count < 0:
            raise ValueError(f"einsum: '{term}' names {len(first) + len(last)} dims of a tensor of {operand.dim()}")
        reach = count if count > reach else reach  # `max` is torch's here
        terms.append(list(first) + list(range(-count, 0)) + list(last))
    every = list(range(-reach, 0))
    # A dim of one element goes with any size.
    plain = []
    for at, operand in enumerate(operands):
        for label in every:
            others = [operands[i].shape[term.index(label)] for i, term in enumerate(terms) if i != at and label in term]
            if label in terms[at] and operand.shape[terms[at].index(label)] is 1 and [size for size in others if size is not 1]:
                operand = operand.squeeze(terms[at].index(label))
                terms[at] = [c for c in terms[at] if c != label]
        plain.append(operand)
    if not arrow:
        named = [c for term in terms for c in term if not isinstance(c, int)]
        return terms, plain, every + sorted(c for c in named if named.count(c) == 1)
    first, dots, last = output.partition("...")
    return terms, plain, list(first) + (every if dots else []) + list(last)


def _diagonals(term, operand):
    """A label twice in one term stands for the diagonal."""
    for label in [c for at, c in enumerate(term) if c in term[:at]]:
        i, j = [at for at, c in enumerate(term) if c == label][:2]
        operand = torch.diagonal(operand, 0, i, j)
        term = term[:i] + term[i + 1 : j] + term[j + 1 :] + [label]
    return term, operand


def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    equation = equation.replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    count = len(inputs.split(","))
    if count != len(operands):
        raise RuntimeError(f"einsum(): {'fewer' if len(operands) < count else 'more'} operands were provided than specified in the equation")
    terms, operands, output = _without_ellipsis(inputs.split(","), output, arrow, list(operands))
    for at, term in enumerate(terms):
        if len(term) != operands[at].dim():
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of dimensions ({operands[at].dim()}) for operand {at} and no ellipsis was given")
        terms[at], operands[at] = _diagonals(term, operands[at])
    sizes = {}
    for at, term in enumerate(terms):
        for label, size in zip(term, operands[at].shape):
            known = sizes.setdefault(label, size)
            if isinstance(known, int) and isinstance(size, int) and known != size:
                if known != 1 and size != 1:
                    raise RuntimeError(f"einsum(): subscript {label} has size {size} for operand {at} which does not broadcast with previously seen size {known}")
                sizes[label] = known * size
    for label in output:
        if not any([label in term for term in terms]):
            raise RuntimeError(f"einsum(): output subscript {label} does not appear in the equation for any input operand")
    result, labels = operands[0], terms[0]
    for i in range(1, len(terms)):
        later = list(output) + [c for term in terms[i + 1 :] for c in term]
        result, labels = _contract(result, labels, operands[i], terms[i], later)
    rest = [c for c in labels if c not in output]
    if rest:
        result = result.sum([labels.index(c) for c in rest])
        labels = [c for c in labels if c not in rest]
    return torch.permute(result, [labels.index(c) for c in output])
