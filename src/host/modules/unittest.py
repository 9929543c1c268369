# SPDX-License-Identifier: Apache-2.0
import sys as _sys
import time as _time
import traceback as _traceback


class SkipTest(Exception):
    pass


class _Subtests:
    """`with self.subTest(...)`: what fails inside is noted, and the test goes on."""

    def __init__(self, case, message, params):
        self._case, self._message, self._params = case, message, params

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None or isinstance(error, (SkipTest, KeyboardInterrupt, SystemExit)):
            return False
        words = ([f"[{self._message}]"] if self._message is not None else []) + ([f"({', '.join([f'{k}={v!r}' for k, v in self._params.items()])})"] if self._params else [])
        self._case._note(error, " " + (" ".join(words) or "(<subtest>)"))
        return True


class _Raises:
    def __init__(self, case, kind, pattern, message):
        self._case, self._kind, self._pattern, self._message, self.exception = case, kind, pattern, message, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None:
            name = " or ".join([k.__name__ for k in self._kind]) if isinstance(self._kind, tuple) else self._kind.__name__
            self._case.fail(self._case._formatMessage(self._message, f"{name} not raised"))
        if not isinstance(error, self._kind):
            return False
        self.exception = error
        if self._pattern is not None:
            import re

            if not re.search(self._pattern, str(error)):
                pattern = self._pattern if isinstance(self._pattern, str) else self._pattern.pattern
                self._case.fail(self._case._formatMessage(self._message, f'"{pattern}" does not match "{error}"'))
        return True


class _Warns:
    def __init__(self, case, kind, pattern=None):
        self._case, self._kind, self._pattern, self.warning = case, kind, pattern, None

    def __enter__(self):
        import warnings

        self._catcher = warnings.catch_warnings(record=True)
        self.warnings = self._catcher.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind, error, traceback):
        self._catcher.__exit__(kind, error, traceback)
        if error is not None:
            return False
        import re

        for entry in self.warnings:
            if issubclass(entry.category, self._kind) and (self._pattern is None or re.search(self._pattern, str(entry.message))):
                self.warning = entry.message
                return False
        self._case.fail(f"{self._kind.__name__} not triggered")


class _Logs:
    def __init__(self, case, logger, level, none=False):
        self._case, self._logger, self._level, self._none = case, logger, level, none
        self.output, self.records = [], []

    def __enter__(self):
        import logging

        logger = logging.getLogger(self._logger) if self._logger is None or isinstance(self._logger, str) else self._logger
        level = logging.INFO if self._level is None else self._level if isinstance(self._level, int) else getattr(logging, self._level)
        owner = self

        class Kept(logging.Handler):
            def emit(self, record):
                owner.records.append(record)
                owner.output.append(f"{record.levelname}:{record.name}:{record.getMessage()}")

        self._found, self._before = logger, (list(logger.handlers), logger.level, logger.propagate)
        logger.handlers = [Kept()]
        logger.setLevel(level)
        logger.propagate = False
        return self

    def __exit__(self, kind, error, traceback):
        self._found.handlers, level, self._found.propagate = self._before
        self._found.setLevel(level)
        if error is not None:
            return False
        if self._none and self.records:
            self._case.fail(f"Unexpected logs found: {self.output!r}")
        if not self._none and not self.records:
            self._case.fail(f"no logs of level {self._level or 'INFO'} or higher triggered on {self._found.name}")


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else text[:35] + f"[{len(text) - 70} chars]" + text[-35:]


