// SPDX-License-Identifier: Apache-2.0
// When a ramp is a sequence of numbers, and not only modulo 2^bits.
#pragma once

#include "codegen/common/LaneValue.h"

#include "mlir/IR/Value.h"

namespace pellucid::codegen {

/// Whether `value` + lane * stride is known to stay in the range of its type, signed or not, for
/// every lane below `lanes`.
bool staysInRange(const LaneValue &ramp, int64_t lanes, bool isSigned);

/// The same as an i1 computed at run time.
llvm::Value *checkRange(CodeBuilder &builder, const LaneValue &ramp, int64_t lanes, bool isSigned);

/// True where an offset of `value`'s is one of its operands' too, so that taking it not to wrap
/// may be handed on to them.
bool isOffsetArithmetic(mlir::Value value);

/// True when a narrower tile is made wider in the offset arithmetic that `value` comes from.
bool hasWidenedOffsets(mlir::Value value);

} // namespace pellucid::codegen
