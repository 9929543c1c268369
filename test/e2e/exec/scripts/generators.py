# SPDX-License-Identifier: Apache-2.0
import contextlib
import itertools


def numbers(n, log):
    try:
        for i in range(n):
            log.append(f"give {i}")
            got = yield i
            if got is not None:
                log.append(f"got {got}")
    finally:
        log.append("end")


def tree(depth):
    if depth:
        yield from tree(depth - 1)
        yield depth
        yield from tree(depth - 1)


log = []
g = numbers(5, log)
print(next(g), next(g), g.send("a"), log)
for value in g:
    print("in the loop", value)
    break
print(next(g), next(g, "none"), next(g, "none"), log)

h = numbers(3, log := [])
print(next(h))
h.close()
print(log, list(h))

a, b = numbers(3, []), numbers(9, [])
print(list(zip(a, b)), next(b))
print(list(tree(4)))
print(list(itertools.islice(zip(itertools.count(3), "abc"), 2)))
print([x for x, _ in zip(itertools.count(), range(3))])
it = iter([1, 2, 3, 4])
print([(x, next(it)) for x in it])
print(list(map(lambda x, y: x * y, itertools.count(1), [5, 6])))
print(list(enumerate(filter(None, [0, 1, "", "a"]), 1)))
squares = (n * n for n in itertools.count())
print(next(squares), next(squares), next(squares))


def failing():
    yield 1
    raise ValueError("late")


f = failing()
print(next(f))
try:
    next(f)
except ValueError as error:
    print("caught", error)
print(list(f))
try:
    next(f)
except StopIteration:
    print("stopped")


@contextlib.contextmanager
def place(name):
    print("into", name)
    try:
        yield name.upper()
    finally:
        print("out of", name)


with place("a") as x, place("b") as y:
    print(x, y)
try:
    with place("c"):
        raise KeyError("k")
except KeyError as error:
    print("caught", repr(error))
