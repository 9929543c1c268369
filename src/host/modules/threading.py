# SPDX-License-Identifier: Apache-2.0
# One thread evaluates a file, so that a lock is always free for it.
class Lock:
    def __init__(self):
        self._held = 0

    def acquire(self, blocking=True, timeout=-1):
        if self._held and not self._again:
            if blocking and timeout < 0:
                raise RuntimeError("the lock is held already, and nobody else is there to release it")
            return False
        self._held += 1
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exception):
        self.release()

    _again = False


class RLock(Lock):
    _again = True


class local:
    pass


class Event:
    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False


class _MainThread:
    name = "MainThread"
    ident = 1
    daemon = False

    def is_alive(self):
        return True


_main = _MainThread()


def current_thread():
    return _main


def main_thread():
    return _main


def get_ident():
    return 1
