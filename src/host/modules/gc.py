# SPDX-License-Identifier: Apache-2.0
# Values go when nothing holds them any more; rings of them are looked for from time to time.
import _gc as _native

_enabled = [True]


def collect(generation=2):
    if generation not in (0, 1, 2):
        raise ValueError("invalid generation")
    return _native.collect(generation)


def enable():
    _enabled[0] = True
    _native.enable(True)


def disable():
    _enabled[0] = False
    _native.enable(False)


def isenabled():
    return _enabled[0]


def freeze():
    pass


def unfreeze():
    pass


def get_threshold():
    return (700, 10, 10)


def set_threshold(threshold0, *others):
    if threshold0 == 0:
        disable()


def get_count():
    return (0, 0, 0)
