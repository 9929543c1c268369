// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/ValueMethods.h"
#include "support/Stack.h"
#include "syntax/Parser.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pellucid::host {

const std::vector<NativeModules::Fill> *NativeModules::find(const std::string &name) const {
  auto it = fillers.find(name);
  return it == fillers.end() ? nullptr : &it->second;
}

std::vector<std::string> NativeModules::names() const {
  std::vector<std::string> out;
  for (const auto &[name, fills] : fillers)
    out.push_back(name);
  return out;
}

void NativeModules::append(const NativeModules &others) {
  for (const auto &[name, fills] : others.fillers)
    fillers[name].insert(fillers[name].end(), fills.begin(), fills.end());
}

bool NativeModules::hasPrefix(const std::string &name) const {
  auto it = fillers.lower_bound(name);
  if (it == fillers.end())
    return false;
  return it->first == name || it->first.starts_with(name + ".");
}

// ---- hooks that refuse
// ---------------------------------------------------------------------------------------------

bool HostHooks::decide(Interpreter &, const symbolic::Expr &condition,
                       const SourceLocation &where) {
  throw DiagnosticError(where, "a branch depends on '" + condition.text() +
                                   "', and nothing here knows the range of its dimensions");
}

Value HostHooks::launch(Interpreter &interpreter, const Value &kernel, const Value &, CallArgs args,
                        bool) {
  interpreter.refuse(
      args.location,
      "kernel '" + innermostKernel(kernel)->name() +
          "' is launched while the file is read; launch it inside a function that is "
          "traced, or under 'if __name__ == \"__main__\":'");
}

Value HostHooks::callOperator(Interpreter &interpreter, const std::shared_ptr<Operator> &op,
                              CallArgs args) {
  interpreter.refuse(args.location,
                     "operator '" + op->name +
                         "' is called while the file is read; call it inside a function that is "
                         "traced, or under 'if __name__ == \"__main__\":'");
}

// ---- life
// ----------------------------------------------------------------------------------------------------------

Interpreter::Interpreter(InterpreterOptions options)
    : impl(std::make_unique<State>(std::move(options))) {
  addBuiltinTypes(*this);
  addExceptions(*this);
  addExceptionGroups(*this);
  addStringMethods(*this);
  addValueMethods(*this);
  addContainerMethods(*this);
  addSpecialMethods(*this);
  addBuiltinFunctions(*this);
  addDataFiles(*this);
  // The embedder's fillers come last: what they set replaces what stands here.
  NativeModules modules;
  addStandardModules(modules);
  addMathModule(modules);
  addFunctools(modules);
  addLibraryModules(modules);
  addRegularExpressions(modules);
  addVersionModules(modules);
  addDataModules(modules);
  addClassModules(modules);
  addTritonModules(modules);
  addTorchLibrary(modules);
  if (impl->options.script) {
    addScriptModules(modules, *impl->options.script);
    addWeakReferences(modules);
    addDigests(modules);
    addScriptBuiltins(*this);
  }
  modules.append(impl->options.modules);
  impl->options.modules = std::move(modules);
}

Interpreter::~Interpreter() {
  BudgetScope unlimited(nullptr);
  finaliseMain();
  for (Iterator *left : std::set<Iterator *>(impl->suspended))
    if (impl->suspended.count(left))
      left->close(*this, true);
  // Functions hold their globals and classes their methods: cut the cycles.
  std::vector<std::shared_ptr<Namespace>> tables;
  std::vector<std::shared_ptr<Class>> classes;
  impl->cycles.isEnabled = false;
  tables = impl->cycles.names();
  for (auto &cls : impl->madeClasses)
    if (auto alive = cls.lock())
      classes.push_back(std::move(alive));
  // `order` has those whose import failed, `files` the packages that are only passed through.
  for (auto &module : impl->order)
    tables.push_back(module->globals);
  for (auto &[name, module] : impl->files)
    tables.push_back(module->globals);
  std::vector<const Namespace *> roots;
  for (const auto &table : tables)
    roots.push_back(table.get());
  for (const auto &cls : classes)
    roots.push_back(&cls->attributes);
  breakCycles(roots);

  for (const auto &table : tables)
    table->clear();
  for (const auto &cls : classes)
    cls->attributes.clear();
  for (auto &[name, module] : impl->natives)
    module->globals->clear();
  operators.clear();
}

