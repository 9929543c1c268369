// SPDX-License-Identifier: Apache-2.0
#include "host/Discovery.h"

#include "host/InterpreterState.h"
#include "host/TreeWalk.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace pellucid::host {

using namespace syntax;

std::optional<Value> resolveName(Interpreter &interpreter, const Scope &scope,
                                 const syntax::Expr &e) {
  try {
    if (auto *name = as<Name>(&e))
      return lookupName(interpreter, scope, name->id);
    auto *attribute = as<Attribute>(&e);
    if (!attribute)
      return std::nullopt;
    auto object = resolveName(interpreter, scope, *attribute->value);
    bool inert = object && (object->as<Module>() || object->as<Class>() || object->as<Opaque>());
    return inert ? interpreter.findAttr(*object, attribute->attr) : std::nullopt;
  } catch (const DiagnosticError &) {
    return std::nullopt; // unbound yet, or not ours
  }
}

static NamedKernel kernelNamed(Interpreter &interpreter, const Scope &scope,
                               const LocalNames &locals, const syntax::Expr &e, int depth) {
  if (depth > 8)
    return {};
  auto inner = [&](const syntax::Expr &x) {
    return kernelNamed(interpreter, scope, locals, x, depth + 1);
  };
  if (auto *call = as<Call>(&e)) {
    NamedKernel wrapped = call->args.size() == 1 ? inner(*call->args[0]) : NamedKernel();
    wrapped.wrapped = wrapped.kernel != nullptr;
    return wrapped;
  }
  if (auto *name = as<Name>(&e))
    if (auto it = locals.find(name->id); it != locals.end() && it->second != &e)
      return inner(*it->second);
  if (auto *choice = as<IfExp>(&e))
    return inner(*choice->body);
  auto v = resolveName(interpreter, scope, e);
  if (!v)
    return {};
  return {innermostKernel(*v), v->as<WrappedKernel>() != nullptr};
}

NamedKernel launchedKernel(Interpreter &interpreter, const Scope &scope, const LocalNames &locals,
                           const syntax::Expr &launched) {
  const syntax::Expr *e = &launched;
  if (auto *name = as<Name>(e))
    if (auto it = locals.find(name->id); it != locals.end())
      e = it->second;
  auto *subscript = as<Subscript>(e);
  return subscript ? kernelNamed(interpreter, scope, locals, *subscript->value, 0) : NamedKernel();
}

namespace {

/// Follows every mention of a kernel from a function's text.
class Finder {
public:
  explicit Finder(Interpreter &i) : interpreter(i) {}
  std::vector<Value> found;

  void value(const Value &v) {
    if (auto kernel = innermostKernel(v)) {
      auto *wrapped = v.as<WrappedKernel>();
      Value plain = wrapped ? wrapped->kernel : v;
      bool known =
          std::any_of(found.begin(), found.end(), [&](const Value &f) { return f.isSame(plain); });
      if (!known)
        found.push_back(plain);
      return;
    }
    if (v.isSequence())
      return elements(v.elements());
    if (v.isDict()) {
      for (const auto &[key, element] : v.dictionary().items())
        value(element);
      return;
    }
    if (!v.isObject() || !seen.insert(v.object().get()).second)
      return;
    if (auto *op = v.as<Operator>())
      return value(op->function);
    if (auto *method = v.as<BoundMethod>())
      return value(method->function);
    if (auto *function = v.as<Function>())
      return body(*function);
    if (auto wrapped =
            v.object()->isCallable() && !v.as<Class>() && !v.as<Opaque>() && !v.as<NamedBuiltin>()
                ? v.object()->getAttr(interpreter, "func")
                : std::nullopt)
      value(*wrapped); // functools.partial
  }

private:
  Interpreter &interpreter;
  std::unordered_set<const void *> seen;

  void elements(const std::vector<Value> &list) {
    for (const Value &v : list)
      value(v);
  }

  void body(const Function &f) {
    const ScopeFacts &facts = f.def ? interpreter.state().factsOf(f.def, &f.def->args, f.def->body)
                                    : interpreter.state().factsOfLambda(*f.lambda);
    Text text{*this, *f.closure, {&facts.locals}};
    if (f.lambda)
      return text.expr(*f.lambda->body);
    for (const auto &s : f.def->body)
      text.stmt(*s);
  }

  /// Walks one function's text; names bound in it or in functions nested in it are not looked up
  /// outside.
  struct Text {
    Finder &finder;
    const Scope &scope;
    std::vector<const NameSet *> bound;

    bool isLocal(const std::string &name) const {
      return std::any_of(bound.begin(), bound.end(),
                         [&](const NameSet *names) { return names->count(name); });
    }

    void expr(const syntax::Expr &e) {
      const syntax::Expr *root = &e;
      while (auto *attribute = as<Attribute>(root))
        root = attribute->value.get();
      if (auto *name = as<Name>(root);
          name && (e.kind == ExprKind::Name || e.kind == ExprKind::Attribute)) {
        if (!isLocal(name->id))
          if (auto v = resolveName(finder.interpreter, scope, e))
            finder.value(*v);
        return;
      }
      forEachChild(e, [this](const syntax::Expr &child) { expr(child); });
    }

