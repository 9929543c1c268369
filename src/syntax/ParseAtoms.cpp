// SPDX-License-Identifier: Apache-2.0
#include "syntax/Literals.h"
#include "syntax/ParserImpl.h"

#include <unordered_set>

namespace pellucid::syntax {

Ptr<Expr> Parser::parseAtom() {
  SourcePosition start = here();
  switch (kind()) {
  case TokenKind::Name: {
    auto id = Identifier(textOf(advance()));
    auto name = make<Name>(start);
    name->id = std::move(id);
    return name;
  }
  case TokenKind::Number:
    return parseNumber();
  case TokenKind::String:
  case TokenKind::FStringStart:
    return parseStrings();
  case TokenKind::LParen:
    return parseParenthesized();
  case TokenKind::LBracket:
    return parseListDisplay();
  case TokenKind::LBrace:
    return parseBraceDisplay();
  case TokenKind::KwNone:
    return parseNamedConstant(Constant::Type::None);
  case TokenKind::KwTrue:
    return parseNamedConstant(Constant::Type::True);
  case TokenKind::KwFalse:
    return parseNamedConstant(Constant::Type::False);
  case TokenKind::Ellipsis:
    return parseNamedConstant(Constant::Type::Ellipsis);
  default:
    invalidSyntax();
  }
}

Ptr<Constant> Parser::parseNamedConstant(Constant::Type type) {
  SourcePosition start = here();
  advance();
  auto constant = make<Constant>(start);
  constant->type = type;
  return constant;
}

Ptr<Constant> Parser::parseNumber() {
  SourcePosition start = here();
  const Token &token = advance();
  auto constant = make<Constant>(start);
  if (std::string error = decodeNumber(textOf(token), *constant); !error.empty())
    fail(token.range, std::move(error));
  return constant;
}

//===----------------------------------------------------------------------===//
// Parentheses and displays
//===----------------------------------------------------------------------===//

/// `(…)`: a group, a tuple, a generator expression or a parenthesized yield.
Ptr<Expr> Parser::parseParenthesized() {
  SourcePosition start = here();
  advance();
  if (accept(TokenKind::RParen))
    return make<Tuple>(start);
  SourcePosition element = here();
  if (at(TokenKind::KwYield)) {
    Ptr<Expr> yield = parseYield();
    expectClose(TokenKind::RParen, element);
    return yield;
  }
  Ptr<Expr> first = parseStarNamedExpression();
  if (atComprehension()) {
    rejectUnpacking(*first);
    std::vector<Comprehension> generators = parseComprehensions();
    expectClose(TokenKind::RParen, element);
    auto generator = make<GeneratorExp>(start);
    generator->elt = std::move(first);
    generator->generators = std::move(generators);
    return generator;
  }
  if (!at(TokenKind::Comma)) {
    expectClose(TokenKind::RParen, element);
    if (first->kind == ExprKind::Starred)
      fail(first->range, "cannot use starred expression here");
    return first;
  }
  List<Expr> elts;
  elts.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::RParen)) {
    element = here();
    elts.push_back(parseStarNamedExpression());
  }
  expectClose(TokenKind::RParen, element);
  auto tuple = make<Tuple>(start);
  tuple->elts = std::move(elts);
  return tuple;
}

