// SPDX-License-Identifier: Apache-2.0
/// Which names a text reads: at once, and in what it makes. What is read later stays when a call
/// ends; everything else goes.
#include "host/InterpreterState.h"

#include <algorithm>
#include <cctype>

namespace pellucid::host {

using namespace syntax;

namespace {

/// Every expression, pattern and statement of a body. Names that are only bound count as read too:
/// what is too much here stays a little longer.
class ReadCollector {
public:
  ReadCollector(Interpreter::State &s, NameSet &n, NameSet &l) : state(s), now(n), later(l) {}

  void stmts(const syntax::List<Stmt> &body) {
    for (const auto &s : body)
      stmt(*s);
  }
  void one(const Ptr<syntax::Expr> &e) {
    if (e)
      expr(*e);
  }
  void expr(const syntax::Expr &e);

private:
  Interpreter::State &state;
  NameSet &now, &later;

  void each(const syntax::List<syntax::Expr> &list) {
    for (const auto &e : list)
      one(e);
  }
  void keepsLater(const NameSet &names) {
    now.insert(names.begin(), names.end());
    later.insert(names.begin(), names.end());
  }
  /// What is evaluated when somebody asks for it. A text in it may be evaluated too.
  void waits(const syntax::Expr *e) {
    if (!e)
      return;
    NameSet names;
    ReadCollector inner(state, names, names);
    inner.inTexts = true;
    inner.expr(*e);
    keepsLater(names);
  }
  bool inTexts = false;
  void words(const std::string &text) {
    for (size_t i = 0; i < text.size();) {
      auto isPart = [&](size_t at) {
        auto c = static_cast<unsigned char>(text[at]);
        return std::isalnum(c) || c == '_' || c > 127;
      };
      size_t end = i;
      while (end < text.size() && isPart(end))
        ++end;
      if (end > i)
        now.insert(text.substr(i, end - i));
      i = std::max(end, i + 1);
    }
  }

  void parameters(const Arguments &args) {
    each(args.defaults);
    each(args.kwDefaults);
    for (const auto *list : {&args.posonlyargs, &args.args, &args.kwonlyargs})
      for (const auto &arg : *list)
        waits(arg->annotation.get());
    for (const Arg *arg : {args.vararg.get(), args.kwarg.get()})
      if (arg)
        waits(arg->annotation.get());
  }
  void function(const FunctionDef &def) {
    each(def.decoratorList);
    parameters(def.args);
    waits(def.returns.get());
    for (const auto &parameter : def.typeParams)
      waits(parameter->bound.get());
    keepsLater(state.factsOf(&def, &def.args, def.body).frees);
  }
  void classDef(const ClassDef &def) {
    each(def.decoratorList);
    each(def.bases);
    for (const auto &keyword : def.keywords)
      one(keyword->value);
    for (const auto &parameter : def.typeParams)
      waits(parameter->bound.get());
    NameSet names;
    ReadCollector(state, names, names).stmts(def.body);
    keepsLater(names);
  }

  /// The first iterable is evaluated outside of it, at once.
  void comprehension(const std::vector<Comprehension> &generators,
                     std::initializer_list<const syntax::Expr *> elements, bool isLate) {
    one(generators[0].iter);
    NameSet inside, insideLater, targets;
    ReadCollector inner(state, inside, insideLater);
    for (const syntax::Expr *element : elements)
      inner.expr(*element);
    for (size_t i = 0; i < generators.size(); ++i) {
      if (i > 0)
        inner.one(generators[i].iter);
      inner.one(generators[i].target);
      inner.each(generators[i].ifs);
    }
    now.insert(inside.begin(), inside.end());
    const NameSet &kept = isLate ? inside : insideLater;
    later.insert(kept.begin(), kept.end());
    later.insert(insideLater.begin(), insideLater.end());
  }

