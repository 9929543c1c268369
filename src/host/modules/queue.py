# SPDX-License-Identifier: Apache-2.0
import heapq as _heapq
from threading import Condition as _Condition
from threading import Lock as _Lock


class Empty(Exception):
    pass


class Full(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.unfinished_tasks = maxsize, 0
        self.mutex = _Lock()
        self.not_empty, self.not_full, self.all_tasks_done = _Condition(self.mutex), _Condition(self.mutex), _Condition(self.mutex)
        self._init()

    def _init(self):
        self.queue, self._first = [], 0

    def _qsize(self):
        return len(self.queue) - self._first

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        item = self.queue[self._first]
        self.queue[self._first] = None
        self._first += 1
        if self._first > 32 and self._first * 2 > len(self.queue):
            del self.queue[: self._first]
            self._first = 0
        return item

    def put(self, item, block=True, timeout=None):
        with self.not_full:
            if self.maxsize > 0 and self._qsize() >= self.maxsize:
                if not block or not self.not_full.wait_for(lambda: self._qsize() < self.maxsize, timeout):
                    raise Full
            self._put(item)
            self.unfinished_tasks += 1
            self.not_empty.notify()

    def get(self, block=True, timeout=None):
        with self.not_empty:
            if not self._qsize():
                if not block or not self.not_empty.wait_for(self._qsize, timeout):
                    raise Empty
            item = self._get()
            self.not_full.notify()
            return item

    def put_nowait(self, item):
        return self.put(item, block=False)

    def get_nowait(self):
        return self.get(block=False)

    def task_done(self):
        with self.all_tasks_done:
            if self.unfinished_tasks <= 0:
                raise ValueError("task_done() called too many times")
            self.unfinished_tasks -= 1
            if not self.unfinished_tasks:
                self.all_tasks_done.notify_all()

    def join(self):
        with self.all_tasks_done:
            self.all_tasks_done.wait_for(lambda: not self.unfinished_tasks)

    def qsize(self):
        return self._qsize()

    def empty(self):
        return not self._qsize()

    def full(self):
        return 0 < self.maxsize <= self._qsize()


class LifoQueue(Queue):
    def _get(self):
        return self.queue.pop()


class PriorityQueue(Queue):
    def _put(self, item):
        _heapq.heappush(self.queue, item)

    def _get(self):
        return _heapq.heappop(self.queue)


class SimpleQueue(Queue):
    def __init__(self):
        super().__init__()
