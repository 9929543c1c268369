# SPDX-License-Identifier: Apache-2.0
"""torch.fft on the pairs of aten_complex.py."""
import torch
import torch._pellucid_aten as _aten

_norms = (None, "backward", "ortho", "forward")


def _called(name, input, sizes, dim, norm):
    if norm not in _norms:
        raise RuntimeError(f"Invalid normalization mode: {norm!r}".replace("'", '"'))
    for size in sizes if isinstance(sizes, (list, tuple)) else [sizes]:
        if size is not None and size != -1 and size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
    if isinstance(input, torch.Tensor) and input.dim() == 0:
        raise RuntimeError(f"{name}: expected a tensor with a dim, got one without")
    if name.startswith(("rfft", "ihfft")) and not isinstance(input, torch.Tensor):
        raise RuntimeError(f"{name} expects a real input tensor, but got ComplexFloat")
    return _aten._complex_call("fft_" + name, (input, sizes, dim, norm), {})


def _one(name):
    def transform(input, n=None, dim=-1, norm=None):
        return _called(name, input, n, dim, norm)

    return transform


def _listed(sizes):
    """One number stands for a list of one."""
    return None if sizes is None else [sizes] if isinstance(sizes, int) else list(sizes)


def _two(name):
    def transform(input, s=None, dim=(-2, -1), norm=None):
        return _called(name, input, _listed(s), _listed(dim), norm)

    return transform


def _several(name):
    def transform(input, s=None, dim=None, norm=None):
        return _called(name, input, _listed(s), _listed(dim), norm)

    return transform


fft, ifft, rfft, irfft = _one("fft"), _one("ifft"), _one("rfft"), _one("irfft")
hfft, ihfft = _one("hfft"), _one("ihfft")
hfft2, ihfft2, hfftn, ihfftn = _two("hfft2"), _two("ihfft2"), _several("hfftn"), _several("ihfftn")
fft2, ifft2, rfft2, irfft2 = _two("fft2"), _two("ifft2"), _two("rfft2"), _two("irfft2")
fftn, ifftn, rfftn, irfftn = _several("fftn"), _several("ifftn"), _several("rfftn"), _several("irfftn")


def fftfreq(n, d=1.0, dtype=None, device=None, requires_grad=False):
    dtype = torch.get_default_dtype() if dtype is None else dtype
    places = torch.arange(n, device=device)
    made = torch.where(places < (n + 1) // 2, places, places - n).to(dtype) * (1.0 / (n * d))
    return made.requires_grad_() if requires_grad else made


def rfftfreq(n, d=1.0, dtype=None, device=None, requires_grad=False):
    made = torch.arange(n // 2 + 1, device=device).to(torch.get_default_dtype() if dtype is None else dtype) * (1.0 / (n * d))
    return made.requires_grad_() if requires_grad else made


def _shifted(input, dim, forth):
    dims = list(range(len(input.shape))) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return torch.roll(input, [input.shape[d] // 2 if forth else (input.shape[d] + 1) // 2 for d in dims], dims)


def fftshift(input, dim=None):
    return _shifted(input, dim, True)


def ifftshift(input, dim=None):
    return _shifted(input, dim, False)
