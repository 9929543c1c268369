# SPDX-License-Identifier: Apache-2.0
import hashlib as _hashlib
import random as _random
import time as _time


class UUID:
    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None):
        if hex is not None:
            digits = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
            if len(digits) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
            value = _whole(digits)
        elif bytes is not None:
            if len(bytes) != 16:
                raise ValueError("bytes is not a 16-char string")
            value = _whole(bytes.hex())
        elif int is not None:
            value = f"{int:032x}"
        elif bytes_le is not None or fields is not None:
            raise NotImplementedError("uuid.UUID of bytes_le or fields; give hex, bytes or int")
        else:
            raise TypeError("one of the hex, bytes, bytes_le, fields, or int arguments must be given")
        if version is not None:
            value = value[:12] + str(version) + value[13:16] + "89ab"[_number(value[16]) & 3] + value[17:]
        self.hex = value

    @property
    def version(self):
        return _number(self.hex[12])

    @property
    def bytes(self):
        return b"".fromhex(self.hex)

    @property
    def urn(self):
        return "urn:uuid:" + str(self)

    def __eq__(self, other):
        return isinstance(other, UUID) and self.hex == other.hex

    def __lt__(self, other):
        return self.hex < other.hex

    def __hash__(self):
        return hash(self.hex)

    def __str__(self):
        return "-".join([self.hex[:8], self.hex[8:12], self.hex[12:16], self.hex[16:20], self.hex[20:]])

    def __repr__(self):
        return f"UUID('{self}')"


def _number(digit):
    return int(digit, 16)


def _whole(digits):
    if not all([c in "0123456789abcdef" for c in digits.lower()]):
        raise ValueError(f"invalid literal for int() with base 16: {digits!r}")
    return digits.lower()


_source = _random.Random(_time.time_ns())


def _drawn():
    return "".join([f"{_source.getrandbits(32):08x}" for _ in range(4)])


def uuid4():
    return UUID(hex=_drawn(), version=4)


def uuid1():
    return UUID(hex=_drawn(), version=1)


def _named(kind, namespace, name, version):
    return UUID(hex=kind(namespace.bytes + name.encode()).hexdigest()[:32], version=version)


def uuid3(namespace, name):
    return _named(_hashlib.md5, namespace, name, 3)


def uuid5(namespace, name):
    return _named(_hashlib.sha1, namespace, name, 5)


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_OID = UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_X500 = UUID("6ba7b814-9dad-11d1-80b4-00c04fd430c8")
