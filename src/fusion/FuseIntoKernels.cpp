// SPDX-License-Identifier: Apache-2.0
#include "fusion/FuseIntoKernels.h"

#include "fusion/BuildChain.h"
#include "fusion/LaunchKernels.h"
#include "fusion/Neighbours.h"
#include "fusion/SpliceKernel.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>
#include <unordered_set>

namespace pellucid::fusion {

using namespace graph;

namespace {

using Nodes = std::vector<Node *>;
using Refusal = std::optional<std::string>;

/// Views of one value in the same linear order, and the value at the other end of them.
struct Reshaped {
  Value *value = nullptr;
  Nodes views;
};

class LaunchFuser {
public:
  LaunchFuser(Program &p, const OperatorRegistry &r, mlir::MLIRContext &context,
              const EmitChain &emit, FusionReport &out)
      : program(p), registry(r), report(out), neighbours(p, r), kernels(p, context),
        chains(p, r, emit, neighbours) {}

  void run(Node &node) {
    launch = &node;
    if (!isWorthOpening())
      return;
    if (!kernels.open(*launch)) {
      noteUntouchable("its kernel could not be read back");
      return;
    }
    std::vector<std::string> names;
    computes.clear();
    for (const LaunchOperand &operand : launch->launch()->operands)
      names.push_back(operand.name);
    for (size_t r = 0; r < launch->resultCount(); ++r)
      computes.push_back(launch->result(r)->name());
    for (const std::string &name : names)
      if (operandNamed(name))
        fusePrologue(name);
    for (size_t r = 0; r < launch->resultCount(); ++r)
      fuseEpilogue(r);
    std::string kernel = kernels.first().def.name;
    if (kernels.close(*launch))
      for (size_t r = 0; r < launch->resultCount(); ++r)
        report.results.push_back({kernel, computes[r], launch->result(r)->name()});
  }

private:
  // --- the launch at hand

  const LaunchOperand *operandNamed(const std::string &name) const {
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (operand.name == name)
        return &operand;
    return nullptr;
  }

  /// Placeholders, the output node and tensors without contents make no edges.
  bool isEdgeFrom(const Value *value) const {
    return value && value->isTensor() && value->producer()->isCall() && !neighbours.isFresh(value);
  }

  bool isWorthOpening() const {
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (isEdgeFrom(operand.value.value()))
        return true;
    for (size_t r = 0; r < launch->resultCount(); ++r)
      for (const Node *user : launch->result(r)->users())
        if (!user->isOutput())
          return true;
    return false;
  }

  void noteUntouchable(const std::string &why) {
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (const Value *value = operand.value.value(); isEdgeFrom(value))
        note(value->producer(), launch, false, why);
  }

  void note(const Node *from, const Node *to, bool fused, std::string reason) {
    report.edges.push_back({from->name(), to->name(), fused, std::move(reason)});
  }

  /// Edges inside a chain that moved.
  void noteFused(const Nodes &nodes) {
    std::unordered_set<const Node *> members(nodes.begin(), nodes.end());
    for (const Node *node : nodes) {
      std::unordered_set<const Node *> seen;
      node->forEachOperand([&](Value *value) {
        if (members.count(value->producer()) && seen.insert(value->producer()).second)
          note(value->producer(), node, true, "in one chain");
      });
    }
  }

  static std::string twoReaders(const Value *value) {
    return "two readers: '" + value->users().front()->name() + "' and '" +
           value->users().back()->name() + "'";
  }

  /// Puts `added` in the place of the operands called `names`. What is written in the place of one
  /// of them stands where it stood, so that results keep their order.
  void replaceOperands(const std::vector<std::string> &names, std::vector<LaunchOperand> added) {
    Launch updated = *launch->launch();
    // A new operand may have the name of one that goes.
    std::vector<LaunchOperand> before = std::move(updated.operands);
    updated.operands.clear();
    for (LaunchOperand &operand : before)
      if (std::find(names.begin(), names.end(), operand.name) == names.end()) {
        updated.operands.push_back(std::move(operand));
      } else if (graph::writes(operand.access)) {
        updated.operands.push_back(std::move(added.back()));
        added.pop_back();
      }
    updated.operands.insert(updated.operands.end(), added.begin(), added.end());
    updated.resultOperands.clear();
    for (uint32_t i = 0; i < updated.operands.size(); ++i)
      if (graph::writes(updated.operands[i].access) && updated.operands[i].value.value())
        updated.resultOperands.push_back(i);
    launch->setLaunch(std::move(updated));
  }

