// SPDX-License-Identifier: Apache-2.0
#include "host/ByteString.h"
#include "host/InterpreterState.h"
#include "host/Text.h"
#include "support/Stack.h"

#include <charconv>

namespace pellucid::host {

using namespace syntax;

static host::BinaryOp binaryOf(syntax::Operator op) {
  static constexpr host::BinaryOp table[] = {
      host::BinaryOp::Add,     host::BinaryOp::Sub,    host::BinaryOp::Mul,
      host::BinaryOp::MatMul,  host::BinaryOp::Div,    host::BinaryOp::Mod,
      host::BinaryOp::Pow,     host::BinaryOp::LShift, host::BinaryOp::RShift,
      host::BinaryOp::BitOr,   host::BinaryOp::BitXor, host::BinaryOp::BitAnd,
      host::BinaryOp::FloorDiv};
  return table[size_t(op)];
}

Value Evaluator::evalConstant(const Constant &c) {
  switch (c.type) {
  case Constant::Type::None:
    return Value();
  case Constant::Type::True:
    return Value(true);
  case Constant::Type::False:
    return Value(false);
  case Constant::Type::Ellipsis:
    return Value(EllipsisType());
  case Constant::Type::Int:
    return Value(c.intValue);
  case Constant::Type::Float:
    return Value(c.floatValue);
  case Constant::Type::String:
    return Value(c.text);
  case Constant::Type::BigInt: {
    Int value = 0;
    for (char digit : c.text)
      if (__builtin_mul_overflow(value, Int(10), &value) ||
          __builtin_add_overflow(value, Int(digit - '0'), &value))
        interpreter.refuse("integer literal " + c.text + " does not fit 127 bits");
    return Value(value);
  }
  case Constant::Type::Imaginary:
    interpreter.refuse(
        "complex numbers are not supported in host code; keep real and imaginary parts as floats");
  case Constant::Type::Bytes:
    if (interpreter.options().script)
      return Value(std::make_shared<ByteString>(c.text));
    interpreter.refuse("bytes literals are not supported in host code; use str");
  }
  return Value();
}

Value Evaluator::eval(const syntax::Expr &e) {
  at(e);
  state.budget.step();
  if (stackIsLow())
    interpreter.refuse("the stack is too small for how deeply this is nested; split the "
                       "expression, or write the recursion as a loop");
  switch (e.kind) {
  case ExprKind::Constant:
    return evalConstant(*as<Constant>(&e));
  case ExprKind::Name:
    return load(*as<Name>(&e));
  case ExprKind::Attribute: {
    auto *a = as<Attribute>(&e);
    Value object = eval(*a->value);
    at(e);
    return interpreter.getAttr(object, a->attr);
  }
  case ExprKind::Call:
    return evalCall(*as<Call>(&e));
  case ExprKind::BinOp: {
    auto *b = as<BinOp>(&e);
    Value left = eval(*b->left), right = eval(*b->right);
    at(e);
    return interpreter.binary(binaryOf(b->op), left, right);
  }
  case ExprKind::UnaryOp:
    return evalUnary(*as<syntax::UnaryOp>(&e));
  case ExprKind::BoolOp:
    return evalBoolOp(*as<BoolOp>(&e));
  case ExprKind::Compare:
    return evalCompare(*as<Compare>(&e));
  case ExprKind::IfExp: {
    auto *c = as<IfExp>(&e);
    Value test = eval(*c->test);
    at(*c->test);
    if (auto both = mergedChoice(*c, test))
      return *both;
    return interpreter.truth(test) ? eval(*c->body) : eval(*c->orelse);
  }
  case ExprKind::Subscript: {
    auto *s = as<Subscript>(&e);
    Value object = eval(*s->value), key = eval(*s->slice);
    at(e);
    return interpreter.getItem(object, key);
  }
  case ExprKind::Slice: {
    auto *s = as<syntax::Slice>(&e);
    Value lower = evalSlicePart(s->lower), upper = evalSlicePart(s->upper),
          step = evalSlicePart(s->step);
    return Value::slice(std::move(lower), std::move(upper), std::move(step));
  }
  case ExprKind::Tuple:
    return Value::tuple(evalElements(as<syntax::Tuple>(&e)->elts));
  case ExprKind::List:
    return Value::list(evalElements(as<ListExpr>(&e)->elts));
  case ExprKind::Set: {
    host::Set out;
    for (const Value &v : evalElements(as<syntax::Set>(&e)->elts))
      out.insert(v);
    return Value::set(std::move(out));
  }
  case ExprKind::Dict:
    return evalDict(*as<syntax::Dict>(&e));
  case ExprKind::ListComp:
  case ExprKind::SetComp:
  case ExprKind::DictComp:
  case ExprKind::GeneratorExp:
    return evalComprehension(e);
  case ExprKind::Lambda:
    return evalLambda(*as<Lambda>(&e));
  case ExprKind::JoinedStr:
    return evalJoinedStr(*as<JoinedStr>(&e));
  case ExprKind::FormattedValue:
    return textOf([&] { return evalFormatted(*as<FormattedValue>(&e)); });
  case ExprKind::NamedExpr: {
    auto *n = as<NamedExpr>(&e);
    Value value = eval(*n->value);
    store(as<Name>(n->target.get())->id, value);
    return value;
  }
  case ExprKind::Yield: {
    auto *y = as<Yield>(&e);
    Value value = y->value ? eval(*y->value) : Value();
    at(e);
    if (!sink)
      interpreter.raise("SyntaxError", "'yield' outside function");
    state.sent = Value();
    (*sink)(value);
    raiseThrown();
    return std::exchange(state.sent, Value());
  }
  case ExprKind::YieldFrom:
    at(e);
    if (!sink)
      interpreter.raise("SyntaxError", "'yield' outside function");
    return evalYieldFrom(*as<YieldFrom>(&e));
  case ExprKind::Starred:
    interpreter.refuse("'*' is not possible here");
  case ExprKind::Await:
    interpreter.refuse("'await' is not supported in host code; write an ordinary function");
  }
  interpreter.refuse("this expression is not supported in host code");
}

/// After a `yield`: what generator.throw() was given.
void Evaluator::raiseThrown() {
  if (state.thrown)
    throw RaisedError(*std::exchange(state.thrown, std::nullopt));
}

/// What the generator returns that is gone through; None for other iterables.
Value Evaluator::evalYieldFrom(const YieldFrom &e) {
  Value inner = eval(*e.value);
  auto *iterator = inner.as<Iterator>();
  if (iterator && iterator->generator && interpreter.options().script) {
    // What is thrown into the outer generator is thrown into the inner one.
    std::optional<Value> element = iterator->next(interpreter);
    while (element) {
      at(e);
      (*sink)(*element);
      element = state.thrown
                    ? iterator->throwInto(interpreter, *std::exchange(state.thrown, std::nullopt))
                    : iterator->next(interpreter);
    }
    return iterator->generator->result;
  }
  forEach(interpreter, inner, [&](const Value &v) {
    at(e);
    (*sink)(v);
    raiseThrown();
    return true;
  });
  return iterator && iterator->generator ? iterator->generator->result : Value();
}

Value Evaluator::evalSlicePart(const Ptr<syntax::Expr> &part) {
  return part ? eval(*part) : Value();
}

std::vector<Value> Evaluator::evalElements(const syntax::List<syntax::Expr> &elements) {
  std::vector<Value> out;
  out.reserve(elements.size());
  appendElements(elements, out);
  return out;
}

void Evaluator::appendElements(const syntax::List<syntax::Expr> &elements,
                               std::vector<Value> &out) {
  for (const auto &e : elements) {
    if (auto *starred = as<Starred>(e.get())) {
      Value value = eval(*starred->value);
      at(*starred);
      for (Value &v : interpreter.iterate(value))
        out.push_back(std::move(v));
    } else
      out.push_back(eval(*e));
  }
}

Value Evaluator::evalUnary(const syntax::UnaryOp &e) {
  Value operand = eval(*e.operand);
  at(e);
  if (e.op == UnaryOperator::Not)
    return operand.isSymBool() ? Value::condition(symbolic::logicalNot(operand.symBool()))
                               : Value(!interpreter.truth(operand));
  return interpreter.unary(e.op == UnaryOperator::USub   ? host::UnaryOp::Minus
                           : e.op == UnaryOperator::UAdd ? host::UnaryOp::Plus
                                                         : host::UnaryOp::Invert,
                           operand);
}

Value Evaluator::evalBoolOp(const BoolOp &e) {
  Value last;
  for (size_t i = 0; i < e.values.size(); ++i) {
    last = eval(*e.values[i]);
    if (i + 1 == e.values.size())
      break;
    at(*e.values[i]);
    if (interpreter.truth(last) == (e.op == BoolOperator::Or)) {
      // The condition was decided here; asking again later would name the wrong place.
      return last.isSymBool() ? Value(e.op == BoolOperator::Or) : last;
    }
  }
  return last;
}

Value Evaluator::compareOnce(CmpOperator op, const Value &a, const Value &b) {
  switch (op) {
  case CmpOperator::Is:
    return Value(a.isSame(b));
  case CmpOperator::IsNot:
    return Value(!a.isSame(b));
  case CmpOperator::In:
    return interpreter.membershipOf(b, a);
  case CmpOperator::NotIn: {
    Value inside = interpreter.membershipOf(b, a);
    return inside.isSymBool() ? Value::condition(symbolic::logicalNot(inside.symBool()))
                              : Value(!inside.boolean());
  }
  default:
    return interpreter.compare(static_cast<CompareOp>(op), a, b);
  }
}

Value Evaluator::evalCompare(const Compare &e) {
  Value left = eval(*e.left);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    Value right = eval(*e.comparators[i]);
    at(e);
    Value outcome = compareOnce(e.ops[i], left, right);
    if (i + 1 == e.ops.size() || !interpreter.truth(outcome))
      return i + 1 == e.ops.size() || !outcome.isSymBool() ? outcome : Value(false);
    left = std::move(right);
  }
  return Value();
}

