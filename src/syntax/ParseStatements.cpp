// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

namespace pellucid::syntax {

void Parser::parseStatement(List<Stmt> &into) {
  Nesting nesting(*this);
  if (Ptr<Stmt> compound = parseCompoundStatement())
    into.push_back(std::move(compound));
  else
    parseSimpleStatements(into);
}

/// One line: statements between semicolons.
void Parser::parseSimpleStatements(List<Stmt> &into) {
  do {
    into.push_back(parseSimpleStatement());
  } while (accept(TokenKind::Semicolon) && !at(TokenKind::Newline));
  if (at(TokenKind::EndMarker) || accept(TokenKind::Newline))
    return;
  invalidSyntax();
}

Ptr<Stmt> Parser::parseSimpleStatement() {
  SourcePosition start = here();
  switch (kind()) {
  case TokenKind::KwPass:
    advance();
    return make<Pass>(start);
  case TokenKind::KwBreak:
    advance();
    return make<Break>(start);
  case TokenKind::KwContinue:
    advance();
    return make<Continue>(start);
  case TokenKind::KwReturn:
    return parseReturn();
  case TokenKind::KwImport:
    return parseImport();
  case TokenKind::KwFrom:
    return parseImportFrom();
  case TokenKind::KwRaise:
    return parseRaise();
  case TokenKind::KwAssert:
    return parseAssert();
  case TokenKind::KwDel:
    return parseDelete();
  case TokenKind::KwGlobal: {
    std::vector<Identifier> names = parseNameList();
    auto global = make<Global>(start);
    global->names = std::move(names);
    return global;
  }
  case TokenKind::KwNonlocal: {
    std::vector<Identifier> names = parseNameList();
    auto nonlocal = make<Nonlocal>(start);
    nonlocal->names = std::move(names);
    return nonlocal;
  }
  default:
    return atTypeAlias() ? parseTypeAlias() : parseExpressionStatement();
  }
}

//===----------------------------------------------------------------------===//
// Expressions and assignments
//===----------------------------------------------------------------------===//

static bool isAugmentedAssignment(TokenKind kind) {
  return kind >= TokenKind::PlusEqual && kind <= TokenKind::DoubleSlashEqual;
}

Ptr<Stmt> Parser::parseExpressionStatement() {
  SourcePosition start = here();
  bool parenthesized = at(TokenKind::LParen);
  Ptr<Expr> first = parseYieldOrStarExpressions();
  if (at(TokenKind::Equal))
    return parseAssignment(start, std::move(first));
  if (isAugmentedAssignment(kind()))
    return parseAugmentedAssignment(start, std::move(first));
  if (at(TokenKind::Colon))
    return parseAnnotatedAssignment(start, std::move(first), parenthesized);
  if (!at(TokenKind::Newline) && !at(TokenKind::Semicolon) && !at(TokenKind::EndMarker))
    failAfterExpressionStatement(*first);
  auto statement = make<ExprStmt>(start);
  statement->value = std::move(first);
  return statement;
}

void Parser::failAfterExpressionStatement(const Expr &expr) {
  const auto *name = as<Name>(&expr);
  bool python2 = name && (name->id == "print" || name->id == "exec") && atExpression();
  if (python2)
    fail(expr.range,
         "Missing parentheses in call to '" + name->id + "'. Did you mean " + name->id + "(...)?");
  if (at(TokenKind::ColonEqual) && !name)
    fail(expr.range, "cannot use assignment expressions with " + std::string(describe(expr)));
  invalidSyntax();
}

/// At the first `=`.
Ptr<Stmt> Parser::parseAssignment(SourcePosition start, Ptr<Expr> first) {
  List<Expr> targets;
  Ptr<Expr> value = std::move(first);
  SourcePosition operand = start;
  while (accept(TokenKind::Equal)) {
    // A parenthesized yield begins after its parenthesis.
    bool isYield = value->kind == ExprKind::Yield || value->kind == ExprKind::YieldFrom;
    if (isYield && value->range.column == operand.column)
      fail(value->range, "assignment to yield expression not possible");
    bool suggest = targets.empty() && suggestsComparison(*value);
    setContext(*value, ExprContext::Store, suggest ? MeantComparison : "");
    targets.push_back(std::move(value));
    operand = here();
    value = parseYieldOrStarExpressions();
  }
  if (!at(TokenKind::Newline) && !at(TokenKind::Semicolon) && !at(TokenKind::EndMarker))
    invalidSyntax();
  auto assign = make<Assign>(start);
  assign->targets = std::move(targets);
  assign->value = std::move(value);
  return assign;
}

Ptr<Stmt> Parser::parseAugmentedAssignment(SourcePosition start, Ptr<Expr> target) {
  if (target->kind != ExprKind::Name && target->kind != ExprKind::Attribute &&
      target->kind != ExprKind::Subscript)
    fail(target->range, "'" + std::string(describe(*target)) +
                            "' is an illegal expression for augmented assignment");
  setContext(*target, ExprContext::Store);
  auto op =
      static_cast<Operator>(static_cast<int>(kind()) - static_cast<int>(TokenKind::PlusEqual));
  advance();
  Ptr<Expr> value = parseYieldOrStarExpressions();
  auto assign = make<AugAssign>(start);
  assign->target = std::move(target);
  assign->op = op;
  assign->value = std::move(value);
  return assign;
}

/// At the colon of `target: annotation [= value]`.
Ptr<Stmt> Parser::parseAnnotatedAssignment(SourcePosition start, Ptr<Expr> target,
                                           bool parenthesized) {
  if (target->kind == ExprKind::Tuple || target->kind == ExprKind::List)
    fail(target->range,
         "only single target (not " + std::string(describe(*target)) + ") can be annotated");
  if (target->kind != ExprKind::Name && target->kind != ExprKind::Attribute &&
      target->kind != ExprKind::Subscript) {
    if (!atExpression() && peek(1).kind == TokenKind::Newline)
      invalidSyntax();
    fail(target->range, "illegal target for annotation");
  }
  setContext(*target, ExprContext::Store);
  advance();
  Ptr<Expr> annotation = parseExpression(), value;
  if (accept(TokenKind::Equal))
    value = parseYieldOrStarExpressions();
  auto assign = make<AnnAssign>(start);
  assign->simple = target->kind == ExprKind::Name && !parenthesized;
  assign->target = std::move(target);
  assign->annotation = std::move(annotation);
  assign->value = std::move(value);
  return assign;
}

/// `type` is a soft keyword: two names in a row are nothing else.
bool Parser::atTypeAlias() const { return atName("type") && peek(1).kind == TokenKind::Name; }

Ptr<Stmt> Parser::parseTypeAlias() {
  SourcePosition start = here();
  advance();
  SourcePosition nameStart = here();
  Identifier id = expectName();
  auto name = make<Name>(nameStart);
  name->id = std::move(id);
  name->ctx = ExprContext::Store;
  List<TypeParam> params = parseTypeParams();
  expect(TokenKind::Equal, "expected '='");
  Ptr<Expr> value = parseExpression();
  auto alias = make<TypeAlias>(start);
  alias->name = std::move(name);
  alias->typeParams = std::move(params);
  alias->value = std::move(value);
  return alias;
}

//===----------------------------------------------------------------------===//
// Statements that begin with a keyword
//===----------------------------------------------------------------------===//

Ptr<Stmt> Parser::parseReturn() {
  SourcePosition start = here();
  advance();
  Ptr<Expr> value;
  if (atExpression() || at(TokenKind::Star))
    value = parseStarExpressions();
  auto statement = make<Return>(start);
  statement->value = std::move(value);
  return statement;
}

Ptr<Stmt> Parser::parseRaise() {
  SourcePosition start = here();
  advance();
  Ptr<Expr> exc, cause;
  if (atExpression())
    exc = parseExpression();
  if (exc && accept(TokenKind::KwFrom))
    cause = parseExpression();
  auto raise = make<Raise>(start);
  raise->exc = std::move(exc);
  raise->cause = std::move(cause);
  return raise;
}

Ptr<Stmt> Parser::parseAssert() {
  SourcePosition start = here();
  advance();
  Ptr<Expr> test = parseExpression(), message;
  if (accept(TokenKind::Comma))
    message = parseExpression();
  auto statement = make<Assert>(start);
  statement->test = std::move(test);
  statement->msg = std::move(message);
  return statement;
}

Ptr<Stmt> Parser::parseDelete() {
  SourcePosition start = here();
  advance();
  List<Expr> targets;
  do
    targets.push_back(parseDeleteTarget());
  while (accept(TokenKind::Comma) && !at(TokenKind::Newline) && !at(TokenKind::Semicolon));
  auto statement = make<Delete>(start);
  statement->targets = std::move(targets);
  return statement;
}

/// After `global` or `nonlocal`.
std::vector<Identifier> Parser::parseNameList() {
  advance();
  std::vector<Identifier> names;
  do
    names.push_back(expectName());
  while (accept(TokenKind::Comma));
  return names;
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

Identifier Parser::parseDottedName() {
  Identifier name = expectName();
  while (accept(TokenKind::Dot))
    name += "." + expectName();
  return name;
}

Alias Parser::parseAlias(bool dotted) {
  SourcePosition start = here();
  Alias alias;
  alias.name = dotted ? parseDottedName() : expectName();
  if (accept(TokenKind::KwAs))
    alias.asname = expectName();
  alias.range = rangeFrom(start);
  return alias;
}

Ptr<Stmt> Parser::parseImport() {
  SourcePosition start = here();
  advance();
  std::vector<Alias> names;
  do
    names.push_back(parseAlias(/*dotted=*/true));
  while (accept(TokenKind::Comma));
  auto import = make<Import>(start);
  import->names = std::move(names);
  return import;
}

Ptr<Stmt> Parser::parseImportFrom() {
  SourcePosition start = here();
  advance();
  int level = 0;
  for (; at(TokenKind::Dot) || at(TokenKind::Ellipsis); advance())
    level += at(TokenKind::Dot) ? 1 : 3;
  std::optional<Identifier> module;
  if (level == 0 || at(TokenKind::Name))
    module = parseDottedName();
  if (!accept(TokenKind::KwImport))
    invalidSyntax();
  std::vector<Alias> names = parseImportedNames();
  auto import = make<ImportFrom>(start);
  import->module = std::move(module);
  import->names = std::move(names);
  import->level = level;
  return import;
}

/// `*`, `a, b as c` or the same in parentheses, where a last comma is allowed.
std::vector<Alias> Parser::parseImportedNames() {
  std::vector<Alias> names;
  SourcePosition start = here();
  if (accept(TokenKind::Star)) {
    Alias star;
    star.name = "*";
    star.range = rangeFrom(start);
    names.push_back(std::move(star));
    return names;
  }
  bool parenthesized = accept(TokenKind::LParen);
  do {
    if (!names.empty() && parenthesized && at(TokenKind::RParen))
      break;
    if (!names.empty() && !parenthesized && at(TokenKind::Newline))
      fail(tokens[pos - 1].range, "trailing comma not allowed without surrounding parentheses");
    names.push_back(parseAlias(/*dotted=*/false));
  } while (accept(TokenKind::Comma));
  if (parenthesized && !accept(TokenKind::RParen))
    invalidSyntax();
  return names;
}

} // namespace pellucid::syntax
