// SPDX-License-Identifier: Apache-2.0
/// Evaluates programs slowly and obviously: each operator from its definition in double or exact
/// integers, rounded to the result's type once. The oracle of numeric tests. Kernel launches go to
/// a callback.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"
#include "reference/graph/Tensor.h"

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pellucid::reference {

/// A run-time argument of a launch, or an input or output of a program.
using Datum = std::variant<graph::None, bool, int64_t, double, Tensor>;

struct LaunchArgument {
  const graph::LaunchOperand &operand;
  /// A tensor whose storage the kernel reads and writes in place. Operands that share storage in
  /// the graph share it here; what is written is the launch's own copy.
  Datum value;
};

/// Runs one kernel. `variant` is the one whose guard holds.
using Launcher = std::function<void(const graph::Program &, const graph::KernelDef &,
                                    const graph::LaunchVariant &variant,
                                    const std::array<int64_t, 3> &grid, std::span<LaunchArgument>)>;

struct EvaluateOptions {
  const graph::OperatorRegistry *registry = &graph::OperatorRegistry::builtins();
  Launcher launcher;            ///< without one, launches are refused
  int64_t maxTurns = 1'000'000; ///< of one loop whose end a tensor decides
};

/// `inputs`: one per UserInput and ConstantInput spec, in order. Symbols are read off the inputs'
/// shapes. Returns one datum per output spec, mutations included. Throws DiagnosticError naming the
/// node.
std::vector<Datum> evaluate(const graph::Program &program, std::span<const Datum> inputs,
                            const EvaluateOptions &options);

/// One graph with one datum per placeholder; `symbols` are added to those that the placeholders
/// give.
std::vector<Datum> evaluate(const graph::Program &program, const graph::Graph &graph,
                            std::span<const Datum> inputs, std::map<std::string, int64_t> symbols,
                            const EvaluateOptions &options);

/// A weight as a tensor (its bytes are copied).
Tensor tensorOf(const graph::Weight &weight);

} // namespace pellucid::reference
