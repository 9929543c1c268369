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

Value *convertOperand(CodeBuilder &b, Value *value, mlir::Type from, mlir::Type to) {
  if (mlir::isa<mlir::FloatType>(from))
    return narrowFloat(b, widenFloat(b, value, from), to);
  return b.CreateSExtOrTrunc(value, typeLike(value, registerType(b.getContext(), to)));
}

namespace {

/// What sums are kept in.
mlir::Type sumType(mlir::Type result) {
  return isNarrowFloat(result) ? mlir::Type(mlir::Float32Type::get(result.getContext())) : result;
}

/// The part of the result held in registers: `rows` x `vectors` vectors of `lanes`.
struct RegisterTile {
  int64_t rows, vectors, lanes;
};

RegisterTile chooseTile(CpuLevel level, int64_t m, int64_t n, llvm::Type *type) {
  unsigned bits = type->getPrimitiveSizeInBits();
  bool integers = type->isIntegerTy();
  bool wide = hasAvx512(level);
  int64_t native = (wide ? 512 : 256) / bits;
  RegisterTile tile;
  tile.lanes = std::min(native, n & -n);
  tile.vectors = std::min<int64_t>(wide ? 4 : 2, n / tile.lanes);
  while (n % (tile.vectors * tile.lanes))
    --tile.vectors;
  // A product of integers has a register of its own before it is added.
  tile.rows = std::min<int64_t>((wide ? 24 : integers ? 8 : 12) / tile.vectors, m);
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

/// d[m, n] += a[m, k] * b[k, n]; b and d dense, a's rows so. With `isFirst` d is not read before.
struct DenseProduct {
  llvm::Type *type;
  Value *lhs, *lhsRowBytes, *rhs, *sums;
  int64_t m, n, k;
  bool isFirst;
};

/// `rows` from `row` on, of the tile's columns from `column` on.
void emitRegisterTile(CodeBuilder &b, const DenseProduct &of, int64_t rows, int64_t vectors,
                      int64_t lanes, Value *row, Value *column) {
  llvm::Type *vector = lanesOf(of.type, lanes);
  llvm::Align align(of.type->getPrimitiveSizeInBits().getFixedValue() / 8);
  auto at = [&](Value *base, Value *line, int64_t more, int64_t columnOffset) {
    Value *index = b.CreateAdd(b.CreateMul(b.CreateAdd(line, b.getInt64(more)), b.getInt64(of.n)),
                               b.CreateAdd(column, b.getInt64(columnOffset)));
    return b.CreateGEP(of.type, base, index);
  };
  llvm::SmallVector<llvm::AllocaInst *> registers;
  llvm::SmallVector<Value *> left;
  for (int64_t i = 0; i < rows * vectors; ++i)
    registers.push_back(emitVariable(b, vector));
  for (int64_t r = 0; r < rows; ++r)
    left.push_back(
        b.CreateGEP(b.i8(), of.lhs, b.CreateMul(b.CreateAdd(row, b.getInt64(r)), of.lhsRowBytes)));
  auto forTile = [&](auto body) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        body(registers[r * vectors + v], at(of.sums, row, r, v * lanes));
  };
  forTile([&](llvm::AllocaInst *held, Value *address) {
    Value *zero = llvm::Constant::getNullValue(vector);
    b.CreateStore(of.isFirst ? zero : b.CreateAlignedLoad(vector, address, align), held);
  });
  emitLoop(b, b.getInt64(0), b.getInt64(of.k), 1, true, [&](Value *inner) {
    llvm::SmallVector<Value *> right;
    for (int64_t v = 0; v < vectors; ++v)
      right.push_back(b.CreateAlignedLoad(vector, at(of.rhs, inner, 0, v * lanes), align));
    for (int64_t r = 0; r < rows; ++r) {
      Value *scalar = b.CreateAlignedLoad(of.type, b.CreateGEP(of.type, left[r], inner), align);
      scalar = splatTo(b, scalar, lanes);
      for (int64_t v = 0; v < vectors; ++v) {
        llvm::AllocaInst *held = registers[r * vectors + v];
        b.CreateStore(multiplyAdd(b, scalar, right[v], b.CreateLoad(vector, held)), held);
      }
    }
  });
  forTile([&](llvm::AllocaInst *held, Value *address) {
    b.CreateAlignedStore(b.CreateLoad(vector, held), address, align);
  });
}

/// The last rows have a tile of their own where they are fewer than one has.
void emitProduct(CodeBuilder &b, const RegisterTile &tile, const DenseProduct &of) {
  int64_t whole = of.m / tile.rows * tile.rows;
  emitLoop(b, b.getInt64(0), b.getInt64(of.n), tile.vectors * tile.lanes, true, [&](Value *column) {
    emitLoop(b, b.getInt64(0), b.getInt64(whole), tile.rows, true, [&](Value *row) {
      emitRegisterTile(b, of, tile.rows, tile.vectors, tile.lanes, row, column);
    });
    if (whole < of.m)
      emitRegisterTile(b, of, of.m - whole, tile.vectors, tile.lanes, b.getInt64(whole), column);
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
  convertTile(tile, area);
  return area;
}

void KernelEmitter::convertTile(mlir::Value tile, const TileBuffer &into) {
  mlir::RankedTensorType type = tileType(tile);
  withRamps(tile, [&] {
    emitNest(nestOver(type.getShape(), {tile}), {tile}, {},
             [&](LaneEvaluator &chunk, IndexMapId at) {
               Value *value = chunk.evaluateVector(tile, at);
               Value *converted = convertOperand(b, value, type.getElementType(), into.element);
               chunk.writeBuffer(into, at, LaneValue::vector(converted));
             });
  });
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

/// Memory with what the products of `op`, of tiles that lie at `operands`, are added to.
TileBuffer KernelEmitter::startSums(tt::DotOp op, llvm::ArrayRef<Value *> operands) {
  mlir::RankedTensorType result = tileType(op.getD());
  mlir::Type sum = sumType(result.getElementType());
  bool isFirst = isZero(op.getC());
  TileBuffer sums;
  if (result.getElementType() != sum) {
    sums = allocate(sum, result.getShape());
    if (!isFirst)
      copyTile(convertedTile(op.getC(), sum), sums);
  } else if (auto target = isFirst ? std::nullopt : carriedTarget(op);
             target && !llvm::is_contained(operands, target->base)) {
    sums = *target;
    auto known = buffers.find(op.getC());
    if (known == buffers.end() || known->second.base != sums.base)
      storeTile(op.getC(), sums);
  } else {
    sums = allocateFor(op.getD());
    if (!isFirst)
      storeTile(op.getC(), sums);
  }
  scratch->touch(sums, op);
  return sums;
}

/// B in groups: from what is loaded, by rows or by columns, or from scratch memory.
void KernelEmitter::groupOperand(mlir::Value tile, mlir::Value turned, const GroupedDot &dot) {
  mlir::Type element = tileType(tile).getElementType();
  if (turned) {
    MatrixRows columns = operandRows(turned, element, /*inPlace=*/true);
    return emitTurnedGrouping(b, columns.base, columns.rowBytes, dot);
  }
  auto emitRows = [&] {
    MatrixRows rows = operandRows(tile, element, /*inPlace=*/true);
    emitGrouping(b, rows.base, rows.rowBytes, dot);
  };
  bool fits = dot.n % turnedUnit == 0 && dot.k % (turnedUnit * dot.group()) == 0;
  auto block = fits && !roundsForDots(tile) ? loadedBlock(tile) : std::nullopt;
  if (!block)
    return emitRows();
  prepareForBranch(tile);
  emitSides(block->hasDenseColumns, [&](unsigned side) {
    if (side == 1)
      return emitRows();
    emitTurnedGrouping(b, block->columns.base, block->columns.rowBytes, dot);
  });
}

/// Of tiles of two dims. Operands are evaluated before the sums begin, which may take the place of
/// what they are evaluated from.
TileBuffer KernelEmitter::emitMatrixDot(tt::DotOp op, DotForm form, mlir::Type operand) {
  llvm::ArrayRef<int64_t> left = tileType(op.getA()).getShape();
  int64_t m = left[0], k = left[1], n = tileType(op.getB()).getShape()[1];
  bool isFirst = isZero(op.getC());
  MatrixRows lhs = operandRows(op.getA(), operand, /*inPlace=*/true);
  if (form == DotForm::MultiplyAdd) {
    MatrixRows rhs = operandRows(op.getB(), operand, /*inPlace=*/false);
    TileBuffer sums = startSums(op, {lhs.base, rhs.base});
    llvm::Type *type = memoryType(b.getContext(), sums.element);
    RegisterTile tile = chooseTile(options.level, m, n, type);
    emitProduct(b, tile, {type, lhs.base, lhs.rowBytes, rhs.base, sums.base, m, n, k, isFirst});
    return sums;
  }
  TileBuffer grouped = allocate(operand, tileType(op.getB()).getShape());
  scratch->touch(grouped, op);
  bool integers = operand.isInteger();
  GroupedDot dot{lhs.base, lhs.rowBytes, grouped.base, nullptr, m, n, k, integers, isFirst};
  groupOperand(op.getB(), turnedOperand(op, form), dot);
  TileBuffer sums = startSums(op, {lhs.base});
  dot.sums = sums.base;
  form == DotForm::Tiles ? emitTileDot(b, dot) : emitGroupDot(b, dot);
  return sums;
}

/// Of stacks of matrices, in scratch memory.
TileBuffer KernelEmitter::emitStackedDot(tt::DotOp op, DotForm form, mlir::Type operand) {
  TileBuffer lhs = convertedTile(op.getA(), operand), rhs = convertedTile(op.getB(), operand);
  TileBuffer grouped, sums = startSums(op, {lhs.base, rhs.base});
  if (form != DotForm::MultiplyAdd) {
    grouped = allocate(operand, tileType(op.getB()).getShape());
    scratch->touch(grouped, op);
  }
  for (const TileBuffer &used : {lhs, rhs})
    scratch->touch(used, op);
  mlir::RankedTensorType result = tileType(op.getD());
  size_t rank = result.getRank();
  int64_t m = result.getShape()[rank - 2], n = result.getShape()[rank - 1];
  int64_t k = lhs.shape[rank - 1], batches = result.getNumElements() / (m * n);
  bool isFirst = isZero(op.getC()), integers = operand.isInteger();
  llvm::Type *type = memoryType(b.getContext(), sums.element);
  RegisterTile tile = chooseTile(options.level, m, n, type);
  Value *lhsBytes = b.getInt64(k * int64_t(memoryBytes(operand)));
  Value *rhsBytes = b.getInt64(n * int64_t(memoryBytes(operand)));
  emitLoop(b, b.getInt64(0), b.getInt64(batches), 1, true, [&](Value *batch) {
    auto part = [&](const TileBuffer &whole, int64_t elements) {
      return b.CreateGEP(memoryType(b.getContext(), whole.element), whole.base,
                         b.CreateMul(batch, b.getInt64(elements)));
    };
    Value *left = part(lhs, m * k), *right = part(rhs, k * n), *into = part(sums, m * n);
    if (form == DotForm::MultiplyAdd)
      return emitProduct(b, tile, {type, left, lhsBytes, right, into, m, n, k, isFirst});
    GroupedDot dot{left, lhsBytes, part(grouped, k * n), into, m, n, k, integers, isFirst};
    emitGrouping(b, right, rhsBytes, dot);
    form == DotForm::Tiles ? emitTileDot(b, dot) : emitGroupDot(b, dot);
  });
  return sums;
}

void KernelEmitter::emitDot(tt::DotOp op) {
  mlir::RankedTensorType result = tileType(op.getD());
  mlir::Type element = result.getElementType(), sum = sumType(element);
  DotForm form = dotFormOf(op, options.level);
  mlir::Type operand = form == DotForm::MultiplyAdd ? sum : tileType(op.getA()).getElementType();
  object.productUnits |= form != DotForm::MultiplyAdd && operand.isBF16();
  TileBuffer sums =
      result.getRank() == 2 ? emitMatrixDot(op, form, operand) : emitStackedDot(op, form, operand);
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
