# SPDX-License-Identifier: Apache-2.0
from abc import ABCMeta


class Number(metaclass=ABCMeta):
    __slots__ = ()
    __hash__ = None


class Complex(Number):
    __slots__ = ()


class Real(Complex):
    __slots__ = ()


class Rational(Real):
    __slots__ = ()


class Integral(Rational):
    __slots__ = ()


for _kind in (Number, Complex, Real, Rational, Integral):
    _kind.register(int)
for _kind in (Number, Complex, Real):
    _kind.register(float)
