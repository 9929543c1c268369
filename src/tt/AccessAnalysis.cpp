// SPDX-License-Identifier: Apache-2.0
// Every value carries the set of arguments its bits may be an address into. The sets flow forward
// to a fixed point; then each access charges the arguments of its pointer.
#include "tt/AccessAnalysis.h"

#include "tt/Tt.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pellucid::tt {

namespace {

/// Bits 0..n-1: arguments. Then two marks: an address of unknown memory, and data that was loaded
/// (harmless until it is made an address).
using Origins = llvm::SmallBitVector;

struct FunctionFacts {
  AccessSummary summary;
  /// Per result: which arguments of the function it may point into, and the marks.
  std::vector<Origins> results;
};

std::string nameOf(BlockArgument argument) {
  if (auto named = argument.getLoc()->findInstanceOf<NameLoc>())
    return named.getName().str();
  return "argument " + std::to_string(argument.getArgNumber());
}

bool insideLoop(Operation *op) {
  return op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>() ||
         !op->getParentOfType<FuncOp>().getBody().hasOneBlock();
}

/// Dialects whose operations compute results from operands and touch no memory.
bool isPlainDialect(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect, ub::UBDialect>(op->getDialect());
}

} // namespace

struct AccessAnalysis::Implementation {
  explicit Implementation(Diagnostics &d) : diagnostics(d) {}

  FunctionFacts &factsOf(FuncOp function);

  Diagnostics &diagnostics;
  llvm::DenseMap<Operation *, std::unique_ptr<FunctionFacts>> facts;
  llvm::DenseSet<Operation *> active;
};

namespace {

/// Analyses one function. `factsOf` answers for callees, null for one that is being analysed.
class FunctionScan {
public:
  FunctionScan(FuncOp f, FunctionFacts &out, Diagnostics &d,
               std::function<const FunctionFacts *(FuncOp)> callee)
      : function(f), facts(out), diagnostics(d), calleeFacts(std::move(callee)),
        count(f.getNumArguments()) {}

  void run() {
    facts.summary.arguments.resize(count);
    facts.results.assign(function.getNumResults(), none());
    for (BlockArgument argument : function.getArguments())
      if (mayBeAddress(argument.getType()))
        originsOf(argument).set(argument.getArgNumber());
    do {
      changed = false;
      function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { propagate(op); });
    } while (changed);
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { charge(op); });
  }

