// SPDX-License-Identifier: Apache-2.0
/// Brute force over random expressions: what the canonical form, the text, the bytecode, the
/// intervals and the proofs say is what a plain evaluation of the tree says.
#include "RandomExpr.h"
#include "symbolic/Bytecode.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace pellucid::symbolic;
using namespace pellucid::symbolic::testing;

namespace {
constexpr int64_t low = -4, high = 9;

struct Case {
  std::unique_ptr<Tree> tree;
  Expr expr;
};

std::optional<Case> randomCase(std::mt19937 &rng) {
  Case c{randomTree(rng, 4), 0};
  try {
    c.expr = build(*c.tree);
  } catch (const std::overflow_error &) {
    return std::nullopt;
  }
  return c;
}

std::map<std::string, int64_t> named(const Values &v) {
  return {{"p", v[0]}, {"q", v[1]}, {"r", v[2]}};
}

template <typename F> void forRandomValues(std::mt19937 &rng, int count, F &&f) {
  std::uniform_int_distribution<int64_t> pick(low, high);
  for (int i = 0; i < count; ++i)
    f(Values{pick(rng), pick(rng), pick(rng)});
}

TEST(Property, canonicalFormAndBytecodeEvaluateAsWritten) {
  std::mt19937 rng(1);
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    std::optional<Case> c = randomCase(rng);
    if (!c)
      continue;
    std::vector<uint8_t> code = encode(c->expr, names);
    forRandomValues(rng, 12, [&](const Values &v) {
      std::optional<__int128> expected = value(*c->tree, v);
      if (!expected)
        return;
      std::optional<int64_t> got = evaluate(c->expr, named(v));
      ASSERT_TRUE(got) << c->expr.text();
      ASSERT_EQ(*got, static_cast<int64_t>(*expected))
          << c->expr.text() << " at " << v[0] << " " << v[1] << " " << v[2];
      int64_t byCode = 0;
      ASSERT_EQ(evaluateBytecode(code, v, byCode), EvalStatus::Ok) << c->expr.text();
      ASSERT_EQ(byCode, *got);
      ++compared;
    });
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(compared, 100000);
}

TEST(Property, textReadsBackAsTheSameNode) {
  std::mt19937 rng(2);
  for (int i = 0; i < 20000; ++i)
    if (std::optional<Case> c = randomCase(rng)) {
      std::optional<Expr> again = parse(c->expr.text());
      ASSERT_TRUE(again) << c->expr.text();
      ASSERT_EQ(*again, c->expr) << c->expr.text() << " reads back as " << again->text();
    }
}

TEST(Property, rangesContainAndProofsHold) {
  std::mt19937 rng(3);
  SymbolTable table;
  table.declare("p", {{low, high}, 1, {}});
  table.declare("q", {{0, 8}, 4, {}});
  table.declare("r", {{1, 3}, 1, {}});
  int decided = 0;
  for (int i = 0; i < 6000; ++i) {
    std::optional<Case> c = randomCase(rng);
    if (!c)
      continue;
    Range range = table.range(c->expr);
    std::optional<bool> proved = table.prove(c->expr);
    decided += proved.has_value();
    bool multiple = table.isMultipleOf(c->expr, 4);
    for (int64_t p = low; p <= high; ++p)
      for (int64_t q = 0; q <= 8; q += 4)
        for (int64_t r = 1; r <= 3; ++r) {
          std::optional<__int128> v = value(*c->tree, {p, q, r});
          if (!v || *v > INT64_MAX || *v < INT64_MIN)
            continue;
          ASSERT_TRUE(range.contains(static_cast<int64_t>(*v))) << c->expr.text();
          if (proved)
            ASSERT_EQ(*v != 0, *proved) << c->expr.text();
          if (multiple)
            ASSERT_EQ(*v % 4, 0) << c->expr.text();
        }
  }
  EXPECT_GT(decided, 1000);
}
} // namespace
