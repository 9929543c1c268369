// SPDX-License-Identifier: Apache-2.0
#include "fusion/Neighbours.h"

#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/PointwiseGroup.h"

#include <set>
#include <unordered_set>

namespace pellucid::fusion {

using namespace graph;

bool Neighbours::isView(const Node *node) const {
  const Operator *op = operatorOf(node);
  return op && op->kind == Operator::Kind::View;
}

bool Neighbours::isBoundary(const Node *node) const {
  return isView(node) && operatorOf(node)->schema.space == "pellucid";
}

bool Neighbours::isReshape(const Node *node) const {
  if (!isView(node) || isBoundary(node) || node->resultCount() != 1)
    return false;
  const TensorType &from = node->arg(0).value()->type(), &to = node->result()->type();
  return from.isContiguous(program.symbols) && to.isContiguous(program.symbols) &&
         from.dtype == to.dtype && from.offset == to.offset &&
         program.symbols.proveEqual(from.numel(), to.numel());
}

bool Neighbours::holdsNothing(const Value *value) const {
  const Operator *op = operatorOf(value->producer());
  return op && op->kind == Operator::Kind::Factory;
}

bool Neighbours::isFresh(const Value *value) const {
  return holdsNothing(value) && operatorOf(value->producer())->factory.value.empty();
}

bool Neighbours::sharesMemoryWithWritten(const Value *value, const Node &launch) const {
  const Value *root = passes::aliasRoot(value, registry);
  for (const LaunchOperand &operand : launch.launch()->operands)
    if (const Value *written = operand.value.value();
        written && graph::writes(operand.access) && written->isTensor())
      if (passes::aliasRoot(written, registry) == root)
        return true;
  return false;
}

const Node *Neighbours::overwriterBetween(const Value *value, const Node *from,
                                          const Node *to) const {
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

bool Neighbours::dependsOn(const Value *value, const Node *launch) const {
  std::vector<const Node *> pending{value->producer()};
  std::unordered_set<const Node *> seen;
  while (!pending.empty()) {
    const Node *node = pending.back();
    pending.pop_back();
    if (node == launch)
      return true;
    if (node->isBefore(launch) || !seen.insert(node).second)
      continue;
    node->forEachOperand([&](Value *operand) { pending.push_back(operand->producer()); });
  }
  return false;
}

/// True when `node` uses what a launch after `launch` computes.
static bool usesLaterLaunch(const Node *node, const Node *launch) {
  bool found = false;
  node->forEachOperand([&](const Value *operand) {
    const Node *producer = operand->producer();
    found |= producer->isLaunch() && launch->isBefore(producer);
  });
  return found;
}

std::vector<Neighbours::Region> Neighbours::regionsAfter(const Value *value,
                                                         const Node *launch) const {
  constexpr size_t largest = 32;
  auto earlier = [](const Node *a, const Node *b) { return a->isBefore(b); };
  std::set<Node *, decltype(earlier)> frontier(earlier);
  frontier.insert(value->users().begin(), value->users().end());
  std::vector<Region> regions;
  Region nodes;
  while (!frontier.empty() && nodes.size() < largest) {
    Node *node = *frontier.begin();
    frontier.erase(frontier.begin());
    if (!passes::isPointwise(*node, registry) ||
        node->result()->type().shape != value->type().shape ||
        (!regions.empty() && usesLaterLaunch(node, launch)))
      break;
    nodes.push_back(node);
    // Every path so far leads to this node when it was the only one left.
    if (frontier.empty())
      regions.insert(regions.begin(), nodes);
    const auto &users = node->result()->users();
    frontier.insert(users.begin(), users.end());
  }
  return regions;
}

std::vector<Neighbours::Region> Neighbours::pathsFrom(Node *node, const Value *value,
                                                      const Node *launch) const {
  constexpr size_t largest = 32;
  std::vector<Region> paths;
  Region nodes;
  while (nodes.size() < largest && passes::isPointwise(*node, registry) &&
         node->result()->type().shape == value->type().shape &&
         (nodes.empty() || !usesLaterLaunch(node, launch))) {
    nodes.push_back(node);
    paths.insert(paths.begin(), nodes);
    if (node->result()->users().size() != 1)
      break;
    node = node->result()->users().front();
  }
  return paths;
}

} // namespace pellucid::fusion
