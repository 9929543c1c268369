// SPDX-License-Identifier: Apache-2.0
// tl.dot: operands in scratch memory in the type that is computed in, row-major; a register tile of
// the result runs over the inner dimension in ascending order.
#include "codegen/cpu/DotUnits.h"
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <numeric>

namespace pellucid::codegen {

using llvm::Value;

namespace {

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

/// A product that is added to it is the sum.
bool isZero(mlir::Value tile) {
  mlir::DenseElementsAttr all;
  if (!mlir::matchPattern(tile, mlir::m_Constant(&all)) || !all.isSplat())
    return false;
  if (mlir::isa<mlir::FloatType>(all.getElementType()))
    return all.getSplatValue<llvm::APFloat>().isPosZero();
  return all.getSplatValue<llvm::APInt>().isZero();
}

/// One matrix product, everything dense: d[m, n] += a[m, k] * b[k, n]; with `isFirst` d is not read
/// before.
void emitProduct(CodeBuilder &b, const RegisterTile &tile, llvm::Type *type, Value *lhs, Value *rhs,
                 Value *sums, int64_t m, int64_t n, int64_t k, bool isFirst) {
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
        Value *zero = llvm::Constant::getNullValue(vector);
        b.CreateStore(isFirst ? zero : b.CreateAlignedLoad(vector, address, align), held);
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
  if (type.getElementType() == element && roundsForDots(tile))
    return roundedTile(tile);
  if (type.getElementType() == element)
    return ensureBuffer(tile);
  TileBuffer area = allocate(element, type.getShape());
  withRamps(tile, [&] {
    emitNest(nestOver(type.getShape(), {tile}), {tile}, {},
             [&](LaneEvaluator &chunk, IndexMapId at) {
               Value *value = chunk.evaluateVector(tile, at);
               Value *converted = convertOperand(b, value, type.getElementType(), element);
               chunk.writeBuffer(area, at, LaneValue::vector(converted));
             });
  });
  return area;
}

/// What `op` multiplies by the transpose of, if groups of it are made of that at once.
mlir::Value KernelEmitter::turnedOperand(tt::DotOp op, DotForm form) {
  auto turn = op.getB().getDefiningOp<tt::TransOp>();
  if (form == DotForm::MultiplyAdd || !turn || buffers.contains(op.getB()) ||
      tileType(op.getB()).getRank() != 2)
    return {};
  llvm::ArrayRef<int64_t> shape = tileType(op.getB()).getShape();
  int64_t group = tileType(op.getB()).getElementType().isInteger() ? 4 : 2;
  bool fits = shape[0] % (turnedUnit * group) == 0 && shape[1] % turnedUnit == 0;
  return fits && turn.getOrder()[0] == 1 ? turn->getOperand(0) : mlir::Value();
}

/// A rounding to bf16 of what nothing but products read, on a level whose products take subnormals
/// for zero, as its instruction for roundings does.
bool KernelEmitter::roundsForDots(mlir::Value tile) {
  auto op = tile.getDefiningOp<mlir::arith::TruncFOp>();
  if (!op || op.getRoundingmodeAttr() || !hasPairProducts(options.level) ||
      buffers.contains(tile) || !tileType(tile).getElementType().isBF16() ||
      tileType(tile).getShape().back() % 16 != 0)
    return false;
  mlir::Value from = op.getIn();
  return tileType(from).getElementType().isF32() &&
         llvm::all_of(tile.getUsers(),
                      [](mlir::Operation *user) { return mlir::isa<tt::DotOp>(user); });
}

TileBuffer KernelEmitter::roundedTile(mlir::Value tile) {
  mlir::Value from = tile.getDefiningOp()->getOperand(0);
  mlir::RankedTensorType type = tileType(tile);
  TileBuffer area = allocate(type.getElementType(), type.getShape());
  NestShape nest = nestOver(type.getShape(), {from});
  emitNest(nest, {from}, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *value = chunk.evaluateVector(from, at), *rounded = nullptr;
    unsigned lanes = laneCount(value);
    if (lanes % 16 != 0) {
      rounded = narrowFloat(b, value, type.getElementType());
    } else {
      llvm::SmallVector<Value *> parts;
      for (unsigned first = 0; first < lanes; first += 16) {
        llvm::SmallVector<int> some(16);
        std::iota(some.begin(), some.end(), int(first));
        Value *part = lanes == 16 ? value : b.CreateShuffleVector(value, some);
        part = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {part});
        parts.push_back(b.CreateBitCast(part, lanesOf(b.getInt16Ty(), 16)));
      }
      rounded = llvm::concatenateVectors(b, parts);
    }
    chunk.writeBuffer(area, at, LaneValue::vector(rounded));
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
  mlir::Value turned = turnedOperand(op, form);
  TileBuffer lhs = convertedTile(op.getA(), operand),
             rhs = convertedTile(turned ? turned : op.getB(), operand);
  TileBuffer grouped;
  if (form != DotForm::MultiplyAdd) {
    grouped = allocate(operand, tileType(op.getB()).getShape());
    scratch->touch(grouped, op);
    object.productUnits |= operand.isBF16();
  }
  TileBuffer sums;
  bool isFirst = isZero(op.getC());
  if (isFirst) {
    sums = element != sum ? allocate(sum, result.getShape()) : allocateFor(op.getD());
  } else if (element != sum) {
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
      GroupedDot dot{
          part(lhs, m * k), part(grouped, k * n), part(sums, m * n), m, n, k, operand.isInteger(),
          isFirst};
      turned ? emitTurnedGrouping(b, rhs.base, dot) : emitGrouping(b, part(rhs, k * n), dot);
      return form == DotForm::Tiles ? emitTileDot(b, dot) : emitGroupDot(b, dot);
    }
    emitProduct(b, tile, type, part(lhs, m * k), part(rhs, k * n), part(sums, m * n), m, n, k,
                isFirst);
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
