// SPDX-License-Identifier: Apache-2.0
/// How a reduction is divided among programs and launches (docs/design/0016).
#pragma once

#include "passes/graph/KernelText.h"

#include <optional>

namespace pellucid::passes {

/// What each program of a reduction does. `parts` programs share the reduced elements of one result
/// where there are few results; each leaves its state, and a second launch combines the states in
/// ascending order. All of it follows from the shape and the device.
struct ReductionPlan {
  enum class Tile : uint8_t {
    Row,    ///< one result, a tile along the reduced dim
    Rows,   ///< several short rows in one tile
    Columns ///< neighbouring results, a tile of rows over them
  } tile = Tile::Row;
  int64_t results = 1;  ///< of one tile
  int64_t elements = 1; ///< of one result, in one tile
  int64_t piece = 0;    ///< elements of the innermost reduced dim that are never divided; 0: all
  symbolic::Expr parts = 1;

  bool isSplit() const { return piece != 0; }
  std::string text() const;
};

/// The rest of a reduction whose programs leave states: `shape` is that of every state tensor.
struct ReductionStates {
  std::vector<DataType> types;
  std::vector<symbolic::Expr> shape;
  KernelText combine; ///< reads the states, writes the result
};

struct ReductionTexts {
  ReductionPlan plan;
  KernelText first;
  std::optional<ReductionStates> states; ///< where `first` writes these and not the result
};
ReductionTexts writeReduction(ReductionSpec spec, const symbolic::SymbolTable &symbols,
                              bool forCpu);

} // namespace pellucid::passes
