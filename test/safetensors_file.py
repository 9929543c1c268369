# SPDX-License-Identifier: Apache-2.0
"""The .safetensors format as its description has it, for tests: https://github.com/huggingface/safetensors."""
import json
import pathlib
import struct

import numpy as np

TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "I32": "<i4", "U32": "<u4", "F32": "<f4", "I64": "<i8", "U64": "<u8", "F64": "<f8"}


def read_safetensors(path):
    """Arrays by name, in the file's order."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    arrays = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            arrays[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def write_safetensors(path, arrays, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, array in arrays.items():
        (dtype,) = [key for key, kind in TYPES.items() if np.dtype(kind) == array.dtype]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += np.ascontiguousarray(array).tobytes()
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)
