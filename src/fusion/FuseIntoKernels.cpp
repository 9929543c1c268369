// SPDX-License-Identifier: Apache-2.0
#include "fusion/FuseIntoKernels.h"

#include "fusion/SpliceKernel.h"
#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace pellucid::fusion {

using namespace graph;
using passes::PointwiseGroup;

namespace {

/// One variant of the launch at hand, opened for change.
struct OpenKernel {
  KernelDef def;
  size_t variant = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;
  bool changed = false;

  /// The number of the run-time argument called `name`.
  std::optional<unsigned> argument(const std::string &name) const {
    unsigned number = 0;
    for (const KernelParameter &parameter : def.parameters) {
      if (parameter.kind == KernelParameter::Kind::Constant)
        continue;
      if (parameter.name == name)
        return number;
      ++number;
    }
    return std::nullopt;
  }
};

class LaunchFuser {
public:
  LaunchFuser(Program &p, const OperatorRegistry &r, mlir::MLIRContext &c, const EmitChain &e,
              FusionReport &out)
      : program(p), registry(r), context(c), emit(e), report(out), names(p) {}

  void run(Node &node) {
    launchNode = &node;
    if (!open()) {
      noteUntouchable("its kernel could not be read back");
      return;
    }
    std::vector<std::string> names;
    for (const LaunchOperand &operand : launchNode->launch()->operands)
      names.push_back(operand.name);
    resultsBefore.clear();
    for (size_t r = 0; r < launchNode->resultCount(); ++r)
      resultsBefore.push_back(launchNode->result(r)->name());
    for (const std::string &name : names)
      fusePrologue(name);
    fuseEpilogues();
    close();
  }

private:
  // --- the kernels of the launch
  // ---------------------------------------------------------------------------------

  bool open() {
    kernels.clear();
    for (const LaunchVariant &variant : launchNode->launch()->variants) {
      OpenKernel kernel;
      kernel.variant = kernels.size();
      kernel.def = program.kernels[variant.kernel];
      Diagnostics ignored;
      kernel.module = tt::parseTtir(kernel.def.ttir, &context, ignored, kernel.def.name);
      if (!kernel.module)
        return false;
      mlir::PassManager pipeline(&context);
      tt::buildKernelPipeline(pipeline);
      if (mlir::failed(pipeline.run(*kernel.module)))
        return false;
      kernel.module->walk([&](tt::FuncOp function) {
        if (function.isKernel())
          kernel.function = function;
      });
      if (!kernel.function)
        return false;
      kernels.push_back(std::move(kernel));
    }
    return true;
  }

  /// Layers that repeat become the same kernel again.
  uint32_t kernelFor(OpenKernel &kernel) {
    std::string key;
    for (const KernelParameter &parameter : kernel.def.parameters)
      key += parameter.name + ":" + std::to_string(static_cast<int>(parameter.dtype)) +
             std::to_string(static_cast<int>(parameter.access)) + toString(parameter.constant) +
             " ";
    kernel.function.setName(kernel.def.name);
    key += tt::printTtir(*kernel.module, tt::TtirVersion::V3_6, true);
    auto [entry, isNew] =
        known.try_emplace(std::move(key), static_cast<uint32_t>(program.kernels.size()));
    if (isNew) {
      kernel.def.symbol = names.unique(kernel.def.name + "_fused");
      kernel.function.setName(kernel.def.symbol);
      kernel.def.ttir = tt::printTtir(*kernel.module, tt::TtirVersion::V3_6, true);
      program.kernels.push_back(kernel.def);
    }
    return entry->second;
  }

  /// Stores what changed as new kernels, so that other launches of the old ones stay as they are.
  void close() {
    Launch launch = *launchNode->launch();
    bool any = false;
    for (size_t v = 0; v < kernels.size(); ++v) {
      OpenKernel &kernel = kernels[v];
      if (!kernel.changed)
        continue;
      any = true;
      launch.variants[v].kernel = kernelFor(kernel);
    }
    if (!any)
      return;
    launchNode->setLaunch(std::move(launch));
    for (size_t r = 0; r < launchNode->resultCount(); ++r)
      report.results.push_back(
          {kernels[0].def.name, resultsBefore[r], launchNode->result(r)->name()});
  }

