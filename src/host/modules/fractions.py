# SPDX-License-Identifier: Apache-2.0
import math as _math


class Fraction:
    def __init__(self, numerator=0, denominator=None):
        if denominator is None:
            if isinstance(numerator, Fraction):
                numerator, denominator = numerator.numerator, numerator.denominator
            elif isinstance(numerator, float):
                numerator, denominator = numerator.as_integer_ratio()
            elif isinstance(numerator, str):
                numerator, denominator = _parsed(numerator)
            else:
                denominator = 1
        if isinstance(numerator, Fraction) or isinstance(denominator, Fraction):
            whole = Fraction(numerator) / Fraction(denominator)
            numerator, denominator = whole.numerator, whole.denominator
        if denominator == 0:
            raise ZeroDivisionError(f"Fraction({numerator}, 0)")
        divisor = _math.gcd(numerator, denominator) * (-1 if denominator < 0 else 1)
        self.numerator, self.denominator = numerator // divisor, denominator // divisor

    @classmethod
    def from_float(cls, f):
        return cls(f)

    def limit_denominator(self, max_denominator=1000000):
        if self.denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self.numerator, self.denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        first, second = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
        return second if abs(second - self) <= abs(first - self) else first

    def _with(self, other, combine, floats):
        if isinstance(other, float):
            return floats(float(self), other)
        if isinstance(other, int):
            other = Fraction(other)
        return combine(self, other) if isinstance(other, Fraction) else NotImplemented

    def __add__(self, other):
        return self._with(other, lambda a, b: Fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator), lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: Fraction(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator), lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: Fraction(a.numerator * b.numerator, a.denominator * b.denominator), lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: Fraction(a.numerator * b.denominator, a.denominator * b.numerator), lambda a, b: a / b)

    def __floordiv__(self, other):
        return self._with(other, lambda a, b: (a.numerator * b.denominator) // (a.denominator * b.numerator), lambda a, b: a // b)

    def __mod__(self, other):
        return self._with(other, lambda a, b: a - b * (a // b), lambda a, b: a % b)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return other / float(self) if isinstance(other, float) else Fraction(other) / self

    def __pow__(self, power):
        if isinstance(power, int):
            base, power = (self, power) if power >= 0 else (Fraction(self.denominator, self.numerator), -power)
            return Fraction(base.numerator**power, base.denominator**power)
        return float(self) ** float(power)

    def __neg__(self):
        return Fraction(-self.numerator, self.denominator)

    def __pos__(self):
        return self

    def __abs__(self):
        return Fraction(abs(self.numerator), self.denominator)

    def __bool__(self):
        return self.numerator != 0

    def __float__(self):
        return self.numerator / self.denominator

    def __int__(self):
        return self.numerator // self.denominator if self.numerator >= 0 else -(-self.numerator // self.denominator)

    __trunc__ = __int__

    def __floor__(self):
        return self.numerator // self.denominator

    def __ceil__(self):
        return -(-self.numerator // self.denominator)

    def __round__(self, ndigits=None):
        if ndigits is None:
            floor, rest = divmod(self.numerator, self.denominator)
            return floor if rest * 2 < self.denominator or (rest * 2 == self.denominator and floor % 2 == 0) else floor + 1
        unit = 10**ndigits
        return Fraction(round(self * unit), unit)

    def _compared(self, other):
        if isinstance(other, float):
            return float(self) - other
        other = Fraction(other) if isinstance(other, int) else other
        return self.numerator * other.denominator - other.numerator * self.denominator if isinstance(other, Fraction) else None

    def __eq__(self, other):
        return self._compared(other) == 0

    def __lt__(self, other):
        return self._compared(other) < 0

    def __le__(self, other):
        return self._compared(other) <= 0

    def __gt__(self, other):
        return self._compared(other) > 0

    def __ge__(self, other):
        return self._compared(other) >= 0

    def __hash__(self):
        return hash(self.numerator) if self.denominator == 1 else hash((self.numerator, self.denominator))

    def as_integer_ratio(self):
        return self.numerator, self.denominator

    def __str__(self):
        return str(self.numerator) if self.denominator == 1 else f"{self.numerator}/{self.denominator}"

    def __repr__(self):
        return f"Fraction({self.numerator}, {self.denominator})"


def _parsed(text):
    try:
        first, slash, second = text.strip().partition("/")
        if slash:
            return int(first), int(second)
        mantissa, _, exponent = first.lower().partition("e")
        whole, _, digits = mantissa.partition(".")
        number, scale = int((whole or "0") + digits), int(exponent or 0) - len(digits)
        return (number * 10**scale, 1) if scale >= 0 else (number, 10**-scale)
    except ValueError:
        raise ValueError(f"Invalid literal for Fraction: {text!r}") from None
