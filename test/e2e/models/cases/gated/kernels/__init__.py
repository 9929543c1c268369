# SPDX-License-Identifier: Apache-2.0
from .swiglu import swiglu_kernel

__all__ = ["swiglu_kernel"]
