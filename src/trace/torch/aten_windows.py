# SPDX-License-Identifier: Apache-2.0
# --- neighbours in a type, segments, counts of bins and windows at drawn places; part of aten.py's namespace


@_aten("aten::nextafter(Tensor self, Tensor other) -> Tensor")
def _nextafter(self, other):
    kept = torch.result_type(self, other)
    whole = {torch.float64: torch.int64, torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}[kept]
    shape = F.broadcast_shapes(self.shape, other.shape)
    x, y = self.to(kept).expand(shape).clone(), other.to(kept).expand(shape).clone()
    bits = x.view(whole)
    away = (y > x) == (x > 0)
    stepped = torch.where(away, bits + 1, bits - 1)
    # From 0 to the smallest number of the other's sign: bit patterns of 1 and of the sign and 1.
    sign = {torch.int64: -(2**63), torch.int32: -(2**31), torch.int16: -(2**15)}[whole]
    stepped = torch.where(x == 0, torch.where(y > 0, 1, sign + 1), stepped).to(whole)
    found = torch.where(x == y, y, stepped.view(kept))
    return torch.where(torch.isnan(x) | torch.isnan(y), float("nan"), found).to(kept)


@_aten("aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _logspace_tensors(start, end, steps, base, dtype, layout, device, pin_memory):
    start, end = (t.to(torch.float64) if isinstance(t, torch.Tensor) else t for t in (start, end))
    if dtype is not None and not dtype.is_floating_point:
        # Of whole numbers PyTorch rounds the ends and the steps between them, too.
        start, end = (torch.trunc(t) if isinstance(t, torch.Tensor) else math.trunc(t) for t in (start, end))
    return torch.pow(float(base), _line_of(start, end, steps, torch.float64, device)).to(torch.get_default_dtype() if dtype is None else dtype)


@_aten("aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _logspace_tensor_scalar(start, end, steps, base, dtype, layout, device, pin_memory):
    return _logspace_tensors(start, end, steps, base, dtype, layout, device, pin_memory)


@_aten("aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _logspace_scalar_tensor(start, end, steps, base, dtype, layout, device, pin_memory):
    return _logspace_tensors(start, end, steps, base, dtype, layout, device, pin_memory)


@_aten("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor")
def _chunk_cat(tensors, dim, num_chunks):
    """Each tensor's dim is filled up with zeros to `num_chunks` equal parts; the parts of all of them lie beside each other."""
    dim = F._wrapped(dim, tensors[0].dim())
    lead, parts = list(tensors[0].shape[:dim]), []
    for t in tensors:
        size = t.shape[dim]
        missing = -size % num_chunks
        rest = list(t.shape[dim + 1 :])
        if missing:
            t = torch.cat([t, torch.zeros(lead + [missing] + rest, dtype=t.dtype)], dim)
        parts.append(t.reshape(lead + [num_chunks, -1]))
    return torch.cat(parts, dim + 1)


# --- segments


@_aten("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor")
def _segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial):
    """Rows along `axis`, a run of them for each segment. What is before, a segment has begun there or it has ended."""
    if indices is not None:
        raise NotImplementedError("segment_reduce() with indices, as in PyTorch")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    neutral = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
    if reduce not in neutral:
        raise RuntimeError(f"segment_reduce(): unsupported reduction '{reduce}'")
    if lengths is not None:
        ends = torch.cumsum(lengths.to(torch.int64), -1)
        begins = ends - lengths.to(torch.int64)
    else:
        wide = offsets.to(torch.int64)
        begins, ends = wide[..., :-1], wide[..., 1:]
    row = torch.arange(data.shape[axis])
    member = torch.logical_and(row >= begins.unsqueeze(-1), row < ends.unsqueeze(-1))
    # [lead, segments, rows, rest]
    inner = data.dim() - axis - 1
    member = member.reshape(list(member.shape) + [1] * inner)
    chosen = torch.where(member, _wide(data).unsqueeze(axis), neutral[reduce])
    along = axis + 1
    if reduce == "prod":
        found = torch.prod(chosen, along)
    elif reduce in ("sum", "mean"):
        found = chosen.sum([along])
    elif data.shape[axis] is 0:
        found = chosen.sum([along]) + neutral[reduce]
    else:
        found = torch.amax(chosen, [along]) if reduce == "max" else torch.amin(chosen, [along])
    count = (ends - begins).reshape(list(begins.shape) + [1] * inner)
    if initial is not None:
        start = float(initial)
        found = found * start if reduce == "prod" else found + start if reduce in ("sum", "mean") else torch.clamp(found, min=start) if reduce == "max" else torch.clamp(found, max=start)
    if reduce == "mean":
        empty = float("nan") if initial is None else found
        found = torch.where(count == 0, empty, found / torch.clamp(count, min=1))
    return found.to(data.dtype)


# --- counts of bins


def _counts_between(self, edges, weight, density):
    """How much lies between neighbouring edges; the last bin has its upper edge."""
    flat, bins = self.reshape(-1), edges.shape[0] - 1
    place = torch.searchsorted(edges.contiguous(), flat.contiguous(), right=True) - 1
    inside = torch.logical_and(flat >= edges[0], flat <= edges[-1])
    place = torch.where(inside, torch.clamp(place, max=bins - 1), bins)
    weight = torch.ones_like(flat) if weight is None else weight.reshape(-1)
    found = torch.zeros([bins + 1], dtype=self.dtype).scatter_add(0, torch.clamp(place, min=0), weight)[:bins]
    return found / (found.sum() * (edges[1:] - edges[:-1])) if density else found


@_aten("aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)")
def _histogram_edges(self, bins, weight, density):
    return _counts_between(self, bins, weight, density), bins.clone()


@_aten("aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)")
def _histogram(self, bins, range, weight, density):
    if range is not None:
        least, most = (torch.full([], end, dtype=self.dtype) for end in range)
    elif self.numel() is 0:
        least, most = torch.zeros([], dtype=self.dtype), torch.ones([], dtype=self.dtype)
    else:
        flat = self.reshape(-1)
        least, most = torch.amin(flat, [0]), torch.amax(flat, [0])
    # Where both ends are one, half a unit to each side.
    same = least == most
    least, most = torch.where(same, least - 0.5, least), torch.where(same, most + 0.5, most)
    edges = _line_of(least, most, bins + 1, self.dtype, None)
    flat = self.reshape(-1)
    # By arithmetic, as PyTorch finds the bin of equal ones, and then the neighbour where rounding went over an edge.
    place = torch.searchsorted(edges, flat.contiguous(), right=True) - 1
    inside = torch.logical_and(flat >= least, flat <= most)
    place = torch.where(inside, torch.clamp(place, 0, bins - 1), bins)
    weight = torch.ones_like(flat) if weight is None else weight.reshape(-1)
    found = torch.zeros([bins + 1], dtype=self.dtype).scatter_add(0, place, weight)[:bins]
    return found / (found.sum() * (edges[1:] - edges[:-1])) if density else found, edges


# --- windows at drawn places


def _drawn_starts(samples, size, count, window):
    """Where `count` windows begin along a dim: [lead, count]; the last one ends at its end."""
    i = torch.arange(count)
    if count == 1:
        return torch.zeros_like(i).expand(list(samples.shape) + [1]) + (size - window)
    alpha = float(size - window) / (count - 1)
    wide = samples.unsqueeze(-1)
    starts = torch.trunc((i.to(samples.dtype) + wide) * alpha).to(torch.int64) - torch.trunc(wide * alpha).to(torch.int64)
    return torch.where(i == count - 1, size - window, starts)


def _fractional_pool(self, kernel_size, output_size, random_samples):
    dims = len(kernel_size)
    if isinstance(output_size, int):
        output_size = [output_size] * dims
    batched = self.dim() == dims + 2
    x = self if batched else self.unsqueeze(0)
    lead, sizes = list(x.shape[:2]), list(x.shape[2:])
    # The samples' last place is the last dim's in two dims, and the first dim's in three.
    order = [1, 0] if dims == 2 else [0, 1, 2]
    place = torch.zeros([1] * (2 + 2 * dims), dtype=torch.int64)
    for d in range(dims):
        starts = _drawn_starts(random_samples[..., order[d]], sizes[d], output_size[d], kernel_size[d])
        own = starts.reshape(lead + [output_size[d] if e == d else 1 for e in range(dims)] + [1] * dims)
        own = own + torch.arange(kernel_size[d]).reshape([1] * (2 + dims) + [kernel_size[d] if e == d else 1 for e in range(dims)])
        place = place * sizes[d] + own
    count = 1
    for size in kernel_size:
        count = count * size
    place = place.reshape(lead + list(output_size) + [count])
    whole, windows = 1, count
    for d in range(dims):
        whole, windows = whole * sizes[d], windows * output_size[d]
    found = torch.gather(x.reshape(lead + [whole]), 2, place.reshape(lead + [windows])).reshape(place.shape)
    best = torch.argmax(found, -1, True)
    values, places = torch.gather(found, -1, best).squeeze(-1), torch.gather(place, -1, best).squeeze(-1)
    return (values, places) if batched else (values.squeeze(0), places.squeeze(0))


@_aten("aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)")
def _fractional_max_pool2d(self, kernel_size, output_size, random_samples):
    return _fractional_pool(self, kernel_size, output_size, random_samples)


@_aten("aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)")
def _fractional_max_pool3d(self, kernel_size, output_size, random_samples):
    return _fractional_pool(self, kernel_size, output_size, random_samples)