  void pattern(const Pattern &p);
  void stmt(const Stmt &s);
};

void ReadCollector::expr(const syntax::Expr &e) {
  switch (e.kind) {
  case ExprKind::Name:
    now.insert(as<Name>(&e)->id);
    return;
  case ExprKind::Constant:
    if (inTexts && as<Constant>(&e)->type == Constant::Type::String)
      words(as<Constant>(&e)->text);
    return;
  case ExprKind::Lambda:
    parameters(as<Lambda>(&e)->args);
    return keepsLater(state.factsOfLambda(*as<Lambda>(&e)).frees);
  case ExprKind::ListComp:
    return comprehension(as<ListComp>(&e)->generators, {as<ListComp>(&e)->elt.get()}, false);
  case ExprKind::SetComp:
    return comprehension(as<SetComp>(&e)->generators, {as<SetComp>(&e)->elt.get()}, false);
  case ExprKind::DictComp:
    return comprehension(as<DictComp>(&e)->generators,
                         {as<DictComp>(&e)->key.get(), as<DictComp>(&e)->value.get()}, false);
  case ExprKind::GeneratorExp:
    return comprehension(as<GeneratorExp>(&e)->generators, {as<GeneratorExp>(&e)->elt.get()}, true);
  case ExprKind::BoolOp:
    return each(as<BoolOp>(&e)->values);
  case ExprKind::NamedExpr:
    one(as<NamedExpr>(&e)->target);
    return one(as<NamedExpr>(&e)->value);
  case ExprKind::BinOp:
    one(as<BinOp>(&e)->left);
    return one(as<BinOp>(&e)->right);
  case ExprKind::UnaryOp:
    return one(as<syntax::UnaryOp>(&e)->operand);
  case ExprKind::IfExp:
    one(as<IfExp>(&e)->test);
    one(as<IfExp>(&e)->body);
    return one(as<IfExp>(&e)->orelse);
  case ExprKind::Dict:
    each(as<syntax::Dict>(&e)->keys);
    return each(as<syntax::Dict>(&e)->values);
  case ExprKind::Set:
    return each(as<syntax::Set>(&e)->elts);
  case ExprKind::Await:
    return one(as<Await>(&e)->value);
  case ExprKind::Yield:
    return one(as<Yield>(&e)->value);
  case ExprKind::YieldFrom:
    return one(as<YieldFrom>(&e)->value);
  case ExprKind::Compare:
    one(as<Compare>(&e)->left);
    return each(as<Compare>(&e)->comparators);
  case ExprKind::Call:
    one(as<Call>(&e)->func);
    each(as<Call>(&e)->args);
    for (const auto &keyword : as<Call>(&e)->keywords)
      one(keyword->value);
    return;
  case ExprKind::FormattedValue:
    one(as<FormattedValue>(&e)->value);
    return one(as<FormattedValue>(&e)->formatSpec);
  case ExprKind::JoinedStr:
    return each(as<JoinedStr>(&e)->values);
  case ExprKind::Attribute:
    return one(as<Attribute>(&e)->value);
  case ExprKind::Subscript:
    one(as<Subscript>(&e)->value);
    return one(as<Subscript>(&e)->slice);
  case ExprKind::Starred:
    return one(as<Starred>(&e)->value);
  case ExprKind::List:
    return each(as<ListExpr>(&e)->elts);
  case ExprKind::Tuple:
    return each(as<syntax::Tuple>(&e)->elts);
  case ExprKind::Slice:
    one(as<syntax::Slice>(&e)->lower);
    one(as<syntax::Slice>(&e)->upper);
    return one(as<syntax::Slice>(&e)->step);
  }
}

void ReadCollector::pattern(const Pattern &p) {
  auto all = [this](const syntax::List<Pattern> &patterns) {
    for (const auto &inner : patterns)
      pattern(*inner);
  };
  switch (p.kind) {
  case PatternKind::MatchValue:
    return one(as<MatchValue>(&p)->value);
  case PatternKind::MatchSequence:
    return all(as<MatchSequence>(&p)->patterns);
  case PatternKind::MatchMapping:
    each(as<MatchMapping>(&p)->keys);
    return all(as<MatchMapping>(&p)->patterns);
  case PatternKind::MatchClass:
    one(as<MatchClass>(&p)->cls);
    all(as<MatchClass>(&p)->patterns);
    return all(as<MatchClass>(&p)->kwdPatterns);
  case PatternKind::MatchAs:
    if (as<MatchAs>(&p)->pattern)
      pattern(*as<MatchAs>(&p)->pattern);
    return;
  case PatternKind::MatchOr:
    return all(as<MatchOr>(&p)->patterns);
  case PatternKind::MatchSingleton:
  case PatternKind::MatchStar:
    return;
  }
}

void ReadCollector::stmt(const Stmt &s) {
  switch (s.kind) {
  case StmtKind::FunctionDef:
  case StmtKind::AsyncFunctionDef:
    return function(static_cast<const FunctionDef &>(s));
  case StmtKind::ClassDef:
    return classDef(*as<ClassDef>(&s));
  case StmtKind::Return:
    return one(as<Return>(&s)->value);
  case StmtKind::Delete:
    return each(as<Delete>(&s)->targets);
  case StmtKind::Assign:
    each(as<Assign>(&s)->targets);
    return one(as<Assign>(&s)->value);
  case StmtKind::TypeAlias:
    return waits(as<TypeAlias>(&s)->value.get());
  case StmtKind::AugAssign:
    one(as<AugAssign>(&s)->target);
    return one(as<AugAssign>(&s)->value);
  case StmtKind::AnnAssign:
    one(as<AnnAssign>(&s)->target);
    waits(as<AnnAssign>(&s)->annotation.get());
    return one(as<AnnAssign>(&s)->value);
  case StmtKind::For:
  case StmtKind::AsyncFor: {
    auto &f = static_cast<const For &>(s);
    one(f.target);
    one(f.iter);
    stmts(f.body);
    return stmts(f.orelse);
  }
  case StmtKind::While:
    one(as<While>(&s)->test);
    stmts(as<While>(&s)->body);
    return stmts(as<While>(&s)->orelse);
  case StmtKind::If:
    one(as<If>(&s)->test);
    stmts(as<If>(&s)->body);
    return stmts(as<If>(&s)->orelse);
  case StmtKind::With:
  case StmtKind::AsyncWith:
    for (const WithItem &item : static_cast<const With &>(s).items) {
      one(item.contextExpr);
      one(item.optionalVars);
    }
    return stmts(static_cast<const With &>(s).body);
  case StmtKind::Match:
    one(as<Match>(&s)->subject);
    for (const MatchCase &c : as<Match>(&s)->cases) {
      pattern(*c.pattern);
      one(c.guard);
      stmts(c.body);
    }
    return;
  case StmtKind::Raise:
    one(as<Raise>(&s)->exc);
    return one(as<Raise>(&s)->cause);
  case StmtKind::Try:
  case StmtKind::TryStar: {
    auto &t = static_cast<const Try &>(s);
    stmts(t.body);
    for (const ExceptHandler &handler : t.handlers) {
      one(handler.type);
      stmts(handler.body);
    }
    stmts(t.orelse);
    return stmts(t.finalbody);
  }
  case StmtKind::Assert:
    one(as<Assert>(&s)->test);
    return one(as<Assert>(&s)->msg);
  case StmtKind::Expr:
    return one(as<ExprStmt>(&s)->value);
  case StmtKind::Import:
  case StmtKind::ImportFrom:
  case StmtKind::Global:
  case StmtKind::Nonlocal:
  case StmtKind::Pass:
  case StmtKind::Break:
  case StmtKind::Continue:
    return;
  }
}

} // namespace

void collectReads(Interpreter::State &state, const syntax::List<Stmt> &body, NameSet &now,
                  NameSet &later) {
  ReadCollector(state, now, later).stmts(body);
}

void collectReads(Interpreter::State &state, const syntax::Expr &expr, NameSet &now,
                  NameSet &later) {
  ReadCollector(state, now, later).expr(expr);
}

void releaseLocals(const std::shared_ptr<Scope> &scope) {
  if (!scope->isCaptured || scope->names.use_count() != 1)
    return;
  long ours = 1;
  for (const auto &[name, value] : scope->names->items())
    if (auto *function = value.as<Function>())
      ours += function->closure == scope && value.object().use_count() == 1;
  if (scope.use_count() == ours) {
    scope->names->clear();
    return;
  }
  if (!scope->cells)
    return;
  // What goes may run a __del__; the names that stay are in place by then.
  Namespace kept, all = std::exchange(*scope->names, Namespace());
  for (const auto &[name, value] : all.items())
    if (scope->cells->count(name))
      kept.set(name, value);
  *scope->names = std::move(kept);
}

// ---- names in full
// ------------------------------------------------------------------------------------------------------

namespace {

/// The definitions on the way to a place.
class PlaceFinder {
public:
  explicit PlaceFinder(const SourceRange &w) : wanted(w) {}
  std::string prefix;

