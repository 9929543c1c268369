#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python's language and library in scripts against what CPython printed (python/*.expected). usage: python_test.py PELLUCID"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")


class PythonScripts(unittest.TestCase):
    def test_recorded(self):
        scripts = sorted(glob.glob(os.path.join(FOLDER, "*.expected")))
        self.assertGreater(len(scripts), 4)
        for expected in scripts:
            name = os.path.basename(expected).removesuffix(".expected") + ".py"
            with self.subTest(name):
                done = subprocess.run([PROGRAM, "exec", name], capture_output=True, text=True, timeout=120, cwd=FOLDER)
                with open(expected) as file:
                    self.assertEqual(done.stdout, file.read(), done.stderr)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def text(self, source):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            return subprocess.run([PROGRAM, "exec", file.name], capture_output=True, text=True, timeout=120)

    def test_closures_hold_what_they_read(self):
        """How many tensors live, by weak references, while closures of every kind are made and dropped."""
        done = self.text(CLOSURES)
        self.assertEqual((done.stdout, done.returncode), ("['   6', 3, {'y': 7}, [7, 7]]\n", 0), done.stderr)

    def test_rings_of_classes_go(self):
        """Tensors that only classes made in calls hold, in a ring with their instances: at most some searches' worth live."""
        done = self.text(CLASSES)
        self.assertEqual((done.stdout, done.returncode), ("ordinary True\nrenamed True\ncalled True\nderived True\n0\n", 0), done.stderr)

    def test_async_functions_are_refused_where_they_are_called(self):
        done = self.text("async def f():\n    return 1\n\nprint('made')\nf()\n")
        self.assertEqual((done.stdout, done.returncode), ("made\n", 1))
        self.assertIn(":5:1: error: 'async' functions are not supported", done.stderr)


CLASSES = '''
import gc
import weakref
import torch

made = []
def alive():
    return sum(ref() is not None for ref in made)
def tensor():
    t = torch.ones(8)
    made.append(weakref.ref(t))
    return t

class Base: pass
def ordinary():
    class Local: pass
    Local.held, Local.own = tensor(), Local()
def renamed():
    class Local: pass
    Local.__qualname__ = "Plain"
    Local.held, Local.own = tensor(), Local()
def called():
    local = type("Made", (), {"held": tensor()})
    local.own = local()
def derived():
    class Local(Base):
        held = tensor()
        def method(self): return Local
    Local().method

for make in (ordinary, renamed, called, derived):
    made.clear()
    most = 0
    for turn in range(1200):
        make()
        if turn % 50 == 0:
            most = max(most, alive())
    print(make.__name__, most < 900)
gc.collect()
print(alive())
'''

CLOSURES = '''
import gc
import weakref
import torch

made = []
def tensor():
    t = torch.ones(8)
    made.append(weakref.ref(t))
    return t
def alive():
    return sum(ref() is not None for ref in made)

def returned():
    big = tensor()
    def f(): return f.__name__
    return f
def reads():
    big, unread = tensor(), tensor()
    def f(): return big
    return f
def recursive():
    big = tensor()
    def f(k): return f(k - 1) if k else big
    return f
def mutual():
    big = tensor()
    def even(n): return n == 0 or odd(n - 1)
    def odd(n): return n != 0 and even(n - 1) and big is not None
    return even
def in_class():
    big = tensor()
    class K:
        held = big
        def m(self): return K, big
    return K()
def generator():
    big = tensor()
    def g():
        yield big
        yield g
    it = g()
    next(it)
    return it
def expression():
    big = tensor()
    e = (big * k for k in range(2))
    return e
def self_held():
    class Node: pass
    node = Node()
    node.big, node.me = tensor(), [node]
    node.call = lambda: node
    return node
def hooked():
    big, x = tensor(), torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * big[:2])
    x.sum().backward()
    return x
def caught():
    big = tensor()
    try:
        raise ValueError(big)
    except ValueError as e:
        return lambda: big
def texts(kind: "type"):
    big, wide = tensor(), 3
    def f(x: "big", y=wide, *, z: "big" = None) -> "big":
        match x:
            case kind.attr: raise KeyError from kind
        return f"{x:>{wide}}"
    return f

for make in (returned, reads, recursive, mutual, in_class, generator, expression, self_held, hooked, caught, lambda: texts(int)):
    for turn in range(400):
        kept = make()
    most = alive()
    if most > 300:
        print(make, "keeps", most)
    kept = None
    gc.collect()
    if alive():
        print(make, "leaves", alive())
    made.clear()

f = reads()
unread = alive()
if unread != 1:
    print("what no function reads stays", unread)
def kept():
    b, c, d, e, g, h = 2, 3, 4, KeyError, 6, 7
    def f(x=g):
        try:
            if x == 1: raise KeyError("k") from e("cause")
        except e: return c
        return f"{x:{d}}"
    class K:
        y: h = 1
        z = [h for _ in range(2) if b]
    return f, K
f, K = kept()
print([f(6), f(1), K.__annotations__, K.z])
'''

if __name__ == "__main__":
    unittest.main()
