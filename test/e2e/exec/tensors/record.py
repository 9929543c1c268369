#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch prints for each script here to SCRIPT.expected. usage: record.py SCRIPT.py…"""
import subprocess
import sys

for script in sys.argv[1:]:
    out = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout
    with open(script.removesuffix(".py") + ".expected", "w") as file:
        file.write(out)
