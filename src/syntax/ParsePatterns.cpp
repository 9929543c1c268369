// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

namespace pellucid::syntax {

//===----------------------------------------------------------------------===//
// match and case
//===----------------------------------------------------------------------===//

/// `match` is a soft keyword. It begins a statement when the logical line ends in a colon (no
/// expression or annotation does) or when what follows cannot continue an expression.
bool Parser::atMatchStatement() const {
  if (!atName("match"))
    return false;
  TokenKind next = peek(1).kind;
  if (next == TokenKind::Name || next == TokenKind::Number || next == TokenKind::String ||
      next == TokenKind::FStringStart)
    return true;
  if (!startsExpression(next) && next != TokenKind::Star)
    return false;
  size_t i = pos;
  while (i + 1 < tokens.size() && tokens[i].kind != TokenKind::Newline)
    ++i;
  return tokens[i - 1].kind == TokenKind::Colon;
}

Ptr<Stmt> Parser::parseMatch() {
  SourcePosition start = here();
  uint32_t line = advance().range.line;
  auto match = std::make_unique<Match>();
  match->subject = parseSubject();
  expect(TokenKind::Colon, "expected ':'");
  if (!accept(TokenKind::Newline))
    invalidSyntax();
  if (!accept(TokenKind::Indent))
    failHere("expected an indented block after 'match' statement on line " + std::to_string(line));
  do
    match->cases.push_back(parseCase());
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndMarker));
  accept(TokenKind::Dedent);
  match->range = rangeFrom(start);
  return match;
}

Ptr<Expr> Parser::parseSubject() {
  SourcePosition start = here();
  Ptr<Expr> first = parseStarNamedExpression();
  if (at(TokenKind::Comma))
    return parseTupleRest(start, std::move(first), &Parser::parseStarNamedExpression);
  if (first->kind == ExprKind::Starred)
    invalidSyntax();
  return first;
}

MatchCase Parser::parseCase() {
  if (!atName("case"))
    invalidSyntax();
  uint32_t line = advance().range.line;
  MatchCase result;
  result.pattern = parseTopPattern();
  if (accept(TokenKind::KwIf))
    result.guard = parseCondition();
  result.body = parseBlock("'case' statement", line);
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// After `case`: a pattern, or a sequence without brackets.
Ptr<Pattern> Parser::parseTopPattern() {
  SourcePosition start = here();
  Ptr<Pattern> first = parseMaybeStarPattern();
  if (!at(TokenKind::Comma)) {
    if (first->kind == PatternKind::MatchStar)
      invalidSyntax();
    return first;
  }
  List<Pattern> patterns;
  patterns.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::Colon) && !at(TokenKind::KwIf))
    patterns.push_back(parseMaybeStarPattern());
  auto sequence = make<MatchSequence>(start);
  sequence->patterns = std::move(patterns);
  return sequence;
}

Ptr<Pattern> Parser::parseMaybeStarPattern() {
  if (!at(TokenKind::Star))
    return parsePattern();
  SourcePosition start = here();
  advance();
  Identifier name = expectName();
  auto star = make<MatchStar>(start);
  if (name != "_")
    star->name = std::move(name);
  return star;
}

/// `or_pattern [as name]`.
Ptr<Pattern> Parser::parsePattern() {
  Nesting nesting(*this);
  SourcePosition start = here();
  Ptr<Pattern> pattern = parseOrPattern();
  if (!accept(TokenKind::KwAs))
    return pattern;
  if (atName("_"))
    failHere("cannot use '_' as a target");
  TokenKind after = peek(1).kind;
  if (!at(TokenKind::Name) || after == TokenKind::Dot || after == TokenKind::LParen)
    failHere("invalid pattern target");
  Identifier name = expectName();
  auto capture = make<MatchAs>(start);
  capture->pattern = std::move(pattern);
  capture->name = std::move(name);
  return capture;
}

