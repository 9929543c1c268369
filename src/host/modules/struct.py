# SPDX-License-Identifier: Apache-2.0
from _binary import bits_float as _bits_float
from _binary import float_bits as _float_bits


class error(Exception):
    pass


_whole = {"b": (1, True), "B": (1, False), "h": (2, True), "H": (2, False), "i": (4, True), "I": (4, False), "l": (4, True), "L": (4, False), "q": (8, True), "Q": (8, False)}
_native = {"l": (8, True), "L": (8, False), "n": (8, True), "N": (8, False), "P": (8, False)}


def _parsed(format):
    """(byte order, [(count, kind, size, alignment)])"""
    if not isinstance(format, str):
        format = format.decode()
    mode = format[0] if format[:1] in ("@", "=", "<", ">", "!") else "@"
    rest = format[1:] if format[:1] in ("@", "=", "<", ">", "!") else format
    order = "big" if mode in ">!" else "little"
    items, count = [], ""
    for c in rest:
        if c.isspace():
            continue
        if c.isdigit():
            count += c
            continue
        if c in "xcs?p":
            size = 1
        elif c in "efd":
            size = {"e": 2, "f": 4, "d": 8}[c]
        elif mode == "@" and c in _native:
            size = _native[c][0]
        elif c in _whole:
            size = _whole[c][0]
        else:
            raise error("bad char in struct format")
        items.append((int(count) if count else 1, c, size, size if mode == "@" else 1, bool(count)))
        count = ""
    if count:
        raise error("repeat count given without format specifier")
    return order, items


def _aligned(place, alignment, count):
    return place + -place % alignment if count or alignment > 1 else place


def calcsize(format):
    place = 0
    for count, kind, size, alignment, _ in _parsed(format)[1]:
        place = _aligned(place, alignment, count) + count * size
    return place


def _packed(kind, size, value, order):
    if kind == "?":
        return b"\x01" if value else b"\0"
    if kind == "c":
        if len(value) != 1:
            raise error("char format requires a bytes object of length 1")
        return value
    if kind in "fd":
        if not isinstance(value, (int, float)):
            raise error("required argument is not a float")
        return _float_bits(value, size).to_bytes(size, order)
    if kind == "e":
        raise NotImplementedError("struct format 'e'")
    if not hasattr(value, "__index__"):
        raise error("required argument is not an integer")
    signed = (_native if size == 8 and kind in _native else _whole)[kind][1]
    low, high = (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1) if signed else (0, (1 << 8 * size) - 1)
    value = value.__index__()
    if not low <= value <= high:
        raise error(f"'{kind}' format requires {low} <= number <= {high}" if size < 8 else "int too large to convert")
    return value.to_bytes(size, order, signed=signed)


def pack(format, *values):
    order, items = _parsed(format)
    wanted = sum([0 if kind == "x" else 1 if kind in "sp" else count for count, kind, *_ in items])
    if wanted != len(values):
        raise error(f"pack expected {wanted} items for packing (got {len(values)})")
    out, at = bytearray(), 0
    for count, kind, size, alignment, _ in items:
        out += b"\0" * (_aligned(len(out), alignment, count) - len(out))
        if kind == "x":
            out += b"\0" * count
        elif kind in "sp":
            out += (bytes(values[at]) + b"\0" * count)[:count]
            at += 1
        else:
            for value in values[at : at + count]:
                out += _packed(kind, size, value, order)
            at += count
    return bytes(out)


def unpack_from(format, buffer, offset=0):
    order, items = _parsed(format)
    size_needed = calcsize(format)
    if len(buffer) - offset < size_needed:
        raise error(f"unpack_from requires a buffer of at least {offset + size_needed} bytes for unpacking {size_needed} bytes at offset {offset} (actual buffer size is {len(buffer)})")
    out, place = [], 0
    for count, kind, size, alignment, _ in items:
        place = _aligned(place, alignment, count)
        if kind in "xsp":
            if kind != "x":
                out.append(bytes(buffer[offset + place : offset + place + count]))
            place += count
            continue
        for _ in range(count):
            part = bytes(buffer[offset + place : offset + place + size])
            place += size
            if kind == "?":
                out.append(part != b"\0")
            elif kind == "c":
                out.append(part)
            elif kind in "fd":
                out.append(_bits_float(int.from_bytes(part, order), size))
            elif kind == "e":
                raise NotImplementedError("struct format 'e'")
            else:
                out.append(int.from_bytes(part, order, signed=(_native if size == 8 and kind in _native else _whole)[kind][1]))
    return tuple(out)


def unpack(format, buffer):
    if len(buffer) != calcsize(format):
        raise error(f"unpack requires a buffer of {calcsize(format)} bytes")
    return unpack_from(format, buffer)


def iter_unpack(format, buffer):
    size = calcsize(format)
    if not size or len(buffer) % size:
        raise error(f"iterative unpacking requires a buffer of a multiple of {size} bytes")
    return iter([unpack_from(format, buffer, at) for at in range(0, len(buffer), size)])


class Struct:
    def __init__(self, format):
        self.format, self.size = format, calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def unpack(self, buffer):
        return unpack(self.format, buffer)

    def unpack_from(self, buffer, offset=0):
        return unpack_from(self.format, buffer, offset)

    def iter_unpack(self, buffer):
        return iter_unpack(self.format, buffer)
