// SPDX-License-Identifier: Apache-2.0
#include "trace/FailedCall.h"

#include "host/InterpreterState.h"

#include <algorithm>
#include <map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

std::string scalarName(DataType type) {
  static const std::map<DataType, std::string> names = {
      {DataType::Float32, "Float"},     {DataType::Float64, "Double"}, {DataType::Float16, "Half"},
      {DataType::BFloat16, "BFloat16"}, {DataType::Int64, "Long"},     {DataType::Int32, "Int"},
      {DataType::Int16, "Short"},       {DataType::Int8, "Char"},      {DataType::UInt8, "Byte"},
      {DataType::Bool, "Bool"}};
  auto known = names.find(type);
  return known == names.end() ? std::string(info(type).torch) : known->second;
}

std::string cName(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "float";
  case DataType::Float64:
    return "double";
  case DataType::Float16:
    return "c10::Half";
  case DataType::BFloat16:
    return "c10::BFloat16";
  case DataType::Int64:
    return "long";
  case DataType::Int32:
    return "int";
  case DataType::Bool:
    return "bool";
  default:
    return scalarName(type);
  }
}

Found broadcastError(const Sizes &a, const Sizes &b) {
  size_t most = std::max(a.size(), b.size());
  for (size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
    int64_t x = a[a.size() - back], y = b[b.size() - back];
    if (x != y && x != 1 && y != 1)
      return runtimeError(
          "The size of tensor a (" + number(x) + ") must match the size of tensor b (" + number(y) +
          ") at non-singleton dimension " + number(static_cast<int64_t>(most - back)));
  }
  return std::nullopt;
}

Sizes broadcast(const Sizes &a, const Sizes &b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= out.size(); ++back) {
    int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    out[out.size() - back] = x == 1 ? y : x;
  }
  return out;
}

namespace {

//===-- rules of many operators ---------------------------------------------------------------===//

Found dimError(int64_t dim, size_t rank) {
  int64_t r = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim >= -r && dim < r)
    return std::nullopt;
  return indexError("Dimension out of range (expected to be in range of [" + number(-r) + ", " +
                    number(r - 1) + "], but got " + number(dim) + ")");
}

/// Dims of the first tensor, by whatever name the operator has them.
Found dimsError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (!self)
    self = call.tensor("input");
  size_t rank = self ? self->rank() : 0;
  if (auto list = call.tensors("tensors"); !self && !list.empty()) {
    self = list.front();
    rank = self->rank() + (call.name == "stack");
  }
  if (!self)
    return std::nullopt;
  rank += call.name == "unsqueeze";
  for (const char *name : {"dim", "dim0", "dim1", "dims", "start_dim", "end_dim"})
    if (auto dims = call.integers(name)) {
      Sizes seen;
      for (int64_t dim : *dims) {
        if (Found error = dimError(dim, rank))
          return error;
        int64_t wrapped = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
        bool isTwice = std::find(seen.begin(), seen.end(), wrapped) != seen.end();
        if (isTwice && call.name == "permute")
          return runtimeError("permute(): duplicate dims are not allowed.");
        if (isTwice && call.op.kind != Operator::Kind::View)
          return runtimeError("dim " + number(wrapped) +
                              " appears multiple times in the list of dims");
        seen.push_back(wrapped);
      }
    }
  return std::nullopt;
}

/// Tensors that an element of the result is computed of, or that are written over one another.
Found broadcastsError(const FailedCall &call) {
  if (call.op.kind != Operator::Kind::Pointwise && call.name != "copy")
    return std::nullopt;
  std::optional<Sizes> common;
  for (const SchemaArgument &argument : call.op.schema.arguments)
    if (const TensorType *type = call.tensor(argument.name)) {
      Sizes shape = shapeOf(type);
      if (common)
        if (Found error = broadcastError(*common, shape))
          return error;
      common = common ? broadcast(*common, shape) : shape;
    }
  return std::nullopt;
}

Found divisionError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (self && !isFloat(self->dtype) && call.integer("other") == 0 &&
      (call.name == "floor_divide" || call.name == "remainder" || call.name == "fmod" ||
       call.name == "div"))
    return runtimeError("ZeroDivisionError");
  return std::nullopt;
}

