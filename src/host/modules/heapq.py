# SPDX-License-Identifier: Apache-2.0
def _down(heap, place):
    end, item = len(heap), heap[place]
    start = place
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _up(heap, start, place)


def _up(heap, start, place):
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def heappush(heap, item):
    heap.append(item)
    _up(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    _down(heap, 0)
    return first


def heapify(x):
    for i in range(len(x) // 2 - 1, -1, -1):
        _down(x, i)


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _down(heap, 0)
    return item


def heapreplace(heap, item):
    first, heap[0] = heap[0], item
    _down(heap, 0)
    return first


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def merge(*iterables, key=None, reverse=False):
    return iter(sorted([x for iterable in iterables for x in iterable], key=key, reverse=reverse))
