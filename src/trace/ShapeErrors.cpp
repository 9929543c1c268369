// SPDX-License-Identifier: Apache-2.0
// What PyTorch raises for products and views.
#include "trace/FailedCall.h"

#include <algorithm>
#include <map>

namespace pellucid::trace {

namespace {

//===-- products ------------------------------------------------------------------------------===//

OperandError notMultiplied(const std::string &who, const Sizes &a, const Sizes &b) {
  return runtimeError(who + "mat1 and mat2 shapes cannot be multiplied (" + listed(a, "x") +
                      " and " + listed(b, "x") + ")");
}

Found typesError(const TensorType &a, const TensorType &b, bool isLinear) {
  if (a.dtype == b.dtype)
    return std::nullopt;
  if (isLinear)
    return runtimeError("mat1 and mat2 must have the same dtype, but got " + scalarName(a.dtype) +
                        " and " + scalarName(b.dtype));
  return runtimeError("expected m1 and m2 to have the same dtype, but got: " + cName(a.dtype) +
                      " != " + cName(b.dtype));
}

Found batchesError(const Sizes &a, const Sizes &b) {
  if (a.size() == 3 && b.size() == 3 && (a[0] != b[0] || a[2] != b[1]))
    return runtimeError("Expected size for first two dimensions of batch2 tensor to be: [" +
                        number(a[0]) + ", " + number(a[2]) + "] but got: [" + number(b[0]) + ", " +
                        number(b[1]) + "].");
  return std::nullopt;
}

Found matmulError(const FailedCall &call) {
  const TensorType *a = call.tensor("self"), *b = call.tensor("other");
  if (!a || !b)
    return std::nullopt;
  Sizes x = shapeOf(a), y = shapeOf(b);
  if (x.empty() || y.empty())
    return runtimeError("both arguments to matmul need to be at least 1D, but they are " +
                        number(static_cast<int64_t>(x.size())) + "D and " +
                        number(static_cast<int64_t>(y.size())) + "D");
  int64_t inner = y.size() == 1 ? y[0] : y[y.size() - 2];
  if (x.size() <= 2 && y.size() <= 2 && x.back() != inner) {
    if (x.size() == 1 && y.size() == 1)
      return runtimeError("inconsistent tensor size, expected tensor " + bracketed(x) +
                          " and src " + bracketed(y) +
                          " to have the same number of elements, but got " + number(x[0]) +
                          " and " + number(y[0]) + " elements respectively");
    if (y.size() == 1)
      return runtimeError("size mismatch, got input (" + number(x[0]) + "), mat (" +
                          listed(x, "x") + "), vec (" + number(y[0]) + ")");
    return notMultiplied("mm: ", x.size() == 1 ? Sizes{1, x[0]} : x, y);
  }
  if (x.size() > 2 || y.size() > 2) {
    Sizes left(x.begin(), x.size() > 1 ? x.end() - 2 : x.begin());
    Sizes right(y.begin(), y.size() > 1 ? y.end() - 2 : y.begin());
    if (Found error = broadcastError(left, right))
      return error;
    if (x.back() != inner) {
      if (y.size() <= 2) { // the batch is folded into the rows
        Sizes rows = {product(x) / std::max<int64_t>(x.back(), 1), x.back()};
        if (y.size() == 2)
          return notMultiplied("mm: ", rows, y);
        return runtimeError("size mismatch, got input (" + number(rows[0]) + "), mat (" +
                            listed(rows, "x") + "), vec (" + number(y[0]) + ")");
      }
      int64_t batch = product(broadcast(left, right));
      return batchesError({batch, x.size() == 1 ? 1 : x[x.size() - 2], x.back()},
                          {batch, inner, y.back()});
    }
  }
  return typesError(*a, *b, false);
}

Found linearError(const FailedCall &call) {
  const TensorType *input = call.tensor("input"), *weight = call.tensor("weight");
  if (!input || !weight || input->rank() == 0 || weight->rank() != 2)
    return std::nullopt;
  Sizes x = shapeOf(input), w = shapeOf(weight);
  bool hasBias = call.tensor("bias") != nullptr;
  if (x.back() != w[1])
    return notMultiplied(hasBias && x.size() <= 2 ? "addmm: "
                         : hasBias                ? ""
                                                  : "mm: ",
                         {product(x) / std::max<int64_t>(x.back(), 1), x.back()}, {w[1], w[0]});
  return typesError(*input, *weight, true);
}

Found mmError(const FailedCall &call, const char *first, const char *second) {
  const TensorType *a = call.tensor(first), *b = call.tensor(second);
  if (!a || !b)
    return std::nullopt;
  auto rank = [&](const char *name, const TensorType &type) {
    return runtimeError(call.name + ": " + name + " must be a matrix, got " +
                        number(static_cast<int64_t>(type.rank())) + "-D tensor");
  };
  if (a->rank() != 2)
    return rank(first, *a);
  if (b->rank() != 2)
    return rank(second, *b);
  Sizes x = shapeOf(a), y = shapeOf(b);
  if (x[1] != y[0])
    return notMultiplied(call.name + ": ", x, y);
  if (const TensorType *self = call.tensor("self"); self && call.name == "addmm") {
    Sizes want = {x[0], y[1]}, have = shapeOf(self);
    if (have.size() > 2 || broadcastError(have, want) || broadcast(have, want) != want)
      return runtimeError("The expanded size of the tensor (" + number(want[1]) +
                          ") must match the existing size (" +
                          number(have.empty() ? 1 : have.back()) +
                          ") at non-singleton dimension 1.  Target sizes: " + bracketed(want) +
                          ".  Tensor sizes: " + bracketed(have));
  }
  return typesError(*a, *b, call.name == "addmm");
}

Found bmmError(const FailedCall &call, const char *first, const char *second) {
  const TensorType *a = call.tensor(first), *b = call.tensor(second);
  if (!a || !b)
    return std::nullopt;
  for (const auto &[type, which] : {std::pair(a, "batch1"), std::pair(b, "batch2")})
    if (type->rank() != 3)
      return runtimeError(std::string(which) + " must be a 3D tensor");
  if (Found error = batchesError(shapeOf(a), shapeOf(b)))
    return error;
  return typesError(*a, *b, false);
}

//===-- views ---------------------------------------------------------------------------------===//

Found reshapeError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto wanted = call.integers(call.at("shape") ? "shape" : "size");
  if (!self || !wanted)
    return std::nullopt;
  int64_t count = product(shapeOf(self)), known = 1;
  size_t inferred = 0;
  for (int64_t size : *wanted) {
    if (size < -1)
      return runtimeError("invalid shape dimension " + number(size));
    inferred += size == -1;
    known *= size == -1 ? 1 : size;
  }
  if (inferred > 1)
    return runtimeError("only one dimension can be inferred");
  if (inferred && known == 0 && count == 0)
    return runtimeError("cannot reshape tensor of 0 elements into shape " + bracketed(*wanted) +
                        " because the unspecified dimension size -1 can be any value and is "
                        "ambiguous");
  if (inferred ? known == 0 || count % known : known != count)
    return runtimeError("shape '" + bracketed(*wanted) + "' is invalid for input of size " +
                        number(count));
  if (call.name != "view")
    return std::nullopt;
  return runtimeError("view size is not compatible with input tensor's size and stride (at least "
                      "one dimension spans across two contiguous subspaces). Use .reshape(...) "
                      "instead.");
}

Found expandError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto wanted = call.integers("size");
  if (!self || !wanted)
    return std::nullopt;
  Sizes have = shapeOf(self);
  if (wanted->size() < have.size())
    return runtimeError("expand(torch." + scalarName(self->dtype) + "Tensor{" + bracketed(have) +
                        "}, size=" + bracketed(*wanted) + "): the number of sizes provided (" +
                        number(static_cast<int64_t>(wanted->size())) +
                        ") must be greater or equal to the number of dimensions in the tensor (" +
                        number(static_cast<int64_t>(have.size())) + ")");
  size_t added = wanted->size() - have.size();
  for (size_t d = wanted->size(); d-- > 0;) {
    int64_t want = (*wanted)[d], size = d < added ? 1 : have[d - added];
    if (want == -1 && d < added)
      return runtimeError("The expanded size of the tensor (-1) isn't allowed in a leading, "
                          "non-existing dimension " +
                          number(static_cast<int64_t>(d)));
    if (want != -1 && size != want && size != 1)
      return runtimeError(
          "The expanded size of the tensor (" + number(want) + ") must match the existing size (" +
          number(size) + ") at non-singleton dimension " + number(static_cast<int64_t>(d)) +
          ".  Target sizes: " + bracketed(*wanted) + ".  Tensor sizes: " + bracketed(have));
  }
  return std::nullopt;
}

