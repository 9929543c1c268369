// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/PlanTiles.h"

#include "codegen/common/ElementOps.h"
#include "tt/SeparateMemory.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pellucid::codegen {

namespace {

bool isTile(mlir::Value value) { return mlir::isa<mlir::RankedTensorType>(value.getType()); }

bool isShapeOp(mlir::Operation *op) {
  return mlir::isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp,
                   tt::ReshapeOp, tt::SplitOp, tt::JoinOp, mlir::arith::ConstantOp,
                   mlir::ub::PoisonOp>(op);
}

bool isBarrier(mlir::Operation *op) { return mlir::isa<tt::BarrierOp>(op); }

/// The pointer argument that an address starts from; null when it cannot be seen.
mlir::Value rootPointer(mlir::Value pointer) {
  while (mlir::Operation *op = pointer.getDefiningOp()) {
    if (!mlir::isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::BitcastOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  auto argument = mlir::cast<mlir::BlockArgument>(pointer);
  return mlir::isa<tt::FuncOp>(argument.getOwner()->getParentOp()) ? pointer : mlir::Value();
}

/// An argument whose memory no other argument reaches.
bool isSeparate(mlir::Value pointer) {
  auto argument = mlir::cast<mlir::BlockArgument>(pointer);
  auto kernel = mlir::cast<tt::FuncOp>(argument.getOwner()->getParentOp());
  return kernel.getArgAttr(argument.getArgNumber(), tt::separateMemory) != nullptr;
}

/// Whether `op` may change what `load` reads.
bool mayWrite(mlir::Operation *op, tt::LoadOp load) {
  if (auto store = mlir::dyn_cast<tt::StoreOp>(op)) {
    mlir::Value target = rootPointer(store.getPtr()), from = rootPointer(load.getPtr());
    return !target || !from || target == from || !isSeparate(target);
  }
  if (mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) || isBarrier(op))
    return true;
  for (mlir::Region &region : op->getRegions())
    for (mlir::Block &block : region)
      for (mlir::Operation &inner : block)
        if (mayWrite(&inner, load))
          return true;
  return false;
}

/// True when two tiles of pointers differ in nothing but the scalar they start from.
bool sameOffsets(mlir::Value a, mlir::Value b) {
  if (a == b)
    return true;
  mlir::Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName())
    return false;
  if (mlir::isa<tt::SplatOp>(x))
    return mlir::cast<mlir::RankedTensorType>(a.getType()).getShape() ==
           mlir::cast<mlir::RankedTensorType>(b.getType()).getShape();
  if (mlir::isa<tt::AddPtrOp>(x))
    return x->getOperand(1) == y->getOperand(1) && sameOffsets(x->getOperand(0), y->getOperand(0));
  if (mlir::isa<tt::BroadcastOp, tt::ExpandDimsOp>(x))
    return x->getAttrDictionary() == y->getAttrDictionary() &&
           mlir::cast<mlir::RankedTensorType>(a.getType()).getShape() ==
               mlir::cast<mlir::RankedTensorType>(b.getType()).getShape() &&
           sameOffsets(x->getOperand(0), y->getOperand(0));
  return false;
}

/// True when `store` may evaluate `load` element by element while it writes: an element it has
/// written is not loaded afterwards. Two arguments are taken to be the same memory from the same
/// first element, or disjoint, where their offsets agree; overlapping otherwise races between
/// programs as well.
bool mayLoadWhileStoring(tt::LoadOp load, tt::StoreOp store) {
  mlir::Value from = load.getPtr(), to = store.getPtr();
  if (from == to)
    return true;
  mlir::Value root = rootPointer(from), target = rootPointer(to);
  return root && target && root != target && sameOffsets(from, to);
}

/// True when every lazy use of `value` works element by element, at the same place.
bool staysInPlace(mlir::Value value, llvm::DenseSet<mlir::Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  for (mlir::Operation *user : value.getUsers()) {
    if (!isLazyTileOp(user))
      continue;
    if (!isElementOp(user) && !mlir::isa<tt::MapElementwiseOp>(user))
      return false;
    for (mlir::Value result : user->getResults())
      if (!staysInPlace(result, seen))
        return false;
  }
  return true;
}

class Planner {
public:
  TilePlan plan;

