// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/SharedReductions.h"

#include "graph/FakeRules.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/ReductionRules.h"

#include <algorithm>
#include <unordered_set>

namespace pellucid::passes {

using namespace graph;

namespace {

class Search {
public:
  Search(Node &n, const OperatorRegistry &r, const SymbolTable &s)
      : node(n), registry(r), symbols(s), shape(n.arg(0).value()->type().shape) {}

  std::vector<Node *> find() {
    if (!isSimple(node))
      return {};
    dims = dimsOf(node);
    std::vector<Node *> chosen;
    for (Node *candidate : candidates()) {
      if (chosen.size() == mostBeside)
        break;
      chosen.push_back(candidate);
      std::sort(chosen.begin(), chosen.end(), [](Node *a, Node *b) { return a->isBefore(b); });
      if (!mayJoin(chosen))
        chosen.erase(std::find(chosen.begin(), chosen.end(), candidate));
    }
    return chosen;
  }

private:
  static constexpr size_t mostBeside = 3, mostLooked = 64, mostStatements = 48;

  /// One number is all that is kept of a result while its elements are read.
  bool isSimple(const Node &one) const {
    const Operator *op = one.isCall() && !one.isLaunch() ? registry.find(one.target()) : nullptr;
    if (!op || op->kind != Operator::Kind::Reduction || one.resultCount() != 1)
      return false;
    using Combine = ReductionBody::Combine;
    return op->reduction.combine != Combine::ArgMax && op->reduction.combine != Combine::ArgMin;
  }
  std::vector<int64_t> dimsOf(const Node &one) const {
    auto call = callOf(one, registry, symbols);
    return reducedDims(*call, call->args[0].value()->type());
  }
  bool isWhole(const Value &value) const { return value.isTensor() && value.type().shape == shape; }

  /// Reductions that lie behind what `node` is computed of, before it.
  std::vector<Node *> candidates() const {
    std::vector<Value *> back{node.arg(0).value()};
    std::unordered_set<const Value *> known{back[0]};
    auto add = [&](std::vector<Value *> &list, Value *value) {
      if (known.size() < mostLooked && isWhole(*value) && known.insert(value).second)
        list.push_back(value);
    };
    for (size_t i = 0; i < back.size(); ++i)
      if (isPointwise(*back[i]->producer(), registry))
        back[i]->producer()->forEachOperand([&](Value *value) { add(back, value); });
    std::vector<Node *> found;
    for (size_t i = 0; i < back.size(); ++i)
      for (Node *user : back[i]->users()) {
        if (isPointwise(*user, registry) && user->isBefore(&node))
          add(back, user->result());
        else if (user != &node && isSimple(*user) && user->isBefore(&node) &&
                 user->arg(0).value() == back[i] && dimsOf(*user) == dims &&
                 std::find(found.begin(), found.end(), user) == found.end())
          found.push_back(user);
      }
    return found;
  }

  /// Whether what all read is there before the first of them, and something of it is read by more
  /// than one.
  bool mayJoin(const std::vector<Node *> &chosen) const {
    std::vector<Node *> producers =
        collectProducers(node, false, shape, registry, nullptr, false, chosen);
    PointwiseGroup joint = groupOf(producers, chosen);
    if (joint.hasChecks || joint.body.size() > mostStatements)
      return false;
    for (const Value *input : joint.inputs)
      if (!input->producer()->isBefore(chosen.front()))
        return false;
    size_t apart = wholeInputs(groupOf(collectProducers(node, false, shape, registry), {}, &node));
    for (Node *one : chosen)
      apart += wholeInputs(groupOf(collectProducers(*one, false, shape, registry), {}, one));
    return wholeInputs(joint) < apart;
  }
  PointwiseGroup groupOf(const std::vector<Node *> &producers, const std::vector<Node *> &chosen,
                         const Node *alone = nullptr) const {
    PointwiseGroup group;
    group.divisionFails = false;
    for (const Node *producer : producers)
      addToGroup(group, *producer, registry, symbols);
    auto read = [&](const Node &one) {
      Value *value = one.arg(0).value();
      if (!group.names.count(value)) {
        group.names[value] = "in" + std::to_string(group.inputs.size());
        group.inputs.push_back(value);
      }
    };
    read(alone ? *alone : node);
    for (const Node *one : chosen)
      read(*one);
    return group;
  }
  size_t wholeInputs(const PointwiseGroup &group) const {
    return static_cast<size_t>(std::count_if(group.inputs.begin(), group.inputs.end(),
                                             [&](Value *value) { return isWhole(*value); }));
  }

  Node &node;
  const OperatorRegistry &registry;
  const SymbolTable &symbols;
  const std::vector<Expr> &shape;
  std::vector<int64_t> dims;
};

} // namespace

std::vector<Node *> reductionsBeside(Node &node, const OperatorRegistry &registry,
                                     const SymbolTable &symbols) {
  return Search(node, registry, symbols).find();
}

std::string reducedValue(const OperatorCall &call, const ReductionRule &rule, DataType result,
                         const std::string &value) {
  // `x != 0` is asked of the element itself: 0.5 is not 0.
  return result == DataType::Bool
             ? reductionMap(call.op.reduction.map, "(" + value + ")")
             : reductionMap(call.op.reduction.map,
                            "(" + value + ").to(" + tlName(rule.accumulate) + ")");
}

} // namespace pellucid::passes
