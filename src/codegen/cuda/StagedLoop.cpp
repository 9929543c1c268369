// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/StagedLoop.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;

/// The tile goes into products by matrix units and nowhere else.
static bool isOperandOnly(mlir::Value tile, const CudaKernelOptions &options) {
  return !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](mlir::Operation *user) {
    if (auto trans = mlir::dyn_cast<tt::TransOp>(user))
      return isOperandOnly(trans, options);
    auto dot = mlir::dyn_cast<tt::DotOp>(user);
    return dot && tile != dot.getC() && !multipliesBytes(dot) &&
           matrixUnitOf(dot, options) != MatrixUnit::None;
  });
}

/// Memory that is read early must be what it would be later.
static bool writesMemory(scf::ForOp loop, llvm::function_ref<bool(mlir::Value)> mayMeet) {
  return loop
      ->walk([&](mlir::Operation *op) {
        bool writes = mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::BarrierOp>(op);
        if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
          writes = mayMeet(store.getPtr());
        return writes ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool CudaEmitter::StagedLoop::isStageable(tt::LoadOp load) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(load.getType());
  if (!tile || tile.getRank() != 2 || load.getIsVolatile() || !isOperandOnly(load, e.options))
    return false;
  if (load.getOther() && !mlir::matchPattern(load.getOther(), mlir::m_AnyZeroFloat()))
    return false;
  auto dim = e.contiguousDim(load.getPtr());
  return dim && e.axes.of(load.getPtr()).contiguity[*dim] >= SharedTile::chunkElements &&
         SharedTile::holds(tile.getDimSize(1 - *dim), tile.getDimSize(*dim)) &&
         !writesMemory(loop, [&](mlir::Value pointer) { return mayMeet(load.getPtr(), pointer); });
}

bool CudaEmitter::StagedLoop::canComeEarly(mlir::Operation *op) {
  if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
    return !load.getIsVolatile() && !writesMemory(loop, [&](mlir::Value pointer) {
      return mayMeet(load.getPtr(), pointer);
    });
  bool computes = isLazy(op) || isElementOp(op) || mlir::isa<mlir::arith::ConstantOp>(op);
  return computes && op->getNumRegions() == 0;
}

bool CudaEmitter::StagedLoop::servesAddresses(mlir::Value value, unsigned depth) {
  constexpr unsigned deepest = 16;
  return depth < deepest &&
         llvm::all_of(
             value.getUses(),
             [&](mlir::OpOperand &use) {
               mlir::Operation *user = use.getOwner();
               if (user->getBlock() != loop.getBody() ||
                   user->hasTrait<mlir::OpTrait::IsTerminator>())
                 return false;
               bool isStaged = llvm::any_of(loads, [&](Load &load) { return load.op == user; });
               return isStaged || (user->getNumResults() == 1 && canComeEarly(user) &&
                                   servesAddresses(user->getResult(0), depth + 1));
             });
}

/// False when that cannot be had early.
bool CudaEmitter::StagedLoop::findAddresses() {
  mlir::Block *body = loop.getBody();
  llvm::SetVector<mlir::Value> needed;
  for (Load &load : loads)
    needed.insert(load.op->operand_begin(), load.op->operand_end());
  for (size_t next = 0; next < needed.size(); ++next) {
    mlir::Value value = needed[next];
    if (value.getParentBlock() != body || value == loop.getInductionVar())
      continue;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
      needed.insert(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    mlir::Operation *op = value.getDefiningOp();
    if (!canComeEarly(op))
      return false;
    needed.insert(op->operand_begin(), op->operand_end());
  }
  for (mlir::Operation &op : body->without_terminator())
    if (!isLazy(&op) && llvm::any_of(op.getResults(), [&](auto r) { return needed.contains(r); }))
      scalars.push_back(&op);
  for (mlir::Operation *op : scalars)
    if (mlir::isa<tt::LoadOp>(op) && servesAddresses(op->getResult(0)))
      e.madeAhead.insert(op);
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (needed.contains(argument))
      carried.push_back(index);
  return true;
}

static unsigned wantedStages(scf::ForOp loop, const CudaKernelOptions &options) {
  auto own = loop->getAttrOfType<mlir::IntegerAttr>("tt.num_stages");
  int64_t wanted = own ? own.getInt() : options.numStages;
  return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, options.mostStages));
}

bool CudaEmitter::StagedLoop::plan() {
  stages = wantedStages(loop, e.options);
  if (stages < 2)
    return false;
  scopesOutside = e.evaluated.size();
  for (tt::LoadOp load : loop.getBody()->getOps<tt::LoadOp>()) {
    if (!isStageable(load))
      continue;
    e.checkedTile(load, load.getResult());
    auto shape = mlir::cast<mlir::RankedTensorType>(load.getType()).getShape();
    unsigned dim = *e.contiguousDim(load.getPtr());
    SharedOperand place{.tile = {shape[1 - dim], shape[dim], bytesPerStage}, .contiguousDim = dim};
    Layout layout =
        Layout::blocked(shape, {dim, 1 - dim}, SharedTile::chunkElements, e.options.numWarps);
    bytesPerStage += place.tile.bytes();
    loads.push_back({load, layout, place});
  }
  if (loads.empty() || !findAddresses())
    return false;
  findInvariants();
  running = findRunningSum();
  return true;
}

static mlir::Value withoutTranspositions(mlir::Value operand) {
  while (auto trans = operand.getDefiningOp<tt::TransOp>())
    operand = trans.getSrc();
  return operand;
}

void CudaEmitter::StagedLoop::findInvariants() {
  loop->walk([&](tt::DotOp dot) {
    if (matrixUnitOf(dot, e.options) == MatrixUnit::None || multipliesBytes(dot))
      return;
    for (mlir::Value operand : {dot.getA(), dot.getB()}) {
      mlir::Value tile = withoutTranspositions(operand);
      bool isKnown = e.sharedOperand(tile) ||
                     llvm::any_of(invariants, [&](Invariant &other) { return other.tile == tile; });
      if (!isKnown && loop.isDefinedOutsideOfLoop(tile))
        invariants.push_back({tile, {}});
    }
  });
}

void CudaEmitter::StagedLoop::shareInvariants() {
  for (auto &[tile, place] : invariants) {
    HomeTile home = e.asItLies(tile);
    place = placeFor(home.layout);
    place.tile.byteOffset = e.reserveShared(loop, place.tile.bytes());
    e.shareTile(home, elementTypeOf(tile.getType()), place);
    e.sharedOperands[tile] = place;
  }
  if (!invariants.empty() && e.result.thisGenerationOnly)
    e.emitInstruction("fence.proxy.async.shared::cta;");
}

/// The carried value that the loop's only product by warpgroups adds to, and nothing else touches.
std::optional<unsigned> CudaEmitter::StagedLoop::findRunningSum() {
  tt::DotOp only;
  unsigned count = 0;
  loop->walk([&](tt::DotOp dot) {
    count += matrixUnitOf(dot, e.options) == MatrixUnit::Warpgroup;
    if (dot->getBlock() == loop.getBody())
      only = dot;
  });
  if (count != 1 || !only || matrixUnitOf(only, e.options) != MatrixUnit::Warpgroup)
    return std::nullopt;
  // What a running product reads must stay as it is until the round after.
  auto isStaged = [&](mlir::Value operand) {
    operand = withoutTranspositions(operand);
    return llvm::any_of(loads, [&](Load &load) { return load.op.getResult() == operand; });
  };
  if (!isStaged(only.getA()) || !isStaged(only.getB()))
    return std::nullopt;
  auto sum = mlir::dyn_cast<mlir::BlockArgument>(only.getC());
  if (!sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse() || !only->hasOneUse() ||
      loop.getTiedLoopYieldedValue(sum)->get() != only.getD() ||
      !elementTypeOf(only.getType()).isF32())
    return std::nullopt;
  auto shape = mlir::cast<mlir::RankedTensorType>(only.getD().getType()).getShape();
  if (e.layoutToCarry(sum) != e.anchor(shape))
    return std::nullopt;
  product = only;
  return sum.getArgNumber() - loop.getNumInductionVars();
}

/// A round's scalars and tiles stand for another round while copies for that one are emitted.
class CudaEmitter::StagedLoop::OtherRound {
public:
  explicit OtherRound(StagedLoop &staged) : emitter(staged.e) {
    auto inside = emitter.evaluated.begin() + staged.scopesOutside;
    hidden.assign(std::make_move_iterator(inside),
                  std::make_move_iterator(emitter.evaluated.end()));
    emitter.evaluated.erase(inside, emitter.evaluated.end());
    emitter.evaluated.emplace_back();
    scalars = emitter.scalars;
    for (unsigned index : staged.carried)
      keepHome(staged.loop.getRegionIterArg(index));
    for (mlir::Operation *op : staged.scalars)
      keepHome(op->getResult(0));
  }
  ~OtherRound() {
    emitter.evaluated.pop_back();
    std::move(hidden.begin(), hidden.end(), std::back_inserter(emitter.evaluated));
    emitter.scalars = std::move(scalars);
    for (auto &[value, home] : homes)
      if (home)
        emitter.homes[value] = std::move(*home);
      else
        emitter.homes.erase(value);
  }

private:
  void keepHome(mlir::Value value) {
    auto home = emitter.homes.find(value);
    homes.emplace_back(value,
                       home == emitter.homes.end() ? std::nullopt : std::optional(home->second));
  }

  CudaEmitter &emitter;
  std::vector<Evaluated> hidden;
  llvm::DenseMap<mlir::Value, Value *> scalars;
  std::vector<std::pair<mlir::Value, std::optional<HomeTile>>> homes;
};

/// Moves one tile; where a thread's part of it is not whole aligned vectors, by way of registers.
void CudaEmitter::StagedLoop::copyTile(const Load &load, Value *stage, Value *isLeft) {
  tt::LoadOp op = load.op;
  mlir::Type element = elementTypeOf(op.getType());
  const Layout &layout = load.layout;
  SharedOperand place = load.place;
  place.stage = stage;
  auto activeOf = [&](const Registers &mask) {
    Registers active;
    for (Value *one : mask)
      active.push_back(b.CreateAnd(isLeft, one));
    return active;
  };
  Registers all(layout.registerCount(), b.getTrue());
  TileAccess access{e.evaluate(op.getPtr(), layout), {}, SharedTile::chunkElements, element};
  e.followFirstPointers(access);
  e.judgeVectors(access, op.getPtr(), op.getMask());
  access.active = activeOf(op.getMask() ? e.evaluate(op.getMask(), layout) : all);
  auto copyVectors = [&] {
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.i32(), b.getPtrTy(1), b.i32()}, false);
    auto *code = llvm::InlineAsm::get(type, "cp.async.cg.shared.global [$0], [$1], 16, $2;",
                                      "r,l,r,~{memory}", true);
    for (size_t r = 0; r < access.pointers.size(); r += access.vector) {
      // What is not copied of the 16 bytes becomes zero.
      Value *bytes =
          b.CreateSelect(access.active[r], b.getInt32(SharedTile::chunkBytes), b.getInt32(0));
      b.CreateCall(code, {b.CreatePtrToInt(e.elementAddress(place, layout, r), b.i32()),
                          b.CreateAddrSpaceCast(access.pointers[r], b.getPtrTy(1)), bytes});
    }
  };
  auto copyEach = [&] {
    Registers active = activeOf(op.getMask() ? e.evaluateAgain(op.getMask(), layout) : all), values;
    Value *zero = llvm::Constant::getNullValue(registerType(b.getContext(), element));
    for (size_t r = 0; r < active.size(); ++r)
      values.push_back(e.loadOne(access.pointers[r], active[r], zero, element));
    e.shareTile({layout, values}, element, place);
    if (e.result.thisGenerationOnly)
      e.emitInstruction("fence.proxy.async.shared::cta;");
  };
  Value *holds = e.isFirstHolder(layout);
  auto copy = [&] {
    if (access.isSure())
      return copyVectors();
    emitBranches(b, e.movesByVectors(access), [&](unsigned which) {
      if (which == 0)
        copyVectors();
      else
        copyEach();
    });
  };
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(holds); constant && constant->isOne())
    copy();
  else
    emitWhen(b, holds, copy);
}