Ptr<Pattern> Parser::parseOrPattern() {
  SourcePosition start = here();
  Ptr<Pattern> first = parseClosedPattern();
  if (!at(TokenKind::Pipe))
    return first;
  List<Pattern> patterns;
  patterns.push_back(std::move(first));
  while (accept(TokenKind::Pipe))
    patterns.push_back(parseClosedPattern());
  auto alternatives = make<MatchOr>(start);
  alternatives->patterns = std::move(patterns);
  return alternatives;
}

Ptr<Pattern> Parser::parseClosedPattern() {
  SourcePosition start = here();
  auto singleton = [&](Constant::Type type) {
    advance();
    auto pattern = make<MatchSingleton>(start);
    pattern->value = type;
    return pattern;
  };
  auto literal = [&](Ptr<Expr> value) {
    auto pattern = make<MatchValue>(start);
    pattern->value = std::move(value);
    return pattern;
  };
  switch (kind()) {
  case TokenKind::KwNone:
    return singleton(Constant::Type::None);
  case TokenKind::KwTrue:
    return singleton(Constant::Type::True);
  case TokenKind::KwFalse:
    return singleton(Constant::Type::False);
  case TokenKind::Minus:
  case TokenKind::Number:
    return literal(parsePatternNumber());
  case TokenKind::String:
  case TokenKind::FStringStart: {
    Ptr<Expr> value = parseStrings();
    if (value->kind == ExprKind::JoinedStr)
      fail(value->range, "patterns may only match literals and attribute lookups");
    return literal(std::move(value));
  }
  case TokenKind::LParen:
  case TokenKind::LBracket:
    return parseGroupOrSequencePattern();
  case TokenKind::LBrace:
    return parseMappingPattern();
  case TokenKind::Name:
    return parseNamePattern();
  default:
    invalidSyntax();
  }
}

/// A capture, `_`, a dotted value or a class pattern.
Ptr<Pattern> Parser::parseNamePattern() {
  SourcePosition start = here();
  TokenKind after = peek(1).kind;
  if (after != TokenKind::Dot && after != TokenKind::LParen) {
    Identifier name = expectName();
    auto capture = make<MatchAs>(start);
    if (name != "_")
      capture->name = std::move(name);
    return capture;
  }
  Ptr<Expr> value = parseNameOrAttribute();
  if (at(TokenKind::LParen))
    return parseClassPattern(start, std::move(value));
  auto pattern = make<MatchValue>(start);
  pattern->value = std::move(value);
  return pattern;
}

Ptr<Expr> Parser::parseNameOrAttribute() {
  SourcePosition start = here();
  Identifier id = expectName();
  auto name = make<Name>(start);
  name->id = std::move(id);
  Ptr<Expr> result = std::move(name);
  while (accept(TokenKind::Dot)) {
    Identifier attr = expectName();
    auto attribute = make<Attribute>(start);
    attribute->value = std::move(result);
    attribute->attr = std::move(attr);
    result = std::move(attribute);
    growTree();
  }
  return result;
}

Ptr<Pattern> Parser::parseGroupOrSequencePattern() {
  SourcePosition start = here();
  bool isList = advance().kind == TokenKind::LBracket;
  TokenKind close = isList ? TokenKind::RBracket : TokenKind::RParen;
  List<Pattern> patterns;
  bool trailingComma = false;
  SourcePosition element = here();
  while (!at(close)) {
    element = here();
    patterns.push_back(parseMaybeStarPattern());
    trailingComma = accept(TokenKind::Comma);
    if (!trailingComma)
      break;
  }
  expectClose(close, element);
  bool isGroup = !isList && patterns.size() == 1 && !trailingComma;
  if (isGroup) {
    if (patterns[0]->kind == PatternKind::MatchStar)
      fail(patterns[0]->range,
           "cannot use a starred pattern in a group; add a comma to make it a sequence");
    return std::move(patterns[0]);
  }
  auto sequence = make<MatchSequence>(start);
  sequence->patterns = std::move(patterns);
  return sequence;
}