  void noteUntouchable(const std::string &why) {
    for (const LaunchOperand &operand : launchNode->launch()->operands)
      if (Value *value = operand.value.value();
          value && value->isTensor() && value->producer()->isCall() && !isFresh(value))
        note(value->producer(), launchNode, false, why);
  }

  void note(const Node *from, const Node *to, bool fused, std::string reason) {
    report.edges.push_back({from->name(), to->name(), fused, std::move(reason)});
  }

  const LaunchOperand *operandNamed(const std::string &name) const {
    for (const LaunchOperand &operand : launchNode->launch()->operands)
      if (operand.name == name)
        return &operand;
    return nullptr;
  }

  /// The grid and the integers that the launch gives to this kernel's arguments.
  LaunchValues valuesOf(const OpenKernel &kernel) const {
    const LaunchVariant &variant = launchNode->launch()->variants[kernel.variant];
    LaunchValues values;
    values.symbols = &program.symbols;
    std::copy(std::begin(variant.grid), std::end(variant.grid), values.grid.begin());
    for (const KernelParameter &parameter : kernel.def.parameters) {
      if (parameter.kind == KernelParameter::Kind::Constant)
        continue;
      values.arguments.emplace_back();
      const LaunchOperand *operand = operandNamed(parameter.name);
      if (!operand || parameter.kind != KernelParameter::Kind::Scalar)
        continue;
      if (Value *value = operand->value.value(); value && value->isSymInt())
        values.arguments.back() = value->expr();
      else if (auto integer = operand->value.integer())
        values.arguments.back() = *integer;
    }
    return values;
  }

  /// The first launch from `from` up to `to` that overwrites memory that `value` lives in: moving a
  /// reader of `value` past it would need a copy of the old contents.
  const Node *overwriterBetween(const Value *value, const Node *from, const Node *to) const {
    constexpr int farthest = 256;
    const Value *root = passes::aliasRoot(value, registry);
    int distance = 0;
    for (const Node *node = from; node && node != to && distance < farthest;
         node = node->next(), ++distance)
      if (const Launch *launch = node->launch())
        for (uint32_t written : launch->resultOperands)
          if (passes::aliasRoot(launch->operands[written].value.value(), registry) == root)
            return node;
    return nullptr;
  }

  /// True for views of a whole dense tensor in the same linear order: reshapes.
  bool isReshape(const Node *node) const {
    const Operator *op =
        node->isCall() && !node->isLaunch() ? registry.find(node->target()) : nullptr;
    if (!op || op->kind != Operator::Kind::View || op->schema.space == "pellucid" ||
        node->resultCount() != 1)
      return false;
    const Value *base = node->arg(0).value();
    const TensorType &from = base->type(), &to = node->result()->type();
    return from.isContiguous(program.symbols) && to.isContiguous(program.symbols) &&
           from.dtype == to.dtype && from.offset == to.offset &&
           program.symbols.proveEqual(from.numel(), to.numel());
  }

  static std::string twoReaders(const Value *value) {
    return "two readers: '" + value->users().front()->name() + "' and '" +
           value->users().back()->name() + "'";
  }

  bool isFresh(const Value *value) const {
    const Node *producer = value->producer();
    const Operator *op =
        producer->isCall() && !producer->isLaunch() ? registry.find(producer->target()) : nullptr;
    return op && op->kind == Operator::Kind::Factory && op->factory.value.empty();
  }

  // --- chains
  // ----------------------------------------------------------------------------------------------------