  /// A tensor without contents, dense like `like` of this type, made before `node`.
  Value *emptyBefore(Node *node, const TensorType &like) {
    TensorType type(like.dtype, like.shape, like.device);
    program.main.setInsertionPoint(node);
    program.main.setLocation(launch->location);
    Value *made = program.main
                      .call("aten.empty_strided.default",
                            {Argument::list(type.shape), Argument::list(type.strides)},
                            {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}},
                            {type}, "empty")
                      ->result();
    program.main.setInsertionPoint(nullptr);
    return made;
  }

  /// The launch computes `value` as well, through `written`, whose memory is to be made.
  void addResult(Value *value, LaunchOperand written) {
    written.value = Argument(emptyBefore(launch, value->type()));
    Value *result = program.main.addLaunchResult(launch, std::move(written));
    computes.push_back(value->name());
    program.main.replaceAllUses(value, result);
  }

  void erase(const Nodes &nodes) {
    for (size_t i = nodes.size(); i-- > 0;)
      program.main.erase(nodes[i]);
  }

  // --- operators before the kernel

  /// Why the producer of `value` cannot move in, told from the graph alone. `names`: the operands
  /// that hold it.
  Refusal refuseProducer(const std::vector<std::string> &names, const Value *value) const {
    const Node *producer = value->producer();
    if (producer->isLaunch())
      return "a kernel's result: kernels are not fused into each other";
    if (neighbours.isView(producer))
      return neighbours.isBoundary(producer) ? "the boundary of an opaque operator"
                                             : "foreign stride: it is a view";
    if (!passes::isPointwise(*producer, registry))
      return "'" + producer->target() + "' is not pointwise";
    for (const std::string &name : names) {
      const LaunchOperand &operand = *operandNamed(name);
      for (const OpenKernel &kernel : kernels.all())
        if (!kernel.argument(name))
          return "one of its variants does not take it";
      if (operand.unknownAccess)
        return "it is not known how the kernel uses it";
      if (graph::writes(operand.access) && names.size() > 1)
        return "alias: the kernel writes it as '" + name + "' and also has it as '" +
               (name == names.front() ? names.back() : names.front()) + "'";
      if (graph::reads(operand.access) && graph::writes(operand.access))
        return describeReadWrite(kernels.first().function, *kernels.first().argument(name));
      if (graph::writes(operand.access))
        return "the kernel writes it";
    }
    if (!value->type().isContiguous(program.symbols))
      return "foreign stride: it is not dense and row-major";
    return std::nullopt;
  }

  /// What the operand's value is a reshape of.
  Reshaped behind(Value *value) const {
    Reshaped found;
    for (; neighbours.isReshape(value->producer()); value = value->producer()->arg(0).value())
      found.views.push_back(value->producer());
    found.value = value;
    return found;
  }

  void fusePrologue(const std::string &name) {
    Value *value = operandNamed(name)->value.value();
    if (!value || !value->isTensor())
      return;
    std::vector<std::string> names;
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (operand.value.value() == value)
        names.push_back(operand.name);
    if (name != names.front())
      return;
    Reshaped made = behind(value);
    if (!isEdgeFrom(made.value))
      return;
    Node *producer = made.value->producer();
    Refusal reason = refuseProducer(names, made.value);
    Keep keep = Keep::No;
    if (!reason)
      reason = refuseOtherReaders(names, value, made, keep);
    if (!reason) {
      // The whole group of producers, else the last of them alone.
      Nodes group = passes::collectProducers(*producer, true, made.value->type().shape, registry);
      for (const Nodes &nodes : {group, Nodes{producer}})
        if (!(reason = tryPrologue(names, nodes, made, keep)))
          return;
    }
    note(producer, launch, false, *reason);
  }

