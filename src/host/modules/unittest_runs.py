# SPDX-License-Identifier: Apache-2.0
# --- results, suites and runs; part of unittest.py's namespace


class TestResult:
    def __init__(self, stream=None, descriptions=None, verbosity=None):
        self.failures, self.errors, self.skipped, self.expectedFailures, self.unexpectedSuccesses = [], [], [], [], []
        self.testsRun, self.shouldStop, self.failfast = 0, False, False

    def startTest(self, test):
        self.testsRun += 1

    def stopTest(self, test):
        pass

    def startTestRun(self):
        pass

    def stopTestRun(self):
        pass

    def addSuccess(self, test):
        pass

    def _text(self, error):
        return _traceback.format_exception(error) if not isinstance(error, tuple) else _traceback.format_exception(*error)

    def _failed(self, test, error):
        self.addFailure(test, (type(error), error, error.__traceback__))

    def _broke(self, test, error):
        self.addError(test, (type(error), error, error.__traceback__))

    def addFailure(self, test, err):
        self.failures.append((test, "".join(self._text(err))))
        self.shouldStop = self.shouldStop or self.failfast

    def addError(self, test, err):
        self.errors.append((test, "".join(self._text(err))))
        self.shouldStop = self.shouldStop or self.failfast

    def addSkip(self, test, reason):
        self.skipped.append((test, reason))

    def addExpectedFailure(self, test, err):
        self.expectedFailures.append((test, err))

    def addUnexpectedSuccess(self, test):
        self.unexpectedSuccesses.append(test)

    def wasSuccessful(self):
        return not self.failures and not self.errors and not self.unexpectedSuccesses

    def stop(self):
        self.shouldStop = True

    def __repr__(self):
        return f"<unittest.result.{type(self).__qualname__} run={self.testsRun} errors={len(self.errors)} failures={len(self.failures)}>"


class TextTestResult(TestResult):
    def __init__(self, stream, descriptions, verbosity):
        super().__init__()
        self.stream, self._verbosity = stream, verbosity

    def _describe(self, test):
        doc = test.shortDescription()
        return f"{test}\n{doc}" if doc else str(test)

    def startTest(self, test):
        super().startTest(test)
        if self._verbosity > 1:
            self.stream.write(self._describe(test) + " ... ")

    def _say(self, word, letter):
        self.stream.write(word + "\n" if self._verbosity > 1 else letter if self._verbosity else "")

    def addSuccess(self, test):
        self._say("ok", ".")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say("FAIL", "F")

    def addError(self, test, err):
        super().addError(test, err)
        self._say("ERROR", "E")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say(f"skipped {reason!r}", "s")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._say("expected failure", "x")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._say("unexpected success", "u")

    def printErrors(self):
        if self._verbosity:
            self.stream.write("\n")
        for word, entries in (("ERROR", self.errors), ("FAIL", self.failures)):
            for test, text in entries:
                self.stream.write("=" * 70 + f"\n{word}: {self._describe(test)}\n" + "-" * 70 + f"\n{text}\n")
        for test in self.unexpectedSuccesses:
            self.stream.write("=" * 70 + f"\nUNEXPECTED SUCCESS: {self._describe(test)}\n")


class TestSuite:
    def __init__(self, tests=()):
        self._tests = []
        self.addTests(tests)

    def addTest(self, test):
        self._tests.append(test)

    def addTests(self, tests):
        for test in tests:
            self.addTest(test)

    def __iter__(self):
        return iter(self._tests)

    def countTestCases(self):
        return sum([test.countTestCases() for test in self._tests])

    def _cases(self):
        for test in self._tests:
            if isinstance(test, TestSuite):
                yield from test._cases()
            else:
                yield test

    def run(self, result):
        current, usable = None, True
        for test in self._cases():
            if result.shouldStop:
                break
            cls = type(test)
            if cls is not current:
                self._leave(current if usable else None, result)
                current, usable = cls, self._enter(cls, result)
            if usable:
                test.run(result)
        self._leave(current if usable else None, result)
        return result

    def _enter(self, cls, result):
        if getattr(cls, "__unittest_skip__", False):
            return True
        try:
            cls.setUpClass()
            return True
        except SkipTest as error:
            result.addSkip(_ClassHolder(cls, "setUpClass"), str(error))
        except Exception as error:
            result._broke(_ClassHolder(cls, "setUpClass"), error)
        return False

    def _leave(self, cls, result):
        if cls is None or getattr(cls, "__unittest_skip__", False):
            return
        try:
            cls.tearDownClass()
            while cls._class_cleanups:
                function, args, kwargs = cls._class_cleanups.pop()
                function(*args, **kwargs)
        except Exception as error:
            result._broke(_ClassHolder(cls, "tearDownClass"), error)

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)


class _ClassHolder:
    def __init__(self, cls, name):
        self._text = f"{name} ({cls.__module__}.{cls.__qualname__})"

    def __str__(self):
        return self._text

    def id(self):
        return self._text

    def shortDescription(self):
        return None


