// SPDX-License-Identifier: Apache-2.0
/// Operators called on tensors of the traced file, as its own methods do.
#pragma once

#include "trace/TensorObject.h"

namespace pellucid::trace {

host::CallArgs argsOf(std::vector<host::Value> positional,
                      std::vector<std::pair<std::string, host::Value>> keywords = {});
host::Value selfOf(TensorObject &object);
host::Value dtypeValue(DataType type);
/// The dtype that a call of `function` asks for, nullopt for None. A dtype that tensors do not have
/// here is refused by its name; what is none raises.
std::optional<DataType> askedType(host::Interpreter &interpreter, const std::string &function,
                                  const host::Value &value);
host::Value castTo(TensorObject &self, host::Interpreter &interpreter, DataType type);
/// Methods of tensors that have a rule of their own, with their signatures; none where the
/// arguments are read by hand.
std::vector<std::pair<std::string, std::optional<std::string>>> tensorMethods();
/// `x.add_(y)`: the operator `add`, cast to x's type, written back.
host::Value callInPlace(TensorObject &self, host::Interpreter &interpreter, const std::string &name,
                        const host::CallArgs &args);

/// The numbers of a tensor, as tolist() nests them, where the trace knows them: what is computed
/// from the program's own numbers alone. nullopt for all else.
std::optional<host::Value> knownNumbers(TensorObject &self, host::Interpreter &interpreter);

/// Where a script wants a tensor, nullopt where it says nothing; raises as PyTorch does where there
/// is no such device.
std::optional<graph::Device> deviceAsked(Tracer &tracer, host::Interpreter &interpreter,
                                         const host::Value &value);
/// A tensor that was made from nothing lies on `device`; without one on the CPU, or wherever the
/// others are if torch's own code made it.
host::Value placedAs(host::Interpreter &interpreter, const host::Value &result,
                     std::optional<graph::Device> device);
/// While it lives, what is drawn knows where the call that is recorded wants its result.
class AskedDevice {
public:
  /// `device`: of the call's device=; null without one.
  AskedDevice(Tracer &tracer, host::Interpreter &interpreter, const host::Value *device);
  ~AskedDevice();
  AskedDevice(const AskedDevice &) = delete;
  AskedDevice &operator=(const AskedDevice &) = delete;

private:
  Tracer &tracer;
  std::optional<graph::Device> before;
};
/// Where an operator on these tensors is computed: where the first one with dims lies that is
/// placed, or where any is; nullopt where that is nowhere.
std::optional<graph::Device> deviceOfTensors(const std::vector<host::Value> &tensors);
/// The tensor on `device`, itself where it lies there already.
host::Value onDevice(TensorObject &self, host::Interpreter &interpreter, graph::Device device);
/// A function of torch or a tensor's method that scripts alone have; nullopt for others.
std::optional<host::Value> eagerFunction(host::Interpreter &interpreter, std::string_view name);
/// Whether the code there is part of torch that is ours: it calls operators by any of their names.
bool isInOurText(const SourceLocation &where);
/// Whether PyTorch's Tensor has a method of that name.
bool isTensorMethod(std::string_view name);
/// Whether `name`, which ends with `_`, is an operator that writes to its tensor.
bool isInPlace(std::string_view name);
/// `torch.Tensor.add` and the like: each is the method of its first argument.
void addUnboundMethods(host::Class &tensorClass);

} // namespace pellucid::trace