  /// What others read must be stored: by the kernel, which then has to come first and to touch each
  /// element once.
  Refusal refuseOtherReaders(const std::vector<std::string> &names, const Value *value,
                             const Reshaped &made, Keep &keep) {
    for (const Value *behind = value; behind != made.value;
         behind = behind->producer()->arg(0).value())
      if (behind->users().size() != 1)
        return twoReaders(behind);
    const Node *next = made.views.empty() ? launch : made.views.back();
    for (const Node *user : made.value->users()) {
      if (user == next)
        continue;
      keep = Keep::Yes;
      if (!launch->isBefore(user))
        return twoReaders(made.value);
    }
    if (keep == Keep::No)
      return std::nullopt;
    for (OpenKernel &kernel : kernels.all())
      if (auto reason =
              refuseKeeping(kernel.function, argumentsOf(kernel, names),
                            kernels.valuesOf(kernel, *launch), made.value->type().numel()))
        return twoReaders(made.value) + ", and the kernel cannot store it for them: " + *reason;
    return std::nullopt;
  }

  static std::vector<unsigned> argumentsOf(const OpenKernel &kernel,
                                           const std::vector<std::string> &names) {
    std::vector<unsigned> arguments;
    for (const std::string &name : names)
      arguments.push_back(*kernel.argument(name));
    return arguments;
  }

  Refusal tryPrologue(const std::vector<std::string> &names, const Nodes &nodes,
                      const Reshaped &made, Keep keep) {
    Chain chain;
    std::vector<Value *> inputs;
    if (auto reason = chains.build(nodes, nullptr, *launch, chain, inputs))
      return reason;
    for (const Value *input : inputs)
      if (const Node *writer = neighbours.overwriterBetween(input, nodes.front(), launch))
        return "alias: '" + writer->name() + "' overwrites '" + input->name() +
               "' before the kernel runs";
    for (OpenKernel &kernel : kernels.all())
      if (auto reason = refuseLoadFusion(kernel.function, argumentsOf(kernel, names), chain,
                                         kernels.valuesOf(kernel, *launch)))
        return reason;
    noteFused(nodes);
    note(nodes.back(), launch, true,
         keep == Keep::Yes ? "computed where the kernel loads it, and stored for others"
                           : "computed where the kernel loads it");
    std::vector<LaunchOperand> added;
    for (OpenKernel &kernel : kernels.all()) {
      AddedArguments arguments =
          fuseIntoLoads(kernel.function, argumentsOf(kernel, names), chain, keep,
                        kernels.valuesOf(kernel, *launch), made.value->type().numel());
      added = LaunchKernels::recordArguments(kernel, chain, inputs, arguments, names);
    }
    std::optional<LaunchOperand> kept;
    if (keep == Keep::Yes) {
      kept = std::move(added.back());
      added.pop_back();
    }
    replaceOperands(names, std::move(added));
    for (Node *view : made.views)
      program.main.erase(view);
    if (kept)
      addResult(made.value, std::move(*kept));
    erase(nodes);
    return std::nullopt;
  }

  // --- operators after the kernel

  /// Why `consumer` cannot move before the store to `name`, told from the graph alone. `value`,
  /// which it reads, is the launch's result, or what reshapes made of it.
  Refusal refuseConsumer(const std::string &name, const Value *value, const Node *consumer) const {
    const LaunchOperand &operand = *operandNamed(name);
    const Value *old = operand.value.value();
    if (consumer->isLaunch())
      return "a kernel: kernels are not fused into each other";
    if (neighbours.isView(consumer))
      return neighbours.isBoundary(consumer) ? "the boundary of an opaque operator"
                                             : "foreign stride: it is a view";
    if (!passes::isPointwise(*consumer, registry))
      return "'" + consumer->target() + "' is not pointwise";
    for (const LaunchOperand &any : launch->launch()->operands)
      if (any.unknownAccess)
        return "it is not known how the kernel uses '" + any.name + "'";
    for (const OpenKernel &kernel : kernels.all())
      if (!kernel.argument(name))
        return "one of its variants does not take it";
    if (graph::reads(operand.access))
      return describeReadWrite(kernels.first().function, *kernels.first().argument(name));
    if (!neighbours.holdsNothing(old))
      return "alias: the kernel writes into '" + old->name() +
             "', which holds more than its results";
    if (old->users().size() != 1)
      return "alias: '" + old->name() + "' has another user";
    for (const LaunchOperand &other : launch->launch()->operands)
      if (&other != &operand && other.value.value() == old)
        return "alias: the kernel also has its output as '" + other.name + "'";
    if (!value->type().isContiguous(program.symbols))
      return "foreign stride: it is not dense and row-major";
    if (consumer->result()->type().shape != value->type().shape)
      return "the result has another shape, " + toString(consumer->result()->type());
    return std::nullopt;
  }

