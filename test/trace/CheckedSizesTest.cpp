// SPDX-License-Identifier: Apache-2.0
/// What a program checked of sizes is known afterwards, in every form in which the check can be
/// written; what it did not check is not.
#include "trace/CheckedSizes.h"

#include <gtest/gtest.h>

namespace pellucid::trace {
namespace {

using symbolic::Expr;

class CheckedSizesTest : public testing::Test {
protected:
  symbolic::SymbolTable symbols;
  CheckedSizes checked;
  Expr a = Expr::symbol("a"), b = Expr::symbol("b"), c = Expr::symbol("c"), d = Expr::symbol("d");

  void SetUp() override {
    for (const char *name : {"a", "b", "c", "d"})
      symbols.declare(name, {{2, 1000}, 1, {}});
  }
  static Expr equal(const Expr &x, const Expr &y) { return symbolic::equal(x, y); }
  bool areEqual(const Expr &x, const Expr &y) const { return checked.areEqual(symbols, x, y); }
};

TEST_F(CheckedSizesTest, nothingIsKnownOfNothing) {
  EXPECT_TRUE(checked.isEmpty());
  EXPECT_FALSE(areEqual(a, b));
  EXPECT_TRUE(areEqual(a + b, b + a));
}

TEST_F(CheckedSizesTest, oneEquationIsUsedInAnother) {
  checked.learn(equal(a + b + c, 9));
  EXPECT_TRUE(areEqual(c, Expr(9) - a - b));
  EXPECT_FALSE(areEqual(c, Expr(9) - a));
  checked.learn(equal(b, 3));
  EXPECT_TRUE(areEqual(a + c, 6));
  EXPECT_FALSE(areEqual(a + c, 9));
  checked.learn(equal(c, 2));
  EXPECT_TRUE(areEqual(a, 4));
  EXPECT_TRUE(areEqual(a * b, 12));
}

/// Symbols that are subtracted give their value as those that are added do.
TEST_F(CheckedSizesTest, aSymbolThatIsSubtracted) {
  checked.learn(equal(9, a + b));
  checked.learn(equal(7, b));
  EXPECT_TRUE(areEqual(a, 2));
  EXPECT_TRUE(areEqual(Expr(3) * a, 6));
  EXPECT_FALSE(areEqual(a, 16));
}

/// Only the one that is subtracted has a value, and the next check goes on with it.
TEST_F(CheckedSizesTest, theSubtractedOneOfTwoStandsForTheOther) {
  checked.learn(equal(Expr(2) * a - d, 3));
  checked.learn(equal(Expr(4) * b - d, 5));
  EXPECT_TRUE(areEqual(Expr(4) * b, Expr(2) * a + 2));
  EXPECT_FALSE(areEqual(Expr(4) * b, Expr(2) * a + 3));
}

TEST_F(CheckedSizesTest, aSymbolWithAFactorBesideOneWithout) {
  checked.learn(equal(Expr(2) * d + a, 12));
  checked.learn(equal(d, 4));
  EXPECT_TRUE(areEqual(a, 4));
  EXPECT_FALSE(areEqual(a, 20));
}

TEST_F(CheckedSizesTest, bothSidesOfAnAnd) {
  checked.learn(symbolic::logicalAnd(equal(a, b), equal(c, 5)));
  EXPECT_TRUE(areEqual(a, b));
  EXPECT_TRUE(areEqual(c, 5));
  EXPECT_FALSE(areEqual(a, c));
}

/// Neither symbol has a value of its own, but what is a multiple of the check is known, and what
/// the check is a multiple of.
TEST_F(CheckedSizesTest, multiplesOfAProductThatWasChecked) {
  checked.learn(equal(Expr(2) * a, Expr(3) * b));
  EXPECT_TRUE(areEqual(Expr(4) * a, Expr(6) * b));
  EXPECT_FALSE(areEqual(Expr(4) * a, Expr(3) * b));
  checked.learn(equal(Expr(4) * c * d, 48));
  EXPECT_TRUE(areEqual(c * d, 12));
  EXPECT_TRUE(areEqual(Expr(8) * c * d, 96));
  EXPECT_FALSE(areEqual(c * d, 48));
}

} // namespace
} // namespace pellucid::trace
