// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/DelayedProduct.h"

#include "codegen/common/ElementOps.h"
#include "codegen/gpu/LoopProducts.h"
#include "codegen/gpu/MatrixUnits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pellucid::ttgpu {

Value sumOfLeft(tt::DotOp last) {
  Operation *narrowed = last.getA().getDefiningOp();
  if (!isa_and_present<arith::TruncFOp, tt::FpToFpOp>(narrowed) || !narrowed->hasOneUse())
    return {};
  for (Operation *user : narrowed->getOperand(0).getUsers())
    if (auto reduce = dyn_cast<tt::ReduceOp>(user);
        reduce && reduce->getNumResults() == 1 && reduce->getBlock() == last->getBlock() &&
        isa<RankedTensorType>(reduce->getResult(0).getType()) &&
        codegen::elementTypeOf(reduce->getResult(0).getType()).isF32())
      return reduce->getResult(0);
  return {};
}

/// What the round computes of the sums; nullopt where something else reads them.
static std::optional<SmallVector<Operation *>> computedOf(Value sums, tt::DotOp last) {
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> next{sums};
  while (!next.empty())
    for (Operation *user : next.pop_back_val().getUsers()) {
      if (user == last)
        continue;
      if (user->getBlock() != last->getBlock() || !onlyComputes(user))
        return std::nullopt;
      if (found.insert(user))
        next.append(user->result_begin(), user->result_end());
    }
  SmallVector<Operation *> ordered(found.begin(), found.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

bool mayStartLate(tt::DotOp last, tt::DotOp first, Value sums) {
  return first->isBeforeInBlock(last) && first->getBlock() == last->getBlock() && sumOfLeft(last) &&
         computedOf(sums, last);
}

Value zerosLike(OpBuilder &b, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return arith::ConstantOp::create(b, tile.getLoc(), b.getZeroAttr(type));
}

void shareZeros(OpBuilder &b, Value buffer) {
  RankedTensorType tile = cast<BufferType>(buffer.getType()).getTile();
  Value zeros = arith::ConstantOp::create(b, buffer.getLoc(), b.getZeroAttr(tile));
  ShareOp::create(b, buffer.getLoc(), zeros, buffer);
}

/// `operand` is read from a buffer, behind transpositions; the same of another copy.
static Value ofCopy(OpBuilder &b, Value operand, Value copy) {
  if (auto trans = operand.getDefiningOp<tt::TransOp>())
    return tt::TransOp::create(b, trans.getLoc(), trans.getType(), ofCopy(b, trans.getSrc(), copy),
                               trans.getOrderAttr());
  auto read = operand.getDefiningOp<ReadSharedOp>();
  return ReadSharedOp::create(b, read.getLoc(), read.getTile().getType(), read.getBuffer(), copy);
}

/// `dot` of other operands.
static tt::DotOp productOf(OpBuilder &b, tt::DotOp dot, Value left, Value right, Value sums) {
  auto made = cast<tt::DotOp>(b.clone(*dot));
  made.getAMutable().assign(left);
  made.getBMutable().assign(right);
  made.getCMutable().assign(sums);
  return made;
}

DelayedProduct delayLast(scf::ForOp loop, tt::DotOp first, DelayedProduct carried) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto last = yield->getOperand(carried.sums).getDefiningOp<tt::DotOp>();
  Value sums = loop.getRegionIterArg(carried.sums), left = loop.getRegionIterArg(carried.left),
        copy = loop.getRegionIterArg(carried.left + 1);
  SmallVector<Operation *> scaled = *computedOf(sums, last);
  OpBuilder b(loop.getContext());
  b.setInsertionPointAfter(first);
  tt::DotOp made = productOf(b, last, left, ofCopy(b, last.getB(), copy), sums);
  made->setAttr(runsName, b.getUnitAttr());
  for (Operation *user : first.getD().getUsers())
    if (auto await = dyn_cast<AwaitProductsOp>(user))
      await.setPendingAttr(b.getI32IntegerAttr(1));
  // Last in the round, behind what is added up of the product that is awaited first.
  b.setInsertionPoint(yield);
  auto share = ShareOp::create(b, made.getLoc(), carried.sum, carried.buffer);
  share->setAttr(inOrderName, b.getUnitAttr());
  auto awaited = AwaitProductsOp::create(b, made.getLoc(), sums.getType(), made.getD(),
                                         b.getI32IntegerAttr(0));
  for (Operation *op : scaled)
    op->moveBefore(yield);
  sums.replaceUsesWithIf(awaited, [&](OpOperand &use) { return use.getOwner() != made; });
  yield->setOperand(carried.sums, last.getC());
  last.erase();
  carried.product = made;
  return carried;
}

void makeLast(OpBuilder &b, const DelayedProduct &delayed, scf::ForOp loop) {
  tt::DotOp product = delayed.product;
  Value sums = loop.getResult(delayed.sums);
  Value right = ofCopy(b, product.getB(), loop.getResult(delayed.left + 1));
  tt::DotOp made = productOf(b, product, loop.getResult(delayed.left), right, sums);
  made->removeAttr(runsName);
  sums.replaceAllUsesExcept(made.getD(), made);
}

} // namespace pellucid::ttgpu
