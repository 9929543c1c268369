# SPDX-License-Identifier: Apache-2.0
from _binary import digest as _digest

algorithms_available = algorithms_guaranteed = {"md5", "sha1", "sha256", "sha512"}
_sizes = {"md5": (16, 64), "sha1": (20, 64), "sha256": (32, 64), "sha512": (64, 128)}


class _Hash:
    def __init__(self, name, data=b""):
        self.name, self._data = name, bytes(data)
        self.digest_size, self.block_size = _sizes[name]

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        self._data += bytes(data)

    def digest(self):
        return _digest(self.name, self._data)

    def hexdigest(self):
        return self.digest().hex()

    def copy(self):
        return _Hash(self.name, self._data)


def new(name, data=b""):
    if name.lower() not in _sizes:
        raise ValueError(f"unsupported hash type {name}")
    return _made(name.lower(), data)


def _made(name, data):
    if isinstance(data, str):
        raise TypeError("Strings must be encoded before hashing")
    return _Hash(name, data)


def md5(string=b"", *, usedforsecurity=True):
    return _made("md5", string)


def sha1(string=b"", *, usedforsecurity=True):
    return _made("sha1", string)


def sha256(string=b"", *, usedforsecurity=True):
    return _made("sha256", string)


def sha512(string=b"", *, usedforsecurity=True):
    return _made("sha512", string)


def file_digest(fileobj, digest):
    made = new(digest) if isinstance(digest, str) else digest()
    made.update(fileobj.read())
    return made