private:
  FuncOp function;
  FunctionFacts &facts;
  Diagnostics &diagnostics;
  std::function<const FunctionFacts *(FuncOp)> calleeFacts;
  unsigned count;
  llvm::DenseMap<Value, Origins> origins;
  bool changed = false;

  unsigned unknownMemory() const { return count; }
  unsigned loadedData() const { return count + 1; }
  Origins none() const { return Origins(count + 2); }
  Origins only(unsigned bit) const {
    Origins set = none();
    set.set(bit);
    return set;
  }

  static bool mayBeAddress(Type type) {
    return isa<PointerType, TensorDescType>(getElementTypeOrSelf(type));
  }

  Origins &originsOf(Value value) { return origins.try_emplace(value, none()).first->second; }

  void flow(const Origins &from, Value to) {
    // A truth value is no address, whatever was compared.
    if (getElementTypeOrSelf(to.getType()).isInteger(1))
      return;
    Origins &set = originsOf(to);
    Origins before = set;
    set |= from;
    changed |= set != before;
  }

  void flow(Value from, Value to) {
    Origins set = originsOf(from);
    flow(set, to);
  }

  void flow(ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      flow(source, target);
  }

  //===--- propagation ------------------------------------------------------------------------===//

  void propagate(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<AddPtrOp>([&](AddPtrOp add) {
          flow(add.getPtr(), add);
          Origins offset = originsOf(add.getOffset());
          offset.reset(loadedData());
          flow(offset, add);
        })
        .Case<MakeTensorPtrOp, MakeTensorDescOp>([&](auto make) { flow(make.getBase(), make); })
        .Case<AdvanceOp>([&](AdvanceOp advance) { flow(advance.getPtr(), advance); })
        .Case<IntToPtrOp>([&](IntToPtrOp cast) { propagateCast(cast); })
        .Case<arith::SelectOp>([&](arith::SelectOp select) {
          flow(select.getTrueValue(), select);
          flow(select.getFalseValue(), select);
        })
        .Case<LoadOp, AtomicRMWOp, AtomicCASOp, AtomicLoadOp, AtomicPollOp, DescriptorLoadOp,
              DescriptorGatherOp>([&](auto load) {
          Value result = load.getResult();
          flow(only(mayBeAddress(result.getType()) ? unknownMemory() : loadedData()), result);
        })
        .Case<CallOp>([&](CallOp call) { propagateCall(call); })
        .Case<scf::ForOp>([&](scf::ForOp loop) {
          flow(loop.getInitArgs(), loop.getRegionIterArgs());
          flow(loop.getInitArgs(), loop.getResults());
          flow(loop.getLowerBound(), loop.getInductionVar());
          flow(loop.getYieldedValues(), loop.getRegionIterArgs());
          flow(loop.getYieldedValues(), loop.getResults());
        })
        .Case<scf::WhileOp>([&](scf::WhileOp loop) {
          flow(loop.getInits(), loop.getBeforeArguments());
          flow(loop.getConditionOp().getArgs(), loop.getAfterArguments());
          flow(loop.getConditionOp().getArgs(), loop.getResults());
          flow(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
        })
        .Case<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>([&](Operation *branch) {
          for (Region &region : branch->getRegions())
            if (!region.empty())
              flow(region.back().getTerminator()->getOperands(), branch->getResults());
        })
        .Case<ReduceOp, ScanOp, MapElementwiseOp>([&](Operation *tiles) { propagateRegion(tiles); })
        .Case<BranchOpInterface>([&](BranchOpInterface branch) {
          for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
            flow(branch.getSuccessorOperands(i).getForwardedOperands(),
                 branch->getSuccessor(i)->getArguments());
        })
        .Case<ReturnOp>([&](ReturnOp ret) {
          for (auto [value, set] : llvm::zip(ret.getSrcs(), facts.results)) {
            // Results of callees have their own marks, so no change to watch here.
            set |= originsOf(value);
          }
        })
        .Default([&](Operation *other) {
          // Terminators are read by the operation they end.
          if (other->hasTrait<OpTrait::IsTerminator>())
            return;
          for (Value result : other->getResults())
            for (Value operand : other->getOperands())
              flow(operand, result);
        });
  }

  /// Data becomes an address: one of the arguments its bits come from, else unknown memory.
  void propagateCast(IntToPtrOp cast) {
    if (matchPattern(cast.getSrc(), m_Zero()))
      return;
    Origins set = originsOf(cast.getSrc());
    bool wasLoaded = set.test(loadedData());
    set.reset(loadedData());
    if (wasLoaded || set.none())
      set.set(unknownMemory());
    flow(set, cast);
  }

  void propagateRegion(Operation *op) {
    Region &region = op->getRegion(0);
    if (region.empty() || op->getNumOperands() == 0)
      return;
    unsigned tiles = op->getNumOperands();
    bool fold = isa<ReduceOp, ScanOp>(op);
    unsigned pack = fold ? 1 : cast<MapElementwiseOp>(op).getPack();
    for (BlockArgument argument : region.getArguments())
      flow(op->getOperand(fold ? argument.getArgNumber() % tiles : argument.getArgNumber() / pack),
           argument);
    for (Block &block : region) {
      Operation *last = block.getTerminator();
      if (!isa<ReduceReturnOp, ScanReturnOp, MapElementwiseReturnOp>(last))
        continue;
      for (auto [index, value] : llvm::enumerate(last->getOperands()))
        flow(value, op->getResult(index / pack));
    }
  }

  void propagateCall(CallOp call) {
    const FunctionFacts *callee = factsOfCallee(call);
    for (auto [index, result] : llvm::enumerate(call.getResults())) {
      if (!callee) {
        flow(only(unknownMemory()), result);
        continue;
      }
      flow(translated(callee->results[index], call), result);
    }
  }

  const FunctionFacts *factsOfCallee(CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(call, call.getCalleeAttr());
    return callee && !callee.isExternal() ? calleeFacts(callee) : nullptr;
  }

  /// A callee's set in terms of the caller's arguments.
  Origins translated(const Origins &set, CallOp call) {
    unsigned calleeCount = set.size() - 2;
    Origins mine = none();
    for (unsigned index = 0; index < calleeCount; ++index)
      if (set.test(index))
        mine |= originsOf(call.getOperand(index));
    if (set.test(calleeCount))
      mine.set(unknownMemory());
    if (set.test(calleeCount + 1))
      mine.set(loadedData());
    return mine;
  }

  //===--- charging ---------------------------------------------------------------------------===//

  void charge(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<LoadOp>([&](LoadOp load) {
          access(load, AccessKind::Load, load.getPtr(), load.getResult(), load.getMask(),
                 load.getOther());
        })
        .Case<StoreOp>([&](StoreOp store) {
          escape(store, store.getValue());
          access(store, AccessKind::Store, store.getPtr(), store.getValue(), store.getMask());
        })
        .Case<AtomicRMWOp>([&](AtomicRMWOp atomic) {
          escape(atomic, atomic.getVal());
          access(atomic, AccessKind::Atomic, atomic.getPtr(), atomic.getVal(), atomic.getMask());
        })
        .Case<AtomicCASOp>([&](AtomicCASOp atomic) {
          escape(atomic, atomic.getVal());
          access(atomic, AccessKind::Atomic, atomic.getPtr(), atomic.getVal());
        })
        .Case<AtomicLoadOp>([&](AtomicLoadOp load) {
          access(load, AccessKind::Load, load.getPtr(), load.getResult(), load.getMask(), {},
                 /*atomic=*/true);
        })
        .Case<AtomicStoreOp>([&](AtomicStoreOp store) {
          escape(store, store.getValue());
          access(store, AccessKind::Store, store.getPtr(), store.getValue(), store.getMask(), {},
                 /*atomic=*/true);
        })
        .Case<AtomicPollOp>([&](AtomicPollOp poll) {
          access(poll, AccessKind::Load, poll.getPtr(), poll.getResult(), {}, {}, /*atomic=*/true);
        })
        .Case<DescriptorLoadOp, DescriptorGatherOp>(
            [&](auto load) { access(load, AccessKind::Load, load.getDesc(), load.getResult()); })
        .Case<DescriptorStoreOp, DescriptorScatterOp>(
            [&](auto store) { access(store, AccessKind::Store, store.getDesc(), store.getSrc()); })
        .Case<DescriptorReduceOp>([&](auto reduce) {
          access(reduce, AccessKind::Atomic, reduce.getDesc(), reduce.getSrc());
        })
        .Case<CallOp>([&](CallOp call) { chargeCall(call); })
        .Case<ElementwiseInlineAsmOp, ExternElementwiseOp>(
            [&](auto foreign) { chargeForeign(foreign); })
        .Default([&](Operation *other) {
          if (!isUnderstood(other))
            defeatAll(other, "may touch any memory");
        });
  }

  static bool isUnderstood(Operation *op) {
    // What flows into a region is known for these only.
    if (op->getNumRegions() != 0)
      return isa<FuncOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
                 scf::ExecuteRegionOp, ReduceOp, ScanOp, MapElementwiseOp>(op);
    if (isPlainDialect(op) ||
        isa<TtDialect, scf::SCFDialect, cf::ControlFlowDialect>(op->getDialect()))
      return true;
    return isa<BarrierOp, TtgBarrierOp, AssumeOp>(op) || isMemoryEffectFree(op);
  }

  void access(Operation *op, AccessKind kind, Value pointer, Value value, Value mask = {},
              Value other = {}, bool atomic = false) {
    const Origins &set = originsOf(pointer);
    MemoryAccess record{op, kind, -1, pointer, value, mask, other, insideLoop(op)};
    if (set.count() == 1 && !set.test(unknownMemory()))
      record.argument = set.find_first();
    facts.summary.accesses.push_back(record);
    ArgumentAccess mode{kind != AccessKind::Store, kind != AccessKind::Load,
                        kind == AccessKind::Atomic};
    chargeOrigins(set, mode);
    // An address out of nowhere, such as a result of inline assembly.
    if (set.none())
      facts.summary.touchesUnknownMemory = true;
  }

  void chargeOrigins(const Origins &set, ArgumentAccess mode) {
    if (!mode.read && !mode.written)
      return;
    for (unsigned index : set.set_bits()) {
      if (index == unknownMemory())
        facts.summary.touchesUnknownMemory = true;
      if (index >= count)
        continue;
      ArgumentAccess &argument = facts.summary.arguments[index];
      argument.read |= mode.read;
      argument.written |= mode.written;
      argument.atomic |= mode.atomic;
    }
  }

  void chargeCall(CallOp call) {
    facts.summary.hasCalls = true;
    const FunctionFacts *callee = factsOfCallee(call);
    if (!callee)
      return defeatAll(call, "calls a function whose body is not known here");
    const AccessSummary &summary = callee->summary;
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      chargeOrigins(originsOf(operand), summary.arguments[index]);
      // The callee takes it for a number and could do anything with it.
      if (!mayBeAddress(operand.getType()))
        escape(call, operand);
    }
    facts.summary.touchesUnknownMemory |= summary.touchesUnknownMemory;
    // An impure callee can reach what it was not given.
    if (summary.defeated)
      markAll();
  }

  template <typename ForeignOp> void chargeForeign(ForeignOp op) {
    if (!op.getPure())
      return defeatAll(op, "is not pure and may touch any memory");
    // Pure code writes nothing; given an address it may read what is there.
    for (Value operand : op->getOperands())
      if (mayBeAddress(operand.getType()))
        chargeOrigins(originsOf(operand), {true, false, false});
  }

  /// An address written to memory can be used by anybody who reads it there.
  void escape(Operation *op, Value value) {
    const Origins &set = originsOf(value);
    for (unsigned index : set.set_bits()) {
      if (index >= count)
        continue;
      facts.summary.arguments[index] = {true, true, facts.summary.arguments[index].atomic};
      facts.summary.defeated = true;
      warn(op, "gives away the address in '" + nameOf(function.getArgument(index)) +
                   "', which therefore counts as read and written");
    }
  }

  void markAll() {
    facts.summary.defeated = true;
    facts.summary.touchesUnknownMemory = true;
    for (BlockArgument argument : function.getArguments())
      if (mayBeAddress(argument.getType())) {
        ArgumentAccess &access = facts.summary.arguments[argument.getArgNumber()];
        access.read = access.written = true;
      }
  }

  void defeatAll(Operation *op, const std::string &why) {
    markAll();
    warn(op, why + ": every pointer argument counts as read and written");
  }

  void warn(Operation *op, const std::string &text) {
    diagnostics.warning(sourceLocationOf(op->getLoc()), "'" + op->getName().getStringRef().str() +
                                                            "' in '" + function.getName().str() +
                                                            "' " + text);
  }
};

} // namespace

