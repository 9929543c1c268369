// SPDX-License-Identifier: Apache-2.0
/// Pointwise results of the same elements that one kernel stores together.
#pragma once

#include "graph/Registry.h"

#include <vector>

namespace pellucid::passes {

/// Further results of the kernel that ends in `root`: pointwise nodes before it, of its shape, that
/// are in memory anyway, where the kernel then reads fewer tensors than several would.
struct ResultsBeside {
  std::vector<graph::Node *> roots; ///< in order, without `root`
  /// Where the kernel is launched: what it reads is there, and nothing before reads a result.
  graph::Node *before = nullptr;
};
ResultsBeside resultsBeside(graph::Node &root, const graph::OperatorRegistry &registry,
                            const graph::SymbolTable &symbols);

} // namespace pellucid::passes