/// Every size is known in a script; one that is not belongs to another trace.
bool isConcrete(const std::vector<Argument> &positional, const KeywordArguments &keywords) {
  bool all = true;
  auto check = [&](Value *value) {
    if (value->isTensor())
      for (const Expr &size : value->type().shape)
        all = all && size.isConstant();
  };
  for (const Argument &argument : positional)
    argument.forEachValue(check);
  for (const auto &[name, argument] : keywords)
    argument.forEachValue(check);
  return all;
}

/// `sigmoid(): argument 'input' (position 1) must be Tensor, not float`
Found noTensorError(const Operator &op, const std::string &name,
                    const std::vector<Argument> &positional) {
  for (size_t i = 0; i < std::min(positional.size(), op.schema.arguments.size()); ++i) {
    const SchemaArgument &argument = op.schema.arguments[i];
    bool isTensor = argument.type.kind == SchemaType::Kind::Tensor && !argument.type.list;
    const Argument &given = positional[i];
    if (!isTensor || (given.value() && given.value()->isTensor()) || given.isNone())
      continue;
    const char *type = given.as<bool>()      ? "bool"
                       : given.as<int64_t>() ? "int"
                       : given.as<double>()  ? "float"
                       : given.string()      ? "str"
                       : given.list()        ? "list"
                                             : nullptr;
    if (!type || (i > 0 && std::string_view(type) != "str" && std::string_view(type) != "list"))
      return std::nullopt;
    std::string called = argument.name == "self" ? "input" : argument.name;
    return OperandError{"TypeError", name + "(): argument '" + called + "' (position " +
                                         number(static_cast<int64_t>(i + 1)) +
                                         ") must be Tensor, not " + type};
  }
  return std::nullopt;
}

} // namespace

Found operandError(const OperatorRegistry &registry, const std::string &packet,
                   const std::vector<Argument> &positional, const KeywordArguments &keywords) {
  if (!packet.starts_with("aten.") || !isConcrete(positional, keywords))
    return std::nullopt;
  std::vector<const Operator *> candidates = registry.overloads(packet);
  if (const Operator *exact = registry.find(packet))
    candidates = {exact};
  if (candidates.empty())
    return std::nullopt;
  const Operator *op = candidates.front();
  try {
    op = &registry.resolve(packet, positional, keywords, {});
  } catch (const DiagnosticError &) {
    std::string name = packet.substr(5, packet.find('.', 5) - 5);
    return noTensorError(*op, name, positional);
  }
  FailedCall call(*op, packet, positional, keywords);
  for (auto rule : {dimsError, shapeRule, elementRule, broadcastsError, divisionError})
    if (Found error = rule(call))
      return error;
  return std::nullopt;
}

void raiseOperandError(h::Interpreter &interpreter, const OperandError &error) {
  interpreter.raise(error.type, error.text);
}

//===-- failures of code ----------------------------------------------------------------------===//

/// What PyTorch calls an operator's failed assertion.
static OperandError failedAssertion(const std::string &message) {
  if (message.find("got an index out of range") != std::string::npos) {
    bool isRow = message.find("'aten.embedding") != std::string::npos ||
                 message.find("'aten.index_select") != std::string::npos;
    if (isRow)
      return indexError("index out of range in self");
    if (message.find("'aten.index") != std::string::npos)
      return indexError("index is out of bounds");
    return runtimeError("index is out of bounds");
  }
  if (message.find("divides integers by zero") != std::string::npos)
    return runtimeError("ZeroDivisionError");
  return runtimeError(message);
}

void raiseFailure(const SegmentFailure &failure, const Node *node) {
  h::Interpreter *interpreter = h::Interpreter::active();
  if (!interpreter)
    throw failure;
  const std::string &message = failure.diagnostic.message;
  OperandError error = failedAssertion(message);
  h::Value cls(interpreter->builtinClass(error.type));
  if (failure.isOutOfMemory) {
    error.text = message;
    cls = interpreter->getAttr(h::Value(interpreter->nativeModule("torch")), "OutOfMemoryError");
  }
  h::Value exception = interpreter->call(cls, {h::Value(error.text)});
  h::noteRaised(*interpreter, exception);
  Diagnostic diagnostic = failure.diagnostic;
  diagnostic.location = node ? node->location : interpreter->location();
  throw h::RaisedError(std::move(diagnostic), std::move(exception));
}

} // namespace pellucid::trace
