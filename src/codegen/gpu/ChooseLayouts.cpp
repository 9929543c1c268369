// SPDX-License-Identifier: Apache-2.0
// Gives every tile its layout. First the layouts of tiles that cannot be computed twice are chosen
// (LayoutChoice.h); then each operation that only computes is put in front of the operation that
// needs it, in the layout that is needed there, once per region. Only where a chosen layout is
// another one does a convert_layout stand.
#include "codegen/common/ElementOps.h"
#include "codegen/gpu/LayoutChoice.h"
#include "codegen/gpu/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "codegen/gpu/Passes.h.inc"

namespace {

using codegen::Layout;

/// Beyond this a tile would live in spilled registers only.
constexpr int64_t mostRegisters = 512;

/// Says why no layout can hold a tile.
LogicalResult checkTile(Operation *op, RankedTensorType type, unsigned warps) {
  auto refuse = [&] { return op->emitError() << "'" << op->getName() << "' has a tile "; };
  if (type.getRank() == 0)
    return refuse() << "without dims; the CUDA code generator takes scalars instead";
  for (int64_t extent : type.getShape())
    if (!llvm::isPowerOf2_64(extent))
      return refuse() << "with an extent of " << extent
                      << "; the CUDA code generator takes powers of two";
  if (type.getNumElements() > mostRegisters * 32 * warps)
    return refuse() << "of " << type.getNumElements() << " elements, more than " << mostRegisters
                    << " for each of " << 32 * warps << " threads";
  return success();
}

/// The layouts of one function's tiles, before any is written.
class Choices {
public:
  Choices(tt::FuncOp function, TargetAttr target) : choice(function, target) {
    function.walk([&](Operation *op) { choose(op); });
  }

