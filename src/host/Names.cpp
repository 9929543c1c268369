// SPDX-License-Identifier: Apache-2.0
/// Which names a function binds, and where a name is found.
#include "host/InterpreterState.h"

namespace pellucid::host {

using namespace syntax;

namespace {

/// Collects the names a function's body binds, without entering nested functions and classes.
class NameCollector {
public:
  explicit NameCollector(ScopeFacts &f) : facts(f) {}

  void single(const Stmt &s) { stmt(s); }
  void value(const syntax::Expr &e) { expr(&e); }
  void stmts(const syntax::List<Stmt> &body) {
    for (const auto &s : body)
      stmt(*s);
  }

  void target(const syntax::Expr *e) {
    if (!e)
      return;
    if (auto *name = as<Name>(e))
      facts.locals.insert(name->id);
    else if (auto *starred = as<Starred>(e))
      target(starred->value.get());
    else if (auto *tuple = as<syntax::Tuple>(e))
      for (const auto &x : tuple->elts)
        target(x.get());
    else if (auto *list = as<ListExpr>(e))
      for (const auto &x : list->elts)
        target(x.get());
    else
      expr(e); // a subscript or attribute: a walrus may hide in it
  }

private:
  ScopeFacts &facts;

  void exprs(const syntax::List<syntax::Expr> &list) {
    for (const auto &e : list)
      expr(e.get());
  }

  /// Finds `name := value` and `yield`.
  void expr(const syntax::Expr *e) {
    if (!e)
      return;
    switch (e->kind) {
    case ExprKind::NamedExpr: {
      auto *named = as<NamedExpr>(e);
      target(named->target.get());
      return expr(named->value.get());
    }
    case ExprKind::Yield:
      facts.isGenerator = true;
      return expr(as<Yield>(e)->value.get());
    case ExprKind::YieldFrom:
      facts.isGenerator = true;
      return expr(as<YieldFrom>(e)->value.get());
    case ExprKind::BoolOp:
      return exprs(as<BoolOp>(e)->values);
    case ExprKind::BinOp:
      expr(as<BinOp>(e)->left.get());
      return expr(as<BinOp>(e)->right.get());
    case ExprKind::UnaryOp:
      return expr(as<syntax::UnaryOp>(e)->operand.get());
    case ExprKind::IfExp:
      expr(as<IfExp>(e)->test.get());
      expr(as<IfExp>(e)->body.get());
      return expr(as<IfExp>(e)->orelse.get());
    case ExprKind::Compare:
      expr(as<Compare>(e)->left.get());
      return exprs(as<Compare>(e)->comparators);
    case ExprKind::Call:
      expr(as<Call>(e)->func.get());
      exprs(as<Call>(e)->args);
      for (const auto &k : as<Call>(e)->keywords)
        expr(k->value.get());
      return;
    case ExprKind::Attribute:
      return expr(as<Attribute>(e)->value.get());
    case ExprKind::Subscript:
      expr(as<Subscript>(e)->value.get());
      return expr(as<Subscript>(e)->slice.get());
    case ExprKind::Starred:
      return expr(as<Starred>(e)->value.get());
    case ExprKind::Tuple:
      return exprs(as<syntax::Tuple>(e)->elts);
    case ExprKind::List:
      return exprs(as<ListExpr>(e)->elts);
    case ExprKind::Set:
      return exprs(as<syntax::Set>(e)->elts);
    case ExprKind::Dict:
      exprs(as<syntax::Dict>(e)->keys);
      return exprs(as<syntax::Dict>(e)->values);
    case ExprKind::ListComp:
      return comprehension(as<ListComp>(e)->generators, as<ListComp>(e)->elt.get());
    case ExprKind::SetComp:
      return comprehension(as<SetComp>(e)->generators, as<SetComp>(e)->elt.get());
    case ExprKind::GeneratorExp:
      return comprehension(as<GeneratorExp>(e)->generators, as<GeneratorExp>(e)->elt.get());
    case ExprKind::DictComp:
      expr(as<DictComp>(e)->key.get());
      return comprehension(as<DictComp>(e)->generators, as<DictComp>(e)->value.get());
    case ExprKind::JoinedStr:
      return exprs(as<JoinedStr>(e)->values);
    case ExprKind::FormattedValue:
      expr(as<FormattedValue>(e)->formatSpec.get());
      return expr(as<FormattedValue>(e)->value.get());
    case ExprKind::Slice:
      expr(as<syntax::Slice>(e)->lower.get());
      expr(as<syntax::Slice>(e)->upper.get());
      return expr(as<syntax::Slice>(e)->step.get());
    case ExprKind::Lambda: // its defaults are evaluated here
      exprs(as<Lambda>(e)->args.defaults);
      return exprs(as<Lambda>(e)->args.kwDefaults);
    case ExprKind::Await:
      return expr(as<Await>(e)->value.get());
    default:
      return;
    }
  }