Value Evaluator::evalDict(const syntax::Dict &e) {
  host::Dict out;
  for (size_t i = 0; i < e.keys.size(); ++i) {
    if (!e.keys[i]) {
      Value spread = eval(*e.values[i]);
      auto entries = mappingOf(interpreter, spread);
      if (!entries)
        interpreter.raise("TypeError", "'" + typeName(spread) + "' object is not a mapping");
      for (const auto &[key, value] : entries->items())
        out.set(key, value);
      continue;
    }
    Value key = eval(*e.keys[i]);
    if (!hashOf(key)) {
      at(*e.keys[i]);
      interpreter.raise("TypeError", "unhashable type: '" + typeName(key) + "'");
    }
    out.set(key, eval(*e.values[i]));
  }
  return Value::dict(std::move(out));
}

std::shared_ptr<Function> Evaluator::makeFunction(const Arguments &args) {
  auto f = std::make_shared<Function>();
  f->parameters = &args;
  f->globals = scope->globals;
  f->closure = scope;
  f->module = scope->module;
  for (const auto &d : args.defaults)
    f->defaults.push_back(eval(*d));
  for (const auto &d : args.kwDefaults)
    f->keywordDefaults.push_back(d ? std::optional(eval(*d)) : std::nullopt);
  state.capture(scope);
  return f;
}