Ptr<Expr> Parser::parseListDisplay() {
  SourcePosition start = here();
  advance();
  List<Expr> elts;
  SourcePosition element = here();
  while (!at(TokenKind::RBracket)) {
    element = here();
    elts.push_back(parseStarNamedExpression());
    if (elts.size() == 1 && atComprehension()) {
      rejectUnpacking(*elts[0]);
      std::vector<Comprehension> generators = parseComprehensions();
      expectClose(TokenKind::RBracket, element);
      auto comprehension = make<ListComp>(start);
      comprehension->elt = std::move(elts[0]);
      comprehension->generators = std::move(generators);
      return comprehension;
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClose(TokenKind::RBracket, element);
  auto list = make<ListExpr>(start);
  list->elts = std::move(elts);
  return list;
}

Ptr<Expr> Parser::parseBraceDisplay() {
  SourcePosition start = here();
  advance();
  if (accept(TokenKind::RBrace))
    return make<Dict>(start);
  if (at(TokenKind::DoubleStar))
    return parseDictRest(start, nullptr);
  bool unparenthesizedWalrus = peek(1).kind == TokenKind::ColonEqual;
  Ptr<Expr> first = parseStarNamedExpression();
  if (at(TokenKind::Colon) && first->kind != ExprKind::Starred && !unparenthesizedWalrus)
    return parseDictRest(start, std::move(first));
  return parseSetRest(start, std::move(first));
}

/// After `:`.
Ptr<Expr> Parser::parseDictValue() {
  if (at(TokenKind::Star))
    failHere("cannot use a starred expression in a dictionary value");
  if (at(TokenKind::RBrace) || at(TokenKind::Comma))
    fail(tokens[pos - 1].range, "expression expected after dictionary key and ':'");
  return parseExpression();
}

/// At the `:` after the first key, or at `**` when `key` is null.
Ptr<Expr> Parser::parseDictRest(SourcePosition start, Ptr<Expr> key) {
  auto dict = std::make_unique<Dict>();
  SourcePosition element = here();
  for (bool first = true;; first = false) {
    if (!first) {
      element = here();
      if (!at(TokenKind::DoubleStar))
        key = parseExpression();
    }
    if (!key) {
      SourceRange stars = advance().range;
      dict->keys.push_back(nullptr);
      dict->values.push_back(parseBitwiseOr());
      if (atComprehension())
        fail(stars, "dict unpacking cannot be used in dict comprehension");
    } else {
      if (!at(TokenKind::Colon))
        fail(tokens[pos - 1].range, "':' expected after dictionary key");
      advance();
      dict->keys.push_back(std::move(key));
      element = here();
      dict->values.push_back(parseDictValue());
    }
    key = nullptr;
    if (first && atComprehension()) {
      std::vector<Comprehension> generators = parseComprehensions();
      expectClose(TokenKind::RBrace, element);
      auto comprehension = make<DictComp>(start);
      comprehension->key = std::move(dict->keys[0]);
      comprehension->value = std::move(dict->values[0]);
      comprehension->generators = std::move(generators);
      return comprehension;
    }
    if (!accept(TokenKind::Comma) || at(TokenKind::RBrace))
      break;
  }
  expectClose(TokenKind::RBrace, element);
  dict->range = rangeFrom(start);
  return dict;
}

Ptr<Expr> Parser::parseSetRest(SourcePosition start, Ptr<Expr> first) {
  SourcePosition element = {first->range.line, first->range.column};
  if (atComprehension()) {
    rejectUnpacking(*first);
    std::vector<Comprehension> generators = parseComprehensions();
    expectClose(TokenKind::RBrace, element);
    auto comprehension = make<SetComp>(start);
    comprehension->elt = std::move(first);
    comprehension->generators = std::move(generators);
    return comprehension;
  }
  List<Expr> elts;
  elts.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::RBrace)) {
    element = here();
    elts.push_back(parseStarNamedExpression());
  }
  expectClose(TokenKind::RBrace, element);
  auto set = make<Set>(start);
  set->elts = std::move(elts);
  return set;
}

void Parser::rejectUnpacking(const Expr &element) const {
  if (element.kind == ExprKind::Starred)
    fail(element.range, "iterable unpacking cannot be used in comprehension");
}

/// One or more `[async] for targets in iterable {if condition}`.
std::vector<Comprehension> Parser::parseComprehensions() {
  std::vector<Comprehension> generators;
  while (atComprehension()) {
    Comprehension generator;
    generator.isAsync = accept(TokenKind::KwAsync);
    if (!accept(TokenKind::KwFor))
      invalidSyntax();
    generator.target = parseForTargets();
    if (!accept(TokenKind::KwIn))
      invalidSyntax();
    generator.iter = parseNestedDisjunction();
    while (accept(TokenKind::KwIf))
      generator.ifs.push_back(parseNestedDisjunction());
    generators.push_back(std::move(generator));
  }
  return generators;
}

//===----------------------------------------------------------------------===//
// Calls and subscripts
//===----------------------------------------------------------------------===//

