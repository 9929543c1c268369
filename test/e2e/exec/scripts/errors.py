# SPDX-License-Identifier: Apache-2.0
import sys
import traceback


class Trouble(Exception):
    pass


class Coded(Trouble):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def inner(x):
    return 1 / x


def outer(kind):
    if kind == "plain":
        return inner(0)
    if kind == "key":
        return {}["absent"]
    if kind == "own":
        raise Coded(3, "coded trouble")
    if kind == "assert":
        assert kind == "other", f"{kind} is not other"
    if kind == "bare":
        assert not kind
    if kind == "from":
        try:
            inner(0)
        except ZeroDivisionError as error:
            raise Trouble("while dividing") from error
    if kind == "during":
        try:
            inner(0)
        except ZeroDivisionError:
            [].pop()
    if kind == "none":
        try:
            inner(0)
        except ZeroDivisionError:
            raise Trouble("alone") from None
    if kind == "exit":
        sys.exit(4)
    if kind == "exit text":
        sys.exit("no more")
    if kind == "system":
        raise SystemExit(5)
    if kind == "deep":
        return outer(kind)
    if kind == "name":
        return undefined_name  # noqa: F821
    if kind == "type":
        return "a" + 1
    if kind == "attribute":
        return kind.nothing
    if kind == "file":
        return open("/nonexistent/file")
    if kind == "import":
        import pellucid_is_no_module  # noqa: F401
    if kind == "lambda":
        return (lambda: inner(0))()
    print("nothing happened")


try:
    inner(0)
except ZeroDivisionError:
    text = traceback.format_exc()
    print(text.splitlines()[0], "|", text.splitlines()[-1], sys.exc_info()[0].__name__)
finally:
    print("finally")
try:
    raise Coded(1, "x")
except (KeyError, Trouble) as e:
    print(type(e).__name__, e.code, e, e.args, isinstance(e, Trouble))
else:
    print("never")
try:
    try:
        raise ValueError("a")
    finally:
        print("cleanup")
except Exception as e:
    print(repr(e), e.__cause__, e.__context__)
outer(sys.argv[1] if len(sys.argv) > 1 else "nothing")
