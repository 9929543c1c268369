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

/// Writes the elements, brought from `type` to `element`, row-major at `byteOffset`.
void CudaEmitter::shareOperand(const HeldTile &tile, mlir::Type type, mlir::Type element,
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

/// Sums of 16 bits are added up in f32 and rounded at the end of the product.
static mlir::Type sumType(tt::DotOp op) {
  mlir::Type element = elementTypeOf(op.getD().getType());
  return isNarrowFloat(element) ? mlir::Float32Type::get(op.getContext()) : element;
}

Registers CudaEmitter::sumsOf(tt::DotOp op) {
  Registers sums = registersOf(op.getC());
  mlir::Type element = elementTypeOf(op.getD().getType());
  if (isNarrowFloat(element))
    for (Value *&sum : sums)
      sum = widenFloat(b, sum, element);
  return sums;
}

void CudaEmitter::finishDot(tt::DotOp op, Registers sums) {
  mlir::Type element = elementTypeOf(op.getD().getType());
  if (isNarrowFloat(element))
    for (Value *&sum : sums)
      sum = narrowFloat(b, sum, element);
  tiles[op] = std::move(sums);
}

void CudaEmitter::emitDot(tt::DotOp op) {
  if (unitOf(op) != MatrixUnit::None)
    return emitMatrixDot(op);
  auto a = mlir::cast<mlir::RankedTensorType>(op.getA().getType());
  auto product = mlir::cast<mlir::RankedTensorType>(op.getD().getType());
  mlir::Type element = sumType(op);
  unsigned row = product.getRank() - 2, column = row + 1;
  int64_t m = a.getDimSize(row), k = a.getDimSize(column), n = product.getDimSize(column);
  int64_t batches = row == 0 ? 1 : a.getDimSize(0);
  const Layout &layout = layoutOf(op);
  Registers sums = sumsOf(op);
  HeldTile left = held(op.getA()), right = held(op.getB());
  uint64_t bytesOfA = (batches * m * k * memoryBytes(element) + 15) / 16 * 16;
  uint64_t at = ttgpu::offsetOf(op);
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
  auto times = [&](Value *value, int64_t factor) {
    return b.CreateMul(value, b.getInt32(static_cast<uint32_t>(factor)));
  };
  auto batchOf = [&](unsigned r) { return row == 0 ? b.getInt32(0) : coordinate(layout, 0, r); };
  // By batch, and row or column.
  std::map<std::pair<int32_t, int32_t>, Value *> lefts, rights;
  Registers next;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Layout::Point point = layout.registerPoint(r);
    int32_t batch = row == 0 ? 0 : point[0];
    Value *&left = lefts[{batch, point[row]}], *&right = rights[{batch, point[column]}];
    if (!left) {
      Value *line = b.CreateAdd(times(batchOf(r), m), coordinate(layout, row, r));
      left = readShared(at, element, b.CreateAdd(times(line, k), step));
    }
    if (!right) {
      Value *line = b.CreateAdd(times(batchOf(r), k), step);
      Value *index = b.CreateAdd(times(line, n), coordinate(layout, column, r));
      right = readShared(at + bytesOfA, element, index);
    }
    if (mlir::isa<mlir::FloatType>(element))
      next.push_back(
          b.CreateIntrinsic(llvm::Intrinsic::fma, {left->getType()}, {left, right, carried[r]}));
    else
      next.push_back(b.CreateAdd(b.CreateMul(left, right), carried[r]));
  }
  Value *following = b.CreateAdd(step, b.getInt32(1));
  step->addIncoming(following, loop);
  for (unsigned r = 0; r < next.size(); ++r)
    carried[r]->addIncoming(next[r], loop);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(static_cast<uint32_t>(k))), loop, after);
  b.SetInsertPoint(after);
  finishDot(op, next);
}

} // namespace pellucid::codegen
