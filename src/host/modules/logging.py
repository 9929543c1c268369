# SPDX-License-Identifier: Apache-2.0
import os.path as _path
import sys as _sys
import time as _time
import traceback as _traceback
import _warnings_place

CRITICAL, FATAL, ERROR, WARNING, WARN, INFO, DEBUG, NOTSET = 50, 50, 40, 30, 30, 20, 10, 0
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_names = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
_start = _time.time()
_disabled = [0]


def getLevelName(level):
    if isinstance(level, str):
        return _level(level)
    return _names.get(level, f"Level {level}")


def addLevelName(level, levelName):
    _names[level] = levelName


def _level(level):
    if isinstance(level, int):
        return level
    for number, name in _names.items():
        if name == level:
            return number
    if level == "WARN":
        return WARNING
    raise ValueError(f"Unknown level: {level!r}")


class LogRecord:
    def __init__(self, name, level, msg, args, exc_info, place):
        self.name, self.levelno, self.levelname = name, level, getLevelName(level)
        self.msg, self.args, self.exc_info = msg, args, exc_info
        self.pathname, self.lineno, _ = place
        self.filename = _path.basename(self.pathname)
        self.module = _path.splitext(self.filename)[0]
        self.funcName = "<module>"
        self.created = _time.time()
        self.msecs = int((self.created - int(self.created)) * 1000)
        self.relativeCreated = (self.created - _start) * 1000
        self.process, self.thread, self.threadName, self.processName = 0, 0, "MainThread", "MainProcess"

    def getMessage(self):
        text = str(self.msg)
        if self.args:
            text = text % (self.args[0] if len(self.args) == 1 and isinstance(self.args[0], dict) else self.args)
        return text


class Formatter:
    def __init__(self, fmt=None, datefmt=None, style="%", validate=True):
        self._fmt = fmt or {"%": "%(message)s", "{": "{message}", "$": "${message}"}[style]
        self.datefmt, self._style = datefmt, style
        if style == "$":
            raise NotImplementedError("logging.Formatter: style '$'")

    def formatTime(self, record, datefmt=None):
        fields = _time.localtime(record.created)
        if datefmt:
            return _time.strftime(datefmt, fields)
        return _time.strftime("%Y-%m-%d %H:%M:%S", fields) + f",{record.msecs:03d}"

    def format(self, record):
        record.message = record.getMessage()
        if "asctime" in self._fmt:
            record.asctime = self.formatTime(record, self.datefmt)
        values = dict(vars(record))
        text = self._fmt % values if self._style == "%" else self._fmt.format(**values)
        if record.exc_info:
            text += "\n" + "".join(_traceback.format_exception(record.exc_info)).rstrip("\n")
        return text


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


class _Filterer:
    def addFilter(self, filter):
        self.filters.append(filter)

    def removeFilter(self, filter):
        self.filters.remove(filter)

    def filter(self, record):
        return all((one.filter(record) if hasattr(one, "filter") else one(record)) for one in self.filters)


class Handler(_Filterer):
    def __init__(self, level=NOTSET):
        self.level, self.filters, self.formatter = _level(level), [], None

    def setLevel(self, level):
        self.level = _level(level)

    def setFormatter(self, fmt):
        self.formatter = fmt

    def format(self, record):
        return (self.formatter or _default).format(record)

    def handle(self, record):
        if record.levelno >= self.level and self.filter(record):
            self.emit(record)

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def flush(self):
        pass

    def close(self):
        pass


class NullHandler(Handler):
    def emit(self, record):
        pass


class StreamHandler(Handler):
    terminator = "\n"

    def __init__(self, stream=None):
        super().__init__()
        self.stream = _sys.stderr if stream is None else stream

    def emit(self, record):
        self.stream.write(self.format(record) + self.terminator)
        self.flush()

    def flush(self):
        if self.stream is not None:
            self.stream.flush()

    def setStream(self, stream):
        self.stream = stream


class FileHandler(StreamHandler):
    def __init__(self, filename, mode="a", encoding=None, delay=False, errors=None):
        self._open = lambda: open(filename, mode, encoding=encoding, errors=errors)
        super().__init__(_sys.stderr if delay else self._open())
        if delay:
            self.stream = None

    def emit(self, record):
        if self.stream is None:
            self.stream = self._open()
        super().emit(record)

    def close(self):
        if self.stream is not None:
            self.stream.close()


