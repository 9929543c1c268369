# SPDX-License-Identifier: Apache-2.0
"""ATen's operators that are written with others: one record each, its schema and its body.

Exported programs name them, `torch.ops.aten` has them, and functions of torch call the same bodies. A body takes the
schema's arguments in order. Results that stand for what only a gradient needs are computed too; unused ones cost nothing.
"""
import math

import torch
import torch._pellucid_composites as F

_records = []


def _aten(schema):
    def record(body):
        _records.append((schema, body))
        return body

    return record


_reductions = ("none", "mean", "sum")

# What no package can compute, and why.
_draws = "no generator of a package has its distribution"
_refused = {}
for _name in ("equal", "is_nonzero"):
    _refused["aten." + _name] = "it asks for a value that is only known when the program runs"
for _name in ("binomial", "poisson", "_standard_gamma", "_sample_dirichlet"):
    _refused["aten." + _name] = _draws
for _name in ("_fft_c2c", "_fft_c2r", "_fft_r2c", "fft_fft", "fft_fft2", "fft_fftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_rfft", "fft_rfft2", "fft_rfftn", "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "stft", "istft", "view_as_complex", "complex", "polar"):
    _refused["aten." + _name] = "its numbers are complex, which no tensor of a package holds"