class TestLoader:
    testMethodPrefix = "test"
    suiteClass = TestSuite

    def getTestCaseNames(self, testCaseClass):
        return sorted([name for name in dir(testCaseClass) if name.startswith(self.testMethodPrefix) and callable(getattr(testCaseClass, name))])

    def loadTestsFromTestCase(self, testCaseClass):
        return TestSuite([testCaseClass(name) for name in self.getTestCaseNames(testCaseClass)])

    def loadTestsFromModule(self, module, *, pattern=None):
        suites = []
        for name in sorted(dir(module)):
            found = getattr(module, name)
            if isinstance(found, type) and issubclass(found, TestCase) and found not in (TestCase, FunctionTestCase):
                suites.append(self.loadTestsFromTestCase(found))
        return TestSuite(suites)

    def loadTestsFromName(self, name, module=None):
        found, rest = module, name.split(".")
        if module is None:
            import importlib

            found, rest = importlib.import_module(rest[0]), rest[1:]
        for i, part in enumerate(rest):
            before, found = found, getattr(found, part)
            if isinstance(before, type) and issubclass(before, TestCase):
                return TestSuite([before(part)])
        return self.loadTestsFromTestCase(found) if isinstance(found, type) else self.loadTestsFromModule(found)

    def loadTestsFromNames(self, names, module=None):
        return TestSuite([self.loadTestsFromName(name, module) for name in names])


defaultTestLoader = TestLoader()


class TextTestRunner:
    resultclass = TextTestResult

    def __init__(self, stream=None, descriptions=True, verbosity=1, failfast=False, buffer=False, resultclass=None, warnings=None, *, tb_locals=False):
        if buffer or tb_locals:
            raise NotImplementedError("unittest with buffer or tb_locals; leave them out")
        self.stream, self.verbosity, self.failfast = _sys.stderr if stream is None else stream, verbosity, failfast
        self.resultclass = resultclass or self.resultclass

    def run(self, test):
        result = self.resultclass(self.stream, True, self.verbosity)
        result.failfast = self.failfast
        begin = _time.perf_counter()
        result.startTestRun()
        test(result)
        result.stopTestRun()
        seconds = _time.perf_counter() - begin
        result.printErrors()
        self.stream.write("-" * 70 + f"\nRan {result.testsRun} test{'' if result.testsRun == 1 else 's'} in {seconds:.3f}s\n\n")
        counts = [(name, len(entries)) for name, entries in (("failures", result.failures), ("errors", result.errors), ("skipped", result.skipped), ("expected failures", result.expectedFailures), ("unexpected successes", result.unexpectedSuccesses)) if entries]
        words = f" ({', '.join([f'{name}={count}' for name, count in counts])})" if counts else ""
        state = "FAILED" if not result.wasSuccessful() else "NO TESTS RAN" if not result.testsRun and not result.skipped else "OK"
        self.stream.write(f"{state}{words}\n")
        self.stream.flush()
        return result


class TestProgram:
    def __init__(self, module="__main__", defaultTest=None, argv=None, testRunner=None, testLoader=defaultTestLoader, exit=True, verbosity=1, failfast=None, catchbreak=None, buffer=None, warnings=None, *, tb_locals=False):
        import argparse

        if buffer or tb_locals:
            raise NotImplementedError("unittest with buffer or tb_locals; leave them out")
        if isinstance(module, str):
            import importlib

            module = _sys.modules[module] if module in _sys.modules else importlib.import_module(module)
        parser = argparse.ArgumentParser(prog=(argv or _sys.argv)[0])
        parser.add_argument("-v", "--verbose", action="store_const", const=2, default=verbosity)
        parser.add_argument("-q", "--quiet", dest="verbose", action="store_const", const=0)
        parser.add_argument("-f", "--failfast", action="store_true", default=bool(failfast))
        parser.add_argument("-k", dest="patterns", action="append", default=[])
        parser.add_argument("tests", nargs="*", default=[defaultTest] if isinstance(defaultTest, str) else list(defaultTest or []))
        given = parser.parse_args((argv or _sys.argv)[1:])
        suite = testLoader.loadTestsFromNames(given.tests, module) if given.tests else testLoader.loadTestsFromModule(module)
        if given.patterns:
            import fnmatch

            suite = TestSuite([case for case in suite._cases() if any([fnmatch.fnmatchcase(case.id(), pattern if "*" in pattern else f"*{pattern}*") for pattern in given.patterns])])
        runner = testRunner or TextTestRunner
        if isinstance(runner, type):
            runner = runner(verbosity=given.verbose, failfast=given.failfast)
        self.result = runner.run(suite)
        if exit:
            _sys.exit(not self.result.wasSuccessful() if self.result.testsRun or self.result.skipped else 5)


main = TestProgram


class IsolatedAsyncioTestCase(TestCase):
    def run(self, result=None):
        raise NotImplementedError("unittest.IsolatedAsyncioTestCase; async functions are not supported")