Value *CudaEmitter::StagedLoop::nextStage(Value *stage) {
  Value *next = b.CreateAdd(stage, b.getInt32(static_cast<uint32_t>(bytesPerStage)));
  Value *end = b.getInt32(static_cast<uint32_t>(stages * bytesPerStage));
  return b.CreateSelect(b.CreateICmpEQ(next, end), b.getInt32(0), next);
}

/// Queues the copies of one round; where copying stands then.
CudaEmitter::StagedLoop::State CudaEmitter::StagedLoop::copyRound(const State &now) {
  OtherRound round(*this);
  e.define(loop.getInductionVar(), now.index);
  for (auto [index, registers] : llvm::zip(carried, now.carried)) {
    mlir::Value argument = loop.getRegionIterArg(index);
    if (auto layout = e.layoutToCarry(argument))
      e.homes[argument] = {*layout, registers};
    else
      e.define(argument, registers[0]);
  }
  e.roundComes = now.isLeft;
  for (mlir::Operation *op : scalars)
    e.emitStatement(op);
  for (const Load &load : loads)
    copyTile(load, now.stage, now.isLeft);
  e.roundComes = nullptr;
  e.emitInstruction("cp.async.commit_group;");

  State next;
  Value *step = e.scalar(loop.getStep());
  Value *more = b.CreateICmpUGT(b.CreateSub(e.scalar(loop.getUpperBound()), now.index), step);
  next.isLeft = b.CreateAnd(now.isLeft, more);
  next.index = b.CreateAdd(now.index, step);
  next.stage = nextStage(now.stage);
  for (unsigned index : carried)
    next.carried.push_back(e.registersOf(loop.getYieldedValues()[index],
                                         e.layoutToCarry(loop.getRegionIterArg(index))));
  return next;
}

