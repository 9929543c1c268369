// SPDX-License-Identifier: Apache-2.0
// A loop's last product by warpgroups that the next round starts, behind its own first one:
//
//   for …: S = first(…) starts; sums += P(before) V(before) starts
//          wait for S alone; what becomes of S runs beside the second product
//          wait for the sums, scale them; yield them, P and where V lies
//   sums += P V of the last round
//
// Matrix units multiply in the order of starts: behind the other order, what a round computes of its
// first product (the softmax of attention) has nothing beside it. In the first round P and V are
// zeros, V in the copy before the first.
#pragma once

#include "codegen/gpu/TtGpu.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pellucid::ttgpu {

/// What a loop carries for it: the sums, before they are added to; the left operand, and behind it
/// the copy that the right one lies in.
struct DelayedProduct {
  unsigned sums = 0, left = 0;
  tt::DotOp product = {}; ///< in the loop
};

/// The round may start `last` behind the next round's `first`: nothing reads the sums before.
bool mayStartLate(tt::DotOp last, tt::DotOp first, mlir::Value sums);

mlir::Value zerosLike(mlir::OpBuilder &b, mlir::Value tile);
/// Zeros in the buffer's first copy.
void shareZeros(mlir::OpBuilder &b, mlir::Value buffer);

/// `loop` yields the product's operands in the places that `carried` says; the product that makes
/// its sums moves into the next round, where `first` is no longer the last to be started.
DelayedProduct delayLast(mlir::scf::ForOp loop, tt::DotOp first, DelayedProduct carried);
/// That of the last round, behind the loop.
void makeLast(mlir::OpBuilder &b, const DelayedProduct &delayed, mlir::scf::ForOp loop);

} // namespace pellucid::ttgpu
