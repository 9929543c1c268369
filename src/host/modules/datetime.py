# SPDX-License-Identifier: Apache-2.0
"""Dates and times; time zones are fixed offsets from UTC."""
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

    def __mod__(self, other):
        return timedelta(microseconds=self._micro() % other._micro()) if isinstance(other, timedelta) else NotImplemented

    def __divmod__(self, other):
        whole, rest = divmod(self._micro(), other._micro())
        return whole, timedelta(microseconds=rest)

    def __pos__(self):
        return self

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


timedelta.min, timedelta.max, timedelta.resolution = timedelta(-999999999), timedelta(999999999, 86399, 999999), timedelta(microseconds=1)


class tzinfo:
    def utcoffset(self, dt):
        raise NotImplementedError("a tzinfo subclass must implement utcoffset()")

    def tzname(self, dt):
        raise NotImplementedError("a tzinfo subclass must implement tzname()")

    def dst(self, dt):
        return None


def _offset_text(offset, separator=":"):
    micro = offset._micro()
    sign, rest = ("-", -micro) if micro < 0 else ("+", micro)
    minutes, rest = divmod(rest, 60000000)
    text = f"{sign}{minutes // 60:02d}{separator}{minutes % 60:02d}"
    return text + f"{separator}{rest // 1000000:02d}" if rest else text


class timezone(tzinfo):
    def __init__(self, offset, name=None):
        if not isinstance(offset, timedelta):
            raise TypeError(f"timezone() argument 1 must be datetime.timedelta, not {type(offset).__name__}")
        if not timedelta(-1) < offset < timedelta(1):
            raise ValueError(f"offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), not {offset!r}.")
        self._offset, self._name = offset, name

    def utcoffset(self, dt):
        return self._offset

    def tzname(self, dt):
        if self._name is not None:
            return self._name
        return "UTC" + (_offset_text(self._offset) if self._offset else "")

    def dst(self, dt):
        return None

    def __eq__(self, other):
        return isinstance(other, timezone) and self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)

    def __str__(self):
        return self.tzname(None)

    def __repr__(self):
        if self is timezone.utc:
            return "datetime.timezone.utc"
        return f"datetime.timezone({self._offset!r})" if self._name is None else f"datetime.timezone({self._offset!r}, {self._name!r})"


timezone.utc = timezone(timedelta(0))
UTC = timezone.utc


def _strftime(format, year, month, day, hour, minute, second, micro, zone, zone_name):
    ordinal = _ordinal(year, month, day)
    weekday, first = (ordinal + 6) % 7, _ordinal(year, 1, 1)
    place = ordinal - first
    kinds = {
        "Y": f"{year}", "m": f"{month:02d}", "d": f"{day:02d}", "H": f"{hour:02d}", "M": f"{minute:02d}", "S": f"{second:02d}", "f": f"{micro:06d}",
        "y": f"{year % 100:02d}", "j": f"{place + 1:03d}", "A": _days[weekday], "a": _days[weekday][:3], "B": _months[month - 1], "b": _months[month - 1][:3],
        "h": _months[month - 1][:3], "I": f"{(hour + 11) % 12 + 1:02d}", "p": "AM" if hour < 12 else "PM", "%": "%", "w": str((weekday + 1) % 7), "u": str(weekday + 1),
        "e": f"{day:2d}", "n": "\n", "t": "\t", "U": f"{(place + 7 - (weekday + 1) % 7) // 7:02d}", "W": f"{(place + 7 - weekday) // 7:02d}",
        "D": f"{month:02d}/{day:02d}/{year % 100:02d}", "x": f"{month:02d}/{day:02d}/{year % 100:02d}", "X": f"{hour:02d}:{minute:02d}:{second:02d}", "R": f"{hour:02d}:{minute:02d}",
        "c": f"{_days[weekday][:3]} {_months[month - 1][:3]} {day:2d} {hour:02d}:{minute:02d}:{second:02d} {year}", "F": f"{year:04d}-{month:02d}-{day:02d}",
        "T": f"{hour:02d}:{minute:02d}:{second:02d}", "z": zone, "Z": zone_name,
    }
    kinds["G"], kinds["V"] = [f"{part:{width}}" for part, width in zip(date(year, month, day).isocalendar(), ("04d", "02d"))]
    out, i = [], 0
    while i < len(format):
        if format[i] != "%":
            out.append(format[i])
            i += 1
            continue
        if format[i + 1 : i + 2] not in kinds:
            raise NotImplementedError(f"strftime with '%{format[i + 1 : i + 2]}'")
        out.append(kinds[format[i + 1]])
        i += 2
    return "".join(out)


