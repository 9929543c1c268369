# SPDX-License-Identifier: Apache-2.0
def _reduction(size_average, reduce, reduction):
    """What the two arguments from before `reduction` ask for wins where one is given, as in torch."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def _reduced(losses, reduction):
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return losses


def _fitting_target(input, target):
    if input.dim() <= 2:
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input.dim() == 2 and (target.dim() == 0 or input.shape[0] != target.shape[0]):
            raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0] if target.dim() else 1}).")
    elif target.dim() != input.dim() - 1 or input.shape[0] != target.shape[0] or list(input.shape[2:]) != list(target.shape[1:]):
        if input.shape[0] != target.shape[0]:
            raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]}).")
        raise RuntimeError(f"Expected target size {[input.shape[0]] + list(input.shape[2:])}, got {list(target.shape)}")
    if target.dtype not in (torch.int64, torch.uint8):
        raise RuntimeError(f"expected scalar type Long but found {_scalar_name(target.dtype)}")


def _scalar_name(dtype):
    return {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int32": "Int", "int16": "Short", "int8": "Char", "bool": "Bool"}.get(str(dtype).partition(".")[2], str(dtype))


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    reduction = _reduction(size_average, reduce, reduction)
    dim = 1 if input.dim() > 1 else 0
    if torch._is_script():
        _fitting_target(input, target)
    torch._check_range(target, 0, input.shape[dim], "IndexError", "Target {} is out of bounds.", ignore_index)
    keep = target != ignore_index
    rows = torch.where(keep, target, 0)
    picked = -input.gather(dim, rows.unsqueeze(dim)).squeeze(dim)
    scale = keep.to(input.dtype)
    if weight is not None:
        scale = scale * weight[rows]
    losses = torch.where(keep, picked, 0.0) * scale
    return losses.sum() / scale.sum() if reduction == "mean" else _reduced(losses, reduction)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    reduction = _reduction(size_average, reduce, reduction)
    if label_smoothing < 0.0 or label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 1 if input.dim() > 1 else 0
    classes = input.shape[dim]
    if torch._is_script() and target.is_floating_point() and list(target.shape) != list(input.shape):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {_scalar_name(target.dtype)}")
    logs = torch.log_softmax(input, dim)
    scale = None if weight is None else weight.reshape([-1 if d == dim else 1 for d in range(input.dim())])
    if target.is_floating_point():
        if label_smoothing != 0.0:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        terms = logs * target if weight is None else logs * target * scale
        losses = -terms.sum(dim)
        return losses.sum() / losses.numel() if reduction == "mean" else _reduced(losses, reduction)
    own = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if label_smoothing == 0.0:
        return own
    # Every class has a share of the target.
    keep = target != ignore_index
    spread = torch.where(keep, -(logs if weight is None else logs * scale).sum(dim), 0.0)
    if reduction == "mean":
        counted = keep.to(input.dtype) if weight is None else torch.where(keep, weight[torch.where(keep, target, 0)], 0.0)
        spread = spread.sum() / counted.sum()
    else:
        spread = _reduced(spread, reduction)
    return (1 - label_smoothing) * own + spread * (label_smoothing / classes)


def _reduced_by_weight(loss, reduction, weight, input, whole=None):
    """Mean errors are those of the whole weight, or of all elements."""
    if weight is None:
        return _reduced(loss, reduction)
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" and whole is None else _reduced(loss, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _reduction(size_average, reduce, reduction)
    return _reduced_by_weight((input - target) * (input - target), reduction, weight, input)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _reduction(size_average, reduce, reduction)
    return _reduced_by_weight(torch.abs(input - target), reduction, weight, input)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    reduction = _reduction(size_average, reduce, reduction)
    distance = torch.abs(input - target)
    if beta == 0:
        return _reduced(distance, reduction)
    near = torch.where(distance < beta, distance, 0.0)
    return _reduced(torch.where(distance < beta, 0.5 * near * near / beta, distance - 0.5 * beta), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    distance = torch.abs(input - target)
    near = torch.where(distance <= delta, distance, 0.0)
    loss = torch.where(distance <= delta, 0.5 * near * near, delta * (distance - 0.5 * delta))
    return _reduced_by_weight(loss, reduction, weight, input, "elements")


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    reduction = _reduction(size_average, reduce, reduction)
    if torch._is_script() and list(input.shape) != list(target.shape):
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please ensure they have the same size.")
    torch._check_all(torch.logical_and(input >= 0, input <= 1), "RuntimeError", "all elements of input should be between 0 and 1")
    torch._check_all(torch.logical_and(target >= 0, target <= 1), "RuntimeError", "all elements of target should be between 0 and 1")
    if not input.requires_grad:
        losses = _of_probabilities(input, target)
        return _reduced(losses if weight is None else losses * weight, reduction)
    # PyTorch's slope is (input - target) / (input * (1 - input)) with a divisor of at least 1e-12, which is a float32.
    least = 9.999999960041972e-13
    fixed = input.detach()
    end = fixed * (1 - fixed) < least
    sloped = _of_probabilities(fixed, target) + (input - fixed) * ((fixed - target.detach()) / least)
    losses = torch.where(end, sloped, _of_probabilities(torch.where(end, 0.5, input), target))
    return _reduced(losses if weight is None else losses * weight, reduction)


def _of_probabilities(input, target):
    return -(target * torch.log(input).clamp(min=-100) + (1 - target) * torch.log(1 - input).clamp(min=-100))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    reduction = _reduction(size_average, reduce, reduction)
    if torch._is_script() and list(input.shape) != list(target.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    below = torch.log1p(torch.exp(_minus_size(input))) + torch.clamp(-input, min=0)
    if pos_weight is not None:
        below = below * (1 + (pos_weight - 1) * target)
    losses = (1 - target) * input + below
    return _reduced(losses if weight is None else losses * weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    reduction = _reduction(size_average, reduce, reduction)
    if log_target:
        losses = torch.exp(target) * (target - input)
    else:
        positive = target > 0
        losses = torch.where(positive, target * (torch.log(torch.where(positive, target, 1.0)) - input), 0.0)
    if reduction == "batchmean":
        return losses.sum() / input.shape[0]
    return _reduced(losses, reduction)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    x1, x2 = broadcast_tensors(x1, x2)
    # Each is scaled to a length of one first, so that large numbers do not overflow.
    return (x1 / norm(x1, 2, dim, True).clamp(min=eps) * (x2 / norm(x2, 2, dim, True).clamp(min=eps))).sum(dim)


def one_hot(tensor, num_classes=-1):
    if num_classes < 0:
        if not torch._is_script():
            raise NotImplementedError("one_hot without num_classes asks for the largest value; give it")
        torch._check_range(tensor, 0, 2**62, "RuntimeError", "Class values must be non-negative.")
        if tensor.numel() == 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(tensor.max()) + 1
    torch._check_range(tensor, 0, 2**62, "RuntimeError", "Class values must be non-negative.")
    torch._check_range(tensor, 0, num_classes, "RuntimeError", "Class values must be smaller than num_classes.")
    if tensor.is_cuda:
        # In one launch, each element written once.
        return (tensor.unsqueeze(-1) == torch.arange(num_classes, device=tensor.device)).to(torch.int64)
    zeros = torch.zeros(list(tensor.shape) + [num_classes], dtype=torch.int64, device=tensor.device)
    return torch.ops.aten.scatter.value(zeros, -1, tensor.unsqueeze(-1), 1)
