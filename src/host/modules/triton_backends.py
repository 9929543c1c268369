# SPDX-License-Identifier: Apache-2.0
# What libraries ask of Triton before they choose between two spellings of a kernel. There is one
# target, it is none of the GPU vendors', and it is active; a package is compiled for all targets at
# once, so nothing may depend on the machine that traces.
from collections import namedtuple

GPUTarget = namedtuple("GPUTarget", ["backend", "arch", "warp_size"])


class Driver:
    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("cpu", 0, 32)

    def get_current_device(self):
        return 0


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
