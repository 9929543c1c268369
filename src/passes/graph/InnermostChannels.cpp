// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/InnermostChannels.h"

#include "graph/FakeRules.h"
#include "graph/ops/ConvolutionDims.h"
#include "passes/graph/ArrangedWeights.h"
#include "passes/graph/RelaidValues.h"

#include <unordered_map>

namespace pellucid::passes {

using namespace graph;

namespace {

/// Elements that are moved at a time.
constexpr int64_t vectorElements = 8;

bool isInnermost(const Value *value) {
  const TensorType &type = value->type();
  return type.rank() == 4 && type.strides[1].constant() == 1;
}

class ChannelLayout {
public:
  ChannelLayout(Program &p, const OperatorRegistry &r, bool t)
      : program(p), registry(r), tf32(t), weights(p, r), relaid(p, r) {}

  size_t run() {
    openLines();
    std::vector<Node *> nodes;
    size_t count = 0;
    for (Node &node : program.main) {
      nodes.push_back(&node);
      count += isWanted(node);
    }
    if (count < 2)
      return 0;
    for (Node *node : nodes)
      visit(*node);
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  // --- lines

  /// A convolution of lines is one of images of one row, which may lie otherwise.
  void openLines() {
    std::vector<Node *> lines;
    for (Node &node : program.main)
      if (node.isCall() && node.target() == "aten.convolution.default" && isOfRank(node, 3) &&
          !callOf(node, registry, program.symbols)->flag("transposed"))
        lines.push_back(&node);
    for (Node *node : lines)
      if (callOf(*node, registry, program.symbols)->tensor("weight").rank() == 3)
        openLine(*node);
    program.main.setInsertionPoint(nullptr);
  }

  void openLine(Node &node) {
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    auto call = callOf(node, registry, program.symbols);
    ConvolutionDims dims = convolutionDims(*call);
    auto image = [&](Value *value) {
      return Argument(relaid.call("aten.unsqueeze.default", {value, int64_t(2)}));
    };
    auto pair = [](int64_t first, const std::vector<int64_t> &line) {
      return Argument(Argument::List{first, line.at(0)});
    };
    Value *result = relaid.call("aten.convolution.default",
                                {image(call->value("input")), image(call->value("weight")),
                                 call->at("bias"), pair(1, dims.stride), pair(0, dims.padding),
                                 pair(1, dims.dilation), false, pair(0, {0}), dims.groups});
    result = relaid.call("aten.squeeze.dim", {result, int64_t(2)});
    if (result->type() != node.result()->type())
      throw RelaidValues::CannotRestore();
    program.main.replaceAllUses(node.result(), result);
    program.main.erase(&node);
  }

  /// And of what matrix units multiply.
  bool isOfRank(const Node &node, size_t rank) const {
    const TensorType &type = node.result()->type();
    bool isMultiplied = type.dtype == DataType::Float16 || type.dtype == DataType::BFloat16 ||
                        (tf32 && type.dtype == DataType::Float32);
    return isMultiplied && type.rank() == rank;
  }

  // --- what is laid out otherwise

  /// A convolution of images whose channels move by 16 bytes.
  bool isWanted(const Node &node) const {
    if (!node.isCall() || node.target() != "aten.convolution.default")
      return false;
    auto call = callOf(node, registry, program.symbols);
    if (!isOfRank(node, 4) || call->flag("transposed"))
      return false;
    ConvolutionDims dims = convolutionDims(*call);
    auto moves = [](const Expr &channels) {
      return channels.constant() && *channels.constant() % vectorElements == 0;
    };
    bool isOwn = dims.inputPerGroup().constant() == 1 && dims.outputPerGroup().constant() == 1;
    return moves(dims.outputChannels) &&
           (dims.groups == 1 || (isOwn && moves(dims.inputChannels)) ||
            (moves(dims.inputPerGroup()) && moves(dims.outputPerGroup())));
  }

  void visit(Node &node) {
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    if (isWanted(node) && convolve(node))
      return;
    relaid.visit(node);
  }

  bool convolve(Node &node) {
    std::vector<Argument> args = relaid.argumentsOf(node);
    Value *input = args[0].value(), *weight = args[1].value();
    if (!isInnermost(input)) {
      if (input->type().shape[1].constantOr(0) % vectorElements == 0)
        input = turned(input);
      else if (weight->type().shape[2].constant() != 1 || weight->type().shape[3].constant() != 1)
        // Few channels are copied by the convolution itself; the weight says how its result lies.
        weight = turned(weight);
      else
        return false;
    }
    args[0] = Argument(input);
    args[1] = Argument(weight);
    return relaid.replace(node, std::move(args), node.kwargs());
  }

  /// `value` with its channels innermost. A weight is one of its own then.
  Value *turned(Value *value) {
    Value *&known = innermost[value];
    if (known)
      return known;
    const TensorType &type = value->type();
    auto last = [&](const std::vector<Expr> &list) {
      return std::vector<Expr>{list[0], list[2], list[3], list[1]};
    };
    TextOperand from{type.dtype, last(type.strides), 0};
    Value *made = weights.arrange(value, from, last(type.shape), last(type.shape),
                                  type.dtype == DataType::Float32);
    if (!made)
      made = relaid.dense(relaid.call("aten.permute.default", {value, Argument::List{0, 2, 3, 1}}));
    return known = relaid.call("aten.permute.default", {made, Argument::List{0, 3, 1, 2}});
  }

  Program &program;
  const OperatorRegistry &registry;
  bool tf32;
  ArrangedWeights weights;
  RelaidValues relaid;
  std::unordered_map<const Value *, Value *> innermost;
};

} // namespace

size_t layChannelsInnermost(Program &program, const OperatorRegistry &registry, bool tf32) {
  return runOnTrial<ChannelLayout>(program, registry, tf32);
}

} // namespace pellucid::passes
