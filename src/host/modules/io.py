# SPDX-License-Identifier: Apache-2.0
import _script

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2


class UnsupportedOperation(OSError, ValueError):
    pass


class TextIOBase:
    closed = False

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def close(self):
        self.closed = True

    def flush(self):
        self._check()

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return False

    def seekable(self):
        return False

    def read(self, size=-1):
        raise UnsupportedOperation("not readable")

    def readline(self, size=-1):
        raise UnsupportedOperation("not readable")

    def readlines(self, hint=-1):
        if hint is not None and hint > 0:
            raise NotImplementedError("readlines() with a hint; read lines until there are enough")
        return list(self)

    def write(self, text):
        raise UnsupportedOperation("not writable")

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def seek(self, offset, whence=0):
        raise UnsupportedOperation("underlying stream is not seekable")


class _Reader(TextIOBase):
    def __init__(self, text):
        self._lines = text.split("\n")
        self._rest = None
        self._line = 0

    def readable(self):
        return True

    def _take(self):
        if self._rest is not None:
            line, self._rest = self._rest, None
            return line
        if self._line >= len(self._lines):
            return ""
        line = self._lines[self._line]
        self._line += 1
        return line + "\n" if self._line < len(self._lines) else line

    def readline(self, size=-1):
        self._check()
        line = self._take()
        if 0 <= size < len(line):
            line, self._rest = line[:size], line[size:]
        return line

    def read(self, size=-1):
        self._check()
        out = []
        while size is None or size != 0:
            line = self._take()
            if not line:
                break
            if size is not None and 0 <= size < len(line):
                line, self._rest = line[:size], line[size:]
            out.append(line)
            if size is not None and size > 0:
                size -= len(line)
        return "".join(out)

    def seekable(self):
        return True

    def tell(self):
        self._check()
        done = "\n".join(self._lines[: self._line]) + ("\n" if 0 < self._line < len(self._lines) else "")
        return len(done.encode()) - (0 if self._rest is None else len(self._rest.encode()))

    def seek(self, offset, whence=0):
        self._check()
        if whence == 0 and offset > 0:
            left, self._line, self._rest = offset, 0, None
            while left > 0:
                line = self._take()
                if not line:
                    break
                size = len(line.encode())
                if size > left:
                    self._rest = line.encode()[left:].decode()
                left -= size
            return offset
        if offset == 0 and whence == 0:
            self._line, self._rest = 0, None
        elif offset == 0 and whence == 2:
            self._line, self._rest = len(self._lines), None
        else:
            raise UnsupportedOperation("a file that is read can be put back to its start or end only")
        return 0


class _ReadFile(_Reader):
    def __init__(self, path, newline):
        self.name, self.mode, self.encoding = path, "r", "UTF-8"
        text = _script.read_file(path)
        if newline is None:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        elif newline not in ("", "\n"):
            raise NotImplementedError(f"open(): newline={newline!r}")
        super().__init__(text)


class _WrittenFile(TextIOBase):
    def __init__(self, path, mode):
        self.name, self.mode, self.encoding = path, mode, "UTF-8"
        self._file = _script.open_to_write(path, mode)

    def writable(self):
        return True

    def write(self, text):
        self._check()
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return _script.write(self._file, text)

    def flush(self):
        self._check()
        _script.flush(self._file)

    def tell(self):
        return _script.position(self._file)

    def close(self):
        if not self.closed:
            self.closed = True
            _script.close(self._file)


class StringIO(_Reader):
    def __init__(self, initial_value="", newline="\n"):
        if newline not in ("", "\n"):
            raise NotImplementedError(f"StringIO(newline={newline!r})")
        self._parts = [initial_value]
        super().__init__(initial_value)

    def writable(self):
        return True

    def write(self, text):
        self._check()
        if not isinstance(text, str):
            raise TypeError(f"string argument expected, got {type(text).__name__!r}")
        self._parts.append(text)
        self._lines = None
        return len(text)

    def getvalue(self):
        self._check()
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def _take(self):
        if self._lines is None:
            raise NotImplementedError("StringIO: reading what was written; use getvalue()")
        return super()._take()

    def seek(self, offset, whence=0):
        if self._lines is None:
            self._lines = self.getvalue().split("\n")
        return super().seek(offset, whence)

    def truncate(self, size=None):
        if size not in (None, 0):
            raise NotImplementedError("StringIO.truncate(): sizes beside 0")
        if size == 0:
            self._parts, self._lines, self._line, self._rest = [""], [""], 0, None