Found permuteError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto dims = call.integers("dims");
  if (!self || !dims || dims->size() == self->rank())
    return std::nullopt;
  return runtimeError("permute(sparse_coo): number of dimensions in the tensor input does not "
                      "match the length of the desired ordering of dimensions i.e. input.dim() = " +
                      number(static_cast<int64_t>(self->rank())) +
                      " is not equal to len(dims) = " + number(static_cast<int64_t>(dims->size())));
}

Found selectError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto dim = call.integer("dim"), index = call.integer("index");
  if (!self || !dim || !index)
    return std::nullopt;
  if (self->rank() == 0)
    return indexError("select() cannot be applied to a 0-dim tensor.");
  auto at = static_cast<size_t>(*dim < 0 ? *dim + static_cast<int64_t>(self->rank()) : *dim);
  if (at >= self->rank())
    return std::nullopt;
  int64_t size = shapeOf(self)[at];
  if (*index >= -size && *index < size)
    return std::nullopt;
  return indexError("index " + number(*index) + " is out of bounds for dimension " +
                    number(static_cast<int64_t>(at)) + " with size " + number(size));
}

Found sliceError(const FailedCall &call) {
  if (auto step = call.integer("step"); step && *step <= 0)
    return valueError("step must be greater than zero");
  return std::nullopt;
}

