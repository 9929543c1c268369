"""What a draw computes on the way (probabilities of logits) has a gradient for those that ask later; what was drawn has none."""
import torch
import torch.nn.functional as F
from torch.distributions import Bernoulli, Binomial, Categorical, Geometric, Normal

torch.manual_seed(0)
logits = torch.tensor([0.25, -1.0, 2.0, 0.5], requires_grad=True)


def slopes(value):
    logits.grad = None
    value.backward(retain_graph=True)
    return [round(v, 4) + 0.0 for v in logits.grad.tolist()]


for draws in (False, True):
    for kind in (Categorical, Bernoulli, Geometric):
        one = kind(logits=logits)
        if draws:
            one.sample((3,))
        print(kind.__name__, draws, slopes(one.entropy().sum()), slopes(one.probs.pow(2).sum()))
    one = Categorical(logits.exp())
    if draws:
        one.sample()
    print(slopes(one.logits[1]), slopes(one.entropy()))
with torch.no_grad():
    one = Categorical(logits=logits)
    one.probs
print(one.probs.requires_grad)

mean, deviation = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
drawn = torch.normal(mean, deviation)
(drawn * torch.arange(3.0) + mean).sum().backward()
print(drawn.requires_grad, mean.grad.tolist(), deviation.grad.tolist())
print(torch.normal(torch.zeros(1), torch.ones(3)).unique().numel(), torch.normal(torch.zeros(2, 1), torch.ones(3)).shape, torch.normal(mean, 1.0).requires_grad)
chances = torch.full((4,), 0.5, requires_grad=True)
drawn = torch.bernoulli(chances)
(drawn * chances).sum().backward()
print(drawn.requires_grad, torch.equal(chances.grad, drawn.detach()))

# The one that is chosen has the slope of the soft choice.
torch.manual_seed(1)
scores = torch.zeros(2, 3, requires_grad=True)
torch.manual_seed(1)
(F.gumbel_softmax(scores, tau=0.5, hard=True) * torch.arange(3.0)).sum().backward()
hard = scores.grad.clone()
scores.grad = None
torch.manual_seed(1)
(F.gumbel_softmax(scores, tau=0.5) * torch.arange(3.0)).sum().backward()
print(bool(hard.abs().sum() > 0), torch.allclose(hard, scores.grad))

# Rounded numbers have the slope 1 where nothing was cut off.
x = torch.tensor([-3.0, -0.8, -0.26, 0.0, 0.3, 0.74, 9.0], requires_grad=True)
y = torch.fake_quantize_per_tensor_affine(x, 0.25, 0, -3, 2)
y.backward(torch.arange(1.0, 8.0))
print(y.tolist(), x.grad.tolist())
x.grad = None
rows = x.view(7, 1).expand(7, 2)
y = torch.fake_quantize_per_channel_affine(rows, torch.tensor([0.25, 0.5]), torch.tensor([0, 1], dtype=torch.int32), 1, -3, 2)
y.sum().backward()
print(y.tolist(), x.grad.tolist())

# What lies otherwise in memory is drawn in the order of the memory.
torch.manual_seed(2)
x = torch.ones(3, 4)
print(F.dropout(x.t(), 0.5).tolist(), torch.bernoulli(x.t() * 0.5).tolist(), F.dropout(torch.ones(2, 3, 2).transpose(0, 1), 0.5).tolist())
