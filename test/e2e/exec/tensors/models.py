# A module made, converted, copied and changed in a script.
import copy

import torch
import torch.nn as nn

torch.manual_seed(3)


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.Linear(d, 2 * d)
        self.norm = nn.LayerNorm(2 * d)
        self.last = nn.Linear(2 * d, d, bias=False)
        self.register_buffer("scale", torch.full((d,), 0.5))

    def forward(self, x):
        return self.last(nn.functional.silu(self.norm(self.first(x)))) * self.scale


with torch.no_grad():
    model = Model(6).eval()
    x = torch.randn(4, 6)
    print(model(x))
    print([(name, tuple(p.shape)) for name, p in model.named_parameters()])
    print(list(model.state_dict()))
    other = copy.deepcopy(model)
    other.last.weight.mul_(2)
    print((other(x) / model(x)).round())
    other.load_state_dict(model.state_dict())
    print(torch.equal(other(x), model(x)))
    half = copy.deepcopy(model).to(torch.bfloat16)
    print(half(x.to(torch.bfloat16)).dtype, half.last.weight.dtype, model.last.weight.dtype)
    total = 0
    for step in range(100):
        x = x * 0.99 + step / 1000
        total += model(x).sum().item()
    print(f"{total:.2f}")
    batch = nn.BatchNorm1d(6).train()
    for step in range(3):
        batch(x + step)
    print(batch.running_mean, batch.num_batches_tracked)
    print(nn.Dropout(0.5).train()(torch.ones(8)), nn.Dropout(0.5).eval()(torch.ones(3)))