void CudaEmitter::StagedLoop::begin() {
  for (Load &load : loads)
    e.orderAccess(load.op.getPtr(), false);
  shareInvariants();
  uint64_t place = e.reserveShared(loop, stages * bytesPerStage);
  for (Load &load : loads)
    load.place.tile.byteOffset += place;
  Value *lower = e.scalar(loop.getLowerBound()), *upper = e.scalar(loop.getUpperBound());
  ahead.index = lower;
  ahead.isLeft =
      loop.getUnsignedCmp() ? b.CreateICmpULT(lower, upper) : b.CreateICmpSLT(lower, upper);
  ahead.stage = b.getInt32(0);
  for (unsigned index : carried)
    ahead.carried.push_back(
        e.registersOf(loop.getInitArgs()[index], e.layoutToCarry(loop.getRegionIterArg(index))));
  for (unsigned round = 0; round + 1 < stages; ++round)
    ahead = copyRound(ahead);
}

/// All values of a state, in order.
template <typename State, typename Each> static void forEachValue(State &state, Each each) {
  each(state.index);
  each(state.isLeft);
  each(state.stage);
  for (Registers &registers : state.carried)
    for (Value *&value : registers)
      each(value);
}

void CudaEmitter::StagedLoop::makePhis(llvm::BasicBlock *before) {
  forEachValue(ahead, [&](Value *&value) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    value = phis.back();
  });
  readStage = b.CreatePHI(b.i32(), 2);
  readStage->addIncoming(b.getInt32(0), before);
}

