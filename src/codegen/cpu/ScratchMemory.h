// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/common/LaneEvaluator.h"
#include "package/KernelAbi.h"

#include "mlir/IR/Operation.h"

#include <vector>

namespace pellucid::codegen {

/// Hands out the scratch memory of one program. Buffers whose lives do not overlap share bytes; the
/// offsets are known when the whole kernel is emitted and patched in then.
class ScratchMemory {
public:
  /// What masked-off elements read and write is redirected to this many bytes at the start.
  static constexpr uint64_t safeBytes = package::safeScratchBytes;

  ScratchMemory(CodeBuilder &builder, llvm::Value *base) : b(builder), base(base) {}

  /// Numbers the operations of a kernel; lives are counted in them.
  void numberOperations(mlir::Operation *kernel);
  /// A buffer for use at `at` and later in at's block; its life grows as touch() says.
  TileBuffer allocate(mlir::Operation *at, mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// The buffer is read or written while `at` is emitted.
  void touch(const TileBuffer &buffer, mlir::Operation *at);
  /// Fixes the offsets. Returns the bytes needed.
  uint64_t finish();

private:
  struct Area {
    llvm::GetElementPtrInst *address;
    mlir::Block *home;
    uint64_t bytes, first, last, offset = 0;
  };
  struct Span {
    uint64_t first, last;
  };

  CodeBuilder &b;
  llvm::Value *base;
  std::vector<Area> areas;
  llvm::DenseMap<llvm::Value *, size_t> areaOf;
  llvm::DenseMap<mlir::Operation *, Span> spans;
};

} // namespace pellucid::codegen
