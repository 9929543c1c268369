# SPDX-License-Identifier: Apache-2.0
"""A package is an ordinary zip64 file: CPython's zipfile and, where installed, unzip read and check every record."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "sample.plc")
    subprocess.run([sys.argv[1], path], check=True)
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None, package.testzip()
        names = package.namelist()
        assert names == ["manifest.bin", "describe.json", "code/x86-64-v3.elf", "weights/0", "ir/program.txt"], names
        for entry in package.infolist():
            assert entry.compress_type == zipfile.ZIP_STORED, entry
            assert entry.date_time == (1980, 1, 1, 0, 0, 0), entry
        assert package.read("manifest.bin").startswith(b"PELLUCID\1\0\0\0\1\0\0\0")
        assert len(package.read("weights/0")) == 256
        description = json.loads(package.read("describe.json"))
        raw = open(path, "rb").read()
        for name in names:
            data = package.read(name)
            assert any(raw[at:at + len(data)] == data for at in range(0, len(raw), 4096)), name + " is not aligned"
    assert description["inputs"] == [{"name": "x", "dtype": "f32", "shape": ["batch", "64"], "mutated": False}]
    assert description["symbols"][0] == {"name": "batch", "min": 1, "max": 1024, "divisor": 1}
    assert [launch["label"] for launch in description["programs"][0]["launches"]] == \
        ["scale_bias_0", "scale_bias_1", "row_sum"]
    again = os.path.join(folder, "again.plc")
    subprocess.run([sys.argv[1], again], check=True)
    assert raw == open(again, "rb").read(), "the same contents gave different bytes"
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tq", path], check=True)
    else:
        print("unzip is not installed: only CPython's zipfile was tried")
