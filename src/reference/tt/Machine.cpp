// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/Machine.h"

#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace pellucid::reference {

static const HandlerTable &handlerTable() {
  static const HandlerTable table = [] {
    HandlerTable all;
    for (auto add :
         {addArithHandlers, addFloatHandlers, addCastHandlers, addMathHandlers, addShapeHandlers,
          addMemoryHandlers, addAtomicHandlers, addBlockHandlers, addRegionHandlers, addDotHandlers,
          addControlHandlers, addExternHandlers, addPrintHandlers})
      add(all);
    return all;
  }();
  return table;
}

Machine::Machine(ModuleOp module, const InterpretOptions &options, Diagnostics &diagnostics,
                 std::string *prints)
    : memory(options), options(options), prints(prints), module(module), diagnostics(diagnostics) {}

//===--- values ---------------------------------------------------------------------------===//

TilePtr Machine::get(Value value) const { return frames.back().at(value); }

const TileValue &Machine::operand(Operation &op, unsigned index) const {
  return *frames.back().at(op.getOperand(index));
}

void Machine::setResult(Operation &op, TileValue tile, unsigned index) {
  set(op.getResult(index), std::make_shared<const TileValue>(std::move(tile)));
}

Shape commonShape(ArrayRef<const TileValue *> operands) {
  for (const TileValue *operand : operands)
    if (!operand->isScalar())
      return operand->shape;
  return {};
}

SmallVector<const TileValue *> operandsOf(Machine &machine, Operation &op) {
  SmallVector<const TileValue *> operands;
  for (unsigned i = 0; i < op.getNumOperands(); ++i)
    operands.push_back(&machine.operand(op, i));
  return operands;
}

//===--- reporting ------------------------------------------------------------------------===//

SourceLocation Machine::locate(Operation &op) {
  SourceLocation where = tt::sourceLocationOf(op.getLoc());
  if (where.name.empty())
    return SourceLocation(op.getName().getStringRef().str());
  auto [entry, isNew] = files.try_emplace(where.name);
  if (isNew)
    entry->second = SourceFile::open(where.name);
  where.file = entry->second;
  return where;
}

std::string Machine::programText() const {
  return "program (" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " +
         std::to_string(program[2]) + ")";
}

bool Machine::isFirst(Operation &op, StringRef topic) {
  std::vector<std::string> &topics = reported[&op];
  if (llvm::is_contained(topics, topic))
    return false;
  topics.push_back(topic.str());
  return true;
}

void Machine::addCallers(Diagnostic &diagnostic) {
  for (Operation *site : llvm::reverse(callSites))
    diagnostic.note(locate(*site), "called from here");
}

void Machine::report(Operation &op, StringRef topic, const std::string &message) {
  if (!isFirst(op, topic))
    return;
  addCallers(diagnostics.error(locate(op), message + ", in " + programText()));
  if (++errors >= options.maxErrors)
    throw Stopped{};
}

void Machine::fail(Operation &op, const std::string &message) {
  addCallers(diagnostics.error(locate(op), message));
  throw Stopped{};
}

void Machine::warn(Operation &op, StringRef topic, const std::string &message) {
  if (isFirst(op, topic))
    addCallers(diagnostics.warning(locate(op), message + ", in " + programText()));
}

//===--- memory ---------------------------------------------------------------------------===//

static const char *verbOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "reads ";
  case AccessKind::Store:
    return "writes ";
  case AccessKind::Atomic:
    return "updates ";
  }
  return "";
}

static std::string textOf(const AccessShadow::Finding &finding, std::array<uint32_t, 3> grid) {
  using Finding = AccessShadow::Finding;
  uint64_t id = finding.otherProgram;
  std::string other = "program (" + std::to_string(id % grid[0]) + ", " +
                      std::to_string(id / grid[0] % grid[1]) + ", " +
                      std::to_string(id / grid[0] / grid[1]) + ")";
  switch (finding.kind) {
  case Finding::Uninitialized:
    return ", which was never written";
  case Finding::ReadOfForeignWrite:
    return ", which " + other + " wrote: a race";
  case Finding::WriteAfterForeignRead:
    return ", which " + other + " read: a race";
  case Finding::ForeignWrite:
    return ", which " + other + " wrote: a race";
  }
  return "";
}

void Machine::check(Operation &op, const std::optional<AccessShadow::Finding> &finding,
                    const Access &access) {
  if (!finding)
    return;
  std::string place = memory.describe(access);
  report(op, "sanitize" + std::to_string(finding->kind),
         verbOf(access.kind) + place.substr(0, place.find(", which")) +
             textOf(*finding, options.grid));
}

