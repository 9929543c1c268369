// SPDX-License-Identifier: Apache-2.0
// An optimiser's step, places beside maxima, both halves of an interval: results that read the same
// tensors, or each other. Candidates are looked for backwards from the root and taken one by one.
#include "passes/graph/SharedElements.h"

#include "passes/graph/FetchedElements.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>
#include <unordered_set>

namespace pellucid::passes {

using namespace graph;

namespace {

class ElementSearch {
public:
  ElementSearch(Node &n, const OperatorRegistry &r, const SymbolTable &s)
      : root(n), registry(r), symbols(s), shape(n.result()->type().shape) {}

  ResultsBeside find() {
    ResultsBeside found;
    found.before = &root;
    alone = collect(root, {});
    size_t apart = wholeInputs(alone);
    for (Node *candidate : candidates()) {
      if (found.roots.size() == mostBeside)
        break;
      std::vector<Node *> chosen = found.roots;
      chosen.push_back(candidate);
      std::sort(chosen.begin(), chosen.end(), [](Node *a, Node *b) { return a->isBefore(b); });
      size_t own = apart + wholeInputs(collect(*candidate, {}));
      Group joint = collect(root, chosen);
      Node *before = placeOf(joint, chosen);
      if (!before || !fits(joint, chosen) || wholeInputs(joint) >= own)
        continue;
      found = {std::move(chosen), before};
      apart = wholeInputs(joint);
    }
    return found;
  }

private:
  static constexpr size_t mostBeside = 3, mostLooked = 192, mostTried = 8, mostInputs = 16;

  /// What one kernel would compute and what it would read.
  struct Group {
    std::vector<Node *> nodes;
    std::vector<Value *> inputs;
  };

  Group collect(Node &of, const std::vector<Node *> &beside) const {
    Group group{collectProducers(of, true, shape, registry, &symbols, true, beside), {}};
    std::unordered_set<const Node *> members(group.nodes.begin(), group.nodes.end());
    for (Node *node : group.nodes)
      node->forEachOperand([&](Value *value) {
        if (value->isTensor() && !members.count(value->producer()) &&
            std::find(group.inputs.begin(), group.inputs.end(), value) == group.inputs.end())
          group.inputs.push_back(value);
      });
    return group;
  }
  bool isWhole(const Value &value) const { return value.isTensor() && value.type().shape == shape; }
  size_t wholeInputs(const Group &group) const {
    return static_cast<size_t>(std::count_if(group.inputs.begin(), group.inputs.end(),
                                             [&](Value *value) { return isWhole(*value); }));
  }

  /// Computed element by element in the root's shape, before it: a kernel's own value.
  bool isElementwise(const Node &node) const {
    return node.isCall() && !node.isLaunch() && node.resultCount() == 1 &&
           isWhole(*node.result()) && (&node == &root || node.isBefore(&root)) &&
           (isPointwise(node, registry) || isJoin(node, registry, symbols) ||
            isFetch(node, registry));
  }

  /// A launch or the caller reads it, also through views: it is in memory whoever computes it.
  bool isStored(const Value &value, unsigned depth = 0) const {
    constexpr unsigned deepest = 4;
    return std::any_of(value.users().begin(), value.users().end(), [&](const Node *user) {
      if (user->isOutput() || user->isLaunch())
        return true;
      return depth < deepest && isView(*user) && isStored(*user->result(), depth + 1);
    });
  }
  bool isView(const Node &node) const {
    const Operator *op = node.isCall() && !node.isLaunch() && node.resultCount() == 1
                             ? registry.find(node.target())
                             : nullptr;
    return op && op->kind == Operator::Kind::View && node.result()->isTensor();
  }

  /// Stored results among what is computed of the same values, the latest first.
  std::vector<Node *> candidates() const {
    std::vector<Value *> back{root.result()};
    std::unordered_set<const Value *> known{root.result()};
    auto add = [&](Value *value) {
      if (known.size() < mostLooked && value->isTensor() && known.insert(value).second)
        back.push_back(value);
    };
    std::vector<Node *> found;
    for (size_t i = 0; i < back.size(); ++i) {
      Node *maker = back[i]->producer();
      if (isElementwise(*maker)) {
        maker->forEachOperand([&](Value *value) { add(value); });
        if (maker != &root && isPointwise(*maker, registry) && isStored(*maker->result()))
          found.push_back(maker);
      }
      for (Node *user : back[i]->users())
        if (isElementwise(*user))
          add(user->result());
    }
    std::erase_if(found, [&](const Node *node) {
      return holdsIndex(*node, registry) ||
             node->result()->type().device != root.result()->type().device;
    });
    std::sort(found.begin(), found.end(), [](Node *a, Node *b) { return b->isBefore(a); });
    if (found.size() > mostTried)
      found.resize(mostTried);
    return found;
  }

  /// The first reader of any result, where everything that is read is there before it; or null.
  Node *placeOf(const Group &joint, const std::vector<Node *> &chosen) const {
    std::unordered_set<const Node *> members(joint.nodes.begin(), joint.nodes.end());
    Node *before = &root;
    auto look = [&](const Node &one) {
      for (Node *user : one.result()->users())
        if (!members.count(user) && user->isBefore(before))
          before = user;
    };
    look(root);
    for (const Node *one : chosen)
      look(*one);
    bool isThere = std::all_of(joint.inputs.begin(), joint.inputs.end(), [&](const Value *input) {
      return input->producer()->isBefore(before);
    });
    return isThere ? before : nullptr;
  }

  /// What another lowering would compute with its own operator stays with that one.
  bool fits(const Group &joint, const std::vector<Node *> &chosen) const {
    if (joint.inputs.size() > mostInputs)
      return false;
    // All of them end in this kernel.
    for (const Node *one : chosen)
      if (std::find(joint.nodes.begin(), joint.nodes.end(), one) == joint.nodes.end())
        return false;
    return std::all_of(joint.inputs.begin(), joint.inputs.end(), [&](Value *input) {
      bool isKnown =
          std::find(alone.inputs.begin(), alone.inputs.end(), input) != alone.inputs.end();
      return isKnown || isInMemory(*input);
    });
  }
  bool isInMemory(const Value &value) const {
    const Node *maker = value.producer();
    while (isView(*maker) && maker->arg(0).value())
      maker = maker->arg(0).value()->producer();
    if (!maker->isCall() || maker->isLaunch())
      return true;
    const Operator *op = registry.find(maker->target());
    using Kind = Operator::Kind;
    return op && (op->kind == Kind::Pointwise || op->kind == Kind::Factory ||
                  op->kind == Kind::Copy || op->kind == Kind::Gather);
  }

  Node &root;
  const OperatorRegistry &registry;
  const SymbolTable &symbols;
  const std::vector<Expr> &shape;
  Group alone;
};

} // namespace

ResultsBeside resultsBeside(Node &root, const OperatorRegistry &registry,
                            const SymbolTable &symbols) {
  return ElementSearch(root, registry, symbols).find();
}

} // namespace pellucid::passes
