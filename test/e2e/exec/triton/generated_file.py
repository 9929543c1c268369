# SPDX-License-Identifier: Apache-2.0
# The shape of files that torch.compile writes: kernels as strings, wrappers that launch them by run().
from ctypes import c_void_p, c_long, c_int
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
import torch
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._inductor.codegen.multi_kernel import MultiKernelCall
import triton
from torch._inductor.runtime.triton_heuristics import grid, split_scan_grid, start_graph, end_graph

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
assert_alignment = torch._C._dynamo.guards.assert_alignment
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
empty_strided_p2p = torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p

# A row's softmax, as newer versions write it: names in the signature, the grid by its kind.
rows = async_compile.triton('rows', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 16, 'r0_': 64},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, cc=90, warp_size=32), 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'rows', 'mutated_arg_names': []}
)
@triton.jit
def rows(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 11
    r0_numel = 37
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    tmp0 = tl.load(in_ptr0 + (r0_index + 37*xindex), r0_mask & xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(r0_mask & xmask, tmp1, float("-inf"))
    tmp4 = triton_helpers.max2(tmp3, 1)[:, None].to(tl.float32)
    tmp5 = tmp0 - tmp4
    tmp6 = libdevice.exp(tmp5)
    tmp7 = tl.broadcast_to(tmp6, [XBLOCK, R0_BLOCK])
    tmp9 = tl.where(r0_mask & xmask, tmp7, 0)
    tmp10 = tl.sum(tmp9, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (r0_index + 37*xindex), tmp6 / tmp10, r0_mask & xmask)
''', device_str='cuda')

# A transposition with a sum, as older versions write it: the grid at the call, hints as a list.
turned = async_compile.triton('turned', '''
import triton
import triton.language as tl
from triton.compiler.compiler import AttrsDescriptor

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, instance_descriptor, DeviceProperties

@triton_heuristics.pointwise(
    size_hints=[64, 16], tile_hint=TileHint.SQUARE,
    filename=__file__,
    triton_meta={'signature': {0: '*fp32', 1: '*fp32', 2: 'i32', 3: 'i32'}, 'device': DeviceProperties(type='cuda', index=0, cc=86), 'constants': {}, 'configs': [AttrsDescriptor(divisible_by_16=(0, 1), equal_to_1=())]},
    inductor_meta={'autotune_hints': set(), 'kernel_name': 'turned', 'mutated_arg_names': []},
    min_elem_per_thread=0
)
@triton.jit
def turned(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[None, :]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (yindex + ynumel*xindex), xmask & ymask)
    tl.store(out_ptr0 + (xindex + xnumel*yindex), tmp0 + 1.0, xmask & ymask)
''', device_str='cuda')

# A sum in pieces whose count of programs is an expression of its own.
total = async_compile.triton('total', '''
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import ReductionHint

@triton_heuristics.reduction(
    size_hints={'x': 1, 'r0_': 8192}, reduction_hint=ReductionHint.INNER, filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'constexpr', 'r0_numel': 'i32', 'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}, 'constants': {'xnumel': 1}},
    inductor_meta={'grid_type': 'FixedGrid', 'fixed_grid': ['(r0_numel + 8191) // 8192', '1', '_grid_2'], 'extra_launcher_args': ['_grid_2'], 'kernel_name': 'total'}
)
@triton.jit
def total(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    rbase = tl.arange(0, R0_BLOCK)[None, :]
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + rbase
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + r0_index, r0_mask, other=0.0)
        _tmp2 = tl.where(r0_mask, _tmp2 + tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK]), _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + tl.full([XBLOCK, 1], 0, tl.int32), tmp2, None)
''', device_str='cuda')

async_compile.wait(globals())
del async_compile


def call(args):
    arg0_1, arg1_1 = args
    args.clear()
    assert_size_stride(arg0_1, (11, 37), (37, 1))
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((11, 37), (37, 1), torch.float32)
        stream0 = get_raw_stream(0)
        rows.run(arg0_1, buf0, 11, 37, stream=stream0)
        buf1 = empty_strided_cuda((37, 11), (11, 1), torch.float32)
        turned.run(buf0, buf1, 37, 11, grid=grid(37, 11), stream=stream0)
        buf2 = empty_strided_cuda((), (), torch.float32)
        total.run(buf1, buf2, 1, 407, 1, stream=stream0)
        buf3 = empty_strided_cuda((37, 5), (5, 1), torch.float32)
        extern_kernels.mm(buf1, arg1_1, out=buf3)
        buf4 = empty_strided_cuda((2,), (1,), torch.int64)
        aten.randint.low_out(-9223372036854775808, 9223372036854775807, [2], out=buf4)
        del arg0_1
    return (buf0, reinterpret_tensor(buf1, (11, 37), (1, 11), 0), buf2, buf3)


def benchmark_compiled_module(times=10, repeat=10):
    from torch._dynamo.testing import rand_strided
    from torch._inductor.utils import print_performance
    arg0_1 = rand_strided((11, 37), (37, 1), device='cuda:0', dtype=torch.float32)
    arg1_1 = rand_strided((11, 5), (5, 1), device='cuda:0', dtype=torch.float32)
    return print_performance(lambda: call([arg0_1, arg1_1]), times=times, repeat=repeat)


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(2, 2))
    x, y = torch.randn(11, 37, device="cuda"), torch.randn(11, 5, device="cuda")
    soft, one_more, total_of, product = call([x, y])
    wanted = torch.softmax(x.double(), 1)
    print(torch.allclose(soft.double(), wanted, atol=1e-6), torch.allclose(one_more.double(), wanted + 1, atol=1e-6), one_more.stride())
    print(torch.allclose(total_of.double(), (wanted + 1).sum(), rtol=1e-5), torch.allclose(product.double(), (wanted + 1).T @ y.double(), atol=1e-4))
    for wrong in (x.T, x[:, :36], x[0]):
        try:
            call([wrong, y])
        except AssertionError as error:
            print("AssertionError:", error)
