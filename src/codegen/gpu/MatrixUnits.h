// SPDX-License-Identifier: Apache-2.0
// What matrix units can multiply, and which tiles they read. Threads that multiply vectors of f32
// out of shared memory count as one.
#pragma once

#include "codegen/gpu/TtGpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace pellucid::ttgpu {

/// Both units take 16 products a step.
inline constexpr int64_t stepK = 16;

/// The unit that makes a product fastest.
MatrixUnit bestUnit(tt::DotOp dot, TargetAttr target);

/// Of i8, summed in i32, or of fp8, summed in f32.
bool multipliesBytes(tt::DotOp dot);
bool multipliesFloat8(tt::DotOp dot);
/// Warpgroups may multiply the operands as they are.
bool suitsFloat8Units(tt::DotOp dot);
/// Of f32 whose last 13 bits may be left out (tf32).
bool multipliesTruncated(tt::DotOp dot);
/// f64, which sm_90 has matrix units for.
bool multipliesDoubles(tt::DotOp dot);
/// Operands of wgmma that are not of 16 bits lie along the inner dim in shared memory; those of
/// bytes do for mma.sync too.
bool liesAlongInner(tt::DotOp dot);

/// Where a product of f32 sums starts from zero if a scalar is true, and else from a value: the
/// choice.
mlir::arith::SelectOp restartOf(tt::DotOp dot);

/// An operand, or what it is a transposition of.
mlir::Value withoutTranspositions(mlir::Value operand);

/// The operation has no effect and no region that could have one: it may be computed again, or
/// earlier, or where its result is used.
bool onlyComputes(mlir::Operation *op);

} // namespace pellucid::ttgpu
