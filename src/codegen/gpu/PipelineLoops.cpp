// SPDX-License-Identifier: Apache-2.0
// A loop whose products are made by matrix units becomes
//
//   the copies of rounds 0 … stages - 2, one group each
//   for …:
//     wait until this round's copies are there; barrier
//     start the copies of round + stages - 1
//     the round, which reads its tiles from shared memory
//
// so that memory and matrix units work at the same time. Products of warpgroups run by themselves,
// so the copies are started behind the first of them. A product that the loop hands on to the next
// round (attention's second one) is awaited there; what it reads lies in one more copy. What a
// later round's addresses need is cloned: arithmetic, branches that only compute, and loads of
// indices, which are then loaded for that round.
#include "codegen/gpu/GlobalAccesses.h"
#include "codegen/gpu/LayoutChoice.h"
#include "codegen/gpu/LoopProducts.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/SharedUse.h"
#include "codegen/gpu/SlidingWindows.h"
#include "codegen/gpu/TensorTiles.h"
#include "tt/AxisInfo.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/common/ElementOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_PIPELINELOOPS
#include "codegen/gpu/Passes.h.inc"

namespace {

/// The shortest copy that the hardware makes by itself.
constexpr int64_t leastCopyBytes = 4;

Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// A tile that is copied ahead of its use.
struct StagedLoad {
  tt::LoadOp load;
  BufferType type;
  Value buffer;
  bool isReadOn = false;              ///< by a product that runs into the next round
  std::optional<TensorTile> box = {}; ///< that one instruction copies
  UnrealizedConversionCastOp scalars = {};
};

/// Which round is copied next.
struct Ahead {
  Value index;      ///< of the loop, in that round
  Value comes;      ///< an i1: there is such a round
  Value copy;       ///< of the buffers
  Value copyReadOn; ///< of those that are read into the next round
  SmallVector<Value> carried;
};

class LoopPipeline {
public:
  LoopPipeline(scf::ForOp loop, const tt::AxisAnalysis &axes, const LayoutChoice &layouts,
               TargetAttr target)
      : loop(loop), axes(axes), layouts(layouts), target(target), tiles(loop, axes) {}

  /// False where nothing can be copied ahead.
  bool plan() {
    stages = wantedStages();
    if (stages < 2)
      return false;
    bool multiplies = llvm::any_of(loop.getBody()->getOps<tt::DotOp>(), hasMatrixUnit);
    for (tt::LoadOp load : loop.getBody()->getOps<tt::LoadOp>())
      if (multiplies || isOperandOnly(load))
        if (auto type = bufferFor(load))
          staged.push_back(StagedLoad{load, *type, {}});
    if (multiplies)
      llvm::erase_if(staged, [&](StagedLoad &one) { return servesAddressesOnly(one.load); });
    // Copying pays where a product waits for it.
    if (llvm::none_of(staged, [&](StagedLoad &one) { return feedsProduct(one.load); }))
      return false;
    for (StagedLoad &one : staged)
      one.box = tiles.tileOf(one.load, one.type);
    if (!findSlice())
      return false;
    readRounded();
    findRunningSums();
    if (runningSums.empty())
      findHandedOn();
    return true;
  }

  /// Rewriting other loops replaces values that boxes are computed from: what holds them follows.
  void holdScalars() {
    OpBuilder b(loop.getBody()->getTerminator());
    for (StagedLoad &one : staged)
      if (one.box)
        one.scalars = UnrealizedConversionCastOp::create(b, one.load.getLoc(), b.getI32Type(),
                                                         one.box->scalars);
  }

  scf::ForOp source() const { return loop; }

