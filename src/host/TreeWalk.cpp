// SPDX-License-Identifier: Apache-2.0
#include "host/TreeWalk.h"

namespace pellucid::host {

using namespace syntax;
using ExprVisitor = std::function<void(const Expr &)>;
using StmtVisitor = std::function<void(const Stmt &)>;

static void one(const Ptr<Expr> &e, const ExprVisitor &visit) {
  if (e)
    visit(*e);
}
static void each(const List<Expr> &list, const ExprVisitor &visit) {
  for (const auto &e : list)
    one(e, visit);
}
static void generators(const std::vector<Comprehension> &list, const ExprVisitor &visit) {
  for (const Comprehension &g : list) {
    one(g.iter, visit);
    each(g.ifs, visit);
  }
}
static void defaults(const Arguments &args, const ExprVisitor &visit) {
  each(args.defaults, visit);
  each(args.kwDefaults, visit);
}

void forEachChild(const Expr &e, const ExprVisitor &visit) {
  switch (e.kind) {
  case ExprKind::BoolOp:
    return each(as<BoolOp>(&e)->values, visit);
  case ExprKind::NamedExpr:
    return one(as<NamedExpr>(&e)->value, visit);
  case ExprKind::BinOp:
    one(as<BinOp>(&e)->left, visit);
    return one(as<BinOp>(&e)->right, visit);
  case ExprKind::UnaryOp:
    return one(as<UnaryOp>(&e)->operand, visit);
  case ExprKind::Lambda:
    defaults(as<Lambda>(&e)->args, visit);
    return one(as<Lambda>(&e)->body, visit);
  case ExprKind::IfExp:
    one(as<IfExp>(&e)->body, visit);
    one(as<IfExp>(&e)->test, visit);
    return one(as<IfExp>(&e)->orelse, visit);
  case ExprKind::Dict:
    each(as<Dict>(&e)->keys, visit);
    return each(as<Dict>(&e)->values, visit);
  case ExprKind::Set:
    return each(as<Set>(&e)->elts, visit);
  case ExprKind::ListComp:
    one(as<ListComp>(&e)->elt, visit);
    return generators(as<ListComp>(&e)->generators, visit);
  case ExprKind::SetComp:
    one(as<SetComp>(&e)->elt, visit);
    return generators(as<SetComp>(&e)->generators, visit);
  case ExprKind::GeneratorExp:
    one(as<GeneratorExp>(&e)->elt, visit);
    return generators(as<GeneratorExp>(&e)->generators, visit);
  case ExprKind::DictComp:
    one(as<DictComp>(&e)->key, visit);
    one(as<DictComp>(&e)->value, visit);
    return generators(as<DictComp>(&e)->generators, visit);
  case ExprKind::Await:
    return one(as<Await>(&e)->value, visit);
  case ExprKind::Yield:
    return one(as<Yield>(&e)->value, visit);
  case ExprKind::YieldFrom:
    return one(as<YieldFrom>(&e)->value, visit);
  case ExprKind::Compare:
    one(as<Compare>(&e)->left, visit);
    return each(as<Compare>(&e)->comparators, visit);
  case ExprKind::Call:
    one(as<Call>(&e)->func, visit);
    each(as<Call>(&e)->args, visit);
    for (const auto &k : as<Call>(&e)->keywords)
      one(k->value, visit);
    return;
  case ExprKind::FormattedValue:
    return one(as<FormattedValue>(&e)->value, visit);
  case ExprKind::JoinedStr:
    return each(as<JoinedStr>(&e)->values, visit);
  case ExprKind::Attribute:
    return one(as<Attribute>(&e)->value, visit);
  case ExprKind::Subscript:
    one(as<Subscript>(&e)->value, visit);
    return one(as<Subscript>(&e)->slice, visit);
  case ExprKind::Starred:
    return one(as<Starred>(&e)->value, visit);
  case ExprKind::List:
    return each(as<ListExpr>(&e)->elts, visit);
  case ExprKind::Tuple:
    return each(as<Tuple>(&e)->elts, visit);
  case ExprKind::Slice:
    one(as<Slice>(&e)->lower, visit);
    one(as<Slice>(&e)->upper, visit);
    return one(as<Slice>(&e)->step, visit);
  case ExprKind::Constant:
  case ExprKind::Name:
    return;
  }
}

static void block(const List<Stmt> &list, const StmtVisitor &visit) {
  for (const auto &s : list)
    visit(*s);
}

void forEachChild(const Stmt &s, const ExprVisitor &expr, const StmtVisitor &stmt) {
  switch (s.kind) {
  case StmtKind::FunctionDef:
  case StmtKind::AsyncFunctionDef: {
    auto &f = static_cast<const FunctionDef &>(s);
    each(f.decoratorList, expr);
    defaults(f.args, expr);
    return block(f.body, stmt);
  }
  case StmtKind::ClassDef:
    each(as<ClassDef>(&s)->decoratorList, expr);
    each(as<ClassDef>(&s)->bases, expr);
    return block(as<ClassDef>(&s)->body, stmt);
  case StmtKind::Return:
    return one(as<Return>(&s)->value, expr);
  case StmtKind::Assign:
    one(as<Assign>(&s)->value, expr);
    return each(as<Assign>(&s)->targets, expr);
  case StmtKind::AugAssign:
    one(as<AugAssign>(&s)->target, expr);
    return one(as<AugAssign>(&s)->value, expr);
  case StmtKind::AnnAssign:
    return one(as<AnnAssign>(&s)->value, expr);
  case StmtKind::For:
  case StmtKind::AsyncFor: {
    auto &f = static_cast<const For &>(s);
    one(f.iter, expr);
    block(f.body, stmt);
    return block(f.orelse, stmt);
  }
  case StmtKind::While:
    one(as<While>(&s)->test, expr);
    block(as<While>(&s)->body, stmt);
    return block(as<While>(&s)->orelse, stmt);
  case StmtKind::If:
    one(as<If>(&s)->test, expr);
    block(as<If>(&s)->body, stmt);
    return block(as<If>(&s)->orelse, stmt);
  case StmtKind::With:
  case StmtKind::AsyncWith:
    for (const WithItem &item : static_cast<const With &>(s).items)
      one(item.contextExpr, expr);
    return block(static_cast<const With &>(s).body, stmt);
  case StmtKind::Match:
    one(as<Match>(&s)->subject, expr);
    for (const MatchCase &c : as<Match>(&s)->cases)
      block(c.body, stmt);
    return;
  case StmtKind::Raise:
    return one(as<Raise>(&s)->exc, expr);
  case StmtKind::Try:
  case StmtKind::TryStar: {
    auto &t = static_cast<const Try &>(s);
    block(t.body, stmt);
    for (const ExceptHandler &h : t.handlers)
      block(h.body, stmt);
    block(t.orelse, stmt);
    return block(t.finalbody, stmt);
  }
  case StmtKind::Assert:
    one(as<Assert>(&s)->test, expr);
    return one(as<Assert>(&s)->msg, expr);
  case StmtKind::Expr:
    return one(as<ExprStmt>(&s)->value, expr);
  case StmtKind::Delete:
    return each(as<Delete>(&s)->targets, expr);
  default:
    return;
  }
}

} // namespace pellucid::host
