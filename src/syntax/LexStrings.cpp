// SPDX-License-Identifier: Apache-2.0
#include "syntax/LexerImpl.h"

namespace pellucid::syntax {

// CPython's limit.
static constexpr size_t MaxFStrings = 150;
static constexpr unsigned MaxFieldDepth = 2;

static bool hasPrefixLetter(const char *prefix, size_t length, char letter) {
  for (size_t i = 0; i < length; ++i)
    if ((prefix[i] | 32) == letter)
      return true;
  return false;
}

/// `p` is at the opening quote, `from` at the prefix.
void Lexer::lexString(const Mark &from, size_t prefixLength) {
  char quote = *p;
  bool triple = peek(1) == quote && peek(2) == quote;
  const char *prefix = p - prefixLength;
  if (!hasPrefixLetter(prefix, prefixLength, 'f'))
    return lexPlainString(from, quote, triple);
  if (fstrings.size() >= MaxFStrings)
    failAt(from, "too many nested f-strings");
  p += triple ? 3 : 1;
  emit(TokenKind::FStringStart, from);
  fstrings.push_back(
      {quote, triple, hasPrefixLetter(prefix, prefixLength, 'r'), true, from, brackets.size()});
}

/// A quote of the f-string's own kind inside a field starts a nested string; when that one does not
/// end, the likelier mistake is a missing `}`.
bool Lexer::closesEnclosingFString(char quote, bool triple) const {
  return !fstrings.empty() && fstrings.back().quote == quote && fstrings.back().triple == triple;
}

void Lexer::lexPlainString(const Mark &from, char quote, bool triple) {
  Mark open = mark();
  p += triple ? 3 : 1;
  for (;;) {
    if (*p == quote && (!triple || (peek(1) == quote && peek(2) == quote)))
      break;
    bool newline = atNewline();
    if (p == end || (newline && !triple)) {
      if (closesEnclosingFString(quote, triple))
        failAt(open, "f-string: expecting '}'");
      std::string kind =
          triple ? "unterminated triple-quoted string literal" : "unterminated string literal";
      uint32_t lastLine = triple && p == lineStart && line > 1 ? line - 1 : line;
      failAt(from, kind + " (detected at line " + std::to_string(lastLine) + ")");
    }
    if (newline) {
      takeNewline();
    } else if (*p == '\\') {
      ++p;
      if (atNewline())
        takeNewline();
      else if (p != end)
        ++p;
    } else {
      ++p;
    }
  }
  p += triple ? 3 : 1;
  emit(TokenKind::String, from);
}

//===----------------------------------------------------------------------===//
// f-strings
//===----------------------------------------------------------------------===//

bool Lexer::atFStringEnd(const FString &string) const {
  return *p == string.quote &&
         (!string.triple || (peek(1) == string.quote && peek(2) == string.quote));
}

void Lexer::failUnterminated(const FString &string) const {
  std::string kind = string.triple ? "unterminated triple-quoted f-string literal"
                                   : "unterminated f-string literal";
  uint32_t lastLine = string.triple && p == lineStart && line > 1 ? line - 1 : line;
  failAt(string.mark, kind + " (detected at line " + std::to_string(lastLine) + ")");
}

void Lexer::endFString(const Mark &from) {
  p += fstrings.back().triple ? 3 : 1;
  fstrings.pop_back();
  emit(TokenKind::FStringEnd, from);
}

/// A backslash: the next character cannot end the string, but `\{` is a backslash and then a field.
void Lexer::skipFStringEscape(const FString &string) {
  ++p;
  if (p == end || *p == '{' || *p == '}')
    return;
  if (atNewline())
    return takeNewline();
  bool named = !string.raw && *p == 'N' && peek(1) == '{';
  ++p;
  if (!named)
    return;
  while (p != end && *p != '}' && !atNewline() && !atFStringEnd(string))
    ++p;
  if (*p == '}')
    ++p;
}

void Lexer::openField() {
  unsigned depth = 0;
  for (size_t i = brackets.size(); i > fstrings.back().bracketsBelow; --i)
    depth += brackets[i - 1].field;
  Mark from = mark();
  if (depth >= MaxFieldDepth)
    failAt(from, "f-string: expressions nested too deeply");
  openBracket(TokenKind::LBrace);
  brackets.back().field = true;
  fstrings.back().inLiteral = false;
}

/// At a brace in literal text. True when it was a doubled one and the text goes on.
bool Lexer::takeLiteralBrace(const Mark &from, bool inSpec) {
  if (!inSpec && peek(1) == *p) {
    p += 2;
    return true;
  }
  if (!inSpec && *p == '}')
    failAt(mark(), "f-string: single '}' is not allowed");
  if (p != from.at)
    emit(TokenKind::FStringMiddle, from);
  if (*p == '{')
    openField();
  else
    closeBracket(TokenKind::RBrace);
  return false;
}

void Lexer::lexFStringLiteral() {
  const FString &string = fstrings.back();
  bool inSpec = brackets.size() > string.bracketsBelow;
  Mark from = mark();
  for (;;) {
    if (atFStringEnd(string)) {
      if (inSpec)
        failAt(mark(), "f-string: expecting '}'");
      Mark quote = mark();
      if (p != from.at)
        emit(TokenKind::FStringMiddle, from);
      return endFString(quote);
    }
    if (p == end || (atNewline() && !string.triple))
      failUnterminated(string);
    if (atNewline()) {
      takeNewline();
    } else if (*p == '\\') {
      skipFStringEscape(string);
    } else if (*p == '{' || *p == '}') {
      if (!takeLiteralBrace(from, inSpec))
        return;
    } else {
      ++p;
    }
  }
}

} // namespace pellucid::syntax
