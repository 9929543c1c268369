// SPDX-License-Identifier: Apache-2.0
#include "archive/SymbolicText.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace pellucid;
using archive::parseSymbolic;

static std::string read(const std::string &text) {
  std::string error;
  auto expr = parseSymbolic(text, error);
  return expr ? expr->text() : "error: " + error;
}

static constexpr const char *s = "Symbol('s27', positive=True, integer=True)";

TEST(SymbolicText, ReadsWhatSympyWrites) {
  std::string size(s);
  EXPECT_EQ(read("s27"), "s27");
  EXPECT_EQ(read(size), "s27");
  EXPECT_EQ(read("Integer(-3)"), "-3");
  EXPECT_EQ(read("Mul(Integer(48), " + size + ")"), "s27*48");
  EXPECT_EQ(read("Add(" + size + ", Integer(-1), Symbol('u0', integer=True))"),
            read("Add(Symbol('u0'), " + size + ", Integer(-1))"));
  EXPECT_EQ(read("Pow(" + size + ", Integer(2))"), read("Mul(" + size + ", " + size + ")"));
  EXPECT_EQ(read("FloorDiv(" + size + ", Integer(4))"), "s27//4");
  EXPECT_EQ(read("Mod(" + size + ", Integer(4))"), "Mod(s27, 4)");
  EXPECT_EQ(read("Max(Integer(2), " + size + ")"), read("Max(" + size + ", Integer(2))"));
}

// Values, so that other ways to write the same are free.
TEST(SymbolicText, KeepsFractionsUntilTheyAreRounded) {
  std::string size(s), error;
  for (auto [text, expected] :
       {std::pair<std::string, int64_t (*)(int64_t)>{
            "floor(Add(Rational(1, 2), Mul(Rational(3, 2), " + size + ")))",
            [](int64_t n) { return (3 * n + 1) / 2; }},
        {"ceiling(Mul(Rational(1, 4), " + size + "))", [](int64_t n) { return (n + 3) / 4; }},
        {"CeilToInt(IntTrueDiv(" + size + ", Integer(4)))", [](int64_t n) { return (n + 3) / 4; }},
        {"floor(Mul(" + size + ", Pow(Integer(3), Integer(-1))))", [](int64_t n) { return n / 3; }},
        {"Mul(Rational(1, 2), Mul(Integer(4), " + size + "))", [](int64_t n) { return 2 * n; }},
        {"CeilToInt(FloatTrueDiv(Add(ToFloat(Mul(Integer(-1), " + size +
             ")), Mul(Integer(-1), ToFloat(" + size + "))), Float('-1.0', precision=53)))",
         [](int64_t n) { return 2 * n; }},
        {"TruncToInt(Mul(Float('-1.5', precision=53), ToFloat(" + size + ")))",
         [](int64_t n) { return -3 * n / 2; }},
        {"FloorToInt(Mul(Float('2.5e-1', precision=53), " + size + "))",
         [](int64_t n) { return n / 4; }},
        {"ModularIndexing(" + size + ", Integer(2), Integer(5))",
         [](int64_t n) { return n / 2 % 5; }},
        {"Where(StrictLessThan(" + size + ", Integer(7)), Integer(1), " + size + ")",
         [](int64_t n) { return n < 7 ? 1 : n; }},
        {"Piecewise(ExprCondPair(Mul(Integer(2), " + size + "), StrictGreaterThan(" + size +
             ", Integer(4))), ExprCondPair(Integer(7), Eq(" + size +
             ", Integer(2))), ExprCondPair(" + size + ", true))",
         [](int64_t n) { return n > 4    ? 2 * n
                                : n == 2 ? 7
                                         : n; }},
        {"And(Eq(Mod(" + size + ", Integer(2)), Integer(0)), GreaterThan(" + size +
             ", Integer(4)))",
         [](int64_t n) { return int64_t(n % 2 == 0 && n >= 4); }}}) {
    auto expr = parseSymbolic(text, error);
    ASSERT_TRUE(expr) << error;
    for (int64_t n = 1; n < 40; ++n)
      EXPECT_EQ(symbolic::evaluate(*expr, {{"s27", n}}), expected(n)) << text << " at " << n;
  }
}

