// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

/// torch's schema of a triton_op or custom_op: given, or inferred from the function's annotations.
/// Throws DiagnosticError for a parameter without a counterpart there.
graph::Schema schemaOf(host::Interpreter &interpreter, const host::Operator &op);

/// Records one node for the call, with the traced body behind it, and gives its results. What the
/// body writes is held against mutates_args.
host::Value recordOperatorCall(Tracer &tracer, host::Interpreter &interpreter,
                               const host::Operator &op, const host::CallArgs &args);

/// A call of a triton_op or custom_op, `record`, of whose tensors some require gradients: they come
/// back through what register_autograd was given.
host::Value callDifferentiably(Tracer &tracer, host::Interpreter &interpreter,
                               const host::Operator &op, const host::CallArgs &args,
                               const std::function<host::Value()> &record);

/// The same in a script: the kernel for the device of its tensors runs on them.
host::Value runOperator(Tracer &tracer, host::Interpreter &interpreter, const host::Operator &op,
                        const host::CallArgs &args);

/// A schema's default as a value of the evaluator.
host::Value constantValue(const graph::Argument &value);

/// torch.ops.
void addTorchOps(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
