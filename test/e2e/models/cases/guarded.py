# SPDX-License-Identifier: Apache-2.0
"""Launches whose constants, options and grids depend on a dynamic size: one package for every size."""
import torch
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton


@triton.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
@triton.jit
def add_one_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)
    else:
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@triton.autotune(configs=[triton.Config({}, num_warps=4)], key=["n"])
@triton.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
@triton.jit
def add_one_tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)
    else:
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def _add_one(kernel, x):
    y = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (min(triton.cdiv(n, meta["BLOCK"]), 65535), 1 if n < 1000 else 1)
    kernel[grid](x, y, n, BLOCK=64)
    return y


def even(x):
    return _add_one(add_one_kernel, x)


@triton_op("guarded::even", mutates_args=())
def even_op(x: torch.Tensor) -> torch.Tensor:
    return _add_one(wrap_triton(add_one_tuned), x)


@custom_op("guarded::even_opaque", mutates_args=())
def even_opaque(x: torch.Tensor) -> torch.Tensor:
    return _add_one(add_one_kernel, x)


@even_opaque.register_fake
def _(x):
    return torch.empty_like(x)


def even_transparent(x):
    return even_op(x)


def even_closed(x):
    return even_opaque(x)


@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(y_ptr + row, tl.sum(tl.load(x_ptr + row * n + c, mask=c < n, other=0.0), 0))


def settings(n):
    block = triton.next_power_of_2(n)
    if block > 65536:
        raise RuntimeError(f"rows of {n} do not fit")
    num_warps = 4
    if block >= 1024:
        num_warps = 16
    elif block >= 256:
        num_warps = 8
    return block, num_warps


def row_sum(x):
    rows, n = x.shape
    y = torch.empty(rows, device=x.device, dtype=x.dtype)
    block, num_warps = settings(n)
    num_stages = 4 if block > 64 else 2
    row_sum_kernel[(rows,)](x, y, n, BLOCK=max(16, block), num_warps=num_warps, num_stages=num_stages)
    return y


@triton.heuristics({
    "BLOCK_N": lambda a: triton.next_power_of_2(a["N"]),
    "EVEN_M": lambda a: a["M"] % a["BLOCK_M"] == 0,
    "EVEN_N": lambda a: a["N"] % a["BLOCK_N"] == 0,
    "factor": lambda a: 3 if a["M"] > 10 else 2,
    "num_warps": lambda a: 1 if a["BLOCK_N"] <= 64 else 4,
})
@triton.jit
def scale_kernel(x_ptr, y_ptr, M, N, stride, factor, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 EVEN_M: tl.constexpr, EVEN_N: tl.constexpr):
    r = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.arange(0, BLOCK_N)
    at = r[:, None] * stride + c[None, :]
    if EVEN_M & EVEN_N:
        tl.store(y_ptr + at, tl.load(x_ptr + at) * factor)
    else:
        inside = (r[:, None] < M) & (c[None, :] < N)
        tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) * factor, mask=inside)


def two_dims(x):
    M, N = x.shape
    y = torch.empty_like(x)
    scale_kernel[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)](x, y, M, N, x.stride(0), BLOCK_M=8)
    return y


def keep_fitting(configs, named_args, **kwargs):
    """Sees what stands by position in named_args, the rest as keywords, as Triton calls it."""
    assert set(named_args) == {"x_ptr", "y_ptr"}
    return [c for c in configs if c.kwargs["BLOCK"] <= max(64, triton.next_power_of_2(kwargs["n"]))]


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}) for b in (1024, 256, 64)],
    key=["n"],
    prune_configs_by={"early_config_prune": keep_fitting, "perf_model": lambda **a: -a["BLOCK"], "top_k": 1},
    restore_value=["y_ptr"],
)
@triton.jit
def block_size_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * BLOCK, mask=i < n)


def pruned(x):
    y = torch.empty_like(x)
    n = x.numel()
    block_size_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n=n)
    return y


def clear(arguments):
    arguments["y_ptr"].zero_()


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, pre_hook=clear)], key=["n"])
@triton.jit
def total_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


def hooked(x):
    y = torch.ones(1, dtype=torch.float32)
    for _ in range(2):
        total_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
