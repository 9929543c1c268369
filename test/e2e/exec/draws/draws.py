# SPDX-License-Identifier: Apache-2.0
"""What a script draws on a CUDA device, as the bits of each call: one line for a call. Runs under PyTorch, too.

    draws.py [--large]
"""
import sys

import torch
import torch.nn.functional as F

# More elements than a device has threads, so that a thread draws more than one.
SIZES = [1, 2, 5, 255, 256, 1000, 4099, 30000] + ([221184, 221185, 300000, 1000003, 2500000] if "--large" in sys.argv else [])
BITS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float64: torch.int64}


def bits(x):
    x = x.contiguous()
    if x.dtype in BITS:
        x = x.view(BITS[x.dtype])
    return x.to(torch.int64).flatten()


def say(name, x):
    b = bits(x).cpu()
    # Each sum changes with any bit and with any order.
    place = torch.arange(b.numel()) % 1013 + 1
    print(name, tuple(x.shape), str(x.dtype).partition(".")[2], b[:3].tolist(), int(b.sum()), int((b % 65521 * place).sum()))


def around(name, size, make):
    say(f"{name} {size}", make())


torch.manual_seed(1234)
for size in SIZES:
    d = {"device": "cuda"}
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        say("rand", torch.rand(size, dtype=dtype, **d))
        say("uniform", torch.empty(size, dtype=dtype, **d).uniform_(-0.3, 1.7))
        say("bernoulli_", torch.empty(size, dtype=dtype, **d).bernoulli_(0.3))
    say("dropout", F.dropout(torch.ones(size, **d), 0.25))
    say("dropout", F.dropout(torch.ones(size, dtype=torch.bfloat16, **d), 0.5))
    say("randint", torch.randint(-5, 1000, (size,), **d))
    say("randint", torch.randint(0, 2**40, (size,), **d))
    say("randint", torch.randint(0, 7, (size,), dtype=torch.int32, **d))
    say("random", torch.empty(size, dtype=torch.int64, **d).random_())
    say("random", torch.empty(size, dtype=torch.uint8, **d).random_())
    say("random", torch.empty(size, dtype=torch.bool, **d).random_())
    say("random", torch.empty(size, **d).random_())
    say("bernoulli", torch.bernoulli(torch.full((size,), 0.7, **d)))
    say("randperm", torch.randperm(size, device="cuda"))
    say("rand again", torch.rand(size, **d))
x = torch.rand(6, 10, device="cuda").t()
say("of another order", torch.rand_like(x))
say("of another order", F.dropout(x, 0.5))
say("a part", F.dropout(torch.ones(40, device="cuda")[1:37], 0.5))
say("none", torch.rand(0, 3, device="cuda"))
generator = torch.Generator(device="cuda").manual_seed(2**63 + 5)
say("generator", torch.rand(100, device="cuda", generator=generator))
state = torch.cuda.get_rng_state()
say("state", torch.rand(33, device="cuda"))
torch.cuda.set_rng_state(state)
say("state", torch.rand(33, device="cuda"))
say("the CPU's", torch.rand(5))
torch.cuda.manual_seed(7)
say("seed", torch.rand(5, device="cuda"))
say("the CPU's", torch.rand(5))
with torch.device("cuda"):
    layer = torch.nn.Linear(30, 20)
say("layer", layer.weight.detach())
with torch.random.fork_rng():
    say("forked", torch.rand(9, device="cuda"))
say("forked", torch.rand(9, device="cuda"))
