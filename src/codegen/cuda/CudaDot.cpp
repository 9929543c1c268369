// SPDX-License-Identifier: Apache-2.0
// Matrix products that matrix units do not do, by fused multiply-adds: both operands go through
// shared memory, and each thread sums the elements of the result that it holds. The order over k is
// ascending.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ElementOps.h"
#include "codegen/common/FloatFormats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace pellucid::codegen {

using llvm::Value;

HomeTile CudaEmitter::asItLies(mlir::Value tile) {
  if (auto home = homes.find(tile); home != homes.end())
    return home->second;
  mlir::Operation *op = tile.getDefiningOp();
  if (auto trans = mlir::dyn_cast<tt::TransOp>(op)) {
    HomeTile source = asItLies(trans.getSrc());
    llvm::SmallVector<int32_t> back(trans.getOrder().size());
    for (auto [d, from] : llvm::enumerate(trans.getOrder()))
      back[from] = static_cast<int32_t>(d);
    return {source.layout.throughTranspose(back), source.registers};
  }
  if (isElementOp(op) && feedsMatrixUnits(tile))
    for (mlir::Value operand : op->getOperands())
      if (mlir::isa<mlir::RankedTensorType>(operand.getType()) &&
          !operand.getDefiningOp<mlir::arith::ConstantOp>()) {
        Layout layout = asItLies(operand).layout;
        return {layout, evaluate(tile, layout)};
      }
  Layout layout = anchor(mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape());
  return {layout, evaluate(tile, layout)};
}

/// Writes the elements, brought from `type` to `element`, row-major at `byteOffset`.
void CudaEmitter::shareOperand(const HomeTile &tile, mlir::Type type, mlir::Type element,
                               uint64_t byteOffset) {
  const auto &[layout, values] = tile;
  Value *holds = isFirstHolder(layout);
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Value *value = values[r];
    if (type != element && mlir::isa<mlir::FloatType>(element))
      value = narrowFloat(b, widenFloat(b, value, type), element);
    else if (type != element)
      value = b.CreateSExt(value, registerType(b.getContext(), element));
    writeShared(byteOffset, element, position(layout, r), value, holds);
  }
}

void CudaEmitter::emitDot(tt::DotOp op) {
  if (usesMatrixUnits(op))
    return emitMatrixDot(op);
  mlir::RankedTensorType a = checkedTile(op, op.getA()), product = checkedTile(op, op.getD());
  checkedTile(op, op.getB());
  if (product.getRank() != 2)
    refuse(op, "of batched tiles is not supported by the CUDA code generator");
  mlir::Type element = product.getElementType();
  if (isNarrowFloat(element))
    refuse(op, "that sums in 16 bits is not supported by the CUDA code generator");
  int64_t m = a.getDimSize(0), k = a.getDimSize(1), n = product.getDimSize(1);
  Layout layout = anchor(product.getShape());
  Registers sums = evaluate(op.getC(), layout);
  // Tiles are evaluated before the memory is claimed: their own exchanges use the same.
  HomeTile left = asItLies(op.getA()), right = asItLies(op.getB());
  uint64_t bytesOfA = (m * k * memoryBytes(element) + 15) / 16 * 16;
  uint64_t at = claimShared(op, bytesOfA + k * n * memoryBytes(element));
  shareOperand(left, a.getElementType(), element, at);
  shareOperand(right, elementTypeOf(op.getB().getType()), element, at + bytesOfA);
  emitBarrier();

  auto *before = b.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "dot", entry);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "summed", entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *step = b.CreatePHI(b.i32(), 2);
  step->addIncoming(b.getInt32(0), before);
  std::vector<llvm::PHINode *> carried;
  for (Value *sum : sums) {
    carried.push_back(b.CreatePHI(sum->getType(), 2));
    carried.back()->addIncoming(sum, before);
  }
  std::map<int32_t, Value *> rows, columns;
  Registers next;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Layout::Point point = layout.registerPoint(r);
    Value *&row = rows[point[0]], *&column = columns[point[1]];
    if (!row) {
      Value *index = b.CreateAdd(
          b.CreateMul(coordinate(layout, 0, r), b.getInt32(static_cast<uint32_t>(k))), step);
      row = readShared(at, element, index);
    }
    if (!column) {
      Value *index = b.CreateAdd(b.CreateMul(step, b.getInt32(static_cast<uint32_t>(n))),
                                 coordinate(layout, 1, r));
      column = readShared(at + bytesOfA, element, index);
    }
    if (mlir::isa<mlir::FloatType>(element))
      next.push_back(
          b.CreateIntrinsic(llvm::Intrinsic::fma, {row->getType()}, {row, column, carried[r]}));
    else
      next.push_back(b.CreateAdd(b.CreateMul(row, column), carried[r]));
  }
  Value *following = b.CreateAdd(step, b.getInt32(1));
  step->addIncoming(following, loop);
  for (unsigned r = 0; r < next.size(); ++r)
    carried[r]->addIncoming(next[r], loop);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(static_cast<uint32_t>(k))), loop, after);
  b.SetInsertPoint(after);
  homes[op] = {layout, next};
}

} // namespace pellucid::codegen