// Sizes by a scale: PyTorch multiplies doubles.
TEST(SymbolicText, ReadsDecimalScalesWhereFloorsAgree) {
  std::string size(s), error;
  for (const char *number : {"0.1", "0.2", "0.3", "0.4", "0.6", "0.8", "0.9", "1.2", "1.3",
                             "0.33333333333333331", "0.6666666666666666", "2.2999999999999998"})
    for (const char *rounded : {"TruncToInt", "CeilToInt"}) {
      double scale = std::stod(number);
      auto expr = parseSymbolic(std::string(rounded) + "(Mul(Float('" + number +
                                    "', precision=53), ToFloat(" + size + ")))",
                                error);
      if (!expr)
        continue; // not near enough to its fraction: refused
      for (int64_t n = 1; n < 70'000; n = n * 5 / 4 + 1 + n % 7)
        for (int64_t at = n; at < n + 16; ++at) {
          double product = scale * static_cast<double>(at);
          ASSERT_EQ(symbolic::evaluate(*expr, {{"s27", at}}),
                    rounded[0] == 'T' ? std::floor(product) : std::ceil(product))
              << rounded << " of " << number << " at " << at;
        }
    }
  for (const char *number : {"0.1", "0.3", "0.4", "0.6", "0.9"})
    EXPECT_TRUE(parseSymbolic("TruncToInt(Mul(Float('" + std::string(number) +
                                  "', precision=53), ToFloat(" + size + ")))",
                              error))
        << number << error;
}

// What is written is read back as the same expression, conditions and numbers of them too.
TEST(SymbolicText, WritesWhatItReads) {
  using namespace pellucid::archive;
  using namespace symbolic;
  const Expr n = Expr::symbol("s1"), u = Expr::symbol("u0");
  std::string error;
  for (const Expr &size :
       {select(less(n, 5), n * 2, max(n, u)), n + less(u, n), floorDiv(n + 7, 8) * 8, mod(u, 3)}) {
    auto text = printSymbolic(size);
    ASSERT_TRUE(text);
    EXPECT_EQ(parseSymbolic(*text, error), size) << *text << error;
  }
  for (const Expr &condition :
       {logicalAnd(less(n, 5), notEqual(u, 2)), logicalOr(equal(n, u), lessEqual(u, 0)),
        logicalNot(equal(mod(n, 2), 0))}) {
    auto text = printSymbolicCondition(condition);
    ASSERT_TRUE(text);
    EXPECT_EQ(parseSymbolic(*text, error), condition) << *text << error;
  }
  EXPECT_NE(printSymbolic(u)->find("integer=True"), std::string::npos);
  EXPECT_EQ(printSymbolic(u)->find("positive"), std::string::npos);
  EXPECT_FALSE(printSymbolic(nextPowerOf2(n)));
}

TEST(SymbolicText, RefusesByName) {
  std::string size(s);
  EXPECT_NE(read("OpaqueUnaryFn_sqrt(" + size + ")").find("'OpaqueUnaryFn_sqrt(…)'"),
            std::string::npos);
  EXPECT_NE(read("Mul(Rational(1, 2), " + size + ")").find("fraction"), std::string::npos);
  // 0.7 of 360 are 251.99… in doubles: no fraction has the same floor.
  for (const char *number : {"Float('0.7', precision=53)", "Float('3.14159', precision=53)",
                             "Float('1e-30', precision=53)", "Float('1e300', precision=53)",
                             "Float('nan', precision=53)", "Float('inf', precision=53)"})
    EXPECT_NE(read(number).find("small numbers"), std::string::npos) << number;
  EXPECT_NE(read("Float(1.5)").find("quotes"), std::string::npos);
  EXPECT_NE(read("Integer(99999999999999999999)").find("64-bit"), std::string::npos);
  EXPECT_NE(read("Mul(Integer(4611686018427387904), Integer(4))").find("64 bits"),
            std::string::npos);
  EXPECT_NE(read("Pow(" + size + ", " + size + ")").find("power"), std::string::npos);
  EXPECT_NE(read("FloorDiv(" + size + ")").find("1 operands"), std::string::npos);
  EXPECT_NE(read("Symbol('')").find("symbol"), std::string::npos);
  EXPECT_NE(read("Piecewise(ExprCondPair(1, Lt(" + size + ", 2)))").find("may not hold"),
            std::string::npos);
  EXPECT_NE(read("Piecewise(" + size + ")").find("pair"), std::string::npos);
  EXPECT_NE(read("Piecewise(ExprCondPair(1))").find("1 parts"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 10'000; ++i)
    deep += "floor(";
  EXPECT_NE(read(deep).find("nested"), std::string::npos);
  for (const char *text :
       {"", "Mul(", "Mul()", "Symbol('s', ", "1 2", ")", "FloorDiv(1, 0)", "Pow(0, -1)"})
    (void)read(text);
}
