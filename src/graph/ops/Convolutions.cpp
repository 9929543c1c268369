// SPDX-License-Identifier: Apache-2.0
/// Convolutions: one operator that has kernels (passes/graph/LowerConvolutions.cpp), and the
/// functions of PyTorch that call it.
#include "graph/ops/ConvolutionDims.h"
#include "graph/ops/Families.h"

#include <algorithm>

namespace pellucid::graph {

namespace {

/// One number per spatial dim: a single one stands for all.
std::vector<int64_t> perDim(const OperatorCall &call, std::string_view name, size_t spatial,
                            int64_t least) {
  std::vector<int64_t> values = call.constants(name);
  if (values.size() == 1)
    values.resize(spatial, values[0]);
  if (values.size() != spatial)
    call.fail("expects '" + std::string(name) + "' to have " + std::to_string(spatial) +
              " elements, one for each spatial dim, got " + std::to_string(values.size()));
  for (int64_t value : values)
    if (value < least)
      call.fail("expects '" + std::string(name) + "' to be at least " + std::to_string(least) +
                ", got " + std::to_string(value));
  return values;
}

void checkOperands(const OperatorCall &call, size_t spatial) {
  const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
  if (input.rank() != spatial + 2 || weight.rank() != input.rank())
    call.fail("expects an input and a weight with " + std::to_string(spatial + 2) + " dims, got " +
              shapeText(input.shape) + " and " + shapeText(weight.shape));
  for (std::string_view name : {"weight", "bias"})
    if (call.has(name) && call.tensor(name).dtype != input.dtype)
      call.fail("expects input and " + std::string(name) + " to have the same dtype, got " +
                std::string(info(input.dtype).torch) + " and " +
                std::string(info(call.tensor(name).dtype).torch));
  if (!isFloat(input.dtype) || byteSize(input.dtype) < 2)
    call.fail("is not defined for " + std::string(info(input.dtype).torch));
}

void checkChannels(const OperatorCall &call, const ConvolutionDims &dims) {
  const TensorType &weight = call.tensor("weight");
  if (dims.groups < 1)
    call.fail("expects 'groups' to be positive, got " + std::to_string(dims.groups));
  if (!call.symbols.isMultipleOf(dims.inputChannels, dims.groups) ||
      !call.symbols.isMultipleOf(dims.outputChannels, dims.groups))
    call.fail("expects 'groups' to divide the channels, got " + std::to_string(dims.groups) +
              " and " + dims.inputChannels.text() + " to " + dims.outputChannels.text());
  Expr channels = dims.transposed ? weight.shape[0] : weight.shape[1] * dims.groups;
  if (!call.symbols.proveEqual(channels, dims.inputChannels))
    call.fail("expects an input with " + channels.text() + " channels for a weight of " +
              shapeText(weight.shape) + " in " + std::to_string(dims.groups) + " groups, got " +
              dims.inputChannels.text());
  if (call.has("bias")) {
    const TensorType &bias = call.tensor("bias");
    if (bias.rank() != 1 || !call.symbols.proveEqual(bias.shape[0], dims.outputChannels))
      call.fail("expects a bias of " + dims.outputChannels.text() + " elements, got " +
                shapeText(bias.shape));
  }
}

Expr outputSize(const OperatorCall &call, const ConvolutionDims &dims, size_t d) {
  int64_t reach = dims.dilation[d] * (dims.kernel[d] - 1) + 1;
  if (dims.transposed) {
    if (dims.outputPadding[d] >= dims.stride[d] && dims.outputPadding[d] >= dims.dilation[d])
      call.fail("expects 'output_padding' to be smaller than stride or dilation, got " +
                std::to_string(dims.outputPadding[d]));
    return (dims.input[d] - 1) * dims.stride[d] - 2 * dims.padding[d] + reach +
           dims.outputPadding[d];
  }
  Expr padded = dims.input[d] + 2 * dims.padding[d];
  if (call.symbols.prove(symbolic::lessEqual(reach, padded)) != true)
    call.fail("expects the kernel to be no larger than the padded input, got " +
              std::to_string(reach) + " and " + padded.text() +
              "; a dynamic dim needs a range that begins there");
  return symbolic::floorDiv(padded - reach, dims.stride[d]) + 1;
}

bool isChannelsLast(const TensorType &type, const SymbolTable &symbols) {
  if (type.rank() < 4)
    return false;
  TensorType moved = type;
  std::rotate(moved.shape.begin() + 1, moved.shape.begin() + 2, moved.shape.end());
  std::rotate(moved.strides.begin() + 1, moved.strides.begin() + 2, moved.strides.end());
  return moved.isContiguous(symbols) && !type.isContiguous(symbols);
}

std::vector<ResultType> convolutionFake(const OperatorCall &call) {
  ConvolutionDims dims = convolutionDims(call);
  std::vector<Expr> shape{dims.batch, dims.outputChannels};
  shape.insert(shape.end(), dims.output.begin(), dims.output.end());
  const TensorType &input = call.tensor("input");
  TensorType result = freshLike(input, input.dtype, shape);
  // The results of operands whose channels lie innermost lie so, too.
  if (isChannelsLast(input, call.symbols) || isChannelsLast(call.tensor("weight"), call.symbols)) {
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    result.strides = contiguousStrides(shape);
    std::rotate(result.strides.begin() + 1, result.strides.end() - 1, result.strides.end());
  }
  return {result};
}

Cost convolutionCost(const OperatorCall &call, std::span<const ResultType> results) {
  ConvolutionDims dims = convolutionDims(call);
  Cost cost = kindCost(call, results);
  const TensorType &input = call.tensor("input");
  Expr elements = dims.transposed ? input.numel() : std::get<TensorType>(results[0]).numel();
  Expr terms = dims.transposed ? dims.outputPerGroup() : dims.inputPerGroup();
  for (int64_t extent : dims.kernel)
    terms = terms * extent;
  cost.flops = elements * terms * 2;
  return cost;
}

/// PyTorch's conv1d … as a call of the operator: numbers for `padding`, a batch where there is
/// none.
class Decomposition {
public:
  Decomposition(Graph &g, const OperatorCall &c, const OperatorRegistry &r, size_t s)
      : graph(g), call(c), registry(r), spatial(s) {}

