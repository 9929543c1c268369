# SPDX-License-Identifier: Apache-2.0
# --- padding and resampling; part of aten.py's namespace


def _check_padding(before, after, size, mode, dim):
    most = size - 1 if mode == "reflect" else size
    for amount in (before, after):
        if mode != "replicate" and isinstance(amount, int) and isinstance(most, int) and amount > most:
            raise RuntimeError(f"padding by '{mode}' of {amount} elements in dim {dim}, which has {size}: at most {most} are there")
    if isinstance(size, int) and size == 0:
        raise RuntimeError(f"padding by '{mode}' takes a dim with elements, and dim {dim} has none")


def _padded_by(input, pad, mode):
    """Each dim by the elements at computed places: mirrored, repeated or from the other end."""
    whole = input
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        before, after, size = pad[2 * i], pad[2 * i + 1], input.shape[dim]
        if _is_known(before) and before == 0 and _is_known(after) and after == 0:
            continue
        if mode == "circular":
            # What is left after cropping goes around.
            first, last = (-before if before < 0 else 0), (-after if after < 0 else 0)
            input, before, after = input.narrow(dim, first, size - first - last), max(before, 0), max(after, 0)
            size = input.shape[dim]
        _check_padding(before, after, size, mode, dim)
        place = torch.arange(-before, size + after)
        if mode == "reflect":
            place = (size - 1) - torch.abs((size - 1) - torch.abs(place))
        elif mode == "replicate":
            place = torch.clamp(place, 0, size - 1)
        else:
            place = place % size
        input = torch.index_select(input, dim, place)
    # PyTorch's result has memory of its own, also where nothing is added.
    return input.clone() if input is whole else input


@_aten("aten::pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor")
def _pad(self, pad, mode, value):
    if mode == "constant":
        return F.pad(self, pad, mode, value)
    return _padded_by(self, pad, mode)


@_aten("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor")
def _constant_pad_nd(self, pad, value):
    return F.pad(self, pad, "constant", value)


