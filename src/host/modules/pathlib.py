# SPDX-License-Identifier: Apache-2.0
import _script
import os as _os
import os.path as _path
import fnmatch as _fnmatch


class PurePath:
    def __init__(self, *parts):
        text = _path.join(*parts) if parts else "."
        root = "/" if text.startswith("/") else ""
        names = [name for name in text.split("/") if name and name != "."]
        self._text = root + "/".join(names) or "."

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"PosixPath({self._text!r})"

    def __fspath__(self):
        return self._text

    def __format__(self, spec):
        return format(self._text, spec)

    def __eq__(self, other):
        return isinstance(other, PurePath) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    def __lt__(self, other):
        return self.parts < other.parts

    def __le__(self, other):
        return self.parts <= other.parts

    def __gt__(self, other):
        return self.parts > other.parts

    def __ge__(self, other):
        return self.parts >= other.parts

    def __truediv__(self, other):
        return type(self)(self._text, other)

    def __rtruediv__(self, other):
        return type(self)(other, self._text)

    def joinpath(self, *others):
        return type(self)(self._text, *others)

    @property
    def parts(self):
        names = tuple(name for name in self._text.split("/") if name)
        return ("/",) + names if self._text.startswith("/") else () if self._text == "." else names

    @property
    def name(self):
        return "" if self._text in (".", "/") else self._text.rpartition("/")[2]

    @property
    def suffix(self):
        name = self.name
        dot = name.rfind(".")
        return name[dot:] if 0 < dot < len(name) - 1 else ""

    @property
    def suffixes(self):
        return ["." + part for part in self.name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        return self.name[: len(self.name) - len(self.suffix)]

    @property
    def parent(self):
        return type(self)(_path.dirname(self._text) or ".")

    @property
    def parents(self):
        out, path = [], self
        while path.parent != path:
            path = path.parent
            out.append(path)
        return out

    @property
    def anchor(self):
        return "/" if self._text.startswith("/") else ""

    def as_posix(self):
        return self._text

    def is_absolute(self):
        return self._text.startswith("/")

    def with_name(self, name):
        return type(self)(_path.join(_path.dirname(self._text), name))

    def with_suffix(self, suffix):
        return self.with_name(self.stem + suffix)

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def relative_to(self, *other):
        base = type(self)(*other)
        if self.parts[: len(base.parts)] != base.parts:
            raise ValueError(f"{self._text!r} is not in the subpath of {str(base)!r} OR one path is relative and the other is absolute.")
        return type(self)(*self.parts[len(base.parts) :])

    def is_relative_to(self, *other):
        base = type(self)(*other)
        return self.parts[: len(base.parts)] == base.parts

    def match(self, pattern):
        return _fnmatch.fnmatchcase(self.name, pattern)


class Path(PurePath):
    @classmethod
    def cwd(cls):
        return cls(_script.getcwd())

    @classmethod
    def home(cls):
        return cls(_path.expanduser("~"))

    def exists(self, *, follow_symlinks=True):
        return _script.exists(self) or (not follow_symlinks and _script.islink(self))

    def is_file(self):
        return _script.isfile(self)

    def is_dir(self):
        return _script.isdir(self)

    def is_symlink(self):
        return _script.islink(self)

    def stat(self):
        return _os.stat(self)

    def resolve(self, strict=False):
        if strict and not self.exists():
            _script.stat(self)
        return type(self)(_script.realpath(self))

    def absolute(self):
        return type(self)(_script.getcwd(), self._text)

    def expanduser(self):
        return type(self)(_path.expanduser(self._text))

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return open(self._text, mode, buffering, encoding, errors, newline)

    def read_text(self, encoding=None, errors=None):
        with self.open(encoding=encoding, errors=errors) as file:
            return file.read()

    def write_text(self, data, encoding=None, errors=None, newline=None):
        with self.open("w", encoding=encoding, errors=errors, newline=newline) as file:
            return file.write(data)

    def read_bytes(self):
        with open(self, "rb") as file:
            return file.read()

    def write_bytes(self, data):
        with open(self, "wb") as file:
            return file.write(data)

    def mkdir(self, mode=511, parents=False, exist_ok=False):
        if parents and not self.parent.exists():
            self.parent.mkdir(parents=True, exist_ok=True)
        try:
            _script.mkdir(self, mode)
        except FileExistsError:
            if not exist_ok or not self.is_dir():
                raise

    def rmdir(self):
        _script.rmdir(self)

    def unlink(self, missing_ok=False):
        try:
            _script.remove(self)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rename(self, target):
        _script.rename(self, target)
        return type(self)(target)

    replace = rename

    def touch(self, mode=438, exist_ok=True):
        if mode != 438:
            raise NotImplementedError(f"Path.touch(mode={mode:#o}); files are made with 0o666")
        if self.exists() and not exist_ok:
            raise FileExistsError(17, "File exists", self._text)
        with self.open("a"):
            pass

    def iterdir(self):
        for name in _script.listdir(self):
            yield self / name

    def glob(self, pattern):
        head, _, rest = pattern.partition("/")
        folders = [self]
        if head == "**":
            folders = [type(self)(row[0]) for row in _os.walk(self._text)]
            if not rest:
                for folder in folders:
                    yield folder
                return
            for folder in folders:
                for path in folder.glob(rest):
                    yield path
            return
        for name in sorted(_script.listdir(self)) if self.is_dir() else []:
            if not _fnmatch.fnmatchcase(name, head) or (name.startswith(".") and not head.startswith(".")):
                continue
            if not rest:
                yield self / name
            elif (self / name).is_dir():
                for path in (self / name).glob(rest):
                    yield path

    def rglob(self, pattern):
        return self.glob("**/" + pattern)


PosixPath, PurePosixPath = Path, PurePath
