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
  bool isFunction = !call.op.schema.indexOf("transposed");
  bool isSingle = isFunction && input.rank() == spatial + 1;
  if ((input.rank() != spatial + 2 && !isSingle) || weight.rank() != spatial + 2)
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

/// So much on both sides that the size stays as it is.
int64_t samePadding(const OperatorCall &call, const ConvolutionDims &dims, size_t d) {
  if (dims.stride[d] != 1)
    call.fail("expects a stride of 1 where padding is 'same', got " +
              std::to_string(dims.stride[d]));
  int64_t total = dims.dilation[d] * (dims.kernel[d] - 1);
  if (total % 2)
    call.fail("expects padding='same' to come out equal on both sides, got " +
              std::to_string(total) + " in all; pad the input with F.pad");
  return total / 2;
}

std::vector<int64_t> paddingOf(const OperatorCall &call, const ConvolutionDims &dims) {
  auto name = call.at("padding").as<std::string>();
  if (!name)
    return perDim(call, "padding", dims.spatial(), 0);
  if (*name != "valid" && *name != "same")
    call.fail("expects 'padding' to be 'valid', 'same' or numbers, got '" + *name + "'");
  std::vector<int64_t> padding(dims.spatial(), 0);
  for (size_t d = 0; d < padding.size() && *name == "same"; ++d)
    padding[d] = samePadding(call, dims, d);
  return padding;
}

void checkChannels(const OperatorCall &call, const ConvolutionDims &dims) {
  const TensorType &weight = call.tensor("weight");
  if (dims.outputChannels.constant() == 0)
    call.fail("expects a weight with at least 1 output channel, got " + shapeText(weight.shape));
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

std::vector<ResultType> convolutionFake(const OperatorCall &call) {
  ConvolutionDims dims = convolutionDims(call);
  std::vector<Expr> shape{dims.batch, dims.outputChannels};
  shape.insert(shape.end(), dims.output.begin(), dims.output.end());
  const TensorType &input = call.tensor("input");
  if (dims.isSingle)
    return {freshLike(input, input.dtype, {shape.begin() + 1, shape.end()})};
  TensorType result = freshLike(input, input.dtype, shape);
  // The results of operands whose channels lie innermost lie so, too.
  if (suggestsChannelsLast(input, call.symbols) ||
      suggestsChannelsLast(call.tensor("weight"), call.symbols))
    result.strides = channelsLastStrides(shape);
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
std::vector<Value *> functionDecomposition(Graph &graph, const OperatorCall &call,
                                           const OperatorRegistry &registry) {
  auto emit = [&](std::string_view target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  };
  ConvolutionDims dims = convolutionDims(call);
  auto list = [](const std::vector<int64_t> &values) {
    return Argument(Argument::List(values.begin(), values.end()));
  };
  Value *input = call.value("input");
  if (dims.isSingle)
    input = emit("aten.unsqueeze.default", {input, int64_t(0)});
  Value *result =
      emit("aten.convolution.default",
           {input, call.at("weight"), call.at("bias"), list(dims.stride), list(dims.padding),
            list(dims.dilation), dims.transposed, list(dims.outputPadding), dims.groups});
  return {dims.isSingle ? emit("aten.squeeze.dim", {result, int64_t(0)}) : result};
}

} // namespace

ConvolutionDims convolutionDims(const OperatorCall &call) {
  const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
  const Schema &schema = call.op.schema;
  // Functions have their number of spatial dims in their name.
  size_t spatial = 0;
  if (schema.indexOf("transposed"))
    spatial = input.rank() < 3 || input.rank() > 5 ? 0 : input.rank() - 2;
  else
    spatial = static_cast<size_t>(schema.name[schema.name.size() - 2] - '0');
  if (spatial == 0)
    call.fail("expects an input with a batch, channels and 1 to 3 spatial dims, got " +
              shapeText(input.shape));
  checkOperands(call, spatial);
  ConvolutionDims dims;
  dims.groups = call.constant("groups");
  dims.transposed = schema.indexOf("transposed") ? call.flag("transposed")
                                                 : schema.indexOf("output_padding").has_value();
  dims.isSingle = input.rank() == spatial + 1;
  size_t first = dims.isSingle ? 0 : 1;
  dims.batch = dims.isSingle ? Expr(1) : input.shape[0];
  dims.inputChannels = input.shape[first];
  dims.outputChannels = dims.transposed ? weight.shape[1] * dims.groups : weight.shape[0];
  checkChannels(call, dims);
  dims.stride = perDim(call, "stride", spatial, 1);
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
    dims.input.push_back(input.shape[first + 1 + d]);
  }
  dims.padding = paddingOf(call, dims);
  for (size_t d = 0; d < spatial; ++d)
    dims.output.push_back(outputSize(call, dims, d));
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
      Operator function = makeOperator(schema, Operator::Kind::Composite, convolutionFake);
      function.cost = convolutionCost;
      function.decompose = functionDecomposition;
      registry.add(std::move(function));
    }
  }
}

} // namespace pellucid::graph
