// SPDX-License-Identifier: Apache-2.0
/// Where operators that address elements one by one find them.
#pragma once

#include "graph/FakeRules.h"
#include "graph/ops/Indices.h"
#include "passes/graph/KernelText.h"

#include <optional>

namespace pellucid::passes {

/// Where the dims of an indexed tensor stand in `shape` (IndexedDims::resultShape): the strides of
/// `type` over it, 0 in the dims of the indices.
std::vector<symbolic::Expr> keptStrides(const graph::TensorType &type,
                                        const graph::IndexedDims &indexed, size_t rank);

/// The index tensors of `call`, over `shape`, each along its dim of `type`. Appends them to
/// `inputs`.
std::vector<TextIndex> placesOf(const graph::OperatorCall &call, const graph::IndexedDims &indexed,
                                const graph::TensorType &type,
                                const std::vector<symbolic::Expr> &shape,
                                std::vector<graph::Value *> &inputs);

/// The one index of `index_select`, `gather` and `embedding`.
TextIndex placeAlong(const graph::Value *index, std::vector<symbolic::Expr> strides,
                     const graph::TensorType &type, size_t dim);

/// What the gather `node` reads: `inputs` are its index tensors, then the table. None: it is
/// another operator.
std::optional<GatherSpec> gatherOf(const graph::Node &node, const graph::OperatorRegistry &registry,
                                   const symbolic::SymbolTable &symbols,
                                   std::vector<graph::Value *> &inputs);

} // namespace pellucid::passes
