# SPDX-License-Identifier: Apache-2.0
class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:
            raise NotImplementedError("size_average and reduce are PyTorch's older spelling; pass reduction")
        self.reduction = reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(_Loss):
    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class NLLLoss(_WeightedLoss):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, label_smoothing=self.label_smoothing)


class BCELoss(_WeightedLoss):
    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, weight=self.weight, pos_weight=self.pos_weight, reduction=self.reduction)


class CosineSimilarity(Module):
    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


def _what_is_seen(masks, dtype):
    """Masks that are True, or -inf, where nothing is seen, as one mask of scaled_dot_product_attention."""
    masks = [mask for mask in masks if mask is not None]
    if not masks:
        return None
    if all([mask.dtype == torch.bool for mask in masks]):
        hidden = masks[0] if len(masks) == 1 else masks[0] | masks[1]
        return torch.logical_not(hidden)
    added = [torch.where(mask, float("-inf"), 0.0).to(dtype) if mask.dtype == torch.bool else mask for mask in masks]
    return added[0] if len(added) == 1 else added[0] + added[1]


class MultiheadAttention(Module):
    """need_weights gives the weights, averaged over the heads."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first = dropout, batch_first
        names = ("in_proj_weight",) if self._qkv_same_embed_dim else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(torch.empty([3 * embed_dim, embed_dim], dtype=dtype))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            for name, size in zip(names, (embed_dim, self.kdim, self.vdim)):
                setattr(self, name, Parameter(torch.empty([embed_dim, size], dtype=dtype)))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(torch.zeros(3 * embed_dim, dtype=dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, Parameter(torch.empty([1, 1, embed_dim], dtype=dtype)) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        for name in names:
            _xavier_uniform(getattr(self, name))
        if bias:
            self.out_proj.bias.data.fill_(0.0)
        if add_bias_kv:
            _xavier_normal(self.bias_k)
            _xavier_normal(self.bias_v)
        self._placed(device)

    def _projected(self, i, x):
        """Query, key or value by heads: [batch, heads, length, head_dim]."""
        rows = slice(i * self.embed_dim, (i + 1) * self.embed_dim)
        weight = self.in_proj_weight[rows] if self._qkv_same_embed_dim else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[i]
        x = F.linear(x, weight, None if self.in_proj_bias is None else self.in_proj_bias[rows])
        own = None if i == 0 else (self.bias_k, self.bias_v)[i - 1]
        if own is not None:
            x = torch.cat([x, own.expand(x.shape[0], 1, self.embed_dim)], 1)
        x = x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
        if i > 0 and self.add_zero_attn:
            x = torch.cat([x, x.new_zeros([x.shape[0], self.num_heads, 1, self.head_dim])], 2)
        return x

    def _widened(self, mask):
        """What was added to the keys is seen by all."""
        more = (1 if self.bias_k is not None else 0) + (1 if self.add_zero_attn else 0)
        return mask if mask is None or more == 0 else F.pad(mask, [0, more], value=False if mask.dtype == torch.bool else 0.0)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        dropout = self.dropout if self.training else 0.0
        single = query.dim() == 2
        if single:
            query, key, value = [x.unsqueeze(0) for x in (query, key, value)]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = [x.transpose(0, 1) for x in (query, key, value)]
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        parts = [self._projected(i, x) for i, x in enumerate((query, key, value))]
        changed = self.bias_k is not None or self.add_zero_attn
        attn_mask, key_padding_mask = self._widened(attn_mask), self._widened(key_padding_mask)
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.reshape(-1, self.num_heads, *attn_mask.shape[-2:])
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(1).unsqueeze(1)
        weights = None
        if not need_weights:
            # As there, the hint stands for the mask.
            causal = is_causal and key_padding_mask is None and not changed
            mask = None if causal else _what_is_seen((attn_mask, key_padding_mask), query.dtype)
            out = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], mask, dropout, causal)
        else:
            scores = torch.matmul(parts[0] * self.head_dim**-0.5, parts[1].transpose(-2, -1))
            for mask in (attn_mask, key_padding_mask):
                if mask is not None:
                    scores = scores.masked_fill(mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
            weights = torch.softmax(scores, -1)
            weights = F.dropout(weights, dropout, True) if dropout else weights
            out = torch.matmul(weights, parts[2])
            weights = weights.mean(1) if average_attn_weights else weights
        out = out.transpose(1, 2)
        out = self.out_proj(out.reshape(out.shape[0], out.shape[1], self.embed_dim))
        if single:
            return out.squeeze(0), None if weights is None else weights.squeeze(0)
        return out if self.batch_first else out.transpose(0, 1), weights


def Buffer(data=None, *, persistent=True):
    """A tensor that is a buffer of the module whose attribute it becomes."""
    data._buffer_persistent = persistent
    return data