  bool find(const syntax::List<Stmt> &body) {
    for (const auto &s : body)
      if (within(s->range) && findIn(*s))
        return true;
    return false;
  }

private:
  const SourceRange &wanted;

  static std::pair<uint32_t, uint32_t> begin(const SourceRange &r) { return {r.line, r.column}; }
  static std::pair<uint32_t, uint32_t> end(const SourceRange &r) {
    return {r.endLine, r.endColumn};
  }
  bool within(const SourceRange &r) const {
    return begin(r) <= begin(wanted) && end(wanted) <= end(r);
  }

  bool findIn(const Stmt &s) {
    if (begin(s.range) == begin(wanted) && end(s.range) == end(wanted))
      return true;
    switch (s.kind) {
    case StmtKind::FunctionDef:
    case StmtKind::AsyncFunctionDef: {
      auto &def = static_cast<const FunctionDef &>(s);
      prefix += def.name + ".<locals>.";
      find(def.body);
      return true;
    }
    case StmtKind::ClassDef:
      prefix += as<ClassDef>(&s)->name + ".";
      find(as<ClassDef>(&s)->body);
      return true;
    case StmtKind::For:
    case StmtKind::AsyncFor:
      return find(static_cast<const For &>(s).body) || find(static_cast<const For &>(s).orelse);
    case StmtKind::While:
      return find(as<While>(&s)->body) || find(as<While>(&s)->orelse);
    case StmtKind::If:
      return find(as<If>(&s)->body) || find(as<If>(&s)->orelse);
    case StmtKind::With:
    case StmtKind::AsyncWith:
      return find(static_cast<const With &>(s).body);
    case StmtKind::Match:
      return std::any_of(as<Match>(&s)->cases.begin(), as<Match>(&s)->cases.end(),
                         [this](const MatchCase &c) { return find(c.body); });
    case StmtKind::Try:
    case StmtKind::TryStar: {
      auto &t = static_cast<const Try &>(s);
      return find(t.body) ||
             std::any_of(t.handlers.begin(), t.handlers.end(),
                         [this](const ExceptHandler &h) { return find(h.body); }) ||
             find(t.orelse) || find(t.finalbody);
    }
    default:
      return true;
    }
  }
};

} // namespace

std::string qualifiedNameOf(const syntax::Module &module, const SourceRange &where,
                            const std::string &name) {
  PlaceFinder finder(where);
  finder.find(module.body);
  return finder.prefix + name;
}

std::string Function::qualifiedName() const {
  if (const Value *given = attributes.find("__qualname__"); given && given->isStr())
    return given->str();
  if (!closure || closure->form == Scope::Form::Module || !module)
    return name;
  return qualifiedNameOf(
      *module,
      def ? static_cast<const Node &>(*def).range : static_cast<const Node &>(*lambda).range, name);
}

} // namespace pellucid::host
