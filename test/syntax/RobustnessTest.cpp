// SPDX-License-Identifier: Apache-2.0
/// Nothing a file may hold crashes the parser, makes it hang or lets it overflow the stack.
#include "syntax/ParseSource.h"

#include <gtest/gtest.h>

#include <random>

namespace pellucid::syntax {
namespace {

std::string readInput(const std::string &name) {
  auto file = SourceFile::open(std::string(PELLUCID_SOURCE_DIR "/test/syntax/inputs/") + name);
  return file ? file->text() : "";
}

const char *const inputs[] = {"softmax_kernel.py", "grammar.py", "crlf.py"};

std::string repeated(std::string_view piece, size_t count) {
  std::string out;
  while (count--)
    out += piece;
  return out;
}

TEST(Robustness, EveryTruncation) {
  for (const char *name : inputs) {
    std::string text = readInput(name);
    ASSERT_FALSE(text.empty()) << name;
    size_t accepted = 0;
    for (size_t length = 0; length < text.size(); ++length)
      accepted += errorOf(text.substr(0, length)) == "no error";
    EXPECT_GT(accepted, 0u) << name;
    EXPECT_LT(accepted, text.size()) << name;
  }
}

TEST(Robustness, ChangedBytes) {
  std::mt19937 random(20260101);
  const std::string interesting = "\n\r\t\\ '\"{}()[]:=!fb#0_*,.\xC3";
  for (const char *name : inputs) {
    std::string text = readInput(name);
    size_t refused = 0;
    for (int round = 0; round < 2000; ++round) {
      std::string changed = text;
      for (unsigned changes = 1 + random() % 3; changes--;) {
        char byte =
            random() % 2 ? interesting[random() % interesting.size()] : static_cast<char>(random());
        changed[random() % changed.size()] = byte;
      }
      std::string error = errorOf(changed);
      bool hasMessage = error == "no error" || error.find(": ") + 2 < error.size();
      ASSERT_TRUE(hasMessage) << "round " << round << " of " << name << ": " << error;
      refused += error != "no error";
    }
    EXPECT_GT(refused, 0u) << name;
  }
}

TEST(Robustness, ErrorsPointIntoTheText) {
  std::mt19937 random(7);
  std::string text = readInput("grammar.py");
  for (int round = 0; round < 500; ++round) {
    std::string changed = text;
    changed[random() % changed.size()] = "()[]{}'\"\\"[random() % 9];
    try {
      parseSource(changed);
    } catch (const DiagnosticError &error) {
      const SourceLocation &where = error.diagnostic.location;
      ASSERT_GE(where.range.line, 1u);
      ASSERT_GE(where.range.column, 1u);
      ASSERT_LE(where.range.line, where.file->lineCount());
      ASSERT_LE(where.range.column, where.file->line(where.range.line).size() + 2) << error.what();
    }
  }
}

TEST(Robustness, DeepNestingIsAnError) {
  const std::string deep = "code is nested too deeply";
  EXPECT_EQ(errorOf(repeated("(", 201) + "x" + repeated(")", 201)),
            "1:201: too many nested parentheses");
  EXPECT_EQ(errorOf(repeated("(", 200) + "x" + repeated(")", 200)), "no error");
  for (const char *piece : {"-", "not ", "lambda: ", "x if y else ", "x ** ", "~"})
    EXPECT_NE(errorOf(repeated(piece, 100000) + "x").find(deep), std::string::npos) << piece;
  EXPECT_NE(errorOf(repeated("f'{", 200) + "x").find("too many nested f-strings"),
            std::string::npos);
  std::string blocks;
  for (size_t i = 0; i < 101; ++i)
    blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_NE(errorOf(blocks + std::string(101, ' ') + "y").find("too many levels of indentation"),
            std::string::npos);
}

/// A loop builds these trees without recursion, but whoever walks or frees them recurses.
TEST(Robustness, LongChainsAreAnError) {
  const std::string tooLong = "expression or statement chain is too long";
  for (const char *piece : {" + x", ".x", "()", "[0]"}) {
    EXPECT_EQ(errorOf("x" + repeated(piece, 2000)), "no error") << piece;
    EXPECT_NE(errorOf("x" + repeated(piece, 100000)).find(tooLong), std::string::npos) << piece;
  }
  EXPECT_NE(errorOf("if x: y\n" + repeated("elif x: y\n", 100000)).find(tooLong),
            std::string::npos);
  // A chain per level of brackets adds up as well.
  std::string layered = "x";
  for (int i = 0; i < 100; ++i)
    layered = "(" + layered + repeated("+x", 100) + ")";
  EXPECT_NE(errorOf(layered).find(tooLong), std::string::npos);
}

TEST(Robustness, WideTreesAreFine) {
  EXPECT_EQ(errorOf("x = [" + repeated("a.b + c.d, ", 50000) + "]"), "no error");
  EXPECT_EQ(errorOf("if x:\n" + repeated("  a.b.c(d).e\n", 50000)), "no error");
  EXPECT_EQ(errorOf("x = a" + repeated(" and a", 50000) + repeated(" < a", 50000)), "no error");
  EXPECT_EQ(errorOf("x = (" + repeated("'a'\n", 50000) + ")"), "no error");
  EXPECT_EQ(errorOf("{" + repeated("**a.b, ", 50000) + "}"), "no error");
}

TEST(Robustness, BadBytesAreRefused) {
  EXPECT_EQ(errorOf("x = 1\ny = '\xFF'"), "2:6: source is not valid UTF-8: byte 0xff");
  EXPECT_EQ(errorOf("x = '\xED\xA0\x80'"), "1:6: source is not valid UTF-8: byte 0xed");
  EXPECT_EQ(errorOf(std::string("x\0y", 3)), "1:2: source code cannot contain null bytes");
  EXPECT_EQ(errorOf("# coding: koi8-r\nx = '\xC1'"),
            "1:1: source encoding 'koi8-r' is not supported; save the file as UTF-8");
}

} // namespace
} // namespace pellucid::syntax
