// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/GroupParameters.h"

#include "graph/FakeRules.h"
#include "passes/graph/KernelWriter.h"

#include <algorithm>
#include <optional>
#include <set>

namespace pellucid::passes {

using namespace graph;

namespace {

using Nodes = std::vector<Node *>;

class ParameterSearch {
public:
  ParameterSearch(const Nodes &n, const std::vector<Expr> &s, const OperatorRegistry &r)
      : nodes(n), shape(s), registry(r), members(n.begin(), n.end()) {}

  /// Views first, then what makes them, as far as nothing else reads it.
  bool find() {
    for (Node *node : nodes)
      node->forEachOperand([&](Value *value) { noteView(value); });
    for (Node *view : views)
      noteMakers(view->arg(0).value());
    while (dropRead())
      ;
    return !views.empty();
  }

  Nodes inOrder(const std::set<Node *> &set) const {
    Nodes ordered(set.begin(), set.end());
    std::sort(ordered.begin(), ordered.end(),
              [](const Node *a, const Node *b) { return a->isBefore(b); });
    return ordered;
  }

  std::set<Node *> views, makers;
  size_t dim = 0;
  std::optional<Expr> count;

private:
  /// The dim of `shape` that the value, a view of one dim, lies along.
  std::optional<size_t> dimOf(const Value *value, const Value *line) const {
    const TensorType &type = value->type();
    if (type.rank() > shape.size() || line->type().rank() != 1)
      return std::nullopt;
    std::optional<size_t> found;
    for (size_t d = 0; d < type.rank(); ++d) {
      if (type.shape[d].constant() == 1)
        continue;
      if (found || !(type.shape[d] == line->type().shape[0]))
        return std::nullopt;
      found = shape.size() - type.rank() + d;
    }
    return found;
  }

  void noteView(Value *value) {
    Node *view = value->producer();
    const Operator *op = value->isTensor() && view->isCall() && !view->isLaunch()
                             ? registry.find(view->target())
                             : nullptr;
    Value *line = op && op->kind == Operator::Kind::View ? view->arg(0).value() : nullptr;
    if (!line || !line->isTensor() || line->type().dtype != value->type().dtype ||
        !isMaker(*line->producer(), line->type().shape))
      return;
    auto at = dimOf(value, line);
    // A program is inside of one index of the dim.
    constexpr int64_t leastInside = 1024;
    if (!at || product(shape, *at + 1, shape.size()).constantOr(0) < leastInside ||
        (count && (*at != dim || !(*count == line->type().shape[0]))))
      return;
    dim = *at;
    count = line->type().shape[0];
    views.insert(view);
  }

  bool isMaker(const Node &node, const std::vector<Expr> &line) const {
    const Operator *op = isPointwise(node, registry) ? registry.find(node.target()) : nullptr;
    return op && op->kind != Operator::Kind::Factory && node.result()->type().shape == line;
  }

  void noteMakers(Value *value) {
    Node *maker = value->producer();
    if (!value->isTensor() || !isMaker(*maker, {*count}) || !makers.insert(maker).second)
      return;
    maker->forEachOperand([&](Value *operand) { noteMakers(operand); });
  }

  /// What something else reads is made in memory; whether there was any.
  bool dropRead() {
    auto isInside = [&](const Node *user) {
      return members.count(user) || makers.count(const_cast<Node *>(user)) ||
             views.count(const_cast<Node *>(user));
    };
    auto isRead = [&](const Node *node) {
      const auto &users = node->result()->users();
      return !std::all_of(users.begin(), users.end(), isInside);
    };
    size_t before = views.size() + makers.size();
    std::erase_if(makers, isRead);
    std::erase_if(views, [&](Node *view) {
      return isRead(view) || !makers.count(view->arg(0).value()->producer());
    });
    return views.size() + makers.size() != before;
  }

  const Nodes &nodes;
  const std::vector<Expr> &shape;
  const OperatorRegistry &registry;
  std::set<const Node *> members;
};

} // namespace

Nodes addParameters(PointwiseGroup &group, const Nodes &nodes, const std::vector<Expr> &shape,
                    const OperatorRegistry &registry, const SymbolTable &symbols) {
  ParameterSearch search(nodes, shape, registry);
  if (!search.find())
    return {};
  PointwiseGroup made;
  made.divisionFails = group.divisionFails;
  Nodes taken = search.inOrder(search.makers), views = search.inOrder(search.views);
  for (const Node *maker : taken)
    addToGroup(made, *maker, registry, symbols);
  if (made.usesIndex || made.hasChecks)
    return {};
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    const TensorType &type = made.inputs[i]->type();
    if (type.rank() != 1 || type.shape[0].constant() == 1)
      continue;
    made.along[i] = search.dim;
    // The group itself would see it along its last dim.
    for (const Node *user : made.inputs[i]->users())
      if (std::find(nodes.begin(), nodes.end(), user) != nodes.end())
        return {};
  }
  for (const Node *view : views)
    made.names[view->result()] = made.names.at(view->arg(0).value());
  group = std::move(made);
  taken.insert(taken.end(), views.begin(), views.end());
  return taken;
}

} // namespace pellucid::passes