Value Evaluator::evalLambda(const Lambda &e) {
  auto f = makeFunction(e.args);
  f->name = "<lambda>";
  f->lambda = &e;
  return Value(f);
}

// ---- f-strings
// -----------------------------------------------------------------------------------------------------

std::string Evaluator::evalFormatted(const FormattedValue &e) {
  Value value = eval(*e.value);
  std::string spec;
  if (e.formatSpec)
    spec = interpreter.toStr(eval(*e.formatSpec), "a format specification");
  at(e);
  if (e.conversion == 'a')
    value = textOf([&] { return asciiText(interpreter.repr(value)); });
  else if (e.conversion == 'r')
    value = textOf([&] { return interpreter.repr(value); });
  else if (e.conversion == 's')
    value = textOf([&] { return interpreter.str(value); });
  return interpreter.format(value, spec);
}

Value Evaluator::evalJoinedStr(const JoinedStr &e) {
  return textOf([&] {
    std::string out;
    for (const auto &part : e.values) {
      if (auto *c = as<Constant>(part.get()))
        out += c->text;
      else
        out += evalFormatted(*as<FormattedValue>(part.get()));
      checkLength(interpreter, out.size());
    }
    return out;
  });
}

// ---- comprehensions
// ------------------------------------------------------------------------------------------------