class date(_Ordered):
    _kind = "date"

    def __init__(self, year, month, day):
        if not MINYEAR <= year <= MAXYEAR:
            raise ValueError(f"year {year} is out of range")
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
    def fromisoformat(cls, date_string):
        digits = date_string.replace("-", "")
        if len(digits) != 8 or not digits.isdigit() or len(date_string) not in (8, 10) or (len(date_string) == 10 and date_string[4] + date_string[7] != "--"):
            raise ValueError(f"Invalid isoformat string: {date_string!r}")
        return cls(int(digits[:4]), int(digits[4:6]), int(digits[6:]))

    @classmethod
    def fromtimestamp(cls, timestamp):
        now = _time.localtime(int(timestamp // 1))
        return cls(now[0], now[1], now[2])

    @classmethod
    def fromisocalendar(cls, year, week, day):
        first = _ordinal(year, 1, 4)
        return cls.fromordinal(first - (first + 6) % 7 + (week - 1) * 7 + day - 1)

    def isocalendar(self):
        ordinal = self.toordinal()
        thursday = ordinal - (ordinal + 6) % 7 + 3
        year = _from_ordinal(thursday)[0]
        return IsoCalendarDate(year, (thursday - _ordinal(year, 1, 1)) // 7 + 1, self.isoweekday())

    def timetuple(self):
        hour, minute, second, micro = self._clock()
        return _time.struct_time((self.year, self.month, self.day, hour, minute, second, self.weekday(), self.toordinal() - _ordinal(self.year, 1, 1) + 1, -1))

    def ctime(self):
        return self.strftime("%c")

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
        return type(self)(self.year if year is None else year, self.month if month is None else month, self.day if day is None else day)

    def _clock(self):
        return (0, 0, 0, 0)

    def _zone(self):
        return "", ""

    def strftime(self, format):
        return _strftime(format, self.year, self.month, self.day, *self._clock(), *self._zone())

    def __format__(self, format):
        return self.strftime(format) if format else str(self)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return f"datetime.{type(self).__name__}({', '.join([str(field) for field in self._fields()])})"

    def __add__(self, other):
        return type(self).fromordinal(self.toordinal() + other.days)

    __radd__ = __add__

    def __sub__(self, other):
        return timedelta(self.toordinal() - other.toordinal()) if isinstance(other, date) else self + -other


class IsoCalendarDate(tuple):
    def __new__(cls, year, week, weekday):
        return tuple.__new__(cls, (year, week, weekday))

    year = property(lambda self: self[0])
    week = property(lambda self: self[1])
    weekday = property(lambda self: self[2])

    def __repr__(self):
        return f"datetime.IsoCalendarDate(year={self[0]}, week={self[1]}, weekday={self[2]})"


def _check_clock(hour, minute, second, microsecond):
    for name, value, most in (("hour", hour, 23), ("minute", minute, 59), ("second", second, 59), ("microsecond", microsecond, 999999)):
        if not 0 <= value <= most:
            raise ValueError(f"{name} must be in 0..{most}")


def _clock_text(hour, minute, second, micro, timespec):
    if timespec == "auto":
        timespec = "microseconds" if micro else "seconds"
    if timespec not in ("hours", "minutes", "seconds", "milliseconds", "microseconds"):
        raise ValueError("Unknown timespec value")
    text = f"{hour:02d}" + (f":{minute:02d}" if timespec != "hours" else "") + (f":{second:02d}" if timespec not in ("hours", "minutes") else "")
    return text + (f".{micro // 1000:03d}" if timespec == "milliseconds" else f".{micro:06d}" if timespec == "microseconds" else "")


def _parse_clock(text, whole):
    """(hour, minute, second, microsecond, zone) of what follows the date."""
    zone = None
    for i, c in enumerate(text):
        if c in "+-Z":
            text, rest = text[:i], text[i:]
            if rest == "Z":
                zone = timezone.utc
            else:
                parts = [int(part) for part in rest[1:].split(":")] if ":" in rest else [int(rest[1:3]), int(rest[3:5] or 0)]
                offset = timedelta(hours=parts[0], minutes=parts[1], seconds=parts[2] if len(parts) > 2 else 0)
                zone = timezone.utc if not offset else timezone(-offset if rest[0] == "-" else offset)
            break
    clock, _, micro = text.replace(",", ".").partition(".")
    parts = clock.split(":") if ":" in clock else [clock[i : i + 2] for i in range(0, len(clock), 2)]
    if not all([len(part) == 2 and part.isdigit() for part in parts]) or len(parts) > 3 or not (micro or "0").isdigit():
        raise ValueError(f"Invalid isoformat string: {whole!r}")
    parts = [int(part) for part in parts] + [0] * (3 - len(parts))
    return (*parts, int((micro + "000000")[:6]) if micro else 0, zone)


class time(_Ordered):
    _kind = "time"

    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        _check_clock(hour, minute, second, microsecond)
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo, self.fold = hour, minute, second, microsecond, tzinfo, fold

    @classmethod
    def fromisoformat(cls, time_string):
        return cls(*_parse_clock(time_string.removeprefix("T"), time_string))

    def _key(self):
        micro = ((self.hour * 60 + self.minute) * 60 + self.second) * 1000000 + self.microsecond
        return micro if self.tzinfo is None else micro - self.utcoffset()._micro()

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(None)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(None)

    def isoformat(self, timespec="auto"):
        return _clock_text(self.hour, self.minute, self.second, self.microsecond, timespec) + ("" if self.tzinfo is None else _offset_text(self.utcoffset()))

    def strftime(self, format):
        zone = ("", "") if self.tzinfo is None else (_offset_text(self.utcoffset(), ""), self.tzname())
        return _strftime(format, 1900, 1, 1, self.hour, self.minute, self.second, self.microsecond, *zone)

    def replace(self, hour=None, minute=None, second=None, microsecond=None, tzinfo=True):
        own = (self.hour, self.minute, self.second, self.microsecond)
        fields = [mine if one is None else one for one, mine in zip((hour, minute, second, microsecond), own)]
        return type(self)(*fields, self.tzinfo if tzinfo is True else tzinfo)

    def __bool__(self):
        return True

    def __format__(self, format):
        return self.strftime(format) if format else str(self)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        fields = [self.hour, self.minute] + ([self.second, self.microsecond] if self.microsecond else [self.second] if self.second else [])
        text = ", ".join([str(field) for field in fields])
        return f"datetime.time({text})" if self.tzinfo is None else f"datetime.time({text}, tzinfo={self.tzinfo!r})"


time.min, time.max, time.resolution = time(0, 0), time(23, 59, 59, 999999), timedelta(microseconds=1)


class datetime(date):
    _kind = "datetime"

    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        super().__init__(year, month, day)
        _check_clock(hour, minute, second, microsecond)
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo, self.fold = hour, minute, second, microsecond, tzinfo, fold

    @classmethod
    def _at(cls, micro, tzinfo=None):
        """So many microseconds after the beginning of day 0."""
        day, rest = divmod(micro, 86400000000)
        if not 1 <= day <= 3652059:
            raise OverflowError("date value out of range")
        second, rest = divmod(rest, 1000000)
        return cls(*_from_ordinal(day), second // 3600, second // 60 % 60, second % 60, rest, tzinfo)

    @classmethod
    def fromordinal(cls, n):
        return cls(*_from_ordinal(n))

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        micro = round(timestamp * 1000000)
        if tz is not None:
            return cls._at(_ordinal(1970, 1, 1) * 86400000000 + micro, timezone.utc).astimezone(tz)
        whole, rest = divmod(micro, 1000000)
        now = _time.localtime(whole)
        return cls(now[0], now[1], now[2], now[3], now[4], now[5], rest)

    @classmethod
    def utcfromtimestamp(cls, timestamp):
        return cls._at(_ordinal(1970, 1, 1) * 86400000000 + round(timestamp * 1000000))

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_time.time(), tz)

    @classmethod
    def utcnow(cls):
        return cls.utcfromtimestamp(_time.time())

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        return cls(date.year, date.month, date.day, time.hour, time.minute, time.second, time.microsecond, time.tzinfo if tzinfo is True else tzinfo)

    @classmethod
    def fromisoformat(cls, date_string):
        length = 10 if date_string[4:5] == "-" else 8
        day = date.fromisoformat(date_string[:length]) if len(date_string) >= length else None
        if day is None:
            raise ValueError(f"Invalid isoformat string: {date_string!r}")
        clock = _parse_clock(date_string[length + 1 :], date_string) if len(date_string) > length else ()
        return cls(day.year, day.month, day.day, *clock)

    @classmethod
    def strptime(cls, date_string, format):
        found = _parsed(date_string, format)
        return cls(*found)

    def _clock(self):
        return (self.hour, self.minute, self.second, self.microsecond)

    def _zone(self):
        return ("", "") if self.tzinfo is None else (_offset_text(self.utcoffset(), ""), self.tzname() or "")

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(self)

    def _micro(self):
        return ((self.toordinal() * 24 + self.hour) * 60 + self.minute) * 60000000 + self.second * 1000000 + self.microsecond

    def _utc(self):
        return self._micro() if self.tzinfo is None else self._micro() - self.utcoffset()._micro()

    def _key(self):
        return self._utc()

    def _other(self, other):
        if not isinstance(other, datetime):
            return None
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("can't compare offset-naive and offset-aware datetimes")
        return other._key()

    def __eq__(self, other):
        if not isinstance(other, datetime):
            return NotImplemented
        return (self.tzinfo is None) == (other.tzinfo is None) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _fields(self):
        fields = (self.year, self.month, self.day, self.hour, self.minute)
        return fields + ((self.second, self.microsecond) if self.microsecond else (self.second,) if self.second else ())

    def __repr__(self):
        text = ", ".join([str(field) for field in self._fields()])
        return f"datetime.datetime({text})" if self.tzinfo is None else f"datetime.datetime({text}, tzinfo={self.tzinfo!r})"

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(*self._clock())

    def timetz(self):
        return time(*self._clock(), self.tzinfo)

    def timestamp(self):
        """Without a zone: by what the clock here shows."""
        utc = (self._utc() - _ordinal(1970, 1, 1) * 86400000000) / 1000000
        if self.tzinfo is not None:
            return utc
        return utc - (datetime.fromtimestamp(utc)._micro() - self._micro()) // 1000000

    def astimezone(self, tz=None):
        if tz is None:
            tz = timezone(datetime.fromtimestamp(self.timestamp()) - datetime.utcfromtimestamp(self.timestamp()))
        utc = self._utc() if self.tzinfo is not None else datetime.utcfromtimestamp(self.timestamp())._micro()
        return type(self)._at(utc + tz.utcoffset(self)._micro(), tz)

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, tzinfo=True):
        given, own = (year, month, day, hour, minute, second, microsecond), (self.year, self.month, self.day) + self._clock()
        return type(self)(*[mine if one is None else one for one, mine in zip(given, own)], self.tzinfo if tzinfo is True else tzinfo)

    def isoformat(self, sep="T", timespec="auto"):
        zone = "" if self.tzinfo is None else _offset_text(self.utcoffset())
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}{sep}{_clock_text(*self._clock(), timespec)}{zone}"

    def __str__(self):
        return self.isoformat(" ")

    def __add__(self, other):
        return type(self)._at(self._micro() + other._micro(), self.tzinfo) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, datetime):
            if (self.tzinfo is None) != (other.tzinfo is None):
                raise TypeError("can't subtract offset-naive and offset-aware datetimes")
            return timedelta(microseconds=self._utc() - other._utc())
        return type(self)._at(self._micro() - other._micro(), self.tzinfo) if isinstance(other, timedelta) else NotImplemented


