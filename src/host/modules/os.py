# SPDX-License-Identifier: Apache-2.0
import _script
from _script import chdir, cpu_count, fspath, getcwd, getpid, listdir, mkdir, remove, rename, rmdir

sep, linesep, name, curdir, pardir, pathsep, devnull, altsep, extsep = "/", "\n", "posix", ".", "..", ":", "/dev/null", None, "."
unlink = remove
replace = rename
error = OSError


class PathLike:
    pass


class _Environment(dict):
    def __setitem__(self, key, value):
        if not isinstance(value, str):
            raise TypeError(f"str expected, not {type(value).__name__}")
        _script.setenv(key, value)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key):
        dict.__delitem__(self, key)
        _script.unsetenv(key)

    def setdefault(self, key, default):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others, **more):
        for other in (*others, more):
            for key in other:
                self[key] = other[key]

    def pop(self, key, *default):
        if key not in self and default:
            return default[0]
        value = self[key]
        del self[key]
        return value


environ = _Environment(_script.environment())


def getenv(key, default=None):
    return environ.get(key, default)


def putenv(key, value):
    environ[key] = value


class stat_result:
    def __init__(self, mode, size, mtime, atime, ctime):
        self.st_mode, self.st_size = mode, size
        self.st_mtime, self.st_atime, self.st_ctime = mtime, atime, ctime


def stat(path):
    return stat_result(*_script.stat(path))


def makedirs(name, mode=511, exist_ok=False):
    name = fspath(name)
    head = name.rstrip("/").rpartition("/")[0]
    if head and not _script.exists(head):
        makedirs(head, exist_ok=True)
    try:
        mkdir(name, mode)
    except FileExistsError:
        if not exist_ok or not _script.isdir(name):
            raise


def removedirs(name):
    rmdir(name)


class DirEntry:
    def __init__(self, folder, name):
        self.name, self.path = name, folder.rstrip("/") + "/" + name

    def is_dir(self, *, follow_symlinks=True):
        return _script.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks=True):
        return _script.isfile(self.path) and (follow_symlinks or not self.is_symlink())

    def is_symlink(self):
        return _script.islink(self.path)

    def stat(self):
        return stat(self.path)

    def __fspath__(self):
        return self.path


class _Entries:
    def __init__(self, entries):
        self._entries = entries

    def __iter__(self):
        return iter(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def close(self):
        pass


def scandir(path="."):
    folder = fspath(path)
    return _Entries([DirEntry(folder, name) for name in listdir(folder)])


def walk(top, topdown=True, onerror=None, followlinks=False):
    top = fspath(top)
    try:
        names = listdir(top)
    except OSError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if _script.isdir(top + "/" + name)]
    files = [name for name in names if not _script.isdir(top + "/" + name)]
    if topdown:
        yield top, folders, files
    for name in folders:
        inner = top.rstrip("/") + "/" + name
        if followlinks or not _script.islink(inner):
            for row in walk(inner, topdown, onerror, followlinks):
                yield row
    if not topdown:
        yield top, folders, files


def _exit(status):
    raise SystemExit(status)


def system(command):
    raise NotImplementedError("os.system(): a script starts no programs")


popen = system
