// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/JoinedProducts.h"

#include "passes/graph/ArrangedWeights.h"
#include "passes/graph/RelaidValues.h"

#include <algorithm>
#include <map>

namespace pellucid::passes {

using namespace graph;

namespace {

/// Elements of a row that stores and loads move at a time.
constexpr int64_t columnsOfVector = 8;

class ProductJoiner {
public:
  ProductJoiner(Program &p, const OperatorRegistry &r) : program(p), registry(r), relaid(p, r) {}

  size_t run() {
    std::vector<Node *> nodes;
    for (Node &node : program.main) {
      nodes.push_back(&node);
      if (isLayer(node))
        layers[node.arg(0).value()].push_back(&node);
    }
    std::erase_if(layers, [](const auto &entry) { return entry.second.size() < 2; });
    if (layers.empty())
      return 0;
    size_t count = 0;
    for (Node *node : nodes) {
      program.main.setInsertionPoint(node);
      program.main.setLocation(node->location);
      auto group = std::find_if(layers.begin(), layers.end(),
                                [&](const auto &entry) { return entry.second.front() == node; });
      if (group != layers.end()) {
        join(group->second);
        count += group->second.size() - 1;
      } else if (!relaid.isMoved(node->resultCount() ? node->result() : nullptr)) {
        relaid.visit(*node);
      }
    }
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  static bool hasBias(const Node &node) { return node.args().size() > 2 && node.arg(2).value(); }

  /// A linear layer of 16-bit numbers with weights of its own.
  bool isLayer(const Node &node) const {
    if (!node.calls("aten.linear.default") || !node.kwargs().empty())
      return false;
    const TensorType &type = node.result()->type();
    bool isHalf = type.dtype == DataType::Float16 || type.dtype == DataType::BFloat16;
    if (!isHalf || !type.isContiguous(program.symbols) || type.rank() < 2)
      return false;
    for (size_t i = 1; i < node.args().size(); ++i)
      if (Value *value = node.arg(i).value(); value && !isOwnWeight(value))
        return false;
    auto columns = type.shape.back().constant();
    return columns && *columns % columnsOfVector == 0 && isTakenAsItLies(node.result(), 0);
  }

  bool isOwnWeight(const Value *value) const {
    std::string name;
    const Weight *weight = value->producer()->isPlaceholder() && value->users().size() == 1
                               ? weightBehind(program, registry, value, name)
                               : nullptr;
    return weight && weight->dtype == value->type().dtype &&
           value->type().isContiguous(program.symbols) && value->type().offset.constant() == 0 &&
           value->type().numel().constant();
  }

  /// Whether views of it end up where a row may be followed by other rows' elements.
  bool isTakenAsItLies(const Value *value, int depth) const {
    constexpr int mostViews = 8;
    if (depth > mostViews)
      return false;
    return !value->isUnused() &&
           std::all_of(value->users().begin(), value->users().end(), [&](const Node *user) {
             const Operator *op =
                 user->isCall() && !user->isLaunch() ? registry.find(user->target()) : nullptr;
             if (!op || !user->regions.empty())
               return false;
             if (op->kind == Operator::Kind::View)
               return op->schema.name != "as_strided" && user->resultCount() == 1 &&
                      isTakenAsItLies(user->result(), depth + 1);
             // Behind a product alone an operator is computed before it stores.
             bool isElementwise = op->kind == Operator::Kind::Pointwise || op->schema.name == "cat";
             return op->kind == Operator::Kind::Attention || (isElementwise && depth > 0);
           });
  }

  /// The weights or biases one below the other; layers without a bias add 0, which changes nothing.
  Value *together(const std::vector<Node *> &nodes, size_t argument) {
    std::vector<Weight> parts;
    std::string name;
    Weight joined;
    const TensorType *like = nullptr;
    for (const Node *node : nodes) {
      if (argument == 1 || hasBias(*node)) {
        parts.push_back(*weightBehind(program, registry, node->arg(argument).value(), name));
        like = &node->arg(argument).value()->type();
      } else {
        parts.push_back(zeros(node->result()->type()));
      }
      joined.bytes += parts.back().bytes;
    }
    joined.dtype = parts.front().dtype;
    joined.shape = parts.front().shape;
    for (size_t i = 1; i < parts.size(); ++i)
      joined.shape[0] += parts[i].shape[0];
    joined.made = [parts](const package::ByteSink &sink) {
      return std::all_of(parts.begin(), parts.end(), [&](const Weight &part) {
        return package::sendPieces(
            {reinterpret_cast<const uint8_t *>(part.data.get()), static_cast<size_t>(part.bytes)},
            sink);
      });
    };
    std::string fresh = name + ".joined";
    for (int i = 1; program.weights.count(fresh); ++i)
      fresh = name + ".joined" + std::to_string(i);
    std::vector<Expr> shape(joined.shape.begin(), joined.shape.end());
    program.weights[fresh] = std::move(joined);
    InputSpec input;
    input.kind = InputSpec::Kind::ConstantTensor;
    input.name = fresh;
    program.inputs.push_back(std::move(input));
    return program.main.placeholder("joined", TensorType(like->dtype, shape, like->device));
  }

  /// A bias of a layer with such results.
  static Weight zeros(const TensorType &result) {
    Weight weight;
    weight.dtype = result.dtype;
    weight.shape = {*result.shape.back().constant()};
    weight.bytes = static_cast<uint64_t>(weight.shape[0]) * byteSize(weight.dtype);
    auto bytes = std::make_shared<std::vector<uint8_t>>(weight.bytes);
    weight.data = {bytes, reinterpret_cast<const std::byte *>(bytes->data())};
    return weight;
  }

  void join(const std::vector<Node *> &nodes) {
    Node *first = nodes.front();
    std::vector<Argument> args{relaid.now(first->arg(0).value()), together(nodes, 1)};
    if (std::any_of(nodes.begin(), nodes.end(), [](const Node *node) { return hasBias(*node); }))
      args.emplace_back(together(nodes, 2));
    Value *whole = relaid.call("aten.linear.default", std::move(args));
    whole->producer()->stackNote = first->stackNote;
    int64_t at = 0;
    for (Node *node : nodes) {
      int64_t columns = *node->result()->type().shape.back().constant();
      Value *part = relaid.call("aten.narrow.default", {whole, int64_t(-1), at, columns});
      at += columns;
      relaid.move(node->result(), part);
    }
  }

  Program &program;
  const OperatorRegistry &registry;
  RelaidValues relaid;
  std::map<Value *, std::vector<Node *>> layers; ///< by what they read
};

} // namespace

size_t joinProducts(Program &program, const OperatorRegistry &registry) {
  return runOnTrial<ProductJoiner>(program, registry);
}

} // namespace pellucid::passes
