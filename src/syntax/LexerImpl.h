// SPDX-License-Identifier: Apache-2.0
/// The state shared by Lexer.cpp, LexNumbers.cpp and LexStrings.cpp; nobody else includes it.
#pragma once

#include "syntax/Lexer.h"

namespace pellucid::syntax {

/// One pass over the text. Errors leave as LexError and are caught by tokenize().
class Lexer {
public:
  explicit Lexer(const SourceFile &file);
  void run();

  std::vector<Token> tokens;

private:
  struct Mark {
    const char *at;
    uint32_t line, column;
  };
  /// An open bracket; `field` is an f-string's `{`.
  struct Bracket {
    char open;
    bool field;
    Mark mark;
  };
  struct FString {
    char quote;
    bool triple, raw;
    bool inLiteral; ///< in literal text, not between the braces of a field
    Mark mark;
    size_t bracketsBelow; ///< how many brackets were open at its start
  };
  struct Indentation {
    uint32_t column, tabColumn; ///< with tabs to eight, and with tabs counted as one
  };

  Mark mark() const { return {p, line, static_cast<uint32_t>(p - lineStart) + 1}; }
  char peek(size_t n) const { return static_cast<size_t>(end - p) > n ? p[n] : '\0'; }
  bool atNewline() const { return *p == '\n' || *p == '\r'; }
  void takeNewline();
  void emit(TokenKind kind, const Mark &from);
  [[noreturn]] void fail(const Mark &from, std::string message) const;
  [[noreturn]] void failAt(const Mark &at, std::string message) const;

  void lexLineStart();
  void applyIndentation(uint32_t column, uint32_t tabColumn);
  void takeContinuation();
  void skipComment();
  void lexToken();
  void finish();

  void lexNameOrString();
  void takeIdentifierTail();
  void takeUnicodeIdentifierCharacter(bool first);
  void lexPunctuation();
  void openBracket(TokenKind kind);
  void closeBracket(TokenKind kind);
  void lexColon();

  void lexNumber();
  void takeDigits(bool (*isDigit)(char), const char *invalid);
  void takeRadixNumber(bool (*isDigit)(char), const char *name);
  void takeExponent();
  void checkEndOfNumber(const char *name);

  void lexString(const Mark &from, size_t prefixLength);
  void lexPlainString(const Mark &from, char quote, bool triple);
  bool closesEnclosingFString(char quote, bool triple) const;
  void lexFStringLiteral();
  bool atFStringEnd(const FString &string) const;
  void endFString(const Mark &from);
  void skipFStringEscape(const FString &string);
  void openField();
  bool takeLiteralBrace(const Mark &from, bool inSpec);
  [[noreturn]] void failUnterminated(const FString &string) const;

  const char *begin, *end, *p, *lineStart;
  uint32_t line = 1;
  bool atLineStart = true, done = false;
  std::vector<Bracket> brackets;
  std::vector<FString> fstrings;
  std::vector<Indentation> indentations{{0, 0}};
};

} // namespace pellucid::syntax