  /// A walrus inside binds in the function around it.
  void comprehension(const std::vector<Comprehension> &generators, const syntax::Expr *element) {
    expr(element);
    for (const Comprehension &g : generators) {
      expr(g.iter.get());
      exprs(g.ifs);
    }
  }

  void imported(const std::vector<Alias> &names, bool dotted) {
    for (const Alias &a : names)
      facts.locals.insert(a.asname ? *a.asname
                          : dotted ? a.name.substr(0, a.name.find('.'))
                                   : a.name);
  }

  void stmt(const Stmt &s) {
    switch (s.kind) {
    case StmtKind::FunctionDef:
    case StmtKind::AsyncFunctionDef:
      facts.locals.insert(static_cast<const FunctionDef &>(s).name);
      return;
    case StmtKind::ClassDef:
      facts.locals.insert(as<ClassDef>(&s)->name);
      return;
    case StmtKind::Return:
      return expr(as<Return>(&s)->value.get());
    case StmtKind::Delete:
      for (const auto &t : as<Delete>(&s)->targets)
        target(t.get());
      return;
    case StmtKind::Assign:
      for (const auto &t : as<Assign>(&s)->targets)
        target(t.get());
      return expr(as<Assign>(&s)->value.get());
    case StmtKind::AugAssign:
      target(as<AugAssign>(&s)->target.get());
      return expr(as<AugAssign>(&s)->value.get());
    case StmtKind::AnnAssign:
      target(as<AnnAssign>(&s)->target.get());
      return expr(as<AnnAssign>(&s)->value.get());
    case StmtKind::For:
    case StmtKind::AsyncFor: {
      auto &f = static_cast<const For &>(s);
      target(f.target.get());
      expr(f.iter.get());
      stmts(f.body);
      return stmts(f.orelse);
    }
    case StmtKind::While:
      expr(as<While>(&s)->test.get());
      stmts(as<While>(&s)->body);
      return stmts(as<While>(&s)->orelse);
    case StmtKind::If:
      expr(as<If>(&s)->test.get());
      stmts(as<If>(&s)->body);
      return stmts(as<If>(&s)->orelse);
    case StmtKind::With:
    case StmtKind::AsyncWith:
      for (const WithItem &item : static_cast<const With &>(s).items) {
        expr(item.contextExpr.get());
        target(item.optionalVars.get());
      }
      return stmts(static_cast<const With &>(s).body);
    case StmtKind::Try:
    case StmtKind::TryStar: {
      auto &t = static_cast<const Try &>(s);
      stmts(t.body);
      for (const ExceptHandler &h : t.handlers) {
        expr(h.type.get());
        if (h.name)
          facts.locals.insert(*h.name);
        stmts(h.body);
      }
      stmts(t.orelse);
      return stmts(t.finalbody);
    }
    case StmtKind::Import:
      return imported(as<Import>(&s)->names, true);
    case StmtKind::ImportFrom:
      return imported(as<ImportFrom>(&s)->names, false);
    case StmtKind::Global:
      facts.globals.insert(as<Global>(&s)->names.begin(), as<Global>(&s)->names.end());
      return;
    case StmtKind::Nonlocal:
      facts.nonlocals.insert(as<Nonlocal>(&s)->names.begin(), as<Nonlocal>(&s)->names.end());
      return;
    case StmtKind::Expr:
      return expr(as<ExprStmt>(&s)->value.get());
    case StmtKind::Assert:
      expr(as<Assert>(&s)->test.get());
      return expr(as<Assert>(&s)->msg.get());
    case StmtKind::Raise:
      expr(as<Raise>(&s)->exc.get());
      return expr(as<Raise>(&s)->cause.get());
    case StmtKind::Match:
      expr(as<Match>(&s)->subject.get());
      for (const MatchCase &c : as<Match>(&s)->cases) {
        captures(*c.pattern);
        expr(c.guard.get());
        stmts(c.body);
      }
      return;
    case StmtKind::TypeAlias:
      return target(as<TypeAlias>(&s)->name.get());
    default:
      return;
    }
  }

