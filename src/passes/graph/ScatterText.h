// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/LineText.h"

#include <optional>

namespace pellucid::passes {

/// The scatter of `spec` by programs that share the ordered dims and whose result is that of their
/// order all the same (docs/design/0016); but sums of f32 and f64, unless `deterministic`, are
/// those of the order in which programs come (docs/design/0034). Inputs are those of writeScatter;
/// the one result is written in place. None where the order is short, or an element has no number
/// of 31 bits.
std::optional<KernelSequence> writeParallelScatter(const ScatterSpec &spec,
                                                   const symbolic::Expr &elements,
                                                   const symbolic::SymbolTable &symbols,
                                                   bool deterministic);

/// Appends launches that sort the `count` different int64 numbers of `from`; what holds them
/// afterwards, one of the two.
size_t appendSortedNumbers(KernelSequence &sequence, const std::string &name,
                           const symbolic::Expr &count, size_t from, size_t to,
                           const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