  /// How `value` follows from the linear offset in a dense tensor of `shape`; nullopt when it does
  /// not.
  std::optional<ChainOperand> classify(const Value *value, const std::vector<Expr> &shape) const {
    const TensorType &type = value->type();
    ChainOperand operand;
    operand.dtype = type.dtype;
    bool dense = type.isContiguous(program.symbols);
    if (program.symbols.proveEqual(type.numel(), 1)) {
      operand.kind = ChainOperand::Kind::Scalar;
      return operand;
    }
    if (dense && type.shape == shape)
      return operand;
    // A row vector: its dims of more than one element are the last ones of the shape.
    size_t skip = 0;
    while (skip < type.rank() && symbols().proveEqual(type.shape[skip], 1))
      ++skip;
    size_t length = type.rank() - skip;
    if (!dense || length == 0 || length > shape.size())
      return std::nullopt;
    if (!std::equal(type.shape.begin() + static_cast<long>(skip), type.shape.end(),
                    shape.end() - static_cast<long>(length)))
      return std::nullopt;
    if (length == shape.size())
      return operand;
    operand.kind = ChainOperand::Kind::RowVector;
    operand.length = symbols().prove(symbolic::lessEqual(1, type.numel())) == true
                         ? type.numel()
                         : symbolic::max(type.numel(), 1);
    return operand;
  }
  const SymbolTable &symbols() const { return program.symbols; }

  bool sharesMemoryWithWritten(const Value *value) const {
    const Value *root = passes::aliasRoot(value, registry);
    for (const LaunchOperand &operand : launchNode->launch()->operands)
      if (Value *written = operand.value.value();
          written && graph::writes(operand.access) && written->isTensor())
        if (passes::aliasRoot(written, registry) == root)
          return true;
    return false;
  }

  /// The scalar code and operand list of `nodes`; `through` is the value that the kernel stores
  /// (null for prologues).
  std::optional<std::string> buildChain(const std::vector<Node *> &nodes, const Value *through,
                                        Chain &chain, std::vector<Value *> &inputs) {
    const Value *result = nodes.back()->result();
    PointwiseGroup group;
    for (const Node *node : nodes)
      passes::addToGroup(group, *node, registry, program.symbols);
    if (group.usesIndex)
      return "it depends on the number of the element";
    inputs = group.inputs;
    std::vector<DataType> types;
    std::string parameters;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value *value = inputs[i];
      if (value == through) {
        chain.operands.push_back({ChainOperand::Kind::Through, value->type().dtype, 1});
      } else {
        auto operand = classify(value, result->type().shape);
        if (!operand)
          return "foreign stride: '" + value->name() +
                 "' is neither in the same linear order nor a scalar nor a row vector";
        if (sharesMemoryWithWritten(value))
          return "alias: '" + value->name() + "' shares memory with what the kernel writes";
        chain.operands.push_back(*operand);
      }
      types.push_back(value->type().dtype);
      parameters += ", in" + std::to_string(i);
    }
    for (const passes::TextScalar &scalar : group.scalars) {
      chain.operands.push_back({ChainOperand::Kind::Size, DataType::Int64, scalar.value});
      types.push_back(DataType::Int64);
      parameters += ", " + scalar.name;
    }
    std::string source = "import triton\nimport triton.language as tl\nfrom triton.language.extra "
                         "import libdevice\n\n\n@triton.jit\ndef chain(out" +
                         parameters + "):\n";
    for (const passes::TextStatement &statement : group.body)
      source += "    " + statement.name + " = " + statement.text + "\n";
    source += "    tl.store(out, " + group.names.at(result) + ")\n";
    chain.result = result->type().dtype;
    chain.expensive = group.expensive;
    chain.scalar = emit(source, chain.result, types);
    if (!chain.scalar)
      return "the front end did not take the operators' code";
    return std::nullopt;
  }

  // --- operators before the kernel
  // -------------------------------------------------------------------------------

