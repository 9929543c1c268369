# SPDX-License-Identifier: Apache-2.0
"""bfloat16 for numpy, which has none: values as the uint16 of their bits."""
import numpy as np


def to_bf16(x):
    """float32 -> bits, to nearest, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded.reshape(np.shape(x)))


def from_bf16(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
