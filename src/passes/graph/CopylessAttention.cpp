// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/CopylessAttention.h"

#include "passes/graph/RelaidValues.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

class CopylessAttention {
public:
  CopylessAttention(Program &p, const OperatorRegistry &r)
      : program(p), registry(r), relaid(p, r) {}

  size_t run() {
    std::vector<Node *> nodes;
    size_t wanted = 0;
    for (Node &node : program.main) {
      nodes.push_back(&node);
      wanted += isForAttention(node);
    }
    if (!wanted)
      return 0;
    size_t count = 0;
    for (Node *node : nodes) {
      program.main.setInsertionPoint(node);
      program.main.setLocation(node->location);
      Value *source = isCopy(*node) ? node->arg(0).value() : nullptr;
      if (source && (isForAttention(*node) || isInPlace(*node))) {
        relaid.move(node->result(), relaid.now(source));
        ++count;
      } else {
        relaid.visit(*node);
      }
    }
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  /// Into another order; the type and the device stay.
  static bool isCopy(const Node &node) {
    return node.calls("aten.clone.default") && node.arg(0).value() &&
           node.arg(0).value()->type().device == node.result()->type().device;
  }

  /// A copy that attention alone reads, of rows that can be read as vectors where they are.
  bool isForAttention(const Node &node) const {
    if (!isCopy(node) || !readsVectors(node.arg(0).value()->type()))
      return false;
    const std::list<Node *> &users = node.result()->users();
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](const Node *user) {
      const Operator *op = registry.find(user->target());
      if (!user->isCall() || user->isLaunch() || !op || op->kind != Operator::Kind::Attention)
        return false;
      for (size_t i = 3; i < user->args().size(); ++i)
        if (user->arg(i).value() == node.result())
          return false;
      return true;
    });
  }

  bool readsVectors(const TensorType &type) const {
    auto vector = static_cast<int64_t>(16 / byteSize(type.dtype));
    if (type.rank() < 2 || type.strides.back().constant() != 1 ||
        !program.symbols.isMultipleOf(type.offset, vector))
      return false;
    return std::all_of(type.strides.begin(), type.strides.end() - 1, [&](const Expr &stride) {
      return program.symbols.range(stride).min > 0 && program.symbols.isMultipleOf(stride, vector);
    });
  }

  /// A copy of what lies already as the copy would, now that it was moved.
  bool isInPlace(const Node &node) const {
    Value *source = node.arg(0).value();
    if (!relaid.isMoved(source) || !(relaid.now(source)->type() == node.result()->type()))
      return false;
    const std::list<Node *> &users = node.result()->users();
    // A result of the program is memory of its own, and what a kernel writes into as well.
    return std::none_of(users.begin(), users.end(),
                        [](const Node *user) { return user->isOutput() || user->isLaunch(); });
  }

  Program &program;
  const OperatorRegistry &registry;
  RelaidValues relaid;
};

} // namespace

size_t readOperandsInPlace(Program &program, const OperatorRegistry &registry) {
  return runOnTrial<CopylessAttention>(program, registry);
}

} // namespace pellucid::passes
