"""Gradients of embeddings: rows of padding have none, frequencies divide, a norm that is bounded is written into the weight."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
places = torch.tensor([[3, 4, 0, 0], [1, 2, 0, 3]])
factors = torch.arange(24.0).view(2, 4, 3)
for options in (dict(padding_idx=0), dict(padding_idx=-5), dict(scale_grad_by_freq=True), dict(padding_idx=3, scale_grad_by_freq=True), {}):
    table = nn.Embedding(5, 3, **options)
    (table(places) * factors).sum().backward()
    print(options, [round(v, 4) for v in table.weight.grad.flatten().tolist()])
    weight = torch.ones(5, 3, requires_grad=True)
    (F.embedding(places, weight, **options) * factors).sum().backward()
    print(torch.equal(weight.grad, table.weight.grad))

# A weight that a linear layer shares has the layer's part in the row of padding.
table, head = nn.Embedding(5, 3, padding_idx=0), nn.Linear(3, 5)
head.weight = table.weight
with torch.no_grad():
    table.weight.copy_(torch.arange(15.0).view(5, 3) / 8)
    head.bias.zero_()
head(table(places)).sum().backward()
print(table.weight.grad.tolist())

table = nn.Embedding(4, 2, max_norm=1.0)
with torch.no_grad():
    table.weight.copy_(torch.tensor([[3.0, 4.0], [0.25, 0.5], [0.0, 2.0], [6.0, 8.0]]))
print(table(torch.tensor([0, 1, 0])).tolist(), [round(v, 5) for v in table.weight.flatten().tolist()])
bag = nn.EmbeddingBag(4, 2, max_norm=2.0, norm_type=1.0, mode="sum")
with torch.no_grad():
    bag.weight.copy_(torch.tensor([[3.0, 1.0], [0.25, 0.5], [0.0, 2.0], [6.0, 2.0]]))
print([round(v, 5) for v in bag(torch.tensor([[0, 1], [3, 3]])).flatten().tolist()], [round(v, 5) for v in bag.weight.flatten().tolist()])
for wrong in (5, -6):
    try:
        F.embedding(places, torch.ones(5, 3), padding_idx=wrong)
    except AssertionError as error:
        print(error)
