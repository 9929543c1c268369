// SPDX-License-Identifier: Apache-2.0
#include "syntax/ParserImpl.h"

namespace pellucid::syntax {

/// What CPython calls the expression in "cannot assign to …".
std::string_view Parser::describe(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Attribute:
    return "attribute";
  case ExprKind::Subscript:
    return "subscript";
  case ExprKind::Starred:
    return "starred";
  case ExprKind::Name:
    return "name";
  case ExprKind::List:
    return "list";
  case ExprKind::Tuple:
    return "tuple";
  case ExprKind::Lambda:
    return "lambda";
  case ExprKind::Call:
    return "function call";
  case ExprKind::BoolOp:
  case ExprKind::BinOp:
  case ExprKind::UnaryOp:
    return "expression";
  case ExprKind::GeneratorExp:
    return "generator expression";
  case ExprKind::Yield:
  case ExprKind::YieldFrom:
    return "yield expression";
  case ExprKind::Await:
    return "await expression";
  case ExprKind::ListComp:
    return "list comprehension";
  case ExprKind::SetComp:
    return "set comprehension";
  case ExprKind::DictComp:
    return "dict comprehension";
  case ExprKind::Dict:
    return "dict literal";
  case ExprKind::Set:
    return "set display";
  case ExprKind::JoinedStr:
  case ExprKind::FormattedValue:
    return "f-string expression";
  case ExprKind::Compare:
    return "comparison";
  case ExprKind::IfExp:
    return "conditional expression";
  case ExprKind::NamedExpr:
    return "named expression";
  case ExprKind::Slice:
    return "slice";
  case ExprKind::Constant:
    break;
  }
  switch (as<Constant>(&expr)->type) {
  case Constant::Type::None:
    return "None";
  case Constant::Type::True:
    return "True";
  case Constant::Type::False:
    return "False";
  case Constant::Type::Ellipsis:
    return "ellipsis";
  default:
    return "literal";
  }
}

bool Parser::suggestsComparison(const Expr &target) {
  switch (target.kind) {
  case ExprKind::Call:
  case ExprKind::BinOp:
  case ExprKind::Await:
  case ExprKind::NamedExpr:
  case ExprKind::Yield:
  case ExprKind::YieldFrom:
  case ExprKind::ListComp:
  case ExprKind::SetComp:
  case ExprKind::DictComp:
  case ExprKind::Dict:
  case ExprKind::Set:
  case ExprKind::JoinedStr:
    return true;
  case ExprKind::UnaryOp:
    return static_cast<const UnaryOp &>(target).op != UnaryOperator::Not;
  case ExprKind::Constant: {
    auto type = static_cast<const Constant &>(target).type;
    return type >= Constant::Type::Ellipsis;
  }
  default:
    return false;
  }
}

/// At an `=` where no assignment can stand, after `expr`.
void Parser::rejectAssignment(const Expr &expr) const {
  if (expr.kind == ExprKind::Name)
    fail(expr.range, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  if (suggestsComparison(expr))
    fail(expr.range, "cannot assign to " + std::string(describe(expr)) + MeantComparison);
  invalidSyntax();
}

void Parser::setContext(Expr &target, ExprContext context, std::string_view suffix) const {
  auto setAll = [&](List<Expr> &elts) {
    for (Ptr<Expr> &element : elts)
      setContext(*element, context);
  };
  switch (target.kind) {
  case ExprKind::Name:
    static_cast<Name &>(target).ctx = context;
    return;
  case ExprKind::Attribute:
    static_cast<Attribute &>(target).ctx = context;
    return;
  case ExprKind::Subscript:
    static_cast<Subscript &>(target).ctx = context;
    return;
  case ExprKind::List:
    static_cast<ListExpr &>(target).ctx = context;
    return setAll(static_cast<ListExpr &>(target).elts);
  case ExprKind::Tuple:
    static_cast<Tuple &>(target).ctx = context;
    return setAll(static_cast<Tuple &>(target).elts);
  case ExprKind::Starred:
    if (context == ExprContext::Store) {
      static_cast<Starred &>(target).ctx = context;
      return setContext(*static_cast<Starred &>(target).value, context);
    }
    break;
  default:
    break;
  }
  std::string verb = context == ExprContext::Del ? "cannot delete " : "cannot assign to ";
  fail(target.range, verb + std::string(describe(target)) + std::string(suffix));
}

/// `*target` or `target`, as in `with … as target`.
Ptr<Expr> Parser::parseStarTarget() {
  Ptr<Expr> target = at(TokenKind::Star) ? parseStarred() : parseBitwiseOr();
  setContext(*target, ExprContext::Store);
  return target;
}

/// Between `for` and `in`.
Ptr<Expr> Parser::parseForTargets() {
  SourcePosition start = here();
  Ptr<Expr> first = parseStarTarget();
  if (!at(TokenKind::Comma))
    return first;
  List<Expr> elts;
  elts.push_back(std::move(first));
  while (accept(TokenKind::Comma) && !at(TokenKind::KwIn))
    elts.push_back(parseStarTarget());
  auto tuple = make<Tuple>(start);
  tuple->elts = std::move(elts);
  tuple->ctx = ExprContext::Store;
  return tuple;
}

Ptr<Expr> Parser::parseDeleteTarget() {
  Ptr<Expr> target = at(TokenKind::Star) ? parseStarred() : parseExpression();
  setContext(*target, ExprContext::Del);
  return target;
}

} // namespace pellucid::syntax