    void stmt(const Stmt &s) {
      bool nested = s.kind == StmtKind::FunctionDef;
      if (nested) {
        auto &def = static_cast<const FunctionDef &>(s);
        bound.push_back(&finder.interpreter.state().factsOf(&def, &def.args, def.body).locals);
      }
      forEachChild(
          s, [this](const syntax::Expr &e) { expr(e); },
          [this](const Stmt &inner) { stmt(inner); });
      if (nested)
        bound.pop_back();
    }
  };
};

/// Finds `kernel[grid](…)` in a file, through wrap_triton and local names.
class LaunchSites {
public:
  LaunchSites(Interpreter &i, const Module &m, std::vector<KernelListing> &k)
      : interpreter(i), module(m), kernels(k) {
    scope.form = Scope::Form::Module;
    scope.globals = scope.names = module.globals;
    for (size_t i = 0; i < kernels.size(); ++i)
      places.emplace(kernels[i].kernel.get(), i);
  }

  void run() {
    for (const auto &s : module.syntax->body)
      stmt(*s);
  }

private:
  Interpreter &interpreter;
  const Module &module;
  std::vector<KernelListing> &kernels;
  std::unordered_map<const JitFunction *, size_t> places; ///< in `kernels`
  Scope scope;
  std::string function;
  LocalNames aliases; ///< `k = wrap_triton(kernel)` in the current function

  void expr(const syntax::Expr &e) {
    if (auto *call = as<Call>(&e))
      if (auto named = launchedKernel(interpreter, scope, aliases, *call->func); named.kernel)
        if (auto place = places.find(named.kernel.get()); place != places.end())
          kernels[place->second].launches.push_back(
              {module.syntax->locate(e), function, named.wrapped});
    forEachChild(e, [this](const syntax::Expr &child) { expr(child); });
  }

  void stmt(const Stmt &s) {
    if (auto *assign = as<Assign>(&s); assign && assign->targets.size() == 1)
      if (auto *name = as<Name>(assign->targets[0].get()); name && !function.empty())
        aliases[name->id] = assign->value.get();
    bool isFunction = s.kind == StmtKind::FunctionDef;
    std::string outerFunction = function;
    auto outerAliases = aliases;
    if (isFunction)
      function = static_cast<const FunctionDef &>(s).name;
    forEachChild(
        s, [this](const syntax::Expr &e) { expr(e); }, [this](const Stmt &inner) { stmt(inner); });
    if (isFunction) {
      function = outerFunction;
      aliases = std::move(outerAliases);
    }
  }
};

std::vector<std::string> decoratorsOf(const Value &kernel) {
  std::vector<std::string> out;
  for (Value v = kernel; auto *d = v.as<KernelDecorator>(); v = Value(d->fn))
    if (auto *unread = v.as<UnreadDecorator>())
      out.push_back(unread->name);
    else
      out.push_back(v.as<Autotuner>() ? "autotune" : "heuristics");
  out.push_back("jit");
  return out;
}

} // namespace

std::vector<Value> discoverKernels(Interpreter &interpreter, const Value &function) {
  Finder finder(interpreter);
  finder.value(function);
  return finder.found;
}

FileListing listKernels(Interpreter &interpreter, const Module &module,
                        const std::vector<Value> &made) {
  FileListing listing;
  // By kernel: its first name in the module, and what a maker gave.
  std::unordered_map<const JitFunction *, std::pair<std::string, Value>> named;
  for (const auto &[name, value] : module.globals->items())
    if (auto kernel = innermostKernel(value); kernel && !value.as<WrappedKernel>())
      named.emplace(kernel.get(), std::pair(name, value));
  std::unordered_map<const JitFunction *, Value> madeAs;
  for (const Value &value : made)
    if (auto kernel = innermostKernel(value))
      madeAs.insert_or_assign(kernel.get(), value);
  std::unordered_set<const FunctionDef *> listed;
  for (const auto &kernel : interpreter.state().kernels) {
    if (kernel->function->module != module.syntax)
      continue;
    // A function that defines a kernel may have run more than once.
    bool isFirst = listed.insert(&kernel->def()).second;
    if (!isFirst && !named.count(kernel.get()))
      continue;
    KernelListing k{kernel->name(), Value(kernel), kernel, {}, {}};
    if (auto entry = named.find(kernel.get()); entry != named.end())
      std::tie(k.name, k.value) = entry->second;
    if (auto entry = madeAs.find(kernel.get());
        entry != madeAs.end() && k.value.isSame(Value(kernel)))
      k.value = entry->second;
    k.decorators = decoratorsOf(k.value);
    listing.kernels.push_back(std::move(k));
  }
  LaunchSites(interpreter, module, listing.kernels).run();
  for (const auto &[name, op] : interpreter.operators) {
    if (op->location.file != module.syntax->file)
      continue;
    OperatorListing o{op, {}};
    for (const Value &kernel : discoverKernels(interpreter, op->function))
      o.kernels.push_back(innermostKernel(kernel)->name());
    listing.operators.push_back(std::move(o));
  }
  return listing;
}

} // namespace pellucid::host