Parser::CallArguments Parser::parseCallArguments(SourcePosition open, bool allowGenerator) {
  CallArguments result;
  SourcePosition element = here();
  while (!at(TokenKind::RParen)) {
    element = here();
    bool isKeyword = at(TokenKind::DoubleStar) || peek(1).kind == TokenKind::Equal;
    if (isKeyword)
      parseKeywordArgument(result);
    else
      parsePositionalArgument(result, open, allowGenerator);
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClose(TokenKind::RParen, element);
  rejectRepeatedKeywords(result.keywords);
  // The generator expression takes the call's own parentheses as its range.
  if (result.args.size() == 1 && result.args[0]->kind == ExprKind::GeneratorExp &&
      !result.args[0]->range.line)
    result.args[0]->range = rangeFrom(open);
  return result;
}

void Parser::rejectRepeatedKeywords(const List<Keyword> &keywords) const {
  if (keywords.size() < 2)
    return;
  std::unordered_set<std::string_view> seen;
  for (const Ptr<Keyword> &keyword : keywords)
    if (keyword->arg && !seen.insert(*keyword->arg).second)
      fail(keyword->range, "keyword argument repeated: " + *keyword->arg);
}

/// `name=value` or `**mapping`.
void Parser::parseKeywordArgument(CallArguments &into) {
  SourcePosition start = here();
  std::optional<Identifier> name;
  Ptr<Expr> value;
  if (accept(TokenKind::DoubleStar)) {
    value = parseExpression();
  } else {
    if (at(TokenKind::KwTrue) || at(TokenKind::KwFalse) || at(TokenKind::KwNone))
      fail(rangeFrom(start), "cannot assign to " + std::string(textOf(peek())));
    if (!at(TokenKind::Name)) {
      SourceRange range = peek().range;
      range.endColumn = peek(1).range.endColumn;
      fail(range, "expression cannot contain assignment, perhaps you meant \"==\"?");
    }
    name = expectName();
    advance();
    if (!atExpression()) {
      SourceRange range = rangeFrom(start);
      if (at(TokenKind::Comma) || at(TokenKind::RParen))
        fail(range, "expected argument value expression");
      invalidSyntax();
    }
    value = parseExpression();
    if (atComprehension())
      fail(rangeFrom(start), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  }
  into.hasUnpacking |= !name;
  auto keyword = make<Keyword>(start);
  keyword->arg = std::move(name);
  keyword->value = std::move(value);
  into.keywords.push_back(std::move(keyword));
}

void Parser::parsePositionalArgument(CallArguments &into, SourcePosition open,
                                     bool allowGenerator) {
  SourcePosition start = here();
  if (accept(TokenKind::Star)) {
    Ptr<Expr> value = parseExpression();
    auto starred = make<Starred>(start);
    starred->value = std::move(value);
    if (into.hasUnpacking)
      fail(starred->range, "iterable argument unpacking follows keyword argument unpacking");
    into.args.push_back(std::move(starred));
    return;
  }
  Ptr<Expr> value = parseNamedExpression();
  if (atComprehension()) {
    std::vector<Comprehension> generators = parseComprehensions();
    bool alone = into.args.empty() && into.keywords.empty() && !at(TokenKind::Comma);
    if (!alone || !allowGenerator)
      fail(rangeFrom(start), "Generator expression must be parenthesized");
    auto generator = std::make_unique<GeneratorExp>();
    generator->elt = std::move(value);
    generator->generators = std::move(generators);
    into.args.push_back(std::move(generator));
    return;
  }
  if (at(TokenKind::Equal))
    fail({start.line, start.column, peek().range.endLine, peek().range.endColumn},
         "expression cannot contain assignment, perhaps you meant \"==\"?");
  if (into.hasUnpacking)
    fail(value->range, "positional argument follows keyword argument unpacking");
  if (!into.keywords.empty())
    fail(value->range, "positional argument follows keyword argument");
  into.args.push_back(std::move(value));
}

/// After `[`, through `]`.
Ptr<Expr> Parser::parseSlices() {
  SourcePosition start = here(), element = start;
  Ptr<Expr> first = at(TokenKind::Star) ? parseStarred() : parseSlice();
  if (!at(TokenKind::Comma) && first->kind != ExprKind::Starred) {
    expectClose(TokenKind::RBracket, element);
    return first;
  }
  List<Expr> elts;
  elts.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::RBracket)) {
    element = here();
    elts.push_back(at(TokenKind::Star) ? parseStarred() : parseSlice());
  }
  auto tuple = make<Tuple>(start);
  tuple->elts = std::move(elts);
  expectClose(TokenKind::RBracket, element);
  return tuple;
}

Ptr<Expr> Parser::parseSlice() {
  SourcePosition start = here();
  Ptr<Expr> lower, upper, step;
  if (!at(TokenKind::Colon))
    lower = parseNamedExpression();
  if (lower && !at(TokenKind::Colon))
    return lower;
  advance();
  auto ends = [&] {
    return at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RBracket);
  };
  if (!ends())
    upper = parseExpression();
  if (accept(TokenKind::Colon) && !ends())
    step = parseExpression();
  auto slice = make<Slice>(start);
  slice->lower = std::move(lower);
  slice->upper = std::move(upper);
  slice->step = std::move(step);
  return slice;
}

} // namespace pellucid::syntax
