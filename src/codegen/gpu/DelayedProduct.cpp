// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/DelayedProduct.h"

#include "codegen/gpu/LoopProducts.h"
#include "codegen/gpu/MatrixUnits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pellucid::ttgpu {

bool mayStartLate(tt::DotOp last, tt::DotOp first, Value sums) {
  Operation *user = firstUser(sums, first->getBlock());
  Operation *left = last.getA().getDefiningOp();
  return first->isBeforeInBlock(last) && (!user || first->isBeforeInBlock(user)) && left &&
         left->getBlock() == first->getBlock();
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
    return tt::TransOp::create(b, trans.getLoc(), trans.getType(),
                               ofCopy(b, trans.getSrc(), copy), trans.getOrderAttr());
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
  OpBuilder b(loop.getContext());
  b.setInsertionPointAfter(first);
  tt::DotOp made = productOf(b, last, left, ofCopy(b, last.getB(), copy), sums);
  made->setAttr(runsName, b.getUnitAttr());
  for (Operation *user : first.getD().getUsers())
    if (auto await = dyn_cast<AwaitProductsOp>(user))
      await.setPendingAttr(b.getI32IntegerAttr(1));
  Operation *user = nullptr;
  for (OpOperand &use : sums.getUses())
    if (Operation *in = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
        in != made && (!user || in->isBeforeInBlock(user)))
      user = in;
  b.setInsertionPoint(user ? user : yield);
  auto awaited = AwaitProductsOp::create(b, made.getLoc(), sums.getType(), made.getD(),
                                         b.getI32IntegerAttr(0));
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
