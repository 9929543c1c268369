// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/Kernel.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

Evaluator::Flow Evaluator::run(const syntax::List<Stmt> &body) {
  for (const auto &s : body)
    if (Flow flow = defersErrors ? execDeferring(*s) : exec(*s); flow != Flow::Normal)
      return flow;
  return Flow::Normal;
}

Evaluator::Flow Evaluator::exec(const Stmt &s) {
  at(s);
  state.budget.step();
  switch (s.kind) {
  case StmtKind::Expr:
    eval(*as<ExprStmt>(&s)->value);
    return Flow::Normal;
  case StmtKind::Assign: {
    auto *a = as<Assign>(&s);
    Value value = eval(*a->value);
    for (const auto &t : a->targets)
      assign(*t, value);
    return Flow::Normal;
  }
  case StmtKind::AugAssign:
    execAugAssign(*as<AugAssign>(&s));
    return Flow::Normal;
  case StmtKind::AnnAssign:
    execAnnAssign(*as<AnnAssign>(&s));
    return Flow::Normal;
  case StmtKind::Return:
    result = as<Return>(&s)->value ? eval(*as<Return>(&s)->value) : Value();
    return Flow::Return;
  case StmtKind::If: {
    auto *i = as<If>(&s);
    Value test = eval(*i->test);
    at(*i->test);
    if (mergedBranch(*i, test))
      return Flow::Normal;
    return run(interpreter.truth(test) ? i->body : i->orelse);
  }
  case StmtKind::For:
    return execFor(static_cast<const For &>(s));
  case StmtKind::While:
    return execWhile(*as<While>(&s));
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  case StmtKind::Pass:
  case StmtKind::Global:
  case StmtKind::Nonlocal:
    return Flow::Normal;
  case StmtKind::FunctionDef:
    execFunctionDef(static_cast<const FunctionDef &>(s));
    return Flow::Normal;
  case StmtKind::ClassDef:
    execClassDef(*as<ClassDef>(&s));
    return Flow::Normal;
  case StmtKind::Import:
    execImport(*as<Import>(&s));
    return Flow::Normal;
  case StmtKind::ImportFrom:
    execImportFrom(*as<ImportFrom>(&s));
    return Flow::Normal;
  case StmtKind::Assert:
    execAssert(*as<Assert>(&s));
    return Flow::Normal;
  case StmtKind::Raise:
    execRaise(*as<Raise>(&s));
    return Flow::Normal;
  case StmtKind::Try:
  case StmtKind::TryStar: {
    ++triesAround;
    struct Leave {
      unsigned &count;
      ~Leave() { --count; }
    } leave{triesAround};
    return execTry(static_cast<const Try &>(s));
  }
  case StmtKind::With:
    return execWith(static_cast<const With &>(s), 0);
  case StmtKind::Delete:
    for (const auto &t : as<Delete>(&s)->targets)
      execDelete(*t);
    return Flow::Normal;
  case StmtKind::TypeAlias:
    store(as<Name>(as<TypeAlias>(&s)->name.get())->id,
          Value(std::make_shared<Opaque>("type alias", scope->module->locate(s))));
    return Flow::Normal;
  case StmtKind::Match:
    return execMatch(*as<Match>(&s));
  case StmtKind::AsyncFunctionDef: // refused where it is called
    execFunctionDef(static_cast<const FunctionDef &>(s));
    return Flow::Normal;
  case StmtKind::AsyncFor:
  case StmtKind::AsyncWith:
    interpreter.refuse("'async' is not supported in host code; write an ordinary function");
  }
  return Flow::Normal;
}

// ---- assignment
// ----------------------------------------------------------------------------------------------------

