// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/AffineTile.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;
using Found = std::optional<AffineTile>;

static llvm::ArrayRef<int64_t> extentsOf(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape();
}

static unsigned bitsOf(mlir::Value tile) {
  return elementTypeOf(tile.getType()).getIntOrFloatBitWidth();
}

/// Integers whose range is checked below.
static bool isNumber(mlir::Value tile) {
  mlir::Type element = elementTypeOf(tile.getType());
  return element.isInteger(32) || element.isInteger(64);
}

static bool isSame(const AffineTile &tile) {
  return llvm::none_of(tile.steps, [](Value *step) { return step != nullptr; });
}

Found AffineTiles::find(mlir::Value tile) {
  if (auto found = known.find(tile); found != known.end())
    return found->second;
  Found made = compute(tile);
  if (made && isNumber(tile))
    narrow(*made, bitsOf(tile));
  known[tile] = made;
  return made;
}

void AffineTiles::narrow(AffineTile &tile, unsigned bits) {
  if (bits == 64)
    return;
  auto kept = [&](Value *v) { return b.CreateSExt(b.CreateTrunc(v, b.i32()), b.i64()); };
  tile.first = kept(tile.first);
  for (Value *&step : tile.steps)
    if (step)
      step = kept(step);
}

Found AffineTiles::compute(mlir::Value tile) {
  mlir::Operation *op = tile.getDefiningOp();
  size_t rank = extentsOf(tile).size();
  bool isAddress = mlir::isa<tt::PointerType>(elementTypeOf(tile.getType()));
  if (!isAddress && !isNumber(tile))
    return std::nullopt;
  if (auto line = lineOf(tile)) {
    require(line->holds);
    return AffineTile{b.CreateSExt(line->first, b.i64()), {b.getInt64(1)}};
  }
  if (!op || environment.buffer(tile))
    return std::nullopt;
  auto same = [&](Value *first) {
    return AffineTile{first, llvm::SmallVector<Value *, 4>(rank, nullptr)};
  };
  return llvm::TypeSwitch<mlir::Operation *, Found>(op)
      .Case<tt::SplatOp>([&](auto splat) -> Found {
        if (mlir::isa<mlir::RankedTensorType>(splat.getSrc().getType()))
          return std::nullopt;
        Value *value = environment.scalar(splat.getSrc());
        return same(isAddress ? value : b.CreateSExt(value, b.i64()));
      })
      .Case<arith::ConstantOp>([&](auto) -> Found {
        mlir::DenseElementsAttr all;
        if (isAddress || !mlir::matchPattern(tile, mlir::m_Constant(&all)) || !all.isSplat())
          return std::nullopt;
        return same(b.getInt64(all.template getSplatValue<llvm::APInt>().getSExtValue()));
      })
      .Case<tt::MakeRangeOp>([&](auto range) -> Found {
        return AffineTile{b.getInt64(int64_t(range.getFirst())), {b.getInt64(1)}};
      })
      .Case<tt::ExpandDimsOp>([&](auto expand) -> Found {
        Found of = find(expand.getSrc());
        if (of)
          of->steps.insert(of->steps.begin() + expand.getAxis(), nullptr);
        return of;
      })
      .Case<tt::BroadcastOp>([&](auto broadcast) -> Found {
        Found of = find(broadcast.getSrc());
        for (size_t d = 0; of && d < rank; ++d)
          if (extentsOf(broadcast.getSrc())[d] == 1)
            of->steps[d] = nullptr;
        return of;
      })
      .Case<tt::TransOp>([&](auto trans) -> Found {
        Found of = find(trans.getSrc());
        if (!of)
          return of;
        AffineTile turned = same(of->first);
        for (size_t d = 0; d < rank; ++d)
          turned.steps[d] = of->steps[trans.getOrder()[d]];
        return turned;
      })
      .Case<tt::AddPtrOp>([&](auto) { return computeAddress(op); })
      .Default([&](auto) { return isAddress ? Found() : computeArithmetic(op, tile); });
}

Found AffineTiles::computeAddress(mlir::Operation *op) {
  mlir::Value offsets = op->getOperand(1);
  Found pointer = find(op->getOperand(0)), numbers = find(offsets);
  if (!pointer || !numbers)
    return std::nullopt;
  requireInRange(*numbers, offsets);
  auto type = mlir::cast<tt::PointerType>(elementTypeOf(op->getResult(0).getType()));
  Value *bytes = b.getInt64(int64_t(memoryBytes(type.getPointeeType())));
  for (Value *&step : numbers->steps)
    if (step)
      step = b.CreateMul(step, bytes);
  AffineTile moved = plus(AffineTile{b.getInt64(0), pointer->steps}, *numbers, false);
  moved.first = b.CreateGEP(b.i8(), pointer->first, b.CreateMul(numbers->first, bytes));
  return moved;
}

AffineTile AffineTiles::plus(const AffineTile &x, const AffineTile &y, bool negated) {
  auto sum = [&](Value *p, Value *q) -> Value * {
    if (!q)
      return p;
    if (!p)
      return negated ? b.CreateNeg(q) : q;
    return negated ? b.CreateSub(p, q) : b.CreateAdd(p, q);
  };
  AffineTile result{sum(x.first, y.first), {}};
  for (auto [p, q] : llvm::zip_equal(x.steps, y.steps))
    result.steps.push_back(sum(p, q));
  return result;
}

Found AffineTiles::computeProduct(mlir::Operation *op) {
  Found x = find(op->getOperand(0)), y = find(op->getOperand(1));
  if (!x || !y || !(isSame(*x) || isSame(*y)))
    return std::nullopt;
  if (!isSame(*y))
    std::swap(x, y);
  x->first = b.CreateMul(x->first, y->first);
  for (Value *&step : x->steps)
    if (step)
      step = b.CreateMul(step, y->first);
  return x;
}

