// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Value.h"

#include <cstdint>

namespace pellucid::ttgpu {

/// The bytes, up to 16, that divide how the pointers move from round to round of the loops around
/// them, as far as that is known. Where it is less than a vector, as for the window of a
/// convolution, neighbours are aligned in few rounds: they are better spread over lanes than kept
/// in one thread.
int64_t slidingAlignment(mlir::Value pointers);

/// As slidingAlignment, and of how they move from program to program and along other dims than the
/// one in which they are neighbours: rows of an odd length are aligned by their elements alone.
int64_t steadyAlignment(mlir::Value pointers);

} // namespace pellucid::ttgpu