uint64_t Machine::load(Operation &op, const Access &access) {
  if (!memory.allows(access)) {
    report(op, "bounds" + std::to_string(access.origin),
           verbOf(access.kind) + memory.describe(access));
    return 0;
  }
  if (AccessShadow *shadow = memory.shadow()) {
    int region = memory.regionOf(access);
    uint64_t offset = access.address - reinterpret_cast<uint64_t>(memory.region(region).base);
    check(op, shadow->onRead(region, offset, access.bytes, access.kind == AccessKind::Atomic),
          access);
  }
  return memory.read(access);
}

void Machine::store(Operation &op, const Access &access, uint64_t bits) {
  if (!memory.allows(access))
    return report(op, "bounds" + std::to_string(access.origin),
                  verbOf(access.kind) + memory.describe(access));
  if (AccessShadow *shadow = memory.shadow()) {
    int region = memory.regionOf(access);
    uint64_t offset = access.address - reinterpret_cast<uint64_t>(memory.region(region).base);
    check(op,
          shadow->onWrite(region, offset, access.bytes, access.kind == AccessKind::Atomic,
                          memory.read(access) != bits),
          access);
  }
  if (probe)
    probe->onWrite(op, access, bits);
  memory.write(access, bits);
}

//===--- running --------------------------------------------------------------------------===//

void Machine::execute(Operation &op) {
  if (++steps > options.stepLimit && options.stepLimit)
    fail(op, "the kernel did not end within " + std::to_string(options.stepLimit) +
                 " operations, in " + programText());
  auto [entry, isNew] = handlers.try_emplace(op.getName(), nullptr);
  if (isNew)
    entry->second = handlerTable().lookup(op.getName().getStringRef());
  if (!entry->second)
    fail(op, "'" + op.getName().getStringRef().str() + "' cannot be interpreted");
  // A copy: the handler may run regions that add to the table.
  Handler handler = entry->second;
  handler(*this, op);
}

static void bindArguments(Machine &machine, Block &block, ArrayRef<TilePtr> arguments) {
  for (auto [parameter, argument] : llvm::zip_equal(block.getArguments(), arguments))
    machine.set(parameter, argument);
}

/// Where a branch goes, and the operands it hands over. Null when `op` is no branch.
static std::pair<Block *, OperandRange> branchTarget(Machine &machine, Operation &op) {
  if (auto branch = dyn_cast<cf::BranchOp>(op))
    return {branch.getDest(), branch.getDestOperands()};
  if (auto branch = dyn_cast<cf::CondBranchOp>(op))
    return machine.get(branch.getCondition())->elements[0].bits
               ? std::pair<Block *, OperandRange>(branch.getTrueDest(),
                                                  branch.getTrueDestOperands())
               : std::pair<Block *, OperandRange>(branch.getFalseDest(),
                                                  branch.getFalseDestOperands());
  if (auto branch = dyn_cast<cf::SwitchOp>(op)) {
    uint64_t flag = machine.get(branch.getFlag())->elements[0].bits;
    if (branch.getCaseValues())
      for (auto [index, value] : llvm::enumerate(branch.getCaseValues()->getValues<APInt>()))
        if (value.getZExtValue() == flag)
          return {branch.getCaseDestinations()[index], branch.getCaseOperands(index)};
    return {branch.getDefaultDestination(), branch.getDefaultOperands()};
  }
  return {nullptr, op.getOperands()};
}

Machine::Exit Machine::runRegion(Region &region, ArrayRef<TilePtr> arguments) {
  Block *block = &region.front();
  SmallVector<TilePtr> passed(arguments);
  while (true) {
    bindArguments(*this, *block, passed);
    for (Operation &op : block->without_terminator())
      execute(op);
    Operation *terminator = block->getTerminator();
    if (++steps > options.stepLimit && options.stepLimit)
      fail(*terminator, "the kernel did not end within " + std::to_string(options.stepLimit) +
                            " operations, in " + programText());
    if (terminator->getName().getStringRef() == "ub.unreachable")
      fail(*terminator, "reaches what the compiler was told is unreachable, in " + programText());
    auto [next, handedOver] = branchTarget(*this, *terminator);
    passed.clear();
    for (Value value : handedOver)
      passed.push_back(get(value));
    if (!next)
      return {terminator, std::move(passed)};
    block = next;
  }
}

SmallVector<TilePtr> Machine::call(Operation &site, StringRef callee, ArrayRef<TilePtr> arguments) {
  auto function = module.lookupSymbol<tt::FuncOp>(callee);
  if (!function || function.isExternal())
    fail(site, "calls '" + callee.str() + "', which has no body");
  constexpr size_t maxDepth = 256;
  if (frames.size() >= maxDepth)
    fail(site, "calls nest deeper than " + std::to_string(maxDepth));
  callSites.push_back(&site);
  frames.emplace_back();
  Exit exit = runRegion(function.getBody(), arguments);
  frames.pop_back();
  callSites.pop_back();
  return std::move(exit.operands);
}

//===--- the launch -----------------------------------------------------------------------===//