  Value *run() {
    Value *input = call.value("input");
    bool single = input->type().rank() == spatial + 1;
    if (single)
      input = emit("aten.unsqueeze.default", {input, int64_t(0)});
    bool transposed = call.op.schema.indexOf("output_padding").has_value();
    Argument::List none(spatial, Argument(int64_t(0)));
    Value *result = emit("aten.convolution.default",
                         {input, call.at("weight"), call.at("bias"), call.at("stride"), padding(),
                          call.at("dilation"), transposed,
                          transposed ? call.at("output_padding") : Argument(std::move(none)),
                          call.at("groups")});
    return single ? emit("aten.squeeze.dim", {result, int64_t(0)}) : result;
  }

private:
  Value *emit(std::string_view target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  }

  Argument padding() const {
    if (!call.at("padding").as<std::string>())
      return call.at("padding");
    std::string name = call.string("padding");
    if (name != "valid" && name != "same")
      call.fail("expects 'padding' to be 'valid', 'same' or numbers, got '" + name + "'");
    Argument::List list;
    std::vector<int64_t> dilation = perDim(call, "dilation", spatial, 1);
    for (size_t d = 0; d < spatial; ++d)
      list.emplace_back(name == "valid" ? int64_t(0) : sameOnBothSides(dilation[d], d));
    return Argument(std::move(list));
  }

  int64_t sameOnBothSides(int64_t dilation, size_t d) const {
    for (int64_t stride : perDim(call, "stride", spatial, 1))
      if (stride != 1)
        call.fail("expects a stride of 1 where padding is 'same', got " + std::to_string(stride));
    std::optional<int64_t> extent = call.tensor("weight").shape[2 + d].constant();
    if (!extent)
      call.fail("expects a weight with constant spatial dims, got " +
                shapeText(call.tensor("weight").shape));
    int64_t total = dilation * (*extent - 1);
    if (total % 2)
      call.fail("expects padding='same' to come out equal on both sides, got " +
                std::to_string(total) + " in all; pad the input with F.pad");
    return total / 2;
  }

