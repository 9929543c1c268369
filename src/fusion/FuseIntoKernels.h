// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>
#include <vector>

namespace pellucid::fusion {

/// What became of one edge of the graph: what `from` computes is (not) computed inside `to`'s
/// kernel.
struct FusionEdge {
  std::string from, to;
  bool fused = false;
  std::string reason;
};

/// A result of a launch whose kernel took operators in: which value of the program before it is.
struct FusedResult {
  std::string kernel;        ///< the name in the user's source
  std::string before, after; ///< names of the value in the unfused and in the fused graph
};

struct FusionReport {
  std::vector<FusionEdge> edges;
  std::vector<FusedResult> results;
};

/// Compiles `source`, a kernel `chain(out, in0, …)` of scalars with these types, to a module with
/// that function.
using EmitChain = std::function<mlir::OwningOpRef<mlir::ModuleOp>(
    const std::string &source, DataType result, const std::vector<DataType> &inputs)>;

/// Moves pointwise operators before and after the launches of the main graph into their kernels
/// where it is proved that nothing changes but the number of passes over memory, and says for every
/// edge at a launch what was done and why not. Linear in nodes and uses, beside the work per fused
/// kernel.
FusionReport fuseIntoKernels(graph::Program &program, const graph::OperatorRegistry &registry,
                             mlir::MLIRContext &context, const EmitChain &emit);

} // namespace pellucid::fusion
