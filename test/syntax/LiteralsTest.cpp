// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParseSource.h"

#include <gtest/gtest.h>

namespace pellucid::syntax {
namespace {

std::string constant(const std::string &value) { return "Constant(value=" + value + ")"; }

TEST(Literals, IntegersBeyond64BitsKeepTheirDigits) {
  EXPECT_EQ(dumpExpression("9223372036854775807"), constant("9223372036854775807"));
  EXPECT_EQ(dumpExpression("9223372036854775808"), constant("9223372036854775808"));
  EXPECT_EQ(dumpExpression("0x1_0000_0000_0000_0000"), constant("18446744073709551616"));
  EXPECT_EQ(dumpExpression("0o2000000000000000000000000"), constant("9444732965739290427392"));
  // 2**100 has a limb of zeros in base 10**9.
  EXPECT_EQ(dumpExpression("0b1" + std::string(100, '0')),
            constant("1267650600228229401496703205376"));
  EXPECT_EQ(dumpExpression("0x" + std::string(50, '0') + "7"), constant("7"));
}

TEST(Literals, IntegersAreLimitedLikeCPythons) {
  EXPECT_EQ(errorOf(std::string(4300, '9')), "no error");
  EXPECT_EQ(
      errorOf(std::string(4301, '9')),
      "1:1: exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits");
  EXPECT_EQ(errorOf("0x" + std::string(3572, 'f')),
            "1:1: integer literal has more than 4300 decimal digits");
}

TEST(Literals, FloatsRoundCorrectlyAndSaturate) {
  EXPECT_EQ(dumpExpression("9007199254740993.0"), constant("9007199254740992.0"));
  EXPECT_EQ(dumpExpression("1e400"), constant("inf"));
  EXPECT_EQ(dumpExpression("1e-400"), constant("0.0"));
  EXPECT_EQ(dumpExpression("0." + std::string(400, '0') + "1e500"), constant("1e+99"));
  EXPECT_EQ(dumpExpression("1" + std::string(400, '0') + "e-500"), constant("1e-100"));
  EXPECT_EQ(dumpExpression("5e-324"), constant("5e-324"));
  EXPECT_EQ(dumpExpression("1_0.5e1_0J"), constant("105000000000j"));
}

TEST(Literals, EscapesAreDecoded) {
  EXPECT_EQ(dumpExpression(R"('\a\b\f\n\r\t\v\\\'\"\101\x41\u00e9\U0001F600')"),
            constant(R"('\x07\x08\x0c\n\r\t\x0b\\\'"AAé😀')"));
  EXPECT_EQ(dumpExpression(R"('\q\d')"), constant(R"('\\q\\d')"));
  EXPECT_EQ(dumpExpression(R"(b'\xff\777\u0041')"), constant(R"(b'\xff\xff\\u0041')"));
  EXPECT_EQ(dumpExpression("'a\\\nb\\\r\nc'"), constant("'abc'"));
  EXPECT_EQ(dumpExpression("r'\\n\\''"), constant(R"("\\n\\'")"));
}

TEST(Literals, SurrogatesStayApart) {
  EXPECT_EQ(dumpExpression(R"('\ud83d\ude00')"), constant(R"('\ud83d\ude00')"));
}

TEST(Literals, AdjacentStringsAreOne) {
  EXPECT_EQ(dumpExpression("'a' \"b\" '''c'''"), constant("'abc'"));
  EXPECT_EQ(dumpExpression("u'a' 'b'"), "Constant(value='ab', kind='u')");
}

TEST(Literals, NamedEscapesAreRefusedAloud) {
  EXPECT_EQ(errorOf("x = '\\N{DASH}'"),
            "1:5: named character escapes (\\N{...}) are not supported; write \\uXXXX or "
            "the character itself");
}

TEST(Literals, LineEndingsInStringsBecomeNewlines) {
  EXPECT_EQ(dumpExpression("'''a\r\nb\rc\nd'''"), constant(R"('a\nb\nc\nd')"));
}

} // namespace
} // namespace pellucid::syntax