  void rewrite() {
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    releaseScalars();
    buffers = shareInvariants(loop, axes);
    for (StagedLoad &one : staged)
      buffers.push_back(one.buffer = AllocSharedOp::create(b, one.load.getLoc(), one.type));
    if (llvm::any_of(staged, isBox)) {
      auto type = BarriersType::get(b.getContext(), stages);
      barriers = AllocBarriersOp::create(b, loc, type);
    }
    Ahead ahead = firstRound(b);
    for (unsigned round = 0; round + 1 < stages; ++round)
      ahead = copyRound(b, ahead);

    scf::ForOp piped = rebuildLoop(b, ahead);
    b.setInsertionPointAfter(piped);
    SmallVector<unsigned> running(runningSums);
    if (handedOn)
      running.push_back(*handedOn);
    for (unsigned number : running) {
      Value last = piped.getResult(number);
      auto awaited = AwaitProductsOp::create(b, loc, last.getType(), last, b.getI32IntegerAttr(0));
      last.replaceAllUsesExcept(awaited, awaited);
    }
    if (!llvm::all_of(staged, isBox))
      AwaitCopiesOp::create(b, loc, b.getI32IntegerAttr(0));
    if (barriers)
      FreeBarriersOp::create(b, loc, barriers);
    FreeSharedOp::create(b, loc, buffers);
  }

private:
  unsigned wantedStages() {
    auto own = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
    int64_t wanted = own ? own.getInt() : target.getStages();
    return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, target.getMostStages()));
  }

  //===--- what is copied ---------------------------------------------------------------------===//

  std::optional<BufferType> bufferFor(tt::LoadOp load) {
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (!tile || tile.getRank() < 1 || tile.getRank() > 2 || load.getIsVolatile())
      return std::nullopt;
    Type element = tile.getElementType();
    if (!element.isIntOrFloat() || element.isInteger(1))
      return std::nullopt;
    if (load.getOther() && !isZero(load.getOther()))
      return std::nullopt;
    int64_t bytes = codegen::memoryBytes(element);
    unsigned along = contiguousDim(load.getPtr(), axes);
    int64_t neighbours = std::min(axes.of(load.getPtr()).contiguity[along], tile.getDimSize(along));
    if (std::min(neighbours * bytes, slidingAlignment(load.getPtr())) < leastCopyBytes ||
        mayBeWritten(load.getPtr(), loop))
      return std::nullopt;
    return BufferType::get(load.getContext(), stages, tile, along);
  }

  void releaseScalars() {
    for (StagedLoad &one : staged)
      if (one.box) {
        one.box->scalars.assign(one.scalars.getInputs().begin(), one.scalars.getInputs().end());
        one.scalars.erase();
      }
  }

  static bool isBox(const StagedLoad &one) { return one.box.has_value(); }

  bool isStaged(Operation *op) {
    return llvm::any_of(staged, [&](StagedLoad &one) { return one.load == op; });
  }

  /// Some product by matrix units depends on the tile.
  bool feedsProduct(Value tile) {
    llvm::SetVector<Value> reached;
    reached.insert(tile);
    for (size_t next = 0; next < reached.size(); ++next)
      for (Operation *user : reached[next].getUsers()) {
        auto dot = dyn_cast<tt::DotOp>(user);
        if (dot && hasMatrixUnit(dot))
          return true;
        reached.insert(user->result_begin(), user->result_end());
      }
    return false;
  }

  /// The value becomes addresses and masks of staged loads, and nothing else.
  bool servesAddressesOnly(Value value) {
    llvm::SetVector<Value> reached;
    reached.insert(value);
    for (size_t next = 0; next < reached.size(); ++next)
      for (Operation *user : reached[next].getUsers()) {
        if (isStaged(user))
          continue;
        if (user->getBlock() != loop.getBody() || !canComeEarly(user, loop))
          return false;
        reached.insert(user->result_begin(), user->result_end());
      }
    return true;
  }

  /// Boxes that round as they are copied are read as they lie.
  void readRounded() {
    for (StagedLoad &one : staged)
      if (Value rounded =
              one.box && one.box->map.getRounds() ? tiles.roundedOf(one.load, one.type) : Value()) {
        OpBuilder b(one.load);
        Value nothing = ub::PoisonOp::create(b, one.load.getLoc(), one.load.getType());
        one.load.replaceAllUsesWith(nothing);
        rounded.replaceAllUsesWith(one.load.getResult());
      }
  }

  //===--- what later rounds' addresses need --------------------------------------------------===//

  /// False when an address cannot be had early.
  bool findSlice() {
    Block *body = loop.getBody();
    llvm::SetVector<Value> needed;
    for (StagedLoad &one : staged) {
      SmallVector<Value> from(one.load->getOperands());
      if (one.box)
        from = one.box->scalars;
      needed.insert(from.begin(), from.end());
    }
    llvm::DenseSet<Operation *> makers;
    for (size_t next = 0; next < needed.size(); ++next) {
      Value value = needed[next];
      if (value == loop.getInductionVar())
        continue;
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getOwner() == body) {
        needed.insert(loop.getTiedLoopYieldedValue(argument)->get());
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != body)
        continue;
      if (!canComeEarly(op, loop))
        return false;
      makers.insert(op);
      needed.insert(op->operand_begin(), op->operand_end());
      if (op->getNumRegions() != 0)
        getUsedValuesDefinedAbove(op->getRegions(), needed);
    }
    for (Operation &op : body->without_terminator())
      if (makers.contains(&op))
        slice.push_back(&op);
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (needed.contains(argument))
        carried.push_back(number);
    return true;
  }

  //===--- copies -----------------------------------------------------------------------------===//

  Ahead firstRound(OpBuilder &b) {
    Location loc = loop.getLoc();
    auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    Value zero = constant(b, loc, 0);
    Ahead first{lower, arith::CmpIOp::create(b, loc, less, lower, upper), zero, zero, {}};
    for (unsigned number : carried)
      first.carried.push_back(loop.getInitArgs()[number]);
    return first;
  }

  Value nextCopy(OpBuilder &b, Value copy, unsigned copies) {
    Location loc = loop.getLoc();
    Value next = arith::AddIOp::create(b, loc, copy, constant(b, loc, 1));
    Value isEnd =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, constant(b, loc, copies));
    return arith::SelectOp::create(b, loc, isEnd, constant(b, loc, 0), next);
  }

  /// Starts the copies of one round; which is next then.
  Ahead copyRound(OpBuilder &b, const Ahead &now) {
    Location loc = loop.getLoc();
    IRMapping map;
    map.map(loop.getInductionVar(), now.index);
    for (auto [number, value] : llvm::zip(carried, now.carried))
      map.map(loop.getRegionIterArg(number), value);
    for (Operation *op : slice)
      b.clone(*op, map)->walk([&](tt::LoadOp load) { maskLoad(load, now.comes); });
    copyBoxes(b, now, map);
    for (StagedLoad &one : staged)
      if (!one.box)
        AsyncCopyOp::create(b, one.load.getLoc(), map.lookupOrDefault(one.load.getPtr()),
                            one.buffer, one.isReadOn ? now.copyReadOn : now.copy, now.comes,
                            one.load.getMask() ? map.lookupOrDefault(one.load.getMask()) : Value());
    if (!llvm::all_of(staged, isBox))
      CommitCopiesOp::create(b, loc);

    Value step = loop.getStep();
    Value left = arith::SubIOp::create(b, loc, loop.getUpperBound(), now.index);
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, left, step);
    Ahead next;
    next.comes = arith::AndIOp::create(b, loc, now.comes, more);
    next.index = arith::AddIOp::create(b, loc, now.index, step);
    next.copy = nextCopy(b, now.copy, stages);
    next.copyReadOn = handedOn ? nextCopy(b, now.copyReadOn, stages + 1) : next.copy;
    for (unsigned number : carried)
      next.carried.push_back(map.lookupOrDefault(loop.getYieldedValues()[number]));
    return next;
  }

  /// In a row, so that one thread does them together.
  void copyBoxes(OpBuilder &b, const Ahead &now, const IRMapping &map) {
    uint64_t bytes = 0;
    SmallVector<SmallVector<Value>> places;
    for (const StagedLoad &one : staged)
      if (one.box) {
        RankedTensorType tile = one.type.getTile();
        bytes += tile.getNumElements() * codegen::memoryBytes(tile.getElementType());
        places.push_back(tiles.placeOf(b, *one.box, now.index, map));
      }
    if (!barriers)
      return;
    ExpectCopiesOp::create(b, loop.getLoc(), barriers, now.copy, now.comes,
                           b.getI32IntegerAttr(static_cast<int32_t>(bytes)));
    for (auto [one, place] : llvm::zip(llvm::make_filter_range(staged, isBox), places))
      TensorCopyOp::create(
          b, one.load.getLoc(), b.getI32IntegerAttr(static_cast<int32_t>(one.box->number)), place,
          one.buffer, one.isReadOn ? now.copyReadOn : now.copy, now.comes, barriers, now.copy);
  }

  //===--- the loop ---------------------------------------------------------------------------===//

  scf::ForOp rebuildLoop(OpBuilder &b, const Ahead &ahead) {
    Location loc = loop.getLoc();
    SmallVector<Value> inits(loop.getInitArgs());
    Value zero = constant(b, loc, 0);
    inits.append({ahead.index, ahead.comes, ahead.copy, zero});
    if (handedOn)
      inits.append({ahead.copyReadOn, zero});
    llvm::append_range(inits, ahead.carried);
    if (barriers)
      inits.push_back(zero);
    unsigned own = loop.getNumRegionIterArgs();
    auto piped = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                                    loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
    piped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    auto later = piped.getRegionIterArgs().drop_front(own);
    unsigned rings = handedOn ? 2 : 1;
    Ahead now{later[0], later[1], later[2], later[2 * rings],
              SmallVector<Value>(later.slice(2 + 2 * rings, carried.size()))};
    Value readCopy = later[3], readOnCopy = later[2 * rings + 1];

    // The copies are made from the old body, whose operations move afterwards.
    b.setInsertionPointToStart(piped.getBody());
    if (barriers)
      AwaitTensorCopiesOp::create(b, loc, barriers, readCopy, later.back());
    bool hasOwnCopies = !llvm::all_of(staged, isBox);
    if (hasOwnCopies)
      AwaitCopiesOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(stages - 2)));
    // Of boxes all threads see what has come, and what runs into the next round has a barrier of
    // its own before what it read is written over.
    if (hasOwnCopies || runningSums.empty())
      BarrierOp::create(b, loc);
    SmallVector<Operation *> copies;
    Ahead next = copyRoundInto(piped.getBody(), now, copies);
    b.setInsertionPointToEnd(piped.getBody());
    Value nextRead = nextCopy(b, readCopy, stages);
    Value nextReadOn = handedOn ? nextCopy(b, readOnCopy, stages + 1) : nextRead;
    Value nextOfBarriers = barriers ? nextPhase(b, later.back(), nextRead) : Value();

    Block *body = loop.getBody();
    SmallVector<tt::DotOp> products = byWarpgroups();
    auto yield = cast<scf::YieldOp>(body->getTerminator());
    for (auto [old, made] :
         llvm::zip(body->getArguments(), piped.getBody()->getArguments().take_front(own + 1)))
      old.replaceAllUsesWith(made);
    piped.getBody()->getOperations().splice(piped.getBody()->end(), body->getOperations());
    SmallVector<Value> more = {next.index, next.comes, next.copy, nextRead};
    if (handedOn)
      more.append({next.copyReadOn, nextReadOn});
    llvm::append_range(more, next.carried);
    if (barriers)
      more.push_back(nextOfBarriers);
    yield->insertOperands(yield->getNumOperands(), more);
    for (StagedLoad &one : staged) {
      OpBuilder at(one.load);
      Value read = ReadSharedOp::create(at, one.load.getLoc(), one.load.getType(), one.buffer,
                                        one.isReadOn ? readOnCopy : readCopy);
      one.load.replaceAllUsesWith(read);
      one.load.erase();
    }
    if (!runningSums.empty())
      runIntoNextRound(products, copies);
    else if (!products.empty())
      runBesideCopies(products.front(), copies);
    if (handedOn)
      handOn(piped, yield);
    for (auto [old, made] : llvm::zip(loop.getResults(), piped.getResults().take_front(own)))
      old.replaceAllUsesWith(made);
    loop.erase();
    eraseUnused(piped.getBody());
    return piped;
  }

  /// Of the barriers; each is one phase further when their turn comes again.
  Value nextPhase(OpBuilder &b, Value phase, Value copy) {
    Location loc = loop.getLoc();
    Value begins =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, copy, constant(b, loc, 0));
    Value other = arith::XOrIOp::create(b, loc, phase, constant(b, loc, 1));
    return arith::SelectOp::create(b, loc, begins, other, phase);
  }

  Ahead copyRoundInto(Block *block, const Ahead &now, SmallVector<Operation *> &made) {
    OpBuilder b = OpBuilder::atBlockEnd(block);
    Operation *before = &block->back();
    Ahead next = copyRound(b, now);
    for (Operation *op = before->getNextNode(); op; op = op->getNextNode())
      made.push_back(op);
    return next;
  }

  SmallVector<tt::DotOp> byWarpgroups() {
    return llvm::to_vector(
        llvm::make_filter_range(loop.getBody()->getOps<tt::DotOp>(), isByWarpgroups));
  }

  /// The product that the round yields is awaited in the next one, before its first use.
  void handOn(scf::ForOp piped, Operation *yield) {
    auto dot = yield->getOperand(*handedOn).getDefiningOp<tt::DotOp>();
    OpBuilder b(dot);
    dot->setAttr(runsName, b.getUnitAttr());
    BlockArgument sums = piped.getRegionIterArg(*handedOn);
    Operation *first = firstUser(sums, piped.getBody());
    b.setInsertionPoint(first ? first : yield);
    auto awaited =
        AwaitProductsOp::create(b, dot.getLoc(), sums.getType(), sums, b.getI32IntegerAttr(0));
    sums.replaceAllUsesExcept(awaited, awaited);
  }

  /// What only the loads needed. Loads among it have no effect but to be waited for.
  static void eraseUnused(Block *block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (op.getNumRegions() == 0 && isOpTriviallyDead(&op))
        op.erase();
  }

  /// The carried values that the loop's products by warpgroups add to, where nothing else touches
  /// any of them: those products may run into the next round.
  void findRunningSums() {
    // Of several products together, the sums of a thread leave room for what else it holds.
    constexpr int64_t mostRegisters = 208;
    unsigned count = 0;
    loop->walk([&](tt::DotOp dot) { count += isByWarpgroups(dot); });
    SmallVector<tt::DotOp> products = byWarpgroups();
    SmallVector<unsigned> sums;
    int64_t registers = 0;
    for (tt::DotOp dot : products) {
      registers += tileOf(dot.getD()).getNumElements() / (32 * target.getWarps());
      if (auto sum = runningSumOf(dot))
        sums.push_back(*sum);
    }
    if (sums.size() == count && (count == 1 || registers <= mostRegisters))
      runningSums = sums;
  }

  std::optional<unsigned> runningSumOf(tt::DotOp dot) {
    // What it reads must stay as it is until the round after.
    auto staysInPlace = [&](Value operand) {
      Operation *maker = withoutTranspositions(operand).getDefiningOp();
      return maker && isStaged(maker) && isOperandOnly(maker->getResult(0));
    };
    if (!staysInPlace(dot.getA()) || !staysInPlace(dot.getB()))
      return std::nullopt;
    Value start = dot.getC();
    if (arith::SelectOp choice = restartOf(dot); choice && choice->hasOneUse())
      start = choice.getFalseValue();
    auto sum = dyn_cast<BlockArgument>(start);
    // Branches of the round wait for it where they read it.
    auto waits = [&](OpOperand &use) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      return use.getOwner() != user && isa<scf::IfOp>(user);
    };
    if (!sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse() ||
        loop.getTiedLoopYieldedValue(sum)->get() != dot.getD() ||
        !llvm::all_of(dot->getUses(),
                      [&](OpOperand &use) {
                        return &use == loop.getTiedLoopYieldedValue(sum) || waits(use);
                      }) ||
        !addsAsItIs(dot))
      return std::nullopt;
    return sum.getArgNumber() - loop.getNumInductionVars();
  }

  /// The staged load that a product reads in place.
  StagedLoad *stagedOperand(Value operand) {
    for (StagedLoad &one : staged)
      if (withoutTranspositions(operand) == one.load.getResult() &&
          isOperandOnly(one.load.getResult()))
        return &one;
    return nullptr;
  }

  /// The last product by warpgroups, behind another one, where only the next round uses its sums;
  /// its left operand is in registers, so that no other exchange can meet what it still reads.
  void findHandedOn() {
    tt::DotOp last;
    unsigned count = 0;
    // What a thread holds of all of them while it runs: two 16-bit elements a register.
    constexpr int64_t mostRegisters = 208;
    int64_t registers = 0, threads = 32 * target.getWarps();
    for (tt::DotOp dot : loop.getBody()->getOps<tt::DotOp>())
      if (isByWarpgroups(dot)) {
        last = dot;
        registers += tileOf(dot.getD()).getNumElements() / threads;
        ++count;
      }
    if (last)
      registers += tileOf(last.getA()).getNumElements() / 2 / threads;
    if (count < 2 || registers > mostRegisters || !last->hasOneUse() ||
        !codegen::elementTypeOf(last.getType()).isF32() ||
        *last->user_begin() != loop.getBody()->getTerminator())
      return;
    StagedLoad *right = stagedOperand(last.getB());
    if (!right || !right->load->hasOneUse() || !layouts.ofLeftInRegisters(last) ||
        !hasRoomFor(*right, registers))
      return;
    right->isReadOn = true;
    right->type = BufferType::get(loop.getContext(), stages + 1, right->type.getTile(),
                                  right->type.getAlong());
    handedOn = last->use_begin()->getOperandNumber();
  }

  /// For one more copy: a second block of a multiprocessor stays beside the first, and where there
  /// are three, they hide what handing on would.
  bool hasRoomFor(const StagedLoad &one, int64_t registers) {
    constexpr uint64_t shared = 228 << 10, exchanges = 2 << 10, allRegisters = 64 << 10;
    constexpr uint64_t others = 40, mostBlocks = 2;
    uint64_t bytes = exchanges, more = bytesOf(one.type) / stages;
    for (const StagedLoad &each : staged)
      bytes += bytesOf(each.type);
    for (tt::DotOp dot : loop.getBody()->getOps<tt::DotOp>())
      for (Value operand : {dot.getA(), dot.getB()})
        if (loop.isDefinedOutsideOfLoop(withoutTranspositions(operand)))
          bytes += tileOf(operand).getNumElements() *
                   codegen::memoryBytes(tileOf(operand).getElementType());
    uint64_t byRegisters = allRegisters / (32 * target.getWarps() * (registers + others));
    uint64_t blocks = std::max<uint64_t>(1, std::min(shared / bytes, byRegisters));
    constexpr uint64_t rest = 14 << 10; // of 16 KiB for exchanges
    return blocks <= mostBlocks && shared / (bytes + more) >= blocks &&
           bytes + more + rest <= mostSharedBytes(target.getSm());
  }

  scf::ForOp loop;
  const tt::AxisAnalysis &axes;
  const LayoutChoice &layouts;
  TargetAttr target;
  TensorTiles tiles;
  Value barriers; ///< of copies by box; null where there are none
  unsigned stages = 0;
  std::vector<StagedLoad> staged;
  SmallVector<Value> buffers;
  /// Operations of the body that compute addresses, in order, and the carried values that they use.
  SmallVector<Operation *> slice;
  SmallVector<unsigned> carried;
  SmallVector<unsigned> runningSums;
  /// The carried value that is a product which runs into the next round, beside others.
  std::optional<unsigned> handedOn;
};