/// Instances that only a script's own names hold are told that they go, as at Python's end.
void Interpreter::finaliseMain() {
  bool anyFinalizer =
      std::any_of(impl->madeClasses.begin(), impl->madeClasses.end(), [](const auto &weak) {
        auto cls = weak.lock();
        return cls && cls->hasFinalizer;
      });
  if (!anyFinalizer || !impl->options.script || impl->order.empty())
    return;
  ActiveScope running(*this);
  Namespace &names = *impl->order.front()->globals;
  std::vector<std::string> instances;
  for (const auto &[name, value] : names.items())
    if (value.as<Instance>())
      instances.push_back(name);
  for (const std::string &name : instances)
    names.set(name, Value());
}

void Interpreter::State::capture(const std::shared_ptr<Scope> &scope) {
  for (const std::shared_ptr<Scope> *s = &scope;
       *s && (*s)->form != Scope::Form::Module && !(*s)->isCaptured; s = &(*s)->parent) {
    (*s)->isCaptured = true;
    cycles.track(*s);
  }
}

HostHooks &Interpreter::hooks() {
  return impl->options.hooks ? *impl->options.hooks : impl->refusingHooks;
}
const InterpreterOptions &Interpreter::options() const { return impl->options; }
const Budget &Interpreter::budget() const { return impl->budget; }
std::vector<std::shared_ptr<Module>> Interpreter::modules() const { return impl->order; }

const std::shared_ptr<Class> &Interpreter::builtinClass(std::string_view name) const {
  auto it = impl->classes.find(name);
  if (it == impl->classes.end())
    throw std::logic_error("no builtin class '" + std::string(name) + "'");
  return it->second;
}

const Value *Interpreter::builtin(std::string_view name) const { return impl->builtins.find(name); }

// ---- places and errors
// ---------------------------------------------------------------------------------------------

SourceLocation Interpreter::location() const {
  if (!impl->module || !impl->node)
    return impl->outside;
  return impl->module->locate(*impl->node);
}

void Interpreter::setOutside(SourceLocation where) { impl->outside = std::move(where); }

std::vector<SourceLocation> Interpreter::callStack() const {
  std::vector<SourceLocation> sites;
  for (size_t i = impl->frames.size(); i-- > 0;)
    if (impl->frames[i].callSite.known())
      sites.push_back(impl->frames[i].callSite);
  return sites;
}

bool Interpreter::merging() const { return impl->merging > 0; }

bool Interpreter::atModuleLevel() const {
  return std::none_of(impl->frames.begin(), impl->frames.end(),
                      [](const Frame &f) { return f.function != nullptr; });
}

static Diagnostic withCalls(const Interpreter &interpreter, const SourceLocation &where,
                            std::string message) {
  constexpr size_t shown = 6;
  Diagnostic d(Severity::Error, where, std::move(message));
  std::vector<SourceLocation> sites = interpreter.callStack();
  for (size_t i = 0; i < std::min(sites.size(), shown); ++i)
    d.note(sites[i], "called from here");
  return d;
}

void Interpreter::refuse(std::string message) const { refuse(location(), std::move(message)); }

void Interpreter::refuse(const SourceLocation &where, std::string message) const {
  if (impl->options.script)
    impl->refusedAt = traceback();
  throw DiagnosticError(withCalls(*this, where, std::move(message)));
}

Value makeException(Interpreter &, const std::shared_ptr<Class> &cls, std::vector<Value> args) {
  auto exception = std::make_shared<Instance>(cls);
  exception->attributes.set("args", Value::tuple(std::move(args)));
  return exception;
}

void Interpreter::raise(std::string_view className, std::string message) {
  std::vector<Value> args;
  if (!message.empty() || !impl->options.script)
    args.emplace_back(message);
  Value exception = makeException(*this, builtinClass(className), std::move(args));
  noteRaised(*this, exception);
  throw RaisedError(withCalls(*this, location(), std::string(className) + ": " + message),
                    std::move(exception));
}

RaisedError interruptionOf(Interpreter &interpreter) {
  interpreter.state().budget.wasInterrupted();
  Value exception = makeException(interpreter, interpreter.builtinClass("KeyboardInterrupt"), {});
  noteRaised(interpreter, exception);
  return {Diagnostic(Severity::Error, interpreter.location(), "KeyboardInterrupt"), exception};
}

