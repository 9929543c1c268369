# SPDX-License-Identifier: Apache-2.0
# What the wrappers around kernels that torch.compile wrote take from torch: buffers, checks, products.
import time
import torch

import _inductor_source


class AsyncCompile:
    """Kernels are read where they are named, and compiled when they are first launched."""

    def triton(self, kernel_name, source_code, device_str="cuda", *args, **options):
        return getattr(_inductor_source.read(kernel_name, source_code), kernel_name)

    def multi_kernel(self, *args, **options):
        return args[1][0]

    def wait(self, scope):
        pass

    def __getattr__(self, name):
        def refuse(*args, **options):
            raise NotImplementedError(f"async_compile.{name}: only kernels in Triton are taken here, not sources in other languages")

        if name.startswith("__"):
            raise AttributeError(name)
        return refuse


class MultiKernelCall:
    def __init__(self, *args, **options):
        raise NotImplementedError("torch._inductor: kernels that are chosen by time (multi_kernel) are not supported")


def run_intermediate_hooks(name, value):
    pass


class maybe_profile:
    def __init__(self, should_profile, *args, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def _align(nbytes):
    return (nbytes + 63) & -64


# ---- torch._C._dynamo.guards


def assert_size_stride(item, size, stride, op_name=None):
    if item.dim() != len(size):
        raise AssertionError(f"wrong number of dimensions{item.dim()} for op: {op_name or 'unknown'}")
    off = []
    for i, (have, wanted, step, wanted_step) in enumerate(zip(item.shape, size, item.stride(), stride)):
        if have != wanted or (step != wanted_step and wanted > 1):
            off.append(f"expected size {have}=={wanted}, stride {step}=={wanted_step} at dim={i}")
    # An empty tensor has no element to be elsewhere.
    if off and not (0 in size and tuple(item.shape) == tuple(size)):
        raise AssertionError("; ".join(off) + (f" for op: {op_name}" if op_name else ""))


def assert_size_stride_grouped(items, sizes, strides, op_name=None):
    for item, size, stride in zip(items, sizes, strides):
        assert_size_stride(item, size, stride, op_name)


def assert_alignment(item, alignment, op_name=None):
    if item.data_ptr() % alignment:
        raise AssertionError(f"Expect the tensor to be {alignment} bytes aligned. Fail due to storage_offset={item.storage_offset()} itemsize={item.itemsize}")


def _empty_strided_cpu(size, stride, dtype):
    return torch.empty_strided(size, stride, dtype=dtype)


def _empty_strided_cuda(size, stride, dtype):
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


_empty_strided_cpu_pinned = _empty_strided_cpu


def _reinterpret_tensor(item, size, stride, offset_increment=0):
    return torch.as_strided(item, size, stride, item.storage_offset() + offset_increment)


def _alloc_from_pool(pool, offset_bytes, dtype, size, stride):
    # The pool's bytes from there on, as numbers of that type.
    item = torch.tensor([], dtype=dtype).itemsize
    line = pool.view(torch.uint8)[offset_bytes:]
    return torch.as_strided(line[: len(line) // item * item].view(dtype), size, stride)


# ---- torch._inductor.select_algorithm


class _ExternKernels:
    """Operators of torch that write into `out`."""

    def __getattr__(self, name):
        if name == "bias_addmm":
            return torch.addmm
        return getattr(torch, name)

    def _mm_plus_mm(self, a, b, c, d, out):
        torch.mm(a, b, out=out)
        return out.addmm_(c, d)


extern_kernels = _ExternKernels()


# ---- what a generated file runs as a program


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    needed = sum((n - 1) * step for n, step in zip(size, stride)) + 1 + extra_size if 0 not in size else extra_size
    line = torch.randn(needed, dtype=dtype, device=device) if dtype.is_floating_point or dtype.is_complex else torch.zeros(needed, dtype=dtype, device=device)
    return torch.as_strided(line, size, stride)


def print_performance(model, example_inputs=(), times=10, repeat=10, baseline=1.0, device="cuda"):
    took = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(times):
            result = model(*example_inputs)
        if device == "cuda" and torch.cuda.is_available():
            torch.cuda.synchronize()
        took.append((time.perf_counter() - start) / times)
    best = sorted(took)[len(took) // 2]
    print(f"{best / baseline:.6f}")
    return best


def compiled_module_main(benchmark_name, benchmark_compiled_module):
    print(f"{benchmark_compiled_module(times=10, repeat=10) * 1000:.3f}ms")