  /// Why nothing may come before the store to `name`, whatever it is.
  Refusal refuseStore(const std::string &name, const Expr &elements) {
    for (OpenKernel &kernel : kernels.all())
      if (auto reason = refuseStoreFusion(kernel.function, *kernel.argument(name),
                                          kernels.valuesOf(kernel, *launch), elements))
        return reason;
    return std::nullopt;
  }

  Reshaped ahead(Value *value) const {
    Reshaped found;
    while (value->users().size() == 1 && neighbours.isReshape(value->users().front())) {
      found.views.push_back(value->users().front());
      value = found.views.back()->result();
    }
    found.value = value;
    return found;
  }

  void fuseEpilogue(size_t r) {
    const Launch &info = *launch->launch();
    const std::string name = info.operands[info.resultOperands[r]].name;
    Reshaped made = ahead(launch->result(r));
    const auto &users = made.value->users();
    if (users.empty() || (users.size() == 1 && users.front()->isOutput()))
      return;
    std::vector<Neighbours::Region> regions = neighbours.regionsAfter(made.value, launch);
    Refusal reason;
    if (!regions.empty()) {
      if (!(reason = refuseConsumer(name, made.value, users.front())))
        reason = refuseStore(name, made.value->type().numel());
      if (!reason && !(reason = tryRegions(name, regions, made, Keep::No)))
        return;
    }
    if (users.size() == 1) {
      if (!users.front()->isOutput())
        note(launch, users.front(), false,
             reason ? *reason : *refuseConsumer(name, made.value, users.front()));
      return;
    }
    // Not all of what follows goes in: one after the other, with the result kept for the rest.
    const Nodes all(users.begin(), users.end());
    for (Node *user : all) {
      if (!isUser(made.value, user) || user->isOutput())
        continue;
      if (!(reason = refuseConsumer(name, made.value, user)) &&
          !(reason = refuseStore(name, made.value->type().numel())))
        // The last one replaces what nobody else reads.
        reason = tryRegions(name, neighbours.pathsFrom(user, made.value, launch), made,
                            users.size() > 1 ? Keep::Yes : Keep::No);
      if (reason)
        note(launch, user, false, *reason);
    }
  }

  static bool isUser(const Value *value, const Node *node) {
    return std::find(value->users().begin(), value->users().end(), node) != value->users().end();
  }

  /// The first of `regions`, which are alternatives, that can move in moves in.
  Refusal tryRegions(const std::string &name, const std::vector<Neighbours::Region> &regions,
                     const Reshaped &made, Keep keep) {
    Refusal reason;
    for (const Nodes &region : regions) {
      // With what the region alone needs beside it, else the region alone.
      Nodes group =
          passes::collectProducers(*region.back(), true, made.value->type().shape, registry);
      bool whole = std::includes(group.begin(), group.end(), region.begin(), region.end(),
                                 [](const Node *a, const Node *b) { return a->isBefore(b); });
      if (whole && group.size() > region.size() && !(reason = tryEpilogue(name, group, made, keep)))
        return std::nullopt;
      if (!(reason = tryEpilogue(name, region, made, keep)))
        return std::nullopt;
    }
    return reason;
  }

  /// The launch stays where it is where what the chain needs is there by then; else it moves to the
  /// last of `nodes`, unless that is behind something that needs one of its results. `going`: views
  /// that nobody needs afterwards.
  Refusal refuseMove(const Nodes &nodes, const Nodes &going, const std::vector<Value *> &inputs,
                     const Value *through, bool &moves) const {
    moves = std::any_of(inputs.begin(), inputs.end(), [&](const Value *input) {
      return input != through && launch->isBefore(input->producer());
    });
    if (!moves)
      return std::nullopt;
    for (size_t r = 0; r < launch->resultCount(); ++r)
      for (const Node *user : launch->result(r)->users())
        if (user->isBefore(nodes.back()) &&
            std::find(nodes.begin(), nodes.end(), user) == nodes.end() &&
            std::find(going.begin(), going.end(), user) == going.end())
          return "'" + user->name() + "' needs the kernel's result before '" +
                 nodes.back()->name() + "' has all of its operands";
    return std::nullopt;
  }

