# SPDX-License-Identifier: Apache-2.0
import _script
import _script_torch


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._time = None

    def record(self, stream=None):
        _script_torch.flush()
        self._time = _script.perf_counter()

    def synchronize(self):
        _script_torch.flush()

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def elapsed_time(self, end_event):
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1e3


def synchronize(device=None):
    _script_torch.flush()


def _no_memory(name):
    def ask(*args, **kwargs):
        raise NotImplementedError(f"torch.cuda.{name}() is not supported: the memory of a script's tensors is not counted")

    return ask


memory_allocated, max_memory_allocated = _no_memory("memory_allocated"), _no_memory("max_memory_allocated")
memory_reserved, max_memory_reserved = _no_memory("memory_reserved"), _no_memory("max_memory_reserved")
memory_summary, mem_get_info = _no_memory("memory_summary"), _no_memory("mem_get_info")


def reset_peak_memory_stats(device=None):
    pass
