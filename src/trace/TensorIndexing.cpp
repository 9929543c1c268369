// SPDX-License-Identifier: Apache-2.0
// x[…] and x[…] = y.
#include "trace/TensorCalls.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// A tensor or list of integers used as an index, as a tensor.
std::optional<h::Value> asIndices(TensorObject &self, h::Interpreter &interpreter,
                                  const h::Value &part) {
  if (auto *tensor = part.as<TensorObject>()) {
    if (tensor->tensor.type.dtype == DataType::Bool)
      interpreter.refuse("indexing with a boolean mask gives as many elements as the mask's values "
                         "say, which is only known when the program runs; use torch.where");
    return part;
  }
  if (!part.isList())
    return std::nullopt;
  if (&self.tracer.graph() == &self.tracer.program.main) {
    std::vector<h::Value> arguments{part, dtypeValue(DataType::Int64)};
    return tensorOfNumbers(self.tracer, interpreter, arguments);
  }
  h::List rows;
  for (const h::Value &element : part.elements())
    rows.push_back(callAten(self.tracer, interpreter, "full",
                            argsOf({h::Value::list({h::Value(1)}), element},
                                   {{"dtype", dtypeValue(DataType::Int64)}})));
  return callAten(self.tracer, interpreter, "cat", argsOf({h::Value::list(rows)}));
}

/// What an index makes of a tensor: a view by selects, slices and unsqueezes, and the index tensors
/// that choose elements of its dims, None for the others.
struct Indexed {
  h::Value view;
  h::List indices;
};

Indexed splitIndex(TensorObject &self, h::Interpreter &interpreter, const h::Value &key) {
  std::vector<h::Value> parts = key.isTuple() ? key.tuple() : std::vector<h::Value>{key};
  size_t consumed = 0;
  for (const h::Value &part : parts)
    consumed += !part.isNone() && part.kind() != h::Kind::Ellipsis;
  size_t rank = self.tensor.type.rank();
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
        std::vector<h::Value> arguments = {result.view, h::Value(dim),
                                           s.lower.isNone() ? h::Value(0) : s.lower,
                                           s.upper.isNone() ? h::Value(INT64_MAX) : s.upper};
        if (!s.step.isNone())
          arguments.push_back(s.step);
        result.view = callAten(self.tracer, interpreter, "slice", argsOf(std::move(arguments)));
      }
      ++dim;
    } else if (part.isInt() || part.isSymInt()) {
      result.view =
          callAten(self.tracer, interpreter, "select", argsOf({result.view, h::Value(dim), part}));
    } else if (auto index = asIndices(self, interpreter, part)) {
      result.indices.resize(static_cast<size_t>(dim++));
      result.indices.push_back(*index);
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
    return index.view.as<TensorObject>() == this ? tensorValue(tracer, tensor) : index.view;
  return callAten(tracer, interpreter, "index",
                  argsOf({index.view, h::Value::list(std::move(index.indices))}));
}

bool TensorObject::setItem(h::Interpreter &interpreter, const h::Value &key,
                           const h::Value &value) {
  if (auto *mask = key.as<TensorObject>(); mask && mask->tensor.type.dtype == DataType::Bool) {
    callInPlace(*this, interpreter, "masked_fill", argsOf({key, value}));
    return true;
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
    callInPlace(view, interpreter, "copy", argsOf({source}));
    return true;
  }
  h::Value contents = value;
  if (auto *tensor = value.as<TensorObject>())
    contents = castTo(*tensor, interpreter, view.tensor.type.dtype);
  else
    contents = callAten(
        tracer, interpreter, "full",
        argsOf({h::Value::list({}), value}, {{"dtype", dtypeValue(view.tensor.type.dtype)}}));
  callInPlace(view, interpreter, "index_put",
              argsOf({h::Value::list(std::move(index.indices)), contents}));
  return true;
}

} // namespace pellucid::trace
