# SPDX-License-Identifier: Apache-2.0
# The methods of enum.Flag; members hold `value`.
def _other(self, other):
    if isinstance(other, self.__class__):
        return other.value
    return int(other) if isinstance(self, int) and isinstance(other, int) else None


def __or__(self, other):
    value = _other(self, other)
    return NotImplemented if value is None else self.__class__(self.value | value)


def __and__(self, other):
    value = _other(self, other)
    return NotImplemented if value is None else self.__class__(self.value & value)


def __xor__(self, other):
    value = _other(self, other)
    return NotImplemented if value is None else self.__class__(self.value ^ value)


__ror__ = __or__
__rand__ = __and__
__rxor__ = __xor__


def __invert__(self):
    everything = 0
    for member in self.__class__.__members__.values():
        everything |= member.value
    return self.__class__(everything & ~self.value)


def __contains__(self, other):
    if not isinstance(other, self.__class__):
        raise TypeError(f"unsupported operand type(s) for 'in': '{type(other).__qualname__}' and '{self.__class__.__qualname__}'")
    return other.value & self.value == other.value


def __bool__(self):
    return bool(self.value)


def __iter__(self):
    return iter([member for member in self.__class__ if member.value & self.value])


def __len__(self):
    return bin(self.value).count("1")


def unique(enumeration):
    doubles = [(name, member.name) for name, member in enumeration.__members__.items() if name != member.name]
    if doubles:
        raise ValueError(f"duplicate values found in {enumeration!r}: {', '.join([f'{alias} -> {name}' for alias, name in doubles])}")
    return enumeration
