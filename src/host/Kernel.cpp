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

// ---- jit functions
// -------------------------------------------------------------------------------------------------

const JitFunction::Parameter *JitFunction::parameter(std::string_view name) const {
  for (const Parameter &p : parameters)
    if (p.name == name)
      return &p;
  return nullptr;
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
  if (autotuner && name == "best_config") {
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

// ---- operators
// -----------------------------------------------------------------------------------------------------

std::string Operator::nodeName() const {
  std::string out = name;
  if (size_t colons = out.find("::"); colons != std::string::npos)
    out.replace(colons, 2, ".");
  return out + "." + overload;
}

Value Operator::call(Interpreter &interpreter, CallArgs args) {
  return interpreter.hooks().callOperator(
      interpreter, std::static_pointer_cast<Operator>(shared_from_this()), std::move(args));
}

/// Makes `op.register_x(...)`: takes the function at once, or returns a decorator that takes it.
static Value registration(
    const std::shared_ptr<Operator> &op, std::string name,
    std::function<void(Interpreter &, const std::shared_ptr<Operator> &, const CallArgs &, Value)>
        keep,
    size_t functionIndex) {
  return nativeRaw(name, [=](Interpreter &interpreter, CallArgs args) {
    Value function;
    if (args.positional.size() > functionIndex)
      function = args.positional[functionIndex];
    for (std::string_view key : {"func", "fn", "backward"})
      if (const Value *given = args.keyword(key))
        function = *given;
    if (!function.isNone()) {
      keep(interpreter, op, args, function);
      return function;
    }
    return nativeRaw(name, [=](Interpreter &inner, CallArgs decorated) {
      Value target = decorated.positional.at(0);
      keep(inner, op, args, target);
      return target;
    });
  });
}

std::optional<Value> Operator::getAttr(Interpreter &interpreter, std::string_view attribute) {
  auto self = std::static_pointer_cast<Operator>(shared_from_this());
  using Op = std::shared_ptr<Operator>;
  if (attribute == overload || attribute == "default" || attribute == "_opoverload")
    return Value(self);
  if (attribute == "register_fake" || attribute == "register_abstract" ||
      attribute == "impl_abstract")
    return registration(
        self, "register_fake",
        [](Interpreter &, const Op &op, const CallArgs &, Value f) { op->fake = f; }, 0);
  if (attribute == "register_kernel")
    return registration(
        self, "register_kernel",
        [](Interpreter &i, const Op &op, const CallArgs &args, Value f) {
          Value devices = args.positional.empty() ? Value("cpu") : args.positional[0];
          if (const Value *given = args.keyword("device_types"))
            devices = *given;
          for (const Value &d : devices.isStr() ? std::vector<Value>{devices} : i.iterate(devices))
            op->kernels.emplace_back(i.toStr(d, "device_types"), f);
        },
        1);
  if (attribute == "register_autograd")
    return registration(
        self, "register_autograd",
        [](Interpreter &, const Op &op, const CallArgs &args, Value f) {
          op->backward = f;
          if (const Value *setup = args.keyword("setup_context"))
            op->setupContext = *setup;
        },
        0);
  if (attribute == "register_vmap")
    return registration(
        self, "register_vmap",
        [](Interpreter &, const Op &op, const CallArgs &, Value f) { op->vmap = f; }, 0);
  // What other modes of PyTorch would do with it: there are none here.
  if (attribute == "register_torch_dispatch")
    return nativeRaw("register_torch_dispatch", [](Interpreter &, CallArgs args) -> Value {
      if (args.positional.size() > 1 || args.keyword("fn"))
        return Value();
      return nativeRaw("register_torch_dispatch",
                       [](Interpreter &, CallArgs inner) { return inner.positional.at(0); });
    });
  if (attribute == "set_kernel_enabled")
    return nativeRaw("set_kernel_enabled", [](Interpreter &i, CallArgs) -> Value {
      i.refuse(
          "set_kernel_enabled() changes which kernel an operator runs, which is not supported; "
          "register only the kernel that is meant");
    });
  if (attribute == "__name__")
    return Value(name.substr(name.find("::") == std::string::npos ? 0 : name.find("::") + 2));
  if (attribute == "_qualname" || attribute == "_name")
    return Value(name);
  if (attribute == "_init_fn")
    return function;
  return interpreter.findAttr(function, attribute);
}

} // namespace pellucid::host
