# SPDX-License-Identifier: Apache-2.0
import math
print(math.floor(-1.5), math.ceil(1.2), math.trunc(-1.7), math.sqrt(2), math.gcd(12, 18, 6), math.lcm(4, 6), math.factorial(10), math.comb(5, 2), math.perm(5, 2), math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.log(8, 2), math.log2(8), math.log10(1000), math.log1p(1e-10), math.exp(1), math.expm1(1e-10), math.sin(1), math.atan2(1, -1), math.degrees(math.pi), math.radians(180), math.copysign(1, -0.0), math.fmod(-7, 3), math.modf(2.5), math.frexp(8.0), math.ldexp(0.5, 4), math.isnan(math.nan), math.isinf(math.inf), math.isfinite(1), math.prod([1, 2, 3]), math.dist([0, 0], [3, 4]), math.fsum([.1] * 10), math.pow(2, 3), math.erf(0.5), math.gamma(5), math.tau, math.isqrt(17), math.cbrt(27), math.remainder(7, 3), math.sumprod([1, 2], [3, 4]), math.nextafter(1, 2), math.ulp(1.0), math.tanh(.5), math.asinh(1), math.exp2(3), math.erfc(.5))
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: math.exp(1000), lambda: math.floor(math.inf), lambda: math.acos(2)):
    try: f()
    except Exception as e: print(type(e).__name__, e)
