# SPDX-License-Identifier: Apache-2.0
class A:
    def __init__(self): self._x = 1
    @property
    def x(self):
        "doc x"
        return self._x
    @x.setter
    def x(self, v): self._x = v
    @x.deleter
    def x(self): print('deleted'); del self._x
    @staticmethod
    def s(a): return a
    @classmethod
    def c(cls): return cls.__name__
    def __del__(self): print('gone')
a = A(); a.x = 5; print(a.x, A.s(1), a.s(2), A.c(), a.c(), A.x.__doc__, A.x.fget(a)); del a.x
try: a.x
except AttributeError as e: print(e)
del a
class B(A):
    @property
    def x(self): return 'B' + str(super().x)
    @x.setter
    def x(self, v): A.x.fset(self, v * 2)
b = B(); b.x = 2; print(b.x, B.__mro__, B.__bases__, issubclass(B, A), isinstance(b, A), type(b) is B, b.__class__.__name__, B.__subclasses__(), A.__subclasses__())
class Meta(type):
    def __getattr__(cls, n): return n.upper()
class Q(metaclass=Meta): y = 1
print(Q.foo, Q.y)
class D1:
    def f(self): return ['D1']
class D2(D1):
    def f(self): return ['D2'] + super().f()
class D3(D1):
    def f(self): return ['D3'] + super().f()
class D4(D2, D3):
    def f(self): return ['D4'] + super(D4, self).f()
print(D4().f(), [c.__name__ for c in D4.mro()])
try:
    class Bad(D1, D2): pass
except TypeError as e: print(str(e)[:60])
X = type('X', (D1,), {'z': 3, 'm': lambda self: self.z}); print(X().m(), X.__name__, X().f())
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
try: Shape()
except TypeError as e: print(e)
class Sq(Shape):
    def area(self): return 4
    name = 'sq'
print(Sq().area(), Sq().name)
