# SPDX-License-Identifier: Apache-2.0
"""Dates and times without time zones."""
import time as _time

MINYEAR, MAXYEAR = 1, 9999
_before_month = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
_days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year, month):
    return 29 if month == 2 and _is_leap(year) else [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]


def _ordinal(year, month, day):
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + _before_month[month - 1] + (1 if month > 2 and _is_leap(year) else 0) + day


def _from_ordinal(n):
    year = max(1, (n - 1) * 400 // 146097)
    while _ordinal(year + 1, 1, 1) <= n:
        year += 1
    while _ordinal(year, 1, 1) > n:
        year -= 1
    month = 1
    while month < 12 and _ordinal(year, month + 1, 1) <= n:
        month += 1
    return year, month, n - _ordinal(year, month, 1) + 1


class _Ordered:
    """Compared by `_key()` with others of the same kind: a date is neither equal to nor before a datetime."""

    def _other(self, other):
        return other._key() if isinstance(other, _Ordered) and other._kind == self._kind else None

    def __eq__(self, other):
        return self._other(other) == self._key()

    def __lt__(self, other):
        key = self._other(other)
        return NotImplemented if key is None else self._key() < key

    def __le__(self, other):
        key = self._other(other)
        return NotImplemented if key is None else self._key() <= key

    def __gt__(self, other):
        key = self._other(other)
        return NotImplemented if key is None else self._key() > key

    def __ge__(self, other):
        key = self._other(other)
        return NotImplemented if key is None else self._key() >= key

    def __hash__(self):
        return hash(self._key())


class timedelta(_Ordered):
    _kind = "timedelta"

    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        whole = (days + 7 * weeks) * 86400 + hours * 3600 + minutes * 60 + seconds
        micro = round(microseconds + milliseconds * 1000 + whole * 1000000)
        self.days, rest = divmod(micro, 86400000000)
        self.seconds, self.microseconds = divmod(rest, 1000000)

    def _micro(self):
        return (self.days * 86400 + self.seconds) * 1000000 + self.microseconds

    def _key(self):
        return self._micro()

    def total_seconds(self):
        return self._micro() / 1000000

    def __add__(self, other):
        return timedelta(microseconds=self._micro() + other._micro()) if isinstance(other, timedelta) else NotImplemented

    def __sub__(self, other):
        return timedelta(microseconds=self._micro() - other._micro()) if isinstance(other, timedelta) else NotImplemented

    def __mul__(self, factor):
        return timedelta(microseconds=self._micro() * factor)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._micro() / other._micro() if isinstance(other, timedelta) else timedelta(microseconds=self._micro() / other)

    def __floordiv__(self, other):
        return self._micro() // other._micro() if isinstance(other, timedelta) else timedelta(microseconds=self._micro() // other)

    def __neg__(self):
        return timedelta(microseconds=-self._micro())

    def __abs__(self):
        return timedelta(microseconds=abs(self._micro()))

    def __bool__(self):
        return self._micro() != 0

    def __str__(self):
        text = f"{self.seconds // 3600}:{self.seconds // 60 % 60:02d}:{self.seconds % 60:02d}"
        if self.days:
            text = f"{self.days} day{'s' if abs(self.days) != 1 else ''}, " + text
        return text + (f".{self.microseconds:06d}" if self.microseconds else "")

    def __repr__(self):
        parts = [f"{name}={getattr(self, name)}" for name in ("days", "seconds", "microseconds") if getattr(self, name)]
        return f"datetime.timedelta({', '.join(parts) if parts else '0'})"


class date(_Ordered):
    _kind = "date"

    def __init__(self, year, month, day):
        if not 1 <= month <= 12:
            raise ValueError("month must be in 1..12")
        if not 1 <= day <= _days_in(year, month):
            raise ValueError("day is out of range for month")
        self.year, self.month, self.day = year, month, day

    @classmethod
    def today(cls):
        now = _time.localtime()
        return cls(now[0], now[1], now[2])

    @classmethod
    def fromordinal(cls, n):
        return cls(*_from_ordinal(n))

    @classmethod
    def fromisoformat(cls, text):
        year, month, day = text.split("-")
        return cls(int(year), int(month), int(day))

    def toordinal(self):
        return _ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    def _fields(self):
        return (self.year, self.month, self.day)

    def _key(self):
        return self.toordinal()

    def isoformat(self):
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    def replace(self, year=None, month=None, day=None):
        return date(self.year if year is None else year, self.month if month is None else month, self.day if day is None else day)

    def _clock(self):
        return (0, 0, 0, 0)

    def strftime(self, format):
        hour, minute, second, micro = self._clock()
        kinds = {
            "Y": f"{self.year}", "m": f"{self.month:02d}", "d": f"{self.day:02d}", "H": f"{hour:02d}", "M": f"{minute:02d}", "S": f"{second:02d}", "f": f"{micro:06d}",
            "y": f"{self.year % 100:02d}", "j": f"{self.toordinal() - _ordinal(self.year, 1, 1) + 1:03d}", "A": _days[self.weekday()], "a": _days[self.weekday()][:3],
            "B": _months[self.month - 1], "b": _months[self.month - 1][:3], "I": f"{(hour + 11) % 12 + 1:02d}", "p": "AM" if hour < 12 else "PM", "%": "%", "w": str((self.weekday() + 1) % 7),
        }
        kinds["F"], kinds["T"], kinds["z"], kinds["Z"] = self.isoformat()[:10], f"{hour:02d}:{minute:02d}:{second:02d}", "", ""
        out, i = "", 0
        while i < len(format):
            if format[i] != "%":
                out += format[i]
                i += 1
                continue
            if format[i + 1:i + 2] not in kinds:
                raise NotImplementedError(f"strftime with '%{format[i + 1:i + 2]}'")
            out += kinds[format[i + 1]]
            i += 2
        return out

    def __format__(self, format):
        return self.strftime(format) if format else str(self)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return f"datetime.{type(self).__name__}({', '.join([str(field) for field in self._fields()])})"

    def __add__(self, other):
        return type(self).fromordinal(self.toordinal() + other.days)

    def __sub__(self, other):
        return timedelta(self.toordinal() - other.toordinal()) if isinstance(other, date) else self + -other


class datetime(date):
    _kind = "datetime"

    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0):
        super().__init__(year, month, day)
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond

    @classmethod
    def _at(cls, micro):
        """So many microseconds after the beginning of day 0."""
        day, rest = divmod(micro, 86400000000)
        second, rest = divmod(rest, 1000000)
        return cls(*_from_ordinal(day), second // 3600, second // 60 % 60, second % 60, rest)

    @classmethod
    def fromtimestamp(cls, seconds):
        whole = int(seconds // 1)
        now = _time.localtime(whole)
        return cls(now[0], now[1], now[2], now[3], now[4], now[5], int((seconds - whole) * 1000000))

    @classmethod
    def now(cls, tz=None):
        if tz is not None:
            raise NotImplementedError("datetime.now() with a time zone")
        return cls.fromtimestamp(_time.time())

    @classmethod
    def utcnow(cls):
        return cls._at(_ordinal(1970, 1, 1) * 86400000000 + int(_time.time() * 1000000))

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def fromisoformat(cls, text):
        day, _, clock = text.replace("T", " ").partition(" ")
        year, month, number = day.split("-")
        clock, _, micro = clock.partition(".")
        parts = [int(part) for part in clock.split(":")] if clock else []
        parts += [0] * (3 - len(parts))
        return cls(int(year), int(month), int(number), *parts, int((micro + "000000")[:6]) if micro else 0)

    def _clock(self):
        return (self.hour, self.minute, self.second, self.microsecond)

    def _micro(self):
        return ((self.toordinal() * 24 + self.hour) * 60 + self.minute) * 60000000 + self.second * 1000000 + self.microsecond

    def _key(self):
        return self._micro()

    def _fields(self):
        fields = (self.year, self.month, self.day, self.hour, self.minute)
        return fields + ((self.second, self.microsecond) if self.microsecond else (self.second,) if self.second else ())

    def date(self):
        return date(self.year, self.month, self.day)

    def timestamp(self):
        """By what the clock shows at the time that it would be without a zone."""
        utc = (self._micro() - _ordinal(1970, 1, 1) * 86400000000) / 1000000
        return utc - (datetime.fromtimestamp(utc)._micro() - self._micro()) // 1000000

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None):
        given, own = (year, month, day, hour, minute, second, microsecond), (self.year, self.month, self.day) + self._clock()
        return datetime(*[mine if one is None else one for one, mine in zip(given, own)])

    def isoformat(self, sep="T", timespec="auto"):
        if timespec not in ("auto", "seconds"):
            raise NotImplementedError(f"isoformat with timespec='{timespec}'")
        text = f"{self.year:04d}-{self.month:02d}-{self.day:02d}{sep}{self.hour:02d}:{self.minute:02d}:{self.second:02d}"
        return text + (f".{self.microsecond:06d}" if self.microsecond and timespec == "auto" else "")

    def __str__(self):
        return self.isoformat(" ")

    def __add__(self, other):
        return datetime._at(self._micro() + other._micro())

    def __sub__(self, other):
        return timedelta(microseconds=self._micro() - other._micro()) if isinstance(other, datetime) else datetime._at(self._micro() - other._micro())
