# SPDX-License-Identifier: Apache-2.0
from operator import add as _add


def _chain(*iterables):
    for iterable in iterables:
        yield from iterable


def _from_iterable(iterable):
    for inner in iterable:
        yield from inner


_chain.from_iterable = _from_iterable
_chain.__name__ = "chain"
chain = _chain


class repeat:
    def __init__(self, object, times=None):
        self._object, self._left = object, times

    def __iter__(self):
        return self

    def __next__(self):
        if self._left is not None:
            if self._left <= 0:
                raise StopIteration
            self._left -= 1
        return self._object

    def __length_hint__(self):
        if self._left is None:
            raise TypeError("len() of unsized object")
        return max(self._left, 0)

    def __repr__(self):
        return f"repeat({self._object!r})" if self._left is None else f"repeat({self._object!r}, {self._left})"


class count:
    def __init__(self, start=0, step=1):
        self._next, self._step = start, step

    def __iter__(self):
        return self

    def __next__(self):
        value = self._next
        self._next = value + self._step
        return value

    def __repr__(self):
        return f"count({self._next!r})" if self._step == 1 and isinstance(self._step, int) else f"count({self._next!r}, {self._step!r})"


def cycle(iterable):
    saved = []
    for element in iterable:
        yield element
        saved.append(element)
    while saved:
        yield from saved


def _bounds(bounds):
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"islice expected at least 2 arguments, got {1 + len(bounds)}")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, None)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    for bound in (start, stop):
        if bound is not None and (not hasattr(bound, "__index__") or bound < 0):
            what = "Stop argument" if len(bounds) == 1 else "Indices"
            raise ValueError(f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if not hasattr(step, "__index__") or step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return start, stop, step


def islice(iterable, *bounds):
    return _islice(iter(iterable), *_bounds(bounds))


def _islice(elements, start, stop, step):
    place, wanted = 0, start
    while stop is None or wanted < stop:
        for element in elements:
            place += 1
            if place > wanted:
                break
        else:
            return
        yield element
        wanted += step
    # What lies before the end is gone through, as Python does.
    while stop is not None and place < stop:
        if next(elements, _islice) is _islice:
            return
        place += 1


def takewhile(predicate, iterable):
    for element in iterable:
        if not predicate(element):
            break
        yield element


def dropwhile(predicate, iterable):
    elements = iter(iterable)
    for element in elements:
        if not predicate(element):
            yield element
            break
    yield from elements


def filterfalse(predicate, iterable):
    for element in iterable:
        if not (predicate(element) if predicate is not None else element):
            yield element


def compress(data, selectors):
    for element, chosen in zip(data, selectors):
        if chosen:
            yield element


def starmap(function, iterable):
    for arguments in iterable:
        yield function(*arguments)


def pairwise(iterable):
    elements = iter(iterable)
    for last in elements:
        for element in elements:
            yield last, element
            last = element


def zip_longest(*iterables, fillvalue=None):
    columns = [iter(iterable) for iterable in iterables]
    left = len(columns)
    while left:
        row = []
        for i, column in enumerate(columns):
            element = fillvalue if column is None else next(column, _bounds)
            if element is _bounds:
                columns[i], element = None, fillvalue
                left -= 1
            row.append(element)
        if left:
            yield tuple(row)


class _Group:
    def __init__(self, owner, name):
        self._owner, self._name = owner, name

    def __iter__(self):
        return self

    def __next__(self):
        owner = self._owner
        if owner._group is not self or not owner._has or owner._name != self._name:
            raise StopIteration
        element = owner._element
        owner._advance()
        return element


class groupby:
    def __init__(self, iterable, key=None):
        self._elements, self._key, self._group = iter(iterable), key, None
        self._has, self._element, self._name, self._begun = False, None, None, False

    def _advance(self):
        element = next(self._elements, _bounds)
        self._begun, self._has = True, element is not _bounds
        if self._has:
            self._element = element
            self._name = element if self._key is None else self._key(element)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._begun:
            self._advance()
        elif self._group is not None:
            while self._has and self._name == self._group._name:
                self._advance()
        self._group = None
        if not self._has:
            raise StopIteration
        self._group = _Group(self, self._name)
        return self._name, self._group


def accumulate(iterable, func=None, *, initial=None):
    func = _add if func is None else func
    elements = iter(iterable)
    total = initial
    if initial is None:
        total = next(elements, _bounds)
        if total is _bounds:
            return
    yield total
    for element in elements:
        total = func(total, element)
        yield total


def product(*iterables, repeat=1):
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    return _product([tuple(iterable) for iterable in iterables] * repeat)


def _product(pools):
    if any(not pool for pool in pools):
        return
    places = [0] * len(pools)
    while True:
        yield tuple(pool[place] for pool, place in zip(pools, places))
        for i in reversed(range(len(pools))):
            places[i] += 1
            if places[i] < len(pools[i]):
                break
            places[i] = 0
        else:
            return


def combinations(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations(tuple(iterable), r)


def _combinations(pool, r):
    n = len(pool)
    if r > n:
        return
    places = list(range(r))
    while True:
        yield tuple(pool[i] for i in places)
        for i in reversed(range(r)):
            if places[i] != i + n - r:
                break
        else:
            return
        places[i] += 1
        for j in range(i + 1, r):
            places[j] = places[j - 1] + 1


def combinations_with_replacement(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_with_replacement(tuple(iterable), r)


def _combinations_with_replacement(pool, r):
    n = len(pool)
    if not n and r:
        return
    places = [0] * r
    while True:
        yield tuple(pool[i] for i in places)
        for i in reversed(range(r)):
            if places[i] != n - 1:
                break
        else:
            return
        places[i:] = [places[i] + 1] * (r - i)


def permutations(iterable, r=None):
    pool = tuple(iterable)
    r = len(pool) if r is None else r
    if r < 0:
        raise ValueError("r must be non-negative")
    return _permutations(pool, r)


def _permutations(pool, r):
    n = len(pool)
    if r > n:
        return
    places, cycles = list(range(n)), list(range(n, n - r, -1))
    yield tuple(pool[i] for i in places[:r])
    while n:
        for i in reversed(range(r)):
            cycles[i] -= 1
            if cycles[i] == 0:
                places[i:] = places[i + 1 :] + places[i : i + 1]
                cycles[i] = n - i
            else:
                j = cycles[i]
                places[i], places[-j] = places[-j], places[i]
                yield tuple(pool[i] for i in places[:r])
                break
        else:
            return


class _Tee:
    def __init__(self, elements, waiting, others):
        self._elements, self._waiting, self._others = elements, waiting, others

    def __iter__(self):
        return self

    def __next__(self):
        if not self._waiting:
            element = next(self._elements)
            for queue in self._others:
                queue.append(element)
        return self._waiting.pop(0)

    def __copy__(self):
        queue = list(self._waiting)
        self._others.append(queue)
        return _Tee(self._elements, queue, self._others)


def tee(iterable, n=2):
    if n < 0:
        raise ValueError("n must be >= 0")
    elements, queues = iter(iterable), [[] for _ in range(n)]
    return tuple([_Tee(elements, queue, queues) for queue in queues])


def batched(iterable, n, *, strict=False):
    if n < 1:
        raise ValueError("n must be at least one")
    return _batched(iter(iterable), n, strict)


def _batched(elements, n, strict):
    while batch := tuple(islice(elements, n)):
        if strict and len(batch) != n:
            raise ValueError("batched(): incomplete batch")
        yield batch