void CudaEmitter::StagedLoop::beginRound() {
  // All but the copies of the rounds between this one and the next to be queued are there.
  e.emitInstruction("cp.async.wait_group " + std::to_string(stages - 2) + ";");
  e.emitBarrier();
  e.beingRead.clear();
  e.exchangesUnknown = false;
  for (Load &load : loads) {
    SharedOperand &operand = e.sharedOperands[load.op] = load.place;
    operand.stage = readStage;
  }
  outside =
      std::exchange(e.pendingCopies, {loop.getBody(), [this] { afterRound = copyRound(ahead); }});
  productOutside = std::exchange(e.runningProduct, product);
  // The products of a warpgroup run by themselves, so the copies are queued behind them.
  bool multipliesFirst = llvm::any_of(loop.getBody()->getOps<tt::DotOp>(), [&](tt::DotOp dot) {
    return matrixUnitOf(dot, e.options) == MatrixUnit::Warpgroup;
  });
  if (!multipliesFirst)
    e.queuePendingCopies(loop.getBody());
}

void CudaEmitter::StagedLoop::endRound() {
  e.queuePendingCopies(loop.getBody());
  e.pendingCopies = std::move(outside);
  e.runningProduct = productOutside;
  nextReadStage = nextStage(readStage);
}

void CudaEmitter::StagedLoop::addIncoming(llvm::BasicBlock *last) {
  auto phi = phis.begin();
  forEachValue(afterRound, [&](Value *&value) { (*phi++)->addIncoming(value, last); });
  readStage->addIncoming(nextReadStage, last);
}

void CudaEmitter::StagedLoop::finish() {
  e.emitInstruction("cp.async.wait_all;");
  for (Load &load : loads)
    e.sharedOperands.erase(load.op);
  for (Invariant &invariant : invariants)
    e.sharedOperands.erase(invariant.tile);
}

void CudaEmitter::queuePendingCopies(mlir::Block *block) {
  if (pendingCopies.block == block)
    std::exchange(pendingCopies, {}).queue();
}

} // namespace pellucid::codegen
