// SPDX-License-Identifier: Apache-2.0
// Copies that are the operand itself for some sizes: for which sizes a program is that writes one.
#include "trace/TraceFixture.h"

#include "graph/Program.h"

namespace pellucid::trace {
namespace {

using graph::Expr;
using graph::Program;

class PossibleAliases : public TextTrace {
protected:
  void size(const char *name, int64_t min, int64_t max, std::optional<int64_t> example) {
    symbols.declare(name, {{min, max}, 1, example});
  }
  static constexpr const char *writesTurned = "def f(x):\n"
                                              "    turned = x.t().contiguous()\n"
                                              "    turned.add_(1)\n"
                                              "    return x + 1\n";
  /// The one warning of a program that was traced, or its refusal, up to where both say enough.
  std::string said(const std::string &text = writesTurned) {
    warnings.clear();
    std::string refused = refusal(text, "f");
    if (!refused.empty())
      return refused.substr(0, refused.find(" for all sizes"));
    if (warnings.empty())
      return "";
    EXPECT_EQ(warnings.size(), 1u);
    const std::string begin = "the program is for ";
    size_t at = warnings[0].find(begin);
    return at == std::string::npos ? warnings[0] : warnings[0].substr(at + begin.size());
  }
};

const char *const unknown = "whether this memory was written is not known";

TEST_F(PossibleAliases, theExampleDecidesWhereItMay) {
  input("x", {Expr::symbol("n"), 4});
  size("n", 1, 9, 4);
  EXPECT_EQ(said(), "n in 2..9");
  Program program = trace(writesTurned, "f");
  EXPECT_EQ(program.symbols.find("n")->range.min, 2);
  size("n", 1, 9, 2);
  EXPECT_EQ(said(), "n in 2..9");
  size("n", 1, 2, 2);
  EXPECT_EQ(said(), "n in 2..2");
  size("n", 1, 9, 1);
  EXPECT_EQ(said(), unknown);
  size("n", 1, 9, std::nullopt);
  EXPECT_EQ(said(), unknown);
  options.strict = true;
  size("n", 1, 9, 4);
  EXPECT_EQ(said(), unknown);
}

TEST_F(PossibleAliases, whatTheRangeDecidesIsNotSaid) {
  input("x", {Expr::symbol("n"), 4});
  for (bool strict : {false, true}) {
    options.strict = strict;
    size("n", 2, 9, 4);
    EXPECT_EQ(said(), "");
    size("n", 3, 9, std::nullopt);
    EXPECT_EQ(said(), "");
  }
}

TEST_F(PossibleAliases, severalSizes) {
  input("x", {Expr::symbol("n"), Expr::symbol("m")});
  size("n", 1, 9, 4);
  size("m", 3, 7, 5);
  EXPECT_EQ(said(), "n in 2..9");
  size("m", 1, 7, 5);
  EXPECT_EQ(said(), "m in 2..7, n in 2..9");
  size("m", 2, 7, std::nullopt); // never 1, so nothing is asked of the example
  EXPECT_EQ(said(), "n in 2..9");
  size("m", 1, 7, 1);
  EXPECT_EQ(said(), unknown);
  // Of a size that is 1 nothing is asked.
  inputs.clear();
  input("x", {Expr::symbol("b"), Expr::symbol("n"), 4});
  size("b", 1, 1, 1);
  EXPECT_EQ(said("def f(x):\n"
                 "    turned = x.transpose(1, 2).contiguous()\n"
                 "    turned.add_(1)\n"
                 "    return x + 1\n"),
            "n in 2..9");
}

// A copy of what may be a copy: a write to any of them is one to all.
TEST_F(PossibleAliases, writesGoFromCopyToCopy) {
  input("x", {Expr::symbol("n"), 4});
  size("n", 1, 9, 4);
  options.strict = true;
  for (const char *written : {"x", "a", "b"})
    for (const char *read : {"x", "a", "b"}) {
      std::string text = "def f(x):\n"
                         "    x = x + 0\n"
                         "    a = x.t().contiguous()\n"
                         "    b = a.t().contiguous()\n"
                         "    " +
                         std::string(written) + ".add_(1)\n    return " + read + " + 1\n";
      EXPECT_EQ(said(text), std::string(written) == read ? "" : unknown) << written << read;
    }
}

// What cannot be said of symbols is said of every number, of so many.
TEST_F(PossibleAliases, decoratorsOfFloatsOfSizes) {
  const char *text =
      "@triton.heuristics({'B': lambda a: 16 if float(a['n']) ** 0.7 < 200 ** 0.7 else 32})\n"
      "@triton.jit\n"
      "def k(x_ptr, n, B: tl.constexpr):\n"
      "    o = tl.arange(0, B)\n"
      "    tl.store(x_ptr + o, tl.load(x_ptr + o, mask=o < n) * 2, mask=o < n)\n"
      "def f(x):\n"
      "    y = x + 0\n"
      "    k[(1,)](y, y.shape[0])\n"
      "    return y\n";
  input("x", {Expr::symbol("n")});
  size("n", 1, 65536, 8);
  Program program = trace(text, "f");
  for (graph::Node &node : program.main)
    if (node.isLaunch()) {
      const auto &variants = node.launch()->variants;
      ASSERT_EQ(variants.size(), 2u);
      for (int64_t n : {1, 199, 200, 201, 65536}) {
        bool first = symbolic::evaluate(variants[0].guard, {{"n", n}}) == 1;
        EXPECT_EQ(variants[first ? 0 : 1].constants.at(0).second.as<int64_t>(), n < 200 ? 16 : 32)
            << n;
        EXPECT_NE(symbolic::evaluate(variants[1].guard, {{"n", n}}) == 1, first) << n;
      }
    }
  size("n", 5, 65540, 8);
  EXPECT_EQ(refusal(text, "f"), "");
  size("n", 1, 65537, 8);
  EXPECT_NE(refusal(text, "f"), "");
  size("n", 5, 65541, 8);
  EXPECT_NE(refusal(text, "f"), "");
}

} // namespace
} // namespace pellucid::trace
