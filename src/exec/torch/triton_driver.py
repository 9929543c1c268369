# SPDX-License-Identifier: Apache-2.0
# What scripts ask of Triton's driver before they choose sizes. Where a script's device is mapped to the CPU the numbers are an A100's,
# except that there are as many multiprocessors as processors; they decide how work is shared out, not what comes of it.
from collections import namedtuple

import _script
import _script_torch
import torch

GPUTarget = namedtuple("GPUTarget", ["backend", "arch", "warp_size"])


class _Utils:
    def get_device_properties(self, device=0):
        own = _script_torch.properties(device) if _script_torch.is_real() else None
        if own:
            return {
                "max_shared_mem": own["shared_memory_per_block_optin"],
                "max_num_regs": own["regs_per_block"],
                "multiprocessor_count": own["multi_processor_count"],
                "warpSize": own["warp_size"],
                "max_threads_per_sm": own["max_threads_per_multi_processor"],
                "sm_clock_rate": own["clock_rate"],
                "mem_clock_rate": own["memory_clock_rate"],
                "mem_bus_width": own["memory_bus_width"],
            }
        return {
            "max_shared_mem": 166912,
            "max_num_regs": 65536,
            "multiprocessor_count": _script.cpu_count(),
            "warpSize": 32,
            "max_threads_per_sm": 2048,
            "sm_clock_rate": 1410000,
            "mem_clock_rate": 1215000,
            "mem_bus_width": 5120,
        }


class Driver:
    utils = _Utils()

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        if not _script_torch.has_cuda():
            return GPUTarget("cpu", 0, 1)
        major, minor = self.get_device_capability()
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_current_device(self):
        return _script_torch.device_index(None)

    def set_current_device(self, device):
        _script_torch.set_current(device)

    def get_active_torch_device(self):
        return torch.device("cuda", self.get_current_device()) if _script_torch.has_cuda() else torch.device("cpu")

    def get_device_interface(self):
        return torch.cuda if _script_torch.has_cuda() else torch.cpu

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=None):
        return torch.cuda.get_device_capability(device)

    def get_benchmarker(self):
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        return torch.empty(1 << (26 if _script_torch.is_real() else 20), dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache):
        cache.zero_()


class Drivers:
    def __init__(self):
        self.default = self.active = Driver()

    def set_active(self, driver):
        raise NotImplementedError("triton.runtime.driver.set_active(): a script has one driver")

    def reset_active(self):
        pass


driver = Drivers()


class _Metadata:
    def __init__(self, name, num_warps, num_stages, num_ctas):
        self.name, self.num_warps, self.num_stages, self.num_ctas = name, num_warps, num_stages, num_ctas
        self.shared, self.warp_size, self.target = 16384, 32, driver.active.get_current_target()


class CompiledKernel:
    """What kernel.warmup() gives: the kernel with its options, launched by position as Triton's is."""

    n_regs, n_spills, n_max_threads = 32, 0, 1024

    def __init__(self, kernel, num_warps=4, num_stages=3, num_ctas=1, **arguments):
        self._kernel, self._given = kernel, arguments
        self._options = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
        self.metadata = _Metadata(kernel.__name__, num_warps, num_stages, num_ctas)
        self.name = kernel.__name__

    def _init_handles(self):
        pass

    @property
    def asm(self):
        raise NotImplementedError("CompiledKernel.asm: 'pellucid inspect' and 'compile --emit c' show code")

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            # Constants that it was made with need not be given again. A parameter may have an option's name.
            missing = self._kernel.arg_names[len(args) :]
            given = {name: value for name, value in self._given.items() if name in missing and not isinstance(value, torch.Tensor)}
            options = {name: value for name, value in self._options.items() if name not in self._kernel.arg_names[: len(args)]}
            return self._kernel[grid](*args, **{**given, **options, **kwargs})

        return launch


def warmup(kernel, *args, grid=None, **kwargs):
    return CompiledKernel(kernel, **kwargs)