struct PipelineLoopsPass : impl::PipelineLoopsBase<PipelineLoopsPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (TargetAttr target = targetOf(function); target && !function.isExternal())
        pipeline(function, target);
  }

  /// Of those that are in no other loop, what has no loop in it that is rewritten.
  static void keepOutermost(SmallVector<scf::ForOp> &loops, std::vector<LoopPipeline> &rewritten) {
    llvm::erase_if(loops, [&](scf::ForOp loop) {
      return loop->getParentOfType<scf::ForOp>() || llvm::any_of(rewritten, [&](LoopPipeline &one) {
               return loop->isAncestor(one.source());
             });
    });
  }

  static void pipeline(tt::FuncOp function, TargetAttr target) {
    std::vector<LoopPipeline> planned;
    SmallVector<scf::ForOp> others;
    {
      tt::AxisAnalysis axes(function);
      LayoutChoice layouts(function, target);
      function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        LoopPipeline candidate(loop, axes, layouts, target);
        if (candidate.plan())
          planned.push_back(std::move(candidate));
        else
          others.push_back(loop);
      });
      keepOutermost(others, planned);
      for (LoopPipeline &loop : planned)
        loop.holdScalars();
      // Outer loops first: what they share is shared for the inner ones.
      for (LoopPipeline &loop : planned)
        loop.rewrite();
      for (scf::ForOp loop : others)
        holdInvariants(loop, axes);
    }
  }
};

} // namespace

} // namespace pellucid::ttgpu
