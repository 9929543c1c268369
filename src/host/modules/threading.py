# SPDX-License-Identifier: Apache-2.0
# Threads take turns where one waits: for a lock, an event, a queue, another thread, or the time.
import _fibers


class ThreadError(RuntimeError):
    pass


class BrokenBarrierError(RuntimeError):
    pass


_ready = []  # threads that have begun and are not over, in the order of their turns
_made, _progress = [0], [0]


def _clock():
    import time

    return time.monotonic()


def _turn():
    """Lets every other thread go on once; False where there is none that may."""
    others = [thread for thread in list(_ready) if not thread._runs]
    for thread in others:
        thread._go_on()
    return bool(others)


def _wait(condition, timeout=None):
    """Until `condition()` holds; False after `timeout` seconds."""
    from _script import sleep

    end = None if timeout is None or timeout < 0 else _clock() + timeout
    idle = 0  # turns in which nobody went on
    while not condition():
        if end is not None and _clock() >= end:
            return False
        if _fibers.in_fiber():
            _fibers.leave()
            continue
        before = _progress[0]
        any_left = _turn()
        idle = 0 if _progress[0] != before else idle + 1
        if idle < 2 and any_left:
            continue
        if end is None and all([thread._forever for thread in _ready]) and not condition():
            raise RuntimeError("deadlock: every thread waits for another one")
        sleep(0.0005 if end is None else min(0.0005, max(0.0, end - _clock())))
    return True


def _wait_here(condition, timeout=None):
    thread = current_thread()
    thread._waits, thread._forever = True, timeout is None or timeout < 0
    try:
        return condition() or _wait(condition, timeout)
    finally:
        thread._waits = thread._forever = False
        _progress[0] += 1


_fibers.wait_here = _wait_here


class Lock:
    def __init__(self):
        self._held, self._owner = 0, None

    def acquire(self, blocking=True, timeout=-1):
        mine = self._again and self._owner is current_thread()
        if self._held and not mine:
            if not blocking:
                return False
            if not _wait_here(lambda: not self._held, None if timeout < 0 else timeout):
                return False
        self._held += 1
        self._owner = current_thread()
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1
        if not self._held:
            self._owner = None

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exception):
        self.release()

    _again = False


class RLock(Lock):
    _again = True


class Condition:
    def __init__(self, lock=None):
        self._lock, self._waiters = RLock() if lock is None else lock, []
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *exception):
        return self._lock.__exit__(*exception)

    def wait(self, timeout=None):
        if not self._lock.locked():
            raise RuntimeError("cannot wait on un-acquired lock")
        told = [False]
        self._waiters.append(told)
        held, self._lock._held = self._lock._held, 0
        try:
            got = _wait_here(lambda: told[0], timeout)
        finally:
            _wait_here(lambda: not self._lock._held)
            self._lock._held, self._lock._owner = held, current_thread()
            if told in self._waiters:
                self._waiters.remove(told)
        return got

    def wait_for(self, predicate, timeout=None):
        end = None if timeout is None else _clock() + timeout
        result = predicate()
        while not result:
            if end is not None and _clock() >= end:
                break
            self.wait(None if end is None else end - _clock())
            result = predicate()
        return result

    def notify(self, n=1):
        if not self._lock.locked():
            raise RuntimeError("cannot notify on un-acquired lock")
        for told in self._waiters[:n]:
            told[0] = True
        del self._waiters[:n]

    def notify_all(self):
        self.notify(len(self._waiters))


class Semaphore:
    def __init__(self, value=1):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._value = self._initial = value

    def acquire(self, blocking=True, timeout=None):
        if not self._value and (not blocking or not _wait_here(lambda: self._value > 0, timeout)):
            return False
        self._value -= 1
        return True

    def release(self, n=1):
        self._value += n

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exception):
        self.release()


class BoundedSemaphore(Semaphore):
    def release(self, n=1):
        if self._value + n > self._initial:
            raise ValueError("Semaphore released too many times")
        self._value += n


class Event:
    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    def wait(self, timeout=None):
        return self._set or _wait_here(lambda: self._set, timeout)


