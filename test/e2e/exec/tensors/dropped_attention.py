"""Attention that drops weights trains, and draws what PyTorch draws; so do encoder layers as they are made without a word."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def told(*values):
    return [(round(value.detach().sum().item(), 6) + 0.0, round(value.detach().abs().sum().item(), 6)) for value in values]


def tried(name, options, shapes=((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6))):
    torch.manual_seed(0)
    made = [torch.randn(shape).requires_grad_() for shape in shapes]
    torch.manual_seed(1)
    out = F.scaled_dot_product_attention(*made, dropout_p=0.4, **options)
    (out * torch.arange(out.numel()).view(out.shape)).sum().backward()
    print(name, tuple(out.shape), told(out, *[one.grad for one in made]), torch.rand(1).item())


tried("plain", {})
tried("causal", dict(is_causal=True))
tried("scale", dict(scale=-0.3))
tried("seen", dict(attn_mask=torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])))
tried("added", dict(attn_mask=torch.linspace(-1, 1, 15).view(3, 5)))
tried("groups", dict(enable_gqa=True), ((2, 4, 3, 2), (2, 2, 3, 2), (2, 2, 3, 2)))
tried("nothing", {}, ((1, 0, 3, 4), (1, 0, 5, 4), (1, 0, 5, 6)))
tried("rows", {}, ((3, 4), (5, 4), (5, 2)))

for options in (dict(), dict(norm_first=True, activation="gelu", batch_first=True), dict(dropout=0.5, bias=False)):
    for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer):
        torch.manual_seed(2)
        layer = kind(6, 2, 8, **options)
        x = torch.randn(3, 2, 6, requires_grad=True)
        out = layer(x) if kind is nn.TransformerEncoderLayer else layer(x, torch.randn(3, 2, 6))
        (out * torch.arange(36.0).view(3, 2, 6)).sum().backward()
        print(kind.__name__, options, told(out, x.grad, *[one.grad for one in layer.parameters()]))

torch.manual_seed(3)
x = torch.randn(4, 3, requires_grad=True)
for layer in (nn.RReLU(), nn.RReLU(0.5, 0.9, inplace=True)):
    x.grad = None
    out = layer(x * 2)
    out.sum().backward()
    print(told(out, x.grad), torch.equal(layer.eval()(x * 1), F.leaky_relu(x, (layer.lower + layer.upper) / 2)))
print(torch.rand(1).item(), F.rrelu(torch.ones(0), training=True).shape)

for shapes in (((1, 0, 3, 5), (1, 0, 5, 6)), ((0, 1, 3, 5), (5, 6)), ((2, 0, 3, 5), (1, 1, 5, 6)), ((0, 2, 3, 0), (1, 2, 0, 6)), ((1, 2, 3, 0), (1, 2, 0, 6))):
    a, b = [torch.ones(shape, requires_grad=True) for shape in shapes]
    out = a @ b
    out.sum().backward()
    print(tuple(out.shape), out.sum().item(), a.grad.sum().item(), b.grad.abs().sum().item())
