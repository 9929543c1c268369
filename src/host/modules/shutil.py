# SPDX-License-Identifier: Apache-2.0
import _script
import os as _os
import os.path as _path


class Error(OSError):
    pass


def rmtree(path, ignore_errors=False, onerror=None, *, onexc=None):
    if onerror is not None or onexc is not None:
        raise NotImplementedError("shutil.rmtree(): onerror and onexc")
    try:
        if _script.islink(path):
            raise OSError("Cannot call rmtree on a symbolic link")
        for name in _script.listdir(path):
            inner = _path.join(path, name)
            if _script.isdir(inner) and not _script.islink(inner):
                rmtree(inner, ignore_errors)
            else:
                _script.remove(inner)
        _script.rmdir(path)
    except OSError:
        if not ignore_errors:
            raise


def copyfile(src, dst, *, follow_symlinks=True):
    if not follow_symlinks and _script.islink(src):
        raise NotImplementedError("copyfile(follow_symlinks=False) of a symbolic link")
    _script.copyfile(src, dst)
    return dst


def copy(src, dst, *, follow_symlinks=True):
    if _script.isdir(dst):
        dst = _path.join(dst, _path.basename(src))
    return copyfile(src, dst, follow_symlinks=follow_symlinks)


copy2 = copy


def copytree(src, dst, *, dirs_exist_ok=False):
    _os.makedirs(dst, exist_ok=dirs_exist_ok)
    for name in _script.listdir(src):
        inner, target = _path.join(src, name), _path.join(dst, name)
        if _script.isdir(inner):
            copytree(inner, target, dirs_exist_ok=dirs_exist_ok)
        else:
            copyfile(inner, target)
    return dst


def move(src, dst):
    if _script.isdir(dst):
        dst = _path.join(dst, _path.basename(src))
    _script.rename(src, dst)
    return dst


def which(cmd, mode=1, path=None):
    folders = [""] if "/" in cmd else (path or _os.environ.get("PATH", "")).split(":")
    for folder in folders:
        found = _path.join(folder, cmd) if folder else cmd
        # Whether anybody may run it.
        if (folder or "/" in cmd) and _script.isfile(found) and (not mode & 1 or _os.stat(found).st_mode & 73):
            return found
    return None


class _Size:
    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines

    def __iter__(self):
        return iter((self.columns, self.lines))


def get_terminal_size(fallback=(80, 24)):
    return _Size(int(_os.environ.get("COLUMNS") or fallback[0]), int(_os.environ.get("LINES") or fallback[1]))