  /// Why the producer of this operand cannot move in, told from the graph alone.
  std::optional<std::string> refuseProducer(const LaunchOperand &operand,
                                            const Value *value) const {
    const Node *producer = value->producer();
    if (producer->isLaunch())
      return "a kernel's result: kernels are not fused into each other";
    const Operator *op = registry.find(producer->target());
    if (op && op->kind == Operator::Kind::View)
      return op->schema.space == "pellucid" ? "the border of an opaque operator"
                                            : "foreign stride: it is a view";
    if (!passes::isPointwise(*producer, registry))
      return "'" + producer->target() + "' is not pointwise";
    if (operand.unknownAccess)
      return "it is not known how the kernel uses it";
    if (graph::reads(operand.access) && graph::writes(operand.access))
      return describeReadWrite(kernels.front().function, *kernels.front().argument(operand.name));
    if (graph::writes(operand.access))
      return "the kernel writes it";
    for (const LaunchOperand &other : launchNode->launch()->operands)
      if (&other != &operand && other.value.value() == operand.value.value())
        return "alias: the kernel also has it as '" + other.name + "'";
    if (!value->type().isContiguous(program.symbols))
      return "foreign stride: it is not dense and row-major";
    return std::nullopt;
  }

  void fusePrologue(const std::string &name) {
    const LaunchOperand &operand = *operandNamed(name);
    Value *value = operand.value.value();
    if (!value || !value->isTensor())
      return;
    std::vector<Node *> reshapes;
    const Value *shared = nullptr;
    for (;; value = value->producer()->arg(0).value()) {
      shared = !shared && value->users().size() != 1 ? value : shared;
      if (!isReshape(value->producer()))
        break;
      reshapes.push_back(value->producer());
    }
    Node *producer = value->producer();
    if (!producer->isCall() || isFresh(value))
      return;
    std::optional<std::string> reason = refuseProducer(operand, value);
    if (!reason && shared)
      reason = twoReaders(shared);
    if (reason) {
      note(producer, launchNode, false, *reason);
      return;
    }
    // The whole group of producers, else the last of them alone.
    std::vector<Node *> group =
        passes::collectProducers(*producer, true, value->type().shape, registry);
    for (const std::vector<Node *> &nodes : {group, std::vector<Node *>{producer}}) {
      reason = tryPrologue(name, nodes, reshapes);
      if (!reason)
        return;
    }
    note(producer, launchNode, false, *reason);
  }

  std::optional<std::string> tryPrologue(const std::string &name, const std::vector<Node *> &nodes,
                                         const std::vector<Node *> &reshapes) {
    Chain chain;
    std::vector<Value *> inputs;
    if (auto reason = buildChain(nodes, nullptr, chain, inputs))
      return reason;
    for (const Value *input : inputs)
      if (const Node *writer = overwriterBetween(input, nodes.front(), launchNode))
        return "alias: '" + writer->name() + "' overwrites '" + input->name() +
               "' before the kernel runs";
    for (OpenKernel &kernel : kernels)
      if (auto reason =
              refuseLoadFusion(kernel.function, *kernel.argument(name), chain, valuesOf(kernel)))
        return reason;
    noteFused(nodes);
    note(nodes.back(), launchNode, true, "computed where the kernel loads it");
    std::vector<LaunchOperand> added;
    for (OpenKernel &kernel : kernels) {
      AddedArguments arguments = fuseIntoLoads(kernel.function, *kernel.argument(name), chain);
      added = recordArguments(kernel, chain, inputs, arguments, name);
    }
    Launch launch = *launchNode->launch();
    std::erase_if(launch.operands, [&](const LaunchOperand &o) { return o.name == name; });
    launch.operands.insert(launch.operands.end(), added.begin(), added.end());
    reindexResults(launch);
    launchNode->setLaunch(std::move(launch));
    for (Node *reshape : reshapes)
      program.main.erase(reshape);
    for (size_t i = nodes.size(); i-- > 0;)
      program.main.erase(nodes[i]);
    return std::nullopt;
  }

