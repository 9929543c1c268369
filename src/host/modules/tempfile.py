# SPDX-License-Identifier: Apache-2.0
import _script
import os.path as _path
import shutil as _shutil


def gettempdir():
    for name in ("TMPDIR", "TEMP", "TMP"):
        folder = _script.environment().get(name)
        if folder and _script.isdir(folder):
            return folder
    return "/tmp"


def mkdtemp(suffix=None, prefix=None, dir=None):
    if suffix:
        raise NotImplementedError("tempfile.mkdtemp(): suffix")
    return _script.make_temporary(_path.join(dir or gettempdir(), (prefix or "tmp") + "XXXXXX"), True)


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, ignore_cleanup_errors=False):
        self.name = mkdtemp(suffix, prefix, dir)
        self._ignores = ignore_cleanup_errors

    def __enter__(self):
        return self.name

    def __exit__(self, *exception):
        self.cleanup()

    def cleanup(self):
        if _script.exists(self.name):
            _shutil.rmtree(self.name, self._ignores)


class _Temporary:
    """A file with a name of its own, that goes when it is closed."""

    def __init__(self, mode, suffix, prefix, dir, delete, options):
        path = _script.make_temporary(_path.join(dir or gettempdir(), (prefix or "tmp") + "XXXXXX"), False)
        self.name = path + (suffix or "")
        if suffix:
            _script.rename(path, self.name)
        self.delete = delete
        self.file = open(self.name, mode, **options)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return iter(self.file)

    def close(self):
        if not self.file.closed:
            self.file.close()
            if self.delete and _script.exists(self.name):
                _script.remove(self.name)


def NamedTemporaryFile(mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None, prefix=None, dir=None, delete=True):
    return _Temporary(mode.replace("+", ""), suffix, prefix, dir, delete, {"buffering": buffering, "encoding": encoding, "newline": newline})
