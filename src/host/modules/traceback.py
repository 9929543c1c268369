# SPDX-License-Identifier: Apache-2.0
import sys as _sys
import _warnings_place


def _exception(exc, value):
    if isinstance(exc, BaseException):
        return exc
    return value if isinstance(value, BaseException) else None


def _check_whole(limit, chain=True):
    if limit is not None or not chain:
        raise NotImplementedError("tracebacks are written whole; leave limit and chain out")


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    _check_whole(limit, chain)
    found = _exception(exc, value)
    return [line + "\n" for line in _warnings_place.traceback(found).split("\n")[:-1]] if found is not None else ["NoneType: None\n"]


def format_exception_only(exc, value=None):
    return format_exception(exc, value)[-1:]


def format_exc(limit=None, chain=True):
    _check_whole(limit, chain)
    return "".join(format_exception(_sys.exc_info()[1]))


def print_exception(exc, value=None, tb=None, limit=None, file=None, chain=True):
    _check_whole(limit, chain)
    (_sys.stderr if file is None else file).write("".join(format_exception(exc, value)))


def print_exc(limit=None, file=None, chain=True):
    _check_whole(limit, chain)
    print_exception(_sys.exc_info()[1], file=file)


def format_tb(tb, limit=None):
    _check_whole(limit)
    return _warnings_place.entries(tb)


def print_tb(tb, limit=None, file=None):
    _check_whole(limit)
    (_sys.stderr if file is None else file).write("".join(format_tb(tb)))


def print_stack(f=None, limit=None, file=None):
    _check_whole(limit)
    if f is not None:
        raise NotImplementedError("traceback.print_stack(f): there are no frame objects")
    (_sys.stderr if file is None else file).write(_warnings_place.stack())


class FrameSummary:
    def __init__(self, filename, lineno, name, line=None):
        self.filename, self.lineno, self.name, self.line = filename, lineno, name, line

    def __iter__(self):
        return iter((self.filename, self.lineno, self.name, self.line))

    def __getitem__(self, index):
        return (self.filename, self.lineno, self.name, self.line)[index]

    def __len__(self):
        return 4

    def __repr__(self):
        return f"<FrameSummary file {self.filename}, line {self.lineno} in {self.name}>"


class StackSummary(list):
    def format(self):
        return format_list(self)


def extract_tb(tb, limit=None):
    return StackSummary([FrameSummary(*frame) for frame in _warnings_place.frames(tb)][:limit])


def format_list(extracted_list):
    return [f'  File "{filename}", line {lineno}, in {name}\n' + (f"    {line}\n" if line else "") for filename, lineno, name, line in extracted_list]


def print_list(extracted_list, file=None):
    (_sys.stderr if file is None else file).write("".join(format_list(extracted_list)))