bool Interpreter::interrupt() noexcept { return impl->budget.interrupt(); }

void Interpreter::raiseKey(const Value &key) {
  Value exception = makeException(*this, builtinClass("KeyError"), {key});
  noteRaised(*this, exception);
  throw RaisedError(withCalls(*this, location(), "KeyError: " + repr(key)), std::move(exception));
}

void raiseStop(Interpreter &interpreter, const Iterator &iterator) {
  Value value = iterator.generator ? iterator.generator->result : Value();
  Value stop = makeException(interpreter, interpreter.builtinClass("StopIteration"),
                             value.isNone() ? std::vector<Value>() : std::vector<Value>{value});
  stop.as<Instance>()->attributes.set("value", value);
  noteRaised(interpreter, stop);
  std::string text = value.isNone() ? "" : ": " + (value.isStr() ? value.str() : repr(value));
  throw RaisedError(withCalls(interpreter, interpreter.location(), "StopIteration" + text),
                    std::move(stop));
}

// ---- the one that runs
// --------------------------------------------------------------------------------------------------

static thread_local Interpreter *activeInterpreter = nullptr;

Interpreter *Interpreter::active() { return activeInterpreter; }
ActiveScope::ActiveScope(Interpreter &interpreter)
    : outer(std::exchange(activeInterpreter, &interpreter)) {}
ActiveScope::~ActiveScope() { activeInterpreter = outer; }
static std::string nameOfCallee(const Object &callee) {
  if (auto *function = dynamic_cast<const NativeFunction *>(&callee))
    return function->name + "()";
  if (auto *function = dynamic_cast<const Function *>(&callee))
    return function->name + "()";
  if (auto *cls = dynamic_cast<const Class *>(&callee))
    return cls->name + "()";
  return callee.typeName();
}

void rethrowInSentences(Interpreter &interpreter, const std::function<std::string()> &what) {
  try {
    throw;
  } catch (const RaisedError &) {
    throw;
  } catch (const Interrupted &) {
    throw interruptionOf(interpreter);
  } catch (const DiagnosticError &error) {
    if (error.diagnostic.location.known())
      throw;
    interpreter.refuse(error.diagnostic.message);
  } catch (const WrongValue &error) {
    interpreter.raise("TypeError", what() + ": " + error.what());
  } catch (const symbolic::ExpressionTooLarge &error) {
    interpreter.refuse(error.what());
  } catch (const std::overflow_error &) {
    interpreter.raise("OverflowError", "a size does not fit 64 bits");
  } catch (const std::length_error &) {
    interpreter.refuse(what() + " would make a value that is too large");
  } catch (const std::out_of_range &) {
    interpreter.raise("ValueError", what() + ": a number is out of range");
  } catch (const std::bad_alloc &) {
    interpreter.refuse(what() + " needs more memory than there is");
  }
}

// ---- entry points
// --------------------------------------------------------------------------------------------------

Value Interpreter::evaluate(const syntax::Expr &expr, const std::shared_ptr<Scope> &scope) {
  ActiveScope running(*this);
  BudgetScope budget(&impl->budget);
  PlaceGuard place(*impl);
  impl->module = scope->module.get();
  impl->node = &expr;
  try {
    return Evaluator(*this, scope).eval(expr);
  } catch (...) {
    rethrowInSentences(*this, [] { return std::string("the expression"); });
  }
}

Value Interpreter::evaluateText(std::shared_ptr<const SourceFile> text,
                                const std::shared_ptr<Module> &globalsOf) {
  auto expr = syntax::parseExpression(text);
  auto module = std::make_shared<syntax::Module>();
  module->file = text;
  auto scope = std::make_shared<Scope>();
  scope->form = Scope::Form::Module;
  scope->globals = scope->names = globalsOf ? globalsOf->globals : std::make_shared<Namespace>();
  scope->module = module;
  impl->ownedModules.push_back(module);
  impl->ownedExprs.push_back(std::move(expr));
  return evaluate(*impl->ownedExprs.back(), scope);
}

