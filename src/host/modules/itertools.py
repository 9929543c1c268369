# SPDX-License-Identifier: Apache-2.0
def _chain(*iterables):
    for iterable in iterables:
        for element in iterable:
            yield element


def _from_iterable(iterables):
    for iterable in iterables:
        for element in iterable:
            yield element


_chain.from_iterable = _from_iterable
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


class count:
    def __init__(self, start=0, step=1):
        self._next, self._step = start, step

    def __iter__(self):
        return self

    def __next__(self):
        value = self._next
        self._next = value + self._step
        return value


class cycle:
    def __init__(self, iterable):
        self._elements, self._place = list(iterable), 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self._elements:
            raise StopIteration
        value = self._elements[self._place]
        self._place = (self._place + 1) % len(self._elements)
        return value


def islice(iterable, *bounds):
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, None)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    if start < 0 or (stop is not None and stop < 0) or step < 1:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    out, place = [], 0
    if stop is not None and stop <= start:
        return iter(out)
    for element in iterable:
        if place >= start and (place - start) % step == 0:
            out.append(element)
        place += 1
        if stop is not None and place >= stop:
            break
    return iter(out)


def takewhile(predicate, iterable):
    for element in iterable:
        if not predicate(element):
            break
        yield element


def dropwhile(predicate, iterable):
    dropping = True
    for element in iterable:
        dropping = dropping and predicate(element)
        if not dropping:
            yield element


def filterfalse(predicate, iterable):
    for element in iterable:
        if not (predicate(element) if predicate is not None else element):
            yield element


def compress(data, selectors):
    return iter([element for element, chosen in zip(data, selectors) if chosen])


def starmap(function, iterable):
    for arguments in iterable:
        yield function(*arguments)


def pairwise(iterable):
    elements = list(iterable)
    return zip(elements, elements[1:])


def zip_longest(*iterables, fillvalue=None):
    columns = [list(iterable) for iterable in iterables]
    length = max([len(column) for column in columns], default=0)
    return iter([tuple(column[i] if i < len(column) else fillvalue for column in columns) for i in range(length)])


def groupby(iterable, key=None):
    groups = []
    for element in iterable:
        name = element if key is None else key(element)
        if groups and groups[-1][0] == name:
            groups[-1][1].append(element)
        else:
            groups.append((name, [element]))
    return iter([(name, iter(members)) for name, members in groups])


def permutations(iterable, r=None):
    pool = tuple(iterable)

    def extended(chosen, left):
        if left == 0:
            return [tuple(pool[i] for i in chosen)]
        return [row for i in range(len(pool)) if i not in chosen for row in extended(chosen + [i], left - 1)]

    return iter(extended([], len(pool) if r is None else r))


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)

    def extended(chosen, left):
        if left == 0:
            return [tuple(pool[i] for i in chosen)]
        return [row for i in range(chosen[-1] if chosen else 0, len(pool)) for row in extended(chosen + [i], left - 1)]

    return iter(extended([], r))


def tee(iterable, n=2):
    elements = list(iterable)
    return tuple(iter(list(elements)) for _ in range(n))


def batched(iterable, n, *, strict=False):
    elements = list(iterable)
    if n < 1:
        raise ValueError("n must be at least one")
    if strict and len(elements) % n:
        raise ValueError("batched(): incomplete batch")
    return iter([tuple(elements[i : i + n]) for i in range(0, len(elements), n)])
