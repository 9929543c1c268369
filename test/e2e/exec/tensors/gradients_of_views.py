# Gradients through views of views: of parts with gaps between them, of places that several elements share.
import torch


def data(*shape):
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count) * 7 % 11 - 4).to(torch.float32).reshape(shape)


def show(view, leaf):
    weights = torch.arange(float(view.numel())).reshape(view.shape) % 13 - 3
    (grad,) = torch.autograd.grad((view * weights).sum() + (view * view).sum(), leaf)
    print(list(view.shape), list(view.stride()), [round(number, 3) for number in grad.flatten().tolist()])


x = data(2, 3, 4).requires_grad_()
show(x.unfold(-2, 2, 1).unfold(1, 2, 1), x)
show(x.unfold(1, 2, 1).unfold(2, 3, 1), x)
show(x.unfold(2, 3, 1).unfold(2, 2, 1).diagonal(), x)
show(x[:, ::2].unfold(2, 2, 2), x)
show(x[:, 1].diagonal(), x)
show(x[1, :, 1:].unfold(0, 2, 1), x)
show(x.transpose(0, 2)[1:, :, 1].diagonal(), x)
show(x.expand(3, 2, 3, 4).diagonal(0, 1, 3), x)
show(x[:, :, :1].expand(2, 3, 5).unfold(2, 2, 1), x)

y = data(4, 3, 2).transpose(0, 2).detach().requires_grad_()
show(y.unbind(1)[0].diagonal(), y)
show(y[:, 1].t().diagonal(), y)
show(y.select(1, 2).unfold(1, 2, 1), y)
show(y.unfold(0, 2, 1).unfold(2, 2, 2), y)
show(y[1:, :, 1:3].diagonal(0, 1, 2), y)
show(y.as_strided([2, 3], [1, 2], 1), y)

z = data(4, 5).requires_grad_()
part = z[1:, 2:]
show(part.diagonal(), z)
show(part.unfold(1, 2, 1).diagonal(0, 0, 2), z)
show(part.as_strided([2, 2], [5, 1], 7), z)
# A view that reaches outside of its base, whose memory is a part of another's.
rows = (z * 1)[1:3]
wide = rows.as_strided([3, 4], [5, 1], 0)
show(wide, rows)
w = z * 2
w[1:, 2:].diagonal().mul_(3)
w[:, ::2].unfold(1, 2, 2).add_(1)
show(w, z)
w = z * 2
w[::2, 1:].select(1, 1).copy_(z[0, :2] * 5)
w.t()[1:].diagonal().zero_()
show(w, z)
(grad,) = torch.autograd.grad(data(0, 3).requires_grad_().unfold(1, 2, 1).sum() + z.sum(), z)
print(grad.sum())
