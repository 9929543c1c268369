# SPDX-License-Identifier: Apache-2.0
# --- numbers of 8 and 4 bits, as torchao and PyTorch's pt2e write them; part of aten.py's namespace


def _along(value, like, axis):
    """A number for each place along `axis`."""
    return value.reshape([-1 if d == F._wrapped(axis, like.dim()) else 1 for d in range(like.dim())])


def _quantized(input, scale, zero_point, quant_min, quant_max, dtype):
    # As there: by the reciprocal, ties to even, then the zero point.
    wide = input if input.dtype == torch.float64 else input.float()
    places = torch.round(wide * (1.0 / scale)) + zero_point
    return torch.clamp(places, quant_min, quant_max).to(dtype)


def _dequantized(input, scale, zero_point, out_dtype):
    wanted = torch.float32 if out_dtype is None else out_dtype
    whole = input.to(torch.int32) if input.dtype in (torch.uint8, torch.int8, torch.int16, torch.uint16) else input
    shifted = whole if zero_point is None else whole - zero_point
    return (shifted.to(torch.float32) * scale).to(wanted)


@_aten("quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor")
def _quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    return _quantized(input, scale, zero_point, quant_min, quant_max, dtype)


@_aten("quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor")
def _quantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    return _quantized(input, scale.reshape([]).float(), zero_point.reshape([]).float(), quant_min, quant_max, dtype)


@_aten("quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor")
def _quantize_per_tensor_tensor2(input, scale, zero_point, quant_min, quant_max, dtype):
    places = torch.round(input.float() * (1.0 / scale.reshape([]).float())) + zero_point.reshape([]).float()
    return torch.minimum(torch.maximum(places, quant_min.reshape([]).float()), quant_max.reshape([]).float()).to(dtype)


@_aten("quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
def _dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype):
    return _dequantized(input, scale, zero_point, out_dtype)


@_aten("quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
def _dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype):
    return _dequantized(input, scale.reshape([]).float(), zero_point.reshape([]).to(torch.int32), out_dtype)


