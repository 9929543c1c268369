// SPDX-License-Identifier: Apache-2.0
#include "syntax/Lexer.h"

#include "syntax/LexerImpl.h"
#include "syntax/Unicode.h"

#include <array>
#include <cstring>

namespace pellucid::syntax {
namespace {

// CPython's limits.
constexpr size_t MaxBrackets = 200;
constexpr size_t MaxIndentations = 100;
constexpr uint32_t TabSize = 8;

constexpr auto nameBytes = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c)
    table[c] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return table;
}();

struct KeywordEntry {
  const char *text;
  TokenKind kind;
};
constexpr KeywordEntry keywords[] = {
    {"False", TokenKind::KwFalse},
    {"None", TokenKind::KwNone},
    {"True", TokenKind::KwTrue},
    {"and", TokenKind::KwAnd},
    {"as", TokenKind::KwAs},
    {"assert", TokenKind::KwAssert},
    {"async", TokenKind::KwAsync},
    {"await", TokenKind::KwAwait},
    {"break", TokenKind::KwBreak},
    {"class", TokenKind::KwClass},
    {"continue", TokenKind::KwContinue},
    {"def", TokenKind::KwDef},
    {"del", TokenKind::KwDel},
    {"elif", TokenKind::KwElif},
    {"else", TokenKind::KwElse},
    {"except", TokenKind::KwExcept},
    {"finally", TokenKind::KwFinally},
    {"for", TokenKind::KwFor},
    {"from", TokenKind::KwFrom},
    {"global", TokenKind::KwGlobal},
    {"if", TokenKind::KwIf},
    {"import", TokenKind::KwImport},
    {"in", TokenKind::KwIn},
    {"is", TokenKind::KwIs},
    {"lambda", TokenKind::KwLambda},
    {"nonlocal", TokenKind::KwNonlocal},
    {"not", TokenKind::KwNot},
    {"or", TokenKind::KwOr},
    {"pass", TokenKind::KwPass},
    {"raise", TokenKind::KwRaise},
    {"return", TokenKind::KwReturn},
    {"try", TokenKind::KwTry},
    {"while", TokenKind::KwWhile},
    {"with", TokenKind::KwWith},
    {"yield", TokenKind::KwYield},
};

/// For each first letter, where its keywords begin in the alphabetical table above.
constexpr auto keywordStarts = [] {
  std::array<uint8_t, 129> starts{};
  size_t next = 0;
  for (size_t c = 0; c < 129; ++c) {
    while (next < std::size(keywords) && static_cast<size_t>(keywords[next].text[0]) < c)
      ++next;
    starts[c] = static_cast<uint8_t>(next);
  }
  return starts;
}();

TokenKind keywordOrName(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  if (first >= 128 || text.size() > 8)
    return TokenKind::Name;
  for (size_t i = keywordStarts[first]; i < keywordStarts[first + 1]; ++i)
    if (text == keywords[i].text)
      return keywords[i].kind;
  return TokenKind::Name;
}

bool isStringPrefix(std::string_view text) {
  if (text.size() > 2)
    return false;
  auto lower = [](char c) { return static_cast<char>(c | 32); };
  char a = lower(text[0]), b = text.size() == 2 ? lower(text[1]) : '\0';
  if (!b)
    return a == 'r' || a == 'b' || a == 'u' || a == 'f';
  return (a == 'r' && (b == 'b' || b == 'f')) || ((a == 'b' || a == 'f') && b == 'r');
}

struct Punctuation {
  char text[4];
  TokenKind kind;
};
/// Longest first among those that share a prefix.
constexpr Punctuation punctuations[] = {
    {"...", TokenKind::Ellipsis},
    {"**=", TokenKind::DoubleStarEqual},
    {"//=", TokenKind::DoubleSlashEqual},
    {"<<=", TokenKind::LeftShiftEqual},
    {">>=", TokenKind::RightShiftEqual},
    {"->", TokenKind::Arrow},
    {":=", TokenKind::ColonEqual},
    {"+=", TokenKind::PlusEqual},
    {"-=", TokenKind::MinusEqual},
    {"*=", TokenKind::StarEqual},
    {"@=", TokenKind::AtEqual},
    {"/=", TokenKind::SlashEqual},
    {"%=", TokenKind::PercentEqual},
    {"|=", TokenKind::PipeEqual},
    {"^=", TokenKind::CaretEqual},
    {"&=", TokenKind::AmpersandEqual},
    {"**", TokenKind::DoubleStar},
    {"//", TokenKind::DoubleSlash},
    {"<<", TokenKind::LeftShift},
    {">>", TokenKind::RightShift},
    {"==", TokenKind::EqualEqual},
    {"!=", TokenKind::NotEqual},
    {"<=", TokenKind::LessEqual},
    {">=", TokenKind::GreaterEqual},
    {",", TokenKind::Comma},
    {";", TokenKind::Semicolon},
    {".", TokenKind::Dot},
    {"!", TokenKind::Exclamation},
    {"=", TokenKind::Equal},
    {"~", TokenKind::Tilde},
    {"+", TokenKind::Plus},
    {"-", TokenKind::Minus},
    {"*", TokenKind::Star},
    {"@", TokenKind::At},
    {"/", TokenKind::Slash},
    {"%", TokenKind::Percent},
    {"|", TokenKind::Pipe},
    {"^", TokenKind::Caret},
    {"&", TokenKind::Ampersand},
    {"<", TokenKind::Less},
    {">", TokenKind::Greater},
};

