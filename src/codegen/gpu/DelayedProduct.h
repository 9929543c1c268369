// SPDX-License-Identifier: Apache-2.0
// A loop's last product by warpgroups that the next round starts, behind its own first one:
//
//   for …: S = first(…) starts; sums += P(before) V(before) starts
//          wait for S alone; what becomes of S runs beside the second product
//          wait for the sums, scale them; yield them, P and where V lies
//   sums += P V of the last round
//
// Matrix units multiply in the order of starts: behind the other order, what a round computes of
// its first product (the softmax of attention) has nothing beside it. In the first round P and V
// are zeros, V in the copy before the first.
//
// ptxas makes products wait for each other where P's registers are written while one is under way:
// P is narrowed behind the wait. And it moves what only computes behind a wait, but no stores: what
// the softmax is added up to goes to a buffer that nobody reads (`ttgpu.in_order`).
#pragma once

#include "codegen/gpu/TtGpu.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pellucid::ttgpu {

/// On a ttgpu.share: a store that no wait is moved across.
inline constexpr llvm::StringLiteral inOrderName = "ttgpu.in_order";

/// What a loop carries for it: the sums, before they are added to; the left operand, and behind it
/// the copy that the right one lies in.
struct DelayedProduct {
  unsigned sums = 0, left = 0;
  mlir::Value sum = {}, buffer = {}; ///< what the left operand is added up to, and where it goes
  tt::DotOp product = {};            ///< in the loop
};

/// What a round adds the elements of a product's left operand up to before it narrows them; null
/// where it does not.
mlir::Value sumOfLeft(tt::DotOp last);
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
