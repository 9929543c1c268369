# SPDX-License-Identifier: Apache-2.0
_device_types = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone", "npu", "mlu", "musa")


class device:
    _before = []  # the defaults around the blocks that are entered, of all devices

    def __init__(self, type, index=None):
        if isinstance(type, int):
            type, index = "cuda", type
        self.type, _, number = str(type).partition(":")
        if self.type not in _device_types:
            raise RuntimeError(f"Expected one of {', '.join(_device_types)} device type at start of device string: {self.type}")
        self.index = int(number) if number else index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __eq__(self, other):
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self):
        return hash((self.type, self.index))

    def __enter__(self):
        device._before.append(_set_default_device(self))
        return self

    def __exit__(self, *exception):
        _set_default_device(device._before.pop())
        return False


def _set_default_device(device):
    """Of a script: where tensors are made of which nothing else is said. Gives what it was."""


_FLOATS = {  # bits of the mantissa, exponents of the smallest and largest normal number, largest number, bits, resolution
    "float64": (52, -1022, 1023, None, 64, 1e-15),
    "float32": (23, -126, 127, None, 32, 1e-6),
    "bfloat16": (7, -126, 127, None, 16, 1e-2),
    "float16": (10, -14, 15, None, 16, 1e-3),
    "float8_e4m3fn": (3, -6, 8, 448.0, 8, 1.0),
    "float8_e5m2": (2, -14, 15, None, 8, 1.0),
    "float8_e4m3fnuz": (3, -7, 7, None, 8, 1.0),
    "float8_e5m2fnuz": (2, -15, 15, None, 8, 1.0),
    "float8_e8m0fnu": (0, -127, 127, None, 8, 1.0),
}


class finfo:
    def __init__(self, type=None):
        name = str(type).partition(".")[2] or "float32"
        name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        if name not in _FLOATS:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        mantissa, low, high, largest, self.bits, self.resolution = _FLOATS[name]
        self.dtype = name
        self.eps = 2.0**-mantissa
        self.tiny = self.smallest_normal = 2.0**low
        self.max = largest or (2 - self.eps) * 2.0**high
        self.min = self.tiny if name == "float8_e8m0fnu" else -self.max

    def __repr__(self):
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in ("resolution", "min", "max", "eps", "smallest_normal", "tiny"))
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo:
    def __init__(self, type):
        name = str(type).partition(".")[2]
        if name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if not name.lstrip("u").startswith("int"):
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        self.bits, self.dtype = int(name.lstrip("uint")), name
        self.min = 0 if name.startswith("u") else -(2 ** (self.bits - 1))
        self.max = 2**self.bits - 1 + self.min

    def __repr__(self):
        return f"iinfo(min={float(self.min):g}, max={float(self.max):g}, dtype={self.dtype})"


def nothing(*args, **kwargs):
    pass


def same(function=None, *args, **kwargs):
    return same if function is None else function


def zero(*args):
    return 0


def false(*args):
    return False


def no_capability(*args):
    return (0, 0)
