# SPDX-License-Identifier: Apache-2.0
# Ctrl-C raises KeyboardInterrupt in a script; other handlers are kept and never called.
import warnings as _warnings

SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGKILL, SIGPIPE = 2, 15, 1, 14, 10, 12, 9, 13
SIG_DFL, SIG_IGN = 0, 1


def default_int_handler(signum, frame):
    raise KeyboardInterrupt


_handlers = {SIGINT: default_int_handler}


def signal(signalnum, handler):
    before = _handlers.get(signalnum, SIG_DFL)
    if handler not in (SIG_DFL, SIG_IGN, default_int_handler):
        _warnings.warn(f"the handler of signal {signalnum} is not called: a script is ended by it, or interrupted by SIGINT")
    _handlers[signalnum] = handler
    return before


def getsignal(signalnum):
    return _handlers.get(signalnum, SIG_DFL)