static std::string nameOfArgument(tt::FuncOp kernel, unsigned index) {
  if (auto name = kernel.getArgument(index).getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return "argument " + std::to_string(index);
}

/// What the argument must be for a parameter of type `type`.
static bool fits(const Argument &argument, Type type) {
  switch (argument.kind) {
  case Argument::Pointer:
    return tt::isScalarPointer(type);
  case Argument::Int:
    return isa<IntegerType>(type);
  case Argument::Float:
    return isa<FloatType>(type);
  case Argument::Descriptor:
    if (auto descriptor = dyn_cast<tt::TensorDescType>(type))
      return argument.sizes.size() == descriptor.getShape().size() &&
             argument.strides.size() == descriptor.getShape().size();
    return false;
  }
  return false;
}

SmallVector<TilePtr> Machine::makeArguments(Operation &op, std::span<const Argument> arguments) {
  auto kernel = cast<tt::FuncOp>(op);
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (types.size() != arguments.size())
    fail(op, "'" + kernel.getName().str() + "' expects " + std::to_string(types.size()) +
                 " arguments, got " + std::to_string(arguments.size()));
  SmallVector<TilePtr> values;
  for (unsigned i = 0; i < types.size(); ++i) {
    const Argument &argument = arguments[i];
    if (!fits(argument, types[i])) {
      std::string expected;
      llvm::raw_string_ostream(expected) << types[i];
      fail(op, "'" + nameOfArgument(kernel, i) + "' expects " + expected);
    }
    TileValue value = scalarOf(types[i], 0);
    Element &element = value.elements[0];
    if (argument.kind == Argument::Int) {
      element.bits = wrap(static_cast<uint64_t>(argument.i), widthOf(types[i]));
    } else if (argument.kind == Argument::Float) {
      element.bits = encodeFloat(argument.f, formatOf(types[i]));
    } else {
      element.bits = reinterpret_cast<uint64_t>(argument.pointer);
      element.origin = memory.addOrigin(nameOfArgument(kernel, i), element.bits);
    }
    if (argument.kind == Argument::Descriptor)
      value.block = std::make_shared<BlockView>(
          BlockView{element,
                    SmallVector<int64_t, 4>(argument.sizes.begin(), argument.sizes.end()),
                    SmallVector<int64_t, 4>(argument.strides.begin(), argument.strides.end()),
                    {},
                    argument.padsWithNan});
    values.push_back(std::make_shared<const TileValue>(std::move(value)));
  }
  return values;
}

void Machine::run(Operation &kernel, std::span<const Argument> arguments) {
  SmallVector<TilePtr> values = makeArguments(kernel, arguments);
  uint64_t number = 0;
  for (program[2] = 0; program[2] < options.grid[2]; ++program[2])
    for (program[1] = 0; program[1] < options.grid[1]; ++program[1])
      for (program[0] = 0; program[0] < options.grid[0]; ++program[0]) {
        if (AccessShadow *shadow = memory.shadow())
          shadow->beginProgram(number++);
        frames.clear();
        frames.emplace_back();
        runRegion(cast<tt::FuncOp>(kernel).getBody(), values);
      }
}

/// For InterpretOptions::touched.
static void summariseTouched(Memory &memory, const InterpretOptions &options) {
  if (!options.touched || !memory.shadow())
    return;
  for (size_t i = 0; i < options.regions.size(); ++i) {
    TouchedRegion &touched = options.touched->emplace_back();
    touched.base = options.regions[i].base;
    touched.name = options.regions[i].name;
    memory.shadow()->summarise(static_cast<int>(i), touched);
  }
}

bool interpret(ModuleOp module, StringRef name, std::span<const Argument> arguments,
               const InterpretOptions &options, Diagnostics &diagnostics, std::string *prints) {
  auto kernel = module.lookupSymbol<tt::FuncOp>(name);
  if (!kernel || kernel.isExternal()) {
    diagnostics.error(SourceLocation(), "there is no kernel named '" + name.str() + "'");
    return false;
  }
  size_t before = diagnostics.all().size();
  Machine machine(module, options, diagnostics, prints);
  LaneProbe probe;
  std::optional<RegionContents> contents;
  if (options.undefinedLanes && options.checkBounds && mayLeaveLanesUndefined(module)) {
    contents.emplace(options.regions);
    machine.probe = &probe;
  }
  try {
    machine.run(*kernel, arguments);
  } catch (const StopReached &) {
    return true;
  } catch (const Stopped &) {
    summariseTouched(machine.memory, options);
    return false;
  }
  summariseTouched(machine.memory, options);
  for (size_t i = before; i < diagnostics.all().size(); ++i)
    if (diagnostics.all()[i].severity == Severity::Error)
      return false;
  if (!contents || probe.loads.empty())
    return true;
  RegionContents results(options.regions);
  bool isDefined = checkUndefinedLanes(module, *kernel, arguments, options, *contents, probe,
                                       machine.stepsTaken(), diagnostics);
  results.restore();
  return isDefined;
}

} // namespace pellucid::reference
