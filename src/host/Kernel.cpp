// SPDX-License-Identifier: Apache-2.0
#include "host/Kernel.h"

#include "host/InterpreterState.h"

namespace pellucid::host {

std::shared_ptr<JitFunction> innermostKernel(const Value &kernel) {
  if (auto jit = kernel.shared<JitFunction>())
    return jit;
  if (auto *wrapped = kernel.as<WrappedKernel>())
    return innermostKernel(wrapped->kernel);
  if (auto *decorator = kernel.as<KernelDecorator>())
    return innermostKernel(decorator->fn);
  return nullptr;
}

/// `kernel.run(*args, grid=…, warmup=False)`: what kernel[grid](…) calls in Triton.
static Value runOf(const Value &kernel) {
  return nativeRaw("run", [kernel](Interpreter &interpreter, CallArgs args) {
    const Value *grid = args.keyword("grid");
    if (!grid)
      interpreter.raise("TypeError", "run() missing 1 required keyword-only argument: 'grid'");
    if (const Value *warmup = args.keyword("warmup"); warmup && interpreter.truth(*warmup))
      interpreter.refuse("run(…, warmup=True) compiles a kernel and launches nothing, which is not "
                         "supported; leave it out");
    Value launcher(std::make_shared<Launcher>(kernel, *grid));
    std::erase_if(args.keywords, [](const auto &keyword) {
      return keyword.first == "grid" || keyword.first == "warmup" || keyword.first == "stream";
    });
    return interpreter.call(launcher, std::move(args));
  });
}

// ---- jit functions
// -------------------------------------------------------------------------------------------------

const JitFunction::Parameter *JitFunction::parameter(std::string_view name) const {
  for (const Parameter &p : parameters)
    if (p.name == name)
      return &p;
  return nullptr;
}

std::string sourceOf(const Function &function) {
  const SourceLocation where = function.location();
  if (!where.file || !function.def)
    return {};
  const syntax::FunctionDef &def = *function.def;
  uint32_t first = def.decoratorList.empty() ? def.range.line : def.decoratorList[0]->range.line;
  const std::string &text = where.file->text();
  size_t begin = 0;
  for (uint32_t line = 1; line < first && begin != std::string::npos; ++line)
    begin = text.find('\n', begin) + 1;
  size_t end = begin;
  for (uint32_t line = first; line <= def.range.endLine && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(begin, end - begin);
}

std::optional<Value> JitFunction::getAttr(Interpreter &interpreter, std::string_view attribute) {
  if (attribute == "fn")
    return Value(function);
  if (attribute == "arg_names" || attribute == "params") {
    List names;
    for (const Parameter &p : parameters)
      names.emplace_back(p.name);
    return Value::list(std::move(names));
  }
  if (const Value *found = options.find(attribute))
    return *found;
  // What a script compiles ahead of its launches.
  if (attribute == "warmup" && interpreter.options().script)
    if (auto handles = interpreter.nativeModule("triton._script_driver"))
      return Value(std::make_shared<BoundMethod>(Value(shared_from_this()),
                                                 interpreter.getAttr(Value(handles), "warmup")));
  if (attribute == "run" && !function->attributes.find(attribute))
    return runOf(Value(shared_from_this()));
  return function->getAttr(interpreter, attribute);
}

bool JitFunction::setAttr(Interpreter &interpreter, std::string_view attribute,
                          const Value &value) {
  return function->setAttr(interpreter, attribute, value);
}

Value JitFunction::call(Interpreter &interpreter, CallArgs) {
  interpreter.refuse("kernel '" + name() + "' is called like a function; launch it with " + name() +
                     "[grid](...)");
}

std::optional<Value> JitFunction::getItem(Interpreter &, const Value &grid) {
  return Value(std::make_shared<Launcher>(Value(shared_from_this()), grid));
}

Value ConstexprFunction::call(Interpreter &interpreter, CallArgs args) {
  for (Value &v : args.positional)
    v = unwrapConstexpr(v);
  for (auto &[name, v] : args.keywords)
    v = unwrapConstexpr(v);
  return interpreter.call(function, std::move(args));
}

// ---- configs and decorators
// ----------------------------------------------------------------------------------------

std::string Config::repr() const {
  std::string out;
  for (const auto &[key, value] : kwargs.dictionary().items())
    out += key.str() + ": " + host::repr(value) + ", ";
  for (const auto &[key, value] : options.items())
    if (!value.isNone())
      out += key + ": " + host::repr(value) + ", ";
  return out.substr(0, out.size() - (out.empty() ? 0 : 2));
}

std::optional<Value> Config::getAttr(Interpreter &, std::string_view name) {
  if (name == "kwargs")
    return kwargs;
  if (name == "pre_hook")
    return preHook;
  if (name == "all_kwargs")
    return nativeRaw("all_kwargs", [self = std::static_pointer_cast<Config>(shared_from_this())](
                                       Interpreter &, CallArgs) {
      Dict all = self->kwargs.dictionary();
      for (const auto &[key, value] : self->options.items())
        if (!value.isNone())
          all.set(Value(key), value);
      return Value::dict(std::move(all));
    });
  const Value *found = options.find(name);
  return found ? std::optional(*found) : std::nullopt;
}

bool Config::setAttr(Interpreter &, std::string_view name, const Value &value) {
  if (name == "kwargs")
    kwargs = value;
  else if (name == "pre_hook")
    preHook = value;
  else
    options.set(name, value);
  return true;
}

bool Config::equals(const Object &other) const {
  auto *config = dynamic_cast<const Config *>(&other);
  return config && (config == this || (equal(kwargs, config->kwargs) && repr() == config->repr()));
}

Value KernelDecorator::call(Interpreter &interpreter, CallArgs) {
  std::string name = innermostKernel(fn)->name();
  interpreter.refuse("kernel '" + name + "' is called like a function; launch it with " + name +
                     "[grid](...)");
}

std::optional<Value> KernelDecorator::getItem(Interpreter &, const Value &grid) {
  return Value(std::make_shared<Launcher>(Value(shared_from_this()), grid));
}

std::optional<Value> KernelDecorator::getAttr(Interpreter &interpreter, std::string_view name) {
  if (name == "fn")
    return fn;
  auto *autotuner = dynamic_cast<Autotuner *>(this);
  if (autotuner && name == "configs") {
    List out;
    for (const auto &c : autotuner->configs)
      out.emplace_back(c);
    return Value::list(std::move(out));
  }
  if (autotuner && name == "cache")
    return autotuner->cache;
  if (autotuner && name == "best_config") {
    if (autotuner->best)
      return Value(autotuner->best);
    if (interpreter.options().script)
      return std::nullopt;
    if (!autotuner->pruneConfigsBy.isNone())
      interpreter.refuse("'best_config' of an autotuner that prunes its configs depends on the "
                         "launch; give the kernel its config at the launch");
    return Value(autotuner->configs.front()); // the one that launches take
  }
  if (autotuner && (name == "keys" || name == "key")) {
    List out;
    for (const std::string &key : autotuner->key)
      out.emplace_back(key);
    return Value::list(std::move(out));
  }
  if (auto *heuristics = dynamic_cast<Heuristics *>(this); heuristics && name == "values")
    return heuristics->values;
  if (name == "run")
    if (auto kernel = innermostKernel(fn); !kernel->function->attributes.find(name))
      return runOf(Value(shared_from_this()));
  return interpreter.findAttr(fn, name);
}

Value Launcher::call(Interpreter &interpreter, CallArgs args) {
  Value target = kernel;
  auto *wrapped = target.as<WrappedKernel>();
  if (wrapped)
    target = Value(wrapped->kernel);
  return interpreter.hooks().launch(interpreter, target, grid, std::move(args), wrapped != nullptr);
}

Value WrappedKernel::call(Interpreter &interpreter, CallArgs) {
  interpreter.refuse(
      "Triton kernels should always be called with a grid: wrap_triton(kernel)[grid](...)");
}

std::optional<Value> WrappedKernel::getItem(Interpreter &, const Value &grid) {
  return Value(std::make_shared<Launcher>(Value(shared_from_this()), grid));
}

std::optional<Value> WrappedKernel::getAttr(Interpreter &interpreter, std::string_view name) {
  return interpreter.findAttr(kernel, name);
}

} // namespace pellucid::host