Evaluator Evaluator::comprehensionScope(const void *key,
                                        const std::vector<Comprehension> &generators) {
  auto inner = std::make_shared<Scope>();
  inner->form = Scope::Form::Comprehension;
  inner->names = std::make_shared<Namespace>();
  inner->globals = scope->globals;
  inner->parent = scope;
  inner->module = scope->module;
  inner->locals = &state.factsOfComprehension(key, generators).locals;
  return Evaluator(interpreter, inner);
}

void Evaluator::comprehend(const std::vector<Comprehension> &generators, size_t depth,
                           const Value *firstIterable,
                           const std::function<bool(Evaluator &)> &element, bool &stop) {
  const Comprehension &g = generators[depth];
  if (g.isAsync)
    interpreter.refuse("'async for' is not supported in host code; use an ordinary comprehension");
  Value iterable = firstIterable ? *firstIterable : eval(*g.iter);
  at(*g.iter);
  forEach(interpreter, iterable, [&](const Value &v) {
    assign(*g.target, v);
    for (const auto &condition : g.ifs) {
      Value test = eval(*condition);
      at(*condition);
      if (!interpreter.truth(test))
        return true;
    }
    if (depth + 1 < generators.size())
      comprehend(generators, depth + 1, nullptr, element, stop);
    else if (!element(*this))
      stop = true;
    return !stop;
  });
}

Value Evaluator::evalComprehension(const syntax::Expr &e) {
  bool stop = false;
  if (auto *d = as<DictComp>(&e)) {
    host::Dict out;
    Evaluator inner = comprehensionScope(d, d->generators);
    Value first = eval(*d->generators[0].iter);
    inner.comprehend(
        d->generators, 0, &first,
        [&](Evaluator &ev) {
          Value key = ev.eval(*d->key);
          out.set(key, ev.eval(*d->value));
          return true;
        },
        stop);
    return Value::dict(std::move(out));
  }
  if (auto *l = as<ListComp>(&e)) {
    std::vector<Value> out;
    Evaluator inner = comprehensionScope(l, l->generators);
    Value first = eval(*l->generators[0].iter);
    inner.comprehend(
        l->generators, 0, &first,
        [&](Evaluator &ev) { return out.push_back(ev.eval(*l->elt)), true; }, stop);
    return Value::list(std::move(out));
  }
  if (auto *s = as<SetComp>(&e)) {
    host::Set out;
    Evaluator inner = comprehensionScope(s, s->generators);
    Value first = eval(*s->generators[0].iter);
    inner.comprehend(
        s->generators, 0, &first, [&](Evaluator &ev) { return out.insert(ev.eval(*s->elt)), true; },
        stop);
    return Value::set(std::move(out));
  }
  auto *g = as<GeneratorExp>(&e);
  auto inner = std::make_shared<Evaluator>(comprehensionScope(g, g->generators));
  state.capture(scope);
  Value first = eval(*g->generators[0].iter);
  Interpreter::State &shared = state;
  auto produce = [g, inner, first, &shared](const std::function<bool(const Value &)> &f) {
    PlaceGuard place(shared);
    shared.module = inner->scope->module.get();
    bool stopped = false;
    inner->comprehend(
        g->generators, 0, &first, [&](Evaluator &ev) { return f(ev.eval(*g->elt)); }, stopped);
  };
  return Value(std::make_shared<Iterator>("generator", Iterator::Producer(produce)));
}