  std::optional<Layout> known(Value value) const {
    auto found = layouts.find(value);
    return found == layouts.end() ? std::nullopt : std::optional(found->second);
  }
  /// Of what the operation takes from or to memory, or of an operand of its own kind.
  const Layout &ofOperand(Operation *op, unsigned number) const {
    return operands.at({op, number});
  }
  bool hasOperand(Operation *op, unsigned number) const { return operands.count({op, number}); }
  /// The layout of tiles of `shape` wherever no use asks for another one.
  Layout anchor(ArrayRef<int64_t> shape) const { return choice.anchor(shape).withoutRepeats(); }
  /// The layout in which an operand is computed before it is moved to its own.
  std::optional<Layout> first(Operation *op, unsigned number) const {
    auto found = firsts.find({op, number});
    return found == firsts.end() ? std::nullopt : std::optional(found->second);
  }

private:
  void choose(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<tt::LoadOp>([&](auto load) {
          if (tileOf(load.getResult()))
            all(load, choice.ofLoad(load));
        })
        .Case<tt::StoreOp>([&](auto store) {
          if (tileOf(store.getPtr()))
            chooseOfStore(store);
        })
        .Case<tt::AtomicRMWOp, tt::AtomicCASOp>([&](auto atomic) {
          if (tileOf(atomic.getPtr()))
            all(atomic, choice.ofAccess(atomic.getPtr(), atomic.getVal()));
        })
        .Case<AsyncCopyOp>([&](auto copy) { all(copy, choice.ofCopy(copy)); })
        .Case<ShareOp>([&](auto share) { operand(share, 0, choice.asItLies(share.getTile())); })
        .Case<tt::ReduceOp>([&](auto reduce) {
          Layout layout = choice.ofReduced(reduce.getSrcs()[0]).withoutRepeats();
          all(reduce, layout);
          for (Value result : reduce->getResults())
            if (tileOf(result))
              set(result, layout.reducedAlong(reduce.getAxis()));
        })
        .Case<tt::ScanOp>([&](auto scan) {
          all(scan, choice.anchor(tileOf(scan.getSrcs()[0]).getShape()).withoutRepeats());
        })
        .Case<tt::GatherOp>([&](auto gather) {
          all(gather, choice.anchor(tileOf(gather.getResult()).getShape()));
          operand(gather, 0, choice.asItLies(gather.getSrc()));
        })
        .Case<tt::CatOp>([&](auto cat) {
          all(cat, choice.anchor(tileOf(cat.getLhs()).getShape()));
          set(cat.getResult(), choice.anchor(tileOf(cat.getResult()).getShape()));
        })
        .Case<tt::HistogramOp>([&](auto histogram) {
          all(histogram, choice.anchor(tileOf(histogram.getSrc()).getShape()));
          set(histogram.getResult(), choice.anchor(tileOf(histogram.getResult()).getShape()));
        })
        .Case<tt::DistributeOp>([&](auto distribute) {
          all(distribute, choice.anchor(tileOf(distribute.getSrc()).getShape()));
          set(distribute.getCounts(), choice.anchor(tileOf(distribute.getCounts()).getShape()));
        })
        .Case<tt::ElementwiseInlineAsmOp>([&](auto assembly) {
          for (Value value : assembly->getResults())
            if (!assembly.getPure() && tileOf(value))
              all(assembly, choice.anchor(tileOf(value).getShape()));
        })
        .Case<tt::DotOp>([&](auto dot) { chooseOfProduct(dot); })
        .Case<AwaitProductsOp>(
            [&](auto await) { set(await.getSums(), choice.asItLies(await.getRunning())); })
        .Case<tt::AssertOp, tt::PrintOp>([&](Operation *message) {
          for (OpOperand &use : message->getOpOperands())
            if (auto tile = tileOf(use.get()))
              operand(message, use.getOperandNumber(), choice.anchor(tile.getShape()));
        })
        .Case<scf::ForOp, scf::IfOp>([&](Operation *region) {
          for (Value result : region->getResults())
            carry(result, result);
          if (auto loop = dyn_cast<scf::ForOp>(region))
            for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
              carry(argument, argument);
              carry(result, argument);
            }
        })
        .Case<scf::WhileOp>([&](auto loop) {
          for (Value argument : loop.getBeforeArguments())
            carry(argument, argument);
          for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults())) {
            carry(argument, argument);
            carry(result, argument);
          }
        });
  }

  // What is narrowed for the store is narrowed where it lies, and moved afterwards.
  void chooseOfStore(tt::StoreOp store) {
    Value value = store.getValue();
    Layout held = choice.ofAccess(store.getPtr(), value);
    Layout wide = choice.byVectors(store.getPtr(), store.getMask(), value.getType(), held);
    all(store, wide);
    if (wide != held)
      firsts.insert_or_assign({store, store.getValueMutable().getOperandNumber()}, held);
  }

  void chooseOfProduct(tt::DotOp dot) {
    Layout sums = choice.anchor(tileOf(dot.getD()).getShape());
    operand(dot, 2, sums);
    set(dot.getD(), sums);
    for (unsigned i : {0, 1}) {
      if (isReadInPlace(dot->getOperand(i), dot))
        continue;
      auto left = i == 0 ? choice.ofLeftInRegisters(dot) : std::nullopt;
      operand(dot, i, left ? *left : choice.asItLies(dot->getOperand(i)));
    }
  }

  void set(Value value, const Layout &layout) { layouts.insert_or_assign(value, layout); }
  void operand(Operation *op, unsigned number, const Layout &layout) {
    operands.insert_or_assign({op, number}, layout);
  }
  /// Every tile that the operation takes or gives has this layout.
  void all(Operation *op, const Layout &layout) {
    for (OpOperand &use : op->getOpOperands())
      if (tileOf(use.get()))
        operand(op, use.getOperandNumber(), layout);
    for (Value result : op->getResults())
      if (tileOf(result))
        set(result, layout);
  }
  /// `value` is held as the users of `as` want it.
  void carry(Value value, Value as) {
    if (tileOf(value) && tileOf(value).getRank() != 0)
      set(value, choice.wanted(as));
  }

  LayoutChoice choice;
  llvm::DenseMap<Value, Layout> layouts;
  std::map<std::pair<Operation *, unsigned>, Layout> operands, firsts;
};

/// Writes the layouts and puts what computes where it is needed.
class Placement {
public:
  Placement(tt::FuncOp function, TargetAttr target, const Choices &choices)
      : function(function), target(target), choices(choices), b(function.getContext()) {}

