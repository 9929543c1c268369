# Gradients where functions bend, begin or end: at 0, at bounds, where two are the same, far out.
import torch
import torch.nn.functional as F


def slopes(name, function, *given):
    tensors = [torch.tensor(values, dtype=torch.float64, requires_grad=True) for values in given]
    result = function(*tensors)
    found = torch.autograd.grad(result.sum(), tensors, allow_unused=True)
    print(name, *([round(float(v), 6) + 0.0 for v in slope.flatten()] if slope is not None else None for slope in found))


points = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 6.0, 20.0, 100.0, -100.0]
others = [0.0, 1.0, 1.0, -1.0, 2.0, -0.5, 1.0, 3.0, 3.0, 6.0, 1.0, 100.0, -100.0]
truths = [0.0, 1.0, 0.3, 0.0, 1.0, 0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
for name in "relu relu6 hardtanh elu selu celu leaky_relu softplus silu mish hardswish hardsigmoid softsign tanhshrink softshrink hardshrink gelu logsigmoid".split():
    slopes(name, getattr(F, name), points)
slopes("celu 2", lambda x: F.celu(x, 2.0), points)
slopes("clamp", lambda x: x.clamp(0, 1), points)
slopes("clamp min", lambda x: x.clamp(min=-1), points)
slopes("clamp max", lambda x: torch.clamp_max(x, 1), points)
slopes("clamp one", lambda x: x.clamp(1, 1), points)
slopes("clamp turned", lambda x: x.clamp(2, -2), points)
slopes("clip in place", lambda x: (x * 1).clip_(0, 1), points)
slopes("clamp by tensors", lambda x, low, high: x.clamp(low, high), [0.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.5, 0.5], [1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
slopes("clamp by one tensor", lambda x, low: x.clamp(min=low), points, others)
slopes("clamp by one tensor above", lambda x, high: x.clamp(max=high), points, others)
for name in ("maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2"):
    slopes(name, getattr(torch, name), points, others)
slopes("xlogy", torch.xlogy, [0.0, 0.0, 1.0, 0.0, 2.0, 0.5], [2.0, 0.5, 3.0, 1.0, 1.0, 0.25])
for name in ("lgamma", "digamma", "erfinv", "erf", "erfc", "sinc", "i0"):
    slopes(name, getattr(torch, name), [0.0, 0.25, 0.5, -0.75] if name == "erfinv" else [0.25, 0.5, 1.0, 2.0, 3.0, 6.5, 20.0, -0.5, -1.25])
slopes("logit", torch.logit, [0.25, 0.5, 0.9])
slopes("with logits", lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), points, truths)
slopes("with logits and a weight", lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor(truths, dtype=torch.float64), pos_weight=torch.tensor(3.0)), points)
slopes("of probabilities", lambda p: F.binary_cross_entropy(p, torch.tensor([0.0, 1.0, 0.0, 1.0, 0.3, 1.0], dtype=torch.float64), reduction="sum") / 1e6, [0.0, 0.0, 1.0, 1.0, 0.5, 1e-15])
slopes("of targets", lambda t: F.binary_cross_entropy(torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64), t), [0.0, 1.0, 0.5])
slopes("smooth l1", lambda x, y: F.smooth_l1_loss(x, y, reduction="none"), points, others)
slopes("huber", lambda x, y: F.huber_loss(x, y, reduction="none", delta=2.0), points, others)
slopes("margin ranking", lambda x, y: F.margin_ranking_loss(x, y, torch.ones(13), reduction="none"), points, others)
slopes("hinge", lambda x: F.hinge_embedding_loss(x, torch.tensor([1.0, -1.0] * 6 + [1.0]), reduction="none"), points)
slopes("multi margin", lambda x: F.multi_margin_loss(x[None], torch.tensor([2])), [0.0, 1.0, 1.0, 0.0, 2.0])
slopes("multilabel margin", lambda x: F.multilabel_margin_loss(x[None], torch.tensor([[2, 0, -1, 0, 0]])), [0.0, 1.0, 1.0, 0.0, 2.0])
slopes("max of all", lambda x: x.max() + x.min(), [1.0, 1.0, 0.0, 0.0, 0.5])
slopes("amax", lambda x: x.amax(0), [1.0, 1.0, 0.0])
slopes("second slope", lambda x: torch.autograd.grad(F.logsigmoid(x).sum(), x, create_graph=True)[0], points)
slopes("second slope with logits", lambda x: torch.autograd.grad(F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="sum"), x, create_graph=True)[0], points)
head = torch.nn.Linear(3, 1)
torch.nn.init.zeros_(head.weight)
torch.nn.init.zeros_(head.bias)
F.binary_cross_entropy_with_logits(head(torch.ones(4, 3)).squeeze(1), torch.tensor([1.0, 0.0, 1.0, 1.0])).backward()
print(head.weight.grad, head.bias.grad)