void Evaluator::assign(const syntax::Expr &target, const Value &value) {
  switch (target.kind) {
  case ExprKind::Name:
    at(target);
    return store(as<Name>(&target)->id, value);
  case ExprKind::Tuple:
    at(target);
    return unpack(as<syntax::Tuple>(&target)->elts, value);
  case ExprKind::List:
    at(target);
    return unpack(as<ListExpr>(&target)->elts, value);
  case ExprKind::Attribute: {
    Value object = eval(*as<Attribute>(&target)->value);
    at(target);
    return interpreter.setAttr(object, as<Attribute>(&target)->attr, value);
  }
  case ExprKind::Subscript: {
    Value object = eval(*as<Subscript>(&target)->value), key = eval(*as<Subscript>(&target)->slice);
    at(target);
    return interpreter.setItem(object, key, value);
  }
  default:
    at(target);
    interpreter.refuse("cannot assign to this expression");
  }
}

void Evaluator::unpack(const syntax::List<syntax::Expr> &targets, const Value &value) {
  std::vector<Value> elements = interpreter.iterate(value);
  auto star = std::find_if(targets.begin(), targets.end(),
                           [](const auto &t) { return t->kind == ExprKind::Starred; });
  size_t wanted = targets.size();
  if (star == targets.end()) {
    if (elements.size() > wanted)
      interpreter.raise("ValueError",
                        "too many values to unpack (expected " + std::to_string(wanted) + ")");
    if (elements.size() < wanted)
      interpreter.raise("ValueError", "not enough values to unpack (expected " +
                                          std::to_string(wanted) + ", got " +
                                          std::to_string(elements.size()) + ")");
    for (size_t i = 0; i < wanted; ++i)
      assign(*targets[i], elements[i]);
    return;
  }
  if (elements.size() + 1 < wanted)
    interpreter.raise("ValueError", "not enough values to unpack (expected at least " +
                                        std::to_string(wanted - 1) + ", got " +
                                        std::to_string(elements.size()) + ")");
  auto before = static_cast<size_t>(star - targets.begin()), after = wanted - before - 1;
  for (size_t i = 0; i < before; ++i)
    assign(*targets[i], elements[i]);
  auto first = elements.begin() + static_cast<std::ptrdiff_t>(before);
  auto last = elements.end() - static_cast<std::ptrdiff_t>(after);
  assign(*as<Starred>(star->get())->value, Value::list({first, last}));
  for (size_t i = 0; i < after; ++i)
    assign(*targets[before + 1 + i], *(last + static_cast<std::ptrdiff_t>(i)));
}

static std::optional<Value> inPlace(Interpreter &interpreter, host::BinaryOp op,
                                    const Value &current, const Value &operand) {
  if (current.isObject())
    return current.object()->inPlaceOp(interpreter, op, operand);
  if (current.isList() && op == host::BinaryOp::Add) {
    std::vector<Value> more = interpreter.iterate(operand);
    current.list().insert(current.list().end(), more.begin(), more.end());
    return current;
  }
  if (current.isDict() && op == host::BinaryOp::BitOr && operand.isDict()) {
    host::Dict entries = operand.dictionary();
    for (const auto &[key, value] : entries.items())
      current.dictionary().set(key, value);
    return current;
  }
  return std::nullopt;
}

void Evaluator::execAugAssign(const AugAssign &s) {
  static constexpr host::BinaryOp table[] = {
      host::BinaryOp::Add,     host::BinaryOp::Sub,    host::BinaryOp::Mul,
      host::BinaryOp::MatMul,  host::BinaryOp::Div,    host::BinaryOp::Mod,
      host::BinaryOp::Pow,     host::BinaryOp::LShift, host::BinaryOp::RShift,
      host::BinaryOp::BitOr,   host::BinaryOp::BitXor, host::BinaryOp::BitAnd,
      host::BinaryOp::FloorDiv};
  host::BinaryOp op = table[size_t(s.op)];
  auto update = [&](const Value &current) {
    Value operand = eval(*s.value);
    at(s);
    if (auto changed = inPlace(interpreter, op, current, operand))
      return *changed;
    return interpreter.binary(op, current, operand);
  };
  if (auto *attribute = as<Attribute>(s.target.get())) {
    Value object = eval(*attribute->value);
    at(*attribute);
    Value next = update(interpreter.getAttr(object, attribute->attr));
    return interpreter.setAttr(object, attribute->attr, next);
  }
  if (auto *subscript = as<Subscript>(s.target.get())) {
    Value object = eval(*subscript->value), key = eval(*subscript->slice);
    at(*subscript);
    Value next = update(interpreter.getItem(object, key));
    return interpreter.setItem(object, key, next);
  }
  Value next = update(load(*as<Name>(s.target.get())));
  store(as<Name>(s.target.get())->id, std::move(next));
}

