# SPDX-License-Identifier: Apache-2.0
"""The ISA levels that tests run on, as far as this processor has them."""
import pathlib

LEVELS = ["cpu:x86-64-v3", "cpu:x86-64-v4"]
OF_LEVEL4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# What differs from x86-64-v4 in products only.
OF_PRODUCTS = [("cpu:x86-64-v4+bf16", {"avx512_bf16", "avx512_vnni"}), ("cpu:x86-64-v4+amx", {"amx_tile", "amx_bf16", "amx_int8"})]


def flags():
    return set(next((line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "").split())


def has_level4():
    return OF_LEVEL4 <= flags()


def runnable():
    return LEVELS if has_level4() else LEVELS[:1]


def runnable_products():
    levels, needed, here = list(runnable()), set(OF_LEVEL4), flags()
    for level, more in OF_PRODUCTS:
        needed |= more
        if needed <= here:
            levels.append(level)
    return levels


def skipped(count):
    """For the closing line of a test of `count` cases."""
    return "" if has_level4() else f"; {count} skipped on {LEVELS[1]}, which this processor lacks"