// ---- calls
// ---------------------------------------------------------------------------------------------------------

/// `self`, where it is not None, goes before them.
CallArgs Evaluator::evalArguments(const Call &e, const Value &self) {
  CallArgs args;
  args.positional.reserve(e.args.size() + 1); // a method's call puts its object before them
  if (!self.isNone())
    args.positional.push_back(self);
  appendElements(e.args, args.positional);
  auto addKeyword = [&](const std::string &name, Value value) {
    if (args.keyword(name))
      interpreter.raise("TypeError", "got multiple values for keyword argument '" + name + "'");
    args.keywords.emplace_back(name, std::move(value));
  };
  args.keywords.reserve(e.keywords.size());
  for (const auto &k : e.keywords) {
    Value value = eval(*k->value);
    at(*k->value);
    if (k->arg) {
      addKeyword(*k->arg, std::move(value));
      continue;
    }
    auto entries = mappingOf(interpreter, value);
    if (!entries)
      interpreter.raise("TypeError", "argument after ** must be a mapping, not " + typeName(value));
    for (const auto &[key, v] : entries->items())
      addKeyword(interpreter.toStr(key, "a keyword"), v);
  }
  at(e);
  args.location = scope->module->locate(e);
  return args;
}

Value Evaluator::superOf() {
  for (const Scope *s = scope.get(); s; s = s->parent.get())
    if (s->form == Scope::Form::Class)
      if (auto cls = s->cls.lock()) {
        const Function *method = state.frames.back().function;
        const Arguments *args = method ? method->parameters : nullptr;
        const auto *first = !args                        ? nullptr
                            : !args->posonlyargs.empty() ? args->posonlyargs[0].get()
                            : !args->args.empty()        ? args->args[0].get()
                                                         : nullptr;
        const Value *self = first ? state.frames.back().scope->names->find(first->arg) : nullptr;
        if (self)
          return interpreter.call(*interpreter.builtin("super"), {Value(cls), *self});
      }
  interpreter.raise("RuntimeError", "super(): no arguments");
}

/// What is called. Of `object.method(…)` the function, and `self` is the object: a method that is
/// called needs no object of its own.
Value Evaluator::evalCallee(const syntax::Expr &callee, Value &self) {
  auto *attribute = as<Attribute>(&callee);
  if (!attribute)
    return eval(callee);
  at(callee);
  state.budget.step();
  Value object = eval(*attribute->value);
  at(callee);
  if (const Value *method = methodOf(interpreter, object, attribute->attr)) {
    self = std::move(object);
    return *method;
  }
  return interpreter.getAttr(object, attribute->attr);
}

Value Evaluator::evalCall(const Call &e) {
  if (auto *name = as<Name>(e.func.get());
      name && name->id == "super" && e.args.empty() && e.keywords.empty())
    if (auto found = lookupName(interpreter, *scope, "super");
        found && found->isSame(*interpreter.builtin("super")))
      return superOf();
  Value self, callee = evalCallee(*e.func, self);
  CallArgs args = evalArguments(e, self);
  Value out = interpreter.call(callee, std::move(args));
  at(e);
  return out;
}

} // namespace pellucid::host
