// SPDX-License-Identifier: Apache-2.0
#include "syntax/Literals.h"
#include "syntax/ParserImpl.h"

namespace pellucid::syntax {

/// The value of adjacent string literals. Literal text collects in `pending` until a replacement
/// field or the end, so that neighbouring pieces become one Constant as CPython makes them.
struct Parser::StringBuilder {
  bool isFString = false, isBytes = false;
  bool unicodePrefix = false;
  List<Expr> values;
  std::string pending;
  SourceRange pendingRange;

  void extendPending(const SourceRange &piece) {
    if (!pendingRange.line)
      pendingRange = piece;
    pendingRange.endLine = piece.endLine;
    pendingRange.endColumn = piece.endColumn;
  }

  Ptr<Constant> takePending() {
    auto constant = std::make_unique<Constant>();
    constant->type = isBytes ? Constant::Type::Bytes : Constant::Type::String;
    constant->text = std::move(pending);
    constant->unicodePrefix = unicodePrefix;
    constant->range = pendingRange;
    pending.clear();
    pendingRange = {};
    return constant;
  }

  void flush() {
    if (!pending.empty())
      values.push_back(takePending());
    pendingRange = {};
  }
};

/// The letters before a literal's quotes.
static std::string_view prefixOf(std::string_view literal) {
  return literal.substr(0, literal.find_first_of("'\""));
}

static bool hasLetter(std::string_view prefix, char letter) {
  for (char c : prefix)
    if ((c | 32) == letter)
      return true;
  return false;
}

Ptr<Expr> Parser::parseStrings() {
  SourcePosition start = here();
  StringBuilder builder;
  builder.isBytes = hasLetter(prefixOf(textOf(peek())), 'b');
  builder.unicodePrefix = textOf(peek())[0] == 'u';
  while (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    if (at(TokenKind::String))
      parsePlainString(builder);
    else
      parseFString(builder);
  }
  if (!builder.isFString) {
    Ptr<Constant> constant = builder.takePending();
    constant->range = rangeFrom(start);
    return constant;
  }
  builder.flush();
  auto joined = make<JoinedStr>(start);
  joined->values = std::move(builder.values);
  return joined;
}

void Parser::parsePlainString(StringBuilder &into) {
  const Token &token = advance();
  std::string_view literal = textOf(token), prefix = prefixOf(literal);
  StringForm form;
  form.raw = hasLetter(prefix, 'r');
  form.bytes = hasLetter(prefix, 'b');
  if (form.bytes != into.isBytes)
    fail(token.range, "cannot mix bytes and nonbytes literals");
  literal.remove_prefix(prefix.size());
  bool triple = literal.size() >= 6 && literal[0] == literal[1] && literal[0] == literal[2];
  size_t quotes = triple ? 3 : 1;
  literal = literal.substr(quotes, literal.size() - 2 * quotes);
  if (std::string error = decodeString(literal, form, into.pending); !error.empty())
    fail(token.range, std::move(error));
  if (!literal.empty())
    into.extendPending(token.range);
}

void Parser::parseFString(StringBuilder &into) {
  Nesting nesting(*this);
  const Token &token = advance();
  if (into.isBytes)
    fail(token.range, "cannot mix bytes and nonbytes literals");
  into.isFString = true;
  bool raw = hasLetter(prefixOf(textOf(token)), 'r');
  parseFStringParts(into, TokenKind::FStringEnd, raw, /*inSpec=*/false);
  expect(TokenKind::FStringEnd, "f-string: expecting '}'");
}

/// Literal text and replacement fields up to but not including `end`.
void Parser::parseFStringParts(StringBuilder &into, TokenKind end, bool raw, bool inSpec) {
  while (!at(end)) {
    if (at(TokenKind::LBrace)) {
      parseReplacementField(into, raw);
      continue;
    }
    const Token &token = expect(TokenKind::FStringMiddle, "f-string: expecting '}'");
    StringForm form;
    form.raw = raw;
    form.doubledBraces = !inSpec;
    if (std::string error = decodeString(textOf(token), form, into.pending); !error.empty())
      fail(token.range, std::move(error));
    into.extendPending(token.range);
  }
}

/// `{expression[=][!conversion][:specification]}`.
void Parser::parseReplacementField(StringBuilder &into, bool raw) {
  SourcePosition start = here();
  const Token &open = advance();
  if (!atExpression() && !at(TokenKind::Star) && !at(TokenKind::KwYield) && !at(TokenKind::Error)) {
    std::string found(textOf(peek()));
    bool endsField = found == "}" || found == "!" || found == ":" || found == "=";
    fail(peek().range, endsField ? "f-string: valid expression required before '" + found + "'"
                                 : "f-string: expecting a valid expression after '{'");
  }
  Ptr<Expr> value = parseYieldOrStarExpressions();
  bool debug = accept(TokenKind::Equal);
  if (debug) {
    // The text as written, blanks included, stands before the value.
    std::string_view written(text.data() + open.end, peek().begin - open.end);
    decodeString(written, {/*raw=*/true}, into.pending);
    into.extendPending(
        {open.range.endLine, open.range.endColumn, peek().range.line, peek().range.column});
  }
  into.flush();
  int conversion = at(TokenKind::Exclamation) ? parseConversion() : -1;
  Ptr<Expr> spec;
  if (at(TokenKind::Colon))
    spec = parseFormatSpec(into.unicodePrefix, raw, here());
  if (!at(TokenKind::RBrace))
    failHere(conversion >= 0 ? "f-string: expecting ':' or '}'"
                             : "f-string: expecting '=', or '!', or ':', or '}'");
  advance();
  auto field = make<FormattedValue>(start);
  field->value = std::move(value);
  field->conversion = debug && conversion < 0 && !spec ? 'r' : conversion;
  field->formatSpec = std::move(spec);
  into.values.push_back(std::move(field));
}

int Parser::parseConversion() {
  const Token &mark = advance();
  if (!at(TokenKind::Name)) {
    bool missing = at(TokenKind::RBrace) || at(TokenKind::Colon);
    failHere(missing ? "f-string: missing conversion character"
                     : "f-string: invalid conversion character");
  }
  if (peek().begin != mark.end)
    failHere("f-string: conversion type must come right after the exclamation mark");
  std::string_view name = textOf(peek());
  if (name != "s" && name != "r" && name != "a")
    failHere("f-string: invalid conversion character '" + std::string(name) +
             "': expected 's', 'r', or 'a'");
  advance();
  return name[0];
}

Ptr<Expr> Parser::parseFormatSpec(bool unicodePrefix, bool raw, SourcePosition start) {
  advance();
  StringBuilder builder;
  builder.unicodePrefix = unicodePrefix;
  parseFStringParts(builder, TokenKind::RBrace, raw, /*inSpec=*/true);
  builder.flush();
  auto joined = make<JoinedStr>(start);
  joined->values = std::move(builder.values);
  return joined;
}

} // namespace pellucid::syntax
