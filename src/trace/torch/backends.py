# SPDX-License-Identifier: Apache-2.0
import torch

# torch.cuda, torch.xpu, torch.accelerator and their kin, as files ask them before they choose a way.
# `_assumed` is the device that --device names, `_generation` that of the targets (80 for sm_80); the tensors themselves are those of the trace.
_assumed = "cpu"
_generation = 80


class _Properties:
    """What a file may ask of the device that is assumed: those of a well-known card of its generation."""

    warp_size = 32
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    is_integrated = False
    gcnArchName = ""

    def __init__(self, generation, name, multiprocessors, threads, memory, l2, shared):
        self.name = name
        self.major, self.minor = divmod(generation, 10)
        self.multi_processor_count = multiprocessors
        self.max_threads_per_multi_processor = threads
        self.total_memory = memory << 30
        self.L2_cache_size = l2 << 20
        self.shared_memory_per_multiprocessor = shared << 10
        # Each block has a kilobyte of the system's.
        self.shared_memory_per_block_optin = (shared - 1) << 10


# Generation, name, multiprocessors, threads of each, GiB, MiB of L2, KiB of shared memory.
_cards = [
    (75, "Tesla T4", 40, 1024, 16, 4, 64),
    (80, "NVIDIA A100-SXM4-80GB", 108, 2048, 80, 40, 164),
    (86, "NVIDIA A10", 72, 1536, 24, 6, 100),
    (89, "NVIDIA L40S", 142, 1536, 48, 96, 100),
    (90, "NVIDIA H100 80GB HBM3", 132, 2048, 80, 50, 228),
    (100, "NVIDIA B200", 148, 2048, 180, 126, 228),
    (120, "NVIDIA GeForce RTX 5090", 170, 1536, 32, 96, 100),
]


def _properties():
    known = [card for card in _cards if card[0] <= _generation]
    return _Properties(_generation, *(known or _cards)[-1 if known else 0][1:])


def _has_cuda():
    return _assumed == "cuda"


def _nobody(name):
    raise RuntimeError(f"{name}: no such device is assumed while a model is traced; pass --device cuda for one")


class _Stream:
    def __init__(self, device=None, priority=0):
        self.cuda_stream = 0

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class _Context:
    """torch.cuda.device(0) and what else changes where work goes."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, function):
        return function


class _Cuda:
    device = _Context
    device_of = _Context
    stream = _Context
    Stream = _Stream

    def is_available():
        return _has_cuda()

    def is_initialized():
        return _has_cuda()

    def device_count():
        return 1 if _has_cuda() else 0

    def current_device():
        if not _has_cuda():
            _nobody("torch.cuda.current_device()")
        return 0

    def is_bf16_supported(including_emulation=True):
        return _has_cuda()

    def get_device_properties(device=None):
        if not _has_cuda():
            _nobody("torch.cuda.get_device_properties()")
        return _properties()

    def get_device_name(device=None):
        if not _has_cuda():
            _nobody("torch.cuda.get_device_name()")
        return _properties().name

    def get_device_capability(device=None):
        return divmod(_generation, 10) if _has_cuda() else (0, 0)

    def current_stream(device=None):
        return _Stream()

    def default_stream(device=None):
        return _Stream()

    def is_current_stream_capturing():
        return False

    def synchronize(device=None):
        pass

    def set_device(device):
        pass

    def empty_cache():
        pass

    def manual_seed(seed):
        pass

    def manual_seed_all(seed):
        pass

    def init():
        pass


class _Absent:
    """A kind of device of torch that nobody assumes."""

    device = _Context
    device_of = _Context
    stream = _Context
    Stream = _Stream

    def is_available():
        return False

    def is_initialized():
        return False

    def device_count():
        return 0

    def is_built():
        return False

    def is_bf16_supported(including_emulation=True):
        return False

    def get_device_name(device=None):
        _nobody("get_device_name()")

    def get_device_properties(device=None):
        _nobody("get_device_properties()")

    def get_device_capability(device=None):
        _nobody("get_device_capability()")

    def current_device():
        _nobody("current_device()")

    def synchronize(device=None):
        pass

    def empty_cache():
        pass

    def manual_seed(seed):
        pass

    def manual_seed_all(seed):
        pass


class _Cpu:
    device = _Context
    stream = _Context
    Stream = _Stream

    def is_available():
        return True

    def is_initialized():
        return True

    def device_count():
        return 1

    def current_device():
        return "cpu"

    def current_stream(device=None):
        return _Stream()

    def synchronize(device=None):
        pass

    def set_device(device):
        pass


class _Accelerator:
    def is_available():
        return _has_cuda()

    def device_count():
        return 1 if _has_cuda() else 0

    def current_accelerator(check_available=False):
        return device("cuda") if _has_cuda() else None

    def current_device_index():
        return 0

    def current_device_idx():
        return 0

    def current_stream(device=None):
        return _Stream()

    def set_device_index(device):
        pass

    def set_device_idx(device):
        pass

    def synchronize(device=None):
        pass

    def empty_cache():
        pass


class _Autocast:
    def is_autocast_cache_enabled():
        return True


def _register(function=None, **options):
    """torch.amp.custom_fwd and custom_bwd, with options or without: they say what autocast does."""
    if function is None:
        return lambda inner: inner
    return function


class _Amp:
    custom_fwd = staticmethod(_register)
    custom_bwd = staticmethod(_register)

    def is_autocast_available(device_type):
        return device_type in ("cpu", "cuda", "xpu", "mps")


def _check_with(error, condition, message):
    # Sizes that values decide; None: only asked.
    if torch._pellucid_check_sizes(condition, None):
        said = message() if callable(message) else message or "Expected cond to be True, but got False"
        known = torch._pellucid_check_sizes(condition, f"{error.__name__}: {said}")
        if known is not None:
            condition = known
    if not condition:
        raise error(message() if callable(message) else message or "Expected cond to be True, but got False")


class _Checks:
    def get_default_device():
        return torch.device("cpu")

    def get_default_dtype():
        return torch._pellucid_default_dtype()

    def _assert(condition, message):
        assert condition, message

    def _assert_async(input, assert_msg="assertion error"):
        assert input, assert_msg

    def _check(cond, message=None):
        _check_with(RuntimeError, cond, message)

    def _check_value(cond, message=None):
        _check_with(ValueError, cond, message)

    def _check_index(cond, message=None):
        _check_with(IndexError, cond, message)

    def _check_type(cond, message=None):
        _check_with(TypeError, cond, message)

    def _check_not_implemented(cond, message=None):
        _check_with(NotImplementedError, cond, message)

    def sym_int(a):
        return int(a)

    def sym_float(a):
        return float(a)

    def sym_not(a):
        return torch._pellucid_sym("not", a, None)

    def sym_min(a, b):
        return torch._pellucid_sym("min", a, b)

    def sym_max(a, b):
        return torch._pellucid_sym("max", a, b)

    def sym_sum(args):
        return sum(args)

    def _constrain_as_size(symbol, min=None, max=None):
        _check_with(RuntimeError, symbol >= (0 if min is None else min), None)
        if max is not None:
            _check_with(RuntimeError, symbol <= max, None)

    def _check_is_size(i, message=None, *, max=None):
        _check_with(RuntimeError, i >= 0, message)
        if max is not None:
            _check_with(RuntimeError, i <= max, message)