Found AffineTiles::computeArithmetic(mlir::Operation *op, mlir::Value tile) {
  auto operand = [&](unsigned i) { return find(op->getOperand(i)); };
  return llvm::TypeSwitch<mlir::Operation *, Found>(op)
      .Case<arith::AddIOp, arith::SubIOp>([&](auto) -> Found {
        Found x = operand(0), y = operand(1);
        return x && y ? Found(plus(*x, *y, mlir::isa<arith::SubIOp>(op))) : std::nullopt;
      })
      .Case<arith::MulIOp>([&](auto) { return computeProduct(op); })
      .Case<arith::TruncIOp>([&](auto) { return operand(0); })
      .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto) -> Found {
        Found x = operand(0);
        if (!x)
          return x;
        requireInRange(*x, op->getOperand(0));
        if (mlir::isa<arith::ExtUIOp>(op))
          require(b.CreateICmpSGE(corner(*x, extentsOf(tile), false), b.getInt64(0)));
        return x;
      })
      .Case<arith::SelectOp>([&](auto select) -> Found {
        bool whole = mlir::isa<mlir::RankedTensorType>(select.getCondition().getType());
        return whole && requireTrue(select.getCondition()) ? operand(1) : std::nullopt;
      })
      .Default([](auto) { return std::nullopt; });
}

Value *AffineTiles::corner(const AffineTile &numbers, llvm::ArrayRef<int64_t> shape, bool largest) {
  Value *at = numbers.first, *zero = b.getInt64(0);
  for (auto [step, extent] : llvm::zip_equal(numbers.steps, shape)) {
    if (!step)
      continue;
    Value *whole = b.CreateMul(step, b.getInt64(extent - 1));
    auto pick = largest ? llvm::Intrinsic::smax : llvm::Intrinsic::smin;
    at = b.CreateAdd(at, b.CreateBinaryIntrinsic(pick, whole, zero));
  }
  return at;
}

// First and steps of 32 bits, and extents of tiles, leave 64 bits far behind. Of tiles of 64 bits
// numbers so small are asked for that the same is true.
void AffineTiles::requireInRange(const AffineTile &numbers, mlir::Value tile) {
  auto within = [&](Value *v, int64_t most) {
    require(b.CreateICmpSLE(v, b.getInt64(most)));
    require(b.CreateICmpSGE(v, b.getInt64(-most - 1)));
  };
  if (bitsOf(tile) == 64) {
    constexpr int64_t mostFirst = (int64_t(1) << 60) - 1, mostStep = (int64_t(1) << 36) - 1;
    within(numbers.first, mostFirst);
    for (Value *step : numbers.steps)
      if (step)
        within(step, mostStep);
    return;
  }
  require(b.CreateICmpSGE(corner(numbers, extentsOf(tile), false), b.getInt64(INT32_MIN)));
  require(b.CreateICmpSLE(corner(numbers, extentsOf(tile), true), b.getInt64(INT32_MAX)));
}

bool AffineTiles::requireOrder(mlir::Operation *op) {
  auto compare = mlir::cast<arith::CmpIOp>(op);
  mlir::Value left = compare.getLhs(), right = compare.getRhs();
  if (!isNumber(left))
    return false;
  Found x = find(left), y = find(right);
  if (!x || !y)
    return false;
  requireInRange(*x, left);
  requireInRange(*y, right);
  llvm::ArrayRef<int64_t> shape = extentsOf(left);
  AffineTile difference = plus(*x, *y, true);
  Value *zero = b.getInt64(0);
  auto unsignedToo = [&] {
    for (const AffineTile &side : {*x, *y})
      require(b.CreateICmpSGE(corner(side, shape, false), zero));
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::ult:
    unsignedToo();
    [[fallthrough]];
  case arith::CmpIPredicate::slt:
    require(b.CreateICmpSLT(corner(difference, shape, true), zero));
    return true;
  case arith::CmpIPredicate::ule:
    unsignedToo();
    [[fallthrough]];
  case arith::CmpIPredicate::sle:
    require(b.CreateICmpSLE(corner(difference, shape, true), zero));
    return true;
  case arith::CmpIPredicate::ugt:
    unsignedToo();
    [[fallthrough]];
  case arith::CmpIPredicate::sgt:
    require(b.CreateICmpSGT(corner(difference, shape, false), zero));
    return true;
  case arith::CmpIPredicate::uge:
    unsignedToo();
    [[fallthrough]];
  case arith::CmpIPredicate::sge:
    require(b.CreateICmpSGE(corner(difference, shape, false), zero));
    return true;
  default:
    return false;
  }
}

bool AffineTiles::requireTrue(mlir::Value mask) {
  mlir::Operation *op = mask.getDefiningOp();
  if (!op || environment.buffer(mask))
    return false;
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case<tt::SplatOp>([&](auto splat) {
        if (mlir::isa<mlir::RankedTensorType>(splat.getSrc().getType()))
          return false;
        require(environment.scalar(splat.getSrc()));
        return true;
      })
      .Case<arith::ConstantOp>([&](auto) {
        mlir::DenseElementsAttr all;
        return mlir::matchPattern(mask, mlir::m_Constant(&all)) && all.isSplat() &&
               all.template getSplatValue<llvm::APInt>().isOne();
      })
      .Case<tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp, tt::ReshapeOp>(
          [&](auto shaped) { return requireTrue(shaped.getSrc()); })
      .Case<arith::AndIOp>(
          [&](auto both) { return requireTrue(both.getLhs()) && requireTrue(both.getRhs()); })
      .Case<arith::CmpIOp>([&](auto) { return requireOrder(op); })
      .Default([](auto) { return false; });
}

} // namespace pellucid::codegen
