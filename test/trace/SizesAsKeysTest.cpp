// SPDX-License-Identifier: Apache-2.0
/// A dynamic size as a key, a member or a text says something for one size and something else for
/// another: a branch, or refused.
#include "TraceFixture.h"

#include <cmath>

namespace pellucid::trace {
namespace {

class SizesAsKeys : public TextTrace {
protected:
  void SetUp() override {
    TextTrace::SetUp();
    symbols.declare("n", {{32, 256}, 1, 64});
    input("x", {graph::Expr::symbol("n"), 8});
  }

  static std::string function(const std::string &body) {
    return "TABLE = {64: 2.0, 128: 3.0}\nclass Color:\n    RED = 1\ndef f(x):\n    n = "
           "x.shape[0]\n" +
           body;
  }
  /// The factors that f() multiplies x by when sizes follow the example.
  double followed(const std::string &body) {
    options.strict = false;
    graph::Program program = trace(function(body), "f");
    for (graph::Node &node : program.main)
      if (node.isCall() && has(node.target(), "mul"))
        return node.args()[1].number().value_or(-1);
    return -1;
  }
  std::string strictly(const std::string &body) {
    options.strict = true;
    return refusal(function(body), "f");
  }
};

struct Case {
  const char *name, *body;
};
const Case branches[] = {
    {"set", "    return x * (2.0 if n in {64, 128} else 5.0)\n"},
    {"negated", "    return x * (5.0 if n not in {64, 128} else 2.0)\n"},
    {"list", "    return x * (2.0 if n in [64, 128] else 5.0)\n"},
    {"tuple", "    return x * (2.0 if (n, 8) in ((64, 8), (1, 2)) else 5.0)\n"},
    {"range", "    return x * (2.0 if n in range(60, 70) else 5.0)\n"},
    {"dict member", "    return x * (2.0 if n in TABLE else 5.0)\n"},
    {"dict get", "    return x * TABLE.get(n, 5.0)\n"},
    {"dict get of a tuple", "    return x * {(64, 8): 2.0}.get(tuple(x.shape), 5.0)\n"},
    {"dict item",
     "    try:\n        return x * TABLE[n]\n    except KeyError:\n        return x * 5.0\n"},
    {"symbol as key", "    return x * {n: 2.0}.get(64, 5.0)\n"},
    {"overwritten", "    d = {64: 5.0}\n    d[n] = 2.0\n    return x * d[64]\n"},
    {"pop", "    return x * dict(TABLE).pop(n, 5.0)\n"},
    {"index", "    return x * (2.0 if [128, 64].index(n) == 1 else 5.0)\n"},
    {"count", "    return x * (2.0 if [128, 64].count(n) else 5.0)\n"},
    {"set algebra", "    return x * (2.0 if {n} & {64} else 5.0)\n"},
    {"equal tuples", "    return x * (2.0 if (n, 8) == (64, 8) else 5.0)\n"},
    {"equal sets", "    return x * (2.0 if {n, 8} == {8, 64} else 5.0)\n"},
    {"chain", "    return x * (2.0 if 60 < n <= 64 != 7 else 5.0)\n"},
    {"sorted", "    return x * (2.0 if sorted([n, 100])[0] == 64 else 5.0)\n"},
};

TEST_F(SizesAsKeys, theExampleIsFollowedAndStrictRefuses) {
  for (const Case &one : branches) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(followed(one.body), 2.0);
    std::string said = strictly(one.body);
    EXPECT_TRUE(has(said, "depends on a dynamic dim")) << said;
  }
}

TEST_F(SizesAsKeys, whatHoldsForTheWholeRangeIsNoBranch) {
  for (const char *body :
       {"    return x * (2.0 if n in {1, 2} else 5.0)\n",
        "    return x * {1: 2.0, 300: 3.0}.get(n, 5.0)\n", "    return x * {n: 5.0}[n]\n",
        "    return x * (5.0 if n in range(0, 1000) else 2.0)\n"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(strictly(body), "");
    EXPECT_EQ(followed(body), 5.0);
  }
  EXPECT_EQ(warnings, std::vector<std::string>());
}

TEST_F(SizesAsKeys, textsAreForReadingAlone) {
  for (const char *body :
       {"    return x * {'64': 2.0}.get(f'{n}', 5.0)\n",
        "    return x * (2.0 if str(n) == '64' else 5.0)\n",
        "    return x * (2.0 if '%d' % n == '64' else 5.0)\n",
        "    return x * (2.0 if '{}'.format(n) in ('64',) else 5.0)\n",
        "    return x * (2.0 if len(f'{n}') == 2 else 5.0)\n",
        "    return x * getattr(Color, f'C{n}', 5.0)\n", "    return x * float(str(n))\n",
        "    return x * (2.0 if '-'.join([str(n), 'a']).startswith('6') else 5.0)\n",
        "    return x * (2.0 if repr((n, 8))[1] == '6' else 5.0)\n"}) {
    SCOPED_TRACE(body);
    std::string said = strictly(body);
    EXPECT_TRUE(has(said, "shows a dynamic size")) << said;
  }
  EXPECT_TRUE(has(strictly("    return x * float(hash(n))\n"), "hash() of 'n'"));
}

TEST_F(SizesAsKeys, textsMayBePrintedAndRaised) {
  options.strict = true;
  EXPECT_EQ(followed("    print(f'{n} rows', 'of %s' % n, str(n) + '!', ', '.join([str(n)]))\n"
                     "    assert n > 0, f'got {n}'\n"
                     "    return x * 2.0\n"),
            2.0);
  EXPECT_TRUE(has(refusal(function("    raise ValueError(f'cannot do {n} rows')\n"), "f"),
                  "cannot do n rows"));
}

TEST_F(SizesAsKeys, constantsOfKernelsBecomeVariants) {
  const char *const text = R"py(
TABLE = {64: 16, 128: 32}

@triton.heuristics({"WIDE": lambda args: args["n"] in {64, 128}, "STEP": lambda args: TABLE.get(args["n"], 8),
                    "NAME": lambda args: {"64": 1, "65": 2}.get(f"{args['n']}", 3)})
@triton.jit
def kernel(x_ptr, n, WIDE: tl.constexpr, STEP: tl.constexpr, NAME: tl.constexpr):
    i = tl.arange(0, STEP)
    tl.store(x_ptr + i, tl.load(x_ptr + i) + (NAME if WIDE else 0), mask=i < n)

@triton.jit
def plain(x_ptr, n, TEXT: tl.constexpr, PAIR):
    tl.store(x_ptr, 1.0)

def variants(x):
    kernel[(1,)](x, x.shape[0])
    return x

def text(x):
    plain[(1,)](x, 1, f"{x.shape[0]}", 1)
    return x

def pair(x):
    plain[(1,)](x, 1, "a", (x.shape[0], f"{x.shape[0]}"))
    return x
)py";
  options.strict = true;
  graph::Program program = trace(text, "variants");
  size_t variants = 0;
  for (graph::Node &node : program.main)
    if (node.launch())
      variants = node.launch()->variants.size();
  // 64, 65, 128 and the rest.
  EXPECT_EQ(variants, 4u);
  EXPECT_TRUE(has(refusal(text, "text"), "'TEXT' of 'plain' must be known while compiling"));
  EXPECT_TRUE(has(refusal(text, "pair"), "'PAIR[1]' of 'plain' must be known while compiling"));
}

// A cached function is asked again for what may go another way.
TEST_F(SizesAsKeys, cachesKeepNothingOfADynamicSize) {
  const char *const text = R"py(
import functools

@functools.lru_cache(maxsize=None)
def step(n):
    return 64 if n > 100 else 32

@triton.heuristics({"STEP": lambda args: step(args["n"])})
@triton.jit
def kernel(x_ptr, n, STEP: tl.constexpr):
    i = tl.arange(0, STEP)
    tl.store(x_ptr + i, tl.load(x_ptr + i), mask=i < n)

def f(x):
    kernel[(1,)](x, x.shape[0])
    return x
)py";
  options.strict = true;
  EXPECT_EQ(trace(text, "f").kernels.size(), 2u);
}