Ptr<Pattern> Parser::parseMappingPattern() {
  SourcePosition start = here();
  advance();
  auto mapping = std::make_unique<MatchMapping>();
  SourcePosition element = here();
  while (!at(TokenKind::RBrace)) {
    element = here();
    if (mapping->rest)
      failHere("double star pattern must be the last in a mapping pattern");
    if (accept(TokenKind::DoubleStar)) {
      if (atName("_"))
        invalidSyntax();
      mapping->rest = expectName();
    } else {
      parseMappingItem(*mapping);
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClose(TokenKind::RBrace, element);
  mapping->range = rangeFrom(start);
  return mapping;
}

/// `key: pattern`, where the key is a literal or a dotted name.
void Parser::parseMappingItem(MatchMapping &into) {
  switch (kind()) {
  case TokenKind::KwNone:
    into.keys.push_back(parseNamedConstant(Constant::Type::None));
    break;
  case TokenKind::KwTrue:
    into.keys.push_back(parseNamedConstant(Constant::Type::True));
    break;
  case TokenKind::KwFalse:
    into.keys.push_back(parseNamedConstant(Constant::Type::False));
    break;
  case TokenKind::String:
  case TokenKind::FStringStart:
    into.keys.push_back(parseStrings());
    if (into.keys.back()->kind == ExprKind::JoinedStr)
      fail(into.keys.back()->range,
           "mapping pattern keys may only match literals and attribute lookups");
    break;
  case TokenKind::Minus:
  case TokenKind::Number:
    into.keys.push_back(parsePatternNumber());
    break;
  case TokenKind::Name:
    if (peek(1).kind == TokenKind::Dot) {
      into.keys.push_back(parseNameOrAttribute());
      break;
    }
    [[fallthrough]];
  default:
    invalidSyntax();
  }
  if (!accept(TokenKind::Colon))
    invalidSyntax();
  into.patterns.push_back(parsePattern());
}

/// At the `(` after a class name.
Ptr<Pattern> Parser::parseClassPattern(SourcePosition start, Ptr<Expr> cls) {
  advance();
  auto pattern = std::make_unique<MatchClass>();
  pattern->cls = std::move(cls);
  SourcePosition element = here();
  while (!at(TokenKind::RParen)) {
    element = here();
    if (at(TokenKind::Name) && peek(1).kind == TokenKind::Equal) {
      pattern->kwdAttrs.push_back(expectName());
      advance();
      pattern->kwdPatterns.push_back(parsePattern());
    } else {
      Ptr<Pattern> positional = parsePattern();
      if (!pattern->kwdAttrs.empty())
        fail(positional->range, "positional patterns follow keyword patterns");
      pattern->patterns.push_back(std::move(positional));
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClose(TokenKind::RParen, element);
  pattern->range = rangeFrom(start);
  return pattern;
}

static bool isImaginary(const Expr &number) {
  const auto *unary = as<UnaryOp>(&number);
  return as<Constant>(unary ? unary->operand.get() : &number)->type == Constant::Type::Imaginary;
}

Ptr<Expr> Parser::parseSignedNumber() {
  SourcePosition start = here();
  bool negative = accept(TokenKind::Minus);
  if (!at(TokenKind::Number))
    invalidSyntax();
  Ptr<Expr> number = parseNumber();
  if (!negative)
    return number;
  auto unary = make<UnaryOp>(start);
  unary->op = UnaryOperator::USub;
  unary->operand = std::move(number);
  return unary;
}

/// `[-]number` or the complex `[-]real ± imaginary`.
Ptr<Expr> Parser::parsePatternNumber() {
  SourcePosition start = here();
  Ptr<Expr> real = parseSignedNumber();
  if (!at(TokenKind::Plus) && !at(TokenKind::Minus))
    return real;
  if (isImaginary(*real))
    fail(real->range, "real number required in complex literal");
  Operator op = advance().kind == TokenKind::Plus ? Operator::Add : Operator::Sub;
  if (!at(TokenKind::Number))
    invalidSyntax();
  Ptr<Expr> imaginary = parseNumber();
  if (!isImaginary(*imaginary))
    fail(imaginary->range, "imaginary number required in complex literal");
  auto complex = make<BinOp>(start);
  complex->left = std::move(real);
  complex->op = op;
  complex->right = std::move(imaginary);
  return complex;
}

} // namespace pellucid::syntax
