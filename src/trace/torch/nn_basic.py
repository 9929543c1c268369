# SPDX-License-Identifier: Apache-2.0
def _fill_by_fan(layer):
    _default_weight(layer.weight)
    if layer.bias is not None:
        _default_bias(layer.bias, layer.weight)


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.empty([out_features, in_features], dtype=dtype))
        self.bias = Parameter(torch.empty([out_features], dtype=dtype)) if bias else None
        self.reset_parameters()
        self._placed(device)

    def reset_parameters(self):
        _fill_by_fan(self)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)


class _Table(Module):
    """What both layers that look rows up do with theirs."""

    def reset_parameters(self):
        _normal(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0


class Embedding(_Table):
    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx if padding_idx is None or padding_idx >= 0 else num_embeddings + padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = Parameter(torch.empty([num_embeddings, embedding_dim], dtype=dtype))
            self.reset_parameters()
        elif list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(_weight)
        if _freeze:
            self.weight.requires_grad_(False)
        self._placed(device)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)


def _fill_affine(norm):
    if norm.weight is not None:
        _ones(norm.weight)
    if norm.bias is not None:
        _zeros(norm.bias)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(torch.zeros(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None
        self._reset_if_own(LayerNorm)
        self._placed(device)

    def reset_parameters(self):
        _fill_affine(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self._reset_if_own(RMSNorm)
        self._placed(device)

    def reset_parameters(self):
        if self.weight is not None:
            _ones(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return torch.flatten(input, self.start_dim, self.end_dim)


class _NormBase(Module):
    """What norms of channels hold: a factor and a summand for each, and running statistics."""

    _version = 2

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(torch.ones(num_features, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_features, dtype=dtype)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features, dtype=dtype) if track_running_stats else None)
        self.register_buffer("running_var", torch.ones(num_features, dtype=dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.int64) if track_running_stats else None)
        self._reset_if_own(_NormBase)
        self._placed(device)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            _fill_affine(self)

    def _check_input_dim(self, input):
        raise NotImplementedError


class _BatchNorm(_NormBase):
    """With the running statistics after eval(), else with the batch's, which the running ones follow."""

    # What torch's own loading does without, for files from before there was a count.
    _optional_keys = ("num_batches_tracked",)

    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a mean of all batches
                momentum = 1.0 / self.num_batches_tracked.item()
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        mean = self.running_mean if not self.training or self.track_running_stats else None
        variance = self.running_var if not self.training or self.track_running_stats else None
        return F.batch_norm(input, mean, variance, self.weight, self.bias, of_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.weight = Parameter(torch.ones(num_channels, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_channels, dtype=dtype)) if affine else None
        self._reset_if_own(GroupNorm)
        self._placed(device)

    def reset_parameters(self):
        if self.affine:
            _fill_affine(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)
