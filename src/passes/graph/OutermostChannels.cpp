// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/OutermostChannels.h"

#include "graph/FakeRules.h"
#include "passes/graph/ArrangedWeights.h"
#include "passes/graph/RelaidValues.h"

#include <unordered_map>

namespace pellucid::passes {

using namespace graph;

namespace {

class DenseConvolutions {
public:
  DenseConvolutions(Program &p, const OperatorRegistry &r)
      : program(p), registry(r), weights(p, r), relaid(p, r) {}

  size_t run() {
    std::vector<Node *> nodes;
    size_t count = 0;
    for (Node &node : program.main) {
      nodes.push_back(&node);
      count += isWanted(node);
    }
    if (count == 0)
      return 0;
    for (Node *node : nodes)
      visit(*node);
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  /// Of those that are not transposed the kernels write dense places alone.
  bool isWanted(const Node &node) const {
    return node.isCall() && node.target() == "aten.convolution.default" &&
           !node.result()->type().isContiguous(program.symbols) &&
           !callOf(node, registry, program.symbols)->flag("transposed");
  }

  void visit(Node &node) {
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    if ((isWanted(node) && convolve(node)) || isDenseAlready(node))
      return;
    relaid.visit(node);
  }

  /// A dense copy of what is dense by now: that itself.
  bool isDenseAlready(Node &node) {
    if (!node.isCall() || node.target() != "aten.clone.default")
      return false;
    Value *from = node.arg(0).value();
    bool isSame = relaid.isMoved(from) && relaid.now(from)->type() == node.result()->type();
    if (isSame)
      relaid.move(node.result(), relaid.now(from));
    return isSame;
  }

  /// The operands say how the result lies.
  bool convolve(Node &node) {
    std::vector<Argument> args = relaid.argumentsOf(node);
    args[0] = Argument(dense(args[0].value()));
    args[1] = Argument(dense(args[1].value()));
    return relaid.replace(node, std::move(args), node.kwargs());
  }

  Value *dense(Value *value) {
    const TensorType &type = value->type();
    if (type.isContiguous(program.symbols))
      return value;
    Value *&known = made[value];
    if (!known)
      known = weights.arrange(value, {type.dtype, type.strides, 0}, type.shape, type.shape);
    if (!known)
      known = relaid.dense(value);
    return known;
  }

  Program &program;
  const OperatorRegistry &registry;
  ArrangedWeights weights;
  RelaidValues relaid;
  std::unordered_map<const Value *, Value *> made;
};

} // namespace

size_t layChannelsOutermost(Program &program, const OperatorRegistry &registry) {
  return runOnTrial<DenseConvolutions>(program, registry);
}

} // namespace pellucid::passes
