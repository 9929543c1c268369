# SPDX-License-Identifier: Apache-2.0
_callbacks = []


def register(func, *args, **kwargs):
    _callbacks.append((func, args, kwargs))
    return func


def unregister(func):
    _callbacks[:] = [entry for entry in _callbacks if entry[0] != func]


def run_all():
    while _callbacks:
        func, args, kwargs = _callbacks.pop()
        func(*args, **kwargs)
