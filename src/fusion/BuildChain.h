// SPDX-License-Identifier: Apache-2.0
/// Pointwise nodes as the scalar code that is spliced into a kernel.
#pragma once

#include "fusion/FuseIntoKernels.h"
#include "fusion/Neighbours.h"
#include "fusion/SpliceKernel.h"

#include "mlir/IR/OwningOpRef.h"

#include <unordered_map>

namespace pellucid::fusion {

class ChainBuilder {
public:
  ChainBuilder(const graph::Program &p, const graph::OperatorRegistry &r, const EmitChain &e,
               const Neighbours &n)
      : program(p), registry(r), emit(e), neighbours(n) {}

  /// Fills `chain` with what `nodes` compute and `inputs` with the values that they compute it
  /// from. `through` is the value that the kernel stores (null for chains before a kernel). Why it
  /// cannot be done for `launch`; nullopt when it was.
  std::optional<std::string> build(const std::vector<graph::Node *> &nodes,
                                   const graph::Value *through, const graph::Node &launch,
                                   Chain &chain, std::vector<graph::Value *> &inputs);

private:
  std::optional<ChainOperand> classify(const graph::Value *value,
                                       const std::vector<graph::Expr> &shape) const;
  mlir::ModuleOp emitted(const std::string &source, DataType result,
                         const std::vector<DataType> &inputs);

  const graph::Program &program;
  const graph::OperatorRegistry &registry;
  const EmitChain &emit;
  const Neighbours &neighbours;
  /// By source and types: layers that repeat have the same chains.
  std::unordered_map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace pellucid::fusion
