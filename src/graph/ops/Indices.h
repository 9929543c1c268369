// SPDX-License-Identifier: Apache-2.0
/// What index tensors do to the dims of the tensor that they index.
#pragma once

#include "graph/FakeRules.h"

namespace pellucid::graph {

/// The tensors of an argument `indices`, one per leading dim of `self` or None.
struct IndexedDims {
  std::vector<size_t> dims; ///< of self, that have an index, ascending
  std::vector<Expr> shape;  ///< of all indices, broadcast
  size_t place = 0; ///< where `shape` stands among the dims that are left: the first indexed dim,
                    ///< or in front where others lie between them

  std::vector<Expr> resultShape(const TensorType &self) const;
};
IndexedDims indexedDims(const OperatorCall &call);

/// An index known to have no elements may be of any integer type and rank, as in PyTorch.
bool isNothing(const TensorType &index);

/// Refuses an index that holds no int32 or int64.
void checkIndex(const OperatorCall &call, std::string_view name);

} // namespace pellucid::graph
