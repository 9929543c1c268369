// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

#include <utility>

namespace pellucid::syntax {

/// The compound statement that begins here, or null.
Ptr<Stmt> Parser::parseCompoundStatement() {
  switch (kind()) {
  case TokenKind::KwIf:
    return parseIf();
  case TokenKind::KwWhile:
    return parseWhile();
  case TokenKind::KwFor:
    return parseFor(here(), /*isAsync=*/false);
  case TokenKind::KwWith:
    return parseWith(here(), /*isAsync=*/false);
  case TokenKind::KwTry:
    return parseTry();
  case TokenKind::KwDef:
    return parseFunctionDef(here(), {}, /*isAsync=*/false);
  case TokenKind::KwClass:
    return parseClassDef({});
  case TokenKind::KwAsync:
    return parseAsync();
  case TokenKind::At:
    return parseDecorated();
  case TokenKind::Name:
    return atMatchStatement() ? parseMatch() : nullptr;
  default:
    return nullptr;
  }
}

/// The colon and the statements after it, indented or on the same line. `owner` names the statement
/// in errors.
List<Stmt> Parser::parseBlock(std::string_view owner, uint32_t ownerLine) {
  expect(TokenKind::Colon, "expected ':'");
  List<Stmt> body;
  if (!accept(TokenKind::Newline)) {
    parseSimpleStatements(body);
    return body;
  }
  if (!accept(TokenKind::Indent))
    failHere("expected an indented block after " + std::string(owner) + " on line " +
             std::to_string(ownerLine));
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndMarker))
    parseStatement(body);
  accept(TokenKind::Dedent);
  return body;
}

//===----------------------------------------------------------------------===//
// if, while, for
//===----------------------------------------------------------------------===//

/// A chain of `elif` is an If in each other's orelse; it is read in a loop because the chain may be
/// long.
Ptr<Stmt> Parser::parseIf() {
  List<If> chain;
  std::vector<SourcePosition> starts;
  List<Stmt> orelse;
  do {
    starts.push_back(here());
    std::string owner = "'" + std::string(textOf(peek())) + "' statement";
    uint32_t line = advance().range.line;
    auto branch = std::make_unique<If>();
    branch->test = parseCondition();
    branch->body = parseBlock(owner, line);
    chain.push_back(std::move(branch));
    growTree();
  } while (at(TokenKind::KwElif));
  // From the last branch to the first: each becomes the whole else part of the one before.
  orelse = parseElse("'else' statement");
  Ptr<If> outer;
  for (size_t i = chain.size(); i-- > 0;) {
    outer = std::move(chain[i]);
    outer->range = rangeFrom(starts[i]);
    outer->orelse = std::exchange(orelse, {});
    if (i > 0)
      orelse.push_back(std::move(outer));
  }
  return outer;
}

List<Stmt> Parser::parseElse(std::string_view owner) {
  if (!at(TokenKind::KwElse))
    return {};
  uint32_t line = advance().range.line;
  return parseBlock(owner, line);
}

Ptr<Stmt> Parser::parseWhile() {
  SourcePosition start = here();
  uint32_t line = advance().range.line;
  Ptr<Expr> test = parseCondition();
  List<Stmt> body = parseBlock("'while' statement", line);
  List<Stmt> orelse = parseElse("'else' statement");
  auto loop = make<While>(start);
  loop->test = std::move(test);
  loop->body = std::move(body);
  loop->orelse = std::move(orelse);
  return loop;
}

/// At `for`; `start` is at `async` where there is one.
Ptr<Stmt> Parser::parseFor(SourcePosition start, bool isAsync) {
  uint32_t line = advance().range.line;
  auto loop = std::make_unique<For>(isAsync);
  loop->target = parseForTargets();
  if (!accept(TokenKind::KwIn))
    invalidSyntax();
  loop->iter = parseStarExpressions();
  loop->body = parseBlock("'for' statement", line);
  loop->orelse = parseElse("'else' statement");
  loop->range = rangeFrom(start);
  return loop;
}

//===----------------------------------------------------------------------===//
// with
//===----------------------------------------------------------------------===//

Ptr<Stmt> Parser::parseWith(SourcePosition start, bool isAsync) {
  uint32_t line = advance().range.line;
  auto with = std::make_unique<With>(isAsync);
  if (!parseParenthesizedWithItems(with->items)) {
    do
      with->items.push_back(parseWithItem());
    while (accept(TokenKind::Comma));
  }
  with->body = parseBlock("'with' statement", line);
  with->range = rangeFrom(start);
  return with;
}

WithItem Parser::parseWithItem() {
  WithItem item;
  item.contextExpr = parseExpression();
  if (accept(TokenKind::KwAs))
    item.optionalVars = parseStarTarget();
  return item;
}

/// `(item, item as target,)`. Parentheses belong to the statement only when the colon follows them
/// and they hold plain items; otherwise nothing is read.
bool Parser::parseParenthesizedWithItems(std::vector<WithItem> &items) {
  if (!at(TokenKind::LParen))
    return false;
  size_t open = pos, close = matchingBracket(open);
  if (close + 1 >= tokens.size() || tokens[close + 1].kind != TokenKind::Colon)
    return false;
  advance();
  while (atExpression()) {
    items.push_back(parseWithItem());
    if (!accept(TokenKind::Comma))
      break;
  }
  if (pos == close && !items.empty()) {
    advance();
    return true;
  }
  pos = open;
  items.clear();
  return false;
}

