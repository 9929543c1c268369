// SPDX-License-Identifier: Apache-2.0
#include "trace/OperandErrors.h"

#include "host/InterpreterState.h"

#include <algorithm>
#include <map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

using Sizes = std::vector<int64_t>;
using Found = std::optional<OperandError>;

OperandError runtimeError(std::string text) { return {"RuntimeError", std::move(text)}; }
OperandError indexError(std::string text) { return {"IndexError", std::move(text)}; }
OperandError valueError(std::string text) { return {"ValueError", std::move(text)}; }
OperandError notImplemented(std::string text) { return {"NotImplementedError", std::move(text)}; }

std::string number(int64_t value) { return std::to_string(value); }

std::string listed(const Sizes &sizes, const char *between = ", ") {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? between : "") + number(sizes[i]);
  return text;
}

std::string bracketed(const Sizes &sizes) { return "[" + listed(sizes) + "]"; }

int64_t product(const Sizes &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

} // namespace

std::string scalarName(DataType type) {
  static const std::map<DataType, std::string> names = {
      {DataType::Float32, "Float"},     {DataType::Float64, "Double"}, {DataType::Float16, "Half"},
      {DataType::BFloat16, "BFloat16"}, {DataType::Int64, "Long"},     {DataType::Int32, "Int"},
      {DataType::Int16, "Short"},       {DataType::Int8, "Char"},      {DataType::UInt8, "Byte"},
      {DataType::Bool, "Bool"}};
  auto known = names.find(type);
  return known == names.end() ? std::string(info(type).torch) : known->second;
}

namespace {

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

/// A call that failed: its arguments by the names of a schema, with sizes that are all known.
class FailedCall {
public:
  FailedCall(const Operator &o, std::string packet, const std::vector<Argument> &positional,
             const KeywordArguments &keywords)
      : op(o), name(packet.substr(5)), given(positional), named(keywords) {
    if (size_t dot = name.find('.'); dot != name.npos)
      name.resize(dot);
  }

  const Argument *at(std::string_view argument) const {
    for (const auto &[key, value] : named)
      if (key == argument)
        return &value;
    std::optional<size_t> index = op.schema.indexOf(argument);
    if (!index)
      return nullptr;
    if (*index < given.size())
      return &given[*index];
    const auto &fallback = op.schema.arguments[*index].defaultValue;
    return fallback ? &*fallback : nullptr;
  }
  const TensorType *tensor(std::string_view argument) const {
    const Argument *value = at(argument);
    return value && value->value() && value->value()->isTensor() ? &value->value()->type()
                                                                 : nullptr;
  }
  std::optional<int64_t> integer(std::string_view argument) const {
    const Argument *value = at(argument);
    return value && value->integer() ? value->integer()->constant() : std::nullopt;
  }
  std::optional<Sizes> integers(std::string_view argument) const {
    const Argument *value = at(argument);
    if (!value)
      return std::nullopt;
    if (auto one = value->integer())
      return one->constant() ? std::optional(Sizes{*one->constant()}) : std::nullopt;
    if (!value->list())
      return std::nullopt;
    Sizes out;
    for (const Argument &element : *value->list()) {
      auto known = element.integer();
      if (!known || !known->constant())
        return std::nullopt;
      out.push_back(*known->constant());
    }
    return out;
  }
  std::vector<const TensorType *> tensors(std::string_view argument) const {
    std::vector<const TensorType *> out;
    const Argument *value = at(argument);
    if (value && value->list())
      for (const Argument &element : *value->list())
        if (element.value() && element.value()->isTensor())
          out.push_back(&element.value()->type());
    return out;
  }

  static Sizes shape(const TensorType &type) {
    Sizes out;
    for (const Expr &size : type.shape)
      out.push_back(size.constantOr(-1));
    return out;
  }

