// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/MovedViews.h"

#include "graph/FakeRules.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

class MovedViews {
public:
  MovedViews(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  size_t run() {
    size_t count = 0, before = 0;
    for (size_t round = 0; round < mostRounds && (round == 0 || count != before); ++round) {
      before = count;
      count += runOnce();
    }
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  /// The views in front of one computation may be those of another one's result.
  static constexpr size_t mostRounds = 16;
  size_t runOnce() {
    std::vector<Node *> nodes;
    for (Node &node : program.main)
      nodes.push_back(&node);
    size_t count = 0;
    // Latest first: what goes away are a node and users of it, which have been looked at.
    for (size_t i = nodes.size(); i-- > 0;) {
      if ((isMoved(*nodes[i]) || computes(*nodes[i])) && nodes[i]->result()->users().empty())
        program.main.erase(nodes[i]);
      else if (computesBeforeShape(*nodes[i]))
        ++count;
      else if (mayMove(*nodes[i])) {
        move(*nodes[i]);
        ++count;
      }
    }
    return count;
  }

  static constexpr int64_t mostTimes = 2;  ///< elements computed, for each one of the tensor
  static constexpr int64_t mostTaken = 16; ///< the same of takes, which read what is in the caches
  static constexpr size_t mostTakes = 4;   ///< of one tensor

  bool computes(const Node &node) const {
    const Operator *op = node.isCall() && !node.isLaunch() ? registry.find(node.target()) : nullptr;
    return op && op->kind == Operator::Kind::Pointwise && node.resultCount() == 1 &&
           node.result()->isTensor() && isPointwise(node, registry);
  }
  bool joinsOrComputes(const Node &node) const {
    return isPointwise(node, registry) || isJoin(node, registry, program.symbols);
  }
  static bool reshapes(const Node &node) { return node.calls("aten.view.default"); }
  bool isMoved(const Node &node) const {
    static constexpr std::string_view views[] = {
        "aten.view.default",  "aten.select.int",      "aten.unsqueeze.default", "aten.squeeze.dim",
        "aten.transpose.int", "aten.permute.default", "aten.slice.Tensor"};
    return node.isCall() && !node.isLaunch() && node.resultCount() == 1 &&
           (std::find(std::begin(views), std::end(views), node.target()) != std::end(views) ||
            isTake(node, registry));
  }

  /// What a computation of a known size is made of: tensors of its shape, or that broadcast to it.
  std::vector<Value *> operandsOf(const Node &node) const {
    std::vector<Value *> all;
    node.forEachOperand([&](Value *value) { all.push_back(value); });
    return all;
  }

  /// A line that larger tensors read along one of their dims, as those of a norm: what makes it is
  /// found in front of the view (GroupParameters.h).
  static bool isParameter(const Value &line, const Node &view) {
    const auto &readers = view.result()->users();
    return line.type().rank() == 1 && reshapes(view) &&
           std::any_of(readers.begin(), readers.end(), [&](const Node *reader) {
             return reader->resultCount() == 1 && reader->result()->isTensor() &&
                    !(reader->result()->type().numel() == line.type().numel());
           });
  }

  bool mayMove(Node &node) {
    if (!computes(node) || isFallible(node))
      return false;
    const TensorType &type = node.result()->type();
    auto size = type.numel().constant();
    if (!size || *size == 0 || node.result()->users().empty())
      return false;
    int64_t computed = 0, taken = 0;
    size_t takes = 0;
    bool hasReshape = false, hasTake = false;
    for (Node *user : node.result()->users()) {
      if (!isMoved(*user) || user->arg(0).value() != node.result() ||
          user->result()->users().empty() ||
          !std::all_of(user->result()->users().begin(), user->result()->users().end(),
                       [&](Node *reader) { return isMoved(*reader) || joinsOrComputes(*reader); }))
        return false;
      int64_t seen = user->result()->type().numel().constantOr(0);
      if (seen == 0)
        return false;
      if (isParameter(*node.result(), *user))
        return false;
      hasReshape |= reshapes(*user);
      bool isTaken = isTake(*user, registry);
      if (isTaken && user->arg(2).value() == node.result())
        return false;
      hasTake |= isTaken;
      (isTaken ? taken : computed) += seen;
      takes += isTaken;
    }
    if (computed > mostTimes * *size || taken > mostTaken * *size)
      return false;
    size_t whole = 0, sources = 0;
    for (Value *value : operandsOf(node)) {
      if (!value->isTensor() || value->type().rank() > type.rank() ||
          isMadeByProduct(*value->producer()))
        return false;
      whole += value->type().numel() == type.numel();
      sources += takesBehind(*value);
      if (hasReshape &&
          !(value->type().shape == type.shape && value->type().isContiguous(program.symbols)))
        return false;
    }
    if (hasReshape && !type.isContiguous(program.symbols))
      return false;
    if (hasTake && (sources * takes > mostTakes || computed != 0))
      return false;
    // What is read instead of written and read.
    return hasTake ||
           static_cast<int64_t>(whole) * computed <= (static_cast<int64_t>(whole) + 2) * *size;
  }

  /// It fails for some elements, or takes long: it is computed once for each.
  bool isFallible(const Node &node) const {
    for (const auto &[name, argument] : node.kwargs()) {
      bool holds = false;
      argument.forEachValue([&](Value *) { holds = true; });
      if (holds)
        return true;
    }
    for (const Argument &argument : node.args()) {
      bool holds = false;
      argument.forEachValue([&](Value *) { holds = true; });
      if (holds && !argument.value())
        return true;
    }
    PointwiseGroup group;
    group.divisionFails = false;
    addToGroup(group, node, registry, program.symbols);
    return group.hasChecks || group.usesIndex || group.expensive;
  }

  /// Which computes what follows before it stores.
  bool isMadeByProduct(const Node &node) const {
    const Operator *op = node.isCall() && !node.isLaunch() ? registry.find(node.target()) : nullptr;
    return op && (op->kind == Operator::Kind::Gemm || op->kind == Operator::Kind::RowKernel ||
                  op->kind == Operator::Kind::Reduction || op->kind == Operator::Kind::Attention);
  }

  /// How many tensors in memory an element of `value` is read from.
  size_t takesBehind(const Value &value) const {
    const Node &node = *value.producer();
    if (!computes(node))
      return value.type().rank() > 1;
    size_t count = 0;
    for (Value *operand : operandsOf(node))
      count += takesBehind(*operand);
    return count;
  }

  void move(Node &node) {
    std::vector<Node *> users(node.result()->users().begin(), node.result()->users().end());
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (Node *user : users) {
      program.main.setInsertionPoint(user);
      Value *made = computed(node, *user);
      program.main.replaceAllUses(user->result(), made);
      program.main.erase(user);
    }
    program.main.erase(&node);
  }

  /// `node` of views of its operands. What the chain in front computes is moved along.
  Value *computed(const Node &node, const Node &view) {
    std::vector<Argument> args = node.args();
    for (Argument &argument : args)
      if (Value *value = argument.value(); value && value->isTensor())
        argument = Argument(viewed(*value, node.result()->type(), view));
    return call(view, node.target(), std::move(args), node.kwargs());
  }

  /// `view` of `value`, an operand of what has type `type`.
  Value *viewed(Value &value, const TensorType &type, const Node &view) {
    if (value.type().rank() == 0)
      return &value;
    if (isTake(view, registry))
      return taken(value, type, view);
    Value *source = &value;
    if (!(value.type().shape == type.shape))
      source = call(view, "aten.expand.default", {source, Argument::list(type.shape)}, {});
    std::vector<Argument> args = view.args();
    args[0] = Argument(source);
    return call(view, view.target(), std::move(args), view.kwargs());
  }

  Value *taken(Value &value, const TensorType &type, const Node &take) {
    auto given = callOf(take, registry, program.symbols);
    auto dim =
        given->dim("dim", type.rank()) - static_cast<int64_t>(type.rank() - value.type().rank());
    if (dim < 0 || value.type().shape[static_cast<size_t>(dim)].constant() == 1)
      return &value;
    Value *source = &value;
    // Of a take that has another reader, too, a take of its own: both are one load then.
    if (isTake(*value.producer(), registry))
      source = call(take, value.producer()->target(), value.producer()->args(),
                    value.producer()->kwargs());
    return call(take, take.target(), {source, Argument(dim), take.arg(2)}, take.kwargs());
  }

  /// A result computed of one tensor that is seen in another shape.
  bool computesBeforeShape(Node &node) {
    if (!computes(node))
      return false;
    std::vector<Value *> operands = operandsOf(node);
    if (operands.size() != 1 || !operands[0]->isTensor())
      return false;
    Node *view = operands[0]->producer();
    if (!view->isCall() || view->isLaunch() || !reshapes(*view) ||
        view->result()->users().size() != 1)
      return false;
    Value *source = view->arg(0).value();
    if (!(view->result()->type().shape == node.result()->type().shape) ||
        source->users().size() != 1 || !joinsOrComputes(*source->producer()) ||
        std::any_of(node.result()->users().begin(), node.result()->users().end(),
                    [&](Node *user) { return joinsOrComputes(*user) || isMoved(*user); }))
      return false;
    program.main.setInsertionPoint(&node);
    std::vector<Argument> args = node.args();
    for (Argument &argument : args)
      if (argument.value())
        argument = Argument(source);
    Value *made = call(node, node.target(), std::move(args), node.kwargs());
    const TensorType type = node.result()->type();
    if (!made->type().isContiguous(program.symbols) || !type.isContiguous(program.symbols))
      return false;
    program.main.replaceAllUses(
        node.result(), call(node, "aten.view.default", {made, Argument::list(type.shape)}, {}));
    program.main.erase(&node);
    program.main.erase(view);
    return true;
  }

  Value *call(const Node &where, const std::string &target, std::vector<Argument> args,
              KeywordArguments kwargs) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), where.location)
        ->result();
  }

  Program &program;
  const OperatorRegistry &registry;
};

} // namespace

size_t moveViews(Program &program, const OperatorRegistry &registry) {
  return MovedViews(program, registry).run();
}

} // namespace pellucid::passes
