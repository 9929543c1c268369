# SPDX-License-Identifier: Apache-2.0
import contextlib

import _script_torch


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._moment, self._is_timed = None, enable_timing

    def record(self, stream=None):
        self._moment = _script_torch.mark()

    def synchronize(self):
        if self._moment is None:
            _script_torch.synchronize(None)
        else:
            _script_torch.wait(self._moment)

    def wait(self, stream=None):
        pass

    def query(self):
        self.synchronize()
        return True

    def elapsed_time(self, end_event):
        if not (self._is_timed and end_event._is_timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._moment is None or end_event._moment is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return _script_torch.milliseconds(self._moment, end_event._moment)


class Stream:
    """Work of a script is done in one order, so that every stream is this one."""

    def __init__(self, device=None, priority=0, **options):
        self.cuda_stream, self.priority, self.device = 0, priority, device

    @property
    def stream_id(self):
        return 0

    def synchronize(self):
        _script_torch.synchronize(None)

    def query(self):
        _script_torch.synchronize(None)
        return True

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        event = Event() if event is None else event
        event.record()
        return event

    def __eq__(self, other):
        return isinstance(other, Stream)

    def __hash__(self):
        return hash("stream")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class stream:
    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class device:
    """Inside of it "cuda" is another device."""

    def __init__(self, device):
        self.idx = -1 if device is None else _script_torch.device_index(device)

    def __enter__(self):
        self._before = current_device()
        if self.idx >= 0:
            _script_torch.set_current(self.idx)
        return self

    def __exit__(self, *exception):
        _script_torch.set_current(self._before)
        return False

    def __call__(self, function):
        def inside(*args, **kwargs):
            with device(self.idx):
                return function(*args, **kwargs)

        return inside


class DeviceGuardOfIndex(device):
    """torch.cuda._DeviceGuard, as generated code writes it."""

    def __init__(self, index):
        super().__init__(index)
        self.prev_idx = -1


class device_of(device):
    def __init__(self, tensor):
        super().__init__(tensor.device if tensor.is_cuda else None)


class OutOfMemoryError(RuntimeError):
    pass


class _CudaDeviceProperties:
    def __init__(self, values):
        for name, value in values.items():
            setattr(self, name, value)
        self.is_integrated, self.is_multi_gpu_board, self.gcnArchName = bool(self.is_integrated), False, self.name

    def __repr__(self):
        return f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, total_memory={self.total_memory // 1048576}MB, multi_processor_count={self.multi_processor_count}, L2_cache_size={self.L2_cache_size // 1048576}MB)"


# A device that stands for the CPU is called an A100 here.
_stand_in = {
    "name": "NVIDIA A100-SXM4-80GB",
    "major": 8,
    "minor": 0,
    "multi_processor_count": 108,
    "warp_size": 32,
    "total_memory": 85899345920,
    "max_threads_per_block": 1024,
    "max_threads_per_multi_processor": 2048,
    "shared_memory_per_block": 49152,
    "shared_memory_per_block_optin": 166912,
    "shared_memory_per_multiprocessor": 167936,
    "regs_per_multiprocessor": 65536,
    "regs_per_block": 65536,
    "L2_cache_size": 41943040,
    "clock_rate": 1410000,
    "memory_clock_rate": 1215000,
    "memory_bus_width": 5120,
    "is_integrated": 0,
}


def _needs(name):
    if _script_torch.device_count() == 0:
        raise AssertionError(f"Torch not compiled with CUDA enabled: torch.cuda.{name}() needs a device")


def is_available():
    return _script_torch.device_count() > 0


def is_initialized():
    return _script_torch.device_count() > 0


def init():
    _needs("init")


def device_count():
    return _script_torch.device_count()


def current_device():
    _needs("current_device")
    return _script_torch.device_index(None)


def set_device(device):
    _needs("set_device")
    _script_torch.set_current(device)


def get_device_properties(device=None):
    _needs("get_device_properties")
    return _CudaDeviceProperties(_script_torch.properties(device) or _stand_in)


def get_device_name(device=None):
    return get_device_properties(device).name


def get_device_capability(device=None):
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported(including_emulation=True):
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def get_arch_list():
    return ["sm_%d%d" % get_device_capability()] if is_available() else []


def can_device_access_peer(device, peer_device):
    return False


def current_stream(device=None):
    return Stream()


def default_stream(device=None):
    return Stream()


def set_stream(stream):
    pass


def is_current_stream_capturing():
    return False


def synchronize(device=None):
    _needs("synchronize")
    _script_torch.synchronize(device)


def ipc_collect():
    pass


def empty_cache():
    if is_available():
        _script_torch.release_kept()


def _generator(device="cuda"):
    from torch._pellucid_random import _of_device

    return _of_device(f"cuda:{device}" if isinstance(device, int) else device)


def manual_seed(seed):
    if is_available():
        _generator().manual_seed(int(seed))


def manual_seed_all(seed):
    for index in range(device_count()):
        _generator(index).manual_seed(int(seed))


def get_rng_state(device="cuda"):
    return _generator(device).get_state()


def set_rng_state(new_state, device="cuda"):
    _generator(device).set_state(new_state)


def get_rng_state_all():
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states):
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def initial_seed():
    return _generator().initial_seed()


class nvtx:
    """Marks for a profiler that nobody runs."""

    @staticmethod
    def range_push(msg):
        return 0

    @staticmethod
    def range_pop():
        return 0

    @staticmethod
    def range_start(msg):
        return 0

    @staticmethod
    def range_end(range_id):
        pass

    @staticmethod
    def mark(msg):
        pass

    @staticmethod
    @contextlib.contextmanager
    def range(msg, *args, **kwargs):
        yield


def _memory(name, device):
    _needs(name)
    counts = _script_torch.memory(device)
    if counts is None:
        raise NotImplementedError(f"torch.cuda.{name}() is not supported where cuda is the CPU: the memory of a script's tensors is not counted there")
    return counts


def memory_allocated(device=None):
    return _memory("memory_allocated", device)[0]


def max_memory_allocated(device=None):
    return _memory("max_memory_allocated", device)[1]


def memory_reserved(device=None):
    return _memory("memory_reserved", device)[2]


def max_memory_reserved(device=None):
    return _memory("max_memory_reserved", device)[3]


def mem_get_info(device=None):
    return _memory("mem_get_info", device)[4:6]


def reset_peak_memory_stats(device=None):
    if is_available():
        _script_torch.reset_peak(device)


def reset_max_memory_allocated(device=None):
    reset_peak_memory_stats(device)


def memory_stats(device=None):
    counts = _memory("memory_stats", device)
    return {
        "allocated_bytes.all.current": counts[0],
        "allocated_bytes.all.peak": counts[1],
        "reserved_bytes.all.current": counts[2],
        "reserved_bytes.all.peak": counts[3],
        "allocation.all.allocated": counts[6],
        "segment.all.allocated": counts[7],
    }


def memory_summary(device=None, abbreviated=False):
    raise NotImplementedError("torch.cuda.memory_summary() is not supported; memory_stats() gives the numbers")
