// SPDX-License-Identifier: Apache-2.0
// x[…] and x[…] = y.
#include "trace/Gradients.h"
#include "trace/TensorCalls.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

bool isMask(const h::Value &part) {
  auto *tensor = part.as<TensorObject>();
  return tensor && (tensor->tensor.type.dtype == DataType::Bool ||
                    tensor->tensor.type.dtype == DataType::UInt8);
}

/// A function of torch/aten_values.py.
h::Value ofValues(h::Interpreter &interpreter, const char *name, std::vector<h::Value> arguments) {
  auto module = interpreter.nativeModule("torch._pellucid_aten");
  return interpreter.call(*module->globals->find(name), std::move(arguments));
}

/// A tensor, or a list of integers or bools, used as an index, as a tensor.
std::optional<h::Value> asIndices(TensorObject &self, h::Interpreter &interpreter,
                                  const h::Value &part) {
  if (part.as<TensorObject>())
    return part;
  if (part.as<ItemNumber>())
    return part.as<ItemNumber>()->isWhole() ? std::optional(part.as<ItemNumber>()->operands[0])
                                            : std::nullopt;
  if (!part.isList())
    return std::nullopt;
  bool isMask = !part.elements().empty() &&
                std::all_of(part.elements().begin(), part.elements().end(),
                            [](const h::Value &element) { return element.isBool(); });
  DataType type = isMask ? DataType::Bool : DataType::Int64;
  if (&self.tracer.graph() == &self.tracer.program.main) {
    std::vector<h::Value> arguments{part, dtypeValue(type)};
    return tensorOfNumbers(self.tracer, interpreter, arguments);
  }
  h::List rows;
  for (const h::Value &element : part.elements())
    rows.push_back(
        callAten(self.tracer, interpreter, "full",
                 argsOf({h::Value::list({h::Value(1)}), element}, {{"dtype", dtypeValue(type)}})));
  return callAten(self.tracer, interpreter, "cat", argsOf({h::Value::list(rows)}));
}

/// A bound of a slice; a script's tensor without dims counts as the integer in it.
h::Value asBound(h::Interpreter &interpreter, const h::Value &bound) {
  auto *tensor = bound.as<TensorObject>();
  bool isInteger = tensor && !isFloat(tensor->tensor.type.dtype);
  return isInteger && isEager(tensor->tracer) ? itemOf(*tensor, interpreter) : bound;
}

/// Whether an index is one integer of a script: what it selects is a view, as of a number.
bool isOneInteger(const h::Value &part) {
  auto *tensor = part.as<TensorObject>();
  if (!tensor || tensor->tensor.type.rank() != 0 || !isEager(tensor->tracer))
    return false;
  DataType type = tensor->tensor.type.dtype;
  return isInteger(type) && type != DataType::UInt8;
}

/// What an index makes of a tensor: a view by selects, slices and unsqueezes, and the index tensors
/// that choose elements of its dims, None for the others.
struct Indexed {
  h::Value view;
  h::List indices;
};

/// As many index tensors as the mask has dims; the places where it holds.
void addMask(h::Interpreter &interpreter, const h::Value &mask, int64_t &dim, Indexed &result) {
  std::vector<h::Value> places =
      ofValues(interpreter, "_mask_indices", {result.view, mask, h::Value(dim)}).elements();
  // One without dims is a dim of its own, of size 1.
  if (mask.as<TensorObject>()->tensor.type.rank() == 0)
    result.view = callAten(result.view.as<TensorObject>()->tracer, interpreter, "unsqueeze",
                           argsOf({result.view, h::Value(dim)}));
  result.indices.resize(static_cast<size_t>(dim));
  result.indices.insert(result.indices.end(), places.begin(), places.end());
  dim += static_cast<int64_t>(places.size());
}

