# Kernels, triton_ops and custom_ops on tensors of a script.
import torch
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton

assert torch.cuda.is_available()


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


def scaled(x, factor):
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
    scale_kernel[grid](x, out, factor, x.numel(), BLOCK=128)
    return out


@triton_op("tests::scaled", mutates_args={})
def scaled_op(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(scale_kernel)[(triton.cdiv(x.numel(), 128),)](x, out, factor, x.numel(), BLOCK=128)
    return out


@custom_op("tests::clipped", mutates_args={"x"})
def clipped(x: torch.Tensor, most: float) -> None:
    if x.max().item() > most:
        x.clamp_(max=most)


x = torch.arange(300.0, device="cuda")
y = scaled(x, 2.0)
print(torch.allclose(y, x * 2), y.device, y.is_cuda)
print(torch.equal(torch.ops.tests.scaled(x, 3.0), x * 3), torch.equal(scaled_op(x, 3.0), x * 3))
clipped(y, 5.0)
print(y.sum().item(), y.cpu()[-3:], y[-2:])
part = x[10:20]
scale_kernel[(1,)](part, part, 0.5, 10, BLOCK=16)
print(x[8:22].tolist())
try:
    x + torch.ones(300)
except RuntimeError as error:
    print(error)
for i in range(50):
    y = scaled(y, 0.9)
before = torch._pellucid_statistics()["compiled"]
for i in range(50):
    y = scaled(y, 0.9)
    if y[0].item() > 1:
        print("never")
print(torch._pellucid_statistics()["compiled"] - before <= 2)
before = torch._pellucid_statistics()["compiled"]
for i in range(30):
    y = scaled(torch.ones(300, device="cuda"), 0.5 + i / 100)
    if not torch.allclose(y, torch.full((300,), 0.5 + i / 100, device="cuda")):
        print("wrong", i)
print(torch._pellucid_statistics()["compiled"] - before <= 4)
print(torch.randn_like(x).device, torch.nn.functional.dropout(x, 0.5, True).device, x.new_zeros(2).device, torch.zeros_like(x).device)
