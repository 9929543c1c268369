// SPDX-License-Identifier: Apache-2.0
/// Parameters of a pointwise group: one number for each index of an outer dim, as scales and shifts
/// of channels are. A program of a device has one of each, so that it costs nothing to compute them
/// there, and a launch of a few numbers costs as much as a megabyte.
#pragma once

#include "passes/graph/PointwiseGroup.h"

namespace pellucid::passes {

/// Adds to the empty `group` what pointwise operators make of tensors of one dim and nothing but
/// `nodes`, of `shape`, see, as views along one dim. The nodes taken in, in order, views last.
std::vector<graph::Node *> addParameters(PointwiseGroup &group,
                                         const std::vector<graph::Node *> &nodes,
                                         const std::vector<graph::Expr> &shape,
                                         const graph::OperatorRegistry &registry,
                                         const graph::SymbolTable &symbols);

} // namespace pellucid::passes
