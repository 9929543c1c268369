// SPDX-License-Identifier: Apache-2.0
/// What a call of an attention operator says about its operands.
#pragma once

#include "graph/FakeRules.h"

#include <optional>

namespace pellucid::graph {

/// Sizes of softmax(query[batch…, queries, width] · keyᵀ[…, keys, width] * scale) · value[…, keys,
/// valueWidth].
struct AttentionDims {
  std::vector<Expr> batch; ///< of the result; operands have these dims, or 1, or lack leading ones
  Expr queries = 1, keys = 1, width = 1, valueWidth = 1;
  /// So many neighbouring heads (the last batch dim) share one of `key` and of `value`; 1 where the
  /// heads broadcast as other dims do.
  Expr keyGroup = 1, valueGroup = 1;
};
/// Refuses what PyTorch does.
AttentionDims attentionDims(const OperatorCall &call);

/// The mask, null without one.
Value *attentionMask(const OperatorCall &call);
/// The factor of the scores; nullopt for the default, 1 / sqrt(width), where the width is symbolic.
std::optional<double> attentionScale(const OperatorCall &call, const AttentionDims &dims);

} // namespace pellucid::graph