Found narrowError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto dim = call.integer("dim"), start = call.integer("start"), length = call.integer("length");
  if (!self || !dim || !start || !length || self->rank() == 0)
    return std::nullopt;
  if (*length < 0)
    return runtimeError("narrow(): length must be non-negative.");
  auto at = static_cast<size_t>(*dim < 0 ? *dim + static_cast<int64_t>(self->rank()) : *dim);
  int64_t size = shapeOf(self).at(at);
  if (*start < -size || *start > size)
    return indexError("start out of range (expected to be in range of [" + number(-size) + ", " +
                      number(size) + "], but got " + number(*start) + ")");
  int64_t first = *start < 0 ? *start + size : *start;
  if (first + *length > size)
    return runtimeError("start (" + number(first) + ") + length (" + number(*length) +
                        ") exceeds dimension size (" + number(size) + ").");
  return std::nullopt;
}

Found splitError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  int64_t dim = call.integer("dim").value_or(0);
  if (!self)
    return std::nullopt;
  Sizes shape = shapeOf(self);
  if (shape.empty())
    return runtimeError(call.name == "chunk" ? "chunk expects at least a 1-dimensional tensor"
                                             : "split expects at least a 1-dimensional tensor");
  dim += dim < 0 ? static_cast<int64_t>(shape.size()) : 0;
  if (auto chunks = call.integer("chunks"); chunks && *chunks <= 0)
    return runtimeError("chunk expects `chunks` to be greater than 0, got: " + number(*chunks));
  if (auto size = call.integer("split_size"); size && *size < 0)
    return runtimeError("split expects split_size be non-negative, but got split_size=" +
                        number(*size));
  if (auto size = call.integer("split_size");
      size == 0 && static_cast<size_t>(dim) < shape.size() && shape[static_cast<size_t>(dim)] != 0)
    return runtimeError("split_size can only be 0 if dimension size is 0, but got dimension size "
                        "of " +
                        number(shape[static_cast<size_t>(dim)]));
  auto sizes = call.integers("split_sizes");
  if (!sizes)
    return std::nullopt;
  int64_t total = 0;
  for (int64_t size : *sizes) {
    if (size < 0)
      return runtimeError("split_with_sizes expects split_sizes have only non-negative entries, "
                          "but got split_sizes=" +
                          bracketed(*sizes));
    total += size;
  }
  if (total != shape.at(static_cast<size_t>(dim)))
    return runtimeError("split_with_sizes expects split_sizes to sum exactly to " +
                        number(shape[static_cast<size_t>(dim)]) +
                        " (input tensor's size at dimension " + number(dim) +
                        "), but got split_sizes=" + bracketed(*sizes));
  return std::nullopt;
}