  /// Edges inside a chain that moved.
  void noteFused(const std::vector<Node *> &nodes) {
    std::unordered_set<const Node *> members(nodes.begin(), nodes.end());
    for (const Node *node : nodes)
      node->forEachOperand([&](Value *value) {
        if (members.count(value->producer()))
          note(value->producer(), node, true, "in one chain");
      });
  }

  /// Erases argument `replaced` from the kernel and its parameter list, and appends the new ones to
  /// both.
  std::vector<LaunchOperand> recordArguments(OpenKernel &kernel, const Chain &chain,
                                             const std::vector<Value *> &inputs,
                                             const AddedArguments &arguments,
                                             const std::string &replaced) {
    std::vector<LaunchOperand> operands;
    unsigned old = *kernel.argument(replaced);
    std::erase_if(kernel.def.parameters,
                  [&](const KernelParameter &p) { return p.name == replaced; });
    auto append = [&](KernelParameter::Kind kind, DataType type, Access access, Argument value) {
      KernelParameter parameter;
      parameter.name = freshName(kernel);
      parameter.kind = kind;
      parameter.dtype = type;
      parameter.access = access;
      kernel.def.parameters.push_back(parameter);
      operands.push_back({parameter.name, std::move(value), access, false});
    };
    for (size_t i = 0; i < chain.operands.size(); ++i)
      if (arguments.pointers[i])
        append(KernelParameter::Kind::Pointer, chain.operands[i].dtype, Access::Read,
               Argument(inputs[i]));
    for (const auto &[expr, number] : arguments.scalars)
      append(KernelParameter::Kind::Scalar, DataType::Int64, Access::None, Argument(expr));
    if (arguments.output)
      append(KernelParameter::Kind::Pointer, chain.result, Access::Write, Argument());
    eraseArguments(kernel.function, {old});
    kernel.changed = true;
    return operands;
  }

  static std::string freshName(const OpenKernel &kernel) {
    for (size_t i = 0;; ++i) {
      std::string name = "fused" + std::to_string(i);
      bool taken = false;
      for (const KernelParameter &parameter : kernel.def.parameters)
        taken |= parameter.name == name;
      if (!taken)
        return name;
    }
  }

  /// Written operands keep their order; only their positions moved.
  static void reindexResults(Launch &launch) {
    launch.resultOperands.clear();
    for (uint32_t i = 0; i < launch.operands.size(); ++i)
      if (graph::writes(launch.operands[i].access) && launch.operands[i].value.value())
        launch.resultOperands.push_back(i);
  }

  // --- operators after the kernel
  // --------------------------------------------------------------------------------

  void fuseEpilogues() {
    // A kernel with several outputs keeps its other results; each is looked at once.
    for (size_t r = 0; r < launchNode->resultCount(); ++r) {
      const Launch &launch = *launchNode->launch();
      std::string name = launch.operands[launch.resultOperands[r]].name;
      fuseEpilogue(name, r);
    }
  }

  /// Why nothing that follows can move before the store to `name`, told from the graph alone.
  /// `value` is the launch's result, or what reshapes made of it.
  std::optional<std::string> refuseConsumer(const std::string &name, const Value *value) const {
    const LaunchOperand &operand = *operandNamed(name);
    const Value *old = operand.value.value();
    const Node *consumer = value->users().front();
    if (consumer->isLaunch())
      return "a kernel: kernels are not fused into each other";
    if (const Operator *op = registry.find(consumer->target());
        op && op->kind == Operator::Kind::View)
      return op->schema.space == "pellucid" ? "the border of an opaque operator"
                                            : "foreign stride: it is a view";
    if (!passes::isPointwise(*consumer, registry))
      return "'" + consumer->target() + "' is not pointwise";
    if (launchNode->resultCount() != 1)
      return "the kernel has " + std::to_string(launchNode->resultCount()) + " results";
    for (const LaunchOperand &any : launchNode->launch()->operands)
      if (any.unknownAccess)
        return "it is not known how the kernel uses '" + any.name + "'";
    if (graph::reads(operand.access))
      return describeReadWrite(kernels.front().function, *kernels.front().argument(name));
    if (!holdsNothing(old))
      return "alias: the kernel writes into '" + old->name() +
             "', which holds more than its results";
    if (old->users().size() != 1)
      return "alias: '" + old->name() + "' has another user";
    for (const LaunchOperand &other : launchNode->launch()->operands)
      if (&other != &operand && other.value.value() == old)
        return "alias: the kernel also has its output as '" + other.name + "'";
    if (!value->type().isContiguous(program.symbols))
      return "foreign stride: it is not dense and row-major";
    if (consumer->result()->type().shape != value->type().shape)
      return "the result has another shape, " + toString(consumer->result()->type());
    return std::nullopt;
  }