std::string describeInvalidCharacter(std::string_view bytes, char32_t codePoint) {
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(codePoint));
  if (!isPrintable(codePoint))
    return std::string("invalid non-printable character ") + number;
  return "invalid character '" + std::string(bytes) + "' (" + number + ")";
}

} // namespace

Lexer::Lexer(const SourceFile &file)
    : begin(file.text().data()), end(begin + file.text().size()), p(begin), lineStart(begin) {
  tokens.reserve(file.text().size() / 4 + 16);
}

void Lexer::run() {
  while (!done) {
    if (!fstrings.empty() && fstrings.back().inLiteral)
      lexFStringLiteral();
    else if (atLineStart)
      lexLineStart();
    else
      lexToken();
  }
}

void Lexer::takeNewline() {
  p += *p == '\r' && peek(1) == '\n' ? 2 : 1;
  ++line;
  lineStart = p;
}

void Lexer::emit(TokenKind kind, const Mark &from) {
  tokens.push_back({{from.line, from.column, line, static_cast<uint32_t>(p - lineStart) + 1},
                    static_cast<uint32_t>(from.at - begin),
                    static_cast<uint32_t>(p - begin),
                    kind});
}

void Lexer::fail(const Mark &from, std::string message) const {
  throw LexError{{from.line, from.column, line, static_cast<uint32_t>(p - lineStart) + 1},
                 std::move(message)};
}

void Lexer::failAt(const Mark &at, std::string message) const {
  throw LexError{{at.line, at.column, at.line, at.column + 1}, std::move(message)};
}

//===----------------------------------------------------------------------===//
// Lines and indentation
//===----------------------------------------------------------------------===//

void Lexer::lexLineStart() {
  uint32_t column = 0, tabColumn = 0, continuedColumn = 0;
  for (;; ++p) {
    if (*p == ' ') {
      ++column, ++tabColumn;
    } else if (*p == '\t') {
      column = (column / TabSize + 1) * TabSize;
      ++tabColumn;
    } else if (*p == '\f') {
      column = tabColumn = 0;
    } else if (*p == '\\') {
      // The indentation is the one of the first physical line.
      continuedColumn = continuedColumn ? continuedColumn : column;
      takeContinuation();
      --p;
    } else {
      break;
    }
  }
  if (*p == '#')
    skipComment();
  if (atNewline())
    return takeNewline();
  atLineStart = false;
  if (p == end)
    return;
  if (continuedColumn)
    column = tabColumn = continuedColumn;
  applyIndentation(column, tabColumn);
}

void Lexer::applyIndentation(uint32_t column, uint32_t tabColumn) {
  const char *inconsistent = "inconsistent use of tabs and spaces in indentation";
  Mark at = mark();
  if (column > indentations.back().column) {
    if (indentations.size() >= MaxIndentations)
      failAt(at, "too many levels of indentation");
    if (tabColumn <= indentations.back().tabColumn)
      failAt(at, inconsistent);
    indentations.push_back({column, tabColumn});
    return emit(TokenKind::Indent, at);
  }
  while (column < indentations.back().column) {
    indentations.pop_back();
    emit(TokenKind::Dedent, at);
  }
  if (column != indentations.back().column)
    failAt(at, "unindent does not match any outer indentation level");
  if (tabColumn != indentations.back().tabColumn)
    failAt(at, inconsistent);
}

void Lexer::takeContinuation() {
  Mark at = mark();
  ++p;
  if (p == end)
    failAt(at, "unexpected EOF while parsing");
  if (!atNewline())
    failAt(mark(), "unexpected character after line continuation character");
  takeNewline();
  if (p == end)
    failAt(at, "unexpected EOF while parsing");
}

void Lexer::skipComment() {
  while (p != end && !atNewline())
    ++p;
}

