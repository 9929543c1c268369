# SPDX-License-Identifier: Apache-2.0
# --- gradients, as archives of training steps have them; part of aten.py's namespace


def _wide(*tensors):
    """16-bit tensors are computed with in float32."""
    narrow = (torch.float16, torch.bfloat16)
    wide = [t.float() if t is not None and t.dtype in narrow else t for t in tensors]
    return wide[0] if len(wide) == 1 else wide


@_aten("aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
def _convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    rank = input.dim() - 2
    stride, padding, dilation = _each(stride, rank), _each(padding, rank), _each(dilation, rank)
    of_input = of_weight = of_bias = None
    convolution = torch.ops.aten.convolution.default
    if output_mask[0] and transposed:
        of_input = convolution(grad_output, weight, None, stride, padding, dilation, False, [0] * rank, groups)
        # What padding of the output reached beyond the input came from nothing.
        for d in range(rank):
            of_input = of_input.narrow(2 + d, 0, input.shape[2 + d])
    elif output_mask[0]:
        # What the strides left over at the end of the input.
        extra = []
        for d in range(rank):
            reached = (grad_output.shape[2 + d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (weight.shape[2 + d] - 1) + 1
            extra.append(input.shape[2 + d] - reached)
        of_input = convolution(grad_output, weight, None, stride, padding, dilation, True, extra, groups)
    if output_mask[1]:
        # A convolution of one with the other as its kernel: the batch is what is summed over, and steps and gaps change places.
        moved, kernel = (grad_output, input) if transposed else (input, grad_output)
        moved, kernel = _batch_as_channels(moved, groups), _channels_as_batch(kernel)
        found = convolution(moved, kernel, None, dilation, padding, stride, False, [0] * rank, groups)
        for d in range(rank):
            found = found.narrow(2 + d, 0, weight.shape[2 + d])
        of_weight = found.transpose(0, 1).clone()
    if output_mask[2]:
        of_bias = grad_output.sum([0] + list(range(2, grad_output.dim())))
    return of_input, of_weight, of_bias


def _batch_as_channels(x, groups):
    """[n, groups * c, …] as [c, groups * n, …]."""
    sizes = list(x.shape)
    channels = sizes[1] // groups
    split = x.reshape([sizes[0], groups, channels] + sizes[2:])
    order = [2, 1, 0] + list(range(3, split.dim()))
    return torch.permute(split, order).reshape([channels, groups * sizes[0]] + sizes[2:])


def _channels_as_batch(x):
    return x.transpose(0, 1)


@_aten("aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor")
def _max_pool2d_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    lead = list(self.shape[:-2])
    whole = self.new_zeros(lead + [self.shape[-2] * self.shape[-1]])
    added = torch.ops.aten.scatter_add.default(whole, len(lead), indices.reshape(lead + [-1]), grad_output.reshape(lead + [-1]))
    return added.reshape(self.shape)


@_aten("aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor")
def _avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel, padding = _each(kernel_size, 2), _each(padding, 2)
    stride = _each(stride, 2) or kernel
    sizes, outs, lead = list(self.shape[-2:]), list(grad_output.shape[-2:]), list(self.shape[:-2])
    shares, lines = _wide(grad_output), []
    for d in range(2):
        first = torch.arange(outs[d], device=self.device) * stride[d] - padding[d]
        last = torch.clamp(first + kernel[d], max=sizes[d] + padding[d])
        count = last - first
        first, last = torch.clamp(first, min=0), torch.clamp(last, max=sizes[d])
        if not count_include_pad:
            count = last - first
        if divisor_override is None:
            shares = shares / count.reshape([-1, 1] if d == 0 else [1, -1])
        at = torch.arange(sizes[d], device=self.device).unsqueeze(1)
        lines.append(((at >= first) & (at < last)).to(shares.dtype))
    if divisor_override is not None:
        shares = shares / divisor_override
    return torch.matmul(torch.matmul(lines[0], shares), lines[1].t()).to(self.dtype)


@_aten("aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor")
def _adaptive_avg_pool2d_backward(grad_output, self):
    lines = []
    for d in range(2):
        size, out = self.shape[d - 2], grad_output.shape[d - 2]
        i, at = torch.arange(out, device=self.device), torch.arange(size, device=self.device).unsqueeze(1)
        first, last = i * size // out, ((i + 1) * size + (out - 1)) // out
        lines.append(torch.where((at >= first) & (at < last), 1.0 / (last - first), 0.0))
    wide = _wide(grad_output)
    return torch.matmul(torch.matmul(lines[0].to(wide.dtype), wide), lines[1].to(wide.dtype).t()).to(self.dtype)


@_aten("aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor")
def _embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    places = indices.reshape(-1)
    rows = _wide(grad_output).reshape([-1, grad_output.shape[-1]])
    if scale_grad_by_freq:
        counts = torch.index_add(rows.new_zeros([num_weights]), 0, places, rows.new_ones(places.shape))
        rows = rows / counts[places].unsqueeze(1)
    rows = torch.where((places != padding_idx).unsqueeze(1), rows, 0.0)
    return torch.index_add(rows.new_zeros([num_weights, rows.shape[1]]), 0, places, rows).to(grad_output.dtype)


@_aten("aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
def _native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    inner = list(range(input.dim() - len(normalized_shape), input.dim()))
    outer = list(range(input.dim() - len(normalized_shape)))
    grad, x, mean, rstd, scale = _wide(grad_out, input, mean, rstd, weight)
    normal = (x - mean) * rstd
    of_input = of_weight = of_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else grad * scale
        of_input = rstd * (scaled - torch.mean(scaled, inner, True) - normal * torch.mean(scaled * normal, inner, True))
        of_input = of_input.to(input.dtype)
    if output_mask[1] and weight is not None:
        of_weight = ((grad * normal).sum(outer) if outer else grad * normal).to(weight.dtype)
    if output_mask[2] and bias is not None:
        of_bias = (grad.sum(outer) if outer else grad.clone()).to(bias.dtype)
    return of_input, of_weight, of_bias


@_aten("aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)")
def _native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):
    grad, x, mean, rstd, scale = _wide(grad_out, input, mean, rstd, weight)
    shape = [N, group, C // group, HxW]
    mean, rstd = mean.reshape([N, group, 1, 1]), rstd.reshape([N, group, 1, 1])
    grad, normal = grad.reshape(shape), (x.reshape(shape) - mean) * rstd
    of_input = of_weight = of_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else grad * scale.reshape([1, group, C // group, 1])
        own = rstd * (scaled - torch.mean(scaled, [2, 3], True) - normal * torch.mean(scaled * normal, [2, 3], True))
        of_input = own.reshape(input.shape).to(input.dtype)
    if output_mask[1]:
        of_weight = (grad * normal).sum([0, 3]).reshape([C]).to(input.dtype)
    if output_mask[2]:
        of_bias = grad.sum([0, 3]).reshape([C]).to(input.dtype)
    return of_input, of_weight, of_bias
