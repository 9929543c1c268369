# SPDX-License-Identifier: Apache-2.0
import random as _random
import time as _time

_source = _random.Random(_time.time_ns())


def token_hex(nbytes=None):
    return token_bytes(nbytes).hex()


def token_bytes(nbytes=None):
    return bytes([_source.getrandbits(8) for _ in range(32 if nbytes is None else nbytes)])


def randbelow(exclusive_upper_bound):
    return _source.randrange(exclusive_upper_bound)


def choice(sequence):
    return _source.choice(sequence)
