// SPDX-License-Identifier: Apache-2.0
/// The kernels of a launch, opened for change, and stored again as kernels of their own.
#pragma once

#include "fusion/SpliceKernel.h"
#include "graph/Program.h"
#include "tt/TtOps.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace pellucid::fusion {

/// One variant of a launch.
struct OpenKernel {
  graph::KernelDef def;
  size_t variant = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;
  bool changed = false;

  /// The number of the run-time argument called `name`.
  std::optional<unsigned> argument(const std::string &name) const;
};

class LaunchKernels {
public:
  LaunchKernels(graph::Program &p, mlir::MLIRContext &c) : program(p), context(c), names(p) {}

  /// Reads the kernels of all variants of `launch`. False when one cannot be read back.
  bool open(const graph::Node &launch);
  /// Stores what changed as new kernels, so that other launches of the old ones stay as they are.
  /// Layers that repeat share one. False when nothing changed.
  bool close(graph::Node &launch);

  std::vector<OpenKernel> &all() { return kernels; }
  const std::vector<OpenKernel> &all() const { return kernels; }
  const OpenKernel &first() const { return kernels.front(); }

  /// The grid and the integers that `launch` gives to this kernel's arguments.
  LaunchValues valuesOf(const OpenKernel &kernel, const graph::Node &launch) const;

  /// Takes the arguments in `replaced` out of the kernel and its parameter list, and appends what a
  /// splice added to both: the operands that a launch must pass now. `inputs`: the values behind
  /// the chain's operands.
  static std::vector<graph::LaunchOperand>
  recordArguments(OpenKernel &kernel, const Chain &chain, const std::vector<graph::Value *> &inputs,
                  const AddedArguments &added, const std::vector<std::string> &replaced);

private:
  mlir::ModuleOp prepared(uint32_t kernel);
  uint32_t store(OpenKernel &kernel);

  graph::Program &program;
  mlir::MLIRContext &context;
  graph::KernelNames names;
  std::vector<OpenKernel> kernels;
  /// Kernels that were read before: most launch more than once.
  std::unordered_map<uint32_t, mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::unordered_map<std::string, uint32_t> known; ///< fused kernels by their text
};

} // namespace pellucid::fusion
