// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/common/LaneEvaluator.h"
#include "support/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pellucid::codegen {

/// A variable of `type` in the function's first block; promoted to registers later.
llvm::AllocaInst *emitVariable(CodeBuilder &builder, llvm::Type *type);

/// Loads and stores of x86-64. What the instruction set lacks (16-bit gathers, 16-bit masked
/// accesses below AVX-512) becomes a small loop over the lanes.
class CpuMemory : public LaneMemory {
public:
  /// `safe` points to 4 KiB that may be read instead of masked-off elements.
  CpuMemory(CodeBuilder &builder, CpuLevel level) : b(builder), level(level) {}
  void setSafeAddress(llvm::Value *address) { safe = address; }
  /// While set: where this i1 holds, whole vectors go to memory past the caches.
  void setStreaming(llvm::Value *condition) { streaming = condition; }

  LaneValue load(mlir::Type element, const LaneValue &pointer, const LaneValue &mask,
                 const LaneValue &other, unsigned lanes) override;
  void store(mlir::Type element, const LaneValue &pointer, const LaneValue &value,
             const LaneValue &mask, unsigned lanes) override;

private:
  llvm::Value *loadUniform(llvm::Type *type, llvm::Value *pointer, const LaneValue &mask,
                           const LaneValue &other, unsigned lanes);
  llvm::Value *loadContiguous(llvm::Type *type, llvm::Value *pointer, const LaneValue &mask,
                              const LaneValue &other, unsigned lanes);
  /// Of lanes of four or eight bytes on x86-64-v3; none beside the active ones are touched.
  llvm::Value *loadBySigns(llvm::Type *type, llvm::Value *address, llvm::Value *mask,
                           llvm::Value *instead);
  /// Of elements a few steps apart: what lies from the first to the last one is loaded, and the
  /// lanes are picked. `step`: as `hasShortStep` says.
  llvm::Value *loadApart(llvm::Type *type, llvm::Value *pointer, int64_t step,
                         const LaneValue &mask, const LaneValue &other, unsigned lanes);
  /// Whether lanes `stride` bytes apart are that near, backwards too.
  bool hasShortStep(llvm::Type *type, int64_t stride, const LaneValue &mask) const;
  llvm::Value *loadStrided(llvm::Type *type, const LaneValue &pointer, const LaneValue &mask,
                           const LaneValue &other, unsigned lanes);
  /// Whether addresses come from what was loaded: such lanes hardly lie one after the other.
  static bool areLoaded(llvm::Value *addresses, unsigned depth = 12);
  /// An i1: the lanes lie one after the other from `first` on.
  llvm::Value *denseAtRunTime(llvm::Type *type, const LaneValue &pointer, unsigned lanes,
                              llvm::Value *&first);
  llvm::Value *gather(llvm::Type *type, const LaneValue &pointer, const LaneValue &mask,
                      const LaneValue &other, unsigned lanes);
  void storeWhole(llvm::Value *pointer, llvm::Value *value);
  void storeContiguous(llvm::Value *pointer, llvm::Value *value, const LaneValue &mask,
                       unsigned lanes);
  void scatter(const LaneValue &pointer, llvm::Value *value, const LaneValue &mask, unsigned lanes);
  /// Calls `body(lane, address)` for each active lane, in order.
  void forActiveLanes(const LaneValue &pointer, const LaneValue &mask, unsigned lanes,
                      llvm::function_ref<void(llvm::Value *, llvm::Value *)> body);
  bool hasMaskedMove(llvm::Type *type) const;
  bool hasGather(llvm::Type *type) const;
  llvm::Value *anyActive(const LaneValue &mask, unsigned lanes);
  llvm::Value *otherOrZero(llvm::Type *type, const LaneValue &other, unsigned lanes);

  CodeBuilder &b;
  CpuLevel level;
  llvm::Value *safe = nullptr, *streaming = nullptr;
};

} // namespace pellucid::codegen