class BytesIO(TextIOBase):
    """Bytes in memory: what torch.save writes to and torch.load reads."""

    def __init__(self, initial_bytes=None):
        if initial_bytes is not None and not _script.is_bytes(initial_bytes):
            raise TypeError(f"a bytes-like object is required, not {type(initial_bytes).__name__!r}")
        self._held = _script.no_bytes() if initial_bytes is None else initial_bytes
        self._at = 0

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def read(self, size=-1):
        self._check()
        taken = _script.bytes_from(self._held, self._at, -1 if size is None else size)
        self._at += len(taken)
        return taken

    def readline(self, size=-1):
        raise NotImplementedError("lines of bytes; read() gives all of them")

    def write(self, data):
        self._check()
        self._held = _script.bytes_with(self._held, self._at, data)
        self._at += len(data)
        return len(data)

    def seek(self, offset, whence=0):
        self._check()
        self._at = max(0, offset + (0, self._at, len(self._held))[whence])
        return self._at

    def tell(self):
        self._check()
        return self._at

    def getvalue(self):
        self._check()
        return self._held

    getbuffer = getvalue

    def truncate(self, size=None):
        self._check()
        self._held = _script.bytes_from(self._held, 0, self._at if size is None else size)
        return len(self._held)


class _ReadBytes(BytesIO):
    def __init__(self, path):
        super().__init__(_script.read_bytes(path))
        self.name, self.mode = path, "rb"

    def writable(self):
        return False

    def write(self, data):
        raise UnsupportedOperation("write")


class _WrittenBytes(_WrittenFile):
    def __init__(self, path, mode):
        super().__init__(path, mode)
        self.mode = mode + "b"

    def write(self, data):
        self._check()
        return _script.write_bytes(self._file, data)


class _Output(TextIOBase):
    encoding = "utf-8"
    errors = "strict"

    def __init__(self, name, descriptor, write):
        self.name, self._descriptor, self._write = name, descriptor, write

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return self._write(text)

    def flush(self):
        _script.flush_output()

    def fileno(self):
        return self._descriptor

    def isatty(self):
        return _script.isatty(self._descriptor)

    def reconfigure(self, *, line_buffering=None, encoding=None, errors=None, newline=None, write_through=None):
        if encoding not in (None, "utf-8", "UTF-8", "utf8") or errors is not None or newline is not None:
            raise NotImplementedError("reconfigure(): only line_buffering and write_through")


class _Input(TextIOBase):
    encoding = "utf-8"
    name = "<stdin>"

    def readable(self):
        return True

    def fileno(self):
        return 0

    def isatty(self):
        return _script.isatty(0)

    def readline(self, size=-1):
        if size is not None and size >= 0:
            raise NotImplementedError("sys.stdin.readline() with a size; read lines")
        return _script.stdin_line()

    def read(self, size=-1):
        if size is not None and size >= 0:
            raise NotImplementedError("sys.stdin.read() with a size; read lines")
        return "".join(list(self))


_stdout = _Output("<stdout>", 1, _script.stdout_write)
_stderr = _Output("<stderr>", 2, _script.stderr_write)
_stdin = _Input()


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    if "b" in mode:
        kind, path = mode.replace("b", ""), _script.fspath(file)
        if kind == "r":
            return _ReadBytes(path)
        if kind in ("w", "a", "x"):
            return _WrittenBytes(path, kind)
        raise NotImplementedError(f"open(): mode {mode!r}: a file is read or written, not both")
    if buffering == 0:
        raise ValueError("can't have unbuffered text I/O")
    if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "ascii"):
        raise NotImplementedError(f"open(): encoding {encoding!r}; files are read and written as UTF-8")
    if errors not in (None, "strict", "ignore", "replace") or opener is not None or not closefd:
        raise NotImplementedError("open(): errors, closefd and opener")
    kind = mode.replace("t", "")
    path = _script.fspath(file)
    if kind in ("r", "rU"):
        return _ReadFile(path, newline)
    if kind in ("w", "a", "x"):
        if newline not in (None, "", "\n"):
            raise NotImplementedError(f"open(): newline={newline!r}")
        return _WrittenFile(path, kind)
    if "+" in kind:
        raise NotImplementedError(f"open(): mode {mode!r}: a file is read or written, not both")
    raise ValueError(f"invalid mode: {mode!r}")
