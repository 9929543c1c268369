# SPDX-License-Identifier: Apache-2.0
from collections.abc import MutableMapping as _MutableMapping

DEFAULTSECT = "DEFAULT"
_UNSET = object()


class Error(Exception):
    def __init__(self, message=""):
        self.message = message
        super().__init__(message)


class NoSectionError(Error):
    def __init__(self, section):
        super().__init__(f"No section: {section!r}")
        self.section = section


class DuplicateSectionError(Error):
    def __init__(self, section, source=None, lineno=None):
        super().__init__(f"Section {section!r} already exists")
        self.section = section


class DuplicateOptionError(Error):
    pass


class NoOptionError(Error):
    def __init__(self, option, section):
        super().__init__(f"No option {option!r} in section: {section!r}")
        self.option, self.section = option, section


class ParsingError(Error):
    pass


class MissingSectionHeaderError(ParsingError):
    pass


class InterpolationError(Error):
    pass


class InterpolationMissingOptionError(InterpolationError):
    pass


class InterpolationSyntaxError(InterpolationError):
    pass


class Interpolation:
    pass


class BasicInterpolation(Interpolation):
    pass


class ExtendedInterpolation(Interpolation):
    pass


class SectionProxy(_MutableMapping):
    def __init__(self, parser, name):
        self._parser, self.name = parser, name

    def __getitem__(self, key):
        if not self._parser.has_option(self.name, key):
            raise KeyError(key)
        return self._parser.get(self.name, key)

    def __setitem__(self, key, value):
        self._parser.set(self.name, key, value)

    def __delitem__(self, key):
        if not self._parser.remove_option(self.name, key):
            raise KeyError(key)

    def __contains__(self, key):
        return self._parser.has_option(self.name, key)

    def __len__(self):
        return len(self._keys())

    def _keys(self):
        return self._parser.options(self.name) if self.name != self._parser.default_section else list(self._parser.defaults())

    def __iter__(self):
        return iter(self._keys())

    def get(self, option, fallback=None, *, raw=False, vars=None):
        return self._parser.get(self.name, option, raw=raw, vars=vars, fallback=fallback)

    def getint(self, option, fallback=None):
        return self._parser.getint(self.name, option, fallback=fallback)

    def getfloat(self, option, fallback=None):
        return self._parser.getfloat(self.name, option, fallback=fallback)

    def getboolean(self, option, fallback=None):
        return self._parser.getboolean(self.name, option, fallback=fallback)

    def __repr__(self):
        return f"<Section: {self.name}>"