void Lexer::finish() {
  if (!brackets.empty()) {
    const Mark &open = brackets.back().mark;
    throw LexError{{open.line, open.column, open.line, open.column + 1},
                   std::string("'") + brackets.back().open + "' was never closed",
                   true};
  }
  Mark at = mark();
  bool openLine = !tokens.empty() && tokens.back().kind != TokenKind::Newline &&
                  tokens.back().kind != TokenKind::Dedent;
  if (openLine)
    emit(TokenKind::Newline, at);
  for (size_t i = 1; i < indentations.size(); ++i)
    emit(TokenKind::Dedent, at);
  emit(TokenKind::EndMarker, at);
  done = true;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void Lexer::lexToken() {
  while (*p == ' ' || *p == '\t' || *p == '\f')
    ++p;
  char c = *p;
  if (nameBytes[static_cast<unsigned char>(c)])
    return c <= '9' ? lexNumber() : lexNameOrString();
  if (c & 0x80)
    return lexNameOrString();
  switch (c) {
  case '#':
    return skipComment();
  case '\\':
    return takeContinuation();
  case '\r':
  case '\n':
    if (brackets.empty()) {
      Mark from = mark();
      ++p;
      emit(TokenKind::Newline, from);
      --p;
      atLineStart = true;
    }
    return takeNewline();
  case '\0':
    return finish();
  case '"':
  case '\'':
    return lexString(mark(), 0);
  case '.':
    if (peek(1) >= '0' && peek(1) <= '9')
      return lexNumber();
    break;
  default:
    break;
  }
  lexPunctuation();
}

void Lexer::lexNameOrString() {
  Mark from = mark();
  takeIdentifierTail();
  auto length = static_cast<size_t>(p - from.at);
  if ((*p == '"' || *p == '\'') && isStringPrefix({from.at, length}))
    return lexString(from, length);
  emit(keywordOrName({from.at, length}), from);
}

void Lexer::takeIdentifierTail() {
  for (const char *first = p;;) {
    while (nameBytes[static_cast<unsigned char>(*p)])
      ++p;
    if (!(*p & 0x80))
      return;
    takeUnicodeIdentifierCharacter(p == first);
  }
}

void Lexer::takeUnicodeIdentifierCharacter(bool first) {
  size_t length = 0;
  std::string_view rest(p, end - p);
  char32_t codePoint = decodeUtf8(rest, length);
  if (first ? !isIdentifierStart(codePoint) : !isIdentifierContinue(codePoint))
    failAt(mark(), describeInvalidCharacter(rest.substr(0, length), codePoint));
  p += length;
}

void Lexer::lexPunctuation() {
  switch (*p) {
  case '(':
    return openBracket(TokenKind::LParen);
  case '[':
    return openBracket(TokenKind::LBracket);
  case '{':
    return openBracket(TokenKind::LBrace);
  case ')':
    return closeBracket(TokenKind::RParen);
  case ']':
    return closeBracket(TokenKind::RBracket);
  case '}':
    return closeBracket(TokenKind::RBrace);
  case ':':
    if (peek(1) != '=' || (!brackets.empty() && brackets.back().field))
      return lexColon();
    break;
  default:
    break;
  }
  Mark from = mark();
  for (const Punctuation &candidate : punctuations) {
    if (candidate.text[0] != *p)
      continue;
    size_t length = std::strlen(candidate.text);
    if ((length > 1 && peek(1) != candidate.text[1]) ||
        (length > 2 && peek(2) != candidate.text[2]))
      continue;
    p += length;
    return emit(candidate.kind, from);
  }
  if (static_cast<unsigned char>(*p) < ' ' || *p == 0x7F)
    failAt(from, describeInvalidCharacter({p, 1}, static_cast<unsigned char>(*p)));
  failAt(from, "invalid syntax");
}

void Lexer::openBracket(TokenKind kind) {
  Mark from = mark();
  if (brackets.size() >= MaxBrackets)
    failAt(from, "too many nested parentheses");
  brackets.push_back({*p, false, from});
  ++p;
  emit(kind, from);
}

void Lexer::closeBracket(TokenKind kind) {
  Mark from = mark();
  const char *inFString = fstrings.empty() ? "" : "f-string: ";
  size_t below = fstrings.empty() ? 0 : fstrings.back().bracketsBelow;
  if (brackets.size() <= below)
    failAt(from, std::string(inFString) + "unmatched '" + *p + "'");
  const Bracket &open = brackets.back();
  bool matches = (open.open == '(' && *p == ')') || (open.open == '[' && *p == ']') ||
                 (open.open == '{' && *p == '}');
  if (!matches && open.field)
    failAt(from, std::string(inFString) + "unmatched '" + *p + "'");
  if (!matches) {
    std::string message = std::string(inFString) + "closing parenthesis '" + *p +
                          "' does not match opening parenthesis '" + open.open + "'";
    if (open.mark.line != line)
      message += " on line " + std::to_string(open.mark.line);
    failAt(from, std::move(message));
  }
  if (open.field)
    fstrings.back().inLiteral = true;
  brackets.pop_back();
  ++p;
  emit(kind, from);
}

void Lexer::lexColon() {
  Mark from = mark();
  ++p;
  emit(TokenKind::Colon, from);
  // An f-string's format specification begins.
  if (!brackets.empty() && brackets.back().field)
    fstrings.back().inLiteral = true;
}

TokenList tokenize(const SourceFile &file) {
  TokenList list;
  Lexer lexer(file);
  try {
    lexer.run();
  } catch (LexError &error) {
    auto offset = static_cast<uint32_t>(file.text().size());
    lexer.tokens.push_back({error.range, offset, offset, TokenKind::Error});
    list.error = std::move(error);
  }
  list.tokens = std::move(lexer.tokens);
  return list;
}

} // namespace pellucid::syntax
