// SPDX-License-Identifier: Apache-2.0
/// Control flow while tracing: each branch or body becomes a region of one node
/// (graph/ControlFlow.h).
#pragma once

#include "graph/ControlFlow.h"
#include "host/Interpreter.h"
#include "trace/Tracer.h"

#include <functional>

namespace pellucid::trace {

/// What runs in a region: from its operands to its results.
struct RegionFunction {
  std::string what; ///< to the user: "torch.cond's true_fn"
  std::function<std::vector<host::Value>(std::vector<host::Value>)> call;
};

struct ControlCall {
  graph::ControlKind kind = graph::ControlKind::Cond;
  std::string name; ///< "torch.cond"
  host::Value predicate;
  /// Tensors; in `additional` anything.
  std::vector<host::Value> carried, scanned, additional;
  std::vector<RegionFunction> regions; ///< in the order of Node::regions
  bool reverse = false;
  /// Results that share memory with an operand or with each other are refused, as PyTorch does
  /// while it captures a model; else they are copies.
  bool refusesAliases = true;
};

/// Records the call and gives its results. Tensors from outside that regions use become operands.
/// Throws what the tracer throws, and refuses what no loop or branch can mean.
std::vector<host::Value> recordControl(Tracer &tracer, host::Interpreter &interpreter,
                                       const ControlCall &call);

/// torch.cond and torch._higher_order_ops.
void addTorchControl(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
