# SPDX-License-Identifier: Apache-2.0
"""Complex tensors between polar, view_as_complex or a transform and their parts; transforms against their definition in float64."""
import math
import random

import torch

random.seed(11)
torch.manual_seed(11)


def same(name, found, wanted, rtol=1e-5):
    found, wanted = (torch.view_as_real(x) if torch.is_complex(x) else x for x in (found, wanted))
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    good = tuple(found.shape) == tuple(wanted.shape) and bool(torch.allclose(found.double(), wanted.double(), rtol=0, atol=rtol * scale))
    print(name, good, tuple(found.shape))


def by_definition(real, imag, dim, inverse):
    n = real.shape[dim]
    places = torch.outer(torch.arange(n), torch.arange(n)) % n
    angles = places.double() * (2 * math.pi / n) * (1 if inverse else -1)
    real, imag = real.movedim(dim, -1), imag.movedim(dim, -1)
    a = real @ angles.cos() - imag @ angles.sin()
    b = real @ angles.sin() + imag @ angles.cos()
    return torch.complex(a.movedim(-1, dim), b.movedim(-1, dim))


# --- texts, sizes, types
z = torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]]))
print(z)
print(z.real, z.imag, z.abs(), torch.conj(z).imag)
print(z.shape, z.dim(), z.numel(), len(z), torch.is_complex(z), z.is_complex(), torch.is_complex(z.real))
print(z * 2, z + z, z * z, -z, z - 1)
print(torch.view_as_complex(torch.arange(12.0).reshape(2, 3, 2)))
print(torch.view_as_complex(torch.arange(8.0, dtype=torch.float64).reshape(4, 2)))
print(torch.complex(torch.tensor([1.5]), torch.tensor([-2.25]))[0])
print(z[1], z[:2], z.reshape(3, 1).shape, torch.stack([z, z]).shape, torch.cat([z, z])[3:])
print(z == z, z ** 2, torch.view_as_real(z)[1], z.sum())
for wrong in (lambda: torch.view_as_complex(torch.ones(3)), lambda: torch.complex(torch.ones(2), torch.ones(2, dtype=torch.float64)), lambda: torch.view_as_real(torch.ones(2)), lambda: torch.fft.fft(torch.ones(4), n=0), lambda: torch.fft.fft(torch.ones(4), norm="x")):
    try:
        wrong()
        print("no error")
    except (RuntimeError, TypeError) as error:
        print(str(error)[:40])

# --- rotary embeddings, as models write them
x = torch.randn(2, 5, 3, 8)
freqs = 1.0 / (10000.0 ** (torch.arange(0, 8, 2).float() / 8))
table = torch.polar(torch.ones(5, 4), torch.outer(torch.arange(5).float(), freqs))
turned = torch.view_as_real(torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * table.view(1, 5, 1, 4)).flatten(3)
angle = torch.outer(torch.arange(5).double(), freqs.double()).reshape(1, 5, 1, 4)
even, odd = x[..., 0::2].double(), x[..., 1::2].double()
same("rotary", turned, torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1).flatten(3))
same("angle", table.angle()[1:2], torch.outer(torch.arange(1, 2).double(), freqs.double()))

# --- arithmetic against real numbers
a, b = torch.randn(3, 4, 2, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64)
u, v = torch.view_as_complex(a), torch.view_as_complex(b)
ar, ai, br, bi = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
same("mul", u * v, torch.complex(ar * br - ai * bi, ar * bi + ai * br))
size = br * br + bi * bi
same("div", u / v, torch.complex((ar * br + ai * bi) / size, (ai * br - ar * bi) / size))
same("by a real", ar * v, torch.complex(ar * br, ar * bi))
same("real over", 2.0 / v, torch.complex(2 * br / size, -2 * bi / size))
same("abs", u.abs() ** 2, ar * ar + ai * ai)
w = torch.view_as_complex(torch.randn(4, 5, 2, dtype=torch.float64))
same("matmul", u @ w, torch.complex(ar @ w.real - ai @ w.imag, ar @ w.imag + ai @ w.real))
same("mean", u.mean(dim=1), torch.complex(ar.mean(1), ai.mean(1)))

# --- transforms
for n in (1, 2, 3, 8, 31, 1031, 1536):
    x = torch.randn(2, n)
    y = torch.complex(x, torch.randn(2, n))
    real, imag = x.double(), torch.zeros(2, n, dtype=torch.float64)
    same(f"fft {n}", torch.fft.fft(x), by_definition(real, imag, 1, False))
    same(f"fft of complex {n}", torch.fft.fft(y), by_definition(y.real.double(), y.imag.double(), 1, False))
    same(f"ifft {n}", torch.fft.ifft(y) * n, by_definition(y.real.double(), y.imag.double(), 1, True))
    same(f"rfft {n}", torch.fft.rfft(x), by_definition(real, imag, 1, False)[:, : n // 2 + 1])
    same(f"irfft {n}", torch.fft.irfft(torch.fft.rfft(x), n=n), x)
for norm in ("backward", "ortho", "forward"):
    x = torch.randn(3, 6, 10)
    same(f"fft2 {norm}", torch.fft.ifft2(torch.fft.fft2(x, norm=norm), norm=norm).real, x)
    same(f"rfftn {norm}", torch.fft.irfftn(torch.fft.rfftn(x, norm=norm), s=x.shape, norm=norm), x)
    same(f"energy {norm}", torch.fft.fft(x, norm=norm).abs().pow(2).sum(-1), x.double().pow(2).sum(-1) * {"backward": 10, "ortho": 1, "forward": 0.1}[norm])
x = torch.randn(2, 7)
same("cut", torch.fft.fft(x, n=4), by_definition(x[:, :4].double(), torch.zeros(2, 4).double(), 1, False))
longer = torch.cat([x, torch.zeros(2, 3)], 1).double()
same("padded", torch.fft.fft(x, n=10), by_definition(longer, torch.zeros(2, 10).double(), 1, False))
same("dim", torch.fft.fft(x, dim=0), by_definition(x.double(), torch.zeros(2, 7).double(), 0, False))
print(torch.fft.fftfreq(5), torch.fft.rfftfreq(4), torch.fft.fftshift(torch.arange(5)), torch.fft.ifftshift(torch.arange(5)))

# --- gradients
x = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda t: torch.fft.rfft(t).abs().sum(), (x,)))
print(torch.autograd.gradcheck(lambda t: torch.fft.irfft(torch.fft.rfft(t) * torch.complex(t[:, :4].cos(), t[:, :4]), n=6), (x,)))
