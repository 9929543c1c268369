// SPDX-License-Identifier: Apache-2.0
// def and class, with their decorators.
#include "host/InterpreterState.h"
#include "host/Kernel.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

/// The last part of a decorator's name, seen through a call: `pkg.libentry(...)` -> "libentry".
static std::string decoratorName(const syntax::Expr *e) {
  if (auto *call = as<Call>(e))
    e = call->func.get();
  if (auto *attribute = as<Attribute>(e))
    return attribute->attr;
  auto *name = as<Name>(e);
  return name ? name->id : "";
}

/// What a decorator of a kernel would choose may depend on the device or on a library that is not
/// here: the kernel stays, and a launch must then give what the decorator would.
Value Evaluator::leaveOut(const syntax::Expr &decorator, const Diagnostic &reason,
                          const Value &kernel) {
  auto unread = std::make_shared<UnreadDecorator>();
  unread->fn = kernel;
  unread->name = decoratorName(&decorator);
  unread->reason = reason;
  unread->decoratorLocation = scope->module->locate(decorator);
  Diagnostic warning = reason;
  warning.severity = Severity::Warning;
  warning.message = "'@" + unread->name + "' is left out: " + reason.message;
  interpreter.hooks().warn(std::move(warning));
  return Value(unread);
}

/// A kernel, or the one that a project's own `jit` had made of the function before it failed; else
/// None.
Value Evaluator::madeOf(const Value &value) const {
  if (isKernel(value))
    return value;
  auto *function = value.as<Function>();
  auto made = function && function->def ? state.kernelsByText.find(function->def)
                                        : state.kernelsByText.end();
  return made == state.kernelsByText.end() ? Value() : Value(made->second);
}

/// Decorators are evaluated top down and applied bottom up.
Value Evaluator::decorate(const syntax::List<syntax::Expr> &decorators, Value value) {
  // Kernels lie in classes of a file too.
  bool reads = defersErrors || (scope->form == Scope::Form::Class &&
                                state.options.defersFileErrors && interpreter.atModuleLevel());
  bool ofKernel = reads && std::any_of(decorators.begin(), decorators.end(),
                                       [](auto &d) { return decoratorName(d.get()) == "jit"; });
  std::vector<std::optional<Value>> evaluated;
  std::vector<std::optional<Diagnostic>> refused;
  for (const auto &d : decorators) {
    std::string name = decoratorName(d.get());
    evaluated.emplace_back();
    refused.emplace_back();
    try {
      if (state.options.script || !isTransparentDecorator(name))
        evaluated.back() = eval(*d);
    } catch (const DiagnosticError &error) {
      if (!ofKernel || name == "jit")
        throw;
      refused.back() = error.diagnostic;
    }
  }
  for (size_t i = decorators.size(); i-- > 0;) {
    at(*decorators[i]);
    if (refused[i]) {
      // What is below it may be no kernel of Triton's: another language's `jit`.
      Value kernel = madeOf(value);
      if (kernel.isNone())
        throw DiagnosticError(*refused[i]);
      value = leaveOut(*decorators[i], *refused[i], kernel);
    }
    if (!evaluated[i])
      continue;
    try {
      value = applyDecorator(*evaluated[i], value);
    } catch (const DiagnosticError &error) {
      Value kernel = ofKernel ? madeOf(value) : Value();
      if (kernel.isNone())
        throw;
      value = leaveOut(*decorators[i], error.diagnostic, kernel);
    }
  }
  return value;
}

Value Evaluator::applyDecorator(const Value &decorator, const Value &value) {
  auto *opaque = decorator.as<Opaque>();
  if (!opaque)
    return interpreter.call(decorator, CallArgs{{value}, {}, interpreter.location()});
  if (isKernel(value) && opaque->reason)
    throw DiagnosticError(*opaque->reason);
  if (isKernel(value))
    interpreter.refuse("'@" + opaque->path + "' over a kernel is not supported");
  return Value(std::make_shared<Opaque>("what the decorator '" + opaque->path + "' made",
                                        interpreter.location()));
}

void Evaluator::execFunctionDef(const FunctionDef &s) {
  auto f = makeFunction(s.args);
  f->name = s.name;
  f->def = &s;
  store(s.name, decorate(s.decoratorList, Value(f)));
}

std::vector<std::shared_ptr<Class>> Evaluator::basesOf(const ClassDef &s) {
  std::vector<std::shared_ptr<Class>> bases;
  for (const Value &written : evalElements(s.bases)) {
    auto *form = written.as<TypeForm>(); // `Generic[T]`, `dict[str, int]`
    const Value &base = form && !form->origin.isNone() ? form->origin : written;
    if (auto cls = base.shared<Class>())
      bases.push_back(cls);
    else if (base.as<Opaque>()) { // what it inherits from there is refused when it is used
      bases.push_back(Class::make(repr(base), "opaque"));
      bases.back()->absent = base;
    } else {
      at(s);
      interpreter.refuse("class '" + s.name + "' inherits from " + interpreter.repr(base) +
                         ", which is not a class");
    }
  }
  return bases;
}