Value Interpreter::call(const Value &callee, std::vector<Value> positional) {
  return call(callee, CallArgs{std::move(positional), {}, location()});
}

Value Interpreter::call(const Value &callee, CallArgs args) {
  ActiveScope running(*this);
  if (!callee.isObject() || !callee.object()->isCallable())
    raise("TypeError", "'" + typeName(callee) + "' object is not callable");
  std::shared_ptr<Object> keepAlive = callee.object();
  bool isTooDeep = impl->depth >= impl->options.maxDepth * 2 || stackIsLow();
  if (isTooDeep && impl->options.script)
    raise("RecursionError", "maximum recursion depth exceeded");
  if (isTooDeep)
    refuse("calls are nested too deeply (more than " + std::to_string(impl->options.maxDepth) +
           ", or than the stack is deep); write the recursion as a loop");
  if (impl->options.budgetPerCall && impl->depth == 0 && impl->importDepth == 0)
    impl->budget.renewSteps();
  ++impl->depth;
  struct Leave {
    uint32_t &depth;
    ~Leave() { --depth; }
  } leave{impl->depth};
  BudgetScope budget(&impl->budget);
  try {
    impl->budget.step();
    return keepAlive->call(*this, std::move(args));
  } catch (...) {
    rethrowInSentences(*this, [&] { return nameOfCallee(*keepAlive); });
  }
}

// ---- conversions
// ---------------------------------------------------------------------------------------------------

int64_t Interpreter::toInt64(const Value &value, std::string_view what) {
  Value v = unwrapConstexpr(value);
  if (v.isBool())
    return v.boolean();
  if (v.isSymInt())
    refuse(std::string(what) + " depends on a dynamic dimension ('" + v.symInt().text() +
           "') where a number is needed; make that dimension static");
  if (auto *number = v.as<SymFloat>(); number && number->isWhole())
    number->refuse(*this, "used as " + std::string(what));
  auto *instance = v.as<Instance>();
  if (auto method = instance       ? instance->special(*this, "__index__")
                    : v.isObject() ? v.object()->getAttr(*this, "__index__")
                                   : std::nullopt)
    return toInt64(call(*method), what);
  if (!v.isInt())
    raise("TypeError", std::string(what) + " must be an int, not " + typeName(v));
  Int i = v.integer();
  if (i < INT64_MIN || i > INT64_MAX)
    raise("OverflowError",
          std::string(what) + " is " + toString(i) + ", which does not fit 64 bits");
  return static_cast<int64_t>(i);
}

double Interpreter::toDouble(const Value &value, std::string_view what) {
  Value v = unwrapConstexpr(value);
  if (v.isFloat())
    return v.real();
  if (v.isInt())
    return static_cast<double>(v.integer());
  if (v.isBool())
    return v.boolean();
  if (auto *instance = v.as<Instance>())
    if (auto method = instance->special(*this, "__float__"))
      return toDouble(call(*method), what);
  if (auto *number = v.as<SymFloat>();
      number && number->description().find("tensor") != std::string::npos)
    number->refuse(*this, "used as " + std::string(what));
  if (isSymbolicNumber(v))
    refuse(
        std::string(what) + " is a float computed from a dynamic dimension ('" + host::repr(v) +
        "'), which is not supported; make that dimension static, or compute it inside the kernel");
  // In a script a tensor is a number where one is wanted.
  if (v.isObject() && !v.as<Instance>() && impl->options.script)
    if (auto method = v.object()->getAttr(*this, "__float__")) {
      Value number = call(*method);
      if (number.isFloat() || number.isInt() || number.isBool())
        return toDouble(number, what);
    }
  raise("TypeError", std::string(what) + " must be a real number, not " + typeName(v));
}

const std::string &Interpreter::toStr(const Value &value, std::string_view what) {
  if (value.isStr())
    return value.str();
  if (auto *c = value.as<Constexpr>())
    return toStr(c->value, what);
  if (auto *text = value.as<SymText>())
    text->refuse(*this);
  raise("TypeError", std::string(what) + " must be str, not " + typeName(value));
}

symbolic::Expr Interpreter::toExpr(const Value &value, std::string_view what) {
  Value v = unwrapConstexpr(value);
  return v.isSymInt() ? v.symInt() : symbolic::Expr(toInt64(v, what));
}

} // namespace pellucid::host
