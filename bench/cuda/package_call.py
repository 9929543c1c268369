# SPDX-License-Identifier: Apache-2.0
"""Calls packages through the C ABI on torch tensors, without copies."""
import ctypes
import datetime
import json

import torch


def write_report(path, command, rows):
    """What was measured, with when, where and by what."""
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": command,
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "rows": rows,
    }
    with open(path, "w") as file:
        file.write(json.dumps(report, indent=1) + "\n")


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


CODES = {
    torch.bfloat16: (4, 16),
    torch.float16: (2, 16),
    torch.float32: (2, 32),
    torch.float64: (2, 64),
    torch.int8: (0, 8),
    torch.int16: (0, 16),
    torch.uint8: (1, 8),
    torch.uint16: (1, 16),
    torch.uint32: (1, 32),
    torch.uint64: (1, 64),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
    torch.bool: (6, 8),
    torch.float8_e4m3fn: (10, 8),
    torch.float8_e5m2: (12, 8),
}


def describe(tensors):
    """The DLTensors of torch tensors; keeps their dims alive with them."""
    array = (Tensor * len(tensors))()
    array.keep = []
    for entry, tensor in zip(array, tensors):
        dims = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        array.keep.append(dims)
        code, bits = CODES[tensor.dtype]
        on_cuda = tensor.is_cuda
        entry.data = tensor.data_ptr()
        entry.device = Device(2 if on_cuda else 1, tensor.device.index or 0)
        entry.ndim = tensor.dim()
        entry.dtype = DataType(code, bits, 1)
        entry.shape = dims
    return array


class Package:
    def __init__(self, library, path):
        self.library = library
        self.handle = ctypes.c_void_p()
        self.check(library.pellucid_load(str(path).encode(), ctypes.byref(self.handle)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.pellucid_last_error().decode())

    def bind(self, inputs, outputs):
        """A callable that runs the package once, queued on the default stream."""
        ins, outs = describe(inputs), describe(outputs)
        # Plain numbers: what ctypes makes of an array at every call takes longer than a small call of the run time.
        run, handle, first_in, first_out = self.library.pellucid_run_into, self.handle.value, ctypes.addressof(ins), ctypes.addressof(outs)
        in_count, out_count = len(ins), len(outs)

        def call(keep=(ins, outs)):
            status = run(handle, first_in, in_count, first_out, out_count, None)
            if status != 0:
                self.check(status)

        return call

    def output_count(self):
        self.library.pellucid_output_count.argtypes = [ctypes.c_void_p]
        self.library.pellucid_output_count.restype = ctypes.c_size_t
        return self.library.pellucid_output_count(self.handle)

    def prepare(self, inputs, outputs):
        """As bind, checked and planned once; on a device one CUDA graph. Lives as long as the process."""
        ins, outs = describe(inputs), describe(outputs)
        prepared = ctypes.c_void_p()
        self.check(self.library.pellucid_call_create(self.handle, ins, len(ins), outs, len(outs), ctypes.byref(prepared)))
        run, prepared = self.library.pellucid_call_run, prepared.value

        def call(keep=(ins, outs)):
            status = run(prepared, None)
            if status != 0:
                self.check(status)

        return call


def open_library(path):
    library = ctypes.CDLL(str(path))
    library.pellucid_last_error.restype = ctypes.c_char_p
    library.pellucid_call_create.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(Tensor),
        ctypes.c_size_t,
        ctypes.POINTER(Tensor),
        ctypes.c_size_t,
        ctypes.c_void_p,
    ]
    library.pellucid_call_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.pellucid_run_into.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
    ]
    return library
