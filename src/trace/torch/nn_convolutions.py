# SPDX-License-Identifier: Apache-2.0
class _ConvNd(Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        bias,
        padding_mode,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got padding_mode='{padding_mode}'")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = self._each(kernel_size)
        self.stride = self._each(stride)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.dilation = self._each(dilation)
        self.transposed = transposed
        self.output_padding = self._each(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        channels = [in_channels, out_channels // groups] if transposed else [out_channels, in_channels // groups]
        self.weight = Parameter(torch.empty([*channels, *self.kernel_size], dtype=dtype))
        self.bias = Parameter(torch.empty([out_channels], dtype=dtype)) if bias else None
        self.reset_parameters()
        self._placed(device)

    def reset_parameters(self):
        _fill_by_fan(self)

    def _each(self, value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * self._spatial

    @property
    def _reversed_padding_repeated_twice(self):
        sides = []
        for d in reversed(range(len(self.kernel_size))):
            if self.padding == "same":
                whole = self.dilation[d] * (self.kernel_size[d] - 1)
                sides += [whole // 2, whole - whole // 2]
            else:
                sides += [0, 0] if self.padding == "valid" else [self.padding[d], self.padding[d]]
        return sides if isinstance(self.padding, str) else tuple(sides)

    def _convolve(self, function, input, weight, bias):
        if self.padding_mode == "zeros":
            return function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return function(padded, weight, bias, self.stride, (0,) * len(self.kernel_size), self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        if output_size is None:
            return list(self.output_padding)
        wanted, extra = list(output_size)[-num_spatial_dims:], []
        for d in range(num_spatial_dims):
            dilated = (1 if dilation is None else dilation[d]) * (kernel_size[d] - 1) + 1
            least = (input.shape[d - num_spatial_dims] - 1) * stride[d] - 2 * padding[d] + dilated
            if not least <= wanted[d] < least + stride[d]:
                raise ValueError(f"requested an output size of {wanted}, but valid sizes of dim {d} range from {least} to {least + stride[d] - 1}")
            extra.append(wanted[d] - least)
        return extra

    def _spread(self, function, input, output_size):
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, len(self.kernel_size), self.dilation)
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class Conv1d(_ConvNd):
    _spatial = 1

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias, padding_mode, device, dtype)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        return self._convolve(F.conv1d, input, weight, bias)


class Conv2d(_ConvNd):
    _spatial = 2

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias, padding_mode, device, dtype)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        return self._convolve(F.conv2d, input, weight, bias)


class Conv3d(_ConvNd):
    _spatial = 3

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias, padding_mode, device, dtype)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        return self._convolve(F.conv3d, input, weight, bias)


class ConvTranspose1d(_ConvTransposeNd):
    _spatial = 1

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    _spatial = 2

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    _spatial = 3

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose3d, input, output_size)
