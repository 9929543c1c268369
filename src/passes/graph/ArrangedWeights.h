// SPDX-License-Identifier: Apache-2.0
/// Weights in another order, made when the program is compiled instead of by a launch in every
/// call (docs/design/0043).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"
#include "passes/graph/KernelText.h"

#include <map>
#include <optional>

namespace pellucid::passes {

/// The weight of the program whose memory `value` shows, and its name, when its contents are at
/// hand; else null.
const graph::Weight *weightBehind(const graph::Program &program,
                                  const graph::OperatorRegistry &registry,
                                  const graph::Value *value, std::string &name);

class ArrangedWeights {
public:
  ArrangedWeights(graph::Program &p, const graph::OperatorRegistry &r) : program(p), registry(r) {}

  /// A dense weight over `shape`, whose element at each index of `own` is the one of `value` that
  /// `from` says, and the others are zeros; null where `value` is no weight with contents at hand,
  /// or a size is not constant. `own` has as many dims as `shape`, none of them longer.
  /// `roundsToTf32`: f32, of which its readers take 10 digits.
  graph::Value *arrange(const graph::Value *value, const TextOperand &from,
                        const std::vector<symbolic::Expr> &own,
                        const std::vector<symbolic::Expr> &shape, bool roundsToTf32 = false);

  /// The same indices as i32; null where `value` is no line of i64 with contents at hand, or one of
  /// them is not in [0, size).
  graph::Value *indicesBelow(const graph::Value *value, const symbolic::Expr &size);

  /// The indices themselves, on the same conditions.
  std::optional<std::vector<int64_t>> placesBelow(const graph::Value *value,
                                                  const symbolic::Expr &size) const;

private:
  graph::Value *addWeight(const std::string &name, graph::Weight weight, const graph::Value &like,
                          const std::vector<symbolic::Expr> &shape);

  graph::Program &program;
  const graph::OperatorRegistry &registry;
  /// The contents' address and all numbers -> the weight.
  std::map<std::pair<const void *, std::vector<int64_t>>, graph::Value *> known;
};

} // namespace pellucid::passes
