# SPDX-License-Identifier: Apache-2.0
"""torch.autocast: which operator computes in which type, and what a scaler does to a step."""
import torch
import torch.nn as nn
import torch.nn.functional as F

x, w = torch.arange(12.0).reshape(3, 4) / 7, torch.arange(20.0).reshape(5, 4) / 9
b16 = torch.bfloat16
with torch.autocast("cpu", dtype=b16):
    assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is b16
    y = x @ w.t()
    assert y.dtype is b16 and torch.equal(y, (x.to(b16) @ w.t().to(b16)))
    assert F.linear(x, w).dtype is b16 and torch.mm(x, w.t()).dtype is b16
    assert (x + 1).dtype is torch.float32 and (y.sum() + x).dtype is torch.float32
    assert torch.softmax(y, -1).dtype is b16
    assert torch.cat([y, torch.zeros(3, 5)]).dtype is torch.float32
    loss = F.cross_entropy(y, torch.tensor([0, 1, 2]))
    assert loss.dtype is torch.float32 and torch.equal(loss, F.cross_entropy(y.float(), torch.tensor([0, 1, 2])))
    assert F.mse_loss(y, y.float()).dtype is torch.float32
    assert (x.double() @ w.t().double()).dtype is torch.float64
    with torch.autocast("cpu", enabled=False):
        assert (x @ w.t()).dtype is torch.float32
    with torch.autocast("cuda", dtype=torch.float16):
        assert (x @ w.t()).dtype is b16
assert not torch.is_autocast_enabled("cpu") and (x @ w.t()).dtype is torch.float32


@torch.autocast("cpu", dtype=b16)
def within(x):
    return nn.functional.linear(x, w)


assert within(x).dtype is b16
with torch.amp.autocast("cpu"):
    assert F.linear(x, w).dtype is b16


@torch.library.custom_op("autocast_test::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


torch.library.register_autocast("autocast_test::same", "cpu", b16)
with torch.autocast("cpu", dtype=b16):
    assert same(x).dtype is b16
assert same(x).dtype is torch.float32

model = nn.Linear(4, 1)
with torch.no_grad():
    model.weight.copy_(torch.ones(1, 4)), model.bias.zero_()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cpu", dtype=b16):
    out = model(x)
    loss = out.float().mean()
loss.backward()
assert out.dtype is b16 and model.weight.grad.dtype is torch.float32
assert torch.allclose(model.weight.grad, x.mean(0, keepdim=True), atol=1e-2)

scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
before = model.weight.detach().clone()
for scale, bad in ((4.0, False), (4.0, True), (2.0, False), (2.0, False), (4.0, False)):
    assert scaler.get_scale() == scale, scaler.get_scale()
    optimizer.zero_grad()
    loss = model(x).mean() * (float("inf") if bad else 1.0)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
assert torch.isfinite(model.weight).all() and not torch.equal(before, model.weight)
assert torch.allclose(model.weight, before - 0.1 * 4 * x.mean(0, keepdim=True), atol=1e-5)
print("ok")