struct Rounded {
  const char *text;
  int64_t (*want)(int64_t n);
};
const Rounded roundings[] = {
    {"int((n - 100) / 8) + 20", [](int64_t n) { return (n - 100) / 8 + 20; }},
    {"int((100 - n) / 8) + 20", [](int64_t n) { return (100 - n) / 8 + 20; }},
    {"int((n - 100) / -8) + 20", [](int64_t n) { return (n - 100) / -8 + 20; }},
    {"int(n * 2.0)", [](int64_t n) { return 2 * n; }},
    {"int(n * 1.5) + 1", [](int64_t n) { return n * 3 / 2 + 1; }},
    {"int(0.25 * (n - 100) + 0.5) + 20",
     [](int64_t n) {
       return static_cast<int64_t>(0.25 * static_cast<double>(n - 100) + 0.5) + 20;
     }},
    {"math.floor((n - 100) * 0.375) + 40",
     [](int64_t n) {
       return static_cast<int64_t>(std::floor(static_cast<double>(n - 100) * 0.375)) + 40;
     }},
    {"math.ceil(-(n * 1.0) / 16) + 40",
     [](int64_t n) { return static_cast<int64_t>(std::ceil(-static_cast<double>(n) / 16)) + 40; }},
};

// int() goes towards zero, floor() does not; what floats hold exactly is computed with integers.
TEST_F(SizesAsKeys, floatsOfSizesAreRoundedAsPythonRounds) {
  for (const Rounded &rounded : roundings) {
    for (int64_t n : {32, 63, 99, 100, 101, 107, 108, 255}) {
      symbols = {};
      symbols.declare("n", {{32, 256}, 1, n});
      graph::Program program =
          trace("import math\ndef f(x):\n    n = x.shape[0]\n    return torch.zeros(" +
                    std::string(rounded.text) + ")\n",
                "f");
      const graph::TensorType &type = program.main.outputNode()->args()[0].value()->type();
      EXPECT_EQ(symbolic::evaluate(type.shape[0], {{"n", n}}), rounded.want(n))
          << rounded.text << " at " << n;
    }
  }
  EXPECT_TRUE(has(strictly("    return torch.zeros(int(n / 3.0))\n"), "int() of"));
  EXPECT_TRUE(has(strictly("    return torch.zeros(int(n * 0.7))\n"), "int() of"));
  EXPECT_TRUE(has(strictly("    return torch.zeros(int(n ** 0.5))\n"), "int() of"));
}

} // namespace
} // namespace pellucid::trace
