# Values, views and writes of small tensors.
import torch

torch.manual_seed(0)
x = torch.randn(3, 4)
print(x)
y = (x @ x.T).relu()
y += 1
print(y, y.sum().item())
print(f"{y[0, 0]:.3f} {y.shape} {y[1]}")
z = torch.zeros(4, 4)
z[1] = 5
z[:, 2] += 1.5
v = z.view(16)
v[0] = -1
print(z, z.t().is_contiguous())
i = torch.tensor(2)
print(x[i - 1:i + 1], int(i), float(z[1, 2]), [10, 20, 30][i], list(range(i)))
print(x[x > 0], torch.nonzero(x > 1), (x > 0).sum().item(), bool((x > 9).any()))
print(torch.allclose(z, z + 1e-9), torch.equal(z, z + 1), z.numel(), len(z))
print(torch.rand(3), torch.randint(0, 10, (4,)), torch.randperm(5), torch.rand(2, 2, dtype=torch.float64))
print(torch.nn.functional.dropout(x, 0.5, True))
print(torch.tensor([1, 2, 3]), torch.tensor(3.5), torch.tensor([True]), torch.tensor([]), torch.arange(3, dtype=torch.int32))
print([row.tolist() for row in z[:2]], torch.arange(6).reshape(2, 3).tolist())
try:
    if x:
        pass
except RuntimeError as error:
    print(error)
big = torch.arange(2000).float()
print(big, big.mean(), big.to(torch.bfloat16)[:3])
torch.set_printoptions(precision=2, sci_mode=True)
print(x)

# Numbers that torch has, and questions to a tensor.
print(torch.inf, -torch.inf, torch.nan, torch.pi, torch.e, torch.newaxis, torch.get_default_dtype())
x = torch.arange(6.0).reshape(2, 3)
print(x[torch.newaxis].shape, 4 in x, 7 in x, torch.tensor(2.0) in x, 3 not in x)
print(x.type(), x.half().type(), x.long().type(), x.bool().type(), x.to(torch.bfloat16).type(), x.to(torch.uint8).type())
print(torch.where(x > 2, -torch.inf, x), x.masked_fill(x < 2, torch.nan), x * torch.pi)
torch.manual_seed(5)
print(torch.bernoulli(torch.full((3, 9), 0.3)), torch.bernoulli(torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)), torch.rand(2))
try:
    torch.bernoulli(torch.tensor([2.0]))
except RuntimeError as error:
    print(str(error).partition(".")[0])