//===----------------------------------------------------------------------===//
// try
//===----------------------------------------------------------------------===//

Ptr<Stmt> Parser::parseTry() {
  SourcePosition start = here();
  uint32_t line = advance().range.line;
  List<Stmt> body = parseBlock("'try' statement", line);
  bool star = false;
  std::vector<ExceptHandler> handlers = parseHandlers(star);
  List<Stmt> orelse, finalbody;
  if (!handlers.empty())
    orelse = parseElse("'else' statement");
  if (at(TokenKind::KwFinally)) {
    uint32_t finallyLine = advance().range.line;
    finalbody = parseBlock("'finally' statement", finallyLine);
  } else if (handlers.empty()) {
    failHere("expected 'except' or 'finally' block");
  }
  auto statement = std::make_unique<Try>(star);
  statement->body = std::move(body);
  statement->handlers = std::move(handlers);
  statement->orelse = std::move(orelse);
  statement->finalbody = std::move(finalbody);
  statement->range = rangeFrom(start);
  return statement;
}

std::vector<ExceptHandler> Parser::parseHandlers(bool &star) {
  std::vector<ExceptHandler> handlers;
  while (at(TokenKind::KwExcept)) {
    bool thisStar = peek(1).kind == TokenKind::Star;
    if (!handlers.empty() && thisStar != star)
      failHere("cannot have both 'except' and 'except*' on the same 'try'");
    star = thisStar;
    if (!handlers.empty() && !handlers.back().type)
      fail(handlers.back().range, "default 'except:' must be last");
    handlers.push_back(parseHandler(star));
  }
  return handlers;
}

ExceptHandler Parser::parseHandler(bool &star) {
  SourcePosition start = here();
  uint32_t line = advance().range.line;
  if (star)
    advance();
  ExceptHandler handler;
  if (star && at(TokenKind::Colon))
    failHere("expected one or more exception types");
  if (!at(TokenKind::Colon)) {
    SourcePosition typeStart = here();
    handler.type = parseExpression();
    if (at(TokenKind::Comma)) {
      while (accept(TokenKind::Comma) && atExpression())
        parseExpression();
      fail(rangeFrom(typeStart), "multiple exception types must be parenthesized");
    }
    if (accept(TokenKind::KwAs))
      handler.name = expectName();
  }
  handler.body = parseBlock(star ? "'except*' statement" : "'except' statement", line);
  handler.range = rangeFrom(start);
  return handler;
}

//===----------------------------------------------------------------------===//
// Functions and classes
//===----------------------------------------------------------------------===//

Ptr<Stmt> Parser::parseDecorated() {
  List<Expr> decorators;
  while (accept(TokenKind::At)) {
    decorators.push_back(parseNamedExpression());
    if (!accept(TokenKind::Newline))
      invalidSyntax();
  }
  SourcePosition start = here();
  if (at(TokenKind::KwClass))
    return parseClassDef(std::move(decorators));
  bool isAsync = accept(TokenKind::KwAsync);
  if (!at(TokenKind::KwDef))
    invalidSyntax();
  return parseFunctionDef(start, std::move(decorators), isAsync);
}

Ptr<Stmt> Parser::parseAsync() {
  SourcePosition start = here();
  advance();
  switch (kind()) {
  case TokenKind::KwDef:
    return parseFunctionDef(start, {}, /*isAsync=*/true);
  case TokenKind::KwFor:
    return parseFor(start, /*isAsync=*/true);
  case TokenKind::KwWith:
    return parseWith(start, /*isAsync=*/true);
  default:
    invalidSyntax();
  }
}

/// At `def`; `start` is at `async` where there is one.
Ptr<Stmt> Parser::parseFunctionDef(SourcePosition start, List<Expr> decorators, bool isAsync) {
  uint32_t line = advance().range.line;
  auto function = std::make_unique<FunctionDef>(isAsync);
  function->decoratorList = std::move(decorators);
  function->name = expectName();
  function->typeParams = parseTypeParams();
  expect(TokenKind::LParen, "expected '('");
  function->args = parseParameters(ParameterStyle::Def, TokenKind::RParen);
  if (!accept(TokenKind::RParen))
    invalidSyntax();
  if (accept(TokenKind::Arrow))
    function->returns = parseExpression();
  function->body = parseBlock("function definition", line);
  function->range = rangeFrom(start);
  return function;
}

Ptr<Stmt> Parser::parseClassDef(List<Expr> decorators) {
  SourcePosition start = here();
  uint32_t line = advance().range.line;
  auto definition = std::make_unique<ClassDef>();
  definition->decoratorList = std::move(decorators);
  definition->name = expectName();
  definition->typeParams = parseTypeParams();
  SourcePosition open = here();
  if (accept(TokenKind::LParen)) {
    CallArguments arguments = parseCallArguments(open, /*allowGenerator=*/false);
    definition->bases = std::move(arguments.args);
    definition->keywords = std::move(arguments.keywords);
  }
  definition->body = parseBlock("class definition", line);
  definition->range = rangeFrom(start);
  return definition;
}

} // namespace pellucid::syntax
