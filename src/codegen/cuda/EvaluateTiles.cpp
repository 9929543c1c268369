// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ElementOps.h"
#include "codegen/common/RegionOps.h"
#include "codegen/cuda/CudaMath.h"
#include "codegen/cuda/Float8Math.h"
#include "codegen/cuda/HalfMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;

unsigned CudaEmitter::layoutId(const Layout &layout) {
  auto found = llvm::find(layoutNumbers, layout);
  if (found == layoutNumbers.end())
    found = layoutNumbers.insert(layoutNumbers.end(), layout);
  return static_cast<unsigned>(found - layoutNumbers.begin());
}

const Layout &CudaEmitter::layoutOf(mlir::Value tile) {
  auto [place, isNew] = layouts.try_emplace(tile.getType().getAsOpaquePointer());
  if (isNew) {
    auto layout = ttgpu::layoutOf(tile);
    if (!layout)
      refuse(tile.getDefiningOp() ? tile.getDefiningOp() : kernel,
             "has a tile that no layout was chosen for");
    place->second = *layout;
  }
  return place->second;
}

Registers CudaEmitter::registersOf(mlir::Value value) {
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()))
    return {scalar(value)};
  auto found = tiles.find(value);
  if (found == tiles.end())
    refuse(value.getDefiningOp() ? value.getDefiningOp() : kernel,
           "is not supported by the CUDA code generator");
  return found->second;
}

void CudaEmitter::hold(mlir::Value value, Registers registers) {
  if (mlir::isa<mlir::RankedTensorType>(value.getType()))
    tiles[value] = std::move(registers);
  else
    define(value, registers[0]);
}

void CudaEmitter::compute(mlir::Operation *op) {
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case<tt::SplitOp>([&](auto split) { computeSplit(split); })
      .Case<tt::MapElementwiseOp>([&](auto map) { computeMap(map); })
      .Case<tt::ElementwiseInlineAsmOp>([&](auto assembly) { emitInlineAssembly(assembly); })
      .Case<ttgpu::ConvertLayoutOp>([&](auto other) { tiles[other] = convert(other); })
      .Case<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp,
            tt::ReshapeOp, tt::JoinOp, arith::ConstantOp, mlir::ub::PoisonOp, ttgpu::ReadSharedOp>(
          [&](mlir::Operation *one) { tiles[one->getResult(0)] = computeTile(one); })
      .Default([&](auto) { computeElements(op); });
}

Registers CudaEmitter::computeTile(mlir::Operation *op) {
  const Layout &layout = layoutOf(op->getResult(0));
  auto uniform = [&](Value *value) { return Registers(layout.registerCount(), value); };
  return llvm::TypeSwitch<mlir::Operation *, Registers>(op)
      .Case<tt::SplatOp>([&](auto splat) {
        if (mlir::isa<mlir::RankedTensorType>(splat.getSrc().getType()))
          refuse(op, "of a tile is not supported by the CUDA code generator");
        return uniform(scalar(splat.getSrc()));
      })
      .Case<tt::MakeRangeOp>([&](auto range) { return computeRange(range); })
      .Case<ttgpu::ReadSharedOp>([&](auto read) { return readTile(read); })
      // The source has been asked for in the layout that makes these the same registers.
      .Case<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(
          [&](auto shape) { return registersOf(shape.getSrc()); })
      .Case<tt::JoinOp>([&](auto join) { return computeJoin(join); })
      .Case<arith::ConstantOp>([&](auto constant) { return computeConstant(constant); })
      .Default([&](auto) {
        llvm::Type *type = registerType(b.getContext(), elementTypeOf(op->getResult(0).getType()));
        return uniform(llvm::Constant::getNullValue(type));
      });
}

