# SPDX-License-Identifier: Apache-2.0
import _fibers
import threading as _threading

FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"


class CancelledError(Exception):
    pass


class InvalidStateError(Exception):
    pass


class BrokenExecutor(RuntimeError):
    pass


class Future:
    def __init__(self):
        self._state, self._result, self._exception, self._callbacks = "PENDING", None, None, []

    def done(self):
        return self._state in ("FINISHED", "CANCELLED")

    def running(self):
        return self._state == "RUNNING"

    def cancelled(self):
        return self._state == "CANCELLED"

    def cancel(self):
        if self._state in ("RUNNING", "FINISHED"):
            return False
        self._end("CANCELLED")
        return True

    def _end(self, state):
        self._state = state
        for callback in self._callbacks:
            callback(self)

    def set_result(self, result):
        if self.done():
            raise InvalidStateError(f"{self._state}: {self!r}")
        self._result = result
        self._end("FINISHED")

    def set_exception(self, exception):
        if self.done():
            raise InvalidStateError(f"{self._state}: {self!r}")
        self._exception = exception
        self._end("FINISHED")

    def _wait(self, timeout):
        if not self.done() and not _fibers.wait_here(self.done, timeout):
            raise TimeoutError
        if self._state == "CANCELLED":
            raise CancelledError

    def result(self, timeout=None):
        self._wait(timeout)
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self, timeout=None):
        self._wait(timeout)
        return self._exception

    def add_done_callback(self, fn):
        if self.done():
            fn(self)
        else:
            self._callbacks.append(fn)


class Executor:
    def submit(self, fn, /, *args, **kwargs):
        raise NotImplementedError

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        futures = [self.submit(fn, *args) for args in zip(*iterables)]

        def results():
            for future in futures:
                yield future.result(timeout)

        return results()

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.shutdown(wait=True)
        return False


class ThreadPoolExecutor(Executor):
    _pools = [0]

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._max_workers, self._initializer, self._initargs = max_workers or 8, initializer, initargs
        self._name = thread_name_prefix or f"ThreadPoolExecutor-{self._pools[0]}"
        self._pools[0] += 1
        self._work, self._threads, self._idle, self._closed = [], [], 0, False

    def submit(self, fn, /, *args, **kwargs):
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        self._work.append((future, fn, args, kwargs))
        if not self._idle and len(self._threads) < self._max_workers:
            thread = _threading.Thread(target=self._worker, name=f"{self._name}_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _worker(self):
        if self._initializer is not None:
            self._initializer(*self._initargs)
        while True:
            if not self._work:
                if self._closed:
                    return
                self._idle += 1
                _fibers.wait_here(lambda: self._work or self._closed)
                self._idle -= 1
                continue
            future, fn, args, kwargs = self._work.pop(0)
            if future.cancelled():
                continue
            future._state = "RUNNING"
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

    def shutdown(self, wait=True, *, cancel_futures=False):
        if cancel_futures:
            for future, fn, args, kwargs in self._work:
                future.cancel()
            self._work.clear()
        self._closed = True
        if wait:
            for thread in self._threads:
                thread.join()


def _split(fs):
    done = {future for future in fs if future.done()}
    return done, {future for future in fs if future not in done}


class DoneAndNotDoneFutures(tuple):
    done = property(lambda self: self[0])
    not_done = property(lambda self: self[1])


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    fs = set(fs)

    def enough():
        done, rest = _split(fs)
        if not rest or (return_when == FIRST_COMPLETED and done):
            return True
        return return_when == FIRST_EXCEPTION and any([not future.cancelled() and future._exception is not None for future in done])

    if not enough():
        _fibers.wait_here(enough, timeout)
    return DoneAndNotDoneFutures(_split(fs))


def as_completed(fs, timeout=None):
    left = list(dict.fromkeys(fs))
    while left:
        done = [future for future in left if future.done()]
        if not done:
            if not _fibers.wait_here(lambda: any([future.done() for future in left]), timeout):
                raise TimeoutError(f"{len(left)} (of {len(set(fs))}) futures unfinished")
            continue
        for future in done:
            left.remove(future)
            yield future
