// SPDX-License-Identifier: Apache-2.0
// Ranges of sizes over which a condition is what it is for the example: tried one by one.
#include "trace/GuardedPaths.h"

#include <gtest/gtest.h>

#include <random>

namespace pellucid::trace {
namespace {

using symbolic::Expr;
using symbolic::Range;
using symbolic::SymbolTable;

Expr n() { return Expr::symbol("n"); }
Expr m() { return Expr::symbol("m"); }

struct Ranges : ::testing::Test {
  SymbolTable symbols;
  void declare(const char *name, int64_t min, int64_t max, int64_t example, int64_t divisor = 1) {
    symbols.declare(name, {{min, max}, divisor, example});
  }
  void expectRange(const Expr &condition, bool value, int64_t min, int64_t max) {
    auto box = rangesWhere(condition, value, symbols);
    ASSERT_TRUE(box.has_value()) << condition.text();
    EXPECT_EQ(box->at("n").min, min) << condition.text();
    EXPECT_EQ(box->at("n").max, max) << condition.text();
  }
};

TEST_F(Ranges, reachAsFarAsTheConditionHolds) {
  declare("n", 1, 64, 5);
  expectRange(symbolic::lessEqual(n(), 20), true, 1, 20);
  expectRange(symbolic::less(20, n()), false, 1, 20);
  expectRange(symbolic::equal(symbolic::mod(n(), 3), 2), true, 5, 5);
  declare("n", 1, 64, 30);
  expectRange(symbolic::lessEqual(n(), 20), false, 21, 64);
  expectRange(symbolic::equal(symbolic::floorDiv(n(), 8), 3), true, 24, 31);
}

TEST_F(Ranges, areOfSizesOnly) {
  declare("n", 8, 64, 16, 8); // what is no multiple of 8 is no size
  expectRange(symbolic::equal(symbolic::mod(n(), 8), 0), true, 8, 64);
  symbols.declare("n", {{1, 64}, 1, std::nullopt});
  EXPECT_FALSE(rangesWhere(symbolic::less(n(), 9), true, symbols).has_value());
}

/// Whether the condition is true for all sizes of the box.
bool holds(const Expr &condition, bool value, Range a, Range b) {
  for (int64_t i = a.min; i <= a.max; ++i)
    for (int64_t j = b.min; j <= b.max; ++j)
      if ((symbolic::evaluate(condition, {{"n", i}, {"m", j}}).value() != 0) != value)
        return false;
  return true;
}

TEST_F(Ranges, ofTwoDimsAreRightAndCannotGrow) {
  std::mt19937 random(20261123);
  auto upTo = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  for (int round = 0; round < 300; ++round) {
    int64_t last[] = {1 + upTo(24), 1 + upTo(24)},
            at[] = {1 + upTo(last[0] - 1), 1 + upTo(last[1] - 1)};
    declare("n", 1, last[0], at[0]);
    declare("m", 1, last[1], at[1]);
    Expr a = n() * (1 + upTo(3)) + m() * upTo(3), b = m() * (1 + upTo(2)) + upTo(40);
    Expr condition = round % 3 == 0   ? symbolic::less(a, b)
                     : round % 3 == 1 ? symbolic::lessEqual(symbolic::floorDiv(a, 4), b)
                                      : symbolic::equal(symbolic::min(a, b), a);
    bool value = symbolic::evaluate(condition, {{"n", at[0]}, {"m", at[1]}}).value() != 0;
    auto box = rangesWhere(condition, value, symbols);
    ASSERT_TRUE(box.has_value());
    auto of = [&](const char *name, int64_t hint) {
      auto known = box->find(name);
      return known == box->end() ? Range{hint, hint} : known->second;
    };
    Range first = of("n", at[0]), second = of("m", at[1]);
    SCOPED_TRACE(condition.text() + " for " + std::to_string(at[0]) + ", " + std::to_string(at[1]));
    EXPECT_TRUE(first.min <= at[0] && at[0] <= first.max && second.min <= at[1] &&
                at[1] <= second.max);
    EXPECT_TRUE(holds(condition, value, first, second));
    if (box->count("n") && first.max < last[0])
      EXPECT_FALSE(holds(condition, value, {first.max + 1, first.max + 1}, second));
    if (box->count("m") && second.min > 1)
      EXPECT_FALSE(holds(condition, value, first, {second.min - 1, second.min - 1}));
  }
}

// Of two wide dims not all sizes can be tried: what was not is not said to hold.
TEST_F(Ranges, endWhereTriesDo) {
  declare("n", 1, 40000, 20000);
  declare("m", 1, 40000, 20000);
  auto box = rangesWhere(symbolic::less(0, n() * m() - 7), true, symbols);
  ASSERT_TRUE(box.has_value());
  Range first = box->at("n"), second = box->at("m");
  EXPECT_LT(first.min, first.max);
  EXPECT_LE((first.max - first.min + 1) * (second.max - second.min + 1), (1 << 18) + 1);
}

} // namespace
} // namespace pellucid::trace
