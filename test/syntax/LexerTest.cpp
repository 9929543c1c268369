// SPDX-License-Identifier: Apache-2.0
#include "syntax/Lexer.h"

#include <gtest/gtest.h>

namespace pellucid::syntax {
namespace {

/// The tokens' texts separated by spaces; layout and f-string tokens by their names.
std::string spell(const std::string &text) {
  SourceFile file("test.py", text);
  TokenList list = tokenize(file);
  std::string out;
  for (const Token &token : list.tokens) {
    std::string written = text.substr(token.begin, token.end - token.begin);
    switch (token.kind) {
    case TokenKind::EndMarker:
      return out;
    case TokenKind::Error:
      return out + "error: " + list.error->message;
    case TokenKind::Newline:
      out += "NEWLINE ";
      break;
    case TokenKind::Indent:
      out += "INDENT ";
      break;
    case TokenKind::Dedent:
      out += "DEDENT ";
      break;
    case TokenKind::FStringMiddle:
      out += "<" + written + "> ";
      break;
    default:
      out += written + " ";
    }
  }
  return out + "no end";
}

const std::vector<Token> tokensOf(const std::string &text) {
  return tokenize(SourceFile("test.py", text)).tokens;
}

TEST(Lexer, IndentationFollowsOnlyLinesWithCode) {
  EXPECT_EQ(spell("if x:\n    a\n\n  # odd comment\n        # another\n    b\nc"),
            "if x : NEWLINE INDENT a NEWLINE b NEWLINE DEDENT c NEWLINE ");
}

TEST(Lexer, EndOfFileClosesEveryBlock) {
  EXPECT_EQ(spell("if x:\n  if y:\n    z"),
            "if x : NEWLINE INDENT if y : NEWLINE INDENT z NEWLINE DEDENT DEDENT ");
}

TEST(Lexer, TabsCountToTheNextMultipleOfEight) {
  EXPECT_EQ(spell("if x:\n\ta\n\tb"), "if x : NEWLINE INDENT a NEWLINE b NEWLINE DEDENT ");
  EXPECT_EQ(
      spell("if x:\n\ta\n        b"),
      "if x : NEWLINE INDENT a NEWLINE error: inconsistent use of tabs and spaces in indentation");
}

TEST(Lexer, FormFeedResetsTheColumn) { EXPECT_EQ(spell("a\n  \fb"), "a NEWLINE b NEWLINE "); }

TEST(Lexer, BracketsAndBackslashesJoinLines) {
  EXPECT_EQ(spell("(a,\n\n  # c\n b)\nx = \\\n 1"), "( a , b ) NEWLINE x = 1 NEWLINE ");
  EXPECT_EQ(spell("if x:\n  \\\n     a\n  b"), "if x : NEWLINE INDENT a NEWLINE b NEWLINE DEDENT ");
}

TEST(Lexer, EveryLineEnding) {
  EXPECT_EQ(spell("a\r\nb\rc\n"), "a NEWLINE b NEWLINE c NEWLINE ");
  EXPECT_EQ(tokensOf("a\r\nb\rc\n")[4].range.line, 3u);
}

TEST(Lexer, LongestOperatorWins) {
  EXPECT_EQ(spell("a**=b//=c<<=d>>=e->f:=g...h!=i"),
            "a **= b //= c <<= d >>= e -> f := g ... h != i NEWLINE ");
  EXPECT_EQ(spell("a* *b< <=c....d"), "a * * b < <= c ... . d NEWLINE ");
}

TEST(Lexer, NumbersEndWhereANumberEnds) {
  EXPECT_EQ(spell("1..real 1.e5j .5_0 0x_Ff 0b1_0 1if 1else"),
            "1. . real 1.e5j .5_0 0x_Ff 0b1_0 1 if 1 else NEWLINE ");
}

TEST(Lexer, StringPrefixesInEveryCase) {
  EXPECT_EQ(spell("r'' Rb\"\" bR'''a\n'b''' u'' f'' name''"),
            "r'' Rb\"\" bR'''a\n'b''' u'' f' ' name '' NEWLINE ");
}

TEST(Lexer, KeywordsAreNotPrefixes) {
  auto tokens = tokensOf("iff if yields yield Nones None match");
  std::vector<TokenKind> kinds;
  for (const Token &token : tokens)
    kinds.push_back(token.kind);
  EXPECT_EQ(kinds, (std::vector{TokenKind::Name, TokenKind::KwIf, TokenKind::Name,
                                TokenKind::KwYield, TokenKind::Name, TokenKind::KwNone,
                                TokenKind::Name, TokenKind::Newline, TokenKind::EndMarker}));
}

TEST(Lexer, FStringsAreSplit) {
  EXPECT_EQ(spell("f'a{b}c{{d}}'"), "f' <a> { b } <c{{d}}> ' NEWLINE ");
  EXPECT_EQ(spell("f'{a!r:>{w}.3}'"), "f' { a ! r : <>> { w } <.3> } ' NEWLINE ");
  EXPECT_EQ(spell("f'{a!=b}{ {1:2}[1] }{c:=3}'"),
            "f' { a != b } { { 1 : 2 } [ 1 ] } { c : <=3> } ' NEWLINE ");
}

TEST(Lexer, FStringFieldsMayReuseTheQuotes) {
  EXPECT_EQ(spell("f'{d['k']}{f'{f'{1}'}'}'"),
            "f' { d [ 'k' ] } { f' { f' { 1 } ' } ' } ' NEWLINE ");
}

TEST(Lexer, FStringFieldsMaySpanLinesAndHoldComments) {
  EXPECT_EQ(spell("f'{\na # '}\n}'"), "f' { a } ' NEWLINE ");
}

TEST(Lexer, ColumnsAreBytesFromOne) {
  Token token = tokensOf("é = ü + 变量")[4];
  EXPECT_EQ(token.range.column, 11u);
  EXPECT_EQ(token.range.endColumn, 17u);
}

TEST(Lexer, StringRangeSpansLines) {
  Token token = tokensOf("x = '''a\nbc'''")[2];
  EXPECT_EQ(token.range.line, 1u);
  EXPECT_EQ(token.range.column, 5u);
  EXPECT_EQ(token.range.endLine, 2u);
  EXPECT_EQ(token.range.endColumn, 6u);
}

} // namespace
} // namespace pellucid::syntax
