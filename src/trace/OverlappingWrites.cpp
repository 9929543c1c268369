// SPDX-License-Identifier: Apache-2.0
// Tensors that are written and read in one call. What a kernel of PyTorch's would read depends on
// how far it has written, so PyTorch refuses, and a script may catch it.
#include "trace/OperandErrors.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <array>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The bytes that the elements lie in, and the strides; only where they fill them, each its own.
struct Place {
  int64_t begin, end;
  std::vector<int64_t> strides;
};

std::optional<Place> densePlace(const TensorType &type) {
  std::vector<std::pair<int64_t, int64_t>> dims; // strides and sizes
  std::optional<int64_t> offset = type.offset.constant();
  int64_t count = 1;
  Place place{};
  for (size_t d = 0; d < type.rank(); ++d) {
    std::optional<int64_t> size = type.shape[d].constant(), stride = type.strides[d].constant();
    if (!size || !stride || *size == 0)
      return std::nullopt;
    place.strides.push_back(*stride);
    count *= *size;
    if (*size > 1)
      dims.emplace_back(*stride, *size);
  }
  std::sort(dims.begin(), dims.end());
  int64_t next = 1;
  for (auto [stride, size] : dims) {
    if (stride != next)
      return std::nullopt;
    next *= size;
  }
  if (!offset)
    return std::nullopt;
  int64_t bytes = byteSize(type.dtype);
  place.begin = *offset * bytes;
  place.end = (*offset + count) * bytes;
  return place;
}

/// Some of their places are the same; and, unless the operator moves elements, they are not the
/// same elements one by one.
bool overlaps(const TracedTensor &written, const TracedTensor &read, bool moves) {
  if (written.storage != read.storage || written.type.dtype != read.type.dtype)
    return false;
  std::optional<Place> a = densePlace(written.type), b = densePlace(read.type);
  if (!a || !b || a->begin >= b->end || b->begin >= a->end)
    return false;
  return moves || a->begin != b->begin || a->end != b->end || a->strides != b->strides;
}

/// Along a dim of several elements they lie in one place.
bool repeats(const TensorType &type) {
  for (size_t d = 0; d < type.rank(); ++d)
    if (type.strides[d].constant() == 0 && type.shape[d].constant().value_or(0) > 1)
      return true;
  return false;
}

bool isElementByElement(const OperatorRegistry &registry, const std::string &name) {
  auto overloads = registry.overloads("aten." + name);
  return !overloads.empty() && overloads.front()->kind == Operator::Kind::Pointwise;
}

/// Those that take elements from elsewhere, which may be written already, and those that go along a
/// dim.
bool movesElements(const std::string &name) {
  static constexpr std::array names = {"cat",   "concat", "concatenate",
                                       "stack", "gather", "index_select"};
  return std::ranges::find(names, name) != names.end();
}
bool goesAlong(const std::string &name) { return name == "cumsum" || name == "cumprod"; }

/// Why PyTorch refuses to write; null where it does not.
const char *overlapOf(const TracedTensor &written, const std::string &name,
                      const h::CallArgs &args) {
  constexpr const char *within = "more than one element of the written-to tensor refers",
                       *across =
                           "some elements of the input tensor and the written-to tensor refer";
  bool hasRepeats = repeats(written.type);
  if (hasRepeats && name != "copy")
    return within;
  bool moves = movesElements(name);
  std::vector<h::Value> values = args.positional;
  if (moves && !values.empty() && values[0].isSequence()) {
    std::vector<h::Value> elements(values[0].elements().begin(), values[0].elements().end());
    values.insert(values.end(), elements.begin(), elements.end());
  }
  for (const h::Value &value : values)
    if (auto *read = value.as<TensorObject>()) {
      // One number for all elements may be written anywhere.
      if (hasRepeats && read->tensor.type.rank() > 0)
        return within;
      if (overlaps(written, read->tensor, moves))
        return across;
    }
  return nullptr;
}

} // namespace

void checkOverlaps(h::Interpreter &interpreter, const TensorObject &written,
                   const std::string &name, const h::CallArgs &args) {
  if (name == "fill" || name == "zero")
    return;
  const char *why = overlapOf(written.tensor, name, args);
  if (why && (name == "copy" || movesElements(name) || goesAlong(name) ||
              isElementByElement(written.tracer.registry, name)))
    interpreter.raise("RuntimeError", std::string("unsupported operation: ") + why +
                                          " to a single memory location. Please clone() the "
                                          "tensor before performing the operation.");
}

} // namespace pellucid::trace