/// `class A(B, metaclass=M, key=1)`: the keywords but for the metaclass.
CallArgs Evaluator::classKeywords(const ClassDef &s, Value &metaclass) {
  CallArgs keywords;
  keywords.location = scope->module->locate(s);
  for (const auto &keyword : s.keywords) {
    if (!keyword->arg)
      interpreter.refuse(keywords.location, "class '" + s.name +
                                                "' takes keywords from a mapping; "
                                                "write them out");
    Value value = eval(*keyword->value);
    if (*keyword->arg == "metaclass")
      metaclass = std::move(value);
    else
      keywords.keywords.emplace_back(*keyword->arg, std::move(value));
  }
  return keywords;
}

/// The text that a body begins with.
static std::optional<Value> docOf(const syntax::List<Stmt> &body) {
  auto *first = body.empty() ? nullptr : as<ExprStmt>(body[0].get());
  auto *text = first ? as<Constant>(first->value.get()) : nullptr;
  return text && text->type == Constant::Type::String ? std::optional(Value(text->text))
                                                      : std::nullopt;
}

std::shared_ptr<Scope> Evaluator::classBody(const ClassDef &s, const Dict &prepared) {
  auto body = std::make_shared<Scope>();
  body->form = Scope::Form::Class;
  body->names = std::make_shared<Namespace>();
  body->globals = scope->globals;
  body->parent = scope;
  body->module = scope->module;
  const ScopeFacts &facts = state.factsOfClass(s);
  body->locals = &facts.locals;
  body->globalNames = &facts.globals;
  body->nonlocalNames = &facts.nonlocals;
  for (const auto &[name, value] : prepared.items())
    body->names->set(interpreter.toStr(name, "a name that __prepare__ gives"), value);
  state.capture(body);
  return body;
}

/// A class made by the file's own metaclass, or by what stands in its place: a function.
Value Evaluator::callMetaclass(const ClassDef &s, const Value &metaclass, Tuple bases,
                               CallArgs keywords) {
  CallArgs call = keywords;
  call.positional = {Value(s.name), Value::tuple(bases)};
  Value names = Value::dict();
  if (metaclass.as<Class>())
    names = interpreter.call(interpreter.getAttr(metaclass, "__prepare__"), call);
  if (!contentOf(names).isDict())
    interpreter.refuse(call.location, "'__prepare__' of the metaclass of '" + s.name + "' gives " +
                                          typeName(names) + "; only a dict is supported");
  auto body = classBody(s, contentOf(names).dictionary());
  Evaluator(interpreter, body).run(s.body);
  at(s);
  Dict &held = contentOf(names).dictionary();
  const Value *module = scope->globals->find("__name__");
  held.set(Value("__module__"), module ? *module : Value(""));
  held.set(Value("__qualname__"), Value(scope->form == Scope::Form::Module
                                            ? s.name
                                            : qualifiedNameOf(*scope->module, s.range, s.name)));
  if (auto doc = docOf(s.body))
    held.set(Value("__doc__"), *doc);
  for (const auto &[name, value] : body->names->items())
    held.set(Value(name), value);
  held.set(Value("__classcell__"), Value(std::make_shared<ClassCell>(body)));
  call.positional.push_back(std::move(names));
  return interpreter.call(metaclass, std::move(call));
}

void Evaluator::execClassDef(const ClassDef &s) {
  std::vector<std::shared_ptr<Class>> bases = basesOf(s);
  Value written;
  CallArgs keywords = classKeywords(s, written);
  at(s);
  bool isFunction = !written.isNone() && !written.as<Class>() && !written.as<Opaque>();
  auto metaclass = metaclassOf(interpreter, written.shared<Class>(), bases);
  if (isFunction || (metaclass && runsOwnCode(*metaclass))) {
    Value made = callMetaclass(s, isFunction ? written : Value(metaclass),
                               Tuple(bases.begin(), bases.end()), std::move(keywords));
    return store(s.name, decorate(s.decoratorList, made));
  }
  auto cls = Class::make(s.name, "", std::move(bases));
  cls->location = scope->module->locate(s);
  // Of our own sources the module's name is no name of a library.
  const Value *module = scope->globals->find("__name__");
  if (interpreter.options().script && module && module->isStr() &&
      !(cls->location.file && cls->location.file->path().starts_with("<")))
    cls->module = module->str();
  cls->meta = metaclass;
  cls->isLocal = !interpreter.atModuleLevel();
  if (auto *absent = written.as<Opaque>())
    cls->absentMetaclass = absent->path;
  state.madeClasses.push_back(cls);
  if (scope->form != Scope::Form::Module)
    cls->qualifiedName = qualifiedNameOf(*scope->module, s.range, s.name);
  auto body = classBody(s, {});
  body->cls = cls;
  Evaluator(interpreter, body).run(s.body);
  if (auto doc = docOf(s.body))
    cls->attributes.set("__doc__", *doc);
  for (const auto &[name, value] : body->names->items())
    cls->attributes.set(name, value);
  at(s);
  completeClass(interpreter, cls, std::move(keywords));
  store(s.name, decorate(s.decoratorList, Value(cls)));
}

} // namespace pellucid::host
