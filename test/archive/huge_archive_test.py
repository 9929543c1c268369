#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An archive of more than 4 GB that takes a few kilobytes of disk: a hole between its records, a weight before and one behind 2^32, sizes and
offsets in the 64-bit forms of zip. Read, and compiled with what it takes of the large record, in little memory.

    huge_archive_test.py PROGRAM

Exit code 77 where the disk has no files with holes, or numpy is missing.
"""
import json
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

import long_archive

GIGA = 1 << 30
ROWS, WIDTH = 4 * GIGA // 64 + 1000, 16  # of float32: 64,000 bytes more than 4 GB
KNOWN = {5: 1.5, ROWS - 700: -2.25, ROWS - 1: 7.0}  # rows that are not zero, the last two behind 2^32


class Zip:
    """A stored zip file; holes where a record has nothing but zeros."""

    def __init__(self, path):
        self.file, self.directory = open(path, "wb"), []

    def add(self, name, content=b"", size=None, at=()):
        """`size`: so many zeros, with the bytes of `at`, a table from offset to bytes, in their places."""
        total = len(content) if size is None else size
        self.file.seek((self.file.tell() + 63) // 64 * 64)
        header, name = self.file.tell(), name.encode()
        crc = zlib.crc32(content) if size is None else crc_of_zeros(total, at)
        self.file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x21, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name), 20) + name + struct.pack("<HHQQ", 1, 16, total, total))
        start = self.file.tell()
        self.file.write(content)
        for offset, bytes_ in at:
            self.file.seek(start + offset)
            self.file.write(bytes_)
        self.file.seek(start + total)
        self.directory.append(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x21, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name), 28, 0, 0, 0, 0, 0xFFFFFFFF) + name
                              + struct.pack("<HHQQQ", 1, 24, total, total, header))

    def close(self):
        start, content = self.file.tell(), b"".join(self.directory)
        self.file.write(content)
        end = self.file.tell()
        self.file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(self.directory), len(self.directory), len(content), start))
        self.file.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        self.file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
        self.file.close()


def crc_of_zeros(total, at):
    crc, done, zeros = 0, 0, bytes(1 << 24)
    for offset, bytes_ in [*at, (total, b"")]:
        while done < offset:
            step = min(offset - done, len(zeros))
            crc, done = zlib.crc32(memoryview(zeros)[:step], crc), done + step
        crc, done = zlib.crc32(bytes_, crc), done + len(bytes_)
    return crc


def row(value):
    return struct.pack("<16f", *(value + i for i in range(WIDTH)))


def write(path):
    """embedding(table, x) * scale, with the scale behind the table in the file."""
    tensor, argument = long_archive.tensor, long_archive.argument
    indices = tensor(4)
    indices["dtype"] = 5
    values = {"p_table": tensor(ROWS, WIDTH), "p_scale": tensor(WIDTH), "x": indices, "rows": tensor(4, WIDTH), "y": tensor(4, WIDTH)}
    node = lambda target, result, **given: {"target": f"torch.ops.aten.{target}", "inputs": [{"name": k, "arg": argument(v), "kind": 1} for k, v in given.items()], "outputs": [argument(result)], "metadata": {}}
    graph = {"inputs": [argument(name) for name in ("p_table", "p_scale", "x")], "outputs": [argument("y")], "tensor_values": values, "sym_int_values": {}, "sym_bool_values": {},
             "nodes": [node("embedding.default", "rows", weight="p_table", indices="x"), node("mul.Tensor", "y", self="rows", other="p_scale")]}
    specs = [{"parameter": {"arg": {"name": f"p_{n}"}, "parameter_name": n}} for n in ("table", "scale")] + [{"user_input": {"arg": argument("x")}}]
    program = {"graph_module": {"graph": graph, "signature": {"input_specs": specs, "output_specs": [{"user_output": {"arg": argument("y")}}]}, "module_call_graph": []},
               "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8}, "verifiers": ["TRAINING"]}
    config = {name: {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": values[f"p_{name}"]} for i, name in enumerate(("table", "scale"))}
    file = Zip(path)
    file.add("huge/archive_format", b"pt2")
    file.add("huge/archive_version", b"0")
    file.add("huge/byteorder", b"little")
    file.add("huge/data/weights/weight_0", size=ROWS * WIDTH * 4, at=[(r * WIDTH * 4, row(v)) for r, v in KNOWN.items()])
    file.add("huge/data/weights/weight_1", np.arange(1, WIDTH + 1, dtype=np.float32).tobytes())
    file.add("huge/data/weights/model_weights_config.json", json.dumps({"config": config}).encode())
    file.add("huge/data/constants/model_constants_config.json", b'{"config": {}}')
    file.add("huge/models/model.json", json.dumps(program).encode())
    file.close()


def pellucid(*words):
    process = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)
    assert process.returncode == 0, f"{words[0]}: {process.stderr}"
    return process.stdout


def main():
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as name:
        folder = pathlib.Path(name)
        archive, package = folder / "huge.pt2", folder / "huge.plc"
        write(archive)
        size, blocks = archive.stat().st_size, archive.stat().st_blocks * 512
        if blocks > GIGA:
            print(f"skipped: files have no holes here: {blocks} bytes on disk of {size}")
            sys.exit(77)
        assert size > 1 << 32
        pellucid("compile", archive, "-o", package, "--target", "cpu:x86-64-v3")
        indices = np.array([ROWS - 1, 5, ROWS - 700, 17])
        np.save(folder / "x.npy", indices)
        pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "y.npy")
        want = np.array([[KNOWN[i] + j if i in KNOWN else 0 for j in range(WIDTH)] for i in indices.tolist()], np.float32) * np.arange(1, WIDTH + 1, dtype=np.float32)
        np.testing.assert_array_equal(np.load(folder / "y.npy"), want)
        print(f"{size} bytes, {blocks} of them on disk; the package takes {package.stat().st_blocks * 512}; most memory of a process {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10} MB")


main()
