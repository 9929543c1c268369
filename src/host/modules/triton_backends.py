# SPDX-License-Identifier: Apache-2.0
# What libraries ask of Triton before they choose between two spellings of a kernel. There is one target and it is active: none of the GPU
# vendors', unless the program is traced for a GPU. Nothing depends on the machine that traces.
from collections import namedtuple

GPUTarget = namedtuple("GPUTarget", ["backend", "arch", "warp_size"])


class _Utils:
    def get_device_properties(self, device=0):
        if not Driver.properties:
            raise RuntimeError("get_device_properties: no such device is assumed while a model is traced; pass --device cuda for one")
        card = Driver.properties()
        return {
            "max_shared_mem": card.shared_memory_per_block_optin,
            "max_num_regs": card.regs_per_multiprocessor,
            "multiprocessor_count": card.multi_processor_count,
            "warpSize": card.warp_size,
            "max_threads_per_sm": card.max_threads_per_multi_processor,
        }


class Driver:
    target = GPUTarget("cpu", 0, 32)
    properties = None  # of the device that is assumed
    utils = _Utils()

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return Driver.target

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", 0) if Driver.properties else torch.device("cpu")


class Drivers:
    def __init__(self):
        self.default = self.active = Driver()

    def set_active(self, driver):
        pass

    def reset_active(self):
        pass


class Backend:
    driver = Driver
    compiler = None


driver = Drivers()
backends = {"cpu": Backend}


def _assume(generation, properties):
    """The program is traced for CUDA devices of this generation (90 for sm_90)."""
    Driver.target = GPUTarget("cuda", generation, 32)
    Driver.properties = properties
    backends.clear()
    backends["nvidia"] = Backend
