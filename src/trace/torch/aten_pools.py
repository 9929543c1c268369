# SPDX-License-Identifier: Apache-2.0
# --- pooling; part of aten.py's namespace


def _each(value, rank):
    """A list of one number stands for all dims."""
    value = [value] if isinstance(value, int) else list(value)
    return value * rank if len(value) == 1 else value


def _pooled_size(size, kernel, stride, padding, dilation, ceil_mode):
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return reach // stride + 1
    count = (reach + stride - 1) // stride + 1
    # The last window begins inside of the input or its padding on the left.
    return min(count, (size + padding - 1) // stride + 1)


def _check_windows(input, rank, kernel, stride, padding, dilation, ceil_mode, is_pool=True):
    """What PyTorch refuses where sizes are known; an empty result would be silent."""
    for k, s, d in zip(kernel, stride, dilation):
        if isinstance(k, int) and k <= 0:
            raise RuntimeError(f"kernel size should be greater than zero, but got kernel size {k}" if rank == 1 else "kernel size should be greater than zero, but got " + " ".join(f"{n}: {v}" for n, v in zip(("kT", "kH", "kW")[3 - rank :], kernel)))
        if isinstance(s, int) and s <= 0:
            raise RuntimeError("stride should not be zero" if s == 0 else f"stride should be greater than zero, but got {s}")
        if isinstance(d, int) and d <= 0:
            raise RuntimeError(f"dilation should be greater than zero, but got {d}")
    for k, p, d in zip(kernel, padding, dilation):
        if isinstance(p, int) and isinstance(k, int) and isinstance(d, int):
            if p < 0:
                raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
            if is_pool and p > ((k - 1) * d + 1) // 2:
                raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}")
    sizes = list(input.shape)
    if len(sizes) not in (rank + 1, rank + 2):
        raise RuntimeError(f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got: [{', '.join([str(n) for n in sizes])}]")
    out = [_pooled_size(sizes[i - rank], kernel[i], stride[i], padding[i], dilation[i], ceil_mode) for i in range(rank)]
    if any(_is_known(n) and n < 1 for n in out):
        channels = sizes[-rank - 1]
        given, made = [channels] + sizes[-rank:], [channels] + out
        raise RuntimeError(f"Given input size: ({'x'.join([str(n) for n in given])}). Calculated output size: ({'x'.join([str(n) for n in made])}). Output size is too small")


class _Windows:
    """The windows of a pooling: for each place in a window, a view of all windows' elements there."""

    def __init__(self, input, kernel, stride, padding, dilation, ceil_mode, fill, is_pool=True):
        rank = len(kernel)
        _check_windows(input, rank, kernel, stride, padding, dilation, ceil_mode, is_pool)
        self.sizes = list(input.shape[-rank:])
        self.out = [_pooled_size(self.sizes[d], kernel[d], stride[d], padding[d], dilation[d], ceil_mode) for d in range(rank)]
        # Of a single window only what lies over the input and the padding before it counts.
        kernel = [min(kernel[d], self.sizes[d] + padding[d]) if is_pool and self._is_single(d, kernel, padding, dilation) else kernel[d] for d in range(rank)]
        pads = []
        for d in reversed(range(rank)):
            after = padding[d]
            if ceil_mode:
                needed = (self.out[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 - self.sizes[d] - padding[d]
                after = max(padding[d], needed)
            pads += [padding[d], after]
        if any(not (_is_known(p) and p == 0) for p in pads):
            input = F.pad(input, pads, "constant", fill)
        self.input, self.rank = input, rank
        self.stride, self.dilation = stride, dilation
        self.kernel, self.padding = kernel, padding

    def _is_single(self, d, kernel, padding, dilation):
        known = [self.out[d], self.sizes[d], kernel[d], padding[d]]
        return all(_is_known(n) for n in known) and self.out[d] == 1 and dilation[d] == 1 and self.sizes[d] > 0

    def places(self):
        places = [[]]
        for size in self.kernel:
            places = [place + [i] for place in places for i in range(size)]
        return places

    def at(self, place):
        own = self.input.stride()
        lead = list(self.input.shape[: -self.rank])
        strides = list(own[: -self.rank])
        offset = self.input.storage_offset()
        for d in range(self.rank):
            step = own[len(lead) + d]
            strides.append(step * self.stride[d])
            offset = offset + step * self.dilation[d] * place[d]
        return self.input.as_strided(lead + self.out, strides, offset)

    def position(self, place):
        """The element's index in its plane."""
        index = 0
        for d in range(self.rank):
            along = torch.arange(self.out[d]) * self.stride[d] + (self.dilation[d] * place[d] - self.padding[d])
            along = along.reshape([-1] + [1] * (self.rank - 1 - d))
            index = index * self.sizes[d] + along
        return index

    def is_large(self):
        """Many places, which neighbouring windows share: one dim after another reads far less."""
        if F._product(self.kernel) > 256:
            return True
        overlaps = any(k > s for k, s in zip(self.kernel, self.stride) if _is_known(s))
        return overlaps and (F._product(self.kernel) > 9 or max(self.kernel) > 9)

    def by_dims(self, combine, reduce):
        """What `combine` makes of all places, for what does not depend on their order: the sum of the extents is read for
        each result, not their product. Extents beyond `longest` are a reduction's."""
        x, longest = self.input, 32
        for d in reversed(range(self.rank)):
            dim = x.dim() - self.rank + d
            strides, sizes, offset = list(x.stride()), list(x.shape), x.storage_offset()
            step = strides[dim] * self.dilation[d]
            strides[dim], sizes[dim] = strides[dim] * self.stride[d], self.out[d]
            if self.kernel[d] > longest:
                x = reduce(x.as_strided(sizes + [self.kernel[d]], strides + [step], offset))
                continue
            total = x.as_strided(sizes, strides, offset)
            for i in range(1, self.kernel[d]):
                total = combine(total, x.as_strided(sizes, strides, offset + step * i))
            # In memory, so that the next dim reads results.
            x = total.clone(memory_format=torch.contiguous_format)
        return x


def _lowest(dtype):
    if dtype.is_floating_point:
        return float("-inf")
    return torch.iinfo(dtype).min


def _windows_there(length, count, step, start):
    """Of `count` windows along a dim, those that have an element of the input at the place that begins at `start`."""
    return max(0, -(start // step)), min(count, (length - 1 - start) // step + 1)


def _between(part, dim, first, last, count, fill, like):
    """What the windows first to last have, between those that have no element there: of the type of `like`, so that nothing
    else reads the part."""
    sizes = list(part.shape)
    parts = [part]
    if first > 0:
        parts = [like.new_full(sizes[:dim] + [first] + sizes[dim + 1 :], fill)] + parts
    if last < count:
        parts = parts + [like.new_full(sizes[:dim] + [count - last] + sizes[dim + 1 :], fill)]
    return torch.cat(parts, dim) if len(parts) > 1 else part


def _max_in_parts(input, kernel, stride, padding, dilation, ceil_mode):
    """At each place of a window those windows that have an element there, between ones that have none. No padding is stored.
    None where sizes are not known, or nothing is padded."""
    rank = len(kernel)
    known = [*input.shape[-rank:], *kernel, *stride, *padding, *dilation]
    if not all(_is_known(n) for n in known) or not any(padding) or max(kernel) > 8:
        return None
    counts = [_pooled_size(input.shape[d - rank], kernel[d], stride[d], padding[d], dilation[d], ceil_mode) for d in range(rank)]
    # A GPU's caches serve the few places of a small window; elsewhere each dim by itself takes fewer steps.
    by_places = input.is_cuda and F._product(kernel) <= 9
    if by_places:
        best = _by_places(input, kernel, stride, padding, dilation, counts, _lowest(input.dtype), lambda best, part, place: part if best is None else torch.maximum(best, part))
    else:
        best = _max_by_dims(input, kernel, stride, padding, dilation, counts)
    return best.clone(memory_format=torch.contiguous_format)


def _max_by_dims(input, kernel, stride, padding, dilation, counts):
    fill, rank = _lowest(input.dtype), len(kernel)
    for d in range(rank):
        dim, length, step = input.dim() - rank + d, input.shape[input.dim() - rank + d], stride[d]
        best = None
        for place in range(kernel[d]):
            start = place * dilation[d] - padding[d]
            first, last = _windows_there(length, counts[d], step, start)
            if first >= last:
                continue
            sizes, strides = list(input.shape), list(input.stride())
            offset = input.storage_offset() + (start + first * step) * strides[dim]
            sizes[dim], strides[dim] = last - first, strides[dim] * step
            part = _between(input.as_strided(sizes, strides, offset), dim, first, last, counts[d], fill, input)
            best = part if best is None else torch.maximum(best, part)
        input = best
    return input


def _by_places(input, kernel, stride, padding, dilation, counts, fill, combine):
    """What `combine` makes of the windows' elements, place by place, and of where that is; `fill` stands where a window has none."""
    rank, lead = len(kernel), input.dim() - len(kernel)
    best = None
    places = [[]]
    for size in kernel:
        places = [place + [i] for place in places for i in range(size)]
    for place in places:
        starts = [place[d] * dilation[d] - padding[d] for d in range(rank)]
        there = [_windows_there(input.shape[lead + d], counts[d], stride[d], starts[d]) for d in range(rank)]
        if any(first >= last for first, last in there):
            continue
        sizes, strides, offset = list(input.shape), list(input.stride()), input.storage_offset()
        for d in range(rank):
            offset = offset + (starts[d] + there[d][0] * stride[d]) * strides[lead + d]
            sizes[lead + d], strides[lead + d] = there[d][1] - there[d][0], strides[lead + d] * stride[d]
        part = input.as_strided(sizes, strides, offset)
        for d in reversed(range(rank)):
            part = _between(part, lead + d, there[d][0], there[d][1], counts[d], fill, input)
        best = combine(best, part, place)
    return best


def _max_pool(input, rank, kernel_size, stride, padding, dilation, ceil_mode, wants_indices):
    if not wants_indices and torch.is_grad_enabled() and input.requires_grad:
        # One element of each window gets its gradient: the first of the largest.
        index = _max_pool(input.detach(), rank, kernel_size, stride, padding, dilation, ceil_mode, True)[1]
        return torch.gather(input.flatten(-rank), -1, index.flatten(-rank)).reshape(index.shape)
    kernel = _each(kernel_size, rank)
    _check_windows(input, rank, kernel, _each(stride, rank) or kernel, _each(padding, rank), _each(dilation, rank), ceil_mode)
    if not wants_indices:
        best = _max_in_parts(input, kernel, _each(stride, rank) or kernel, _each(padding, rank), _each(dilation, rank), ceil_mode)
        if best is not None:
            return best
    windows = _Windows(input, kernel, _each(stride, rank) or kernel, _each(padding, rank), _each(dilation, rank), ceil_mode, _lowest(input.dtype))
    if not wants_indices and windows.is_large():
        return windows.by_dims(torch.maximum, lambda x: torch.amax(x, [-1]))
    places = windows.places()
    if wants_indices:
        known = [*windows.sizes, *windows.out, *windows.kernel, *windows.stride, *windows.padding, *windows.dilation]
        if input.is_cuda and F._product(windows.kernel) <= 9 and all(_is_known(n) for n in known) and any(windows.padding):
            parts = []
            # No padding is stored.
            _by_places(input, windows.kernel, windows.stride, windows.padding, windows.dilation, windows.out, _lowest(input.dtype), lambda best, part, place: parts.append((place, part)))
            return _max_with_places(windows, parts)
        return _max_with_places(windows, [(place, windows.at(place)) for place in places])
    best = windows.at(places[0])
    for place in places[1:]:
        best = torch.maximum(best, windows.at(place))
    return best.clone() if len(places) == 1 else best


def _max_with_places(windows, parts):
    """Of what the windows have at each place: the largest and where it lies in its plane, the first of equal ones, the last NaN.
    Counted from where the window's first place would be, so that nothing but a number is chosen between."""
    apart = [windows.dilation[d] * F._product(windows.sizes[d + 1 :]) for d in range(windows.rank)]
    begin = windows.position([0] * windows.rank)
    # A window may begin in the padding: its first element stands for it where all are the lowest number.
    first = 0
    for d in range(windows.rank):
        along = torch.arange(windows.out[d]) * windows.stride[d] - windows.padding[d]
        skipped = torch.clamp((windows.dilation[d] - 1 - along) // windows.dilation[d], min=0)
        first = first + (skipped * apart[d]).reshape([-1] + [1] * (windows.rank - 1 - d))
    best, offset = None, None
    for place, part in parts:
        if best is None:
            best, offset = part, first.expand(part.shape)
            continue
        better = part > best
        if part.dtype.is_floating_point:
            better = better | (part != part)
        offset = torch.where(better, sum(i * step for i, step in zip(place, apart)), offset)
        best = torch.maximum(best, part)
    return best.clone(memory_format=torch.contiguous_format), offset + begin


@_aten("aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor")
def _max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 1, kernel_size, stride, padding, dilation, ceil_mode, False)


@_aten("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor")
def _max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode, False)


@_aten("aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor")
def _max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode, False)


def _with_indices(self, rank, kernel_size, stride, padding, dilation, ceil_mode):
    if torch.is_grad_enabled() and self.requires_grad:
        values = _max_pool(self, rank, kernel_size, stride, padding, dilation, ceil_mode, False)
        return values, _max_pool(self.detach(), rank, kernel_size, stride, padding, dilation, ceil_mode, True)[1]
    return _max_pool(self, rank, kernel_size, stride, padding, dilation, ceil_mode, True)


@_aten("aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 1, kernel_size, stride, padding, dilation, ceil_mode)


@_aten("aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


@_aten("aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


def _avg_pool(input, rank, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel = _each(kernel_size, rank)
    stride, padding = _each(stride, rank) or kernel, _each(padding, rank)
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    windows = _Windows(wide, kernel, stride, padding, [1] * rank, ceil_mode, 0)
    by_places = input.is_cuda and any(_is_known(p) and p != 0 for p in padding) and F._product(kernel) <= 9
    if by_places and all(_is_known(n) for n in [*input.shape[-rank:], *windows.out, *kernel, *stride, *padding]):
        # No padding is stored, and 16-bit elements are read as they lie.
        total = _by_places(input, kernel, stride, padding, [1] * rank, windows.out, 0, lambda sum, part, place: part.to(wide.dtype) if sum is None else sum + part.to(wide.dtype))
    elif windows.is_large():
        total = windows.by_dims(torch.add, lambda x: torch.sum(x, [-1]))
    else:
        places = windows.places()
        total = windows.at(places[0])
        for place in places[1:]:
            total = total + windows.at(place)
    if divisor_override is not None:
        return (total / divisor_override).to(input.dtype)
    padded = any(p != 0 for p in padding)
    if not ceil_mode and (count_include_pad or not padded):
        return (total / F._product(kernel)).to(input.dtype)
    count = None
    for d in range(rank):
        first = torch.arange(windows.out[d]) * stride[d] - padding[d]
        last = torch.clamp(first + kernel[d], max=windows.sizes[d] + padding[d])
        if not count_include_pad:
            last, first = torch.clamp(last, max=windows.sizes[d]), torch.clamp(first, min=0)
        along = (last - first).reshape([-1] + [1] * (rank - 1 - d))
        count = along if count is None else count * along
    return (total / count).to(input.dtype)


@_aten("aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor")
def _avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    return _avg_pool(self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@_aten("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
def _avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@_aten("aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
def _avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override).contiguous()


def _windows_along(input, dim, out):
    """Of a dim whose size is not known: the windows of an adaptive pooling in two dims behind one another, where each begins, where it ends,
    and which elements are its own. Every window is as long as the longest can be."""
    size = input.shape[dim]
    order = torch.arange(out)
    start, stop = order * size // out, ((order + 1) * size + (out - 1)) // out
    longest = (size + out - 1) // out + 1
    places = start.unsqueeze(1) + torch.arange(longest)
    inside = places < stop.unsqueeze(1)
    shape = list(input.shape)
    taken = torch.index_select(input, dim, torch.clamp(places, max=size - 1).reshape(-1)).reshape(shape[:dim] + [out, longest] + shape[dim + 1 :])
    return taken, start, stop, inside, [-1] + [1] * (input.dim() - dim - 1)


def _mean_of_windows(input, dim, out):
    taken, start, stop, inside, behind = _windows_along(input, dim, out)
    total = torch.where(inside.reshape(list(inside.shape) + behind[1:]), taken, 0.0).sum(dim + 1)
    return total / (stop - start).reshape(behind)


def _is_size(input, a, b):
    return a is b or _is_proved(input, a == b)


def _adaptive(input, output_size, reduce):
    """Each result is `reduce` of input[floor(i * n / out) : ceil((i + 1) * n / out)], one dim after another."""
    rank = len(output_size)
    sizes = list(zip(input.shape[-rank:], output_size))
    if reduce is _mean_along and rank > 1 and all(_is_known(size) and _is_known(out) and out > 1 and size % out == 0 and 0 < size // out <= 4 for size, out in sizes):
        # Small windows of one size: an ordinary pool.
        steps = [size // out for size, out in sizes]
        return (torch.ops.aten.avg_pool2d if rank == 2 else torch.ops.aten.avg_pool3d)(input, steps, steps)
    for d in range(rank):
        dim = input.dim() - rank + d
        size, out = input.shape[dim], output_size[d]
        if out is None or _is_size(input, size, out):
            continue
        if _is_known(out) and out == 1:
            input = reduce(input, dim, True)
            continue
        if not _is_known(size) or not _is_known(out):
            if _is_known(out) and _is_proved(input, size % out == 0):
                shape = list(input.shape)
                input = reduce(input.reshape(shape[:dim] + [out, size // out] + shape[dim + 1 :]), dim + 1, False)
                continue
            wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
            input = _mean_of_windows(wide, dim, out).to(input.dtype)
            continue
        if size % out == 0:
            shape = list(input.shape)
            input = reduce(input.reshape(shape[:dim] + [out, size // out] + shape[dim + 1 :]), dim + 1, False)
            continue
        parts = []
        for i in range(out):
            start, stop = i * size // out, -(-(i + 1) * size // out)
            parts.append(reduce(input.narrow(dim, start, stop - start), dim, True))
        input = torch.cat(parts, dim)
    return input


def _mean_along(input, dim, keepdim):
    return torch.mean(input, [dim], keepdim)


@_aten("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
def _adaptive_avg_pool1d(self, output_size):
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
def _adaptive_avg_pool2d(self, output_size):
    # Over all places at once, as PyTorch does.
    if all(_is_known(size) and size == 1 for size in output_size):
        return torch.mean(self, [-2, -1], True)
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
def _adaptive_avg_pool2d_core(self, output_size):
    return _adaptive_avg_pool2d(self, output_size)


@_aten("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
def _adaptive_avg_pool3d(self, output_size):
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
def _adaptive_avg_pool3d_core(self, output_size):
    return _adaptive(self, output_size, _mean_along)


def _adaptive_max_along(input, index, dim, out, inner):
    """The best of each window along a dim whose size is not known. `index` has the places of what later dims have left, and a step
    of this dim is `inner` places."""
    taken, start, _, inside, behind = _windows_along(input, dim, out)
    taken = torch.where(inside.reshape(list(inside.shape) + behind[1:]), taken, _lowest(input.dtype))
    values, which = torch.ops.aten.max.dim(taken, dim + 1, False)
    place = (start.reshape(behind) + which) * inner
    if index is None:
        return values, place
    rest = torch.gather(_windows_along(index, dim, out)[0], dim + 1, which.unsqueeze(dim + 1)).squeeze(dim + 1)
    return values, place + rest


def _adaptive_max(input, output_size, rank):
    """Each window is gathered into one dim, whose largest element and its place are taken."""
    lead = list(input.shape[:-rank])
    sizes, windows = list(input.shape[-rank:]), [[0]]
    outs = [size if out is None else out for out, size in zip(output_size, sizes)]
    if not all(_is_known(n) for n in sizes + outs):
        index, inner = None, 1
        for d in reversed(range(rank)):
            input, index = _adaptive_max_along(input, index, len(lead) + d, outs[d], inner)
            inner = inner * sizes[d]
        return input, index
    for size, out in zip(sizes, outs):
        spans = [list(range(i * size // out, -(-(i + 1) * size // out))) for i in range(out)]
        windows = [[p * size + q for p in window for q in span] for window in windows for span in spans]
    longest = max([len(w) for w in windows])
    # A shorter window repeats its first element, which changes neither the largest nor the first place of it.
    places = torch.tensor([w + [w[0]] * (longest - len(w)) for w in windows])
    flat = input.reshape(lead + [-1])
    taken = torch.index_select(flat, len(lead), places.reshape(-1)).reshape(lead + [len(windows), longest])
    values, which = torch.ops.aten.max.dim(taken, -1, False)
    index = torch.gather(places.expand(lead + [len(windows), longest]), len(lead) + 1, which.unsqueeze(-1)).squeeze(-1)
    return values.reshape(lead + outs), index.reshape(lead + outs)


@_aten("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool1d(self, output_size):
    return _adaptive_max(self, output_size, 1)


@_aten("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool2d(self, output_size):
    return _adaptive_max(self, output_size, 2)


@_aten("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool3d(self, output_size):
    return _adaptive_max(self, output_size, 3)
