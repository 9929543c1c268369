# SPDX-License-Identifier: Apache-2.0
# triton.profiler, and the products of Triton's own library.
import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.viewer as viewer
from triton._C.libtriton import nvidia


def describe(grid, kernel, args):
    return {"name": f"{kernel.name} [n={args['n']}]", "flops32": 2.0 * args["n"], "bytes": 4 * args["x"].numel()}


@triton.jit(launch_metadata=describe)
def twice(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) * 2, i < n)


def run(x):
    twice[(triton.cdiv(x.numel(), 1024),)](x, x.numel(), BLOCK=1024)


x = torch.ones(5000, device="cuda")
proton.start("profile_of_a_script", hook="triton")
proton.deactivate()
run(x)  # not seen
proton.activate(0)
for _ in range(3):
    run(x)
with proton.scope("outer", {"flops32": 7.0}):
    run(x)
    y = (x * 3).sum()
proton.deactivate(0)
run(x)
proton.finalize()
print(x[0].item(), y.item())
tree, metrics = viewer.parse(["time/ms", "count"], "profile_of_a_script.hatchet")
print([child.name for child in tree.children], tree.children[0].total("flops32"), tree.children[1].total("flops32"), tree.time > 0)
print(tree.children[0].children[0].name, tree.children[0].children[0].count, [child.name for child in tree.children[1].children][0])
viewer.print_tree(tree, metrics)
viewer.parse(["gflop32/s", "avg_time/us", "gbyte/s"], "profile_of_a_script.hatchet")
try:
    viewer.parse(["cycles"], "profile_of_a_script.hatchet")
except ValueError as error:
    print(error)
try:
    proton.deactivate(0)
except ValueError as error:
    print(error)
blas = nvidia.cublas.CublasLt(torch.empty(1024, dtype=torch.uint8, device="cuda"))
for dtype, bound in ((torch.float16, 2e-3), (torch.bfloat16, 1e-2), (torch.float32, 1e-5), (torch.float8_e4m3fn, 0.07)):
    a, b = torch.randn(33, 48).to(dtype).cuda(), torch.randn(17, 48).to(dtype).cuda()
    c = torch.empty(33, 17, dtype=dtype, device="cuda")
    blas.matmul(a, b, c)
    want = a.double() @ b.double().T
    print(dtype, ((c.double() - want).abs() / want.abs().max()).max().item() < bound)
d = torch.empty(33, 17, dtype=torch.float32, device="cuda")
a, b, c = torch.randn(33, 48).cuda(), torch.randn(17, 48).cuda(), torch.randn(33, 17).cuda()
blas.gemm(a, b, c, d, 0.5, 2.0)
print(torch.allclose(d.double(), 0.5 * (a.double() @ b.double().T) + 2 * c.double(), atol=1e-4))
try:
    blas.matmul(a, b.T, c)
except RuntimeError as error:
    print(error)
