#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts without tensors: exec against the Python that runs this test. usage: exec_test.py PELLUCID"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")
ENVIRONMENT = {"HOME": "/nowhere", "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "PATH": ""}
SAME_ARGPARSE = sys.version_info[:2] in ((3, 10), (3, 11), (3, 12))


def run(command, stdin=""):
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)


def script(name):
    return name if "/" in name else os.path.join(SCRIPTS, name)


def ours(name, *args, stdin=""):
    return run([PROGRAM, "exec", script(name), *args], stdin)


def pythons(name, *args, stdin=""):
    return run([sys.executable, script(name), *args], stdin)


def body(text):
    """A traceback without the marks under its lines, which Python's versions draw differently."""
    return [line for line in text.splitlines() if not re.fullmatch(r"[ ~^]+", line)]


class Exec(unittest.TestCase):
    def test_yield_outside_of_functions(self):
        for source in ("yield 1\n", "yield from [1]\n", "class A:\n    yield from [1]\n", "for i in [1]:\n    x = yield i\n"):
            mine, theirs = self.text(source)
            self.assertEqual((mine.returncode, theirs.returncode), (1, 1), mine.stderr)
            self.assertIn("SyntaxError: 'yield' outside function", mine.stderr)

    def test_ends_of_iterators(self):
        mine, theirs = self.text(
            "def g():\n    yield 1\n    return 'end'\n\n"
            "def handles():\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        next(iter(()))\n\n"
            "it = g()\nnext(it)\nfor turn in range(2):\n    try:\n        next(it)\n    except StopIteration as e:\n        print(repr(e), e.value)\n"
            "try:\n    handles()\nexcept StopIteration as e:\n    print(repr(e), repr(e.__context__), e.value)\n"
            "def last():\n    return next(it)\nlast()\n"
        )
        self.assertEqual((mine.stdout, mine.returncode), (theirs.stdout, theirs.returncode), mine.stderr)
        # The calls that led there are named, as in any traceback.
        for line in ("Traceback (most recent call last):", "in last", "return next(it)", "StopIteration"):
            self.assertIn(line, mine.stderr)

    def same(self, name, *args, stdin=""):
        mine, theirs = ours(name, *args, stdin=stdin), pythons(name, *args, stdin=stdin)
        self.assertEqual((mine.stdout, mine.stderr, mine.returncode), (theirs.stdout, theirs.stderr, theirs.returncode), (name, args))

    def text(self, source, *args, stdin=""):
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(source)
        self.addCleanup(os.remove, file.name)
        return ours(file.name, *args, stdin=stdin), pythons(file.name, *args, stdin=stdin)

    @unittest.skipUnless(SAME_ARGPARSE, "this Python's argparse says things in other words")
    def test_arguments(self):
        for line in (
            "data.txt",
            "d 1 2 3 --epochs 5 --lr 0.5 -vv --mode exact --no-save --tag a --tag b --size 2 3 --seed --cuda -o x",
            "d --seed 4 --verbose -v --no-fuse --learning-rate=2",
            "-e7 d -ox --epo 8",
            "d -- 4 5",
            "--help",
            "-h",
            "--version",
            "",
            "d x",
            "d --epochs 0",
            "d --epochs x",
            "d --mode slow",
            "d --cpu --cuda",
            "d --size 1",
            "d --size",
            "d --unknown 3",
            "d --ver",
            "d --s 1",
            "d -1",
            "d --cpu=3",
        ):
            with self.subTest(line):
                self.same("arguments.py", *line.split())

    @unittest.skipUnless(SAME_ARGPARSE, "this Python's argparse says things in other words")
    def test_commands(self):
        for line in ("train 5 --level 2", "fit 5 x --y", "--device cuda show --all", "--help", "train --help", "", "dance", "train", "show extra"):
            with self.subTest(line):
                self.same("commands.py", *line.split())

    def test_files(self):
        self.same("files.py")

    def test_generators(self):
        self.same("generators.py")

    def test_namespaces(self):
        self.same("namespaces.py")

    def test_numbers(self):
        self.same("arithmetic.py")

    def test_errors(self):
        kinds = "nothing,plain,key,own,assert,bare,from,during,none,exit,exit text,system,name,type,attribute,file,import,lambda"
        for kind in kinds.split(","):
            with self.subTest(kind):
                mine, theirs = ours("errors.py", kind), pythons("errors.py", kind)
                self.assertEqual((mine.stdout, mine.returncode), (theirs.stdout, theirs.returncode))
                expected = body(theirs.stderr)
                self.assertEqual(body(mine.stderr)[: len(expected)], expected)
                if expected and expected[0].startswith("Traceback"):
                    last = mine.stderr.splitlines()
                    self.assertRegex(last[-3], r"errors\.py:\d+:\d+: error: ")
                    self.assertRegex(last[-1], r"^ *\^~*$")
                    self.assertEqual(last[-3].split(":")[1], re.findall(r"line (\d+)", theirs.stderr)[-1])

    def test_recursion_ends(self):
        mine = ours("errors.py", "deep")
        self.assertEqual(mine.returncode, 1)
        self.assertIn("RecursionError: maximum recursion depth exceeded", mine.stderr)
        self.assertIn("more times]", mine.stderr)

    def test_deep_recursion_is_caught(self):
        mine, theirs = self.text("def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nprint(f(900))\ntry:\n    f(5000)\nexcept RecursionError as e:\n    print('deep')\n")
        self.assertEqual((mine.stdout, mine.stderr), (theirs.stdout, theirs.stderr))

    def test_input_and_streams(self):
        mine, theirs = self.text("import sys\nname = input('name? ')\nprint(f'hello {name}', sys.stdin.readline().strip())\nfor line in sys.stdin:\n    print(line, end='')\ntry:\n    input()\nexcept EOFError as e:\n    print('end', e)\nprint('\\x1b[1mbold\\x1b[0m', end='')\n", stdin="Ann\nsecond\nthird\n")
        self.assertEqual((mine.stdout, mine.stderr, mine.returncode), (theirs.stdout, theirs.stderr, theirs.returncode))

    def test_generators_left_at_the_end(self):
        mine, theirs = self.text(
            "def inner():\n    for i in range(5):\n        yield i\n"
            "def outer():\n    for x in inner():\n        yield x\n"
            "def third():\n    yield from outer()\n"
            "kept = [third() for _ in range(20)]\nprint([next(g) for g in kept])\n"
            "for g in kept[:5]:\n    g.close()\n"
            "class L:\n    def __iter__(self):\n        return self.g()\n    def g(self):\n        for x in kept[6]:\n            yield x\n"
            "it = iter(L())\nprint(next(it))\n"
        )
        self.assertEqual((mine.stdout, mine.stderr, mine.returncode), (theirs.stdout, theirs.stderr, theirs.returncode))

    def test_special_methods_of_instances(self):
        mine, theirs = self.text(
            "import math, ast\n"
            "class A:\n    def __format__(self, spec):\n        return 'f' + spec\n    def __index__(self):\n        return 2\n    def __float__(self):\n        return 2.25\n"
            "class D(dict):\n    def __repr__(self):\n        return 'D!'\n"
            "a = A()\nprint(f'{a:.2f}', format(a), [5, 6, 7][a], math.sqrt(a), str(D()), D(), f'{D()}', format(3, '03d'), f'{[1]}')\n"
            "print(math.frexp(10.0), math.ldexp(0.5, 3), math.frexp(0.0))\n"
            "print(ast.literal_eval(\"{'a': [1, -2.5, (3,), None], 'b': {1, 2}}\"), ast.literal_eval('1e-3'), ast.literal_eval('(1)'))\n"
            "for text in ('x', '1 +', \"'a\"):\n    try:\n        ast.literal_eval(text)\n    except (ValueError, SyntaxError) as e:\n        print(type(e).__name__)\n"
        )
        self.assertEqual((mine.stdout, mine.stderr, mine.returncode), (theirs.stdout, theirs.stderr, theirs.returncode))

    def test_logging_and_warnings(self):
        mine, theirs = self.text(
            "import logging, warnings\n"
            "logging.basicConfig(level=logging.INFO, format='%(levelname)s %(name)s: %(message)s')\n"
            "log = logging.getLogger('a.b')\nlog.info('x %d', 3)\nlog.debug('no')\nlog.warning('w')\n"
            "try:\n    1 / 0\nexcept ZeroDivisionError:\n    log.exception('failed')\n"
            "def f():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n    warnings.warn('care')\n"
            "f()\nf()\n"
            "with warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n    f()\nprint(len(seen), seen[0].category.__name__, seen[1].message)\n"
            "warnings.simplefilter('error')\ntry:\n    f()\nexcept DeprecationWarning as e:\n    print('raised', e)\n"
        )
        self.assertEqual((mine.stdout, mine.returncode), (theirs.stdout, theirs.returncode))
        self.assertEqual(body(mine.stderr), body(theirs.stderr))

    def test_what_a_script_may_not(self):
        for line in ("import subprocess; subprocess.run(['ls'])", "import socket; socket.socket()", "import os; os.fork()"):
            with self.subTest(line):
                mine, _ = self.text(f"x = 1\n{line}\n")
                self.assertEqual(mine.returncode, 1)
                self.assertRegex(mine.stderr, r"\.py:2:\d+: error: ")

    def test_syntax_error(self):
        mine, _ = self.text("x = 1\ny = (2\n")
        self.assertEqual(mine.returncode, 1)
        self.assertRegex(mine.stderr, r"\.py:2:\d+: error: ")

    def test_long_work_is_not_counted(self):
        mine, _ = self.text("n = 0\nfor i in range(1500000):\n    for j in (1, 2, 3, 4):\n        pass\nprint('done')\n")
        self.assertEqual((mine.stdout, mine.returncode), ("done\n", 0), mine.stderr)

    def test_interrupt(self):
        source = "import time\ntry:\n    print('on', flush=True)\n    while True:\n        pass\nexcept KeyboardInterrupt:\n    pass\ntry:\n    print('first', flush=True)\n    time.sleep(100)\nfinally:\n    print('leaving')\n"
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(source)
        self.addCleanup(os.remove, file.name)
        with subprocess.Popen([PROGRAM, "exec", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for word in ("on", "first"):
                self.assertEqual(process.stdout.readline(), word + "\n")
                process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(out, "leaving\n")
        self.assertIn("KeyboardInterrupt", errors)

    def test_a_kernel_beyond_its_tensors(self):
        source = (
            "import torch, triton, triton.language as tl\n"
            "@triton.jit\ndef far(x, n):\n    tl.store(x + n, 1.0)\n"
            "x = torch.zeros(4)\nfar[(1,)](x, 3)\nprint(x.tolist(), flush=True)\nfar[(1,)](x, 4)\nprint(x)\n"
        )
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            done = run([PROGRAM, "exec", "--guard", "end", file.name])
        self.assertEqual(done.stdout, "[0.0, 0.0, 0.0, 1.0]\n")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'far'", done.stderr)
        self.assertIn("--sanitize", done.stderr)

    def test_command_line(self):
        help_text = run([PROGRAM, "exec", "--help"]).stdout
        self.assertIn("--device", help_text)
        self.assertNotEqual(run([PROGRAM, "exec"]).returncode, 0)
        missing = run([PROGRAM, "exec", "/nonexistent.py"])
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/nonexistent.py", missing.stderr.splitlines()[0])
        wrong = run([PROGRAM, "exec", "--device", "cuda=tpu", script("files.py")])
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("cuda=tpu", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
