# SPDX-License-Identifier: Apache-2.0
"""torch.vmap over operators, with rules of register_vmap and without."""
import torch


@torch.library.custom_op("vmap_test::cube", mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return x * x * x


@torch.library.custom_op("vmap_test::rows", mutates_args=())
def rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum(-1) + y


calls = []


@rows.register_vmap
def _(info, in_dims, x, y):
    calls.append((info.batch_size, in_dims))
    x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x
    y = y.movedim(in_dims[1], 0) if in_dims[1] is not None else y
    return x.sum(-1) + y, 0


@torch.library.register_vmap("vmap_test::cube")
def _(info, in_dims, x):
    calls.append("cube")
    return cube(x), in_dims[0]


x, w = torch.arange(24.0).reshape(4, 2, 3), torch.arange(12.0).reshape(4, 3) - 5
assert torch.equal(torch.vmap(cube)(x), x ** 3) and calls == ["cube"]
calls.clear()
got = torch.vmap(rows, in_dims=(0, None))(x, torch.ones(2))
assert torch.equal(got, x.sum(-1) + 1) and calls == [(4, (0, None))], calls
assert torch.equal(torch.vmap(torch.dot)(w, w), (w * w).sum(-1))
assert torch.equal(torch.vmap(lambda a, b: a @ b)(x, w), torch.bmm(x, w[..., None])[..., 0])
assert torch.equal(torch.vmap(lambda a: a.sum(0), in_dims=1, out_dims=1)(x), x.sum(0).t() if False else torch.stack([x[:, i].sum(0) for i in range(2)], 1))
assert torch.equal(torch.func.vmap(torch.func.vmap(lambda a, b: a * b))(x, x), x * x)
assert torch.equal(torch.vmap(lambda a, b: a + b, in_dims=(0, None))(w, torch.ones(3)), w + 1)
a, b = torch.vmap(lambda a: (a.exp(), a.max()))(w)
assert torch.allclose(a, w.exp()) and torch.equal(b, w.max(1).values)
for wrong in (lambda: torch.vmap(lambda a, b: a + b)(w, x[:3]), lambda: torch.vmap(lambda a: a)(torch.tensor(1.0)), lambda: torch.vmap(lambda a: 3)(w)):
    try:
        wrong()
    except ValueError:
        continue
    raise AssertionError("no ValueError")
print("ok")