  const Operator &op;
  std::string name;

private:
  const std::vector<Argument> &given;
  const KeywordArguments &named;
};

Sizes shapeOf(const TensorType *type) { return FailedCall::shape(*type); }

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

//===-- joins, indices, factories -------------------------------------------------------------===//

Found catError(const FailedCall &call) {
  std::vector<const TensorType *> list = call.tensors("tensors");
  if (list.empty())
    return valueError("torch.cat(): expected a non-empty list of Tensors");
  int64_t dim = call.integer("dim").value_or(0);
  Sizes first = shapeOf(list.front());
  if (first.empty())
    return runtimeError("zero-dimensional tensor (at position 0) cannot be concatenated");
  if (dim < 0)
    dim += static_cast<int64_t>(first.size());
  for (size_t t = 1; t < list.size(); ++t) {
    Sizes next = shapeOf(list[t]);
    if (next.size() != first.size())
      return runtimeError("Tensors must have same number of dimensions: got " +
                          number(static_cast<int64_t>(first.size())) + " and " +
                          number(static_cast<int64_t>(next.size())));
    for (size_t d = 0; d < first.size(); ++d)
      if (static_cast<int64_t>(d) != dim && first[d] != next[d])
        return runtimeError("Sizes of tensors must match except in dimension " + number(dim) +
                            ". Expected size " + number(first[d]) + " but got size " +
                            number(next[d]) + " for tensor number " +
                            number(static_cast<int64_t>(t)) + " in the list.");
  }
  return std::nullopt;
}

Found stackError(const FailedCall &call) {
  std::vector<const TensorType *> list = call.tensors("tensors");
  if (list.empty())
    return runtimeError("stack expects a non-empty TensorList");
  for (size_t t = 1; t < list.size(); ++t)
    if (shapeOf(list[t]) != shapeOf(list.front()))
      return runtimeError("stack expects each tensor to be equal size, but got " +
                          bracketed(shapeOf(list.front())) + " at entry 0 and " +
                          bracketed(shapeOf(list[t])) + " at entry " +
                          number(static_cast<int64_t>(t)));
  return std::nullopt;
}

bool isIndex(DataType type) { return type == DataType::Int64 || type == DataType::Int32; }

Found gatherError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *index = call.tensor("index");
  if (!self || !index)
    return std::nullopt;
  if (!isIndex(index->dtype))
    return runtimeError(call.name + "(): Expected dtype int" +
                        (call.name == "gather" ? "32/int64 for index" : "64 for index"));
  if (self->rank() != index->rank() && self->rank() && index->rank())
    return runtimeError("Index tensor must have the same number of dimensions as " +
                        std::string(call.name == "gather" ? "input" : "self") + " tensor");
  int64_t dim = call.integer("dim").value_or(0);
  Sizes have = shapeOf(self), want = shapeOf(index);
  dim += dim < 0 ? static_cast<int64_t>(have.size()) : 0;
  for (size_t d = 0; d < std::min(have.size(), want.size()); ++d)
    if (static_cast<int64_t>(d) != dim && want[d] > have[d])
      return runtimeError("Size does not match at dimension " + number(static_cast<int64_t>(d)) +
                          " expected index " + bracketed(want) + " to be no larger than self " +
                          bracketed(have) + " apart from dimension " + number(dim));
  return std::nullopt;
}

Found indexSelectError(const FailedCall &call) {
  const TensorType *index = call.tensor("index");
  if (!index)
    return std::nullopt;
  if (index->rank() > 1)
    return indexError("index_select(): Index is supposed to be a vector");
  if (!isIndex(index->dtype))
    return runtimeError("index_select(): Expected dtype int32 or int64 for index");
  return std::nullopt;
}

Found embeddingError(const FailedCall &call) {
  const TensorType *indices = call.tensor("indices"), *weight = call.tensor("weight");
  if (!indices || !weight)
    return std::nullopt;
  if (!isIndex(indices->dtype))
    return runtimeError("Expected tensor for argument #1 'indices' to have one of the following "
                        "scalar types: Long, Int; but got torch." +
                        scalarName(indices->dtype) +
                        "Tensor instead (while checking arguments for embedding)");
  if (weight->rank() != 2)
    return runtimeError("'weight' must be 2-D");
  return std::nullopt;
}

