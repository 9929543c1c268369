// SPDX-License-Identifier: Apache-2.0
// A branch of a loop that only stores a few elements becomes stores under its condition:
//
//   if first: tl.store(p, v)                 tl.store(p, v, first)
//   if empty: tl.store(q, 0)          =>     tl.store(q, tl.where(empty, 0, x))
//   else:     tl.store(q, x)
//
// Rounds without branches are unrolled by the assembler, so that loads of several are under way.
#include "codegen/gpu/Passes.h"
#include "tt/Tt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_FLATTENBRANCHES
#include "codegen/gpu/Passes.h.inc"

namespace {

/// What a round may do in vain; elements of a thread.
constexpr unsigned mostOperations = 24, mostElements = 4;

bool isSmall(Type type, unsigned threads) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return !tile || tile.getNumElements() <= int64_t(mostElements) * threads;
}

/// Costs next to nothing and can be done whatever the condition is.
bool isCheap(Operation *op, unsigned threads) {
  bool known =
      isa<arith::ArithDialect>(op->getDialect()) ||
      isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::AddPtrOp, tt::MakeRangeOp>(op);
  return known && isPure(op) &&
         llvm::all_of(op->getResultTypes(), [&](Type type) { return isSmall(type, threads); });
}

/// The side's stores, where it has nothing else that must not be done in vain.
std::optional<SmallVector<tt::StoreOp>> storesOf(Region &side, unsigned threads) {
  SmallVector<tt::StoreOp> stores;
  if (side.empty())
    return stores;
  for (Operation &op : side.front().without_terminator()) {
    auto store = dyn_cast<tt::StoreOp>(op);
    if (store && isSmall(store.getValue().getType(), threads) && store.getBoundaryCheck().empty())
      stores.push_back(store);
    else if (!isCheap(&op, threads))
      return std::nullopt;
  }
  return stores;
}

bool isSameComputation(Value a, Value b, unsigned depth = 8) {
  if (a == b)
    return true;
  if (!a || !b || depth == 0)
    return false;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one && other && one->getName() == other->getName() && isPure(one) &&
         one->getNumOperands() == other->getNumOperands() && a.getType() == b.getType() &&
         one->getNumResults() == 1 &&
         one->getDiscardableAttrDictionary() == other->getDiscardableAttrDictionary() &&
         one->getPropertiesAsAttribute() == other->getPropertiesAsAttribute() &&
         llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()), [&](auto pair) {
           return isSameComputation(std::get<0>(pair), std::get<1>(pair), depth - 1);
         });
}

bool storeToSamePlaces(tt::StoreOp a, tt::StoreOp b) {
  return a.getCache() == b.getCache() && a.getEvict() == b.getEvict() &&
         isSameComputation(a.getPtr(), b.getPtr()) && isSameComputation(a.getMask(), b.getMask());
}

/// `condition`, for each element of a tile like `like`.
Value spread(OpBuilder &b, Location loc, Value condition, Type like) {
  auto tile = dyn_cast<RankedTensorType>(like);
  if (!tile)
    return condition;
  return tt::SplatOp::create(b, loc, RankedTensorType::get(tile.getShape(), b.getI1Type()),
                             condition);
}

void storeWhere(tt::StoreOp store, Value condition) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Value mask = spread(b, loc, condition, store.getValue().getType());
  if (store.getMask())
    mask = arith::AndIOp::create(b, loc, mask, store.getMask());
  store.getMaskMutable().assign(mask);
}

void flatten(scf::IfOp branch, ArrayRef<tt::StoreOp> then, ArrayRef<tt::StoreOp> otherwise) {
  OpBuilder b(branch);
  Location loc = branch.getLoc();
  Value condition = branch.getCondition();
  auto moveOut = [&](Region &side) {
    if (!side.empty())
      for (Operation &op : llvm::make_early_inc_range(side.front().without_terminator()))
        op.moveBefore(branch);
  };
  moveOut(branch.getThenRegion());
  moveOut(branch.getElseRegion());
  if (then.size() == 1 && otherwise.size() == 1 && storeToSamePlaces(then[0], otherwise[0])) {
    tt::StoreOp store = otherwise[0], other = then[0];
    b.setInsertionPoint(store);
    Value which = spread(b, loc, condition, store.getValue().getType());
    store.getValueMutable().assign(
        arith::SelectOp::create(b, loc, which, other.getValue(), store.getValue()));
    other->erase();
  } else {
    for (tt::StoreOp store : then)
      storeWhere(store, condition);
    if (!otherwise.empty()) {
      b.setInsertionPoint(otherwise[0]);
      Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      Value contrary = arith::XOrIOp::create(b, loc, condition, yes);
      for (tt::StoreOp store : otherwise)
        storeWhere(store, contrary);
    }
  }
  branch->erase();
}

/// Flattened, unless it is none of these.
void flattenIfSmall(scf::IfOp branch, unsigned threads) {
  auto isLong = [](Region &side) {
    return !side.empty() && side.front().getOperations().size() > mostOperations;
  };
  if (branch.getNumResults() != 0 || isLong(branch.getThenRegion()) ||
      isLong(branch.getElseRegion()))
    return;
  auto then = storesOf(branch.getThenRegion(), threads);
  auto otherwise = storesOf(branch.getElseRegion(), threads);
  if (then && otherwise && !(then->empty() && otherwise->empty()))
    flatten(branch, *then, *otherwise);
}

struct FlattenBranches : impl::FlattenBranchesBase<FlattenBranches> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      auto target = function->getAttrOfType<TargetAttr>(targetName);
      if (!target)
        continue;
      SmallVector<scf::IfOp> branches;
      // Inner ones first: what is left of them may go with the outer one.
      function.walk<WalkOrder::PostOrder>([&](scf::IfOp branch) {
        if (branch->getParentOfType<LoopLikeOpInterface>())
          branches.push_back(branch);
      });
      for (scf::IfOp branch : branches)
        flattenIfSmall(branch, target.getWarps() * 32);
    }
  }
};

} // namespace
} // namespace pellucid::ttgpu
