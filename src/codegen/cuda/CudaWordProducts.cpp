// SPDX-License-Identifier: Apache-2.0
// Products of f32 by mma.sync (tf32) where an operand lies across the inner dim in shared memory,
// and of f64. ldmatrix moves 16-bit elements, and turns these round alone: each lane loads its own.
// The fragments of eight k are the same for both types. The order of k within an instruction is
// free as long as both operands have the same, so a lane takes two neighbours, 2t and 2t + 1: one
// load where the operand lies along k, and where it lies across, rows whose swizzle differs, so
// that no two lanes meet in a bank.
#include "codegen/common/ElementOps.h"
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;

static constexpr int64_t stepOfWords = 8;

void CudaEmitter::multiplyWordsByWarps(tt::DotOp op, const SharedOperand &left,
                                       const SharedOperand &right, Registers &sums) {
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  bool isDouble = a.getElementType().isF64();
  llvm::Type *word = isDouble ? b.getDoubleTy() : static_cast<llvm::Type *>(b.i32());
  unsigned bytes = memoryBytes(a.getElementType());
  int64_t unitsOfWord = bytes / SharedTile::elementBytes;
  const Layout &layout = layoutOf(op);
  auto number = [&](int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
  // A lane's row or column of each fragment, and its place along k.
  Layout ofWarps = layout;
  ofWarps.lanes.assign(Layout::laneBits, layout.zero());
  Value *group = b.CreateLShr(threadNumbers.lane, 2);
  Value *row = b.CreateAdd(coordinate(ofWarps, 0, 0), group);
  Value *column = b.CreateAdd(coordinate(ofWarps, 1, 0), group);
  Value *k = b.CreateMul(b.CreateAnd(threadNumbers.lane, number(3)), number(2));

  /// The elements k and k + 1 behind `step` of the operand's line `outer` + `first`.
  auto load = [&](const SharedOperand &operand, bool alongK, Value *outer, int64_t first,
                  int64_t step) -> std::array<Value *, 2> {
    if (alongK) {
      Value *unit = b.CreateMul(b.CreateAdd(k, number(step)), number(unitsOfWord));
      Value *both = b.CreateAlignedLoad(
          lanesOf(word, 2), elementAddress(operand, outer, unit, first), llvm::Align(2 * bytes));
      return {b.CreateExtractElement(both, uint64_t(0)), b.CreateExtractElement(both, uint64_t(1))};
    }
    Value *unit = b.CreateMul(b.CreateAdd(outer, number(first)), number(unitsOfWord));
    auto one = [&](int64_t next) {
      Value *address = elementAddress(operand, b.CreateAdd(k, number(next)), unit, step);
      return b.CreateAlignedLoad(word, address, llvm::Align(bytes));
    };
    return {one(0), one(1)};
  };

  bool leftAlongK = left.contiguousDim == 1, rightAlongK = right.contiguousDim == 0;
  for (int64_t step = 0; step < a.getDimSize(1); step += stepOfWords) {
    std::map<int32_t, std::array<Value *, 4>> rows;
    std::map<int32_t, std::array<Value *, 2>> columns;
    for (unsigned r = 0; r < layout.registerCount(); r += 4) {
      Layout::Point point = layout.registerPoint(r);
      if (!rows.contains(point[0])) {
        auto upper = load(left, leftAlongK, row, point[0], step);
        auto lower = load(left, leftAlongK, row, point[0] + 8, step);
        rows[point[0]] = {upper[0], lower[0], upper[1], lower[1]};
      }
      if (!columns.contains(point[1]))
        columns[point[1]] = load(right, rightAlongK, column, point[1], step);
    }
    for (unsigned r = 0; r < layout.registerCount(); r += 4) {
      Layout::Point point = layout.registerPoint(r);
      llvm::SmallVector<Value *> operands;
      llvm::append_range(operands, rows[point[0]]);
      llvm::append_range(operands, columns[point[1]]);
      operands.append(sums.begin() + r, sums.begin() + r + 4);
      llvm::CallInst *made =
          b.CreateIntrinsic(isDouble ? llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_f64
                                     : llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32,
                            {}, operands);
      made->addFnAttr(llvm::Attribute::Convergent);
      for (unsigned i = 0; i < 4; ++i)
        sums[r + i] = b.CreateExtractValue(made, i);
    }
  }
}

} // namespace pellucid::codegen