Found indexingError(const FailedCall &call) {
  const Argument *indices = call.at("indices");
  if (!indices || !indices->list())
    return std::nullopt;
  std::optional<Sizes> common;
  std::vector<Sizes> shapes;
  for (const Argument &element : *indices->list()) {
    Value *value = element.value();
    if (!value || !value->isTensor())
      continue;
    if (isFloat(value->type().dtype))
      return indexError("tensors used as indices must be long, int, byte or bool tensors");
    shapes.push_back(shapeOf(&value->type()));
  }
  for (const Sizes &shape : shapes) {
    if (common && broadcastError(*common, shape)) {
      std::string text;
      for (const Sizes &each : shapes)
        text += (text.empty() ? "" : ", ") + bracketed(each);
      return indexError("shape mismatch: indexing tensors could not be broadcast together with "
                        "shapes " +
                        text);
    }
    common = common ? broadcast(*common, shape) : shape;
  }
  return std::nullopt;
}

Found convolutionError(const FailedCall &call) {
  const TensorType *input = call.tensor("input"), *weight = call.tensor("weight");
  if (!input || !weight || call.name.find("transpose") != std::string::npos)
    return std::nullopt;
  Sizes x = shapeOf(input), w = shapeOf(weight);
  auto spatial = w.size() >= 2 ? w.size() - 2 : 0;
  if (w.size() < 3)
    return std::nullopt;
  if (x.size() != w.size() && x.size() + 1 != w.size())
    return runtimeError("Expected " + number(static_cast<int64_t>(spatial + 1)) +
                        "D (unbatched) or " + number(static_cast<int64_t>(spatial + 2)) +
                        "D (batched) input to conv" + number(static_cast<int64_t>(spatial)) +
                        "d, but got input of size: " + bracketed(x));
  int64_t groups = call.integer("groups").value_or(1);
  size_t channels = x.size() - spatial - 1;
  if (x[channels] != w[1] * groups)
    return runtimeError("Given groups=" + number(groups) + ", weight of size " + bracketed(w) +
                        ", expected input" + bracketed(x) + " to have " + number(w[1] * groups) +
                        " channels, but got " + number(x[channels]) + " channels instead");
  if (input->dtype != weight->dtype)
    return runtimeError("Input type (" + cName(input->dtype) + ") and weight type (" +
                        cName(weight->dtype) + ") should be the same");
  auto padding = call.integers("padding"), dilation = call.integers("dilation");
  if (!padding || !dilation || padding->empty() || dilation->empty())
    return std::nullopt;
  Sizes padded, kernel;
  bool fits = true;
  for (size_t d = 0; d < spatial; ++d) {
    padded.push_back(x[channels + 1 + d] + 2 * (*padding)[std::min(d, padding->size() - 1)]);
    kernel.push_back((*dilation)[std::min(d, dilation->size() - 1)] * (w[2 + d] - 1) + 1);
    fits = fits && kernel.back() <= padded.back();
  }
  if (!fits)
    return runtimeError("Calculated padded input size per channel: (" + listed(padded, " x ") +
                        "). Kernel size: (" + listed(kernel, " x ") +
                        "). Kernel size can't be greater than actual input size");
  return std::nullopt;
}

Found layerNormError(const FailedCall &call) {
  const TensorType *input = call.tensor("input");
  auto normalized = call.integers("normalized_shape");
  if (!input || !normalized)
    return std::nullopt;
  Sizes have = shapeOf(input);
  bool ends = have.size() >= normalized->size() &&
              std::equal(normalized->rbegin(), normalized->rend(), have.rbegin());
  if (ends)
    return std::nullopt;
  std::string text = "[*, " + listed(*normalized) + "]";
  return runtimeError("Given normalized_shape=" + bracketed(*normalized) +
                      ", expected input with shape " + text + ", but got input of size" +
                      bracketed(have));
}

Found repeatError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto repeats = call.integers("repeats");
  if (self && repeats && repeats->size() < self->rank())
    return runtimeError("Number of dimensions of repeat dims can not be smaller than number of "
                        "dimensions of tensor");
  return std::nullopt;
}

Found topkError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto k = call.integer("k"), dim = call.integer("dim");
  if (!self || !k)
    return std::nullopt;
  Sizes shape = shapeOf(self);
  int64_t d = dim.value_or(-1) + (dim.value_or(-1) < 0 ? static_cast<int64_t>(shape.size()) : 0);
  int64_t size = shape.empty() ? 1 : shape.at(static_cast<size_t>(d));
  return *k < 0 || *k > size ? Found(runtimeError("selected index k out of range")) : std::nullopt;
}