Found turnedError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (self && self->rank() > 2)
    return runtimeError("t() expects a tensor with <= 2 dimensions, but self is " +
                        number(static_cast<int64_t>(self->rank())) + "D");
  return std::nullopt;
}

Found unflattenError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto dim = call.integer("dim");
  auto sizes = call.integers("sizes");
  if (!self || !dim || !sizes || self->rank() == 0)
    return std::nullopt;
  auto at = static_cast<size_t>(*dim < 0 ? *dim + static_cast<int64_t>(self->rank()) : *dim);
  int64_t size = shapeOf(self).at(at);
  return runtimeError("unflatten: Provided sizes " + bracketed(*sizes) +
                      " don't multiply up to the size of dim " + number(*dim) + " (" +
                      number(size) + ") in the input tensor");
}

Found indexedSourceError(const FailedCall &call) {
  const TensorType *index = call.tensor("index"), *source = call.tensor("source");
  auto dim = call.integer("dim");
  if (!index || !source || !dim || source->rank() == 0)
    return std::nullopt;
  auto rank = static_cast<int64_t>(source->rank());
  int64_t at = *dim < 0 ? *dim + rank : *dim;
  int64_t count = product(shapeOf(index));
  if (at < 0 || at >= rank || shapeOf(source)[static_cast<size_t>(at)] == count)
    return std::nullopt;
  int64_t given = shapeOf(source)[static_cast<size_t>(at)];
  if (call.name == "index_copy")
    return indexError("index_copy_(): Number of indices (" + number(count) +
                      ") should be equal to source.size(dim) (" + number(given) + ")");
  return runtimeError("index_add_(): Number of indices (" + number(count) +
                      ") should be equal to source.size(dim): (" + number(given) +
                      "), for dim: " + number(at));
}

Found flattenError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto first = call.integer("start_dim"), last = call.integer("end_dim");
  if (!self || !first || !last)
    return std::nullopt;
  auto rank = static_cast<int64_t>(self->rank());
  if ((*first < 0 ? *first + rank : *first) > (*last < 0 ? *last + rank : *last))
    return runtimeError("flatten() has invalid args: start_dim cannot come after end_dim");
  return std::nullopt;
}

} // namespace

Found shapeRule(const FailedCall &call) {
  using Rule = Found (*)(const FailedCall &);
  static const std::map<std::string, Rule> rules = {
      {"matmul", matmulError},
      {"linear", linearError},
      {"mm", [](const FailedCall &c) { return mmError(c, "self", "mat2"); }},
      {"addmm", [](const FailedCall &c) { return mmError(c, "mat1", "mat2"); }},
      {"bmm", [](const FailedCall &c) { return bmmError(c, "self", "mat2"); }},
      {"baddbmm", [](const FailedCall &c) { return bmmError(c, "batch1", "batch2"); }},
      {"view", reshapeError},
      {"reshape", reshapeError},
      {"expand", expandError},
      {"permute", permuteError},
      {"select", selectError},
      {"slice", sliceError},
      {"narrow", narrowError},
      {"split", splitError},
      {"split_with_sizes", splitError},
      {"chunk", splitError},
      {"flatten", flattenError},
      {"t", turnedError},
      {"unflatten", unflattenError},
      {"index_add", indexedSourceError},
      {"index_copy", indexedSourceError},
  };
  auto rule = rules.find(call.name);
  return rule == rules.end() ? std::nullopt : rule->second(call);
}

} // namespace pellucid::trace
