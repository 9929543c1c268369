// SPDX-License-Identifier: Apache-2.0
#include "syntax/LexerImpl.h"

namespace pellucid::syntax {
namespace {

bool isDecimal(char c) { return c >= '0' && c <= '9'; }
bool isOctal(char c) { return c >= '0' && c <= '7'; }
bool isBinary(char c) { return c == '0' || c == '1'; }
bool isHexadecimal(char c) { return isDecimal(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
bool isNameByte(char c) {
  return isDecimal(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || (c & 0x80);
}

/// Keywords that may follow a number without a space (`1if x else 2`).
bool startsWithOperatorWord(std::string_view text) {
  for (std::string_view word : {"and", "else", "for", "if", "in", "is", "not", "or"})
    if (text.starts_with(word) && (text.size() == word.size() || !isNameByte(text[word.size()])))
      return true;
  return false;
}

} // namespace

/// Digits with single underscores between them; the first digit has been checked.
void Lexer::takeDigits(bool (*isDigit)(char), const char *invalid) {
  for (;;) {
    while (isDigit(*p))
      ++p;
    if (*p != '_')
      return;
    ++p;
    if (!isDigit(*p))
      failAt(mark(), invalid);
  }
}

void Lexer::takeRadixNumber(bool (*isDigit)(char), const char *name) {
  std::string invalid = std::string("invalid ") + name + " literal";
  p += 2;
  if (*p == '_')
    ++p;
  if (!isDigit(*p)) {
    if (isDecimal(*p))
      failAt(mark(), std::string("invalid digit '") + *p + "' in " + name + " literal");
    failAt(mark(), invalid);
  }
  takeDigits(isDigit, invalid.c_str());
  if (isDecimal(*p))
    failAt(mark(), std::string("invalid digit '") + *p + "' in " + name + " literal");
  checkEndOfNumber(name);
}

void Lexer::takeExponent() {
  if ((*p | 32) != 'e')
    return;
  size_t sign = peek(1) == '+' || peek(1) == '-';
  if (!isDecimal(peek(1 + sign))) {
    // `1e` may still be `1else`; checkEndOfNumber decides, but a sign can only belong to an
    // exponent.
    if (sign)
      failAt(mark(), "invalid decimal literal");
    return;
  }
  p += 1 + sign;
  takeDigits(isDecimal, "invalid decimal literal");
}

void Lexer::checkEndOfNumber(const char *name) {
  if (!isNameByte(*p) || startsWithOperatorWord({p, static_cast<size_t>(end - p)}))
    return;
  failAt(mark(), std::string("invalid ") + name + " literal");
}

void Lexer::lexNumber() {
  Mark from = mark();
  char radix = *p == '0' ? static_cast<char>(peek(1) | 32) : '\0';
  if (radix == 'x' || radix == 'o' || radix == 'b') {
    if (radix == 'x')
      takeRadixNumber(isHexadecimal, "hexadecimal");
    else if (radix == 'o')
      takeRadixNumber(isOctal, "octal");
    else
      takeRadixNumber(isBinary, "binary");
    return emit(TokenKind::Number, from);
  }
  const char *invalid = "invalid decimal literal";
  bool isInteger = true;
  if (*p != '.')
    takeDigits(isDecimal, invalid);
  const char *integerEnd = p;
  if (*p == '.') {
    isInteger = false;
    ++p;
    if (isDecimal(*p))
      takeDigits(isDecimal, invalid);
  }
  const char *beforeExponent = p;
  takeExponent();
  isInteger = isInteger && p == beforeExponent;
  const char *name = "decimal";
  if ((*p | 32) == 'j') {
    isInteger = false;
    ++p;
    name = "imaginary";
  }
  if (isInteger && *from.at == '0')
    for (const char *digit = from.at; digit != integerEnd; ++digit)
      if (*digit != '0' && *digit != '_')
        fail(from, "leading zeros in decimal integer literals are not permitted; use an 0o prefix "
                   "for octal integers");
  checkEndOfNumber(name);
  emit(TokenKind::Number, from);
}

} // namespace pellucid::syntax
