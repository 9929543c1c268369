// SPDX-License-Identifier: Apache-2.0
#include "syntax/Parser.h"

#include "support/Diagnostics.h"
#include "syntax/ParserImpl.h"
#include "syntax/SourceEncoding.h"

#include <algorithm>

namespace pellucid::syntax {

// Small enough for the frames of an 8 MiB stack, sanitizers included.
static constexpr uint32_t MaxNesting = 1000;
static constexpr uint32_t MaxTreeHeight = 3000;

Parser::Parser(std::shared_ptr<const SourceFile> f, const TokenList &list)
    : file(std::move(f)), text(file->text()), tokens(list.tokens), lexError(list.error) {}

Parser::Nesting::Nesting(Parser &p) : parser(p), heightBefore(p.height) {
  if (parser.depth >= MaxNesting)
    parser.failHere("code is nested too deeply");
  ++parser.depth;
  parser.height = 0;
}

Parser::Nesting::~Nesting() {
  --parser.depth;
  parser.height = std::max(heightBefore, parser.height + 1);
}

void Parser::growTree() {
  if (++height > MaxTreeHeight)
    failHere("expression or statement chain is too long");
}

const Token &Parser::advance() {
  const Token &token = tokens[pos];
  if (pos + 1 < tokens.size())
    ++pos;
  return token;
}

bool Parser::accept(TokenKind k) {
  if (!at(k))
    return false;
  advance();
  return true;
}

const Token &Parser::expect(TokenKind k, const char *message) {
  if (!at(k))
    failHere(message);
  return advance();
}

/// A closing bracket after a list's element that begins at `elementStart`.
const Token &Parser::expectClose(TokenKind k, SourcePosition elementStart) {
  if (at(k))
    return advance();
  if (atExpression() && !at(TokenKind::KwLambda) && !at(TokenKind::KwNot)) {
    const SourceRange &found = peek().range;
    fail({elementStart.line, elementStart.column, found.endLine, found.endColumn},
         "invalid syntax. Perhaps you forgot a comma?");
  }
  invalidSyntax();
}

Identifier Parser::expectName() {
  if (!at(TokenKind::Name))
    invalidSyntax();
  return Identifier(textOf(advance()));
}

SourceRange Parser::rangeFrom(SourcePosition start) const {
  size_t last = pos ? pos - 1 : 0;
  auto isLayout = [&](TokenKind k) {
    return k == TokenKind::Newline || k == TokenKind::Indent || k == TokenKind::Dedent;
  };
  while (last > 0 && isLayout(tokens[last].kind))
    --last;
  return {start.line, start.column, tokens[last].range.endLine, tokens[last].range.endColumn};
}

bool Parser::startsExpression(TokenKind k) {
  switch (k) {
  case TokenKind::Name:
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::LBrace:
  case TokenKind::Ellipsis:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::KwFalse:
  case TokenKind::KwNone:
  case TokenKind::KwTrue:
  case TokenKind::KwAwait:
  case TokenKind::KwLambda:
  case TokenKind::KwNot:
    return true;
  default:
    return false;
  }
}

size_t Parser::matchingBracket(size_t open) const {
  size_t level = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    TokenKind k = tokens[i].kind;
    if (k == TokenKind::LParen || k == TokenKind::LBracket || k == TokenKind::LBrace)
      ++level;
    else if (k == TokenKind::RParen || k == TokenKind::RBracket || k == TokenKind::RBrace)
      if (--level == 0)
        return i;
  }
  return tokens.size() - 1;
}

void Parser::fail(const SourceRange &range, std::string message) const {
  // An unclosed bracket explains any error that comes up on a later line, because every line after
  // it is read as part of it.
  bool fromLexer = lexError && (!lexError->unclosedBracket || at(TokenKind::Error) ||
                                peek().range.line > lexError->range.line);
  if (fromLexer)
    throw DiagnosticError({file, lexError->range}, lexError->message);
  throw DiagnosticError({file, range}, std::move(message));
}

void Parser::invalidSyntax() const {
  switch (kind()) {
  case TokenKind::Indent:
    failHere("unexpected indent");
  case TokenKind::Dedent:
    failHere("unexpected unindent");
  default:
    failHere("invalid syntax");
  }
}

List<Stmt> Parser::parseFile() {
  List<Stmt> body;
  while (!at(TokenKind::EndMarker))
    parseStatement(body);
  return body;
}

Ptr<Expr> Parser::parseEval() {
  Ptr<Expr> expr = parseStarExpressions();
  while (accept(TokenKind::Newline)) {
  }
  if (!at(TokenKind::EndMarker))
    invalidSyntax();
  return expr;
}

std::shared_ptr<const Module> parseModule(std::shared_ptr<const SourceFile> file) {
  auto module = std::make_shared<Module>();
  module->file = decodeSource(std::move(file));
  TokenList list = tokenize(*module->file);
  module->body = Parser(module->file, list).parseFile();
  return module;
}

Ptr<Expr> parseExpression(std::shared_ptr<const SourceFile> file) {
  file = decodeSource(std::move(file));
  TokenList list = tokenize(*file);
  return Parser(file, list).parseEval();
}

} // namespace pellucid::syntax
