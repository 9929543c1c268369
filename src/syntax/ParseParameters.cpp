// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

#include <unordered_set>

namespace pellucid::syntax {

struct Parser::ParameterState {
  Arguments result;
  ParameterStyle style;
  TokenKind close;
  bool sawSlash = false, sawStar = false;
  std::unordered_set<std::string> names;
};

Arguments Parser::parseParameters(ParameterStyle style, TokenKind close) {
  ParameterState state;
  state.style = style;
  state.close = close;
  while (!at(close)) {
    if (state.result.kwarg)
      failHere("arguments cannot follow var-keyword argument");
    if (at(TokenKind::Star))
      parseStarParameter(state);
    else if (at(TokenKind::DoubleStar))
      parseDoubleStarParameter(state);
    else if (at(TokenKind::Slash))
      markPositionalOnly(state);
    else
      parseOneParameter(state);
    if (!accept(TokenKind::Comma))
      break;
  }
  return std::move(state.result);
}

Ptr<Arg> Parser::parseParameterName(ParameterState &state, bool allowStarAnnotation) {
  SourcePosition start = here();
  if (at(TokenKind::LParen))
    failHere(state.style == ParameterStyle::Lambda
                 ? "Lambda expression parameters cannot be parenthesized"
                 : "Function parameters cannot be parenthesized");
  SourceRange nameRange = peek().range;
  Identifier name = expectName();
  if (!state.names.insert(name).second)
    fail(nameRange, "duplicate argument '" + name + "' in function definition");
  Ptr<Expr> annotation;
  if (state.style == ParameterStyle::Def && accept(TokenKind::Colon))
    annotation = allowStarAnnotation && at(TokenKind::Star) ? parseStarred() : parseExpression();
  auto arg = make<Arg>(start);
  arg->arg = std::move(name);
  arg->annotation = std::move(annotation);
  return arg;
}

/// `name[: annotation][= default]`.
void Parser::parseOneParameter(ParameterState &state) {
  SourceRange nameRange = peek().range;
  Ptr<Arg> arg = parseParameterName(state, /*allowStarAnnotation=*/false);
  Ptr<Expr> value;
  if (accept(TokenKind::Equal)) {
    if (at(TokenKind::Comma) || at(state.close))
      fail(tokens[pos - 1].range, "expected default value expression");
    value = parseExpression();
  }
  Arguments &result = state.result;
  if (state.sawStar) {
    result.kwonlyargs.push_back(std::move(arg));
    result.kwDefaults.push_back(std::move(value));
    return;
  }
  if (value)
    result.defaults.push_back(std::move(value));
  else if (!result.defaults.empty())
    fail(nameRange, "non-default argument follows default argument");
  result.args.push_back(std::move(arg));
}

/// `*args`, or a bare `*` before keyword-only parameters.
void Parser::parseStarParameter(ParameterState &state) {
  const Token &star = advance();
  if (state.sawStar)
    fail(star.range, "* argument may appear only once");
  state.sawStar = true;
  if (at(TokenKind::Comma)) {
    TokenKind next = peek(1).kind;
    if (next == state.close || next == TokenKind::DoubleStar)
      fail(star.range, "named arguments must follow bare *");
    return;
  }
  if (at(state.close))
    fail(star.range, "named arguments must follow bare *");
  state.result.vararg = parseParameterName(state, /*allowStarAnnotation=*/true);
  if (at(TokenKind::Equal))
    failHere("var-positional argument cannot have default value");
}

void Parser::parseDoubleStarParameter(ParameterState &state) {
  advance();
  state.result.kwarg = parseParameterName(state, /*allowStarAnnotation=*/false);
  if (at(TokenKind::Equal))
    failHere("var-keyword argument cannot have default value");
}

/// At `/`.
void Parser::markPositionalOnly(ParameterState &state) {
  if (state.sawSlash)
    failHere("/ may appear only once");
  if (state.sawStar)
    failHere("/ must be ahead of *");
  if (state.result.args.empty())
    failHere("at least one argument must precede /");
  advance();
  if (at(TokenKind::Star))
    failHere("expected comma between / and *");
  state.sawSlash = true;
  state.result.posonlyargs = std::move(state.result.args);
  state.result.args.clear();
}

/// `[T, U: bound, *Ts, **P]` (PEP 695), or nothing.
List<TypeParam> Parser::parseTypeParams() {
  List<TypeParam> params;
  if (!accept(TokenKind::LBracket))
    return params;
  if (at(TokenKind::RBracket))
    failHere("Type parameter list cannot be empty");
  std::unordered_set<std::string> names;
  while (!at(TokenKind::RBracket)) {
    SourcePosition start = here();
    auto form = TypeParam::Form::TypeVar;
    if (accept(TokenKind::Star))
      form = TypeParam::Form::TypeVarTuple;
    else if (accept(TokenKind::DoubleStar))
      form = TypeParam::Form::ParamSpec;
    SourceRange nameRange = peek().range;
    Identifier name = expectName();
    if (!names.insert(name).second)
      fail(nameRange, "duplicate type parameter '" + name + "'");
    Ptr<Expr> bound;
    if (at(TokenKind::Colon) && form != TypeParam::Form::TypeVar)
      failHere(form == TypeParam::Form::ParamSpec ? "cannot use bound with ParamSpec"
                                                  : "cannot use bound with TypeVarTuple");
    if (accept(TokenKind::Colon))
      bound = parseExpression();
    auto param = make<TypeParam>(start);
    param->form = form;
    param->name = std::move(name);
    param->bound = std::move(bound);
    params.push_back(std::move(param));
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "expected ',' or ']' in the type parameter list");
  return params;
}

} // namespace pellucid::syntax