  LogicalResult run() {
    visit(function.getBody().front());
    eraseComputations(function.getBody().front());
    return success(!failed);
  }

private:
  using Key = std::pair<Value, Attribute>;
  using Scope = llvm::DenseMap<Key, Value>;

  void visit(Block &block) {
    scopes.emplace_back();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (failed)
        break;
      if (isComputedAtUse(&op))
        continue;
      b.setInsertionPoint(&op);
      place(&op);
    }
    scopes.pop_back();
  }

  void place(Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (unsigned number = use.getOperandNumber(); choices.hasOperand(op, number)) {
        if (auto first = choices.first(op, number))
          use.set(at(use.get(), *first));
        use.set(at(use.get(), choices.ofOperand(op, number)));
      }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carryInto(loop.getInitArgsMutable(), loop.getRegionIterArgs());
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      carryInto(loop.getInitsMutable(), loop.getBeforeArguments());
    if (auto yield = dyn_cast<scf::YieldOp>(op))
      return carryOut(yield);
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      return carryInto(condition.getArgsMutable(),
                       cast<scf::WhileOp>(condition->getParentOp()).getAfterArguments());
    // Values of regions have their layouts before what uses them is placed.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          encode(argument);
    for (Value result : op->getResults())
      encode(result);
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          visit(block);
  }

  void carryInto(MutableOperandRange values, ValueRange arguments) {
    for (auto [number, argument] : llvm::enumerate(arguments))
      if (auto layout = choices.known(argument))
        values[number].set(at(values[number].get(), *layout));
  }

  void carryOut(scf::YieldOp yield) {
    Operation *parent = yield->getParentOp();
    ValueRange into = parent->getResults();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      into = loop.getBeforeArguments();
    for (OpOperand &use : yield->getOpOperands())
      if (auto layout = choices.known(into[use.getOperandNumber()]))
        use.set(at(use.get(), *layout));
  }

  void encode(Value value) {
    if (auto layout = choices.known(value))
      if (check(value))
        value.setType(encoded(tileOf(value), *layout));
  }

  bool check(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      op = tile.getParentBlock()->getParentOp();
    if (!failed && mlir::failed(checkTile(op, tileOf(tile), target.getWarps())))
      failed = true;
    return !failed;
  }

  RankedTensorType encoded(RankedTensorType type, const Layout &layout) {
    return RankedTensorType::get(type.getShape(), type.getElementType(),
                                 encodingOf(type.getContext(), layout));
  }

  Value convert(Value tile, RankedTensorType type) {
    return tile.getType() == type
               ? tile
               : ConvertLayoutOp::create(b, tile.getLoc(), type, tile).getResult();
  }

  //===--- what computes ----------------------------------------------------------------------===//

  /// The tile in `layout`, from an operation in front of the one that is being placed.
  Value at(Value tile, const Layout &layout) {
    if (failed || !check(tile))
      return tile;
    RankedTensorType type = encoded(tileOf(tile), layout);
    if (tile.getType() == type)
      return tile;
    Key key = {tile, type.getEncoding()};
    for (Scope &scope : llvm::reverse(scopes))
      if (Value known = scope.lookup(key))
        return known;
    // Elements that a thread holds several times are computed once.
    Layout before = layout.withoutRepeats();
    if (before == layout)
      before = cheapest(tile, layout);
    Value made = before == layout ? compute(tile, layout) : convert(at(tile, before), type);
    return scopes.back()[key] = made;
  }

  /// The layout to compute a tile in that is wanted in `layout`. What stands on many tiles of other
  /// threads, as a sort does, is computed where those lie and moved once.
  Layout cheapest(Value tile, const Layout &layout) {
    Layout home = choices.anchor(tileOf(tile).getShape());
    int64_t own = bytesOf(tile);
    auto moved = [&](const Layout &as) {
      Moved moved{4 * own, {}};
      countMoved(tile, as, moved);
      return moved.bytes;
    };
    if (home == layout || tileOf(tile).getEncoding())
      return layout;
    if (moved(layout) >= 4 * own)
      return moved(home) <= own ? home : layout;
    return isCostlyIn(tile, layout, home) ? home : layout;
  }

  /// Many threads would compute the same exponentials, as for the weights of rows that are spread
  /// over a tile: they are computed once and moved.
  bool isCostlyIn(Value tile, const Layout &layout, const Layout &home) const {
    constexpr unsigned least = 16, atLeastTimes = 8;
    unsigned registers = layout.registerCount();
    return registers >= least && registers >= atLeastTimes * home.registerCount() &&
           isExpensive(tile);
  }
  static bool isExpensive(Value tile, unsigned depth = 0) {
    constexpr unsigned deepest = 6;
    Operation *op = tile.getDefiningOp();
    if (!op || depth == deepest || layoutOf(tile) || !codegen::isElementOp(op))
      return false;
    // An integer divided by a constant is a product and a shift.
    bool dividesByConstant = codegen::elementTypeOf(tile.getType()).isInteger() &&
                             op->getNumOperands() == 2 &&
                             matchPattern(op->getOperand(1), m_Constant());
    return (codegen::isExpensiveElementOp(op) && !dividesByConstant) ||
           llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isExpensive(operand, depth + 1); });
  }

  static int64_t bytesOf(Value tile) {
    Type element = tileOf(tile).getElementType();
    return tileOf(tile).getNumElements() *
           std::max(1u, element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 8);
  }

  struct Moved {
    int64_t most; ///< where counting ends
    llvm::DenseSet<Key> seen;
    int64_t bytes = 0;
  };
  /// What moves between threads for a computation of `tile` in `layout`.
  void countMoved(Value tile, const Layout &layout, Moved &moved) {
    constexpr size_t mostTiles = 1024;
    Key key = {tile, encodingOf(tile.getContext(), layout)};
    if (moved.bytes >= moved.most || moved.seen.size() >= mostTiles ||
        !moved.seen.insert(key).second ||
        llvm::any_of(scopes, [&](const Scope &scope) { return scope.contains(key); }))
      return;
    if (auto held = layoutOf(tile)) {
      if (layout.registersIn(*held).empty())
        moved.bytes += bytesOf(tile);
      return;
    }
    Operation *op = tile.getDefiningOp();
    if (!op || !isComputedAtUse(op))
      return;
    for (Value operand : op->getOperands())
      if (tileOf(operand))
        if (auto wanted = layoutOfSource(op, operand, layout))
          countMoved(operand, *wanted, moved);
  }

  Value compute(Value tile, const Layout &layout) {
    RankedTensorType type = encoded(tileOf(tile), layout);
    if (tileOf(tile).getEncoding())
      return convert(tile, type);
    Operation *op = tile.getDefiningOp();
    if (!op || !isComputedAtUse(op))
      return tile; // an operation that no code generator knows
    IRMapping map;
    for (Value operand : op->getOperands())
      if (tileOf(operand) && !map.contains(operand))
        if (auto wanted = layoutOfSource(op, operand, layout))
          map.map(operand, at(operand, *wanted));
    if (failed)
      return tile;
    Operation *clone = b.clone(*op, map);
    for (auto [result, made] : llvm::zip(op->getResults(), clone->getResults())) {
      RankedTensorType encodedType = encoded(tileOf(result), layout);
      made.setType(encodedType);
      scopes.back()[{result, encodedType.getEncoding()}] = made;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(clone))
      retype(constant, type);
    return clone->getResult(cast<OpResult>(tile).getResultNumber());
  }

  static void retype(arith::ConstantOp constant, RankedTensorType type) {
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(cast<TypedAttr>(Attribute(elements.reshape(type))));
  }

  /// The computations as they were. What a product reads in place of shared memory stays.
  static void eraseComputations(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isComputedAtUse(&op) && op.use_empty()) {
        op.erase();
        continue;
      }
      for (Region &region : op.getRegions())
        if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(&op))
          for (Block &inner : region)
            eraseComputations(inner);
    }
  }

  tt::FuncOp function;
  TargetAttr target;
  const Choices &choices;
  OpBuilder b;
  std::vector<Scope> scopes;
  bool failed = false;
};

struct ChooseLayoutsPass : impl::ChooseLayoutsBase<ChooseLayoutsPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      TargetAttr target = targetOf(function);
      if (!target || !function.getBody().hasOneBlock())
        continue;
      Choices choices(function, target);
      if (failed(Placement(function, target, choices).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

} // namespace pellucid::ttgpu