Indexed splitIndex(TensorObject &self, h::Interpreter &interpreter, const h::Value &key) {
  std::vector<h::Value> parts = key.isTuple() ? key.tuple() : std::vector<h::Value>{key};
  size_t consumed = 0;
  for (h::Value &part : parts) {
    // x[True] is a mask without dims, as x[torch.tensor(True)] is.
    if (part.isBool())
      part = callAten(self.tracer, interpreter, "full",
                      argsOf({h::Value::list({}), part}, {{"dtype", dtypeValue(DataType::Bool)}}));
    if (isOneInteger(part))
      part = itemOf(*part.as<TensorObject>(), interpreter);
    if (part.kind() == h::Kind::Range)
      part = h::Value::list(h::List(interpreter.iterate(part)));
    if (part.isList())
      part = *asIndices(self, interpreter, part);
    consumed += isMask(part) ? part.as<TensorObject>()->tensor.type.rank()
                             : !part.isNone() && part.kind() != h::Kind::Ellipsis;
  }
  size_t rank = self.tensor.type.rank();
  if (consumed > rank && rank == 0)
    interpreter.raise("IndexError", "invalid index of a 0-dim tensor. Use `tensor.item()` in "
                                    "Python or `tensor.item<T>()` in C++ to convert a 0-dim "
                                    "tensor to a number");
  if (consumed > rank && isEager(self.tracer))
    interpreter.raise("IndexError",
                      "too many indices for tensor of dimension " + std::to_string(rank));
  if (consumed > rank)
    interpreter.raise("IndexError", "too many indices: " + std::to_string(consumed) +
                                        " for a tensor of " + std::to_string(rank) + " dims");
  Indexed result{selfOf(self), {}};
  int64_t dim = 0;
  for (const h::Value &part : parts) {
    if (part.isNone()) {
      result.view =
          callAten(self.tracer, interpreter, "unsqueeze", argsOf({result.view, h::Value(dim++)}));
    } else if (part.kind() == h::Kind::Ellipsis) {
      dim += static_cast<int64_t>(rank - consumed);
    } else if (part.kind() == h::Kind::Slice) {
      const h::Slice &s = part.slice();
      if (!s.lower.isNone() || !s.upper.isNone() || !s.step.isNone()) {
        // As PyTorch's nodes spell the bounds that are left out.
        std::vector<h::Value> arguments = {
            result.view, h::Value(dim),
            s.lower.isNone() ? h::Value(0) : asBound(interpreter, s.lower),
            s.upper.isNone() ? h::Value(INT64_MAX) : asBound(interpreter, s.upper)};
        if (!s.step.isNone())
          arguments.push_back(asBound(interpreter, s.step));
        result.view = callAten(self.tracer, interpreter, "slice", argsOf(std::move(arguments)));
      }
      ++dim;
    } else if (isMask(part)) {
      addMask(interpreter, part, dim, result);
    } else if (part.isInt() || part.isSymInt()) {
      result.view =
          callAten(self.tracer, interpreter, "select", argsOf({result.view, h::Value(dim), part}));
    } else if (auto index = asIndices(self, interpreter, part)) {
      result.indices.resize(static_cast<size_t>(dim++));
      result.indices.push_back(*index);
    } else if (part.isFloat() && isEager(self.tracer)) {
      interpreter.raise("IndexError", "only integers, slices (`:`), ellipsis (`...`), None and "
                                      "long or byte Variables are valid indices (got float)");
    } else if (part.isStr() && isEager(self.tracer)) {
      interpreter.raise("TypeError", "new(): invalid data type 'str'");
    } else {
      interpreter.refuse("indexing with a value of type " + h::typeName(part) +
                         " is not supported; integers, slices, None, ..., tensors and lists of "
                         "integers are");
    }
  }
  return result;
}

} // namespace

std::optional<h::Value> TensorObject::getItem(h::Interpreter &interpreter, const h::Value &key) {
  Indexed index = splitIndex(*this, interpreter, key);
  if (index.indices.empty()) // x[...] is another tensor over the same memory
    return index.view.as<TensorObject>() != this ? index.view
           : requiresGrad(*this) ? callAten(tracer, interpreter, "alias", argsOf({selfOf(*this)}))
                                 : tensorValue(tracer, tensor);
  return callAten(tracer, interpreter, "index",
                  argsOf({index.view, h::Value::list(std::move(index.indices))}));
}

bool TensorObject::setItem(h::Interpreter &interpreter, const h::Value &key,
                           const h::Value &value) {
  if (key.as<TensorObject>() && isMask(key)) {
    h::Value mask =
        ofValues(interpreter, "_mask_over",
                 {selfOf(*this), castTo(*key.as<TensorObject>(), interpreter, DataType::Bool)});
    auto *source = value.as<TensorObject>();
    if (!source || source->tensor.type.rank() == 0) {
      callInPlace(*this, interpreter, "masked_fill", argsOf({mask, value}));
      return true;
    }
  }
  Indexed index = splitIndex(*this, interpreter, key);
  TensorObject &view = *index.view.as<TensorObject>();
  if (index.indices.empty()) {
    // Dims of size 1 in front that the place does not have are dropped.
    h::Value source = value;
    for (auto *tensor = source.as<TensorObject>();
         tensor && tensor->tensor.type.rank() > view.tensor.type.rank() &&
         tracer.symbols().proveEqual(tensor->tensor.type.shape[0], 1);
         tensor = source.as<TensorObject>())
      source = callAten(tracer, interpreter, "select", argsOf({source, h::Value(0), h::Value(0)}));
    callInPlace(view, interpreter, source.as<TensorObject>() ? "copy" : "fill", argsOf({source}));
    return true;
  }
  h::Value contents = value;
  if (value.as<TensorObject>()) {
    bool anyMask = isMask(key);
    for (const h::Value &part : key.isTuple() ? key.tuple() : std::vector<h::Value>())
      anyMask |= isMask(part);
    // How many there are is checked when the program runs.
    if (anyMask)
      contents = ofValues(interpreter, "_values_for",
                          {index.view, h::Value::list(index.indices), contents});
    contents = castTo(*contents.as<TensorObject>(), interpreter, view.tensor.type.dtype);
  } else
    contents = callAten(
        tracer, interpreter, "full",
        argsOf({h::Value::list({}), value}, {{"dtype", dtypeValue(view.tensor.type.dtype)}}));
  callInPlace(view, interpreter, "index_put",
              argsOf({h::Value::list(std::move(index.indices)), contents}));
  return true;
}

} // namespace pellucid::trace
