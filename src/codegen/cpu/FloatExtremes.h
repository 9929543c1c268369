// SPDX-License-Identifier: Apache-2.0
// Reductions to the smallest or largest of floats, on integers that are ordered as the floats are:
// -0 below +0, and a NaN where it is ignored, or where it wins. An integer maximum takes one cycle;
// one of floats that orders zeros and NaNs takes six instructions that wait for one another.
#pragma once

#include "codegen/common/CodeBuilder.h"
#include "tt/TtOps.h"

#include <optional>

namespace pellucid::codegen {

class FloatExtreme {
public:
  /// Of a reduction of one float tile by a single minimum or maximum; else nullopt.
  static std::optional<FloatExtreme> of(tt::ReduceOp op);

  /// The integer that stands for a float as registers hold it (registerType).
  llvm::Value *key(CodeBuilder &builder, llvm::Value *value) const;
  llvm::Value *combine(CodeBuilder &builder, llvm::Value *x, llvm::Value *y) const;
  /// The float behind a key.
  llvm::Value *value(CodeBuilder &builder, llvm::Value *key) const;

private:
  mlir::Type type;
  unsigned width = 0;
  llvm::APInt infinity; ///< its pattern; those of NaNs lie above
  bool isMaximum = false;
  bool nanWins = false;
};

} // namespace pellucid::codegen
