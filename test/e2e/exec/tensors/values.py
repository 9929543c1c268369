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

# Lists of dims and sizes that methods take written out, too, and methods whose operator has another order.
x = torch.arange(24.0).reshape(2, 3, 4)
print(x.flip(0, 2).tolist(), x.flip((1,)).tolist(), x.flip(-1).tolist(), x.flip([0, 1]).equal(x.flip(0, 1)), x.flip(dims=(2, 0)).equal(x.flip(2, 0)))
print(x.tile(2, 1, 1).shape, x.tile(2, 2).shape, x.tile((3,)).shape, x[:1].broadcast_to(2, 3, 4).sum(), x[:1].broadcast_to((5, 1, 3, 4)).shape, x.sum_to_size(1, 3, 1).tolist(), x.sum_to_size((3, 4)).shape)
print(x.permute(2, 0, 1).shape, x.repeat(2, 1, 1).shape, x[:, :1].expand(2, 3, 4).shape, x.view(6, 4).shape, x.reshape(4, -1).shape, x.new_zeros(2, 3).shape, x.new_ones((2,)).shape)
y = x[0]
print(y.where(y > 5, -y).tolist(), y.where(y > 5, 0).tolist(), y.where(condition=y < 2, other=torch.tensor(9.0)).tolist(), y.where(y > 5, other=7).tolist(), torch.where(y > 5, y, -y).sum())
for wrong in (lambda: y.where(), lambda: y.where(y > 5, torch.ones(5))):
    try:
        print(wrong())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:70])
print(torch.inner(x, x).shape, torch.inner(x, x)[1, 2].tolist(), x.inner(x[0, 0]).tolist(), torch.inner(x[0, 0], x[0, 1]), torch.tensordot(x, x, ([-1], [-1])).equal(torch.inner(x, x)))
print(torch.max(x, axis=1).values.tolist(), torch.min(x, axis=0, keepdims=True).indices.shape, x.max(axis=-1)[0].shape, torch.concat((x, x), axis=1).shape, torch.concatenate([x, x], dim=2).shape, torch.concat((x, x)).shape, torch.roll(x, 1, 2).equal(x.roll(1, 2)))
# Whole numbers that a double does not hold.
print(torch.full((2,), 2**53 + 1).tolist(), torch.full((1,), -(2**62) - 1).tolist(), torch.ones(2, dtype=torch.int64).fill_(2**53 + 1).tolist(), torch.full_like(torch.arange(2), 2**60 + 7).tolist())
