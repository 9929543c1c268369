// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"
#include "passes/graph/KernelText.h"
#include "passes/graph/PlanBuffers.h"

#include <functional>
#include <unordered_set>

namespace pellucid::passes {

/// Turns generated source into a kernel: the front end, seen from here. `pointers` are the pointees
/// in order; every scalar is an int64. The result's symbol is `text.name`.
using CompileText =
    std::function<graph::KernelDef(const KernelText &text, const std::vector<DataType> &pointers,
                                   const std::vector<graph::Access> &accesses)>;

/// Results that a call gives away must be memory of their own, dense and row-major: clones the
/// others. The new contents of a mutated input must lie as the input does: copies the others.
void ownOutputs(graph::Program &program, const graph::OperatorRegistry &registry);

/// An operator that went into a generated kernel with another, or why not; by the nodes' names.
struct LoweringEdge {
  std::string from, to;
  bool fused = false;
  std::string reason;
};

/// Replaces every operator of the main graph that computes something by launches of generated
/// kernels: pointwise groups with their producers, reductions with theirs, row kernels, matrix
/// products with their consumers, gathers and copies. Afterwards the graph holds placeholders,
/// views, empty tensors and launches only. Throws DiagnosticError for an operator without a kernel.
/// `sm`: the compute capability that kernels are cut for; 0 for the CPU, where matrix products
/// become library kernels where there are some (PackedProducts.h), and dividing integers by zero
/// fails; on CUDA PyTorch's kernels give a number.
/// `deterministic`: kernels that would add floating-point numbers in the order in which programs
/// come to them, as PyTorch's do on CUDA, are replaced by ones with a fixed order.
/// `carried`: graph::carriedPlaceholders(), whose memory is a loop's own.
/// `tf32`: convolutions of f32 on a device round their operands to tf32, as PyTorch lets cuDNN by
/// default; `tf32Products`: products of matrices multiply what tf32 keeps of them.
std::vector<LoweringEdge> lowerToLaunches(graph::Program &program,
                                          const graph::OperatorRegistry &registry,
                                          const CompileText &compile, uint32_t sm,
                                          bool deterministic = false,
                                          std::unordered_set<const graph::Value *> carried = {},
                                          bool tf32 = false, bool tf32Products = false);

/// What the nodes that are left do with memory (PlanBuffers.h).
NodeMemory classifyLowered(const graph::Node &node, const graph::OperatorRegistry &registry);

/// The value whose memory `value` is a view of; itself when it has its own.
const graph::Value *aliasRoot(const graph::Value *value, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
