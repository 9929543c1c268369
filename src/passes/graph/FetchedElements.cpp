// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/FetchedElements.h"

#include "passes/graph/GatherPlaces.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

Value *behindExpand(Value *value) {
  Node *producer = value->producer();
  return producer->isCall() && producer->calls("aten.expand.default") ? producer->arg(0).value()
                                                                      : value;
}

/// The number of the input, which is read with these strides; a new one where there is none.
size_t inputOf(PointwiseGroup &group, Value *value, const std::vector<Expr> &strides) {
  for (const auto &[number, own] : group.laid)
    if (group.inputs[number] == value && own == strides)
      return number;
  group.inputs.push_back(value);
  group.laid[group.inputs.size() - 1] = strides;
  return group.inputs.size() - 1;
}

} // namespace

bool isFetch(const Node &node, const OperatorRegistry &registry) {
  if (!node.isCall() || node.isLaunch() || node.resultCount() != 1)
    return false;
  const Operator *op = registry.find(node.target());
  return op && op->kind == Operator::Kind::Gather && node.result()->type().rank() > 0 &&
         (node.calls("aten.gather.default") || node.calls("aten.index.Tensor") ||
          node.calls("aten.embedding.default"));
}

Value *computedIndex(const Node &node, const OperatorRegistry &registry,
                     const SymbolTable &symbols) {
  std::vector<Value *> inputs;
  std::optional<GatherSpec> spec = gatherOf(node, registry, symbols, inputs);
  if (!spec || spec->places.size() != 1)
    return nullptr;
  Value *index = inputs[0];
  TextOperand own = broadcastOperand(index->type(), spec->shape, symbols);
  return index->type().rank() == spec->shape.size() &&
                 own.strides == spec->places[0].operand.strides
             ? behindExpand(index)
             : nullptr;
}

bool computesAnIndex(const std::vector<Node *> &nodes, const OperatorRegistry &registry,
                     const SymbolTable &symbols) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
    Value *index = isFetch(*node, registry) ? computedIndex(*node, registry, symbols) : nullptr;
    return index && std::find(nodes.begin(), nodes.end(), index->producer()) != nodes.end();
  });
}

void addFetch(PointwiseGroup &group, const Node &node, const OperatorRegistry &registry,
              const SymbolTable &symbols) {
  std::vector<Value *> inputs;
  GatherSpec spec = *gatherOf(node, registry, symbols, inputs);
  Value *computed = computedIndex(node, registry, symbols);
  TextStatement statement;
  statement.name = "v" + std::to_string(group.body.size());
  statement.failure = "'" + spec.operation + "' got an index out of range";
  statement.where = spec.where;
  TextFetch fetch;
  for (size_t i = 0; i < spec.places.size(); ++i) {
    const TextIndex &place = spec.places[i];
    auto known = computed ? group.names.find(computed) : group.names.end();
    std::string name =
        known != group.names.end()
            ? known->second
            : "in" + std::to_string(inputOf(group, inputs[i], place.operand.strides));
    fetch.places.push_back({name, place.along, place.size, place.wraps});
  }
  fetch.table = inputOf(group, inputs.back(), spec.table.strides);
  statement.fetch = std::move(fetch);
  group.names[node.result()] = statement.name;
  group.body.push_back(std::move(statement));
  group.hasChecks = true;
}

} // namespace pellucid::passes
