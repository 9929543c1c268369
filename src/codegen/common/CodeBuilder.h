// SPDX-License-Identifier: Apache-2.0
// LLVM IR emission shared by the back ends: the builder and the types of tile elements.
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/IR/IRBuilder.h"

namespace pellucid::codegen {

/// An IRBuilder that knows the numerics of the kernel.
class CodeBuilder : public llvm::IRBuilder<> {
public:
  explicit CodeBuilder(llvm::LLVMContext &context, bool contract)
      : llvm::IRBuilder<>(context), contract(contract) {}

  /// A product feeding a sum may be rounded once.
  bool contract;
  /// x * 2^n is one instruction on 16 floats (AVX-512's vscalefps).
  bool hasScale16 = false;
  /// PTX's cvt.rn.bf16x2.f32 and cvt.rn.f16x2.f32 round scalars. Those of one element have the same
  /// result but run at an eighth of the rate, on the special function unit.
  bool hasPackedRounding = false;

  llvm::Type *i8() { return getInt8Ty(); }
  llvm::Type *i32() { return getInt32Ty(); }
  llvm::Type *i64() { return getInt64Ty(); }
};

/// How an element is held in a register: floats of 16 and 8 bits as their bits (i16, i8), i1 as i1,
/// pointers as ptr.
llvm::Type *registerType(llvm::LLVMContext &context, mlir::Type element);

/// How it lies in memory: as in a register, but a bool takes a byte.
llvm::Type *memoryType(llvm::LLVMContext &context, mlir::Type element);
uint64_t memoryBytes(mlir::Type element);

/// The element type of a tile, or the scalar type itself.
mlir::Type elementTypeOf(mlir::Type type);

/// `scalar` for one lane, else a vector of it.
llvm::Type *lanesOf(llvm::Type *scalar, unsigned lanes);
/// 1 for a scalar.
unsigned laneCount(llvm::Value *value);
llvm::Value *splatTo(CodeBuilder &builder, llvm::Value *scalar, unsigned lanes);
/// 0, 1, 2, ... as integers of `type`.
llvm::Constant *iota(llvm::Type *type, unsigned lanes);
/// A constant of `like`'s type, in every lane.
llvm::Constant *integerLike(llvm::Value *like, int64_t value);
llvm::Constant *floatLike(llvm::Value *like, double value);
/// `scalar` in as many lanes as `like` has.
llvm::Type *typeLike(llvm::Value *like, llvm::Type *scalar);

} // namespace pellucid::codegen
