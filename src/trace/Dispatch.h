// SPDX-License-Identifier: Apache-2.0
/// TorchDispatchMode, TorchFunctionMode and tensors of the user's classes: who is asked before an
/// operator is recorded.
#pragma once

#include "host/Interpreter.h"
#include "host/Kernel.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

/// A tensor of a class that derives from torch.Tensor.
class SubclassTensor : public TensorObject {
public:
  SubclassTensor(Tracer &t, TracedTensor x, std::shared_ptr<host::Class> c)
      : TensorObject(t, std::move(x)), cls(std::move(c)) {}
  std::shared_ptr<host::Class> cls;

  const host::Class *userClass() const override { return cls.get(); }
  std::string typeName() const override { return cls->name; }
  std::optional<host::Value> getAttr(host::Interpreter &, std::string_view name) override;
  bool setAttr(host::Interpreter &, std::string_view name, const host::Value &value) override;
};

/// The result that a mode or a tensor's class gives for `aten.name` in place of the operator;
/// nullopt where none is asked.
std::optional<host::Value> dispatchAten(Tracer &tracer, host::Interpreter &interpreter,
                                        const std::string &name, const host::CallArgs &args);
/// `x.add_(y)`: the same for `method` without its underscore.
std::optional<host::Value> dispatchInPlace(TensorObject &self, host::Interpreter &interpreter,
                                           const std::string &method, const host::CallArgs &args);
/// The same for any overload: one of aten or an operator of the user's.
std::optional<host::Value> dispatchCall(host::Interpreter &interpreter, const host::Value &overload,
                                        const host::CallArgs &args);

/// x.as_subclass(cls).
host::Value asSubclass(Tracer &tracer, host::Interpreter &interpreter, const host::Value &tensor,
                       const host::Value &cls);

/// torch.ops.aten.add, or with two dots an overload of it; the same object for the same name.
host::Value atenOverload(Tracer &tracer, host::Interpreter &interpreter, const std::string &name);

/// torch.utils._python_dispatch, torch.overrides, and what torch.Tensor has for classes below it.
void addDispatch(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
