# SPDX-License-Identifier: Apache-2.0
"""state_dict, torch.save and torch.load: what is written is what is read."""
import os
import sys
from collections import OrderedDict

import torch
import torch.nn as nn

folder = sys.argv[1]
torch.manual_seed(0)


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2, bias=False))


model, other = network(), network()
state = model.state_dict()
assert isinstance(state, OrderedDict)
assert list(state) == ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked", "2.weight"], list(state)
path = os.path.join(folder, "model.pt")
torch.save({"model": state, "step": 7, "lr": 0.25, "names": ["a", ("b", None)], "half": torch.arange(3).to(torch.bfloat16), "flag": True, "dtype": torch.float16,
            "strided": torch.arange(6.0).reshape(2, 3).t()}, path)
read = torch.load(path)
assert read["step"] == 7 and read["lr"] == 0.25 and read["names"] == ["a", ("b", None)] and read["flag"] is True and read["dtype"] is torch.float16
assert read["half"].dtype is torch.bfloat16 and read["half"].tolist() == [0.0, 1.0, 2.0] and read["strided"].tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
kept = other.load_state_dict(read["model"])
assert kept.missing_keys == [] and kept.unexpected_keys == []
x = torch.randn(5, 3)
model.eval(), other.eval()
assert torch.equal(model(x), other(x))


def refused(call, *texts):
    try:
        call()
    except RuntimeError as problem:
        for text in texts:
            assert text in str(problem), problem
        return
    raise AssertionError("no RuntimeError")


refused(lambda: other.load_state_dict({"0.weight": torch.zeros(1, 1), "more": torch.zeros(1)}), "Error(s) in loading state_dict for Sequential", 'Missing key(s) in state_dict: "0.bias"',
        'Unexpected key(s) in state_dict: "more"', "size mismatch for 0.weight: copying a param with shape torch.Size([1, 1]) from checkpoint")
some = other.load_state_dict({"0.bias": torch.ones(4)}, strict=False)
assert "0.weight" in some.missing_keys and other[0].bias.tolist() == [1.0] * 4

# an optimiser goes on where it was
for name, options in (("SGD", dict(lr=0.1, momentum=0.9)), ("AdamW", dict(lr=0.1, amsgrad=True))):
    def step(p, optimizer, i):
        p.grad = torch.arange(4.0) * (i + 1) - 3
        optimizer.step()

    def make():
        p = nn.Parameter(torch.ones(4))
        return p, getattr(torch.optim, name)([p], **options)

    p, optimizer = make()
    for i in range(3):
        step(p, optimizer, i)
    path = os.path.join(folder, name + ".pt")
    torch.save({"p": p.detach(), "optimizer": optimizer.state_dict()}, path)
    again, resumed = make()
    read = torch.load(path, weights_only=True)
    with torch.no_grad():
        again.copy_(read["p"])
    resumed.load_state_dict(read["optimizer"])
    step(p, optimizer, 3), step(again, resumed, 3)
    assert torch.equal(p, again), name
print("ok")
