// SPDX-License-Identifier: Apache-2.0
/// Gradients and optimisers in C++; a part of pellucid/pellucid.hpp, with PyTorch's words.
///
/// Formulas, optimisers and their bits are those of scripts (docs/autograd.md, docs/training.md).
/// What requires grad is recorded (Tensor) and computed together when a value is asked for:
/// Optimizer::step computes, so that a training loop compiles its step once. Calls on recorded
/// tensors from several threads take turns; tensors in memory that they are given are copied at the
/// call, and one that an operator writes to is written before the call returns.
#pragma once

#include <pellucid/pellucid.hpp>

namespace pellucid {

/// Whether what this thread computes is followed for gradients: true from the start.
class PELLUCID_EXPORT GradMode {
public:
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Sets it until the guard goes.
class PELLUCID_EXPORT AutoGradMode {
public:
  explicit AutoGradMode(bool enabled) : before(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(before); }
  AutoGradMode(const AutoGradMode &) = delete;
  AutoGradMode &operator=(const AutoGradMode &) = delete;

private:
  bool before;
};

/// Nothing is followed until it goes: parameters may be written to.
class PELLUCID_EXPORT NoGradGuard : public AutoGradMode {
public:
  NoGradGuard() : AutoGradMode(false) {}
};

namespace optim {
class Optimizer;
}

/// A module's tensors by name, or an optimiser's state_dict, in a file of torch.save, which stock
/// torch.load(weights_only=True) reads. load takes such files, PyTorch's own too: all of it, or an
/// Error that lists what differs. The file is written aside and renamed.
PELLUCID_EXPORT void save(const nn::Module &module, const std::string &path);
PELLUCID_EXPORT void load(nn::Module &module, const std::string &path);
PELLUCID_EXPORT void save(const optim::Optimizer &optimizer, const std::string &path);
PELLUCID_EXPORT void load(optim::Optimizer &optimizer, const std::string &path);

// Losses, one number each; reduction over all elements as in PyTorch.
PELLUCID_EXPORT Tensor mse_loss(const Tensor &input, const Tensor &target);
/// `input` [rows, classes], `target` int64 [rows].
PELLUCID_EXPORT Tensor cross_entropy(const Tensor &input, const Tensor &target);

namespace autograd {

using variable_list = std::vector<Tensor>;

/// backward() of several tensors at once; `grad_tensors` is empty or one for each (undefined: ones,
/// for a tensor of one element).
PELLUCID_EXPORT void backward(const variable_list &tensors, const variable_list &grad_tensors = {},
                              std::optional<bool> retain_graph = std::nullopt,
                              bool create_graph = false);
/// The gradients of `outputs` by `inputs`, which no grad() is added to. Error where an output does
/// not depend on an input, unless `allow_unused`: its gradient is undefined then.
PELLUCID_EXPORT variable_list grad(const variable_list &outputs, const variable_list &inputs,
                                   const variable_list &grad_outputs = {},
                                   std::optional<bool> retain_graph = std::nullopt,
                                   bool create_graph = false, bool allow_unused = false);

/// What a Function keeps from its forward for its backward. Valid inside of the two.
class PELLUCID_EXPORT AutogradContext {
public:
  /// Numbers, texts and sizes. Tensors go to save_for_backward, which sees later writes to them.
  std::map<std::string, Argument> saved_data;
  void save_for_backward(variable_list tensors); ///< arguments and results of the forward; once
  /// Error where one was written to since, and after the graph was freed.
  variable_list get_saved_variables() const;
  void mark_dirty(const variable_list &inputs); ///< arguments that forward wrote to, and returns
  void mark_non_differentiable(const variable_list &outputs);
  /// False: a gradient that does not arrive is undefined in backward, instead of zeros.
  void set_materialize_grads(bool value);
  /// Of the forward's arguments, by position; false for what is no tensor.
  bool needs_input_grad(size_t index) const;

