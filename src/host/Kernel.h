// SPDX-License-Identifier: Apache-2.0
/// Triton's host objects: jit functions, autotuners, heuristics, configs, launchers; and operators
/// made from them.
#pragma once

#include "host/Objects.h"

#include <map>

namespace pellucid::host {

/// A `@triton.jit` function: what the kernel front end compiles.
class JitFunction final : public Object {
public:
  struct Parameter {
    std::string name;
    const syntax::Expr *annotation = nullptr;
    bool isConstexpr = false; ///< by `tl.constexpr`, `constexpr`, "tl.constexpr", "constexpr"
    bool keywordOnly = false;
    std::optional<Value> defaultValue;
    bool doNotSpecialize = false, doNotSpecializeOnAlignment = false;
  };
  std::shared_ptr<Function> function; ///< def, module, globals, closure
  std::vector<Parameter> parameters;
  /// The name of `*args`, empty: none. Kernels call such functions; nobody launches them.
  std::string rest;
  Namespace options; ///< the decorator's keywords, except the specialisation lists
  bool noInline = false;

  const std::string &name() const { return function->name; }
  const syntax::FunctionDef &def() const { return *function->def; }
  SourceLocation location() const { return function->location(); }
  const Parameter *parameter(std::string_view name) const;
  /// A free name of the kernel's body: closure, globals, builtins. A module is a Module, `tl.x` a
  /// NamedBuiltin or DType.
  std::optional<Value> lookup(Interpreter &interpreter, std::string_view name) const {
    return function->lookup(interpreter, name);
  }

  std::string typeName() const override { return "JITFunction"; }
  std::string repr() const override { return "JITFunction(" + name() + ")"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
};

/// `@triton.constexpr_function`: plain Python for the host and, with constexpr arguments, for
/// kernels.
class ConstexprFunction : public Object {
public:
  Value function;
  explicit ConstexprFunction(Value f) : function(std::move(f)) {}
  std::string typeName() const override { return "constexpr_function"; }
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
};

/// triton.Config.
class Config : public Object {
public:
  Value kwargs = Value::dict();
  Namespace options; ///< num_warps, num_stages, num_ctas, maxnreg … as given or defaulted
  Value preHook;
  SourceLocation location;

  std::string typeName() const override { return "Config"; }
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return 0; }
};

/// `@triton.autotune` and `@triton.heuristics`: kernels that wrap a kernel, in either order.
class KernelDecorator : public Object {
public:
  Value fn; ///< JitFunction, Autotuner or Heuristics
  SourceLocation decoratorLocation;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
};

class Autotuner : public KernelDecorator {
public:
  std::vector<std::shared_ptr<Config>> configs;
  std::vector<std::string> key, resetToZero, restoreValue;
  Value pruneConfigsBy; ///< dict, or None
  Value preHook, postHook;
  Namespace options; ///< warmup, rep, use_cuda_graph, do_bench, cache_results as given
  /// What a script's launches took: by the key's values and the tensors' types, and the last one.
  Value cache = Value::dict();
  mutable std::shared_ptr<Config> best;
  std::string typeName() const override { return "Autotuner"; }
};

class Heuristics : public KernelDecorator {
public:
  Value values; ///< dict: parameter name -> function of the arguments' dict
  std::string typeName() const override { return "Heuristics"; }
};

/// A decorator of a kernel that could not be evaluated: what it would choose is not known.
class UnreadDecorator : public KernelDecorator {
public:
  std::string name; ///< "autotune"
  Diagnostic reason;
  std::string typeName() const override { return "decorator that could not be evaluated"; }
};

/// The text of a function's definition, decorators included; empty where it has none.
std::string sourceOf(const Function &function);

/// The function as a kernel calls it: its parameters with their defaults and annotations.
std::shared_ptr<JitFunction> kernelFunction(Interpreter &,
                                            const std::shared_ptr<Function> &function,
                                            const CallArgs &options = {});
/// The jit function under any decorators, or null when `kernel` is no kernel.
std::shared_ptr<JitFunction> innermostKernel(const Value &kernel);
inline bool isKernel(const Value &value) { return innermostKernel(value) != nullptr; }

/// `kernel[grid]`; calling it asks HostHooks::launch.
class Launcher : public Object {
public:
  Value kernel, grid;
  Launcher(Value k, Value g) : kernel(std::move(k)), grid(std::move(g)) {}
  std::string typeName() const override { return "kernel launcher"; }
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
};

/// What `wrap_triton(kernel)` gives: the kernel, to be launched from inside an operator.
class WrappedKernel : public Object {
public:
  Value kernel;
  explicit WrappedKernel(Value k) : kernel(std::move(k)) {}
  std::string typeName() const override { return "TraceableTritonKernelWrapper"; }
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
};

/// A `@triton_op` or `@custom_op`. Calling it, `torch.ops.ns.name` or its overload asks
/// HostHooks::callOperator.
class Operator : public Object {
public:
  enum class Form : uint8_t { Triton, Custom } form = Form::Custom;
  std::string name;            ///< "ns::name" as declared
  std::string overload;        ///< "default" unless the name carries one
  Value function;              ///< the decorated Function
  bool isOnlyDeclared = false; ///< by define(): `function` says that nothing implements it
  Value mutatesArgs;           ///< as given: tuple, list, dict, set or "unknown"
  std::optional<std::string> schemaText; ///< the schema= argument
  Value deviceTypes;                     ///< as given, or None
  Value fake;                            ///< register_fake's function, or None
  std::vector<std::pair<std::string, Value>>
      kernels; ///< register_kernel: device ("cpu") -> function
  Value backward, setupContext,
      vmap;          ///< register_autograd's and register_vmap's functions, or None
  Value flopFormula; ///< register_flop_formula's function, or None
  Value tags;        ///< as given, or None
  /// `impl(…, "Autograd")`: runs in place of the operator, which it calls again below autograd.
  Value autogradKernel;
  bool belowAutograd = false; ///< while autogradKernel runs
  /// register_torch_dispatch: a mode's or tensor's class -> function.
  std::vector<std::pair<Value, Value>> dispatchRules;
  std::map<std::string, Value> autocast; ///< register_autocast: device -> dtype of the inputs
  std::set<std::string> disabledKernels; ///< set_kernel_enabled(device, False)
  SourceLocation location;

  bool mutatesUnknown() const { return mutatesArgs.isStr() && mutatesArgs.str() == "unknown"; }
  /// What runs on a device: register_kernel's function for it, else one for every device, else the
  /// decorated function.
  Value kernelFor(const std::string &device) const;
  /// Whether a function is registered for the device, or for every device.
  bool hasKernelFor(const std::string &device) const;
  /// Whether device_types leaves the device out and no kernel is registered for it.
  bool lacksKernelFor(Interpreter &, const std::string &device) const;

  std::string nodeName() const; ///< "ns.name.default"
  std::string typeName() const override { return form == Form::Triton ? "triton_op" : "custom_op"; }
  std::string repr() const override { return nodeName(); }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
};

} // namespace pellucid::host
