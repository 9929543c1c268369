// SPDX-License-Identifier: Apache-2.0
/// Every built-in with what it was not made for, and what one evaluation may use.
#include "HostileCalls.h"

#include <gtest/gtest.h>

#include <random>

namespace pellucid::host {
namespace {

/// A built-in that takes a null pointer, a missing argument or another kind for granted ends the
/// process here; one that answers with an error of ours fails by the exception.
TEST(Builtins, TakeAnyArgumentOrRefuse) {
  HostileCalls calls;
  ASSERT_GT(calls.callables().size(), 250u);
  std::mt19937 random(1);
  auto choose = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (const auto &[name, callee] : std::vector(calls.callables())) {
    SCOPED_TRACE(name);
    for (int i = 0; i < 60; ++i)
      try {
        calls.call(callee, choose);
      } catch (const std::exception &error) {
        ADD_FAILURE() << name << " throws " << typeid(error).name() << ": " << error.what();
      }
  }
}

std::string refusalOf(const std::string &text, InterpreterOptions options = {}) {
  Interpreter interpreter(std::move(options));
  try {
    interpreter.importSource("snippet", std::make_shared<SourceFile>("snippet.py", text));
  } catch (const DiagnosticError &error) {
    return error.diagnostic.location.range.line ? error.diagnostic.message
                                                : "no place: " + error.diagnostic.message;
  }
  return "";
}

TEST(Builtins, WrongArgumentsAreNamed) {
  EXPECT_EQ(refusalOf("list.append(5, 1)"), "TypeError: list.append(): expected a list, got int");
  EXPECT_EQ(refusalOf("import typing\ntyping.cast()"),
            "TypeError: typing.cast(): takes at least 1 positional argument, got 0");
  EXPECT_EQ(refusalOf("import dataclasses\ndataclasses.replace(5)"),
            "TypeError: replace() should be called on dataclass instances");
  EXPECT_EQ(refusalOf("import contextlib\ncontextlib.suppress(ValueError).__exit__()"),
            "TypeError: __exit__(): takes at least 1 positional argument, got 0");
  EXPECT_EQ(refusalOf("ValueError.__repr__(3)"),
            "TypeError: __repr__(): expected an exception, got int");
}

/// Each never ends, or fills the memory, where a loop inside of a built-in is not counted.
TEST(Budget, HoldsInsideOfBuiltIns) {
  InterpreterOptions options;
  options.maxSteps = 100'000;
  options.maxBytes = 16 << 20;
  for (const char *text :
       {"sum(range(10**15))",
        "max(range(10**15))",
        "any(x < 0 for x in range(10**15))",
        "list(range(10**12))",
        "sorted(range(10**12))",
        "[0] * 10**7",
        "'a' * 9999999 + 'b' * 9999999",
        "x = [1]\nfor _ in range(60):\n    x.extend(x)",
        "x = [1]\nfor _ in range(60):\n    x += x",
        "import math\nmath.prod([[0] * 1000, 1000, 1000])",
        "import itertools\nlist(itertools.combinations(range(60), 30))",
        "import itertools\nlist(itertools.product(range(100), repeat=9))",
        "x = 'ab'\nfor _ in range(60):\n    x = x.join([x, x])",
        "x = 'ab'\nfor _ in range(60):\n    x = x.replace('a', x)",
        "x = [0]\nfor _ in range(60):\n    x = [x, x]\nrepr(x)",
        "x = [0]\ny = [0]\nfor _ in range(60):\n    x = [x, x]\n    y = [y, y]\nx == y",
        "x = ()\nfor _ in range(60):\n    x = (x, x)\nhash(x)",
        "d = {}\nfor i in range(10**9):\n    d[i] = i",
        "s = ''\nfor i in range(10**9):\n    s = s + 'abcdefgh'",
        "''.zfill(10**9)",
        "''.center(10**9)",
        "('{:99999}' * 5000).format(*range(5000))",
        "while True:\n    pass",
        "def f():\n    f()\nf()",
        "class C:\n    def __getattr__(self, n):\n        return getattr(self, n + 'x')\nC().a"})
    EXPECT_NE(refusalOf(text, options), "") << text;
  EXPECT_EQ(
      refusalOf("import math\nmath.isqrt(2**63-1)\n[] * 10**18\n'' * 10**18\n() * 10**18", options),
      "");
}

/// Steps and bytes are counted, so the numbers do not depend on the machine.
TEST(Budget, CountsStepsAndBytes) {
  Interpreter interpreter;
  auto run = [&](const char *text) {
    uint64_t before = interpreter.budget().steps();
    interpreter.importSource("snippet", std::make_shared<SourceFile>("snippet.py", text));
    return interpreter.budget().steps() - before;
  };
  uint64_t thousand = run("sum(range(1000))"), twoThousand = run("sum(range(2000))");
  EXPECT_GE(twoThousand - thousand, 1000u);
  EXPECT_LE(twoThousand - thousand, 1100u);
  uint64_t before = interpreter.budget().bytes();
  run("x = [0] * 100000");
  EXPECT_GE(interpreter.budget().bytes() - before, 100000 * sizeof(Value));
  uint64_t most = interpreter.budget().mostBytes();
  for (int i = 0; i < 20; ++i)
    run("def f():\n    y = [0] * 100000\n    return len(y)\nf()");
  // What a call leaves behind is given back.
  EXPECT_LE(interpreter.budget().mostBytes() - most, 300000 * sizeof(Value));
}

/// `except` cannot swallow the end of the budget, nor go on after it.
TEST(Budget, CannotBeCaught) {
  InterpreterOptions options;
  options.maxSteps = 10'000;
  options.defersFileErrors = true;
  EXPECT_NE(refusalOf("try:\n    sum(range(10**9))\nexcept BaseException:\n    pass\n", options),
            "");
  EXPECT_NE(refusalOf("x = sum(range(10**9))\ny = 1\n", options), "");
}

/// Values and expressions that are nested more deeply than any stack.
TEST(Budget, DeepStructures) {
  const std::string deep = "x = 0\nfor _ in range(100000):\n    x = ";
  EXPECT_EQ(refusalOf(deep + "[x]\ndel x"), "");
  EXPECT_EQ(refusalOf(deep + "(x,)\nrepr(x)"), "");
  EXPECT_NE(refusalOf(deep + "(x,)\nhash(x)"), "");
  EXPECT_NE(refusalOf(deep + "(x,)\nisinstance(1, x)"), "");
  EXPECT_NE(refusalOf("import triton.language as tl\n" + deep + "tl.constexpr(x)\nx == 1"),
            "no place: ");
  // A partial of a partial is one.
  EXPECT_EQ(refusalOf("import functools\nx = len\nfor _ in range(100000):\n    x = "
                      "functools.partial(x)\nassert x([]) == 0"),
            "");
}

} // namespace
} // namespace pellucid::host