date.min, date.max, date.resolution = date(1, 1, 1), date(9999, 12, 31), timedelta(1)
datetime.min, datetime.max, datetime.resolution = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), timedelta(microseconds=1)

_numbers = {"Y": 4, "m": 2, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "y": 2, "j": 3}


def _parsed(text, format):
    """(year, month, day, hour, minute, second, microsecond, zone)"""
    format = format.replace("%T", "%H:%M:%S").replace("%F", "%Y-%m-%d").replace("%D", "%m/%d/%y").replace("%R", "%H:%M")
    found, at, i, zone, afternoon = {}, 0, 0, None, None

    def fail():
        raise ValueError(f"time data {text!r} does not match format {format!r}")

    while i < len(format):
        c = format[i]
        if c.isspace():
            while at < len(text) and text[at].isspace():
                at += 1
            i += 1
            continue
        if c != "%":
            if text[at : at + 1] != c:
                fail()
            at, i = at + 1, i + 1
            continue
        kind = format[i + 1 : i + 2]
        i += 2
        if kind in _numbers:
            end = at
            while end < len(text) and end - at < _numbers[kind] and text[end].isdigit():
                end += 1
            if end == at:
                fail()
            found[kind] = int(text[at:end])
            at = end
        elif kind == "f":
            end = at
            while end < len(text) and end - at < 6 and text[end].isdigit():
                end += 1
            if end == at:
                fail()
            found["f"] = int((text[at:end] + "000000")[:6])
            at = end
        elif kind in "BbAa":
            names = [name if kind in "BA" else name[:3] for name in (_months if kind in "Bb" else _days)]
            fitting = [name for name in names if text[at : at + len(name)].lower() == name.lower()]
            if not fitting:
                fail()
            if kind in "Bb":
                found["m"] = names.index(fitting[-1]) + 1
            at += len(fitting[-1])
        elif kind == "p":
            if text[at : at + 2].upper() not in ("AM", "PM"):
                fail()
            afternoon = text[at : at + 2].upper() == "PM"
            at += 2
        elif kind == "z":
            end = at + 1
            while end < len(text) and (text[end].isdigit() or text[end] == ":"):
                end += 1
            zone = timezone.utc if text[at : at + 1] == "Z" else _parse_clock("00" + text[at:end], text)[4]
            at = end
        elif kind == "Z":
            for name in ("UTC", "GMT"):
                if text[at : at + 3].upper() == name:
                    at += 3
                    break
            else:
                fail()
        elif kind == "%":
            if text[at : at + 1] != "%":
                fail()
            at += 1
        else:
            raise ValueError(f"'{kind}' is a bad directive in format '{format}'")
    if at < len(text):
        raise ValueError(f"unconverted data remains: {text[at:]}")
    year = found.get("Y", 1900)
    if "y" in found:
        year = found["y"] + (2000 if found["y"] < 69 else 1900)
    hour = found.get("H", 0)
    if "I" in found:
        hour = found["I"] % 12 + (12 if afternoon else 0)
    month, day = found.get("m", 1), found.get("d", 1)
    if "j" in found and "m" not in found:
        year, month, day = _from_ordinal(_ordinal(year, 1, 1) + found["j"] - 1)
    if not 1 <= month <= 12 or not 0 <= hour <= 23 or found.get("M", 0) > 59 or found.get("S", 0) > 61 or found.get("d", 1) > 31:
        fail()
    return year, month, day, hour, found.get("M", 0), found.get("S", 0), found.get("f", 0), zone
