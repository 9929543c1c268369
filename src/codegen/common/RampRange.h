// SPDX-License-Identifier: Apache-2.0
// When a ramp may be treated as a sequence of numbers, and not only modulo 2^bits.
#pragma once

#include "codegen/common/LaneValue.h"

#include "mlir/IR/Value.h"

namespace pellucid::codegen {

/// Whether `value` + lane * stride is known to stay in the range of its type, signed or not, for
/// every lane below `lanes`.
bool staysInRange(const LaneValue &ramp, int64_t lanes, bool isSigned);

/// Whether `value` ends up nowhere but in offsets of pointers and in comparisons, through integer
/// arithmetic and carried by loops. An offset that wraps inside one tile is out of bounds however
/// it is computed; any other use must see it wrap.
bool onlyAddresses(mlir::Value value);

} // namespace pellucid::codegen
