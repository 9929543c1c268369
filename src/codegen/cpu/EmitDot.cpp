// SPDX-License-Identifier: Apache-2.0
// tl.dot: operands in scratch memory in the type that is computed in, row-major; a register tile of
// the result runs over the inner dimension in ascending order.
#include "codegen/cpu/DotUnits.h"
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

mlir::RankedTensorType tileType(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType());
}

/// What sums are kept in.
mlir::Type sumType(mlir::Type result) {
  return isNarrowFloat(result) ? mlir::Type(mlir::Float32Type::get(result.getContext())) : result;
}

Value *convertOperand(CodeBuilder &b, Value *value, mlir::Type from, mlir::Type to) {
  if (mlir::isa<mlir::FloatType>(from))
    return narrowFloat(b, widenFloat(b, value, from), to);
  return b.CreateSExtOrTrunc(value, typeLike(value, registerType(b.getContext(), to)));
}

/// The part of the result held in registers: `rows` x `vectors` vectors of `lanes`.
struct RegisterTile {
  int64_t rows, vectors, lanes;
};

RegisterTile chooseTile(CpuLevel level, int64_t m, int64_t n, unsigned bits) {
  bool wide = hasAvx512(level);
  int64_t native = (wide ? 512 : 256) / bits;
  RegisterTile tile;
  tile.lanes = std::min(native, n & -n);
  tile.vectors = std::min<int64_t>(wide ? 4 : 2, n / tile.lanes);
  while (n % (tile.vectors * tile.lanes))
    --tile.vectors;
  tile.rows = std::min<int64_t>((wide ? 24 : 10) / tile.vectors, m);
  tile.rows = std::min<int64_t>(int64_t(llvm::bit_floor(uint64_t(tile.rows))), m & -m);
  return tile;
}

Value *multiplyAdd(CodeBuilder &b, Value *x, Value *y, Value *sum) {
  if (x->getType()->isFPOrFPVectorTy())
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, sum});
  return b.CreateAdd(b.CreateMul(x, y), sum);
}

/// One matrix product, everything dense: d[m, n] += a[m, k] * b[k, n].
void emitProduct(CodeBuilder &b, const RegisterTile &tile, llvm::Type *type, Value *lhs, Value *rhs,
                 Value *sums, int64_t m, int64_t n, int64_t k) {
  llvm::Type *vector = lanesOf(type, tile.lanes);
  auto at = [&](Value *base, Value *row, int64_t rowOffset, int64_t stride, Value *column,
                int64_t columnOffset) {
    Value *index =
        b.CreateAdd(b.CreateMul(b.CreateAdd(row, b.getInt64(rowOffset)), b.getInt64(stride)),
                    b.CreateAdd(column, b.getInt64(columnOffset)));
    return b.CreateGEP(type, base, index);
  };
  llvm::Align align(type->getPrimitiveSizeInBits().getFixedValue() / 8);
  llvm::SmallVector<llvm::AllocaInst *> registers;
  for (int64_t i = 0; i < tile.rows * tile.vectors; ++i)
    registers.push_back(emitVariable(b, vector));
  emitLoop(b, b.getInt64(0), b.getInt64(n), tile.vectors * tile.lanes, true, [&](Value *column) {
    emitLoop(b, b.getInt64(0), b.getInt64(m), tile.rows, true, [&](Value *row) {
      auto forTile = [&](auto body) {
        for (int64_t r = 0; r < tile.rows; ++r)
          for (int64_t v = 0; v < tile.vectors; ++v)
            body(registers[r * tile.vectors + v], at(sums, row, r, n, column, v * tile.lanes));
      };
      forTile([&](llvm::AllocaInst *held, Value *address) {
        b.CreateStore(b.CreateAlignedLoad(vector, address, align), held);
      });
      emitLoop(b, b.getInt64(0), b.getInt64(k), 1, true, [&](Value *inner) {
        llvm::SmallVector<Value *> right;
        for (int64_t v = 0; v < tile.vectors; ++v)
          right.push_back(
              b.CreateAlignedLoad(vector, at(rhs, inner, 0, n, column, v * tile.lanes), align));
        for (int64_t r = 0; r < tile.rows; ++r) {
          Value *left = b.CreateAlignedLoad(type, at(lhs, row, r, k, inner, 0), align);
          left = splatTo(b, left, tile.lanes);
          for (int64_t v = 0; v < tile.vectors; ++v) {
            llvm::AllocaInst *held = registers[r * tile.vectors + v];
            b.CreateStore(multiplyAdd(b, left, right[v], b.CreateLoad(vector, held)), held);
          }
        }
      });
      forTile([&](llvm::AllocaInst *held, Value *address) {
        b.CreateAlignedStore(b.CreateLoad(vector, held), address, align);
      });
    });
  });
}

} // namespace