FunctionFacts &AccessAnalysis::Implementation::factsOf(FuncOp function) {
  std::unique_ptr<FunctionFacts> &known = facts[function];
  if (known)
    return *known;
  auto fresh = std::make_unique<FunctionFacts>();
  active.insert(function);
  FunctionScan(function, *fresh, diagnostics, [this](FuncOp callee) -> const FunctionFacts * {
    return active.contains(callee) ? nullptr : &factsOf(callee);
  }).run();
  active.erase(function);
  // `known` may have moved: the map grew while callees were analysed.
  return *(facts[function] = std::move(fresh));
}

AccessAnalysis::AccessAnalysis(Diagnostics &diagnostics)
    : implementation(std::make_unique<Implementation>(diagnostics)) {}

AccessAnalysis::~AccessAnalysis() = default;

const AccessSummary &AccessAnalysis::of(FuncOp function) {
  return implementation->factsOf(function).summary;
}

bool AccessSummary::isSingleStore(unsigned argument) const {
  if (defeated || hasCalls || arguments[argument].read || arguments[argument].atomic ||
      !arguments[argument].written)
    return false;
  int stores = 0;
  for (const MemoryAccess &access : accesses) {
    bool mayBeIt = access.argument == static_cast<int>(argument) || access.argument < 0;
    if (access.kind == AccessKind::Load || !mayBeIt)
      continue;
    if (access.argument < 0 || access.kind != AccessKind::Store || access.inLoop)
      return false;
    ++stores;
  }
  return stores == 1;
}

std::vector<const MemoryAccess *> AccessSummary::accessesOf(unsigned argument) const {
  std::vector<const MemoryAccess *> result;
  for (const MemoryAccess &access : accesses)
    if (access.argument == static_cast<int>(argument))
      result.push_back(&access);
  return result;
}

} // namespace pellucid::tt