  void run(mlir::Region &region) {
    for (mlir::Block &block : region)
      run(block);
  }

private:
  /// What one nest may compute, in vector operations. LLVM's register allocation is quadratic in
  /// the length of a basic block; no hand-written statement comes near this.
  static constexpr unsigned mostNestWork = 1024;

  /// About how many vector operations one element takes.
  static unsigned workOf(mlir::Operation *op) { return isExpensiveElementOp(op) ? 24 : 1; }

  /// Numbers the sections that a long block is cut into: tiles that are used beyond the section
  /// they are made in lie in scratch memory, so that no nest reaches over a cut.
  void noteSection(mlir::Operation &op) {
    if (!isLazyTileOp(&op))
      return;
    section += (sectionWork + workOf(&op) > mostNestWork);
    sectionWork =
        sectionWork + workOf(&op) > mostNestWork ? workOf(&op) : sectionWork + workOf(&op);
    sections[&op] = section;
  }

  bool isUsedBeyondSection(mlir::Operation &op, mlir::Value value) {
    return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
      auto other = sections.find(user);
      return other != sections.end() && other->second != sections.lookup(&op);
    });
  }

  void run(mlir::Block &block) {
    for (mlir::Operation &op : block) {
      noteCheap(op);
      noteSection(op);
      if (!mlir::isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op))
        for (mlir::Region &region : op.getRegions())
          run(region);
    }
    for (mlir::Operation &op : llvm::reverse(block))
      if (isLazyTileOp(&op))
        for (mlir::Value result : op.getResults())
          if (isTile(result)) {
            noteViews(result);
            plan.placement[result] = place(op, result);
          }
  }

  /// A lane asks for an element of a tile by way of the shapes between: exchanging two neighbours
  /// asks for both. Where each step of a network asks for the one before by two ways, the first is
  /// asked for by a power of two of them, so a tile that is asked for by many lies in memory.
  static constexpr size_t mostViews = 4, mostViewsOfCheap = 64;
  using Views = llvm::SmallSetVector<size_t, 4>;

  void noteViews(mlir::Value value) {
    Views &of = views[value];
    for (mlir::Operation *user : value.getUsers())
      for (mlir::Value result : user->getResults())
        addViews(of, *user, value, result);
    if (of.empty())
      of.insert(0);
  }

  void addViews(Views &of, mlir::Operation &user, mlir::Value value, mlir::Value result) {
    Views through;
    if (isLazyTileOp(&user) && plan.lookup(result) == TilePlacement::Lazy)
      if (auto found = views.find(result); found != views.end())
        through = found->second;
    if (through.empty())
      through.insert(0);
    for (size_t view : through)
      if (of.size() <= mostViewsOfCheap)
        of.insert(viewThrough(user, value, result, view));
  }

  /// A number for the way to `value` from where `view` of `result` is asked for.
  static size_t viewThrough(mlir::Operation &user, mlir::Value value, mlir::Value result,
                            size_t view) {
    auto after = [&](auto... step) {
      return size_t(llvm::hash_combine(view, user.getName().getAsOpaquePointer(), step...));
    };
    return llvm::TypeSwitch<mlir::Operation *, size_t>(&user)
        .Case([&](tt::TransOp trans) { return after(llvm::hash_combine_range(trans.getOrder())); })
        .Case([&](tt::ReshapeOp) {
          return after(value.getType().getAsOpaquePointer(), result.getType().getAsOpaquePointer());
        })
        .Case([&](tt::SplitOp split) { return after(result == split.getOutRHS()); })
        .Case([&](tt::JoinOp join) { return after(value == join.getRhs()); })
        .Default([&](mlir::Operation *) { return view; });
  }

  /// Whether the way through the shapes, not the arithmetic, makes the tile worth its memory.
  bool hasManyViews(mlir::Operation &op, mlir::Value value) {
    size_t most = costly.contains(value) ? mostViews : mostViewsOfCheap;
    return (isElementOp(&op) || mlir::isa<tt::JoinOp>(op)) && views[value].size() > most;
  }

  /// Cheap: made of indices, scalars and tiles already in scratch by simple arithmetic.
  void noteCheap(mlir::Operation &op) {
    bool lazy = isLazyTileOp(&op);
    bool simple = lazy && !mlir::isa<tt::LoadOp, tt::GatherOp, tt::MapElementwiseOp>(op) &&
                  !isExpensiveElementOp(&op);
    // Work that is done again at every use adds up along a chain.
    unsigned depth = 1;
    bool ofCheap = llvm::all_of(op.getOperands(), [&](mlir::Value v) {
      depth = std::max(depth, cheapDepth.lookup(v) + 1);
      return !isTile(v) || !costly.contains(v);
    });
    // What is in scratch memory is read, not computed again.
    if (ofCheap && isLikelyRamp(op)) {
      plan.likelyRamps.insert(op.getResult(0));
      cheapDepth[op.getResult(0)] = 1;
      return;
    }
    bool cheap = !lazy || (simple && ofCheap && depth <= mostCheapDepth);
    for (mlir::Value result : op.getResults())
      if (!cheap)
        costly.insert(result);
      else if (lazy)
        cheapDepth[result] = depth;
  }

  /// Indices that are kept in range, of one dim of a tile that has two.
  static bool isLikelyRamp(mlir::Operation &op) {
    constexpr int64_t shortest = 8, longest = 1024;
    if (!mlir::isa<mlir::arith::RemSIOp, mlir::arith::RemUIOp, mlir::arith::SelectOp,
                   mlir::arith::MinSIOp, mlir::arith::MinUIOp>(op) ||
        !isTile(op.getResult(0)))
      return false;
    auto type = mlir::cast<mlir::RankedTensorType>(op.getResult(0).getType());
    return type.getRank() == 1 && type.getNumElements() >= shortest &&
           type.getNumElements() <= longest && type.getElementType().isInteger() &&
           type.getElementTypeBitWidth() >= 32 &&
           llvm::any_of(op.getResult(0).getUsers(),
                        [](mlir::Operation *user) { return mlir::isa<tt::ExpandDimsOp>(user); });
  }

  TilePlacement place(mlir::Operation &op, mlir::Value value) {
    if (plan.likelyRamps.contains(value))
      return TilePlacement::AtDefinition;
    bool manyViews = hasManyViews(op, value);
    if (!costly.contains(value) && !manyViews)
      return TilePlacement::Lazy;
    auto points = evaluationPoints(value, plan);
    if (points.empty())
      return TilePlacement::Lazy;
    plan.firstUse[value] = points.front();
    for (mlir::Operation *user : value.getUsers())
      if (user->getBlock() != op.getBlock() || isWidened(user, value))
        return TilePlacement::AtDefinition;
    if (isUsedBeyondSection(op, value))
      return TilePlacement::AtDefinition;
    TilePlacement placement = TilePlacement::Lazy;
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      placement = placeLoad(load, points);
    bool isRepeated = points.size() > 1 &&
                      (isExpensive(op) || (isElementOp(&op) && points.size() > repeatsOfCheap));
    if (placement == TilePlacement::Lazy && (isRepeated || manyViews))
      placement = TilePlacement::AtFirstUse;
    return placement;
  }

  /// How many statements evaluate cheap arithmetic on their own. Every step of a sort uses the one
  /// before twice: without a limit each would start from the beginning.
  static constexpr size_t repeatsOfCheap = 3;

  bool isExpensive(mlir::Operation &op) {
    return isExpensiveElementOp(&op) || mlir::isa<tt::GatherOp, tt::MapElementwiseOp>(op);
  }

  /// Evaluated again for every element it is repeated to.
  static bool isWidened(mlir::Operation *user, mlir::Value value) {
    auto broadcast = mlir::dyn_cast<tt::BroadcastOp>(user);
    return broadcast && mlir::cast<mlir::RankedTensorType>(value.getType()).getNumElements() > 1;
  }

  TilePlacement placeLoad(tt::LoadOp load, llvm::ArrayRef<mlir::Operation *> points) {
    if (load.getIsVolatile() || !mlir::isa<mlir::RankedTensorType>(load.getPtr().getType()))
      return TilePlacement::AtDefinition;
    size_t legal = 0;
    mlir::Operation *next = load->getNextNode();
    for (; legal < points.size(); ++legal) {
      for (; next != points[legal]; next = next->getNextNode())
        if (mayWrite(next, load))
          break;
      if (next != points[legal])
        break;
      if (mayWrite(next, load)) {
        auto store = mlir::dyn_cast<tt::StoreOp>(next);
        if (!store || !mayLoadWhileStoring(load, store) ||
            !staysInPlace(load, *std::make_unique<llvm::DenseSet<mlir::Value>>()))
          break;
      }
    }
    if (legal == points.size())
      return TilePlacement::Lazy;
    return legal > 0 ? TilePlacement::AtFirstUse : TilePlacement::AtDefinition;
  }

  static constexpr unsigned mostCheapDepth = 256;

  llvm::DenseSet<mlir::Value> costly;
  llvm::DenseMap<mlir::Value, unsigned> cheapDepth;
  llvm::DenseMap<mlir::Value, Views> views;
  llvm::DenseMap<mlir::Operation *, unsigned> sections;
  unsigned section = 0, sectionWork = 0;
};