void Evaluator::execAnnAssign(const AnnAssign &s) {
  if (scope->form == Scope::Form::Class && s.target->kind == ExprKind::Name) {
    // Dataclasses and named tuples read the names in order; what they say is evaluated when asked.
    if (!scope->names->find("__annotations__"))
      scope->names->set("__annotations__", Value::dict());
    scope->names->at("__annotations__")
        .dictionary()
        .set(Value(as<Name>(s.target.get())->id),
             Value(std::make_shared<Annotation>(*s.annotation, scope)));
  }
  if (s.value)
    assign(*s.target, eval(*s.value));
}

/// `del name` of what has no value.
void Evaluator::raiseUnbound(const std::string &name, bool isGlobal) {
  bool isFree = scope->nonlocalNames && scope->nonlocalNames->count(name);
  if (isFree)
    interpreter.raise("NameError", "cannot access free variable '" + name +
                                       "' where it is not associated with a value in enclosing "
                                       "scope");
  if (!isGlobal && scope->form == Scope::Form::Function)
    interpreter.raise("UnboundLocalError", "cannot access local variable '" + name +
                                               "' where it is not associated with a value");
  interpreter.raise("NameError", "name '" + name + "' is not defined");
}

void Evaluator::execDelete(const syntax::Expr &target) {
  at(target);
  if (auto *name = as<Name>(&target)) {
    Scope *owner = scope.get();
    bool global = owner->globalNames && owner->globalNames->count(name->id);
    bool outer = owner->nonlocalNames && owner->nonlocalNames->count(name->id);
    for (owner = outer ? owner->parent.get() : owner; outer && owner; owner = owner->parent.get())
      if (owner->form != Scope::Form::Class && owner->locals && owner->locals->count(name->id))
        break;
    if (!owner || !(global ? scope->globals : owner->names)->erase(name->id))
      raiseUnbound(name->id, global);
    return;
  }
  if (auto *subscript = as<Subscript>(&target)) {
    Value object = eval(*subscript->value), key = eval(*subscript->slice);
    at(target);
    return interpreter.delItem(object, key);
  }
  if (auto *attribute = as<Attribute>(&target)) {
    Value object = eval(*attribute->value);
    at(target);
    if (!object.isObject() || !object.object()->delAttr(interpreter, attribute->attr))
      interpreter.raise("AttributeError", attribute->attr);
    return;
  }
  if (auto *tuple = as<syntax::Tuple>(&target)) {
    for (const auto &t : tuple->elts)
      execDelete(*t);
    return;
  }
  interpreter.refuse("cannot delete this expression");
}

// ---- loops
// ---------------------------------------------------------------------------------------------------------

Evaluator::Flow Evaluator::execFor(const For &s) {
  Value iterable = eval(*s.iter);
  at(*s.iter);
  Flow outcome = Flow::Normal;
  forEach(interpreter, iterable, [&](const Value &v) {
    assign(*s.target, v);
    Flow flow = run(s.body);
    if (flow == Flow::Break || flow == Flow::Return)
      outcome = flow;
    return outcome == Flow::Normal;
  });
  if (outcome == Flow::Normal)
    return run(s.orelse);
  return outcome == Flow::Break ? Flow::Normal : outcome;
}

Evaluator::Flow Evaluator::execWhile(const While &s) {
  for (;;) {
    Value test = eval(*s.test);
    at(*s.test);
    if (!interpreter.truth(test))
      return run(s.orelse);
    Flow flow = run(s.body);
    if (flow == Flow::Break)
      return Flow::Normal;
    if (flow == Flow::Return)
      return flow;
  }
}

} // namespace pellucid::host
