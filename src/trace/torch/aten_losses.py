# SPDX-License-Identifier: Apache-2.0
# --- losses; part of aten.py's namespace


@_aten("aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor")
def _cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing):
    return F.cross_entropy(self, target, weight, None, ignore_index, None, _reductions[reduction], label_smoothing)


@_aten("aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor")
def _nll_loss_nd(self, target, weight, reduction, ignore_index):
    return F.nll_loss(self, target, weight, None, ignore_index, None, _reductions[reduction])


@_aten("aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor")
def _nll_loss(self, target, weight, reduction, ignore_index):
    return F.nll_loss(self, target, weight, None, ignore_index, None, _reductions[reduction])


def _nll_forward(input, target, weight, reduction, ignore_index):
    loss = F.nll_loss(input, target, weight, None, ignore_index, None, _reductions[reduction])
    kept = target != ignore_index
    counted = kept.to(input.dtype) if weight is None else torch.where(kept, weight[torch.where(kept, target, 0)], 0.0)
    return loss, counted.sum() if reduction != 0 else counted.sum() * 0.0


@_aten("aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)")
def _nll_loss_forward(self, target, weight, reduction, ignore_index):
    return _nll_forward(self, target, weight, reduction, ignore_index)


@_aten("aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)")
def _nll_loss2d_forward(self, target, weight, reduction, ignore_index):
    return _nll_forward(self, target, weight, reduction, ignore_index)


@_aten("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _mse_loss(self, target, reduction):
    return F.mse_loss(self, target, None, None, _reductions[reduction])


@_aten("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _l1_loss(self, target, reduction):
    return F.l1_loss(self, target, None, None, _reductions[reduction])


@_aten("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor")
def _smooth_l1_loss(self, target, reduction, beta):
    return F.smooth_l1_loss(self, target, None, None, _reductions[reduction], beta)


@_aten("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor")
def _huber_loss(self, target, reduction, delta):
    return F.huber_loss(self, target, _reductions[reduction], delta)


@_aten("aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor")
def _binary_cross_entropy(self, target, weight, reduction):
    return F.binary_cross_entropy(self, target, weight, None, None, _reductions[reduction])


@_aten("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor")
def _binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    return F.binary_cross_entropy_with_logits(self, target, weight, None, None, _reductions[reduction], pos_weight)


@_aten("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")
def _kl_div(self, target, reduction, log_target):
    return F.kl_div(self, target, None, None, _reductions[reduction], log_target)


@_aten("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
def _cosine_similarity(x1, x2, dim, eps):
    return F.cosine_similarity(x1, x2, dim, eps)


def _reduced(losses, reduction):
    return losses if reduction == 0 else losses.mean() if reduction == 1 else losses.sum()


@_aten("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _soft_margin_loss(self, target, reduction):
    return _reduced(torch.log1p(torch.exp(-target * self)), reduction)


@_aten("aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor")
def _margin_ranking_loss(input1, input2, target, margin, reduction):
    return _reduced(torch.clamp(margin - target * (input1 - input2), min=0), reduction)


@_aten("aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor")
def _hinge_embedding_loss(self, target, margin, reduction):
    # A target that is neither counts for both.
    losses = torch.where(target != -1, self, 0.0) + torch.where(target != 1, torch.clamp(margin - self, min=0), 0.0)
    return _reduced(losses, reduction)


@_aten("aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor")
def _cosine_embedding_loss(input1, input2, target, margin, reduction):
    dim = input1.dim() - 1
    product = (input1 * input2).sum(dim)
    scale = torch.sqrt(((input1 * input1).sum(dim) + 1e-12) * ((input2 * input2).sum(dim) + 1e-12))
    cosine = product / scale
    losses = torch.where(target == 1, 1.0 - cosine, 0.0) + torch.where(target == -1, torch.clamp(cosine - margin, min=0), 0.0)
    return _reduced(losses, reduction)


@_aten("aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=1e-06, bool swap=False, int reduction=1) -> Tensor")
def _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    near, far = F.pairwise_distance(anchor, positive, p, eps), F.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, F.pairwise_distance(positive, negative, p, eps))
    return _reduced(torch.clamp(margin + near - far, min=0), reduction)


@_aten("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor")
def _pairwise_distance(x1, x2, p, eps, keepdim):
    return F.pairwise_distance(x1, x2, p, eps, keepdim)
