// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

#include <array>

namespace pellucid::syntax {

/// Left-associative binary operators from `|` (1) to `*` (6); 0: not one. `**` belongs to
/// parsePower.
static constexpr auto precedences = [] {
  std::array<uint8_t, TokenKindCount> table{};
  auto set = [&](TokenKind kind, uint8_t precedence) {
    table[static_cast<size_t>(kind)] = precedence;
  };
  set(TokenKind::Pipe, 1);
  set(TokenKind::Caret, 2);
  set(TokenKind::Ampersand, 3);
  set(TokenKind::LeftShift, 4);
  set(TokenKind::RightShift, 4);
  set(TokenKind::Plus, 5);
  set(TokenKind::Minus, 5);
  for (TokenKind kind : {TokenKind::Star, TokenKind::At, TokenKind::Slash, TokenKind::Percent,
                         TokenKind::DoubleSlash})
    set(kind, 6);
  return table;
}();

static Operator binaryOperator(TokenKind kind) {
  return static_cast<Operator>(static_cast<int>(kind) - static_cast<int>(TokenKind::Plus));
}

//===----------------------------------------------------------------------===//
// Tuples, stars, named expressions
//===----------------------------------------------------------------------===//

/// At the comma after `first`: the remaining elements and an optional last comma.
Ptr<Expr> Parser::parseTupleRest(SourcePosition start, Ptr<Expr> first,
                                 Ptr<Expr> (Parser::*parseElement)()) {
  List<Expr> elts;
  elts.push_back(std::move(first));
  while (accept(TokenKind::Comma)) {
    if (!atExpression() && !at(TokenKind::Star))
      break;
    elts.push_back((this->*parseElement)());
  }
  auto tuple = make<Tuple>(start);
  tuple->elts = std::move(elts);
  return tuple;
}

Ptr<Expr> Parser::parseStarExpressions() {
  SourcePosition start = here();
  Ptr<Expr> first = parseStarExpression();
  if (!at(TokenKind::Comma))
    return first;
  return parseTupleRest(start, std::move(first), &Parser::parseStarExpression);
}

Ptr<Expr> Parser::parseStarExpression() {
  return at(TokenKind::Star) ? parseStarred() : parseExpression();
}

Ptr<Expr> Parser::parseStarNamedExpression() {
  return at(TokenKind::Star) ? parseStarred() : parseCondition();
}

/// A named expression where `=` is a mistake and not the sign of a keyword argument.
Ptr<Expr> Parser::parseCondition() {
  Ptr<Expr> expr = parseNamedExpression();
  if (at(TokenKind::Equal))
    rejectAssignment(*expr);
  return expr;
}

Ptr<Expr> Parser::parseStarred() {
  SourcePosition start = here();
  advance();
  Ptr<Expr> value = parseBitwiseOr();
  auto starred = make<Starred>(start);
  starred->value = std::move(value);
  return starred;
}

Ptr<Expr> Parser::parseNamedExpression() {
  SourcePosition start = here();
  if (!at(TokenKind::Name) || peek(1).kind != TokenKind::ColonEqual) {
    Ptr<Expr> expr = parseExpression();
    if (at(TokenKind::ColonEqual))
      fail(expr->range, "cannot use assignment expressions with " + std::string(describe(*expr)));
    return expr;
  }
  Identifier id = expectName();
  auto target = make<Name>(start);
  target->id = std::move(id);
  target->ctx = ExprContext::Store;
  advance();
  Ptr<Expr> value = parseExpression();
  auto named = make<NamedExpr>(start);
  named->target = std::move(target);
  named->value = std::move(value);
  return named;
}

Ptr<Expr> Parser::parseYieldOrStarExpressions() {
  return at(TokenKind::KwYield) ? parseYield() : parseStarExpressions();
}

Ptr<Expr> Parser::parseYield() {
  SourcePosition start = here();
  advance();
  if (accept(TokenKind::KwFrom)) {
    Ptr<Expr> value = parseExpression();
    auto yield = make<YieldFrom>(start);
    yield->value = std::move(value);
    return yield;
  }
  Ptr<Expr> value;
  if (atExpression() || at(TokenKind::Star))
    value = parseStarExpressions();
  auto yield = make<Yield>(start);
  yield->value = std::move(value);
  return yield;
}

//===----------------------------------------------------------------------===//
// Operators, loosest first
//===----------------------------------------------------------------------===//

Ptr<Expr> Parser::parseExpression() {
  Nesting nesting(*this);
  return at(TokenKind::KwLambda) ? parseLambda() : parseConditional();
}

Ptr<Expr> Parser::parseConditional() {
  SourcePosition start = here();
  Ptr<Expr> body = parseDisjunction();
  if (!at(TokenKind::KwIf))
    return body;
  advance();
  Ptr<Expr> test = parseDisjunction();
  if (!at(TokenKind::KwElse)) {
    SourceRange range = rangeFrom(start);
    if (!at(TokenKind::Colon))
      fail(range, "expected 'else' after 'if' expression");
    invalidSyntax();
  }
  advance();
  Ptr<Expr> orelse = parseExpression();
  auto conditional = make<IfExp>(start);
  conditional->test = std::move(test);
  conditional->body = std::move(body);
  conditional->orelse = std::move(orelse);
  return conditional;
}

Ptr<Expr> Parser::parseLambda() {
  SourcePosition start = here();
  SourceRange keyword = advance().range;
  Arguments args = parseParameters(ParameterStyle::Lambda, TokenKind::Colon);
  expect(TokenKind::Colon, "expected ':'");
  // The colon has ended an f-string's field and begun its format specification.
  if (at(TokenKind::FStringMiddle) || at(TokenKind::RBrace))
    fail(keyword, "f-string: lambda expressions are not allowed without parentheses");
  Ptr<Expr> body = parseExpression();
  auto lambda = make<Lambda>(start);
  lambda->args = std::move(args);
  lambda->body = std::move(body);
  return lambda;
}

Ptr<Expr> Parser::parseNestedDisjunction() {
  Nesting nesting(*this);
  return parseDisjunction();
}

Ptr<Expr> Parser::parseDisjunction() {
  SourcePosition start = here();
  Ptr<Expr> first = parseConjunction();
  if (!at(TokenKind::KwOr))
    return first;
  List<Expr> values;
  values.push_back(std::move(first));
  while (accept(TokenKind::KwOr))
    values.push_back(parseConjunction());
  auto result = make<BoolOp>(start);
  result->op = BoolOperator::Or;
  result->values = std::move(values);
  growTree();
  return result;
}

Ptr<Expr> Parser::parseConjunction() {
  SourcePosition start = here();
  Ptr<Expr> first = parseInversion();
  if (!at(TokenKind::KwAnd))
    return first;
  List<Expr> values;
  values.push_back(std::move(first));
  while (accept(TokenKind::KwAnd))
    values.push_back(parseInversion());
  auto result = make<BoolOp>(start);
  result->op = BoolOperator::And;
  result->values = std::move(values);
  return result;
}

Ptr<Expr> Parser::parseInversion() {
  if (!at(TokenKind::KwNot))
    return parseComparison();
  Nesting nesting(*this);
  SourcePosition start = here();
  advance();
  Ptr<Expr> operand = parseInversion();
  auto result = make<UnaryOp>(start);
  result->op = UnaryOperator::Not;
  result->operand = std::move(operand);
  return result;
}

std::optional<CmpOperator> Parser::acceptComparisonOperator() {
  auto take = [&](CmpOperator op) {
    advance();
    return op;
  };
  switch (kind()) {
  case TokenKind::EqualEqual:
    return take(CmpOperator::Eq);
  case TokenKind::NotEqual:
    return take(CmpOperator::NotEq);
  case TokenKind::Less:
    return take(CmpOperator::Lt);
  case TokenKind::LessEqual:
    return take(CmpOperator::LtE);
  case TokenKind::Greater:
    return take(CmpOperator::Gt);
  case TokenKind::GreaterEqual:
    return take(CmpOperator::GtE);
  case TokenKind::KwIn:
    return take(CmpOperator::In);
  case TokenKind::KwIs:
    advance();
    return accept(TokenKind::KwNot) ? CmpOperator::IsNot : CmpOperator::Is;
  case TokenKind::KwNot:
    if (peek(1).kind != TokenKind::KwIn)
      return std::nullopt;
    advance();
    return take(CmpOperator::NotIn);
  default:
    return std::nullopt;
  }
}

Ptr<Expr> Parser::parseComparison() {
  SourcePosition start = here();
  Ptr<Expr> left = parseBinary(1);
  std::optional<CmpOperator> op = acceptComparisonOperator();
  if (!op)
    return left;
  std::vector<CmpOperator> ops;
  List<Expr> comparators;
  for (; op; op = acceptComparisonOperator()) {
    ops.push_back(*op);
    comparators.push_back(parseBinary(1));
  }
  auto compare = make<Compare>(start);
  compare->left = std::move(left);
  compare->ops = std::move(ops);
  compare->comparators = std::move(comparators);
  return compare;
}

Ptr<Expr> Parser::parseBitwiseOr() {
  Nesting nesting(*this);
  return parseBinary(1);
}

Ptr<Expr> Parser::parseBinary(int minPrecedence) {
  SourcePosition start = here();
  Ptr<Expr> left = parseFactor();
  for (;;) {
    TokenKind token = kind();
    int precedence = precedences[static_cast<size_t>(token)];
    if (precedence == 0 || precedence < minPrecedence)
      return left;
    advance();
    Ptr<Expr> right = parseBinary(precedence + 1);
    auto binary = make<BinOp>(start);
    binary->left = std::move(left);
    binary->op = binaryOperator(token);
    binary->right = std::move(right);
    left = std::move(binary);
    growTree();
  }
}

Ptr<Expr> Parser::parseFactor() {
  UnaryOperator op;
  switch (kind()) {
  case TokenKind::Plus:
    op = UnaryOperator::UAdd;
    break;
  case TokenKind::Minus:
    op = UnaryOperator::USub;
    break;
  case TokenKind::Tilde:
    op = UnaryOperator::Invert;
    break;
  default:
    return parsePower();
  }
  Nesting nesting(*this);
  SourcePosition start = here();
  advance();
  Ptr<Expr> operand = parseFactor();
  auto unary = make<UnaryOp>(start);
  unary->op = op;
  unary->operand = std::move(operand);
  return unary;
}

Ptr<Expr> Parser::parsePower() {
  SourcePosition start = here();
  Ptr<Expr> base;
  if (accept(TokenKind::KwAwait)) {
    Ptr<Expr> value = parsePrimary();
    auto await = make<Await>(start);
    await->value = std::move(value);
    base = std::move(await);
  } else {
    base = parsePrimary();
  }
  if (!at(TokenKind::DoubleStar))
    return base;
  Nesting nesting(*this);
  advance();
  Ptr<Expr> exponent = parseFactor();
  auto power = make<BinOp>(start);
  power->left = std::move(base);
  power->op = Operator::Pow;
  power->right = std::move(exponent);
  return power;
}

Ptr<Expr> Parser::parsePrimary() {
  SourcePosition start = here();
  return parseTrailers(start, parseAtom());
}

/// `.name`, `(arguments)` and `[slices]`, any number of them.
Ptr<Expr> Parser::parseTrailers(SourcePosition start, Ptr<Expr> primary) {
  for (;;) {
    if (accept(TokenKind::Dot)) {
      Identifier name = expectName();
      auto attribute = make<Attribute>(start);
      attribute->value = std::move(primary);
      attribute->attr = std::move(name);
      primary = std::move(attribute);
    } else if (at(TokenKind::LParen)) {
      SourcePosition open = here();
      advance();
      CallArguments arguments = parseCallArguments(open, /*allowGenerator=*/true);
      auto call = make<Call>(start);
      call->func = std::move(primary);
      call->args = std::move(arguments.args);
      call->keywords = std::move(arguments.keywords);
      primary = std::move(call);
    } else if (accept(TokenKind::LBracket)) {
      Ptr<Expr> slice = parseSlices();
      auto subscript = make<Subscript>(start);
      subscript->value = std::move(primary);
      subscript->slice = std::move(slice);
      primary = std::move(subscript);
    } else {
      return primary;
    }
    growTree();
  }
}

} // namespace pellucid::syntax
