// SPDX-License-Identifier: Apache-2.0
// Loads and stores of tiles and scalars.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/InlineAsm.h"

namespace pellucid::codegen {

using llvm::Value;

/// Integer arithmetic on indices, sizes and pointers alone: cheaper to repeat than to keep.
static bool isIndexArithmetic(mlir::Value value, unsigned &left) {
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()))
    return true;
  mlir::Operation *op = value.getDefiningOp();
  if (!op || left == 0 || mlir::isa<mlir::FloatType>(elementTypeOf(value.getType())))
    return false;
  --left;
  // What moves between threads is not index arithmetic.
  if (auto other = mlir::dyn_cast<ttgpu::ConvertLayoutOp>(op))
    if (ttgpu::layoutOf(other.getResult())->registersIn(*ttgpu::layoutOf(other.getSrc())).empty())
      return false;
  if (mlir::isa<tt::MakeRangeOp, mlir::arith::ConstantOp>(op))
    return true;
  bool repeats =
      isElementOp(op) ||
      mlir::isa<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, ttgpu::ConvertLayoutOp>(op);
  return repeats && llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
           return isIndexArithmetic(operand, left);
         });
}

/// What index arithmetic is made of, once more.
void CudaEmitter::computeAgain(mlir::Value tile) {
  if (!mlir::isa<mlir::RankedTensorType>(tile.getType()) || tiles.count(tile))
    return;
  for (mlir::Value operand : tile.getDefiningOp()->getOperands())
    computeAgain(operand);
  compute(tile.getDefiningOp());
}

Registers CudaEmitter::registersAgain(mlir::Value tile) {
  unsigned mostOperations = 48;
  if (!isIndexArithmetic(tile, mostOperations))
    return registersOf(tile);
  // The number of the thread is read anew: nothing computed from it equals what is known.
  auto *type = llvm::FunctionType::get(b.i32(), false);
  auto *code = llvm::InlineAsm::get(type, "mov.u32 $0, %tid.x;", "=r", true);
  ThreadNumbers numbers = numbersOf(b.CreateCall(code), nullptr);
  std::swap(numbers, threadNumbers);
  llvm::DenseMap<mlir::Value, Registers> known;
  std::swap(known, tiles);
  computeAgain(tile);
  Registers registers = tiles.at(tile);
  std::swap(known, tiles);
  std::swap(numbers, threadNumbers);
  return registers;
}

void CudaEmitter::emitLoad(tt::LoadOp op) {
  if (!mlir::isa<mlir::RankedTensorType>(op.getType()))
    return emitScalarLoad(op);
  tiles[op] = loadTile(op);
}

Registers CudaEmitter::loadTile(tt::LoadOp op) {
  mlir::Type element = elementTypeOf(op.getType());
  TileAccess access{registersOf(op.getPtr()), {}, 1, element};
  access.vector = vectorLength(op.getPtr(), layoutOf(op), element);
  access.isVolatile = op.getIsVolatile();
  followFirstPointers(access);
  Registers all(access.pointers.size(), b.getTrue());
  access.active = op.getMask() ? registersOf(op.getMask()) : all;
  Registers other(access.pointers.size(),
                  llvm::Constant::getNullValue(registerType(b.getContext(), element)));
  judgeVectors(access, op.getPtr(), op.getMask());
  if (op.getMask() && op.getOther())
    other = registersOf(op.getOther());
  auto loadEach = [&] {
    Registers active =
        op.getMask() && access.vector > 1 ? registersAgain(op.getMask()) : access.active;
    Registers values;
    for (size_t r = 0; r < active.size(); ++r)
      values.push_back(
          loadOne(access.pointers[r], active[r], other[r], element, op.getIsVolatile()));
    return values;
  };
  if (access.vector == 1)
    return loadEach();
  if (access.isSure())
    return unpackWords(loadVectors(access, packWords(other, access.vector, element)), access.vector,
                       element);
  // What is live behind the branch are words: elements of 16 bits would take a register each.
  Registers words[2];
  BranchEnds ends = emitBranches(b, movesByVectors(access), [&](unsigned which) {
    words[which] = which == 0 ? loadVectors(access, packWords(other, access.vector, element))
                              : packWords(loadEach(), access.vector, element);
  });
  Registers loaded;
  for (size_t w = 0; w < words[0].size(); ++w) {
    llvm::PHINode *word = b.CreatePHI(words[0][w]->getType(), 2);
    word->addIncoming(words[0][w], ends[0]);
    word->addIncoming(words[1][w], ends[1]);
    loaded.push_back(word);
  }
  return unpackWords(loaded, access.vector, element);
}

void CudaEmitter::emitScalarLoad(tt::LoadOp op) {
  mlir::Type element = op.getType();
  Value *active = op.getMask() ? scalar(op.getMask()) : b.getTrue();
  Value *other = op.getOther()
                     ? scalar(op.getOther())
                     : llvm::Constant::getNullValue(registerType(b.getContext(), element));
  define(op, loadOne(scalar(op.getPtr()), active, other, element, op.getIsVolatile()));
}

void CudaEmitter::emitStore(tt::StoreOp op) {
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType()))
    return emitScalarStore(op);
  mlir::Type element = elementTypeOf(op.getValue().getType());
  const Layout &layout = layoutOf(op.getPtr());
  Registers values = registersOf(op.getValue());
  TileAccess access{registersOf(op.getPtr()), {}, 1, element};
  access.vector = vectorLength(op.getPtr(), layout, element);
  followFirstPointers(access);
  auto holding = [&](Registers mask) {
    Value *holds = isFirstHolder(layout);
    for (Value *&active : mask)
      active = b.CreateAnd(holds, active);
    return mask;
  };
  Registers all(access.pointers.size(), b.getTrue());
  judgeVectors(access, op.getPtr(), op.getMask());
  access.active = holding(op.getMask() ? registersOf(op.getMask()) : all);
  auto storeEach = [&](const Registers &active) {
    for (size_t r = 0; r < values.size(); ++r)
      storeOne(access.pointers[r], values[r], active[r], element);
  };
  if (access.vector == 1)
    return storeEach(access.active);
  if (access.isSure())
    return storeVectors(access, packWords(values, access.vector, element));
  emitBranches(b, movesByVectors(access), [&](unsigned which) {
    if (which == 0)
      storeVectors(access, packWords(values, access.vector, element));
    else
      storeEach(op.getMask() ? holding(registersAgain(op.getMask())) : access.active);
  });
}

void CudaEmitter::emitScalarStore(tt::StoreOp op) {
  if (mlir::isa<mlir::RankedTensorType>(op.getValue().getType()))
    refuse(op, "through a block pointer reached code generation");
  Value *active = b.CreateICmpEQ(threadNumbers.thread, b.getInt32(0));
  if (op.getMask())
    active = b.CreateAnd(active, scalar(op.getMask()));
  storeOne(scalar(op.getPtr()), scalar(op.getValue()), active, op.getValue().getType());
}

} // namespace pellucid::codegen
