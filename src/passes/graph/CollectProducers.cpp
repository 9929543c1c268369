// SPDX-License-Identifier: Apache-2.0
// Which pointwise nodes are computed with their reader.
#include "passes/graph/FetchedElements.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>
#include <unordered_set>

namespace pellucid::passes {

using namespace graph;

namespace {

/// True for tensors of one value, whatever their shape.
bool isFilled(const Node &node, const OperatorRegistry &registry) {
  const Operator *op = registry.find(node.target());
  return op && op->kind == Operator::Kind::Factory && !op->factory.value.empty();
}

/// collectProducers() with what it may take along.
class ProducerSearch {
public:
  ProducerSearch(Node &r, bool include, const std::vector<Expr> &s, const OperatorRegistry &table,
                 const SymbolTable *j, bool f, bool again, const std::vector<Node *> &others)
      : root(r), includeRoot(include), shape(s), registry(table), joins(j), fetches(f),
        repeats(again), beside(others) {}

  std::vector<Node *> run() {
    take(root);
    for (Node *other : beside)
      take(*other);
    // What reads an index may be met before all that read it are in the group.
    for (size_t before = 0; before != found.size();) {
      before = found.size();
      visit();
      if (!repeats)
        break;
      queue = found;
      std::make_heap(queue.begin(), queue.end(), later);
    }
    std::sort(found.begin(), found.end(), [](Node *a, Node *b) { return a->isBefore(b); });
    if (!includeRoot)
      std::erase_if(found, [&](Node *node) { return node == &root || isBeside(node); });
    return std::move(found);
  }

private:
  void visit() {
    const size_t most = repeats          ? maximumRepeated
                        : beside.empty() ? maximumGroup
                                         : 2 * maximumGroup;
    while (!queue.empty() && found.size() < most) {
      std::pop_heap(queue.begin(), queue.end(), later);
      Node *node = queue.back();
      queue.pop_back();
      if (fetches && isFetch(*node, registry)) {
        takeIndex(*node);
        continue;
      }
      // A join's parts have another shape; addJoin() looks for what makes them.
      if (node != &root && !isPointwise(*node, registry) && !isBeside(node))
        continue;
      node->forEachOperand([&](Value *value) {
        if (value->isTensor() && fits(*value->producer()))
          take(*value->producer());
      });
    }
  }

  /// Latest first: by the time a producer is looked at, those of its users that belong to the group
  /// are in it.
  static bool later(const Node *a, const Node *b) { return a->isBefore(b); }
  void take(Node &node) {
    members.insert(&node);
    found.push_back(&node);
    queue.push_back(&node);
    std::push_heap(queue.begin(), queue.end(), later);
  }

  bool isBeside(const Node *node) const {
    return std::find(beside.begin(), beside.end(), node) != beside.end();
  }

  /// What computes an index, and what repeats it for the elements that share it.
  void takeIndex(Node &fetch) {
    Value *index = computedIndex(fetch, registry, *joins);
    if (!index)
      return;
    Node *expand = nullptr;
    fetch.forEachOperand([&](Value *value) {
      Node *producer = value->producer();
      if (value != index && producer->isCall() && producer->calls("aten.expand.default") &&
          producer->arg(0).value() == index)
        expand = producer;
    });
    if (expand && (!isOfMembers(*expand) || !members.insert(expand).second))
      return;
    if (fits(*index->producer())) {
      if (expand)
        found.push_back(expand);
      take(*index->producer());
    } else if (expand) {
      members.erase(expand);
    }
  }
  bool isOfMembers(const Node &node) const {
    const auto &users = node.result()->users();
    return std::all_of(users.begin(), users.end(),
                       [&](const Node *user) { return members.count(user) != 0; });
  }

  bool fits(Node &producer) const {
    bool isJoined = joins && (isJoin(producer, registry, *joins) || isTake(producer, registry) ||
                              (fetches && isFetch(producer, registry)));
    bool computes = isPointwise(producer, registry);
    if (members.count(&producer) || (!computes && !isJoined))
      return false;
    bool index = holdsIndex(producer, registry);
    if (index && !includeRoot)
      return false;
    // One value is the same in every shape that it is broadcast to.
    const TensorType &type = producer.result()->type();
    if (type.shape != shape &&
        (index || !(isFilled(producer, registry) || (repeats && computes && broadcasts(type)))))
      return false;
    // What a take reads, or where, lies in memory, and so does what a fetch reads.
    for (const Node *user : producer.result()->users()) {
      if (!members.count(user) || (joins && user != &root && isTake(*user, registry)))
        return false;
      if (fetches && isFetch(*user, registry) &&
          (computedIndex(*user, registry, *joins) != producer.result() ||
           user->arg(0).value() == producer.result()))
        return false;
    }
    return true;
  }
  bool broadcasts(const TensorType &type) const {
    if (type.rank() > shape.size())
      return false;
    size_t missing = shape.size() - type.rank();
    for (size_t d = 0; d < type.rank(); ++d)
      if (type.shape[d].constant() != 1 && !(type.shape[d] == shape[missing + d]))
        return false;
    return true;
  }

  static constexpr size_t maximumGroup = 48, maximumRepeated = 192;
  Node &root;
  bool includeRoot;
  const std::vector<Expr> &shape;
  const OperatorRegistry &registry;
  const SymbolTable *joins;
  bool fetches, repeats;
  const std::vector<Node *> &beside;
  std::vector<Node *> found, queue;
  std::unordered_set<const Node *> members;
};

} // namespace

std::vector<Node *> collectProducers(Node &root, bool includeRoot, const std::vector<Expr> &shape,
                                     const OperatorRegistry &registry, const SymbolTable *joins,
                                     bool fetches, const std::vector<Node *> &beside) {
  auto found = [&](bool repeats) {
    return ProducerSearch(root, includeRoot, shape, registry, joins, fetches, repeats, beside)
        .run();
  };
  if (fetches)
    if (std::vector<Node *> wide = found(true); computesAnIndex(wide, registry, *joins))
      return wide;
  return found(false);
}

} // namespace pellucid::passes
