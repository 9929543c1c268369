# SPDX-License-Identifier: Apache-2.0
"""A kernel file as users write them."""
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": b}, num_warps=w, num_stages=2)
        for b in (256, 1024)
        for w in [4, 8]
    ],
    key=["n_cols"],
)
@triton.heuristics(values={"EVEN": lambda args: args["n_cols"] % args["BLOCK"] == 0})
@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride: tl.int64, n_rows, n_cols,
                   BLOCK: tl.constexpr, EVEN: tl.constexpr = False):
    row = tl.program_id(axis=0)
    for row_idx in tl.range(row, n_rows, tl.num_programs(0), num_stages=3):
        offsets = tl.arange(0, BLOCK)
        mask = (offsets < n_cols) & (row_idx >= 0)
        x = tl.load(in_ptr + row_idx * in_stride + offsets, mask=mask, other=-float("inf"))
        if EVEN:
            x -= tl.max(x, axis=0)
        elif BLOCK > 4096:
            tl.static_assert(BLOCK < 1 << 20, f"too large: {BLOCK=} for {n_cols:>{8}}")
        else:
            x = x - tl.max(x, 0)
        num = tl.exp(x.to(tl.float32))
        tl.store(out_ptr + row_idx * in_stride + offsets, num / tl.sum(num, axis=0), mask)
        acc = tl.zeros([BLOCK, 64], dtype=tl.float32)[:, None][0:1, ..., ::2]


@triton_op("mylib::softmax", mutates_args={})
def softmax(x: torch.Tensor, *, dim: int = -1) -> torch.Tensor:
    assert x.is_cuda and dim in (-1, x.ndim - 1), "last dimension only"
    y = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.shape[0], meta["BLOCK"]), 1, 1)
    wrap_triton(softmax_kernel)[grid](y, x, x.stride(0), *x.shape, BLOCK=1024)
    return y


class Model(torch.nn.Module):
    scale: float = 1e-3

    def __init__(self, n, /, *args, bias=True, **kwargs):
        super().__init__()
        self.linear, self.n = torch.nn.Linear(n, n, bias=bias), n

    def forward(self, x):
        while x.numel() > 1 and (y := x.sum()) is not None:
            x, *rest = softmax(self.linear(x)) @ x.T, y
        return {"out": x, **{k: v for k, v in enumerate(rest) if not k % 2}}
