// SPDX-License-Identifier: Apache-2.0
// Small segments that run once or twice are not worth a compilation of tens of milliseconds.
#include "trace/InterpretSegment.h"

#include "reference/graph/Interpreter.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace pellucid::trace {

using namespace graph;

namespace {

constexpr size_t mostSegmentNodes = 100;
constexpr int64_t mostSegmentElements = 4096;

const std::set<std::string_view> moving = {"alias",         "as_strided", "as_strided_scatter",
                                           "cat",           "clone",      "contiguous",
                                           "copy",          "detach",     "expand",
                                           "full",          "full_like",  "index_select",
                                           "narrow",        "ones",       "ones_like",
                                           "permute",       "repeat",     "reshape",
                                           "select",        "slice",      "select_scatter",
                                           "slice_scatter", "split",      "squeeze",
                                           "stack",         "t",          "transpose",
                                           "unbind",        "unsqueeze",  "view",
                                           "zeros",         "zeros_like", "flatten",
                                           "unflatten"};
/// Exact on integers and bools, rounded to nearest once on float32 and float64.
const std::set<std::string_view> computing = {
    "add", "sub", "mul", "div",   "neg",         "abs",         "eq",         "ne",         "lt",
    "le",  "gt",  "ge",  "where", "logical_not", "logical_and", "logical_or", "bitwise_not"};

std::string_view nameOf(const Node &node) {
  std::string_view name = node.target();
  if (!name.starts_with("aten."))
    return {};
  name.remove_prefix(5);
  return name.substr(0, name.find('.'));
}

bool isExactNumber(const Argument &argument, DataType type) {
  if (auto number = argument.as<double>())
    return type == DataType::Float64 ||
           (type == DataType::Float32 &&
            static_cast<double>(static_cast<float>(*number)) == *number);
  if (auto number = argument.as<int64_t>())
    return !isFloat(type) || (*number < (1 << 24) && *number > -(1 << 24));
  return !argument.list() && !argument.as<Expr>();
}

/// All floats among the operands are of one type that is computed in as it is.
bool computesExactly(const Node &node) {
  std::optional<DataType> floats, integers;
  bool isExact = true;
  auto see = [&](const Value *value) {
    DataType type = value->type().dtype;
    std::optional<DataType> &known = isFloat(type) ? floats : integers;
    if (type == DataType::Bool)
      return;
    isExact = isExact && (!known || *known == type);
    known = type;
  };
  node.forEachOperand(see);
  if (!isExact || (floats && integers) ||
      (floats && *floats != DataType::Float32 && *floats != DataType::Float64))
    return false;
  DataType type = floats.value_or(integers.value_or(DataType::Bool));
  DataType result = node.result()->type().dtype;
  // Integers divide to floats, and numbers may make floats of integers.
  if (result != type && result != DataType::Bool)
    return false;
  if (nameOf(node) == "div" && (!floats || !node.kwargs().empty()))
    return false;
  for (const Argument &argument : node.args())
    if (!argument.value() && !isExactNumber(argument, type))
      return false;
  // alpha is another product.
  return node.kwargs().empty();
}

/// What an integer becomes that does not hold the float is the conversion's matter.
bool makesFloatsWhole(const Node &node) {
  bool hasFloats = false;
  node.forEachOperand([&](const Value *value) { hasFloats |= isFloat(value->type().dtype); });
  return hasFloats && !isFloat(node.result()->type().dtype);
}

bool isExact(const Node &node) {
  std::string_view name = nameOf(node);
  if (node.isLaunch() || !node.regions.empty() || node.body)
    return false;
  if (name == "view" && node.target() == "aten.view.dtype")
    return false;
  return moving.count(name) ? !makesFloatsWhole(node)
                            : computing.count(name) && computesExactly(node);
}

} // namespace

bool isInterpretable(const Program &program) {
  if (program.main.size() > mostSegmentNodes)
    return false;
  int64_t elements = 0;
  for (const Node &node : program.main) {
    if (node.isOutput())
      continue;
    if (!node.isPlaceholder() && !isExact(node))
      return false;
    for (size_t i = 0; i < node.resultCount(); ++i) {
      if (!node.result(i)->isTensor())
        return false;
      auto count = node.result(i)->type().numel().constant();
      auto storage = node.result(i)->type().storageElements(program.symbols).constant();
      if (!count || !storage || *count > mostSegmentElements || *storage > mostSegmentElements)
        return false;
      elements += std::max(*count, *storage);
    }
  }
  return elements <= 4 * mostSegmentElements;
}

std::vector<std::shared_ptr<const std::byte>>
interpretSegment(const Program &program, const OperatorRegistry &registry,
                 const std::vector<ConcreteTensor> &inputs) {
  std::vector<reference::Datum> given;
  for (const ConcreteTensor &input : inputs) {
    reference::Tensor tensor(input.dtype, input.shape);
    std::shared_ptr<const std::byte> dense = input.dense();
    std::memcpy(tensor.storage->data(), dense.get(),
                static_cast<size_t>(input.numel()) * byteSize(input.dtype));
    given.emplace_back(std::move(tensor));
  }
  reference::EvaluateOptions options;
  options.registry = &registry;
  std::vector<std::shared_ptr<const std::byte>> out;
  for (const reference::Datum &result :
       reference::evaluate(program, program.main, given, {}, options)) {
    reference::Tensor dense = std::get<reference::Tensor>(result).copy();
    out.emplace_back(dense.storage, reinterpret_cast<const std::byte *>(dense.storage->data()));
  }
  return out;
}

} // namespace pellucid::trace
