#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the polynomials of src/codegen/common/VectorMath.cpp and prints their coefficients, highest power first.

Least squares on Chebyshev nodes of the interval, weighted so that the relative error of the whole function is small;
the reference is 50-digit arithmetic. Needs numpy and mpmath.
"""
import mpmath
import numpy as np

mpmath.mp.dps = 50


def fit(name, function, low, high, degree, weight=lambda x: 1.0):
    nodes = 400
    x = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
    y = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
    w = np.array([weight(v) for v in x]) * np.sqrt(1.0 / np.sqrt(1.0 - ((2 * x - low - high) / (high - low)) ** 2))
    columns = np.vander(x, degree + 1) * w[:, None]
    scale = np.linalg.norm(columns, axis=0)
    coefficients, *_ = np.linalg.lstsq(columns / scale, y * w, rcond=None)
    coefficients = coefficients / scale
    error = np.max(np.abs((np.polyval(coefficients, x) - y) * np.array([weight(v) for v in x])))
    print(f"{name}: degree {degree} on [{low:.5g}, {high:.5g}], weighted error {error:.2e}")
    print("  " + ", ".join(f"{c:.17g}" for c in coefficients))


def main():
    half_ln2 = float(mpmath.log(2) / 2) * 1.001
    # exp(r) = 1 + r + r^2 * p(r)
    for degree in (4, 10):
        fit(f"exp (f{32 if degree == 4 else 64})", lambda r: (mpmath.expm1(r) - r) / r**2 if r else mpmath.mpf(0.5),
            -half_ln2, half_ln2, degree, lambda r: r * r)
    # log(m) = 2 s + s^3 * p(s^2), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)]
    top = ((2**0.5 - 1) / (2**0.5 + 1)) ** 2 * 1.001
    for degree in (3, 8):
        fit(f"log (f{32 if degree == 3 else 64})",
            lambda z: (2 * mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 2) / z if z > 1e-30 else mpmath.mpf(2) / 3,
            1e-12, top, degree, lambda z: z)
    # tanh(x) = x + x^3 * p(x^2) for |x| < 0.625
    fit("tanh (f32)", lambda z: (mpmath.tanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z, 1e-12, 0.392, 4, lambda z: z)
    fit("tanh (f64)", lambda z: (mpmath.tanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z, 1e-12, 0.392, 11, lambda z: z)
    # erf(x) = x * p(x^2) for |x| < 1;  erf(x) = 1 - exp(-x * p(x)) beyond
    for degree, name in ((6, "f32"), (14, "f64")):
        fit(f"erf low ({name})", lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z), 1e-12, 1.0, degree)
    fit("erf high (f32)", lambda x: -mpmath.log(mpmath.erfc(x)) / x, 0.95, 4.1, 8, lambda x: float(mpmath.erfc(x)) * x)
    fit("erf high (f64)", lambda x: -mpmath.log(mpmath.erfc(x)) / x, 0.95, 6.1, 22, lambda x: float(mpmath.erfc(x)) * x)
    # sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4
    quarter = float(mpmath.pi / 4) ** 2 * 1.001
    for degree, name in ((2, "f32"), (6, "f64")):
        fit(f"sin ({name})", lambda z: (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z, 1e-9, quarter, degree, lambda z: z)
        fit(f"cos ({name})", lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, 1e-6, quarter, degree, lambda z: z * z)


if __name__ == "__main__":
    main()
