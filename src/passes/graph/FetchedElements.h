// SPDX-License-Identifier: Apache-2.0
/// Gathers as statements of a pointwise kernel: the table lies in memory, and an index is a value
/// of the kernel like any other.
#pragma once

#include "passes/graph/PointwiseGroup.h"

namespace pellucid::passes {

/// True for gathers whose elements a pointwise kernel may load itself.
bool isFetch(const graph::Node &node, const graph::OperatorRegistry &registry);

/// The index of `node` (isFetch) that may be computed in the kernel, behind an `expand` that only
/// repeats it; null where the index lies otherwise than the result does.
graph::Value *computedIndex(const graph::Node &node, const graph::OperatorRegistry &registry,
                            const graph::SymbolTable &symbols);

/// True where some index of `nodes` is computed by another one of them.
bool computesAnIndex(const std::vector<graph::Node *> &nodes,
                     const graph::OperatorRegistry &registry, const graph::SymbolTable &symbols);

/// Adds `node` (isFetch) to the group.
void addFetch(PointwiseGroup &group, const graph::Node &node,
              const graph::OperatorRegistry &registry, const graph::SymbolTable &symbols);

} // namespace pellucid::passes
