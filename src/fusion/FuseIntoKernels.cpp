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
    std::vector<std::string> names, resultsBefore;
    for (const LaunchOperand &operand : launch->launch()->operands)
      names.push_back(operand.name);
    for (size_t r = 0; r < launch->resultCount(); ++r)
      resultsBefore.push_back(launch->result(r)->name());
    computedAs.clear();
    for (const std::string &name : names)
      if (operandNamed(name))
        fusePrologue(name);
    for (size_t r = 0; r < launch->resultCount(); ++r)
      fuseEpilogue(r);
    if (!computedAs.empty())
      resultsBefore = {computedAs};
    std::string kernel = kernels.first().def.name;
    if (kernels.close(*launch))
      for (size_t r = 0; r < launch->resultCount(); ++r)
        report.results.push_back({kernel, resultsBefore[r], launch->result(r)->name()});
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

  /// Puts `added` in the place of the operands called `names`.
  void replaceOperands(const std::vector<std::string> &names, std::vector<LaunchOperand> added) {
    Launch updated = *launch->launch();
    std::erase_if(updated.operands, [&](const LaunchOperand &o) {
      return std::find(names.begin(), names.end(), o.name) != names.end();
    });
    updated.operands.insert(updated.operands.end(), added.begin(), added.end());
    // Written operands keep their order; only their positions moved.
    updated.resultOperands.clear();
    for (uint32_t i = 0; i < updated.operands.size(); ++i)
      if (graph::writes(updated.operands[i].access) && updated.operands[i].value.value())
        updated.resultOperands.push_back(i);
    launch->setLaunch(std::move(updated));
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
    if (!reason && value->users().size() != 1)
      reason = twoReaders(value);
    for (const Node *view : made.views)
      if (const Value *base = view->arg(0).value(); !reason && base->users().size() != 1)
        reason = twoReaders(base);
    if (!reason) {
      // The whole group of producers, else the last of them alone.
      Nodes group = passes::collectProducers(*producer, true, made.value->type().shape, registry);
      for (const Nodes &nodes : {group, Nodes{producer}})
        if (!(reason = tryPrologue(names, nodes, made.views)))
          return;
    }
    note(producer, launch, false, *reason);
  }

  Refusal tryPrologue(const std::vector<std::string> &names, const Nodes &nodes,
                      const Nodes &views) {
    Chain chain;
    std::vector<Value *> inputs;
    if (auto reason = chains.build(nodes, nullptr, *launch, chain, inputs))
      return reason;
    for (const Value *input : inputs)
      if (const Node *writer = neighbours.overwriterBetween(input, nodes.front(), launch))
        return "alias: '" + writer->name() + "' overwrites '" + input->name() +
               "' before the kernel runs";
    auto argumentsOf = [&](const OpenKernel &kernel) {
      std::vector<unsigned> arguments;
      for (const std::string &name : names)
        arguments.push_back(*kernel.argument(name));
      return arguments;
    };
    for (OpenKernel &kernel : kernels.all())
      if (auto reason = refuseLoadFusion(kernel.function, argumentsOf(kernel), chain,
                                         kernels.valuesOf(kernel, *launch)))
        return reason;
    noteFused(nodes);
    note(nodes.back(), launch, true, "computed where the kernel loads it");
    std::vector<LaunchOperand> added;
    for (OpenKernel &kernel : kernels.all()) {
      AddedArguments arguments = fuseIntoLoads(kernel.function, argumentsOf(kernel), chain);
      added = LaunchKernels::recordArguments(kernel, chain, inputs, arguments, names);
    }
    replaceOperands(names, std::move(added));
    for (Node *view : views)
      program.main.erase(view);
    erase(nodes);
    return std::nullopt;
  }

  // --- operators after the kernel

  /// Why nothing that follows can move before the store to `name`, told from the graph alone.
  /// `value` is the launch's result, or what reshapes made of it.
  Refusal refuseConsumer(const std::string &name, const Value *value) const {
    const LaunchOperand &operand = *operandNamed(name);
    const Value *old = operand.value.value();
    const Node *consumer = value->users().front();
    if (consumer->isLaunch())
      return "a kernel: kernels are not fused into each other";
    if (neighbours.isView(consumer))
      return neighbours.isBoundary(consumer) ? "the boundary of an opaque operator"
                                             : "foreign stride: it is a view";
    if (!passes::isPointwise(*consumer, registry))
      return "'" + consumer->target() + "' is not pointwise";
    if (launch->resultCount() != 1)
      return "the kernel has " + std::to_string(launch->resultCount()) + " results";
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
    Refusal reason = users.size() > 1 && regions.empty() ? twoReaders(made.value)
                                                         : refuseConsumer(name, made.value);
    if (!reason)
      reason = refuseStore(name, made.value->type().numel());
    if (!reason)
      for (const Nodes &region : regions) {
        // With what the region alone needs beside it, else the region alone.
        Nodes group =
            passes::collectProducers(*region.back(), true, made.value->type().shape, registry);
        bool whole = std::includes(group.begin(), group.end(), region.begin(), region.end(),
                                   [](const Node *a, const Node *b) { return a->isBefore(b); });
        if (whole && group.size() > region.size() && !(reason = tryEpilogue(name, group, made)))
          return;
        if (!(reason = tryEpilogue(name, region, made)))
          return;
      }
    for (const Node *user : users)
      if (!user->isOutput())
        note(launch, user, false, *reason);
  }

  Refusal tryEpilogue(const std::string &name, const Nodes &nodes, const Reshaped &made) {
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
    for (const LaunchOperand &operand : launch->launch()->operands)
      if (const Value *read = operand.value.value(); read && read->isTensor())
        if (const Node *writer = neighbours.overwriterBetween(read, launch->next(), nodes.back()))
          return "alias: '" + writer->name() + "' overwrites '" + read->name() +
                 "' before the operator runs";
    for (const Node *user : made.value->users())
      note(launch, user, true, "computed before the kernel stores it");
    noteFused(nodes);
    std::vector<LaunchOperand> added;
    for (OpenKernel &kernel : kernels.all()) {
      AddedArguments arguments = fuseIntoStore(kernel.function, *kernel.argument(name), chain);
      added = LaunchKernels::recordArguments(kernel, chain, inputs, arguments, {name});
    }
    storeResultOf(nodes, name, std::move(added));
    erase(nodes);
    erase(made.views);
    return std::nullopt;
  }

  /// Moves the launch to the last of `nodes`, with a buffer of that one's type in the place of the
  /// operand called `name`.
  void storeResultOf(const Nodes &nodes, const std::string &name,
                     std::vector<LaunchOperand> added) {
    Node *last = nodes.back();
    Value *old = operandNamed(name)->value.value();
    TensorType type(last->result()->type().dtype, last->result()->type().shape,
                    last->result()->type().device);
    program.main.setInsertionPoint(last);
    program.main.setLocation(launch->location);
    added.back().value =
        Argument(program.main
                     .call("aten.empty_strided.default",
                           {Argument::list(type.shape), Argument::list(type.strides)},
                           {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}},
                           {type}, "empty")
                     ->result());
    program.main.setInsertionPoint(nullptr);
    computedAs = last->result()->name();
    program.main.moveBefore(launch, last);
    replaceOperands({name}, std::move(added));
    launch->result()->setType(type);
    program.main.replaceAllUses(last->result(), launch->result());
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
  std::string computedAs; ///< the value that the launch computes now, if it is another one
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
