# SPDX-License-Identifier: Apache-2.0
"""numpy's arrays: texts, types, random numbers, and the memory they share with tensors."""
import numpy as np
import torch

a = np.array([1, 2.5, 3.25]); print(a, repr(a), a.dtype, a.shape)
print(np.array([[1, 2], [30, 4]]), np.arange(5), np.zeros((2, 3)), np.linspace(0, 1, 5))
print(np.array([1e-8, 1.0, 1e5]), np.array([True, False]), np.array([0.1, 0.2], dtype=np.float32))
print(repr(np.array([0.1, 0.2], dtype=np.float32)), repr(np.arange(3)), np.array([1.0, -2.0, np.nan, np.inf]))
np.random.seed(0)
print(np.random.rand(3), np.random.randn(3), np.random.randint(0, 10, 5), np.random.permutation(5), np.random.choice(10, 3), np.random.normal(0, 2, (2, 2)), np.random.uniform(-1, 1), sep="\n")
x = np.arange(12).reshape(3, 4); print(x.sum(), x.mean(0), x.std(), x[1], x[:, 1], x[x > 5], x.T.shape, x / 2, x @ x.T, x.max(axis=1))
print(np.allclose([1.0], [1.0 + 1e-9]), np.concatenate([a, a]), np.stack([a, a]), np.where(a > 2, a, 0), np.exp(a), np.sqrt(4), np.mean([1, 2, 3]))
print(a.mean(), [a.mean()], float(a.mean()), f"{a.mean():.3f}", np.float32(0.1), np.float32(1) / 3)
a[0] = 7; a += 1; print(a, a.tolist(), len(a), a.argmax(), a * 2 + 1, -a, 2 - a, a ** 2, a.astype(np.int64), a.clip(4, 8))
print(np.random.random_sample(2), np.median([3, 1, 2]), np.percentile([1, 2, 3, 4], 25), np.unique(np.array([3, 1, 3])), np.dot([1, 2], [3, 4]), np.linalg.norm([3, 4]))
print(np.arange(1001), np.ones((3, 3)) * 1e10, np.array([1.5, 100000.25]), np.array(3.5), np.array([]), np.eye(2))
print(np.round(2.567, 1), np.pi, np.isnan(np.array([np.nan, 1.])), np.cumsum([1, 2, 3]), np.prod([2, 3]), np.abs(-3), np.maximum([1, 5], 3))
print(np.random.shuffle(a), a, np.argsort([3, 1, 2]), np.any([0, 1]), np.all([0, 1]), np.expand_dims(a, 0).shape, np.array_equal([1], [1]))
print(np.arange(20.).reshape(2, 10) * 1.37, np.array([[0.001, 1000.]]), np.arange(24).reshape(2, 3, 4))
a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(a); t[0, 0] = 9; print(a, t)
print(torch.tensor(a), torch.tensor(np.array([1, 2])), torch.as_tensor(a).dtype, torch.tensor(np.float64(2.5)), torch.tensor([np.float32(1.5), 2]))
x = torch.ones(3); n = x.numpy(); n *= 2; print(x, n, x.detach().cpu().numpy().mean(), x.numpy().tolist())
print(x.numpy().shape, np.mean(x.numpy()), np.array([x.item() for x in x]))
try: torch.ones(1, requires_grad=True).numpy()
except RuntimeError as e: print(e)
print(torch.from_numpy(np.random.RandomState(0).randn(3)), x * np.float32(2), torch.Size([1, 2]) == x.new_zeros(1, 2).shape, isinstance(x.shape, torch.Size))
