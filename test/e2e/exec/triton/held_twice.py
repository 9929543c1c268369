# SPDX-License-Identifier: Apache-2.0
# Tensors that hold one value in memories of their own, and a kernel that writes to both: at once, by two segments, and compiled.
import sys

import torch
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton


@triton.jit
def move_apart(a, b, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, i < n)
    y = tl.load(b + i, i < n)
    tl.store(a + i, x + 1, i < n)
    tl.store(b + i, y - 1, i < n)


def copied(y):
    v = torch.empty_like(y)
    v.copy_(y)
    return v


def assigned(y):
    v = y - y
    v[:] = y
    return v


def copied_twice(y):
    v, w = torch.empty_like(y), torch.empty_like(y)
    v.copy_(y)
    w.copy_(v)
    return w


def through_data(y):
    v = torch.empty_like(y)
    v.data.copy_(y)
    return v


def part(y):
    v = torch.empty_like(y[:2])
    v[:] = y[:2]
    return v


def swapped(y):
    v = y * 1
    t = v.clone()
    v.copy_(y)
    y.copy_(t)
    return v


def raveled(y):
    return y[:, ::2].ravel().clone()


@triton_op("held::apart", mutates_args=("a", "b"))
def apart(a: torch.Tensor, b: torch.Tensor, n: int) -> None:
    wrap_triton(move_apart)[(triton.cdiv(n, 16),)](a, b, n, BLOCK=16)


@custom_op("held::all_apart", mutates_args="unknown")
def all_apart(tensors: list[torch.Tensor], n: int) -> None:
    move_apart[(triton.cdiv(n, 16),)](tensors[0], tensors[1], n, BLOCK=16)


def both(make, between):
    def run(y):
        v = make(y)
        if between:
            print(end=str(v.sum().item())[:0])
        n = v.numel()
        move_apart[(triton.cdiv(n, 16),)](y.view(-1), v.reshape(-1), n, BLOCK=16)
        return v

    return run


def by_operator(make):
    def run(y):
        v = make(y)
        apart(y.view(-1), v.reshape(-1), v.numel())
        return v

    return run


def by_list(make):
    def run(y):
        v = make(y)
        all_apart([y.view(-1), v.reshape(-1)], v.numel())
        return v

    return run


device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
for make in (copied, assigned, copied_twice, through_data, part, swapped, raveled):
    for road in ("eager", "segments", "compiled", "operator", "compiled operator", "list"):
        y = torch.arange(24.0, device=device).reshape(4, 6)
        before = y.clone()
        expected = make(y.clone())
        run = by_list(make) if road == "list" else by_operator(make) if road.endswith("operator") else both(make, road == "segments")
        v = (torch.compile(run, fullgraph=True) if road.startswith("compiled") else run)(y)
        n = v.numel()
        moved = (y - before).flatten()
        assert torch.equal(moved[:n], torch.ones(n, device=device)), (make.__name__, road, moved)
        assert torch.equal(moved[n:], torch.zeros(24 - n, device=device)), (make.__name__, road, moved)
        assert torch.equal(v, expected - 1), (make.__name__, road, v)
print("right")
