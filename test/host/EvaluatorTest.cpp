// SPDX-License-Identifier: Apache-2.0
/// The evaluator against CPython on the same text, and what it refuses, with the place.
#include "host/Interpreter.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace pellucid::host {
namespace {

/// The scripts of cases/, each after a line `# case: name`.
std::vector<std::pair<std::string, std::string>> readCases() {
  std::vector<std::pair<std::string, std::string>> cases;
  for (const char *file : {"values", "functions", "classes", "modules"}) {
    std::ifstream in(std::string(PELLUCID_SOURCE_DIR) + "/test/host/cases/" + file + ".py");
    EXPECT_TRUE(in.good()) << file;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("# case: "))
        cases.emplace_back(line.substr(8), "");
      else if (!cases.empty())
        cases.back().second += line + "\n";
    }
  }
  return cases;
}

std::shared_ptr<Module> runText(Interpreter &interpreter, const std::string &text) {
  return interpreter.importSource("snippet", std::make_shared<SourceFile>("snippet.py", text));
}

/// One repr per line of each case's `result` list, as python3 prints them.
std::vector<std::string> cpythonResults(const std::string &text) {
  std::string script = testing::TempDir() + "pellucid_case_" + std::to_string(getpid()) + ".py";
  std::ofstream(script)
      << "import builtins\n_print = builtins.print\nprint = lambda *a, **k: None\n"
      << text << "\nfor _v in result:\n    _print(repr(_v))\n";
  std::vector<std::string> lines;
  FILE *pipe = popen(("PYTHONIOENCODING=utf-8 python3 '" + script + "' 2>&1").c_str(), "r");
  std::string line;
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    lines.push_back(std::exchange(line, {}));
  }
  if (pipe)
    pclose(pipe);
  std::remove(script.c_str());
  return lines;
}

bool hasPython() { return std::system("python3 -c 'pass' >/dev/null 2>&1") == 0; }

TEST(Evaluator, AgreesWithCPython) {
  auto cases = readCases();
  ASSERT_GE(cases.size(), 49u);
  if (!hasPython())
    GTEST_SKIP() << cases.size() << " comparisons skipped: no python3";
  for (const auto &[name, text] : cases) {
    SCOPED_TRACE(name);
    std::vector<std::string> expected = cpythonResults(text);
    try {
      Interpreter interpreter;
      auto module = runText(interpreter, text);
      const Value *result = module->globals->find("result");
      ASSERT_TRUE(result && result->isList());
      ASSERT_EQ(result->list().size(), expected.size())
          << (expected.empty() ? "" : expected.back());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(interpreter.repr(result->list()[i]), expected[i]) << "element " << i;
    } catch (const DiagnosticError &e) {
      ADD_FAILURE() << e.what();
    }
  }
}

struct Refusal {
  const char *text;
  uint32_t line, column;
  const char *message; ///< part of it
};

class Refuses : public testing::TestWithParam<Refusal> {};

