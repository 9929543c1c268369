// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "trace/KernelLaunch.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

/// A function decorated with triton_op or custom_op. A call records one node with the traced body behind it.
class OperatorObject : public host::Object {
public:
  OperatorObject(Tracer &t, std::string n, bool transparent, host::Value f) : tracer(t), name(std::move(n)), isTransparent(transparent), function(std::move(f)) {}

  Tracer &tracer;
  const std::string name; ///< "ns::name"
  const bool isTransparent;
  host::Value function;
  host::Value mutatesArgs;
  std::optional<std::string> schemaText;
  host::Value fake;
  std::vector<std::pair<std::string, host::Value>> kernels; ///< register_kernel: device -> function
  SourceLocation location;

  std::string typeName() const override { return isTransparent ? "triton_op" : "custom_op"; }
  std::string repr() const override { return "<" + typeName() + " " + name + ">"; }
  std::optional<host::Value> getAttr(host::Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  host::Value call(host::Interpreter &, host::CallArgs args) override;

  /// torch's schema of the function: given, or inferred from its annotations. Throws DiagnosticError.
  graph::Schema schema(host::Interpreter &);

private:
  host::Value decorator(const std::string &which);
};

/// Operators by "ns::name" as they are declared.
using OperatorTable = std::map<std::string, std::shared_ptr<OperatorObject>>;

/// torch.library and torch.ops.
void addTorchLibrary(host::NativeModules &modules, Tracer &tracer, OperatorTable &operators);

} // namespace pellucid::trace
