// SPDX-License-Identifier: Apache-2.0
/// Reductions of the same elements that one launch computes together.
#pragma once

#include "graph/Registry.h"
#include "passes/graph/KernelText.h"

#include <vector>

namespace pellucid::passes {

/// Reductions before `node`, over the same dims of tensors of the same shape, which read a tensor
/// in memory that `node` reads too, each with what is pointwise in front of it; none depends on
/// another one of them. In order, without `node`; empty where `node` keeps more than one number of
/// a result.
std::vector<graph::Node *> reductionsBeside(graph::Node &node,
                                            const graph::OperatorRegistry &registry,
                                            const graph::SymbolTable &symbols);

/// The value that `call` reduces, named `value` in a body, as its rule takes it up.
std::string reducedValue(const graph::OperatorCall &call, const ReductionRule &rule,
                         DataType result, const std::string &value);

} // namespace pellucid::passes