TEST_P(Refuses, AtThePlace) {
  const Refusal &r = GetParam();
  Interpreter interpreter;
  try {
    runText(interpreter, r.text);
    FAIL() << "accepted:\n" << r.text;
  } catch (const DiagnosticError &e) {
    EXPECT_EQ(e.diagnostic.location.range.line, r.line) << e.what();
    EXPECT_EQ(e.diagnostic.location.range.column, r.column) << e.what();
    EXPECT_NE(e.diagnostic.message.find(r.message), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Evaluator, Refuses,
    testing::Values(
        Refusal{"x = 1\ny = x + undefined\n", 2, 9, "name 'undefined' is not defined"},
        Refusal{"x = 1 + 'a'\n", 1, 5, "unsupported operand type(s) for +: 'int' and 'str'"},
        Refusal{"def f():\n    return g(1)\ndef g(a, b):\n    pass\nf()\n", 2, 12,
                "g() missing 1 required positional argument: 'b'"},
        Refusal{"d = {}\nd['k']\n", 2, 1, "KeyError: 'k'"},
        Refusal{"[1][3]\n", 1, 1, "list index out of range"},
        Refusal{"async def f():\n    pass\nf()\n", 3, 1, "'async' functions are not supported"},
        Refusal{"x = 1j\n", 1, 5, "complex numbers are not supported"},
        Refusal{"x = b'a'\n", 1, 5, "bytes literals are not supported"},
        Refusal{"eval('1')\n", 1, 1, "'eval' is not supported in host code"},
        Refusal{"open('f', 'w')\n", 1, 1, "open() with mode 'w' is not supported in host code"},
        Refusal{"import foo\nclass A(foo.B): pass\nA()\n", 3, 1,
                "inherits from <foo.B>, which is not supported"},
        Refusal{"import foo\ndef f():\n    return foo.bar(1)\nf()\n", 3, 12,
                "'foo.bar' cannot be called"},
        Refusal{"import foo\nif foo.flag:\n    pass\n", 2, 4, "'foo.flag' cannot be branched on"},
        Refusal{"def f(n):\n    return f(n + 1)\nf(0)\n", 2, 12, "nested too deeply"},
        Refusal{"while True:\n    pass\n", 2, 5, "steps"},
        Refusal{"x = 2**127 * 4\n", 1, 5, "does not fit 127 bits"},
        Refusal{"raise ValueError('no')\n", 1, 1, "ValueError: no"},
        Refusal{"assert 1 == 2, 'msg'\n", 1, 1, "AssertionError: msg"},
        Refusal{"a, b = 1, 2, 3\n", 1, 1, "too many values to unpack (expected 2)"},
        Refusal{"class A(range): pass\n", 1, 1, "inherits from 'range'"},
        Refusal{
            "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield\nf().__enter__()\n",
            5, 1, "enter it with a 'with' statement"},
        Refusal{"import contextlib\n@contextlib.contextmanager\ndef f():\n    yield 1\n    yield "
                "2\nwith "
                "f():\n    pass\n",
                5, 5, "generator didn't stop"},
        Refusal{
            "import contextlib\n@contextlib.contextmanager\ndef f():\n    if False: yield\nwith "
            "f():\n    pass\n",
            5, 6, "generator didn't yield"},
        Refusal{"with 3: pass\n", 1, 6, "'with' over 3 is not supported"},
        Refusal{"(1).foo\n", 1, 1, "'int' object has no attribute 'foo'"},
        Refusal{"{[]: 1}\n", 1, 2, "unhashable type: 'list'"}));

TEST(Evaluator, NotesNameTheCallsThatLedThere) {
  Interpreter interpreter;
  try {
    runText(interpreter, "def f(x):\n    return x / 0\ndef g():\n    return f(1)\ng()\n");
    FAIL();
  } catch (const DiagnosticError &e) {
    ASSERT_GE(e.diagnostic.notes.size(), 2u);
    EXPECT_EQ(e.diagnostic.notes[0].location.range.line, 4u);
    EXPECT_EQ(e.diagnostic.notes[1].location.range.line, 5u);
  }
}

/// A refusal is not an exception of the program: no handler may hide it.
TEST(Evaluator, HandlersDoNotCatchRefusals) {
  Interpreter interpreter;
  EXPECT_THROW(runText(interpreter, "try:\n    x = 1j\nexcept Exception:\n    x = 0\n"),
               DiagnosticError);
}

/// Deep recursion ends in a diagnostic even through natives that call back.
TEST(Evaluator, RecursionThroughNativesIsBounded) {
  Interpreter interpreter;
  EXPECT_THROW(runText(interpreter, "def f(n):\n    return sorted([2, 1], key=f)\nf(0)\n"),
               DiagnosticError);
}

class RecordingHooks : public HostHooks {
public:
  std::vector<std::string> conditions;
  std::vector<uint32_t> lines;
  std::string printed;
  bool answer = true;
  bool decide(Interpreter &, const symbolic::Expr &condition,
              const SourceLocation &where) override {
    conditions.push_back(condition.text());
    lines.push_back(where.range.line);
    return answer;
  }
  void output(std::string_view text) override { printed += text; }
};

/// Arithmetic on sizes stays symbolic; only a branch asks.
TEST(Evaluator, SizesStaySymbolicUntilABranch) {
  RecordingHooks hooks;
  InterpreterOptions options;
  options.hooks = &hooks;
  Interpreter interpreter(std::move(options));
  auto module =
      runText(interpreter, "import math\nimport triton\n"
                           "def f(n):\n"
                           "    m = min(n * 2 + 1, 100)\n"
                           "    g = math.ceil(n / 128), triton.cdiv(n, 64), n // 4 % 3, -n, n * n\n"
                           "    if n > 16:\n"
                           "        return m, g\n"
                           "    return None\n");
  Value n = Value::integer(symbolic::Expr::symbol("n"));
  Value out = interpreter.call(*module->globals->find("f"), {n});
  ASSERT_EQ(hooks.conditions.size(), 1u);
  EXPECT_EQ(hooks.lines[0], 6u);
  ASSERT_TRUE(out.isTuple());
  auto at = [](const Value &v) { return *symbolic::evaluate(v.symInt(), {{"n", 300}}); };
  EXPECT_EQ(at(out.tuple()[0]), 100);
  const Tuple &g = out.tuple()[1].tuple();
  EXPECT_EQ(at(g[0]), 3);
  EXPECT_EQ(at(g[1]), 5);
  EXPECT_EQ(at(g[2]), 0);
  EXPECT_EQ(at(g[3]), -300);
  EXPECT_EQ(at(g[4]), 90000);
}

TEST(Evaluator, PrintGoesToTheHooks) {
  RecordingHooks hooks;
  InterpreterOptions options;
  options.hooks = &hooks;
  Interpreter interpreter(std::move(options));
  runText(interpreter, "print('a', 1, sep='-')\nprint('b', end='')\n");
  EXPECT_EQ(hooks.printed, "a-1\nb");
}

TEST(Evaluator, LiteralsForTheCommandLine) {
  Interpreter interpreter;
  auto value = [&](const char *text) {
    return interpreter.repr(interpreter.evaluateText(std::make_shared<SourceFile>("--init", text)));
  };
  EXPECT_EQ(value("[1, 2.5, 'x', None, True, (1,), {'a': -3}]"),
            "[1, 2.5, 'x', None, True, (1,), {'a': -3}]");
}

} // namespace
} // namespace pellucid::host