@_aten("quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
def _dequantize_per_tensor_tensor2(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype):
    return _dequantized(input, scale.reshape([]).float(), zero_point.reshape([]).to(torch.int32), out_dtype)


@_aten("quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor")
def _quantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    return _quantized(input, _along(scales, input, axis).float(), _along(zero_points, input, axis).float(), quant_min, quant_max, dtype)


@_aten("quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
def _dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype):
    zero = None if zero_points is None else _along(zero_points, input, axis).to(torch.int32)
    return _dequantized(input, _along(scales, input, axis).float(), zero, out_dtype)


def _chosen(low, high, quant_min, quant_max, eps, dtype):
    """Scale and zero point for values between `low` and `high`."""
    low, high = torch.clamp(low, max=0), torch.clamp(high, min=0)
    scale = torch.maximum((high - low) / float(quant_max - quant_min), torch.full([], eps))
    zero = quant_min - torch.round(low / scale).to(torch.int32)
    return scale, torch.clamp(zero, quant_min, quant_max)


@_aten("quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)")
def _choose_qparams(input, quant_min, quant_max, eps, dtype):
    scale, zero = _chosen(torch.amin(input), torch.amax(input), quant_min, quant_max, eps, dtype)
    return scale.to(torch.float64).reshape(1), zero.to(torch.int64).reshape(1)


@_aten("quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)")
def _choose_qparams_symmetric(input, quant_min, quant_max, eps, dtype):
    reach = torch.maximum(-torch.clamp(torch.amin(input), max=0), torch.clamp(torch.amax(input), min=0))
    scale = torch.maximum(reach / (float(quant_max - quant_min) / 2), torch.full([], eps))
    zero = (quant_min + quant_max + 1) // 2 if dtype == torch.uint8 else 0
    return scale.to(torch.float64).reshape(1), torch.full([1], zero, dtype=torch.int64)


@_aten("quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype) -> Tensor")
def _quantize_per_token(input, scales, zero_points, quant_min, quant_max, dtype):
    places = torch.round(input * (1.0 / scales) + zero_points)
    return torch.clamp(places, quant_min, quant_max).to(dtype)


@_aten("quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor")
def _dequantize_per_token(input, scales, zero_points, quant_min, quant_max, dtype, output_dtype):
    return ((input - zero_points) * scales).to(output_dtype)


def _tokens_asymmetric(input):
    low = torch.clamp(torch.amin(input, [-1], True), max=0)
    high = torch.clamp(torch.amax(input, [-1], True), min=0)
    eps = torch.finfo(torch.float32).eps
    scale = torch.clamp((high - low) / 255.0, min=eps)
    low_error, high_error = -128 + low / scale, 127 + high / scale
    zero = torch.where(low_error + high_error > 0, -128 - low / scale, 127 - high / scale)
    return scale.to(torch.float64), torch.round(torch.clamp(zero, -128, 127)).to(torch.int64)


@_aten("quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def _choose_qparams_per_token_asymmetric(input, dtype):
    return _tokens_asymmetric(input)


@_aten("quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def _choose_qparams_per_token_asymmetric_impl(input, dtype):
    return _tokens_asymmetric(input)


@_aten("quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def _choose_qparams_per_token(input, dtype):
    reach = torch.amax(torch.abs(input), [-1], True)
    reach = reach.float() if reach.dtype == torch.float16 else reach
    top = 2 ** (torch.iinfo(dtype).bits - 1) - 1
    scale = torch.clamp(reach, min=1e-5) / top
    return scale, torch.zeros_like(scale)


def _groups(input, group_size):
    return input.reshape([-1, group_size])


@_aten("quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor")
def _quantize_per_channel_group(input, scales, zero_points, quant_min, quant_max, dtype, group_size):
    rows, scale, zero = _groups(input, group_size), scales.reshape([-1, 1]), zero_points.reshape([-1, 1])
    places = torch.round(rows * (1.0 / scale) + zero)
    return torch.clamp(places, quant_min, quant_max).to(dtype).reshape(input.shape)


@_aten("quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor")
def _dequantize_per_channel_group(input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype):
    rows, scale = _groups(input, group_size), scales.reshape([-1, 1])
    zero = 0 if zero_points is None else zero_points.reshape([-1, 1])
    return ((rows - zero) * scale).to(output_dtype).reshape(input.shape)


def _fake(input, scale, zero_point, quant_min, quant_max):
    places = torch.round(input * (1.0 / scale) + zero_point)
    kept = (places >= quant_min) & (places <= quant_max)
    rounded = ((torch.clamp(places, quant_min, quant_max) - zero_point) * scale).to(input.dtype)
    if input.requires_grad:
        # Where nothing was cut off, what is rounded has the slope of what was not.
        rounded = torch.where(kept, rounded.detach() + (input - input.detach()), rounded.detach())
    return rounded, kept


@_aten("aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor")
def _fake_quantize_per_tensor(self, scale, zero_point, quant_min, quant_max):
    return _fake(self, scale, zero_point, quant_min, quant_max)[0]


@_aten("aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor")
def _fake_quantize_per_tensor_tensors(self, scale, zero_point, quant_min, quant_max):
    return _fake(self, scale.reshape([]), zero_point.reshape([]), quant_min, quant_max)[0]


@_aten("aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)")
def _fake_quantize_cachemask(self, scale, zero_point, quant_min, quant_max):
    return _fake(self, scale, zero_point, quant_min, quant_max)


@_aten("aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor")
def _fake_quantize_per_channel(self, scale, zero_point, axis, quant_min, quant_max):
    return _fake(self, _along(scale, self, axis), _along(zero_point, self, axis), quant_min, quant_max)[0]


@_aten("aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)")
def _fake_quantize_per_channel_cachemask(self, scale, zero_point, axis, quant_min, quant_max):
    return _fake(self, _along(scale, self, axis), _along(zero_point, self, axis), quant_min, quant_max)


@_aten("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor")
def _weight_int8pack_mm(self, mat2, scales):
    return torch.matmul(self, mat2.to(self.dtype).t()) * scales


@_aten("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor")
def _int_mm(self, mat2):
    if self.dtype != torch.int8 or mat2.dtype != torch.int8:
        raise RuntimeError(f"_int_mm: expected self and mat2 to be of dtype int8, got {self.dtype} and {mat2.dtype}")
    return torch.mm(self.to(torch.int32), mat2.to(torch.int32))


def _times_int4(self, weight, qGroupSize, qScaleAndZeros):
    """By a weight of numbers in 0..15, [n, k], whose groups along k have a scale and a zero each."""
    rows, columns = weight.shape[0], weight.shape[1]
    scales = torch.permute(qScaleAndZeros[..., 0], [1, 0]).unsqueeze(2)
    zeros = torch.permute(qScaleAndZeros[..., 1], [1, 0]).unsqueeze(2)
    groups = weight.reshape([rows, columns // qGroupSize, qGroupSize])
    wide = ((groups - 8).to(self.dtype) * scales + zeros).to(self.dtype).reshape([rows, columns])
    return torch.matmul(self, wide.t())


@_aten("aten::_convert_weight_to_int4pack_for_cpu(Tensor self, SymInt innerKTiles) -> Tensor")
def _convert_weight_to_int4pack_for_cpu(self, innerKTiles):
    # As PyTorch has it where the processor has AVX-512: of 64 rows one with that two times 16 further on, of fewer rows two neighbours.
    rows, columns = self.shape[0], self.shape[1]
    full, blocks = rows // 64 * 64, rows // 64
    whole = self[:full].reshape([blocks, 4, 16, columns])
    pairs = torch.stack([whole[:, i] | (whole[:, i + 2] << 4) for i in range(2)], 1)
    parts = [torch.permute(pairs, [0, 3, 1, 2]).reshape(-1)]
    if full < rows:
        rest = self[full:].reshape([(rows - full) // 2, 2, columns])
        parts.append((rest[:, 0] | (rest[:, 1] << 4)).t().reshape(-1))
    packed = torch.cat(parts).reshape([rows, columns // 2]).to(torch.uint8)
    packed._pellucid_int4 = True
    return packed


def _unpacked_int4_for_cpu(packed):
    rows, columns = packed.shape[0], packed.shape[1] * 2
    full, blocks = rows // 64 * 64, rows // 64
    numbers = packed.to(torch.int32)
    pairs = torch.permute(numbers[:full].reshape([blocks, columns, 2, 16]), [0, 2, 3, 1])
    weight = torch.stack([pairs & 15, pairs >> 4], 1).reshape([full, columns])
    if full == rows:
        return weight
    rest = numbers[full:].reshape([columns, (rows - full) // 2]).t()
    return torch.cat([weight, torch.stack([rest & 15, rest >> 4], 1).reshape([rows - full, columns])])


@_aten("aten::_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor")
def _weight_int4pack_mm_for_cpu(self, mat2, qGroupSize, qScaleAndZeros):
    if not getattr(mat2, "_pellucid_int4", False):
        raise NotImplementedError("_weight_int4pack_mm_for_cpu: how its weight is packed depends on the processor that packed it; pack it in the model (_convert_weight_to_int4pack_for_cpu), or keep the int4 weight in torchao's unpacked layout")
    return _times_int4(self, _unpacked_int4_for_cpu(mat2), qGroupSize, qScaleAndZeros)


_int4_shifts = (0, 16, 4, 20, 8, 24, 12, 28)


@_aten("aten::_convert_weight_to_int4pack(Tensor self, SymInt innerKTiles) -> Tensor")
def _convert_weight_to_int4pack(self, innerKTiles):
    # Two numbers in a byte, the first above; the layout that _unpacked_int4 reads.
    if self.dtype != torch.uint8:
        raise RuntimeError(f"_convert_weight_to_int4pack: expected the weight to be uint8 with two numbers in a byte, got {self.dtype}")
    pairs = self.to(torch.int64)
    rows, columns, half = self.shape[0], self.shape[1] * 2, innerKTiles // 2
    numbers = torch.stack([pairs >> 4, pairs & 15], 2)
    parts = numbers.reshape([rows // 8, 8, columns // (half * 32), half, 2, 2, 4, 2])
    parts = torch.permute(parts, [0, 2, 1, 6, 3, 4, 5, 7]).reshape([rows // 8, columns // (half * 32), 32, half, 8])
    words = parts[..., 0]
    for i in range(1, 8):
        words = words | (parts[..., i] << _int4_shifts[i])
    return words.to(torch.int32)


def _unpacked_int4(packed):
    """Numbers in 0..15 of [n / 8, k / (16 * t), 32, t / 2] words, which lie as a tensor core's lanes take them, as [n, k]."""
    tiles, outer, half = packed.shape[0], packed.shape[1], packed.shape[3]
    # Eight numbers in a word: of two tiles of 16, of their halves, of two neighbours.
    parts = torch.stack([(packed >> shift) & 15 for shift in _int4_shifts], -1)
    parts = parts.reshape([tiles, outer, 8, 4, half, 2, 2, 2])
    return torch.permute(parts, [0, 2, 1, 4, 5, 6, 3, 7]).reshape([tiles * 8, outer * half * 32])


@_aten("aten::_weight_int4pack_mm(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor")
def _weight_int4pack_mm(self, mat2, qGroupSize, qScaleAndZeros):
    return _times_int4(self, _unpacked_int4(mat2), qGroupSize, qScaleAndZeros)


@_aten("quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max) -> Tensor")
def _fake_quant_per_channel(input, scales, zero_points, axis, quant_min, quant_max):
    return _fake(input, _along(scales, input, axis), _along(zero_points, input, axis), quant_min, quant_max)[0]


@_aten("quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor")
def _convert_element_type(input, dtype):
    return input.to(dtype)


for _name in ("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic", "dequantize", "int_repr", "q_scale", "q_zero_point"):
    _refused["aten." + _name] = "tensors of PyTorch's quantised types are not supported; convert the model with pt2e, whose archives have quantized_decomposed operators on plain integers"