void CudaEmitter::computeElements(mlir::Operation *op) {
  if (!isElementOp(op))
    refuse(op, "is not supported by the CUDA code generator");
  std::vector<Registers> operands, results(op->getNumResults());
  for (mlir::Value operand : op->getOperands())
    operands.push_back(registersOf(operand));
  unsigned count = layoutOf(op->getResult(0)).registerCount();
  if (count > 1 && hasHalfInstruction(op)) {
    tiles[op->getResult(0)] = computeHalves(op, operands);
    return;
  }
  if (count > 1 && hasFloat8Instruction(op, options.sm)) {
    Registers &made = tiles[op->getResult(0)];
    for (unsigned r = 0; r < count; r += 2)
      llvm::append_range(made, emitFloat8Pair(b, op, {operands[0][r], operands[0][r + 1]}));
    return;
  }
  for (unsigned r = 0; r < count; ++r) {
    llvm::SmallVector<Value *, 4> values;
    for (auto [operand, registers] : llvm::zip(op->getOperands(), operands))
      values.push_back(registers[mlir::isa<mlir::RankedTensorType>(operand.getType()) ? r : 0]);
    for (auto [registers, value] : llvm::zip(results, emitCudaElementOp(b, op, values)))
      registers.push_back(value);
  }
  for (auto [result, registers] : llvm::zip(op->getResults(), results))
    tiles[result] = std::move(registers);
}

/// Two registers at a time.
Registers CudaEmitter::computeHalves(mlir::Operation *op, llvm::ArrayRef<Registers> operands) {
  Registers results;
  for (unsigned r = 0; r < operands[0].size(); r += 2) {
    llvm::SmallVector<Value *, 2> pairs;
    for (const Registers &registers : operands) {
      Value *pair = llvm::PoisonValue::get(lanesOf(b.getInt16Ty(), 2));
      for (unsigned i : {0u, 1u})
        pair = b.CreateInsertElement(pair, registers[r + i], i);
      pairs.push_back(pair);
    }
    Value *made = emitHalfInstruction(b, op, pairs);
    for (unsigned i : {0u, 1u})
      results.push_back(b.CreateExtractElement(made, i));
  }
  return results;
}

Registers CudaEmitter::computeConstant(arith::ConstantOp op) {
  const Layout &layout = layoutOf(op);
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
  if (!elements)
    refuse(op, "is not supported by the CUDA code generator");
  mlir::Type element = elements.getElementType();
  auto constantOf = [&](mlir::Attribute value) {
    return scalarConstant(b.getContext(), value, element);
  };
  if (elements.isSplat())
    return Registers(layout.registerCount(), constantOf(elements.getSplatValue<mlir::Attribute>()));
  // A table in memory, row-major.
  llvm::Type *type = memoryType(b.getContext(), element);
  std::vector<llvm::Constant *> values;
  for (mlir::Attribute value : elements.getValues<mlir::Attribute>()) {
    llvm::Constant *one = constantOf(value);
    values.push_back(
        one->getType() == type ? one : llvm::ConstantInt::get(type, one->isOneValue() ? 1 : 0));
  }
  auto *array = llvm::ArrayType::get(type, values.size());
  constexpr unsigned globalSpace = 1;
  auto *table = new llvm::GlobalVariable(module, array, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantArray::get(array, values), "table", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, globalSpace);
  Registers registers;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Value *value = b.CreateLoad(type, b.CreateGEP(type, table, position(layout, r)));
    registers.push_back(element.isInteger(1) ? b.CreateICmpNE(value, b.getInt8(0)) : value);
  }
  return registers;
}

Registers CudaEmitter::computeRange(tt::MakeRangeOp op) {
  const Layout &layout = layoutOf(op);
  Registers registers;
  Value *first = b.getInt32(static_cast<int32_t>(op.getFirst()));
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    registers.push_back(b.CreateAdd(coordinate(layout, 0, r), first));
  return registers;
}

Registers CudaEmitter::computeJoin(tt::JoinOp op) {
  const Layout &layout = layoutOf(op);
  unsigned last = layout.rank() - 1;
  Registers lhs = registersOf(op.getLhs()), rhs = registersOf(op.getRhs());
  Registers registers;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Value *isFirst = b.CreateICmpEQ(coordinate(layout, last, r), b.getInt32(0));
    registers.push_back(b.CreateSelect(isFirst, lhs[r], rhs[r]));
  }
  return registers;
}

