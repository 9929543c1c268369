// SPDX-License-Identifier: Apache-2.0
// Arithmetic that keeps ramps and prefix masks what they are.
#pragma once

#include "codegen/common/LaneValue.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace pellucid::codegen {

/// What the result of an operation is for.
enum class LaneUse : uint8_t {
  Number,   ///< exact in every lane
  Offset,   ///< of a pointer: taken not to wrap inside one tile when it is made wider
  Analysis, ///< of a whole row, whose conditions are checked at run time (LaneValue::sure)
};

/// The result of an integer, pointer or mask operation where it is again a ramp or a prefix;
/// nullopt where it takes vector code, or where all operands are uniform.
std::optional<LaneValue> foldLanes(CodeBuilder &builder, mlir::Operation *op,
                                   llvm::ArrayRef<LaneValue> operands, LaneUse use);

LaneValue addLanes(CodeBuilder &builder, const LaneValue &a, const LaneValue &b);
LaneValue scaleLanes(CodeBuilder &builder, const LaneValue &a, llvm::Value *factor);

/// Both masks. Opaque only when neither folds.
std::optional<LaneValue> intersectMasks(CodeBuilder &builder, const LaneValue &a,
                                        const LaneValue &b);

} // namespace pellucid::codegen