void addPoint(llvm::SmallVector<mlir::Operation *, 4> &points, mlir::Operation *op) {
  if (!llvm::is_contained(points, op))
    points.push_back(op);
}

void collectPoints(mlir::Value value, mlir::Block *block, const TilePlan &plan,
                   llvm::DenseSet<mlir::Value> &seen,
                   llvm::SmallVector<mlir::Operation *, 4> &points) {
  if (!seen.insert(value).second)
    return;
  for (mlir::Operation *user : value.getUsers()) {
    mlir::Operation *here = block->findAncestorOpInBlock(*user);
    if (here != user || !isLazyTileOp(user)) {
      if (here)
        addPoint(points, here);
      continue;
    }
    for (mlir::Value result : user->getResults()) {
      TilePlacement placement = plan.lookup(result);
      if (placement == TilePlacement::AtDefinition) {
        addPoint(points, user);
        continue;
      }
      if (placement == TilePlacement::AtFirstUse)
        addPoint(points, plan.firstUse.lookup(result));
      else
        collectPoints(result, block, plan, seen, points);
    }
  }
}

} // namespace

bool isLazyTileOp(mlir::Operation *op) {
  if (op->getNumResults() == 0 || !isTile(op->getResult(0)))
    return false;
  return isShapeOp(op) || isElementOp(op) ||
         mlir::isa<tt::LoadOp, tt::GatherOp, tt::MapElementwiseOp>(op);
}

llvm::SmallVector<mlir::Operation *, 4> evaluationPoints(mlir::Value value, const TilePlan &plan) {
  llvm::SmallVector<mlir::Operation *, 4> points;
  llvm::DenseSet<mlir::Value> seen;
  collectPoints(value, value.getParentBlock(), plan, seen, points);
  llvm::sort(points, [](mlir::Operation *x, mlir::Operation *y) { return x->isBeforeInBlock(y); });
  return points;
}

TilePlan planTiles(mlir::Operation *kernel) {
  Planner planner;
  planner.run(kernel->getRegion(0));
  return std::move(planner.plan);
}

} // namespace pellucid::codegen
