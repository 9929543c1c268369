// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/Tape.h"
#include "host/Interpreter.h"
#include "trace/AssumedDevice.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

/// A traced tensor as a value of the host program: torch.Tensor's attributes, operators and
/// methods. Methods that have no rule of their own are the ATen operator of that name.
class TensorObject : public host::Object {
public:
  using Told = TensorObject;
  static constexpr Base told = Base::Tensor;
  Base baseKind() const final { return Base::Tensor; }
  TensorObject(Tracer &t, TracedTensor x) : tracer(t), tensor(std::move(x)) {}

  Tracer &tracer;
  TracedTensor tensor;
  bool isParameter = false;

  std::string typeName() const override { return isParameter ? "Parameter" : "Tensor"; }
  std::string repr() const override;
  /// f"{x:.3f}": of a tensor without dims its number is formatted.
  std::string format(host::Interpreter &, std::string_view spec);
  std::optional<host::Value> getAttr(host::Interpreter &, std::string_view name) override;
  const host::Value *methodFor(std::string_view name) override;
  std::optional<host::Value> getItem(host::Interpreter &, const host::Value &key) override;
  bool setItem(host::Interpreter &, const host::Value &key, const host::Value &value) override;
  std::optional<host::Value> binaryOp(host::Interpreter &, host::BinaryOp, const host::Value &other,
                                      bool reflected) override;
  std::optional<host::Value> inPlaceOp(host::Interpreter &, host::BinaryOp,
                                       const host::Value &other) override;
  std::optional<host::Value> unaryOp(host::Interpreter &, host::UnaryOp) override;
  std::optional<host::Value> compare(host::Interpreter &, host::CompareOp, const host::Value &other,
                                     bool reflected) override;
  /// The elements become those of `value`, cast to this type; `name` is the operation's, for
  /// refusals; `uniform` as for Tracer::write(). Gives this tensor.
  host::Value assign(host::Interpreter &, const host::Value &value, const std::string &name,
                     bool uniform = false);
  bool truth(host::Interpreter &) override;
  std::optional<bool> contains(host::Interpreter &, const host::Value &item) override;
  std::optional<host::Value> length(host::Interpreter &) override;
  std::optional<std::vector<host::Value>> iterate(host::Interpreter &) override;
  std::optional<host::Value> deepCopy(host::Interpreter &) override;
  bool setAttr(host::Interpreter &, std::string_view name, const host::Value &value) override;
  /// A module's parameter gives way to parameters and None only.
  void beforeReplaced(host::Interpreter &, const host::Value &owner, std::string_view name,
                      const host::Value &next) override;

  /// What files hang on a tensor: plain attributes.
  host::Namespace attributes;

  /// How a view came to be, which decides whether a write through it can be followed.
  enum class Making : uint8_t { Plain, WithoutGrad, SeveralViews };
  std::shared_ptr<autograd::Meta> meta; ///< null: nothing was asked of it yet
  std::shared_ptr<TensorObject> base;   ///< what it is a view of, where writes through it count
  uint64_t seen = 0; ///< of a view: TracedStorage::counted when meta's source was right
  Making making = Making::Plain;
  /// `x.data`: writes through it are not counted as writes to x.
  bool isUncounted = false;
};

/// Calls `aten.<name>` with host values; results become tensors, a tuple where there are several.
host::Value callAten(Tracer &tracer, host::Interpreter &interpreter, const std::string &name,
                     const host::CallArgs &args);
host::Value tensorValue(Tracer &tracer, TracedTensor tensor);
/// The number behind x.data_ptr() of a script, from now on an address for kernels; nullopt for
/// other values, and while a model is traced.
std::optional<host::Value> addressNumber(const host::Value &value);
/// Whether tensors are those of a script, computed when a value is needed.
bool isEager(const Tracer &tracer);
/// What a graph node takes for a host value; throws DiagnosticError for what cannot stand in a
/// graph.
graph::Argument toArgument(Tracer &tracer, host::Interpreter &interpreter,
                           const host::Value &value);

/// torch, torch.nn, torch.nn.functional: functions over `tracer`.
void addTorchModules(host::NativeModules &modules, Tracer &tracer);
/// x.item(): the number that a tensor without dims holds, an int64 or a float64. It can be computed
/// with, be an operand of tensors and the argument of a kernel, which then loads it.
class ItemNumber : public host::SymFloat {
public:
  explicit ItemNumber(const std::shared_ptr<TensorObject> &number);
  /// Of a number that a script knows and that is another one in every turn.
  std::optional<host::Value> given;
  std::string repr() const override;
  std::string description() const override;
  std::string advice() const override;
  bool isWhole() const override;
  const TensorObject &number() const;
  /// Itself as a size, read once. One that was computed from others is computed from their sizes.
  host::Value size(host::Interpreter &,
                   const std::function<host::Value(const host::Value &tensor)> &read);
  std::optional<host::Value> binaryOp(host::Interpreter &, host::BinaryOp, const host::Value &other,
                                      bool reflected) override;
  std::optional<host::Value> unaryOp(host::Interpreter &, host::UnaryOp) override;
  /// A tensor: whether it holds is not known while tracing.
  std::optional<host::Value> compare(host::Interpreter &, host::CompareOp, const host::Value &other,
                                     bool reflected) override;
  bool equals(const host::Object &other) const override;
  std::optional<size_t> hash() const override;

private:
  /// Itself, computed from other numbers; the operands of a unary operation are one.
  struct Origin {
    std::variant<host::BinaryOp, host::UnaryOp> operation;
    std::vector<host::Value> operands;
  };
  static host::Value computed(const host::Value &tensor, Origin origin);

  std::optional<Origin> origin;
  std::optional<host::Value> known;      ///< size()
  const graph::Graph *knownIn = nullptr; ///< where it was read
};
host::Value itemOf(TensorObject &tensor, host::Interpreter &interpreter);
/// A script's number that was another one the last time at this place, as an operand; nullopt for
/// one that stays, and for what is no number.
std::optional<host::Value> numberAsOperand(Tracer &tracer, const std::string &what, size_t position,
                                           const host::Value &value, const SourceLocation &where);

/// A host::SymFloat as a tensor of one float32; a whole one as int64.
host::Value tensorOfNumber(Tracer &tracer, host::Interpreter &interpreter,
                           const host::Value &number);
/// What `number` fills a tensor with; `what` it is, for a refusal.
Initializer filledWith(host::Interpreter &interpreter, const host::Value &number,
                       std::string_view what);
/// torch.tensor(data, dtype): filled where all numbers are the same, else a constant of the
/// program.
host::Value tensorOfNumbers(Tracer &tracer, host::Interpreter &interpreter,
                            std::vector<host::Value> &arguments);
/// torch.device, torch.cuda, torch.jit, torch.autograd.Function; before addTorchModules.
void addTorchRuntime(host::NativeModules &modules, const AssumedDevice &assumed = {});
/// Functions that are written with other operators, and torch.linalg.
void addTorchComposites(host::NativeModules &modules);
/// Such a function by name; nullopt for others.
std::optional<host::Value> compositeFunction(host::Interpreter &interpreter, std::string_view name);
/// Calls one. PyTorch has one operator there, whose result may have other strides than ours.
host::Value callComposite(host::Interpreter &interpreter, std::string_view name,
                          const host::Value &function, host::CallArgs args);
/// The torch.device for a tensor's device.
host::Value deviceValue(host::Interpreter &interpreter, graph::Device device);

} // namespace pellucid::trace
