// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/PatchProducts.h"

#include "graph/FakeRules.h"
#include "graph/ops/ConvolutionDims.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// Elements of a patch's line that are worth a copy.
constexpr int64_t leastOfLine = 8;

class PatchProducts {
public:
  PatchProducts(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  size_t run() {
    std::vector<Node *> found;
    for (Node &node : program.main)
      if (isOfPatches(node))
        found.push_back(&node);
    for (Node *node : found)
      replace(*node);
    program.main.setInsertionPoint(nullptr);
    return found.size();
  }

private:
  bool isOfPatches(const Node &node) const {
    if (!node.isCall() || node.target() != "aten.convolution.default")
      return false;
    auto call = callOf(node, registry, program.symbols);
    const TensorType &x = call->tensor("input"), &w = call->tensor("weight"),
                     &result = node.result()->type();
    if (call->flag("transposed") || x.rank() != 4 || w.rank() != 4 || !isFloat(x.dtype) ||
        !x.isContiguous(program.symbols) || !w.isContiguous(program.symbols) ||
        !result.isContiguous(program.symbols))
      return false;
    ConvolutionDims dims = convolutionDims(*call);
    auto isOne = [](int64_t value) { return value == 1; };
    auto isZero = [](int64_t value) { return value == 0; };
    if (dims.groups != 1 || dims.stride != dims.kernel || dims.kernel[1] < leastOfLine ||
        dims.kernel[0] < 1 || !std::all_of(dims.padding.begin(), dims.padding.end(), isZero) ||
        !std::all_of(dims.dilation.begin(), dims.dilation.end(), isOne))
      return false;
    for (size_t d = 0; d < 2; ++d) {
      auto size = x.shape[2 + d].constant();
      if (!size || *size < 1 || *size % dims.kernel[d] != 0)
        return false;
    }
    return x.shape[1].constantOr(0) > 0 && w.shape[0].constantOr(0) > 0;
  }

  Value *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), program.main.insertionPoint()->location)
        ->result();
  }
  Value *seenAs(Value *value, const std::vector<Expr> &shape) {
    Argument::List list(shape.begin(), shape.end());
    return call("aten.view.default", {value, Argument(std::move(list))});
  }
  Value *turned(Value *value, Argument::List order) {
    return call("aten.clone.default",
                {call("aten.permute.default", {value, Argument(std::move(order))})},
                {{"memory_format", "contiguous_format"}});
  }

  void replace(Node &node) {
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    auto convolution = callOf(node, registry, program.symbols);
    const TensorType x = convolution->tensor("input"), w = convolution->tensor("weight");
    const std::vector<Expr> shape = node.result()->type().shape;
    Expr places = shape[2] * shape[3], terms = w.shape[1] * w.shape[2] * w.shape[3];
    Value *patches = seenAs(convolution->value("input"),
                            {shape[0], x.shape[1], shape[2], w.shape[2], shape[3], w.shape[3]});
    patches = seenAs(turned(patches, {0, 2, 4, 1, 3, 5}), {shape[0] * places, terms});
    Value *rows = seenAs(convolution->value("weight"), {shape[1], terms});
    Value *made = call("aten.linear.default", {patches, rows, convolution->at("bias")});
    made = turned(seenAs(made, {shape[0], places, shape[1]}), {0, 2, 1});
    program.main.replaceAllUses(node.result(), seenAs(made, shape));
    program.main.erase(&node);
  }

  Program &program;
  const OperatorRegistry &registry;
};

} // namespace

size_t multiplyPatches(Program &program, const OperatorRegistry &registry) {
  return PatchProducts(program, registry).run();
}

} // namespace pellucid::passes
