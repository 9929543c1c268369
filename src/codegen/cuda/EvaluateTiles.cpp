// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ElementOps.h"
#include "codegen/common/RegionOps.h"
#include "codegen/cuda/CudaMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;

static mlir::RankedTensorType tileType(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType());
}

unsigned CudaEmitter::layoutId(const Layout &layout) {
  auto found = llvm::find(layouts, layout);
  if (found == layouts.end())
    found = layouts.insert(layouts.end(), layout);
  return static_cast<unsigned>(found - layouts.begin());
}

const Registers &CudaEmitter::evaluate(mlir::Value tile, const Layout &layout) {
  std::pair<void *, unsigned> key = {tile.getAsOpaquePointer(), layoutId(layout)};
  for (auto scope = evaluated.rbegin(); scope != evaluated.rend(); ++scope)
    if (auto found = scope->find(key); found != scope->end())
      return found->second;
  // Elements that a thread holds several times are computed once.
  Layout distinct = layout.withoutRepeats();
  Registers registers;
  if (distinct == layout) {
    registers = compute(tile, layout);
  } else {
    const Registers &once = evaluate(tile, distinct);
    for (unsigned from : layout.registersIn(distinct))
      registers.push_back(once[from]);
  }
  return evaluated.back()[key] = std::move(registers);
}

Registers CudaEmitter::compute(mlir::Value tile, const Layout &layout) {
  if (auto home = homes.find(tile); home != homes.end())
    return convert(home->second, tileType(tile).getElementType(), layout);
  mlir::Operation *op = tile.getDefiningOp();
  assert(op && "a tile that is an argument of a block has a home");
  checkedTile(op, tile);
  if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
    return loadTile(load, layout);
  auto uniform = [&](Value *value) { return Registers(layout.registerCount(), value); };
  return llvm::TypeSwitch<mlir::Operation *, Registers>(op)
      .Case<tt::SplatOp>([&](auto splat) {
        if (mlir::isa<mlir::RankedTensorType>(splat.getSrc().getType()))
          refuse(op, "of a tile is not supported by the CUDA code generator");
        return uniform(scalar(splat.getSrc()));
      })
      .Case<tt::MakeRangeOp>([&](auto range) { return computeRange(range, layout); })
      .Case<ttgpu::ReadSharedOp>([&](auto read) { return readTile(read, layout); })
      .Case<tt::ExpandDimsOp>([&](auto expand) {
        return evaluate(expand.getSrc(), layout.throughExpandDims(expand.getAxis()));
      })
      .Case<tt::BroadcastOp>([&](auto broadcast) {
        mlir::Value src = broadcast.getSrc();
        return evaluate(src, layout.throughBroadcast(tileType(src).getShape()));
      })
      .Case<tt::TransOp>([&](auto trans) {
        return evaluate(trans.getSrc(), layout.throughTranspose(trans.getOrder()));
      })
      .Case<tt::ReshapeOp>([&](auto reshape) {
        mlir::Value src = reshape.getSrc();
        return evaluate(src, layout.throughReshape(tileType(src).getShape()));
      })
      .Case<tt::JoinOp>([&](auto join) { return computeJoin(join, layout); })
      .Case<tt::SplitOp>([&](auto split) { return computeSplit(split, tile, layout); })
      .Case<tt::MapElementwiseOp>([&](auto map) { return computeMap(map, tile, layout); })
      .Case<arith::ConstantOp>([&](auto constant) { return computeConstant(constant, layout); })
      .Case<mlir::ub::PoisonOp>([&](auto) {
        llvm::Type *type = registerType(b.getContext(), tileType(tile).getElementType());
        return uniform(llvm::Constant::getNullValue(type));
      })
      .Default([&](auto) { return computeElements(op, tile, layout); });
}

Registers CudaEmitter::computeElements(mlir::Operation *op, mlir::Value result,
                                       const Layout &layout) {
  if (!isElementOp(op))
    refuse(op, "is not supported by the CUDA code generator");
  std::vector<const Registers *> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(mlir::isa<mlir::RankedTensorType>(operand.getType())
                           ? &evaluate(operand, layout)
                           : nullptr);
  std::vector<Registers> results(op->getNumResults());
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    llvm::SmallVector<Value *, 4> values;
    for (auto [operand, registers] : llvm::zip(op->getOperands(), operands))
      values.push_back(registers ? (*registers)[r] : scalar(operand));
    for (auto [registers, value] : llvm::zip(results, emitCudaElementOp(b, op, values)))
      registers.push_back(value);
  }
  for (auto [other, registers] : llvm::zip(op->getResults(), results))
    evaluated.back()[{other.getAsOpaquePointer(), layoutId(layout)}] = registers;
  return results[mlir::cast<mlir::OpResult>(result).getResultNumber()];
}

Registers CudaEmitter::computeConstant(arith::ConstantOp op, const Layout &layout) {
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

Registers CudaEmitter::computeRange(tt::MakeRangeOp op, const Layout &layout) {
  Registers registers;
  Value *first = b.getInt32(static_cast<int32_t>(op.getFirst()));
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    registers.push_back(b.CreateAdd(coordinate(layout, 0, r), first));
  return registers;
}

Registers CudaEmitter::computeJoin(tt::JoinOp op, const Layout &layout) {
  unsigned last = layout.rank() - 1;
  Layout inner = layout.throughExpandDims(last);
  Registers lhs = evaluate(op.getLhs(), inner), rhs = evaluate(op.getRhs(), inner);
  Registers registers;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    Value *isFirst = b.CreateICmpEQ(coordinate(layout, last, r), b.getInt32(0));
    registers.push_back(b.CreateSelect(isFirst, lhs[r], rhs[r]));
  }
  return registers;
}

Registers CudaEmitter::computeSplit(tt::SplitOp op, mlir::Value result, const Layout &layout) {
  Registers both = evaluate(op.getSrc(), layout.throughSplit());
  auto half = both.begin() + both.size() / 2;
  return result == op.getOutRHS() ? Registers(half, both.end()) : Registers(both.begin(), half);
}

Registers CudaEmitter::computeMap(tt::MapElementwiseOp op, mlir::Value result,
                                  const Layout &layout) {
  if (op.getPack() != 1)
    refuse(op, "with pack above 1 is not supported by the CUDA code generator");
  std::vector<Registers> sources;
  for (mlir::Value source : op.getSrcs())
    sources.push_back(evaluate(source, layout));
  Registers registers;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    llvm::SmallVector<Value *, 4> arguments;
    for (const Registers &source : sources)
      arguments.push_back(source[r]);
    auto values = emitRegion(b, *this, op.getScalarOp(), arguments);
    registers.push_back(values[mlir::cast<mlir::OpResult>(result).getResultNumber()]);
  }
  return registers;
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