  std::shared_ptr<pellucid::detail::HookState> state; ///< internal
};

namespace detail {
using Forward =
    std::function<variable_list(AutogradContext *, const std::vector<Argument> &arguments)>;
using Backward = std::function<variable_list(AutogradContext *, variable_list gradients)>;
PELLUCID_EXPORT variable_list applyFunction(const std::string &name, const Forward &forward,
                                            const Backward &backward,
                                            const std::vector<Argument> &arguments);

[[noreturn]] PELLUCID_EXPORT void refuseArgument(size_t position);

/// An element of `arguments` as the parameter's own type; an integer can stand for a number.
template <typename T> T argumentAs(const std::vector<Argument> &arguments, size_t position) {
  const Argument &argument = arguments[position];
  if constexpr (std::is_floating_point_v<T>) {
    if (auto *real = std::get_if<double>(&argument))
      return static_cast<T>(*real);
    if (auto *integer = std::get_if<int64_t>(&argument))
      return static_cast<T>(*integer);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (auto *integer = std::get_if<int64_t>(&argument))
      return static_cast<T>(*integer);
  } else if constexpr (std::is_same_v<T, SymInt>) {
    if (auto *size = std::get_if<SymInt>(&argument))
      return *size;
    if (auto *integer = std::get_if<int64_t>(&argument))
      return *integer;
  } else if (auto *value = std::get_if<T>(&argument)) {
    return *value;
  }
  refuseArgument(position);
}

template <typename T> Argument toArgument(T &&value) {
  using Plain = std::decay_t<T>;
  if constexpr (std::is_same_v<Plain, bool>)
    return Argument(std::in_place_type<bool>, value);
  else if constexpr (std::is_integral_v<Plain>)
    return Argument(std::in_place_type<int64_t>, static_cast<int64_t>(value));
  else if constexpr (std::is_floating_point_v<Plain>)
    return Argument(std::in_place_type<double>, static_cast<double>(value));
  else if constexpr (std::is_convertible_v<T, std::string>)
    return Argument(std::in_place_type<std::string>, std::forward<T>(value));
  else
    return Argument(std::forward<T>(value));
}

template <typename R, typename... Ts, size_t... Is>
variable_list callForward(R (*forward)(AutogradContext *, Ts...), AutogradContext *context,
                          const std::vector<Argument> &arguments, std::index_sequence<Is...>) {
  R result = forward(context, argumentAs<std::decay_t<Ts>>(arguments, Is)...);
  if constexpr (std::is_same_v<R, Tensor>)
    return {std::move(result)};
  else
    return result;
}
template <typename R, typename... Ts>
constexpr size_t parameterCount(R (*)(AutogradContext *, Ts...)) {
  return sizeof...(Ts);
}
template <typename R, typename... Ts> R resultOf(R (*)(AutogradContext *, Ts...));
} // namespace detail

/// A function with a derivative of its own. `Derived` has
///   static Tensor (or variable_list) forward(AutogradContext *, parameters…);
///   static variable_list backward(AutogradContext *, variable_list gradients);
/// whose parameters are tensors, numbers, texts, sizes. What forward computes is not followed; it
/// may launch kernels. backward gives one gradient per parameter, undefined for what has none; what
/// it computes is followed under `create_graph`. Derived::apply(arguments…) calls it.
template <typename Derived> class Function {
public:
  template <typename... Ts> static auto apply(Ts &&...arguments) {
    static_assert(sizeof...(Ts) == detail::parameterCount(&Derived::forward),
                  "apply takes one argument for each parameter of forward behind the context");
    std::vector<Argument> all{detail::toArgument(std::forward<Ts>(arguments))...};
    variable_list results = detail::applyFunction(
        Derived::name(),
        [](AutogradContext *context, const std::vector<Argument> &given) {
          return detail::callForward(
              &Derived::forward, context, given,
              std::make_index_sequence<detail::parameterCount(&Derived::forward)>());
        },
        [](AutogradContext *context, variable_list gradients) {
          return Derived::backward(context, std::move(gradients));
        },
        all);
    if constexpr (std::is_same_v<decltype(detail::resultOf(&Derived::forward)), Tensor>)
      return results.at(0);
    else
      return results;
  }

  /// What errors and graphs call it; Derived may have its own.
  static std::string name() { return "CppFunction"; }
};

} // namespace autograd

namespace optim {

/// Options by PyTorch's names; what is not set has PyTorch's default.
class PELLUCID_EXPORT Options {
public:
  std::vector<std::pair<std::string, Argument>> values;
  std::vector<std::pair<std::string, std::pair<double, double>>> pairs; ///< betas, etas

protected:
  void set(const char *name, Argument value);
};

// NOLINTBEGIN: one line an option
#define PELLUCID_OPTION(Class, type, name)                                                         \
  Class &name(type value) {                                                                        \
    set(#name, Argument(std::in_place_type<type>, value));                                         \
    return *this;                                                                                  \
  }
#define PELLUCID_BETAS(Class)                                                                      \
  Class &betas(double first, double second) {                                                      \
    pairs.emplace_back("betas", std::make_pair(first, second));                                    \
    return *this;                                                                                  \
  }
// NOLINTEND

class SGDOptions : public Options {
public:
  SGDOptions(double rate = 1e-3) { lr(rate); }
  PELLUCID_OPTION(SGDOptions, double, lr)
  PELLUCID_OPTION(SGDOptions, double, momentum)
  PELLUCID_OPTION(SGDOptions, double, dampening)
  PELLUCID_OPTION(SGDOptions, double, weight_decay)
  PELLUCID_OPTION(SGDOptions, bool, nesterov)
  PELLUCID_OPTION(SGDOptions, bool, maximize)
};

class AdamOptions : public Options {
public:
  AdamOptions(double rate = 1e-3) { lr(rate); }
  PELLUCID_OPTION(AdamOptions, double, lr)
  PELLUCID_BETAS(AdamOptions)
  PELLUCID_OPTION(AdamOptions, double, eps)
  PELLUCID_OPTION(AdamOptions, double, weight_decay)
  PELLUCID_OPTION(AdamOptions, bool, amsgrad)
  PELLUCID_OPTION(AdamOptions, bool, maximize)
};

class AdamWOptions : public Options {
public:
  AdamWOptions(double rate = 1e-3) { lr(rate); }
  PELLUCID_OPTION(AdamWOptions, double, lr)
  PELLUCID_BETAS(AdamWOptions)
  PELLUCID_OPTION(AdamWOptions, double, eps)
  PELLUCID_OPTION(AdamWOptions, double, weight_decay)
  PELLUCID_OPTION(AdamWOptions, bool, amsgrad)
  PELLUCID_OPTION(AdamWOptions, bool, maximize)
};

class RMSpropOptions : public Options {
public:
  RMSpropOptions(double rate = 1e-2) { lr(rate); }
  PELLUCID_OPTION(RMSpropOptions, double, lr)
  PELLUCID_OPTION(RMSpropOptions, double, alpha)
  PELLUCID_OPTION(RMSpropOptions, double, eps)
  PELLUCID_OPTION(RMSpropOptions, double, weight_decay)
  PELLUCID_OPTION(RMSpropOptions, double, momentum)
  PELLUCID_OPTION(RMSpropOptions, bool, centered)
  PELLUCID_OPTION(RMSpropOptions, bool, maximize)
};

class AdagradOptions : public Options {
public:
  AdagradOptions(double rate = 1e-2) { lr(rate); }
  PELLUCID_OPTION(AdagradOptions, double, lr)
  PELLUCID_OPTION(AdagradOptions, double, lr_decay)
  PELLUCID_OPTION(AdagradOptions, double, weight_decay)
  PELLUCID_OPTION(AdagradOptions, double, initial_accumulator_value)
  PELLUCID_OPTION(AdagradOptions, double, eps)
  PELLUCID_OPTION(AdagradOptions, bool, maximize)
};
#undef PELLUCID_OPTION
#undef PELLUCID_BETAS

/// Holds handles of the parameters (leaves that require grad: Error for others) and what it keeps
/// for each. Copies are the same optimiser. One thread at a time.
class PELLUCID_EXPORT Optimizer {
public:
  /// Writes every parameter that has a gradient; computes before it returns.
  void step();
  /// `closure` computes the loss, which comes back, and its gradients.
  Tensor step(const std::function<Tensor()> &closure);
  void zero_grad(bool set_to_none = true);
  /// Further parameters, with options of their own beside the optimiser's.
  void add_param_group(const std::vector<Tensor> &parameters, const Options &options = {});
  size_t param_group_count() const;
  /// A number of a group's options ("lr", "weight_decay"): read, and set from the next step on.
  double option(const std::string &name, size_t group = 0) const;
  void set_option(const std::string &name, double value, size_t group = 0);
  /// What it keeps for a parameter ("exp_avg", "step"); undefined before its first step. Names are
  /// PyTorch's.
  Tensor state(const Tensor &parameter, const std::string &name) const;

  std::shared_ptr<pellucid::detail::HookState> held; ///< internal

protected:
  Optimizer(const char *name, const std::vector<Tensor> &parameters, const Options &options);
};

class PELLUCID_EXPORT SGD : public Optimizer {
public:
  SGD(const std::vector<Tensor> &parameters, const SGDOptions &options = {})
      : Optimizer("SGD", parameters, options) {}
};
class PELLUCID_EXPORT Adam : public Optimizer {
public:
  Adam(const std::vector<Tensor> &parameters, const AdamOptions &options = {})
      : Optimizer("Adam", parameters, options) {}
};
class PELLUCID_EXPORT AdamW : public Optimizer {
public:
  AdamW(const std::vector<Tensor> &parameters, const AdamWOptions &options = {})
      : Optimizer("AdamW", parameters, options) {}
};
class PELLUCID_EXPORT RMSprop : public Optimizer {
public:
  RMSprop(const std::vector<Tensor> &parameters, const RMSpropOptions &options = {})
      : Optimizer("RMSprop", parameters, options) {}
};
class PELLUCID_EXPORT Adagrad : public Optimizer {
public:
  Adagrad(const std::vector<Tensor> &parameters, const AdagradOptions &options = {})
      : Optimizer("Adagrad", parameters, options) {}
};

} // namespace optim

/// A training step as a program, the same as `compile --train`: `step` computes a loss from the
/// inputs, calls backward() and steps `optimizer`. Parameters, buffers of `module` and what the
/// optimiser keeps are state of the package's instances, as they are now, under
/// `compile --train`'s names ("weight", "optimizer.state.weight.exp_avg"); what `step` returns
/// comes back from each run. The optimiser's options are fixed. Nothing here changes. Write the
/// program with compile_package, load it with load_package(path).instance().
PELLUCID_EXPORT ExportedProgram export_training(nn::Module &module, optim::Optimizer &optimizer,
                                                const Function &step,
                                                const std::vector<Tensor> &examples,
                                                const DynamicShapes &dynamic = {},
                                                const std::vector<std::string> &names = {});

} // namespace pellucid