  /// A tensor of its own without contents, or with contents that nobody needs where the kernel
  /// overwrites all of them.
  bool holdsNothing(const Value *value) const {
    const Node *producer = value->producer();
    const Operator *op =
        producer->isCall() && !producer->isLaunch() ? registry.find(producer->target()) : nullptr;
    return op && op->kind == Operator::Kind::Factory;
  }

  /// `first` and what follows it one by one, pointwise and of the same shape.
  std::vector<Node *> consumerChain(Node *first) const {
    std::vector<Node *> chain{first};
    while (chain.size() < 32) {
      Value *value = chain.back()->result();
      if (value->users().size() != 1)
        break;
      Node *next = value->users().front();
      if (next->isOutput() || !passes::isPointwise(*next, registry) ||
          next->result()->type().shape != value->type().shape)
        break;
      chain.push_back(next);
    }
    return chain;
  }

  /// True when computing `value` needs the launch to have run.
  bool dependsOnLaunch(Value *value) const {
    std::vector<const Node *> pending{value->producer()};
    std::unordered_set<const Node *> seen;
    while (!pending.empty()) {
      const Node *node = pending.back();
      pending.pop_back();
      if (node == launchNode)
        return true;
      if (node->isBefore(launchNode) || !seen.insert(node).second)
        continue;
      node->forEachOperand([&](Value *operand) { pending.push_back(operand->producer()); });
    }
    return false;
  }

  void fuseEpilogue(const std::string &name, size_t r) {
    Value *value = launchNode->result(r);
    std::vector<Node *> reshapes;
    while (value->users().size() == 1 && isReshape(value->users().front())) {
      reshapes.push_back(value->users().front());
      value = reshapes.back()->result();
    }
    if (value->users().empty() ||
        (value->users().size() == 1 && value->users().front()->isOutput()))
      return;
    std::optional<std::string> reason =
        value->users().size() != 1 ? twoReaders(value) : refuseConsumer(name, value);
    if (reason) {
      for (const Node *user : value->users())
        if (!user->isOutput())
          note(launchNode, user, false, *reason);
      return;
    }
    Node *first = value->users().front();
    for (std::vector<Node *> chain = consumerChain(first); !chain.empty(); chain.pop_back()) {
      // With what the chain alone needs beside it, else the chain alone.
      std::vector<Node *> group =
          passes::collectProducers(*chain.back(), true, value->type().shape, registry);
      bool whole = std::includes(group.begin(), group.end(), chain.begin(), chain.end(),
                                 [](const Node *a, const Node *b) { return a->isBefore(b); });
      if (whole && group.size() > chain.size() &&
          !(reason = tryEpilogue(name, group, value, reshapes)))
        return;
      if (!(reason = tryEpilogue(name, chain, value, reshapes)))
        return;
    }
    note(launchNode, first, false, *reason);
  }