Found extremeError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  const Argument *dim = call.at("dim");
  if (!self || product(shapeOf(self)) != 0)
    return std::nullopt;
  if (!dim || dim->isNone()) {
    if (call.name.starts_with("arg"))
      return indexError(call.name +
                        "(): Expected reduction dim to be specified for input.numel() == 0.");
    return runtimeError(call.name + "(): Expected reduction dim to be specified for "
                                    "input.numel() == 0. Specify the reduction dim with the 'dim' "
                                    "argument.");
  }
  return std::nullopt;
}

Found meanError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (!self || isFloat(self->dtype))
    return std::nullopt;
  if (call.name == "mean")
    return notImplemented("mean(): could not infer output dtype. Input dtype must be either a "
                          "floating point or complex dtype. Got: " +
                          scalarName(self->dtype));
  return notImplemented("std and var only support floating point and complex dtypes");
}

Found bitsError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *other = call.tensor("other");
  for (const TensorType *type : {self, other})
    if (type && isFloat(type->dtype)) {
      if (call.name == "bitwise_not")
        return OperandError{"TypeError",
                            "~ (operator.invert) is only implemented on integer and Boolean-type "
                            "tensors"};
      return notImplemented("\"" + call.name + "_cpu\" not implemented for '" +
                            scalarName(type->dtype) + "'");
    }
  return std::nullopt;
}

Found boolError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *other = call.tensor("other");
  if (!self || self->dtype != DataType::Bool)
    return std::nullopt;
  if (call.name == "neg")
    return notImplemented("Negation, the `-` operator, on a bool tensor is not supported. If you "
                          "are trying to invert a mask, use the `~` or `logical_not()` operator "
                          "instead.");
  if (other && other->dtype == DataType::Bool)
    return notImplemented("Subtraction, the `-` operator, with two bool tensors is not supported. "
                          "Use the `^` or `logical_xor()` operator instead.");
  return notImplemented("Subtraction, the `-` operator, with a bool tensor is not supported. If "
                        "you are trying to invert a mask, use the `~` or `logical_not()` operator "
                        "instead.");
}

Found arangeError(const FailedCall &call) {
  const Argument *from = call.at("start"), *to = call.at("end"), *by = call.at("step");
  auto real = [](const Argument *value, double fallback) -> std::optional<double> {
    if (!value || value->isNone())
      return fallback;
    if (auto whole = value->integer())
      return whole->constant() ? std::optional<double>(static_cast<double>(*whole->constant()))
                               : std::nullopt;
    return value->as<double>();
  };
  std::optional<double> start = real(from, 0), end = real(to, 0), step = real(by, 1);
  if (!start || !end || !step)
    return std::nullopt;
  if (*step == 0)
    return runtimeError("step must be nonzero");
  if ((*end - *start) / *step < 0)
    return runtimeError("upper bound and lower bound inconsistent with step sign");
  return std::nullopt;
}

//===-- which rule ----------------------------------------------------------------------------===//

Found ruleOf(const FailedCall &call) {
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
      {"cat", catError},
      {"stack", stackError},
      {"gather", gatherError},
      {"scatter", gatherError},
      {"scatter_add", gatherError},
      {"index_select", indexSelectError},
      {"embedding", embeddingError},
      {"index", indexingError},
      {"conv1d", convolutionError},
      {"conv2d", convolutionError},
      {"conv3d", convolutionError},
      {"layer_norm", layerNormError},
      {"repeat", repeatError},
      {"topk", topkError},
      {"max", extremeError},
      {"min", extremeError},
      {"amax", extremeError},
      {"amin", extremeError},
      {"argmax", extremeError},
      {"argmin", extremeError},
      {"mean", meanError},
      {"std", meanError},
      {"var", meanError},
      {"neg", boolError},
      {"sub", boolError},
      {"arange", arangeError},
      {"bitwise_and", bitsError},
      {"bitwise_or", bitsError},
      {"bitwise_xor", bitsError},
      {"bitwise_not", bitsError},
  };
  auto rule = rules.find(call.name);
  return rule == rules.end() ? std::nullopt : rule->second(call);
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
  for (auto rule : {dimsError, ruleOf, broadcastsError, divisionError})
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