  Refusal tryEpilogue(const std::string &name, const Nodes &nodes, const Reshaped &made,
                      Keep keep) {
    Chain chain;
    std::vector<Value *> inputs;
    if (auto reason = chains.build(nodes, made.value, *launch, chain, inputs))
      return reason;
    for (const Value *input : inputs) {
      if (input != made.value && neighbours.dependsOn(input, launch))
        return "'" + input->name() + "' needs the kernel's result";
      if (const Node *writer = neighbours.overwriterBetween(input, nodes.front(), nodes.back()))
        return "alias: '" + writer->name() + "' overwrites '" + input->name() +
               "' before the kernel stores";
    }
    bool moves = false;
    if (auto reason =
            refuseMove(nodes, keep == Keep::No ? made.views : Nodes(), inputs, made.value, moves))
      return reason;
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (const Value *read = operand.value.value(); moves && read && read->isTensor())
        if (const Node *writer = neighbours.overwriterBetween(read, launch->next(), nodes.back()))
          return "alias: '" + writer->name() + "' overwrites '" + read->name() +
                 "' before the operator runs";
    for (const Node *user : made.value->users())
      if (std::find(nodes.begin(), nodes.end(), user) != nodes.end())
        note(launch, user, true,
             keep == Keep::Yes ? "computed beside what the kernel stores"
                               : "computed before the kernel stores it");
    noteFused(nodes);
    std::vector<LaunchOperand> added;
    std::vector<std::string> replaced;
    if (keep == Keep::No)
      replaced = {name};
    for (OpenKernel &kernel : kernels.all()) {
      AddedArguments arguments =
          fuseIntoStore(kernel.function, *kernel.argument(name), chain, keep);
      added = LaunchKernels::recordArguments(kernel, chain, inputs, arguments, replaced);
    }
    if (moves)
      program.main.moveBefore(launch, nodes.back());
    if (keep == Keep::Yes) {
      LaunchOperand written = std::move(added.back());
      added.pop_back();
      replaceOperands({}, std::move(added));
      addResult(nodes.back()->result(), std::move(written));
      erase(nodes);
      return std::nullopt;
    }
    storeResultOf(nodes, name, std::move(added));
    erase(nodes);
    erase(made.views);
    return std::nullopt;
  }

  /// A buffer of the type of the last of `nodes` takes the place of the operand called `name`.
  void storeResultOf(const Nodes &nodes, const std::string &name,
                     std::vector<LaunchOperand> added) {
    Value *last = nodes.back()->result();
    const Launch &info = *launch->launch();
    size_t r = 0;
    while (info.operands[info.resultOperands[r]].name != name)
      ++r;
    Value *old = operandNamed(name)->value.value();
    Value *buffer = emptyBefore(launch, last->type());
    added.back().value = Argument(buffer);
    computes[r] = last->name();
    replaceOperands({name}, std::move(added));
    launch->result(r)->setType(buffer->type());
    program.main.replaceAllUses(last, launch->result(r));
    if (old->isUnused())
      program.main.erase(old->producer());
  }

  Program &program;
  const OperatorRegistry &registry;
  FusionReport &report;
  Neighbours neighbours;
  LaunchKernels kernels;
  ChainBuilder chains;
  Node *launch = nullptr;
  std::vector<std::string> computes; ///< for each result, the value that it is now
};

} // namespace

FusionReport fuseIntoKernels(Program &program, const OperatorRegistry &registry,
                             mlir::MLIRContext &context, const EmitChain &emit) {
  FusionReport report;
  Nodes launches;
  for (Node &node : program.main)
    if (node.isLaunch())
      launches.push_back(&node);
  LaunchFuser fuser(program, registry, context, emit, report);
  for (Node *launch : launches)
    fuser.run(*launch);
  return report;
}

} // namespace pellucid::fusion