TileBuffer KernelEmitter::convertedTile(mlir::Value tile, mlir::Type element) {
  mlir::RankedTensorType type = tileType(tile);
  if (type.getElementType() == element)
    return ensureBuffer(tile);
  TileBuffer area = allocate(element, type.getShape());
  emitNest(nestOver(type.getShape(), {tile}), {tile}, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *value = chunk.evaluateVector(tile, at);
    chunk.writeBuffer(area, at,
                      LaneValue::vector(convertOperand(b, value, type.getElementType(), element)));
  });
  return area;
}

// The buffer of the loop-carried tile that `op` yields the next value of, when its old value is not
// read after `op`.
std::optional<TileBuffer> KernelEmitter::carriedTarget(tt::DotOp op) {
  auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op->getParentOp());
  if (!loop || !op->hasOneUse())
    return std::nullopt;
  mlir::OpOperand &use = *op->use_begin();
  if (use.getOwner() != loop.getBody()->getTerminator())
    return std::nullopt;
  mlir::Value old = loop.getRegionIterArg(use.getOperandNumber());
  for (mlir::Operation *point : evaluationPoints(old, plan))
    if (op->isBeforeInBlock(point))
      return std::nullopt;
  auto found = buffers.find(old);
  llvm::DenseSet<std::pair<mlir::Value, unsigned>> seen;
  Carrier carrier;
  carrier.tile = found->second;
  if (found == buffers.end() ||
      !readsOnlyInPlace(op.getC(), carrier.tile.base, {carrier}, true, seen))
    return std::nullopt;
  return carrier.tile;
}

void KernelEmitter::emitDot(tt::DotOp op) {
  mlir::RankedTensorType result = tileType(op.getD());
  mlir::Type element = result.getElementType(), sum = sumType(element);
  DotForm form = dotFormOf(op, options.level);
  mlir::Type operand = form == DotForm::MultiplyAdd ? sum : tileType(op.getA()).getElementType();
  TileBuffer lhs = convertedTile(op.getA(), operand), rhs = convertedTile(op.getB(), operand);
  TileBuffer grouped;
  if (form != DotForm::MultiplyAdd) {
    grouped = allocate(operand, tileType(op.getB()).getShape());
    scratch->touch(grouped, op);
    object.productUnits |= operand.isBF16();
  }
  TileBuffer sums;
  if (element != sum) {
    sums = allocate(sum, result.getShape());
    TileBuffer start = convertedTile(op.getC(), sum);
    copyTile(start, sums);
  } else if (auto target = carriedTarget(op)) {
    sums = *target;
    auto known = buffers.find(op.getC());
    if (known == buffers.end() || known->second.base != sums.base)
      storeTile(op.getC(), sums);
  } else {
    sums = allocateFor(op.getD());
    storeTile(op.getC(), sums);
  }
  for (const TileBuffer &used : {lhs, rhs, sums})
    scratch->touch(used, op);
  size_t rank = result.getRank();
  int64_t m = result.getShape()[rank - 2], n = result.getShape()[rank - 1];
  int64_t k = lhs.shape[rank - 1], batches = result.getNumElements() / (m * n);
  llvm::Type *type = memoryType(b.getContext(), sum);
  RegisterTile tile = chooseTile(options.level, m, n, type->getPrimitiveSizeInBits());
  emitLoop(b, b.getInt64(0), b.getInt64(batches), 1, true, [&](Value *batch) {
    auto part = [&](const TileBuffer &whole, int64_t elements) {
      return b.CreateGEP(memoryType(b.getContext(), whole.element), whole.base,
                         b.CreateMul(batch, b.getInt64(elements)));
    };
    if (form != DotForm::MultiplyAdd) {
      GroupedDot dot{part(lhs, m * k),   part(grouped, k * n), part(sums, m * n), m, n, k,
                     operand.isInteger()};
      emitGrouping(b, part(rhs, k * n), dot);
      return form == DotForm::Tiles ? emitTileDot(b, dot) : emitGroupDot(b, dot);
    }
    emitProduct(b, tile, type, part(lhs, m * k), part(rhs, k * n), part(sums, m * n), m, n, k);
  });
  if (element == sum) {
    buffers[op.getD()] = sums;
    return;
  }
  TileBuffer rounded = allocateFor(op.getD());
  NestShape nest = nestOver(result.getShape(), {op.getD()});
  emitNest(nest, {}, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *value = toVector(b, chunk.readBuffer(sums, at), nest.lanes);
    chunk.writeBuffer(rounded, at, LaneValue::vector(narrowFloat(b, value, element)));
  });
  buffers[op.getD()] = rounded;
}

} // namespace pellucid::codegen