@_aten("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
def _reflection_pad1d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
def _reflection_pad2d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
def _reflection_pad3d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
def _replication_pad1d(self, padding):
    return _padded_by(self, padding, "replicate")


@_aten("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
def _replication_pad2d(self, padding):
    return _padded_by(self, padding, "replicate")


@_aten("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
def _replication_pad3d(self, padding):
    return _padded_by(self, padding, "replicate")


def _resampled_size(input, rank, output_size, scale_factors):
    if output_size is not None:
        return list(output_size)
    return [int(input.shape[d - rank] * scale_factors[d]) for d in range(rank)]


def _repeats(size, out, scale):
    """How often each element stands beside itself; 0 where that is not the same for all."""
    if scale is not None and _is_known(size) and scale == int(scale) and out == size * int(scale):
        return int(scale)
    return out // size if _is_known(size) and _is_known(out) and out % size == 0 else 0


def _nearest(input, rank, output_size, scales):
    # One place that stands for all is copied, too.
    return _nearest_places(input, rank, output_size, scales).contiguous()


def _nearest_places(input, rank, output_size, scales):
    lead, sizes = list(input.shape[:-rank]), list(input.shape[-rank:])
    repeats = [_repeats(size, out, scale) for size, out, scale in zip(sizes, output_size, scales)]
    if rank > 1 and all(_is_known(size) for size in sizes) and all(count > 0 for count in repeats):
        if all(count == 1 for count in repeats):
            return input.clone()
        # All dims at once: the tensors between would be written and read again.
        apart, wide, out = [], [], []
        for size, count in zip(sizes, repeats):
            apart += [size, 1]
            wide += [size, count]
            out += [size * count]
        return input.reshape(lead + apart).expand(lead + wide).reshape(lead + out)
    for d in range(rank):
        dim = input.dim() - rank + d
        size, out, scale = input.shape[dim], output_size[d], scales[d]
        whole = scale is not None and scale == int(scale) and _is_proved(input, out == size * int(scale))
        if whole or _is_proved(input, size != 0) and _is_proved(input, out % size == 0):
            input = F.repeat_interleave(input, out // size, dim)
            continue
        step = size / out if scale is None else 1.0 / scale
        place = torch.floor(torch.arange(out, dtype=torch.float32) * step).to(torch.int64)
        input = torch.index_select(input, dim, torch.clamp(place, max=size - 1))
    return input


def _place_type(input):
    """What places and shares are computed in: as PyTorch, as exact as the elements, and no less than float32."""
    return torch.float64 if input.dtype == torch.float64 else torch.float32


def _sources(size, out, align_corners, scale, dtype):
    """For each result the two elements beside its place, and the share of the second."""
    at = torch.arange(out, dtype=dtype)
    if align_corners:
        # The place of one result alone is that of the first element, whatever the step.
        place = at * ((size - 1) / max(out - 1, 1))
    else:
        step = size / out if scale is None or scale == 0.0 else 1.0 / scale
        place = torch.clamp((at + 0.5) * step - 0.5, min=0.0)
    low = place.to(torch.int64)
    low = torch.clamp(low, max=size - 1)
    high = torch.clamp(low + 1, max=size - 1)
    return low, high, torch.clamp(place - low, 0.0, 1.0)


def _linear(input, rank, output_size, align_corners, scales):
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    for d in reversed(range(rank)):
        dim = input.dim() - rank + d
        low, high, share = _sources(input.shape[dim], output_size[d], align_corners, scales[d], _place_type(input))
        share = share.to(wide.dtype).reshape([-1] + [1] * (rank - 1 - d))
        wide = torch.index_select(wide, dim, low) * (1.0 - share) + torch.index_select(wide, dim, high) * share
    return wide.to(input.dtype)


@_aten("aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest1d(input, output_size, scale_factors):
    return _nearest(input, 1, _resampled_size(input, 1, output_size, scale_factors), scale_factors or [None])


@_aten("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest2d(input, output_size, scale_factors):
    return _nearest(input, 2, _resampled_size(input, 2, output_size, scale_factors), scale_factors or [None] * 2)


@_aten("aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest3d(input, output_size, scale_factors):
    return _nearest(input, 3, _resampled_size(input, 3, output_size, scale_factors), scale_factors or [None] * 3)


@_aten("aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor")
def _upsample_nearest1d_core(self, output_size, scales):
    return _nearest(self, 1, output_size, [scales])


@_aten("aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_nearest2d_core(self, output_size, scales_h, scales_w):
    return _nearest(self, 2, output_size, [scales_h, scales_w])


@_aten("aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_nearest3d_core(self, output_size, scales_d, scales_h, scales_w):
    return _nearest(self, 3, output_size, [scales_d, scales_h, scales_w])


@_aten("aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_linear1d(input, output_size, align_corners, scale_factors):
    return _linear(input, 1, _resampled_size(input, 1, output_size, scale_factors), align_corners, scale_factors or [None])


@_aten("aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_bilinear2d(input, output_size, align_corners, scale_factors):
    return _linear(input, 2, _resampled_size(input, 2, output_size, scale_factors), align_corners, scale_factors or [None] * 2)


@_aten("aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_trilinear3d(input, output_size, align_corners, scale_factors):
    return _linear(input, 3, _resampled_size(input, 3, output_size, scale_factors), align_corners, scale_factors or [None] * 3)


@_aten("aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_bilinear2d_core(self, output_size, align_corners, scales_h, scales_w):
    return _linear(self, 2, output_size, align_corners, [scales_h, scales_w])


# What these give has memory of its own, also where nothing moves.
@_aten("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor")
def _pixel_shuffle(self, upscale_factor):
    r = upscale_factor
    lead, (c, h, w) = list(self.shape[:-3]), self.shape[-3:]
    n = len(lead)
    x = self.reshape(lead + [c // (r * r), r, r, h, w])
    return torch.permute(x, list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2]).clone(memory_format=torch.contiguous_format).reshape(lead + [c // (r * r), h * r, w * r])


@_aten("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor")
def _pixel_unshuffle(self, downscale_factor):
    r = downscale_factor
    if type(self.numel()) is int and self.numel() == 0:
        return self.clone()  # PyTorch moves nothing, and leaves the dims as they are
    lead, (c, h, w) = list(self.shape[:-3]), self.shape[-3:]
    n = len(lead)
    x = self.reshape(lead + [c, h // r, r, w // r, r])
    return torch.permute(x, list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3]).clone(memory_format=torch.contiguous_format).reshape(lead + [c * r * r, h // r, w // r])


@_aten("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor")
def _channel_shuffle(self, groups):
    shape = list(self.shape)
    x = self.reshape([shape[0], groups, shape[1] // groups] + shape[2:])
    return x.transpose(1, 2).clone(memory_format=torch.contiguous_format).reshape(shape)