  void captures(const Pattern &p) {
    auto bind = [this](const std::optional<Identifier> &name) {
      if (name)
        facts.locals.insert(*name);
    };
    auto all = [this](const syntax::List<Pattern> &patterns) {
      for (const auto &inner : patterns)
        captures(*inner);
    };
    switch (p.kind) {
    case PatternKind::MatchSequence:
      return all(as<MatchSequence>(&p)->patterns);
    case PatternKind::MatchMapping:
      bind(as<MatchMapping>(&p)->rest);
      return all(as<MatchMapping>(&p)->patterns);
    case PatternKind::MatchClass:
      all(as<MatchClass>(&p)->patterns);
      return all(as<MatchClass>(&p)->kwdPatterns);
    case PatternKind::MatchStar:
      return bind(as<MatchStar>(&p)->name);
    case PatternKind::MatchAs:
      bind(as<MatchAs>(&p)->name);
      if (as<MatchAs>(&p)->pattern)
        captures(*as<MatchAs>(&p)->pattern);
      return;
    case PatternKind::MatchOr:
      return all(as<MatchOr>(&p)->patterns);
    case PatternKind::MatchValue:
    case PatternKind::MatchSingleton:
      return;
    }
  }
};

void addParameters(ScopeFacts &facts, const Arguments &args) {
  for (const auto *list : {&args.posonlyargs, &args.args, &args.kwonlyargs})
    for (const auto &a : *list)
      facts.locals.insert(a->arg);
  for (const Arg *a : {args.vararg.get(), args.kwarg.get()})
    if (a)
      facts.locals.insert(a->arg);
}

void dropForeign(ScopeFacts &facts) {
  for (const NameSet *names : {&facts.globals, &facts.nonlocals})
    for (const std::string &name : *names)
      facts.locals.erase(name);
}

/// What is read of the scopes around, and which of its own names outlive a call.
void sortReads(ScopeFacts &facts, const std::function<void(NameSet &, NameSet &)> &collect) {
  NameSet now, later;
  collect(now, later);
  for (const std::string &name : later)
    if (facts.locals.count(name))
      facts.cells.insert(name);
  for (const NameSet *names : {&now, &later, &facts.nonlocals})
    for (const std::string &name : *names)
      if (!facts.locals.count(name) && !facts.globals.count(name))
        facts.frees.insert(name);
}

} // namespace

const ScopeFacts &Interpreter::State::factsOf(const void *key, const Arguments *args,
                                              const syntax::List<Stmt> &body) {
  auto &slot = facts[key];
  if (slot)
    return *slot;
  slot = std::make_unique<ScopeFacts>();
  if (args)
    addParameters(*slot, *args);
  NameCollector(*slot).stmts(body);
  dropForeign(*slot);
  sortReads(*slot, [&](NameSet &now, NameSet &later) { collectReads(*this, body, now, later); });
  return *slot;
}

const ScopeFacts &Interpreter::State::factsOf(const Function &function) {
  return function.def ? factsOf(function.def, function.parameters, function.def->body)
                      : factsOfLambda(*function.lambda);
}

/// The names that a class's body binds; its own functions do not see them.
const ScopeFacts &Interpreter::State::factsOfClass(const ClassDef &def) {
  auto &slot = facts[&def];
  if (slot)
    return *slot;
  slot = std::make_unique<ScopeFacts>();
  NameCollector(*slot).stmts(def.body);
  dropForeign(*slot);
  return *slot;
}

const ScopeFacts &Interpreter::State::factsOfLambda(const Lambda &lambda) {
  auto &slot = facts[&lambda];
  if (slot)
    return *slot;
  slot = std::make_unique<ScopeFacts>();
  addParameters(*slot, lambda.args);
  NameCollector(*slot).value(*lambda.body);
  sortReads(*slot,
            [&](NameSet &now, NameSet &later) { collectReads(*this, *lambda.body, now, later); });
  return *slot;
}

const ScopeFacts &
Interpreter::State::factsOfComprehension(const void *key,
                                         const std::vector<Comprehension> &generators) {
  auto &slot = facts[key];
  if (slot)
    return *slot;
  slot = std::make_unique<ScopeFacts>();
  for (const Comprehension &g : generators)
    NameCollector(*slot).target(g.target.get());
  return *slot;
}

NameSet namesBoundBy(const Stmt &stmt) {
  ScopeFacts facts;
  NameCollector(facts).single(stmt);
  return facts.locals;
}

static bool binds(const Scope &scope, std::string_view name) {
  return scope.locals && scope.locals->find(name) != scope.locals->end();
}
static bool listed(const NameSet *names, std::string_view name) {
  return names && !names->empty() && names->find(name) != names->end();
}

std::optional<Value> lookupName(Interpreter &interpreter, const Scope &scope,
                                std::string_view name) {
  if (name == "__class__") // of the class whose body a function stands in
    for (const Scope *s = &scope; s; s = s->parent.get())
      if (auto cls = s->form == Scope::Form::Class && s != &scope ? s->cls.lock() : nullptr)
        return Value(cls);
  for (const Scope *s = &scope; s; s = s->parent.get()) {
    // What a call has bound is its own, whatever else may have the name.
    bool isCall = s->form == Scope::Form::Function || s->form == Scope::Form::Comprehension;
    if (isCall)
      if (const Value *found = s->names->find(name))
        return settled(interpreter, *s->names, name, *found);
    if (listed(s->globalNames, name) || s->form == Scope::Form::Module)
      break;
    bool visible = s->form == Scope::Form::Class ? s == &scope : binds(*s, name);
    if (!visible)
      continue;
    if (s->form == Scope::Form::Class) {
      if (auto found = settled(interpreter, *s->names, name))
        return found;
      // A name that the body binds is its own or the module's.
      if (binds(*s, name))
        break;
      continue;
    }
    interpreter.raise(s == &scope ? "UnboundLocalError" : "NameError",
                      s == &scope
                          ? "cannot access local variable '" + std::string(name) +
                                "' where it is not associated with a value"
                          : "cannot access free variable '" + std::string(name) +
                                "' where it is not associated with a value in enclosing scope");
  }
  if (auto found = settled(interpreter, *scope.globals, name))
    return found;
  if (const Value *found = interpreter.builtin(name))
    return *found;
  return std::nullopt;
}

/// Names that Python has and this evaluator leaves out, with what to write instead.
static std::string_view adviceFor(std::string_view name) {
  static const std::map<std::string_view, std::string_view> advice = {
      {"exec", "write the statements themselves"},
      {"input", "pass the value as an argument"},
      {"complex", "split it into real and imaginary floats"},
      {"bytes", "use str or a list of int"},
      {"bytearray", "use a list of int"},
      {"memoryview", "use a list"},
      {"compile", "write the code itself"},
      {"locals", "name the variable itself"},
  };
  auto it = advice.find(name);
  return it == advice.end() ? std::string_view() : it->second;
}

Value Evaluator::load(const Name &name) {
  at(name);
  if (auto found = lookupName(interpreter, *scope, name.id))
    return std::move(*found);
  if (std::string_view advice = adviceFor(name.id); !advice.empty())
    interpreter.refuse("'" + name.id + "' is not supported in host code; " + std::string(advice));
  interpreter.raise("NameError", "name '" + name.id + "' is not defined");
}

void Evaluator::store(std::string_view name, Value value) {
  Scope *s = scope.get();
  while (s->form == Scope::Form::Comprehension && !binds(*s, name))
    s = s->parent.get();
  if (listed(s->globalNames, name)) {
    s->globals->set(name, std::move(value));
    return;
  }
  if (listed(s->nonlocalNames, name)) {
    for (Scope *outer = s->parent.get(); outer; outer = outer->parent.get())
      if (outer->form != Scope::Form::Class && binds(*outer, name)) {
        outer->names->set(name, std::move(value));
        return;
      }
    interpreter.raise("SyntaxError", "no binding for nonlocal '" + std::string(name) + "' found");
  }
  if (s->form == Scope::Form::Class && value.isObject() + value.isTuple() > 0)
    if (auto cls = s->cls.lock())
      value = settledAuto(interpreter, *cls, *s->names, std::string(name), value);
  s->names->set(name, std::move(value));
}

} // namespace pellucid::host
