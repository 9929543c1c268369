# SPDX-License-Identifier: Apache-2.0
"""The ISA levels that tests run on: both, where this processor has them."""
import pathlib

LEVELS = ["cpu:x86-64-v3", "cpu:x86-64-v4"]
OF_LEVEL4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


def has_level4():
    flags = next((line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return OF_LEVEL4 <= set(flags.split())


def runnable():
    return LEVELS if has_level4() else LEVELS[:1]


def skipped(count):
    """For the closing line of a test of `count` cases."""
    return "" if has_level4() else f"; {count} skipped on {LEVELS[1]}, which this processor lacks"