class TestCase:
    failureException = AssertionError
    longMessage = True
    maxDiff = 640

    def __init__(self, methodName="runTest"):
        self._testMethodName, self._cleanups = methodName, []
        self._result = None

    # What a test is made of.
    def setUp(self):
        pass

    def tearDown(self):
        pass

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    _class_cleanups = []

    @classmethod
    def addClassCleanup(cls, function, /, *args, **kwargs):
        if cls.__dict__.get("_class_cleanups") is None:
            cls._class_cleanups = []
        cls._class_cleanups.append((function, args, kwargs))

    def addCleanup(self, function, /, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, cm):
        value = cm.__enter__()
        self.addCleanup(cm.__exit__, None, None, None)
        return value

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            try:
                function(*args, **kwargs)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                self._note(error)

    def id(self):
        return f"{type(self).__module__}.{type(self).__qualname__}.{self._testMethodName}"

    def shortDescription(self):
        doc = getattr(self, self._testMethodName).__doc__
        return doc.strip().split("\n")[0].strip() if doc else None

    def countTestCases(self):
        return 1

    def __str__(self):
        return f"{self._testMethodName} ({type(self).__module__}.{type(self).__qualname__}.{self._testMethodName})"

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} testMethod={self._testMethodName}>"

    def _note(self, error, where=""):
        if isinstance(error, SkipTest):
            self._result.addSkip(self, str(error))
            return
        entry = (_Named(self, str(self) + where) if where else self, error)
        if isinstance(error, self.failureException):
            self._result._failed(*entry)
        else:
            self._result._broke(*entry)
        self._bad = True

    def run(self, result=None):
        result = TestResult() if result is None else result
        self._result, self._bad = result, False
        method = getattr(self, self._testMethodName)
        result.startTest(self)
        reason = getattr(type(self), "__unittest_skip_why__", None) or getattr(method, "__unittest_skip_why__", None)
        if getattr(type(self), "__unittest_skip__", False) or getattr(method, "__unittest_skip__", False):
            result.addSkip(self, reason or "")
            result.stopTest(self)
            return result
        expects = getattr(method, "__unittest_expecting_failure__", False)
        skipped = len(result.skipped)
        failed = None
        try:
            self.setUp()
            try:
                method()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                failed = error
                if not expects or isinstance(error, SkipTest):
                    self._note(error)
            try:
                self.tearDown()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                self._note(error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self._note(error)
        self.doCleanups()
        if expects and failed is not None and not isinstance(failed, SkipTest):
            result.addExpectedFailure(self, failed)
        elif expects and not self._bad:
            result.addUnexpectedSuccess(self)
        elif not self._bad and len(result.skipped) == skipped:
            result.addSuccess(self)
        result.stopTest(self)
        return result

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)

    def debug(self):
        self.setUp()
        getattr(self, self._testMethodName)()
        self.tearDown()

    def skipTest(self, reason):
        raise SkipTest(reason)

    def subTest(self, msg=None, **params):
        return _Subtests(self, msg, params)

    def fail(self, msg=None):
        raise self.failureException(msg)

    def _formatMessage(self, msg, standardMsg):
        if msg is None:
            return standardMsg
        return f"{standardMsg} : {msg}" if self.longMessage else msg

    def _require(self, holds, msg, standard):
        if not holds:
            self.fail(self._formatMessage(msg, standard()))

    def assertTrue(self, expr, msg=None):
        self._require(expr, msg, lambda: f"{_short(expr)} is not true")

    def assertFalse(self, expr, msg=None):
        self._require(not expr, msg, lambda: f"{_short(expr)} is not false")

    def assertEqual(self, first, second, msg=None):
        if first == second:
            return
        standard = f"{_short(first)} != {_short(second)}"
        if type(first) is type(second) and isinstance(first, (list, tuple)):
            standard = _sequence_words(first, second)
        elif isinstance(first, dict) and isinstance(second, dict):
            standard = _diff_words(standard, _lines(first), _lines(second))
        elif isinstance(first, set) and isinstance(second, set):
            rows = [(what, left) for what, left in (("first", first - second), ("second", second - first)) if left]
            standard = "\n".join([line for what, left in rows for line in [f"Items in the {what} set but not the {'second' if what == 'first' else 'first'}:"] + [repr(item) for item in left]])
        elif isinstance(first, str) and isinstance(second, str):
            standard = _diff_words(standard, first.splitlines(), second.splitlines())
        self.fail(self._formatMessage(msg, standard))

    def assertNotEqual(self, first, second, msg=None):
        self._require(first != second, msg, lambda: f"{_short(first)} == {_short(second)}")

    def assertIs(self, expr1, expr2, msg=None):
        self._require(expr1 is expr2, msg, lambda: f"{_short(expr1)} is not {_short(expr2)}")

    def assertIsNot(self, expr1, expr2, msg=None):
        self._require(expr1 is not expr2, msg, lambda: f"unexpectedly identical: {_short(expr1)}")

    def assertIsNone(self, obj, msg=None):
        self._require(obj is None, msg, lambda: f"{_short(obj)} is not None")

    def assertIsNotNone(self, obj, msg=None):
        self._require(obj is not None, msg, lambda: "unexpectedly None")

    def assertIn(self, member, container, msg=None):
        self._require(member in container, msg, lambda: f"{_short(member)} not found in {_short(container)}")

    def assertNotIn(self, member, container, msg=None):
        self._require(member not in container, msg, lambda: f"{_short(member)} unexpectedly found in {_short(container)}")

    def assertIsInstance(self, obj, cls, msg=None):
        self._require(isinstance(obj, cls), msg, lambda: f"{_short(obj)} is not an instance of {cls!r}")

    def assertNotIsInstance(self, obj, cls, msg=None):
        self._require(not isinstance(obj, cls), msg, lambda: f"{_short(obj)} is an instance of {cls!r}")

    def assertGreater(self, a, b, msg=None):
        self._require(a > b, msg, lambda: f"{_short(a)} not greater than {_short(b)}")

    def assertGreaterEqual(self, a, b, msg=None):
        self._require(a >= b, msg, lambda: f"{_short(a)} not greater than or equal to {_short(b)}")

    def assertLess(self, a, b, msg=None):
        self._require(a < b, msg, lambda: f"{_short(a)} not less than {_short(b)}")

    def assertLessEqual(self, a, b, msg=None):
        self._require(a <= b, msg, lambda: f"{_short(a)} not less than or equal to {_short(b)}")

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if first == second:
            return
        if delta is not None and places is not None:
            raise TypeError("specify delta or places not both")
        diff = abs(first - second)
        if delta is not None:
            self._require(diff <= delta, msg, lambda: f"{_short(first)} != {_short(second)} within {_short(delta)} delta ({_short(diff)} difference)")
            return
        places = 7 if places is None else places
        self._require(round(diff, places) == 0, msg, lambda: f"{_short(first)} != {_short(second)} within {places!r} places ({_short(diff)} difference)")

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        diff = abs(first - second)
        if delta is not None:
            self._require(first != second and diff > delta, msg, lambda: f"{_short(first)} == {_short(second)} within {_short(delta)} delta ({_short(diff)} difference)")
            return
        places = 7 if places is None else places
        self._require(first != second and round(diff, places) != 0, msg, lambda: f"{_short(first)} == {_short(second)} within {places!r} places")

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        for which, value in (("First", first), ("Second", second)):
            if seq_type is not None and not isinstance(value, seq_type):
                self.fail(self._formatMessage(msg, f"{which} sequence is not a {seq_type.__name__}: {_short(value)}"))
        if list(first) != list(second):
            self.fail(self._formatMessage(msg, _sequence_words(first, second)))

    def assertListEqual(self, list1, list2, msg=None):
        self.assertSequenceEqual(list1, list2, msg, list)

    def assertTupleEqual(self, tuple1, tuple2, msg=None):
        self.assertSequenceEqual(tuple1, tuple2, msg, tuple)

    def assertSetEqual(self, first, second, msg=None):
        self.assertEqual(set(first), set(second), msg)

    def assertDictEqual(self, first, second, msg=None):
        self.assertEqual(first, second, msg)

    assertMultiLineEqual = assertDictEqual

    def assertCountEqual(self, first, second, msg=None):
        left, missing = list(first), []
        for item in second:
            if item in left:
                left.remove(item)
            else:
                missing.append(item)
        rows = [f"First has {left.count(item)}, Second has 0:  {item!r}" for item in left] + [f"First has 0, Second has {missing.count(item)}:  {item!r}" for item in missing]
        self._require(not rows, msg, lambda: "Element counts were not equal:\n" + "\n".join(rows))

    def assertRegex(self, text, expected_regex, msg=None):
        import re

        pattern = expected_regex if isinstance(expected_regex, str) else expected_regex.pattern
        self._require(re.search(expected_regex, text), msg, lambda: f"Regex didn't match: {pattern!r} not found in {text!r}")

    def assertNotRegex(self, text, unexpected_regex, msg=None):
        import re

        found = re.search(unexpected_regex, text)
        pattern = unexpected_regex if isinstance(unexpected_regex, str) else unexpected_regex.pattern
        self._require(not found, msg, lambda: f"Regex matched: {found.group()!r} matches {pattern!r} in {text!r}")

    def _raises(self, kind, pattern, args, kwargs):
        context = _Raises(self, kind, pattern, kwargs.pop("msg", None) if not args else None)
        if not args:
            return context
        function, *rest = args
        with context:
            function(*rest, **kwargs)

    def assertRaises(self, expected_exception, *args, **kwargs):
        return self._raises(expected_exception, None, args, kwargs)

    def assertRaisesRegex(self, expected_exception, expected_regex, *args, **kwargs):
        return self._raises(expected_exception, expected_regex, args, kwargs)

    def assertWarns(self, expected_warning, *args, **kwargs):
        context = _Warns(self, expected_warning)
        if not args:
            return context
        with context:
            args[0](*args[1:], **kwargs)

    def assertWarnsRegex(self, expected_warning, expected_regex, *args, **kwargs):
        context = _Warns(self, expected_warning, expected_regex)
        if not args:
            return context
        with context:
            args[0](*args[1:], **kwargs)

    def assertLogs(self, logger=None, level=None):
        return _Logs(self, logger, level)

    def assertNoLogs(self, logger=None, level=None):
        return _Logs(self, logger, level, none=True)