void CudaEmitter::computeSplit(tt::SplitOp op) {
  Registers both = registersOf(op.getSrc());
  auto half = both.begin() + both.size() / 2;
  tiles[op.getOutLHS()] = Registers(both.begin(), half);
  tiles[op.getOutRHS()] = Registers(half, both.end());
}

void CudaEmitter::computeMap(tt::MapElementwiseOp op) {
  if (op.getPack() != 1)
    refuse(op, "with pack above 1 is not supported by the CUDA code generator");
  std::vector<Registers> sources, results(op->getNumResults());
  for (mlir::Value source : op.getSrcs())
    sources.push_back(registersOf(source));
  for (unsigned r = 0; r < layoutOf(op->getResult(0)).registerCount(); ++r) {
    llvm::SmallVector<Value *, 4> arguments;
    for (const Registers &source : sources)
      arguments.push_back(source[r]);
    for (auto [registers, value] :
         llvm::zip(results, emitRegion(b, *this, op.getScalarOp(), arguments)))
      registers.push_back(value);
  }
  for (auto [result, registers] : llvm::zip(op->getResults(), results))
    tiles[result] = std::move(registers);
}

// Neighbouring bits that stand for consecutive powers of two become one shift and mask.
Value *CudaEmitter::threadCoordinate(const Layout &layout, unsigned dim) {
  auto [place, isNew] = threadNumbers.coordinates.try_emplace({layoutId(layout), dim}, nullptr);
  if (!isNew)
    return place->second;
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  if (threadNumbers.block)
    b.SetInsertPoint(threadNumbers.block->getTerminator());
  Value *sum = nullptr;
  for (auto [bits, number] :
       {std::pair{&layout.lanes, threadNumbers.lane}, {&layout.warps, threadNumbers.warp}})
    for (size_t first = 0; first < bits->size();) {
      int64_t value = (*bits)[first][dim];
      size_t end = first + 1;
      while (value && end < bits->size() && (*bits)[end][dim] == value << (end - first))
        ++end;
      if (value) {
        Value *field = b.CreateAnd(b.CreateLShr(number, first), (1u << (end - first)) - 1);
        field = b.CreateMul(field, b.getInt32(static_cast<uint32_t>(value)), "", true, true);
        sum = sum ? b.CreateXor(sum, field) : field;
      }
      first = end;
    }
  return place->second = sum ? sum : b.getInt32(0);
}

Value *CudaEmitter::coordinate(const Layout &layout, unsigned dim, unsigned registerIndex) {
  Value *base = threadCoordinate(layout, dim);
  int32_t own = layout.registerPoint(registerIndex)[dim];
  if (own == 0)
    return base;
  int32_t threadBits = 0;
  for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
    for (const Layout::Point &point : *bits)
      threadBits |= point[dim];
  // Bits that no thread sets are added: sums of addresses fold, xors do not.
  if ((own & threadBits) == 0)
    return b.CreateAdd(base, b.getInt32(static_cast<uint32_t>(own)), "", true, true);
  return b.CreateXor(base, b.getInt32(static_cast<uint32_t>(own)));
}

Value *CudaEmitter::position(const Layout &layout, unsigned registerIndex) {
  Value *sum = b.getInt32(0);
  for (unsigned d = 0; d < layout.rank(); ++d) {
    sum = b.CreateMul(sum, b.getInt32(static_cast<uint32_t>(layout.shape[d])));
    sum = b.CreateAdd(sum, coordinate(layout, d, registerIndex));
  }
  return sum;
}

Value *CudaEmitter::isFirstHolder(const Layout &layout) {
  uint32_t repeating = 0;
  for (size_t bit = 0; bit < layout.lanes.size(); ++bit)
    if (isZero(layout.lanes[bit]))
      repeating |= 1u << bit;
  for (size_t bit = 0; bit < layout.warps.size(); ++bit)
    if (isZero(layout.warps[bit]))
      repeating |= 1u << (Layout::laneBits + bit);
  if (repeating == 0)
    return b.getTrue();
  return b.CreateICmpEQ(b.CreateAnd(threadNumbers.thread, repeating), b.getInt32(0));
}

} // namespace pellucid::codegen
