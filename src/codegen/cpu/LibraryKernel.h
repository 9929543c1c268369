// SPDX-License-Identifier: Apache-2.0
// What kernels that the back end writes itself have in common: entry, arguments, scratch memory and
// the loop over programs.
#pragma once

#include "codegen/common/CodeBuilder.h"
#include "codegen/cpu/CompileKernel.h"
#include "codegen/cpu/CpuMemory.h"
#include "codegen/cpu/ScratchMemory.h"

namespace pellucid::codegen {

class LibraryKernel {
public:
  /// `fields` arguments of 8 bytes each.
  LibraryKernel(llvm::Module &module, DataType type, mlir::Type element, CpuLevel level,
                CompiledObject &object, unsigned fields);

  llvm::Value *pointerArgument(unsigned field) { return argument(field, b.getPtrTy()); }
  llvm::Value *integerArgument(unsigned field) { return argument(field, b.i64()); }
  /// `bytes` of the calling thread's scratch memory, 64-byte aligned.
  llvm::Value *reserveScratch(uint64_t bytes);

  /// Calls `body(x, y, z)` for every program of the call (i64 indices), then `finish`. With `width`
  /// programs go through bands of so many y, x after x: what programs of one y share, and those of
  /// one x, is then used again soon.
  void forPrograms(
      llvm::function_ref<void(llvm::Value *, llvm::Value *, llvm::Value *)> body,
      llvm::function_ref<void()> finish = [] {}, llvm::Value *width = nullptr);

  llvm::Value *elementAt(llvm::Value *base, llvm::Value *index) {
    return b.CreateGEP(held, base, index);
  }
  llvm::Value *smaller(llvm::Value *x, llvm::Value *y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
  }
  uint64_t elementBytes() const { return memoryBytes(element); }

  CodeBuilder b;
  CpuMemory memory;
  DataType type;
  mlir::Type element;
  CpuLevel level;
  llvm::Function *entry;
  llvm::Type *held; ///< an element in memory
  llvm::Type *sum;  ///< what sums are kept in

private:
  llvm::Value *argument(unsigned field, llvm::Type *type);
  llvm::Value *extent(unsigned axis);
  struct Place {
    llvm::Value *x, *y;
  };
  Place placeInBand(llvm::Value *index, llvm::Value *columns, llvm::Value *rows,
                    llvm::Value *width);

  CompiledObject &object;
};

} // namespace pellucid::codegen