class Barrier:
    def __init__(self, parties, action=None, timeout=None):
        self.parties, self._action, self._timeout, self.n_waiting, self._round, self.broken = parties, action, timeout, 0, 0, False

    def wait(self, timeout=None):
        if self.broken:
            raise BrokenBarrierError
        place, mine = self.n_waiting, self._round
        self.n_waiting += 1
        if self.n_waiting == self.parties:
            if self._action is not None:
                self._action()
            self.n_waiting, self._round = 0, self._round + 1
        elif not _wait_here(lambda: self._round != mine or self.broken, self._timeout if timeout is None else timeout) or self.broken:
            self.broken = True
            raise BrokenBarrierError
        return place

    def abort(self):
        self.broken = True


class local:
    def __init__(self):
        self.__dict__["_own"] = {}

    def _names(self):
        return self.__dict__.setdefault("_own", {}).setdefault(current_thread().ident, {})

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._names():
            raise AttributeError(f"'_thread._local' object has no attribute '{name}'")
        return self._names()[name]

    def __setattr__(self, name, value):
        self._names()[name] = value

    def __delattr__(self, name):
        if name not in self._names():
            raise AttributeError(name)
        del self._names()[name]


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        if group is not None:
            raise AssertionError("group argument must be None for now")
        _made[0] += 1
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name = name or f"Thread-{_made[0]}" + (f" ({target.__name__})" if hasattr(target, "__name__") else "")
        self.daemon = current_thread().daemon if daemon is None else daemon
        self.ident = self._fiber = None
        self._over, self._waits, self._forever, self._runs = False, False, False, False

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        if self._fiber is not None:
            raise RuntimeError("threads can only be started once")
        if not _fibers.others:
            import atexit

            _fibers.others.append(_sleep)
            atexit.register(_join_all)
        self.ident = self.native_id = 1000 + _made[0]
        self._fiber = _fibers.fiber(self._body)
        _ready.append(self)
        self._go_on()

    def _body(self):
        try:
            self.run()
        except SystemExit:
            pass
        except Exception:
            import sys
            import traceback

            sys.stderr.write(f"Exception in thread {self.name}:\n{traceback.format_exc()}")
        finally:
            self._over = True

    def _go_on(self):
        if self._runs or self._over:
            return
        before = _now[0]
        _now[0], self._runs = self, True
        try:
            next(self._fiber, None)
        finally:
            _now[0], self._runs = before, False
            if self._over and self in _ready:
                _ready.remove(self)
                _progress[0] += 1

    def join(self, timeout=None):
        if self._fiber is None:
            raise RuntimeError("cannot join thread before it is started")
        if self is current_thread():
            raise RuntimeError("cannot join current thread")
        self._over or _wait_here(lambda: self._over, timeout)

    def is_alive(self):
        return self._fiber is not None and not self._over

    def getName(self):
        return self.name

    def setName(self, name):
        self.name = name

    def setDaemon(self, daemon):
        self.daemon = daemon

    def __repr__(self):
        state = "initial" if self._fiber is None else "stopped" if self._over else "started"
        return f"<{type(self).__name__}({self.name}, {state}{' daemon' if self.daemon else ''}{'' if self.ident is None else f' {self.ident}'})>"


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        super().__init__()
        self.interval, self.function, self.args, self.kwargs, self.finished = interval, function, args or [], kwargs or {}, Event()

    def cancel(self):
        self.finished.set()

    def run(self):
        self.finished.wait(self.interval)
        if not self.finished.is_set():
            self.function(*self.args, **self.kwargs)
        self.finished.set()


class _MainThread:
    name = "MainThread"
    ident = native_id = 1
    daemon = False
    _waits = _forever = _runs = False

    def is_alive(self):
        return True

    def getName(self):
        return self.name

    def join(self, timeout=None):
        raise RuntimeError("cannot join current thread")

    def __repr__(self):
        return "<_MainThread(MainThread, started 1)>"


_main = _MainThread()
_now = [_main]


def current_thread():
    return _now[0]


currentThread = current_thread


def main_thread():
    return _main


def get_ident():
    return _now[0].ident


get_native_id = get_ident


def enumerate():
    return [_main] + [thread for thread in _ready]


def active_count():
    return len(_ready) + 1


def excepthook(args):
    raise NotImplementedError("threading.excepthook; handle exceptions in the thread's function")


def _sleep(seconds):
    """time.sleep(): the others go on meanwhile."""
    end = _clock() + seconds
    _wait_here(lambda: _clock() >= end, seconds)


def _join_all():
    """At the script's end."""
    for thread in list(_ready):
        if not thread.daemon and not thread._over:
            thread.join()