  Graph &graph;
  const OperatorCall &call;
  const OperatorRegistry &registry;
  size_t spatial;
};

/// The types of what the decomposition computes, on a graph of its own.
std::vector<ResultType> functionFake(const OperatorCall &call, size_t spatial) {
  const TensorType &input = call.tensor("input");
  if (input.rank() != spatial + 1 && input.rank() != spatial + 2)
    call.fail("expects an input with " + std::to_string(spatial + 1) + " or " +
              std::to_string(spatial + 2) + " dims, got " + shapeText(input.shape));
  if (const TensorType &weight = call.tensor("weight"); weight.rank() != spatial + 2)
    call.fail("expects a weight with " + std::to_string(spatial + 2) + " dims, got " +
              shapeText(weight.shape));
  Graph scratch;
  OperatorCall moved = call;
  for (Argument &argument : moved.args)
    if (Value *value = argument.value())
      argument = Argument(scratch.placeholder("operand", value->type()));
  Value *result = Decomposition(scratch, moved, OperatorRegistry::builtins(), spatial).run();
  return {result->type()};
}

} // namespace

ConvolutionDims convolutionDims(const OperatorCall &call) {
  const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
  if (input.rank() < 3 || input.rank() > 5)
    call.fail("expects an input with a batch, channels and 1 to 3 spatial dims, got " +
              shapeText(input.shape));
  size_t spatial = input.rank() - 2;
  checkOperands(call, spatial);
  ConvolutionDims dims;
  dims.groups = call.constant("groups");
  dims.transposed = call.flag("transposed");
  dims.batch = input.shape[0];
  dims.inputChannels = input.shape[1];
  dims.outputChannels = dims.transposed ? weight.shape[1] * dims.groups : weight.shape[0];
  checkChannels(call, dims);
  dims.stride = perDim(call, "stride", spatial, 1);
  dims.padding = perDim(call, "padding", spatial, 0);
  dims.dilation = perDim(call, "dilation", spatial, 1);
  dims.outputPadding = dims.transposed ? perDim(call, "output_padding", spatial, 0)
                                       : std::vector<int64_t>(spatial, 0);
  for (size_t d = 0; d < spatial; ++d) {
    std::optional<int64_t> extent = weight.shape[2 + d].constant();
    if (!extent)
      call.fail("expects a weight with constant spatial dims, got " + shapeText(weight.shape));
    if (*extent < 1)
      call.fail("expects a weight with spatial dims of at least 1, got " + shapeText(weight.shape));
    dims.kernel.push_back(*extent);
    dims.input.push_back(input.shape[2 + d]);
    dims.output.push_back(outputSize(call, dims, d));
  }
  return dims;
}

void registerConvolutionOperators(OperatorRegistry &registry) {
  Operator op = makeOperator(
      "aten::convolution.default(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
      "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt "
      "groups) -> Tensor",
      Operator::Kind::Gemm, convolutionFake);
  op.cost = convolutionCost;
  registry.add(std::move(op));

  for (size_t spatial : {1, 2, 3}) {
    std::string n = std::to_string(spatial), list = "SymInt[" + n + "] ",
                operands =
                    "(Tensor input, Tensor weight, Tensor? bias=None, " + list + "stride=1, ",
                numbers = list + "padding=0, ", dilation = list + "dilation=1";
    for (const std::string &schema :
         {"aten::conv" + n + "d.default" + operands + numbers + dilation +
              ", SymInt groups=1) -> Tensor",
          "aten::conv" + n + "d.padding" + operands + "str padding=\"valid\", " + dilation +
              ", SymInt groups=1) -> Tensor",
          "aten::conv_transpose" + n + "d." + (spatial == 1 ? "default" : "input") + operands +
              numbers + list + "output_padding=0, SymInt groups=1, " + dilation + ") -> Tensor"}) {
      Operator function =
          makeOperator(schema, Operator::Kind::Composite,
                       [spatial](const OperatorCall &call) { return functionFake(call, spatial); });
      function.decompose = [spatial](Graph &graph, const OperatorCall &call,
                                     const OperatorRegistry &known) -> std::vector<Value *> {
        return {Decomposition(graph, call, known, spatial).run()};
      };
      registry.add(std::move(function));
    }
  }
}

} // namespace pellucid::graph
