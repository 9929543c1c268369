#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what CPython prints for each script here to SCRIPT.expected. usage: python3.12 record.py SCRIPT.py…

The evaluator says that it is Python 3.12; other versions word some messages differently."""
import os
import subprocess
import sys

if sys.version_info[:2] != (3, 12):
    sys.exit("record with Python 3.12")
for script in sys.argv[1:]:
    script = os.path.abspath(script)
    run = subprocess.run([sys.executable, os.path.basename(script)], check=True, capture_output=True, text=True, cwd=os.path.dirname(script))
    with open(script.removesuffix(".py") + ".expected", "w") as file:
        file.write(run.stdout)
