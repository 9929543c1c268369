// SPDX-License-Identifier: Apache-2.0
#include "symbolic/Expr.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

using namespace pellucid::symbolic;

namespace {
const Expr b = Expr::symbol("b"), n = Expr::symbol("n"), x = Expr::symbol("x");

// Equal under the rules means the same node, whichever way it was written.
TEST(Canonical, sumsAndProductsAreOnePolynomial) {
  EXPECT_EQ(x * 64 + 64, (x + 1) * 64);
  EXPECT_EQ((x + n) * (x - n), x * x - n * n);
  EXPECT_EQ(x + n + x, x * 2 + n);
  EXPECT_EQ(x - x, Expr(0));
  EXPECT_EQ(-(-x), x);
  EXPECT_EQ((x * n) * b, b * (n * x));
}

TEST(Canonical, divisionGivesUpWhatDividesExactly) {
  EXPECT_EQ(floorDiv(b * 64, 64), b);
  EXPECT_EQ(floorDiv(b * 64 + 5, 64), b);
  EXPECT_EQ(floorDiv(b * 128 + n, 64), b * 2 + floorDiv(n, 64));
  EXPECT_EQ(floorDiv(b * n, n), b);
  EXPECT_EQ(floorDiv((b + n) * 6, b + n), Expr(6));
  EXPECT_EQ(floorDiv(floorDiv(n, 4), 8), floorDiv(n, 32));
  EXPECT_EQ(floorDiv(b * 4, 6), floorDiv(b * 2, 3));
  EXPECT_EQ(mod(b * 64, 64), Expr(0));
  EXPECT_EQ(mod(b * 65, 64), mod(b, 64));
  EXPECT_EQ(mod(b * n, n), Expr(0));
  EXPECT_EQ(mod(mod(n, 16), 4), mod(n, 4));
  EXPECT_EQ(floorDiv(Expr(-7), 2), Expr(-4));
  EXPECT_EQ(mod(Expr(-7), 2), Expr(1));
  EXPECT_EQ(mod(Expr(7), -2), Expr(-1));
}

TEST(Canonical, ceilingDivisionByAConstantIsTheIdiom) {
  EXPECT_EQ(ceilDiv(n, 1024), floorDiv(n + 1023, 1024));
  EXPECT_EQ(ceilDiv(b * 64, 64), b);
  EXPECT_EQ(ceilDiv(b * n, n), b);
  EXPECT_EQ(ceilDiv(n, b).text(), "CeilDiv(n, b)");
  EXPECT_EQ(ceilDiv(Expr(-7), 2), Expr(-3));
}

// A size with the padding that makes it a multiple is one, whichever way the padding is written.
TEST(Canonical, aSizeWithItsPaddingIsRoundedUp) {
  const Expr up = ceilDiv(n, 8) * 8;
  EXPECT_EQ(n + mod(-n, 8), up);
  EXPECT_EQ(n + mod(Expr(8) - mod(n, 8), 8), up);
  EXPECT_EQ(b * n + b * 3 + mod(-(b * n) - b * 3, 4), ceilDiv(b * n + b * 3, 4) * 4);
  EXPECT_EQ(n * 2 + mod(-n, 8) * 2 + 1, up * 2 + 1);
  EXPECT_EQ(floorDiv(n + mod(-n, 8), 8), ceilDiv(n, 8));
  EXPECT_EQ(mod(mod(n, 8) * 3 + 1, 4), mod(n * 3 + 1, 4));
  EXPECT_EQ(n - mod(n, 8), floorDiv(n, 8) * 8);
  EXPECT_EQ(-n - mod(-n, 8), -up);
  EXPECT_EQ(equal(n + mod(-n, 8), 4), Expr(0));
  EXPECT_EQ(equal(Expr(4) - n, mod(-n, 8)), Expr(0));
  // Nothing else changes.
  EXPECT_NE(n - mod(-n, 8), up);
  EXPECT_NE(n * 2 + mod(-n, 8), up);
}

// What strided windows make of a size, one after another.
TEST(Canonical, quotientsOfQuotientsAreOne) {
  EXPECT_EQ(floorDiv(floorDiv(n + 1, 2) + 1, 2), floorDiv(n + 3, 4));
  EXPECT_EQ(floorDiv(floorDiv(n - 1, 2) + b, 3), floorDiv(n - 1 + b * 2, 6));
  EXPECT_EQ(floorDiv(floorDiv(floorDiv(n - 1, 2), 2) + 1, 2), floorDiv(n + 3, 8));
  // Of several none is the one.
  EXPECT_EQ(floorDiv(floorDiv(n, 2) + floorDiv(b, 2), 2).op(), ExprOp::FloorDiv);
  // Their order is known where what they divide is apart by a constant.
  EXPECT_EQ(min(floorDiv(n + 1, 4) + 1, floorDiv(n + 3, 4)), floorDiv(n + 3, 4));
  EXPECT_EQ(max(floorDiv(n + 1, 4) + 1, floorDiv(n + 3, 4)), floorDiv(n + 1, 4) + 1);
  EXPECT_EQ(min(floorDiv(n, 4), floorDiv(n + 3, 4)), floorDiv(n, 4));
  EXPECT_EQ(min(floorDiv(n, 4) + 1, floorDiv(n + 3, 4)), floorDiv(n + 3, 4));
  EXPECT_EQ(min(floorDiv(n, 4) + 1, floorDiv(n + 5, 4)).op(), ExprOp::Add);
  EXPECT_EQ(min(floorDiv(n, 4) * 2, floorDiv(n + 3, 4)).op(), ExprOp::Min);
}

TEST(Canonical, nestedExtremaAreFlat) {
  EXPECT_EQ(min(min(b, n), x), min(b, min(x, n)));
  EXPECT_EQ(min(n, n + 3), n);
  EXPECT_EQ(max(max(n, 4), 7), max(n, 7));
  EXPECT_EQ(min(n, max(n, b)), n);
  EXPECT_EQ(min(n, max(n, b)), n);
}

TEST(Canonical, comparisonsHaveFixedSides) {
  EXPECT_EQ(less(n, 1025), lessEqual(n, 1024));
  EXPECT_EQ(lessEqual(b * 64, 128), lessEqual(b, 2));
  EXPECT_EQ(lessEqual(b * 64, 130), lessEqual(b, 2));
  EXPECT_EQ(equal(b * 64, 128), equal(Expr(2), b));
  EXPECT_EQ(equal(b * 64, 100), Expr(0));
  EXPECT_EQ(logicalNot(less(b, n)), lessEqual(n, b));
  EXPECT_EQ(logicalAnd(less(b, n), lessEqual(n, b)), Expr(0));
  EXPECT_EQ(logicalNot(logicalAnd(equal(b, 1), less(n, 5))),
            logicalOr(notEqual(b, 1), lessEqual(5, n)));
  EXPECT_EQ(select(less(n, 5), 1, 0), less(n, 5));
}

TEST(Text, isReadableAndReadsBack) {
  EXPECT_EQ((b * 64 + 1023).text(), "b*64 + 1023");
  EXPECT_EQ(ceilDiv(b * 64, 1024).text(), "(b*64 + 1023)//1024");
  EXPECT_EQ((-n - 3).text(), "-n - 3");
  EXPECT_EQ((floorDiv(n, 16) * 16).text(), "(n//16)*16");
  EXPECT_EQ(less(n, 1025).text(), "n <= 1024");
  EXPECT_EQ(lessEqual(1, n).text(), "1 <= n");
  EXPECT_EQ(select(equal(n, 1), b, x).text(), "Select(Eq(n, 1), b, x)");
  EXPECT_EQ(Expr(INT64_MIN).text(), "-9223372036854775808");
  EXPECT_EQ(parse("-9223372036854775808"), Expr(INT64_MIN));
  for (const Expr &lowest : {n + Expr(INT64_MIN), b + n * Expr(INT64_MIN), n * Expr(INT64_MIN),
                             max(n - b, n + Expr(INT64_MIN))})
    EXPECT_EQ(parse(lowest.text()), lowest) << lowest.text();
  EXPECT_EQ(parse("Min(b, n, 3)"), min(min(b, n), 3));
}

TEST(Text, anythingElseIsRefused) {
  for (const char *text :
       {"", "1 +", "(1", "a b", "Min(", "Foo(1, 2)", "Mod(1)", "Mod(1, 2, 3)", "1.5x)", "a <",
        "9223372036854775808", "9223372036854775807 + 1", "a[0]", "Not(1, 2)"})
    EXPECT_FALSE(parse(text)) << text;
  EXPECT_FALSE(parse(std::string(100000, '(')));
}

TEST(Overflow, whileFoldingThrowsAndWhileEvaluatingIsReported) {
  EXPECT_THROW(Expr(INT64_MAX) + 1, std::overflow_error);
  EXPECT_THROW(Expr(INT64_MAX) * 2, std::overflow_error);
  EXPECT_THROW(-Expr(INT64_MIN), std::overflow_error);
  EXPECT_THROW(floorDiv(INT64_MIN, -1), std::overflow_error);
  EXPECT_THROW(n * INT64_MAX + n, std::overflow_error);
  EXPECT_EQ(evaluate(n * n, {{"n", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(evaluate(n + 1, {{"n", INT64_MAX}}), std::nullopt);
  // A comparison that cannot be brought to its form stays as it was written, and right.
  EXPECT_EQ(evaluate(less(n, INT64_MIN), {{"n", 0}}), 0);
  EXPECT_EQ(evaluate(equal(n + INT64_MAX, -b), {{"n", 1 - INT64_MAX}, {"b", -1}}), 1);
}

TEST(Evaluate, unknownSymbolsAndZeroDivisorsHaveNoValue) {
  EXPECT_EQ(evaluate(n + b, {{"n", 1}}), std::nullopt);
  EXPECT_EQ(evaluate(floorDiv(n, b), {{"n", 1}, {"b", 0}}), std::nullopt);
  EXPECT_EQ(evaluate(select(equal(b, 0), 7, floorDiv(n, b)), {{"n", 1}, {"b", 0}}), 7);
}

TEST(Substitute, rewritesAndFolds) {
  EXPECT_EQ(substitute(ceilDiv(b * 64, 1024), {{"b", Expr(16)}}), Expr(1));
  EXPECT_EQ(substitute(b + n, {{"b", n}}), n * 2);
}

SymbolTable facts() {
  SymbolTable table;
  table.declare("b", {{1, 1024}, 1, 8});
  table.declare("n", {{0, 1 << 20}, 16, {}});
  table.declare("x", {{-5, 5}, 1, {}});
  return table;
}

TEST(Facts, rangesAndDivisors) {
  SymbolTable table = facts();
  EXPECT_EQ(table.range(b * 64).max, 65536);
  EXPECT_EQ(table.range(x * x).min, 0);
  EXPECT_EQ(table.range(mod(x, 4)).max, 3);
  EXPECT_EQ(table.range(floorDiv(x, 2)).min, -3);
  EXPECT_TRUE(table.isMultipleOf(b * 64, 16));
  EXPECT_FALSE(table.isMultipleOf(b * 8, 16));
  EXPECT_TRUE(table.isMultipleOf(n * b + 32, 16));
  EXPECT_EQ(table.hint(b * 64), 512);
  EXPECT_EQ(table.hint(n), std::nullopt);
}

TEST(Facts, aRemainderIsBelowItsDivisor) {
  SymbolTable table;
  table.declare("n", {{1, INT64_MAX}, 1, {}});
  table.declare("x", {{0, INT64_MAX}, 1, {}});
  EXPECT_EQ(table.prove(less(mod(-x, n), n)), true);
  EXPECT_EQ(table.prove(lessEqual(0, n - mod(-floorDiv(n, 2), n))), true);
  EXPECT_EQ(table.prove(lessEqual(2, n - mod(x, n))), std::nullopt);
  table.declare("n", {{0, INT64_MAX}, 1, {}});
  EXPECT_EQ(table.prove(less(mod(-x, n), n)), std::nullopt);
}

TEST(Facts, proofsHoldForTheWholeRange) {
  SymbolTable table = facts();
  EXPECT_EQ(table.prove(lessEqual(b, 1024)), true);
  EXPECT_EQ(table.prove(less(1024, b)), false);
  EXPECT_EQ(table.prove(less(b, 512)), std::nullopt);
  EXPECT_EQ(table.prove(equal(mod(n, 16), 0)), true);
  EXPECT_TRUE(table.proveEqual(floorDiv(n, 16) * 16, n));
  EXPECT_EQ(table.prove(equal(n, 5)), false);
  EXPECT_EQ(table.prove(lessEqual(min(b, n), b)), true);
  EXPECT_EQ(table.prove(lessEqual(floorDiv(x, 3) * 3, x)), true);
  EXPECT_EQ(table.prove(lessEqual(x, ceilDiv(x, 3) * 3)), true);
  EXPECT_EQ(table.prove(lessEqual(floorDiv(x, 3) + b, floorDiv(x + 2, 3) + b * 2)), true);
  EXPECT_EQ(table.prove(lessEqual(floorDiv(x + 2, 3), floorDiv(x, 3) + b)), true);
  EXPECT_EQ(table.prove(less(floorDiv(x + 2, 3), floorDiv(x, 3) + b)), std::nullopt);
  EXPECT_EQ(table.prove(logicalAnd(lessEqual(1, b), equal(n, 3))), false);
  EXPECT_EQ(table.prove(notEqual(b, 0)), true);
  table.declare("one", {{1, 1}, 1, {}});
  EXPECT_TRUE(table.proveEqual(Expr::symbol("one"), 1));
}

// Building the same expressions from many threads gives the same nodes.
TEST(Threads, nodesAreShared) {
  std::vector<const void *> seen(8);
  std::vector<Expr> kept(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Expr sum = 0;
      for (int i = 0; i < 200; ++i)
        sum = sum + Expr::symbol("s" + std::to_string(i % 17)) * i;
      kept[t] = sum;
      seen[t] = sum.identity();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const void *identity : seen)
    EXPECT_EQ(identity, seen[0]);
}
} // namespace
