// SPDX-License-Identifier: Apache-2.0
/// Expectations for what only Python 3.12 accepts, and for positions, are derived by hand from PEP
/// 701.
#include "syntax/ParseSource.h"

#include <gtest/gtest.h>

namespace pellucid::syntax {
namespace {

std::string joined(const std::string &values) { return "JoinedStr(values=[" + values + "])"; }
std::string text(const std::string &value) { return "Constant(value='" + value + "')"; }
std::string field(const std::string &value, const std::string &rest = "conversion=-1") {
  return "FormattedValue(value=" + value + ", " + rest + ")";
}
std::string name(const std::string &id) { return "Name(id='" + id + "', ctx=Load())"; }

TEST(FString, QuotesMayBeReused) {
  EXPECT_EQ(dumpExpression("f'{d['k']}'"), joined(field("Subscript(value=" + name("d") +
                                                        ", slice=" + text("k") + ", ctx=Load())")));
  EXPECT_EQ(dumpExpression("f'a{f'b{f'c'}'}'"),
            joined(text("a") + ", " + field(joined(text("b") + ", " + field(joined(text("c")))))));
}

TEST(FString, FieldsMayHoldBackslashesCommentsAndLines) {
  EXPECT_EQ(dumpExpression("f'{'\\n'}'"), joined(field(text("\\n"))));
  EXPECT_EQ(dumpExpression("f'{\n  a  # why: '}\n}'"), joined(field(name("a"))));
}

TEST(FString, NestedFormatSpecifications) {
  EXPECT_EQ(dumpExpression("f'{a:>{w}.{p}}'"),
            joined(field(name("a"), "conversion=-1, format_spec=" +
                                        joined(text(">") + ", " + field(name("w")) + ", " +
                                               text(".") + ", " + field(name("p"))))));
  EXPECT_EQ(
      dumpExpression("f'{a:{'>' + f'{w}'}}'"),
      joined(field(name("a"), "conversion=-1, format_spec=" +
                                  joined(field("BinOp(left=" + text(">") + ", op=Add(), right=" +
                                               joined(field(name("w"))) + ")")))));
}

TEST(FString, EqualsKeepsTheTextAsWritten) {
  EXPECT_EQ(dumpExpression("f'{a=}'"),
            joined(text("a=") + ", " + field(name("a"), "conversion=114")));
  EXPECT_EQ(dumpExpression("f'x{ a = !s:5}'"),
            joined(text("x a = ") + ", " +
                   field(name("a"), "conversion=115, format_spec=" + joined(text("5")))));
  EXPECT_EQ(dumpExpression("f'{a=:5}'"),
            joined(text("a=") + ", " +
                   field(name("a"), "conversion=-1, format_spec=" + joined(text("5")))));
}

TEST(FString, BracesInLiteralText) {
  EXPECT_EQ(dumpExpression("f'{{{a}}}'"),
            joined(text("{") + ", " + field(name("a")) + ", " + text("}")));
  EXPECT_EQ(dumpExpression("f'\\{a}'"), joined(text("\\\\") + ", " + field(name("a"))));
}

TEST(FString, ColonsAndMarksInsideBracketsBelongToTheExpression) {
  EXPECT_EQ(
      dumpExpression("f'{a[1:2]}{a!=b}'"),
      joined(field("Subscript(value=" + name("a") +
                   ", slice=Slice(lower=Constant(value=1), upper=Constant(value=2)), ctx=Load())") +
             ", " +
             field("Compare(left=" + name("a") + ", ops=[NotEq()], comparators=[" + name("b") +
                   "])")));
  // A walrus needs parentheses: this is a format specification "=1".
  EXPECT_EQ(dumpExpression("f'{a:=1}'"),
            joined(field(name("a"), "conversion=-1, format_spec=" + joined(text("=1")))));
}

TEST(FString, NeighboursAreMerged) {
  EXPECT_EQ(dumpExpression("'a' f'b{c}d' 'e' f''"),
            joined(text("ab") + ", " + field(name("c")) + ", " + text("de")));
  EXPECT_EQ(dumpExpression("f''"), joined(""));
}

TEST(FString, PartsKnowTheirPlaces) {
  auto module = parseSource("x = f'ab{ c!r:>{w}}d'");
  const auto *string = as<JoinedStr>(as<Assign>(module->body[0].get())->value.get());
  ASSERT_EQ(string->values.size(), 3u);
  EXPECT_EQ(rangeOf(*string), "1:5-1:22");
  EXPECT_EQ(rangeOf(*string->values[0]), "1:7-1:9");
  const auto *value = as<FormattedValue>(string->values[1].get());
  EXPECT_EQ(rangeOf(*value), "1:9-1:20");
  EXPECT_EQ(rangeOf(*value->value), "1:11-1:12");
  EXPECT_EQ(rangeOf(*value->formatSpec), "1:14-1:19");
  EXPECT_EQ(rangeOf(*string->values[2]), "1:20-1:21");
}

TEST(FString, PlacesOnLaterLines) {
  auto module = parseSource("f'''a\n{b +\n c}'''");
  const auto *string = as<JoinedStr>(as<ExprStmt>(module->body[0].get())->value.get());
  const auto *sum = as<BinOp>(as<FormattedValue>(string->values[1].get())->value.get());
  EXPECT_EQ(rangeOf(*sum->left), "2:2-2:3");
  EXPECT_EQ(rangeOf(*sum->right), "3:2-3:3");
}

} // namespace
} // namespace pellucid::syntax