  std::optional<std::string> tryEpilogue(const std::string &name, const std::vector<Node *> &nodes,
                                         Value *value, const std::vector<Node *> &reshapes) {
    Chain chain;
    std::vector<Value *> inputs;
    if (auto reason = buildChain(nodes, value, chain, inputs))
      return reason;
    for (Value *input : inputs) {
      if (input != value && dependsOnLaunch(input))
        return "'" + input->name() + "' needs the kernel's result";
      if (const Node *writer = overwriterBetween(input, nodes.front(), nodes.back()))
        return "alias: '" + writer->name() + "' overwrites '" + input->name() +
               "' before the kernel stores";
    }
    for (const LaunchOperand &operand : launchNode->launch()->operands)
      if (const Value *read = operand.value.value(); read && read->isTensor())
        if (const Node *writer = overwriterBetween(read, launchNode->next(), nodes.back()))
          return "alias: '" + writer->name() + "' overwrites '" + read->name() +
                 "' before the operator runs";
    for (OpenKernel &kernel : kernels)
      if (auto reason = refuseStoreFusion(kernel.function, *kernel.argument(name), chain,
                                          valuesOf(kernel), value->type().numel()))
        return reason;
    note(launchNode, value->users().front(), true, "computed before the kernel stores it");
    noteFused(nodes);
    std::vector<LaunchOperand> added;
    for (OpenKernel &kernel : kernels) {
      AddedArguments arguments = fuseIntoStore(kernel.function, *kernel.argument(name), chain);
      added = recordArguments(kernel, chain, inputs, arguments, name);
    }
    std::vector<Node *> replaced = reshapes;
    replaced.insert(replaced.end(), nodes.begin(), nodes.end());
    relaunch(name, replaced, std::move(added));
    return std::nullopt;
  }

  /// Moves the launch to the last of `nodes`, with a buffer of that one's type in the place of the
  /// old one.
  void relaunch(const std::string &name, const std::vector<Node *> &nodes,
                std::vector<LaunchOperand> added) {
    Node *last = nodes.back();
    Value *old = operandNamed(name)->value.value();
    TensorType type(last->result()->type().dtype, last->result()->type().shape,
                    last->result()->type().device);
    program.main.setInsertionPoint(last);
    Value *buffer = program.main
                        .call("aten.empty_strided.default",
                              {Argument::list(type.shape), Argument::list(type.strides)},
                              {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}},
                              {type}, "empty")
                        ->result();
    Launch launch = *launchNode->launch();
    std::erase_if(launch.operands, [&](const LaunchOperand &o) { return o.name == name; });
    added.back().value = Argument(buffer);
    launch.operands.insert(launch.operands.end(), added.begin(), added.end());
    launch.resultOperands.clear();
    program.main.setLocation(launchNode->location);
    Node *fresh = program.main.launch(std::move(launch), launchNode->name());
    resultsBefore = {last->result()->name()};
    program.main.replaceAllUses(last->result(), fresh->result());
    for (size_t i = nodes.size(); i-- > 0;)
      program.main.erase(nodes[i]);
    Node *previous = launchNode;
    launchNode = fresh;
    program.main.erase(previous);
    if (old->isUnused())
      program.main.erase(old->producer());
    program.main.setInsertionPoint(nullptr);
  }

  Program &program;
  const OperatorRegistry &registry;
  mlir::MLIRContext &context;
  const EmitChain &emit;
  FusionReport &report;
  KernelNames names;
  std::unordered_map<std::string, uint32_t> known; ///< fused kernels by their text
  Node *launchNode = nullptr;
  std::vector<OpenKernel> kernels;
  std::vector<std::string> resultsBefore;
};

} // namespace

FusionReport fuseIntoKernels(Program &program, const OperatorRegistry &registry,
                             mlir::MLIRContext &context, const EmitChain &emit) {
  FusionReport report;
  std::vector<Node *> launches;
  for (Node &node : program.main)
    if (node.isLaunch())
      launches.push_back(&node);
  LaunchFuser fuser(program, registry, context, emit, report);
  for (Node *launch : launches)
    fuser.run(*launch);
  return report;
}

} // namespace pellucid::fusion