class RawConfigParser(_MutableMapping):
    BOOLEAN_STATES = {"1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False}
    _interpolates = None

    def __init__(self, defaults=None, dict_type=dict, allow_no_value=False, *, delimiters=("=", ":"), comment_prefixes=("#", ";"), inline_comment_prefixes=None, strict=True, empty_lines_in_values=True, default_section=DEFAULTSECT, interpolation=_UNSET, converters=None):
        if converters:
            raise NotImplementedError("configparser's converters; convert what get() gives")
        self._delimiters, self._comments, self._inline = delimiters, comment_prefixes, inline_comment_prefixes or ()
        self._empty_lines = empty_lines_in_values
        self._no_value, self._strict, self.default_section = allow_no_value, strict, default_section
        if interpolation is not _UNSET:
            self._interpolates = None if interpolation is None else "${" if isinstance(interpolation, ExtendedInterpolation) else "%("
        self._defaults, self._sections = {}, {}
        for key, value in (defaults or {}).items():
            self._defaults[self.optionxform(key)] = value if value is None else str(value)

    def optionxform(self, optionstr):
        return optionstr.lower()

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        if section == self.default_section:
            raise ValueError(f"Invalid section name: {section!r}")
        if section in self._sections:
            raise DuplicateSectionError(section)
        self._sections[section] = {}

    def has_section(self, section):
        return section in self._sections

    def _own(self, section):
        if section == self.default_section:
            return self._defaults
        if section not in self._sections:
            raise NoSectionError(section)
        return self._sections[section]

    def options(self, section):
        return list({**self._own(section), **self._defaults})

    def read(self, filenames, encoding=None):
        out = []
        for name in [filenames] if isinstance(filenames, str) or hasattr(filenames, "__fspath__") else filenames:
            try:
                with open(name, encoding=encoding) as file:
                    self.read_string(file.read(), str(name))
            except OSError:
                continue
            out.append(name)
        return out

    def read_file(self, f, source=None):
        self.read_string("".join(list(f)), source or getattr(f, "name", "<???>"))

    def read_dict(self, dictionary, source="<dict>"):
        for section, values in dictionary.items():
            if section != self.default_section and section not in self._sections:
                self.add_section(section)
            for key, value in values.items():
                self._own(section)[self.optionxform(str(key))] = value if value is None else str(value)

    def read_string(self, string, source="<string>"):
        section, key, indent, seen = None, None, 0, set()
        for number, line in enumerate(string.splitlines(), 1):
            text = line.strip()
            for prefix in self._inline:
                at = text.find(prefix)
                while at >= 0 and at > 0 and not text[at - 1].isspace():
                    at = text.find(prefix, at + 1)
                if at >= 0:
                    text = text[:at].strip()
            if not text or text.startswith(tuple(self._comments)):
                if not text and not self._empty_lines:
                    key = None
                if not text and key is not None and section is not None and self._own(section).get(key) is not None:
                    self._own(section)[key] += "\n"
                continue
            here = len(line) - len(line.lstrip())
            if key is not None and here > indent and section is not None:
                before = self._own(section)[key]
                self._own(section)[key] = text if before is None else before + "\n" + text
                continue
            indent = here
            if text.startswith("[") and text.endswith("]"):
                section, key = text[1:-1], None
                if section == self.default_section:
                    continue
                if section in seen and self._strict:
                    raise DuplicateSectionError(section)
                seen.add(section)
                self._sections.setdefault(section, {})
                continue
            if section is None:
                raise MissingSectionHeaderError(f"File contains no section headers.\nfile: {source!r}, line: {number}\n{line!r}")
            places = [at for at in [text.find(delimiter) for delimiter in self._delimiters] if at >= 0]
            if not places and not self._no_value:
                raise ParsingError(f"Source contains parsing errors: {source!r}\n\t[line {number:2d}]: {line!r}")
            at = min(places) if places else len(text)
            key = self.optionxform(text[:at].rstrip())
            if self._strict and (section, key) in seen:
                raise DuplicateOptionError(f"While reading from {source!r} [line {number:2d}]: option {key!r} in section {section!r} already exists")
            seen.add((section, key))
            self._own(section)[key] = text[at + 1 :].strip() if places else None
        for values in [self._defaults, *self._sections.values()]:
            for name, value in values.items():
                if value is not None:
                    values[name] = value.rstrip("\n")

    def _interpolated(self, section, value, depth=0):
        if self._interpolates is None or value is None:
            return value
        if depth > 10:
            raise InterpolationError("Recursion limit exceeded in value substitution")
        out, at = "", 0
        mark = self._interpolates[0]
        close = ")s" if mark == "%" else "}"
        while at < len(value):
            if value[at] != mark:
                out += value[at]
                at += 1
            elif value[at : at + 2] == mark * 2:
                out += mark
                at += 2
            elif value[at : at + 2] == self._interpolates and close in value[at:]:
                end = value.index(close, at)
                name, of = value[at + 2 : end], section
                if mark == "$" and ":" in name:
                    of, name = name.split(":", 1)
                name = self.optionxform(name)
                values = {**self._defaults, **self._own(of)}
                if name not in values:
                    raise InterpolationMissingOptionError(f"Bad value substitution: option in section {section!r} contains an interpolation key {name!r} which is not a valid option name. Raw value: {value!r}")
                out += self._interpolated(of, values[name], depth + 1)
                at = end + len(close)
            else:
                raise InterpolationSyntaxError(f"'{mark}' must be followed by '{mark}' or '{self._interpolates[1]}', found: {value[at:]!r}")
        return out

    def get(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        name = self.optionxform(option)
        try:
            values = {**self._defaults, **self._own(section), **{self.optionxform(key): str(value) for key, value in (vars or {}).items()}}
        except NoSectionError:
            if fallback is _UNSET:
                raise
            return fallback
        if name not in values:
            if fallback is _UNSET:
                raise NoOptionError(option, section)
            return fallback
        return values[name] if raw else self._interpolated(section, values[name])

    def _converted(self, convert, section, option, fallback, **kwargs):
        value = self.get(section, option, fallback=_MISSING if fallback is not _UNSET else _UNSET, **kwargs)
        return fallback if value is _MISSING else convert(value)

    def getint(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        return self._converted(int, section, option, fallback, raw=raw, vars=vars)

    def getfloat(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        return self._converted(float, section, option, fallback, raw=raw, vars=vars)

    def getboolean(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        return self._converted(self._boolean, section, option, fallback, raw=raw, vars=vars)

    def _boolean(self, value):
        if value.lower() not in self.BOOLEAN_STATES:
            raise ValueError(f"Not a boolean: {value}")
        return self.BOOLEAN_STATES[value.lower()]

    def items(self, section=_UNSET, raw=False, vars=None):
        if section is _UNSET:
            return [(name, self[name]) for name in self]
        return [(option, self.get(section, option, raw=raw, vars=vars)) for option in {**self._defaults, **self._own(section)}]

    def has_option(self, section, option):
        if section != self.default_section and section not in self._sections:
            return False
        return self.optionxform(option) in {**self._defaults, **self._own(section)}

    def set(self, section, option, value=None):
        if not isinstance(value, str) and not (value is None and self._no_value) and self._interpolates is not None:
            raise TypeError("option values must be strings")
        self._own(section)[self.optionxform(option)] = value

    def remove_option(self, section, option):
        return self._own(section).pop(self.optionxform(option), _UNSET) is not _UNSET

    def remove_section(self, section):
        return self._sections.pop(section, _UNSET) is not _UNSET

    def write(self, fp, space_around_delimiters=True):
        delimiter = f" {self._delimiters[0]} " if space_around_delimiters else self._delimiters[0]
        for name, values in ([(self.default_section, self._defaults)] if self._defaults else []) + list(self._sections.items()):
            fp.write(f"[{name}]\n")
            for key, value in values.items():
                fp.write(key + ("" if value is None else delimiter + str(value).replace("\n", "\n\t")) + "\n")
            fp.write("\n")

    def __getitem__(self, key):
        if key != self.default_section and key not in self._sections:
            raise KeyError(key)
        return SectionProxy(self, key)

    def __setitem__(self, key, value):
        self._sections[key] = {}
        self.read_dict({key: value})

    def __delitem__(self, key):
        if key not in self._sections:
            raise KeyError(key)
        del self._sections[key]

    def __contains__(self, key):
        return key == self.default_section or key in self._sections

    def __len__(self):
        return len(self._sections) + 1

    def __iter__(self):
        return iter([self.default_section, *self._sections])


_MISSING = object()


class ConfigParser(RawConfigParser):
    _interpolates = "%("