_default = Formatter()
_last = StreamHandler()
_last.setLevel(WARNING)


class Logger(_Filterer):
    def __init__(self, name, level=NOTSET):
        self.name, self.level = name, _level(level)
        self.handlers, self.filters, self.propagate, self.disabled, self.parent = [], [], True, False, None

    def setLevel(self, level):
        self.level = _level(level)

    def getEffectiveLevel(self):
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level):
        return not self.disabled and level > _disabled[0] and level >= self.getEffectiveLevel()

    def addHandler(self, hdlr):
        if hdlr not in self.handlers:
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        logger = self
        while logger is not None:
            if logger.handlers:
                return True
            logger = logger.parent if logger.propagate else None
        return False

    def getChild(self, suffix):
        return getLogger(suffix if self.name == "root" else self.name + "." + suffix)

    def handle(self, record):
        if not self.filter(record):
            return
        logger, found = self, False
        while logger is not None:
            for handler in logger.handlers:
                found = True
                handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found:
            _last.handle(record)

    def _log(self, level, msg, args, exc_info=None, stack_info=False, stacklevel=1, extra=None):
        if not self.isEnabledFor(level):
            return
        if exc_info is True:
            exc_info = _sys.exc_info()[1]
        if stack_info:
            raise NotImplementedError("logging with stack_info=True; traceback.print_stack() prints one")
        record = LogRecord(self.name, level, msg, args, exc_info, _warnings_place.caller(stacklevel))
        record.funcName = _warnings_place.caller_function(stacklevel)
        if extra:
            for key, value in extra.items():
                setattr(record, key, value)
        self.handle(record)

    def debug(self, msg, *args, **kwargs):
        self._log(DEBUG, msg, args, **kwargs)

    def info(self, msg, *args, **kwargs):
        self._log(INFO, msg, args, **kwargs)

    def warning(self, msg, *args, **kwargs):
        self._log(WARNING, msg, args, **kwargs)

    warn = warning

    def error(self, msg, *args, **kwargs):
        self._log(ERROR, msg, args, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self._log(ERROR, msg, args, exc_info=exc_info, **kwargs)

    def critical(self, msg, *args, **kwargs):
        self._log(CRITICAL, msg, args, **kwargs)

    fatal = critical

    def log(self, level, msg, *args, **kwargs):
        self._log(level, msg, args, **kwargs)

    def __repr__(self):
        return f"<Logger {self.name} ({getLevelName(self.getEffectiveLevel())})>"


root = Logger("root", WARNING)
_loggers = {}


def getLogger(name=None):
    if not name or name == "root":
        return root
    if name not in _loggers:
        logger = Logger(name)
        _loggers[name] = logger
        for each in _loggers.values():
            each.parent, parent = root, each.name
            while "." in parent:
                parent = parent.rpartition(".")[0]
                if parent in _loggers:
                    each.parent = _loggers[parent]
                    break
    return _loggers[name]


def basicConfig(*, level=None, format=None, datefmt=None, stream=None, filename=None, filemode="a", handlers=None, force=False, style="%", encoding=None, errors=None):
    if force:
        del root.handlers[:]
    if root.handlers:
        return
    if handlers is None:
        handlers = [FileHandler(filename, filemode, encoding, errors=errors) if filename else StreamHandler(stream)]
    formatter = Formatter(format or BASIC_FORMAT, datefmt, style)
    for handler in handlers:
        if handler.formatter is None:
            handler.setFormatter(formatter)
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def _rooted(method):
    def call(msg, *args, **kwargs):
        if not root.handlers:
            basicConfig()
        getattr(root, method)(msg, *args, **kwargs)

    return call


debug, info, warning, error = _rooted("debug"), _rooted("info"), _rooted("warning"), _rooted("error")
critical, exception, warn, fatal = _rooted("critical"), _rooted("exception"), _rooted("warning"), _rooted("critical")


def log(level, msg, *args, **kwargs):
    if not root.handlers:
        basicConfig()
    root.log(level, msg, *args, **kwargs)


def disable(level=CRITICAL):
    _disabled[0] = _level(level)


def shutdown():
    pass


def captureWarnings(capture):
    if capture:
        raise NotImplementedError("logging.captureWarnings(True)")


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger, self.extra = logger, extra

    def __getattr__(self, name):
        return getattr(self.logger, name)
