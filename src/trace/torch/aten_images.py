# SPDX-License-Identifier: Apache-2.0
# --- resampling beyond the linear; part of aten.py's namespace


def _nearest_exact(input, rank, output_size, scales):
    for d in range(rank):
        dim = input.dim() - rank + d
        size, out, scale = input.shape[dim], output_size[d], scales[d]
        step = size / out if scale is None or scale <= 0 else 1.0 / scale
        place = torch.floor((torch.arange(out, dtype=torch.float32) + 0.5) * step).to(torch.int64)
        input = torch.index_select(input, dim, torch.clamp(place, max=size - 1))
    return input


@_aten("aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _nearest_exact1d(input, output_size, scale_factors):
    return _nearest_exact(input, 1, _resampled_size(input, 1, output_size, scale_factors), scale_factors or [None])


@_aten("aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _nearest_exact2d(input, output_size, scale_factors):
    return _nearest_exact(input, 2, _resampled_size(input, 2, output_size, scale_factors), scale_factors or [None] * 2)


@_aten("aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _nearest_exact3d(input, output_size, scale_factors):
    return _nearest_exact(input, 3, _resampled_size(input, 3, output_size, scale_factors), scale_factors or [None] * 3)


@_aten("aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor")
def _nearest_exact1d_core(self, output_size, scales):
    return _nearest_exact(self, 1, output_size, [scales])


@_aten("aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor")
def _nearest_exact2d_core(self, output_size, scales_h, scales_w):
    return _nearest_exact(self, 2, output_size, [scales_h, scales_w])


@_aten("aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor")
def _nearest_exact3d_core(self, output_size, scales_d, scales_h, scales_w):
    return _nearest_exact(self, 3, output_size, [scales_d, scales_h, scales_w])


@_aten("aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor")
def _upsample_linear1d_core(self, output_size, align_corners, scales):
    return _linear(self, 1, output_size, align_corners, [scales])


@_aten("aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_trilinear3d_core(self, output_size, align_corners, scales_d, scales_h, scales_w):
    return _linear(self, 3, output_size, align_corners, [scales_d, scales_h, scales_w])


def _step(size, out, align_corners, scale):
    """How far apart the places of two results lie."""
    if align_corners:
        if _is_known(out):
            return (size - 1) / (out - 1) if out != 1 else 0.0
        # Of one result alone as well, which lies at the first element.
        return (size - 1) / max(out - 1, 1) * min(out - 1, 1)
    return size / out if scale is None or scale <= 0 else 1.0 / scale


def _cubic_weights(share, a):
    """Of the four elements around a place that lies `share` behind the second."""

    def near(x):
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0

    def far(x):
        return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a

    return far(share + 1.0), near(share), near(1.0 - share), far(2.0 - share)


def _cubic(input, output_size, align_corners, scales):
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    for d in (1, 0):
        dim, size, out = input.dim() - 2 + d, input.shape[input.dim() - 2 + d], output_size[d]
        at = torch.arange(out, dtype=_place_type(input))
        step = _step(size, out, align_corners, scales[d])
        place = at * step if align_corners else (at + 0.5) * step - 0.5
        low = torch.floor(place)
        total = None
        for i, weight in enumerate(_cubic_weights(place - low, -0.75)):
            index = torch.clamp(low.to(torch.int64) + (i - 1), 0, size - 1)
            part = torch.index_select(wide, dim, index) * weight.to(wide.dtype).reshape([-1] + [1] * (1 - d))
            total = part if total is None else total + part
        wide = total
    return wide.to(input.dtype)


@_aten("aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_bicubic2d(input, output_size, align_corners, scale_factors):
    return _cubic(input, _resampled_size(input, 2, output_size, scale_factors), align_corners, scale_factors or [None] * 2)


@_aten("aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_bicubic2d_core(self, output_size, align_corners, scales_h, scales_w):
    return _cubic(self, output_size, align_corners, [scales_h, scales_w])


def _spread(size, out, step, dtype):
    """What a window is widened by where elements are left out."""
    if _is_known(size) and _is_known(out):
        return max(step, 1.0)
    # Sizes that differ from call to call decide when the program runs.
    return torch.clamp(torch.full((), step, dtype=dtype), min=1.0)


def _antialiased(input, output_size, align_corners, scales, reach, window):
    """Each result is a weighted mean of what its window covers: a product with a matrix for each dim."""
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    for d in (1, 0):
        dim, size, out = input.dim() - 2 + d, input.shape[input.dim() - 2 + d], output_size[d]
        step = _step(size, out, align_corners, scales[d])
        spread = _spread(size, out, step, _place_type(input))
        centre = ((torch.arange(out, dtype=_place_type(input)) + 0.5) * step).unsqueeze(1)
        at = torch.arange(size, dtype=_place_type(input)).unsqueeze(0)
        first = torch.clamp(torch.trunc(centre - reach * spread + 0.5), min=0.0)
        last = torch.clamp(torch.trunc(centre + reach * spread + 0.5), max=float(size))
        weights = torch.where((at >= first) & (at < last), window((at - centre + 0.5) / spread), 0.0)
        weights = (weights / weights.sum(1, True)).to(wide.dtype)
        wide = torch.matmul(wide, weights.t()) if d == 1 else torch.matmul(weights, wide)
    return wide.to(input.dtype)


def _triangle_window(x):
    return torch.clamp(1.0 - torch.abs(x), min=0.0)


def _cubic_window(x):
    x = torch.abs(x)
    a = -0.5
    return torch.where(x < 1.0, ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0, torch.where(x < 2.0, (((x - 5.0) * x + 8.0) * x - 4.0) * a, 0.0))


@_aten("aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _bilinear2d_aa(input, output_size, align_corners, scale_factors):
    return _antialiased(input, _resampled_size(input, 2, output_size, scale_factors), align_corners, scale_factors or [None] * 2, 1.0, _triangle_window)


@_aten("aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor")
def _bilinear2d_aa_core(self, output_size, align_corners, scales_h, scales_w):
    return _antialiased(self, output_size, align_corners, [scales_h, scales_w], 1.0, _triangle_window)


@_aten("aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _bicubic2d_aa(input, output_size, align_corners, scale_factors):
    return _antialiased(input, _resampled_size(input, 2, output_size, scale_factors), align_corners, scale_factors or [None] * 2, 2.0, _cubic_window)


@_aten("aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor")
def _bicubic2d_aa_core(self, output_size, align_corners, scales_h, scales_w):
    return _antialiased(self, output_size, align_corners, [scales_h, scales_w], 2.0, _cubic_window)


# --- sampling at computed places


def _unnormalized(at, size, align_corners):
    return (at + 1.0) * ((size - 1) / 2) if align_corners else ((at + 1.0) * size - 1.0) / 2


def _bordered(at, size, padding_mode, align_corners):
    """Places beyond the borders, brought back as the mode says; NaN becomes 0 there, as in PyTorch."""
    if padding_mode == 0:
        return at
    if padding_mode == 2:
        low, span = (0.0, size - 1) if align_corners else (-0.5, size)
        if _is_known(span) and span == 0:
            return at * 0.0
        distance = torch.abs(at - low)
        turns = torch.floor(distance / span)
        extra = distance - turns * span
        at = torch.where(torch.remainder(turns, 2.0) == 0.0, extra + low, span - extra + low)
    return torch.clamp(torch.where(at == at, at, 0.0), 0, size - 1)


def _whole_place(place, size):
    """Whether the place is inside, and the whole number that it is, 0 outside."""
    within = (place >= 0) & (place <= size - 1)
    return within, torch.where(within, place, 0.0).to(torch.int32)


def _sampled(flat, places, sizes, lead):
    """The elements at _whole_place()s, which have a dim of one where the channels are; 0 outside."""
    inside, index = None, None
    wide = not all(_is_known(size) for size in sizes) or F._product(sizes) >= 2**31
    for (within, whole), size in zip(places, sizes):
        inside = within if inside is None else inside & within
        whole = whole.to(torch.int64) if wide else whole
        index = whole if index is None else index * size + whole
    n, c = flat.shape[0], flat.shape[1]
    index = index.to(torch.int64)
    if flat.requires_grad:
        # The gradient adds up where the elements lie, each once.
        index = index.reshape(n, 1, -1)
        taken = torch.gather(flat, 2, index.expand(n, c, index.shape[2])).reshape([n, c] + lead)
    else:
        # A gather in the shape of the result is computed with what is in front of it and behind.
        rows = flat.reshape([n, c] + [1] * (len(lead) - 1) + [flat.shape[2]])
        taken = torch.gather(rows.expand([n, c] + lead[:-1] + [flat.shape[2]]), -1, index.expand([n, c] + lead))
        taken = taken.float() if taken.dtype in (torch.float16, torch.bfloat16) else taken
    return torch.where(inside, taken, 0.0)


def _grid_sampled(input, grid, interpolation_mode, padding_mode, align_corners):
    rank = input.dim() - 2
    if grid.dim() != input.dim() or (isinstance(grid.shape[-1], int) and grid.shape[-1] != rank):
        raise RuntimeError(f"grid_sampler(): expected grid to have size {rank} in last dimension, but got grid with sizes {list(grid.shape)}")
    kept = input.dtype
    if kept in (torch.float16, torch.bfloat16):
        # Elements are widened where they are taken, or once, where gradients add up in them.
        input, grid = input.float() if input.requires_grad else input, grid.float()
    flat = input.reshape(input.shape[0], input.shape[1], -1)
    sizes, lead = list(input.shape[2:]), list(grid.shape[1:-1])
    # The grid's last dim counts from the innermost.
    places = [_unnormalized(grid[..., rank - 1 - d].unsqueeze(1), sizes[d], align_corners) for d in range(rank)]

    def whole(spots):
        return [_whole_place(spot, size) for spot, size in zip(spots, sizes)]

    def at(spots):
        return _sampled(flat, spots, sizes, lead)

    def bordered(spots):
        return [_bordered(spot, size, padding_mode, align_corners) for spot, size in zip(spots, sizes)]

    if interpolation_mode == 1:
        return at(whole([torch.round(place) for place in bordered(places)])).to(kept)
    if interpolation_mode == 0:
        places = bordered(places)
        lows = [torch.floor(place) for place in places]
        shares = [place - low for place, low in zip(places, lows)]
        corners = [whole(lows), whole([low + 1 for low in lows])]
        total = None
        for corner in range(2**rank):
            ups = [(corner >> (rank - 1 - d)) & 1 for d in range(rank)]
            part = at([corners[up][d] for d, up in enumerate(ups)])
            for share, up in zip(shares, ups):
                part = part * (share if up else 1.0 - share)
            total = part if total is None else total + part
        return total.to(kept)
    if rank != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    lows = [torch.floor(place) for place in places]
    weights = [_cubic_weights(place - low, -0.75) for place, low in zip(places, lows)]
    spots = [whole(bordered([low + (i - 1) for low in lows])) for i in range(4)]
    total = None
    for i in range(4):
        line = None
        for j in range(4):
            part = at([spots[i][0], spots[j][1]]) * weights[1][j]
            line = part if line is None else line + part
        total = line * weights[0][i] if total is None else total + line * weights[0][i]
    return total.to(kept)


@_aten("aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor")
def _grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    return _grid_sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@_aten("aten::_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor")
def _grid_sampler_2d_fallback(input, grid, interpolation_mode, padding_mode, align_corners):
    return _grid_sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@_aten("aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor")
def _grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    return _grid_sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@_aten("aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor")
def _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return _grid_sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@_aten("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor")
def _affine_grid_generator(theta, size, align_corners):
    rank = len(size) - 2
    sizes = list(size)[2:]
    rows = []
    for d in reversed(range(rank)):
        line = torch.zeros([1]) if isinstance(sizes[d], int) and sizes[d] <= 1 else F.linspace(-1.0, 1.0, sizes[d])
        if not align_corners:
            line = line * ((sizes[d] - 1) / sizes[d])
        rows.append(line.to(theta.dtype).reshape([-1 if e == d else 1 for e in range(rank)]).expand(sizes))
    rows.append(torch.ones(sizes, dtype=theta.dtype))
    base = torch.stack(rows, -1).reshape([1, -1, rank + 1]).expand([theta.shape[0], -1, rank + 1])
    return torch.bmm(base, theta.transpose(1, 2)).reshape([theta.shape[0]] + sizes + [rank])


@_aten("aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor")
def _max_unpool2d(self, indices, output_size):
    return _unpooled(self, indices, output_size)


@_aten("aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor")
def _max_unpool3d(self, indices, output_size, stride, padding):
    return _unpooled(self, indices, output_size)


def _unpooled(input, indices, output_size):
    rank = len(output_size)
    lead = list(input.shape[:-rank])
    whole = torch.zeros(lead + [F._product(output_size)], dtype=input.dtype)
    filled = torch.ops.aten.scatter.src(whole, len(lead), indices.reshape(lead + [-1]), input.reshape(lead + [-1]))
    return filled.reshape(lead + list(output_size))


# --- losses and layers that PyTorch has as operators


@_aten("aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor")
def _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim):
    # `unroll_dim` says what PyTorch goes through one by one, and changes no value.
    factors = []
    for factor, expand in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in expand:
            factor = factor.unsqueeze(dim)
        factors.append(factor)
    return torch.sum(factors[0] * factors[1] * factors[2], list(sumdim))


@_aten("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
def _bilinear(input1, input2, weight, bias):
    lead = list(input1.shape[:-1])
    a, b = input1.reshape([-1, input1.shape[-1]]), input2.reshape([-1, input2.shape[-1]])
    outs, m, n = weight.shape[0], weight.shape[1], weight.shape[2]
    # For each row the products with all of the weight's matrices, then with the other row.
    left = torch.matmul(a, torch.permute(weight, [1, 0, 2]).reshape([m, -1])).reshape([-1, outs, n])
    out = (left * b.unsqueeze(1)).sum(-1)
    return (out if bias is None else out + bias).reshape(lead + [outs])


@_aten("aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor")
def _poisson_nll_loss(input, target, log_input, full, eps, reduction):
    losses = torch.exp(input) - target * input if log_input else input - target * torch.log(input + eps)
    if full:
        large = torch.where(target > 1, target, 1.0)
        stirling = large * torch.log(large) - large + 0.5 * torch.log(2 * math.pi * large)
        losses = losses + torch.where(target > 1, stirling, 0.0)
    return _reduced(losses, reduction)


@_aten("aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor")
def _multi_margin_loss(self, target, p, margin, weight, reduction):
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows, classes = (self, target) if self.dim() > 1 else (self.reshape(1, -1), target.reshape(1))
    torch._check_range(classes, 0, rows.shape[1], "RuntimeError", "target out of range")
    own = torch.gather(rows, 1, classes.unsqueeze(1))
    losses = torch.clamp(margin - own + rows, min=0)
    losses = losses * losses if p == 2 else losses
    if weight is not None:
        losses = losses * weight[classes].unsqueeze(1)
    others = torch.arange(rows.shape[1]).unsqueeze(0) != classes.unsqueeze(1)
    losses = torch.where(others, losses, 0.0).sum(1) / rows.shape[1]
    return _reduced(losses if self.dim() > 1 else losses.reshape([]), reduction)


def _multilabel_margin(input, target):
    """The losses of each row, and which classes are labels; labels end at the first -1."""
    rows, labels = (input, target) if input.dim() > 1 else (input.reshape(1, -1), target.reshape(1, -1))
    count = rows.shape[1]
    listed = torch.cumsum((labels < 0).to(torch.int64), 1) == 0
    places = torch.where(listed, labels, 0)
    are = torch.ops.aten.scatter_add.default(torch.zeros_like(rows), 1, places, listed.to(rows.dtype)) > 0
    own = torch.gather(rows, 1, places)
    apart = torch.clamp(1 - (own.unsqueeze(2) - rows.unsqueeze(1)), min=0)
    counted = listed.unsqueeze(2) & torch.logical_not(are).unsqueeze(1)
    losses = torch.where(counted, apart, 0.0).sum([1, 2]) / count
    return (losses if input.dim() > 1 else losses.reshape([])), are.to(input.dtype).reshape(input.shape)


@_aten("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _multilabel_margin_loss(self, target, reduction):
    return _reduced(_multilabel_margin(self, target)[0], reduction)


@_aten("aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)")
def _multilabel_margin_loss_forward(self, target, reduction):
    losses, are = _multilabel_margin(self, target)
    return _reduced(losses, reduction), are


def _ctc(log_probs, targets, input_lengths, target_lengths, blank, longest):
    """The negative logarithm of the probability of each target, by the forward recursion over its letters with blanks between."""
    steps, batch = log_probs.shape[0], log_probs.shape[1]
    if not _is_known(steps):
        raise NotImplementedError(f"ctc_loss over the dynamic length {steps}; make that size static")
    if targets.dim() == 1:
        starts = torch.cumsum(target_lengths, 0) - target_lengths
        places = torch.clamp(starts.unsqueeze(1) + torch.arange(longest), max=targets.shape[0] - 1)
        targets = torch.index_select(targets, 0, places.reshape(-1)).reshape(batch, longest)
    none = float("-inf")
    blanks = torch.full([batch, longest], blank, dtype=torch.int64)
    letters = torch.stack([blanks, targets.to(torch.int64)], 2).reshape(batch, -1)
    letters = torch.cat([letters, torch.full([batch, 1], blank, dtype=torch.int64)], 1)
    width = 2 * longest + 1
    letters = torch.where(torch.arange(width) < (2 * target_lengths + 1).unsqueeze(1), letters, blank)
    # A letter may follow the one before the blank if that is another.
    skips = F.pad((letters[:, 2:] != letters[:, :-2]) & (letters[:, 2:] != blank), [2, 0], value=False)
    alpha = None
    for t in range(steps):
        said = torch.gather(log_probs[t], 1, letters)
        if t == 0:
            alpha = torch.where(torch.arange(width) < 2, said, none)
            continue
        one = F.pad(alpha[:, :-1], [1, 0], value=none)
        two = torch.where(skips, F.pad(alpha, [2, 0], value=none)[:, :width], none)
        top = torch.maximum(torch.maximum(alpha, one), two)
        # What no path leads to has no logarithm, nor a slope.
        is_reached = top != none
        base = torch.where(is_reached, top, 0.0)
        total = torch.exp(alpha - base) + torch.exp(one - base) + torch.exp(two - base)
        total = torch.where(is_reached, torch.log(torch.where(is_reached, total, 1.0)) + base, none)
        alpha = torch.where((t < input_lengths).unsqueeze(1), total + said, alpha)
    ends = torch.gather(alpha, 1, (2 * target_lengths).unsqueeze(1)).squeeze(1)
    before = torch.gather(alpha, 1, torch.clamp(2 * target_lengths - 1, min=0).unsqueeze(1)).squeeze(1)
    return -F.logaddexp(ends, torch.where(target_lengths > 0, before, none)), alpha


def _ctc_reduced(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity, longest):
    single = log_probs.dim() == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        input_lengths, target_lengths = input_lengths.reshape(1), target_lengths.reshape(1)
        targets = targets.reshape(1, -1)
    losses = _ctc(log_probs, targets, input_lengths, target_lengths, blank, longest)[0]
    if log_probs.requires_grad:
        # PyTorch's gradient is that of what log_softmax was given: by each of the steps that are read, the probabilities come to it. They add nothing.
        likely = torch.exp(log_probs.detach())
        own = torch.where(likely > 0, log_probs - log_probs.detach(), 0.0) * likely
        read = torch.arange(log_probs.shape[0]).unsqueeze(1) < input_lengths
        losses = losses + torch.where(read.unsqueeze(2), own, 0.0).sum([0, 2])
    if zero_infinity:
        losses = torch.where(losses == float("inf"), 0.0, losses)
    if reduction == 1:
        return (losses / torch.clamp(target_lengths, min=1).to(losses.dtype)).mean()
    return losses.sum() if reduction == 2 else losses.reshape([]) if single else losses


@_aten("aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")
def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    longest = targets.shape[-1] if targets.dim() == 2 or log_probs.dim() == 2 else max(list(target_lengths) + [0])
    inputs, letters = torch.tensor(list(input_lengths)), torch.tensor(list(target_lengths))
    return _ctc_reduced(log_probs, targets, inputs, letters, blank, reduction, zero_infinity, longest)


@_aten("aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")
def _ctc_loss_tensor(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    return _ctc_reduced(log_probs, targets, input_lengths.to(torch.int64), target_lengths.to(torch.int64), blank, reduction, zero_infinity, targets.shape[-1])


@_aten("aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)")
def _ctc_loss_core(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    longest = targets.shape[-1] if targets.dim() == 2 else max(list(target_lengths) + [0])
    losses, alpha = _ctc(log_probs, targets, torch.tensor(list(input_lengths)), torch.tensor(list(target_lengths)), blank, longest)
    return losses, alpha.unsqueeze(1)


@_aten("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor")
def _pdist_forward(self, p):
    count = self.shape[0]
    if not _is_known(count):
        raise NotImplementedError(f"pdist of a dynamic number of rows, {count}; make that size static")
    first = torch.tensor([i for i in range(count) for j in range(i + 1, count)], dtype=torch.int64)
    second = torch.tensor([j for i in range(count) for j in range(i + 1, count)], dtype=torch.int64)
    return F.norm(torch.index_select(self, 0, first) - torch.index_select(self, 0, second), p, [1])


@_aten("aten::pdist(Tensor self, float p=2) -> Tensor")
def _pdist(self, p):
    return _pdist_forward(self, p)


# --- convolutions


def _convolution_same(input, weight, bias=None, stride=1, padding="same", dilation=1, groups=1, _name=None):
    """Where padding='same' is uneven, the zero more stands at the end. None where it is even, and where it is refused."""
    rank = weight.dim() - 2
    kernel = list(weight.shape[2:])
    dilation = [dilation] * rank if isinstance(dilation, int) else list(dilation) * (rank // len(dilation))
    stride = [stride] * rank if isinstance(stride, int) else list(stride) * (rank // len(stride))
    if not all(_is_known(k) for k in kernel) or any(s != 1 for s in stride):
        return None
    total = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if not any(t % 2 for t in total):
        return None
    ends = []
    for t in reversed(total):
        ends += [0, t % 2]
    packet = getattr(torch.ops.aten, _name)
    return packet(torch.ops.aten.constant_pad_nd.default(input, ends, 0), weight, bias, stride, [t // 2 for t in total], dilation, groups)


def _for_each(value, rank):
    return [value] * rank if isinstance(value, int) else list(value) * (rank // len(value))


def _met_by_places(x, weight, bias, stride, dilation, groups):
    """The sum over the places of a kernel of what it meets there, in the integers' own type: x has its edges."""
    rank = weight.dim() - 2
    batch, channels, filters = x.shape[0], weight.shape[1], weight.shape[0] // groups
    counts = [(x.shape[2 + d] - dilation[d] * (weight.shape[2 + d] - 1) - 1) // stride[d] + 1 for d in range(rank)]
    places = [[]]
    for d in range(rank):
        places = [place + [k] for place in places for k in range(weight.shape[2 + d])]
    total = torch.zeros([batch, groups, filters] + counts, dtype=x.dtype)
    for place in places:
        met, own = x, weight
        for d, k in enumerate(place):
            begin = k * dilation[d]
            met = torch.ops.aten.slice.Tensor(met, 2 + d, begin, begin + (counts[d] - 1) * stride[d] + 1, stride[d])
            own = own.select(2, k)
        met = met.reshape([batch, groups, 1, channels] + counts)
        own = own.reshape([1, groups, filters, channels] + [1] * rank)
        total = total + torch.sum(met * own, [3], dtype=x.dtype)
    total = total.reshape([batch, groups * filters] + counts)
    return total if bias is None else total + bias.reshape([1, -1] + [1] * rank)


def _convolution_of_integers(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    rank = weight.dim() - 2
    single = input.dim() == rank + 1
    x = input.unsqueeze(0) if single else input
    stride, dilation = _for_each(stride, rank), _for_each(dilation, rank)
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if isinstance(padding, str):
        ends = [(0, 0)] * rank if padding == "valid" else [(t // 2, t - t // 2) for t in totals]
    else:
        ends = [(p, p) for p in _for_each(padding, rank)]
    x = torch.ops.aten.constant_pad_nd.default(x, [end for pair in reversed(ends) for end in pair], 0)
    found = _met_by_places(x, weight, bias, stride, dilation, groups)
    return found.squeeze(0) if single else found


def _transposed_of_integers(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """A convolution of the turned kernel over what has zeros between its elements."""
    rank = weight.dim() - 2
    single = input.dim() == rank + 1
    x = input.unsqueeze(0) if single else input
    stride, padding, more, dilation = (_for_each(v, rank) for v in (stride, padding, output_padding, dilation))
    ends = []
    for d in range(rank):
        size = x.shape[2 + d]
        apart = torch.ops.aten.constant_pad_nd.default(x.unsqueeze(3 + d), [0, 0] * (rank - d - 1) + [0, stride[d] - 1], 0)
        x = apart.reshape(list(x.shape[: 2 + d]) + [size * stride[d]] + list(x.shape[3 + d :]))
        edge = dilation[d] * (weight.shape[2 + d] - 1) - padding[d]
        ends = [edge, edge + more[d] - (stride[d] - 1)] + ends
    x = torch.ops.aten.constant_pad_nd.default(x, ends, 0)
    turned = weight.flip(list(range(2, 2 + rank))).reshape([groups, weight.shape[0] // groups] + list(weight.shape[1:])).transpose(1, 2)
    turned = turned.reshape([groups * weight.shape[1], weight.shape[0] // groups] + list(weight.shape[2:]))
    found = _met_by_places(x, turned, bias, [1] * rank, dilation, groups)
    return found.squeeze(0) if single else found


def _any_convolution_of_integers(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return _transposed_of_integers(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolution_of_integers(input, weight, bias, stride, padding, dilation, groups)
