// SPDX-License-Identifier: Apache-2.0
/// Operators that look at the same storage in another way. Their result types say how; nothing is
/// computed.
#include "graph/ops/Families.h"

#include <algorithm>
#include <numeric>

namespace pellucid::graph {

namespace {
TensorType aliased(const TensorType &base, std::vector<Expr> shape, std::vector<Expr> strides,
                   Expr offset) {
  TensorType view = base;
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  view.offset = std::move(offset);
  return view;
}

std::vector<ResultType> identityFake(const OperatorCall &call) { return {call.tensor("self")}; }

TensorType viewed(const OperatorCall &call, const TensorType &self,
                  const std::vector<Expr> &sizes) {
  std::vector<Expr> shape = inferSizes(call, self, sizes);
  std::optional<std::vector<Expr>> strides = viewStrides(self, shape, call.symbols);
  if (!strides)
    call.fail("cannot see " + shapeText(self.shape) + " with strides " + shapeText(self.strides) +
              " as " + shapeText(shape) + " without a copy; use reshape");
  return aliased(self, shape, *strides, self.offset);
}

std::vector<ResultType> viewFake(const OperatorCall &call) {
  return {viewed(call, call.tensor("self"), call.integers("size"))};
}

/// A view where that is possible, else a contiguous copy.
TensorType reshaped(const OperatorCall &call, const TensorType &self,
                    const std::vector<Expr> &sizes) {
  std::vector<Expr> shape = inferSizes(call, self, sizes);
  if (std::optional<std::vector<Expr>> strides = viewStrides(self, shape, call.symbols))
    return aliased(self, shape, *strides, self.offset);
  return freshLike(self, self.dtype, shape);
}

std::vector<Expr> flattenedShape(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  int64_t first = call.dim("start_dim", self.rank()), last = call.dim("end_dim", self.rank());
  if (first > last)
    call.fail("expects start_dim not to come after end_dim, got " + std::to_string(first) +
              " and " + std::to_string(last));
  std::vector<Expr> shape;
  Expr merged = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(self.rank()); ++i) {
    const Expr &dim = self.shape[static_cast<size_t>(i)];
    if (i < first || i > last) {
      shape.push_back(dim);
      continue;
    }
    merged = merged * dim;
    if (i == last)
      shape.push_back(merged);
  }
  return self.rank() ? shape : std::vector<Expr>{1};
}

std::vector<Expr> unflattenedShape(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  TensorType part(self.dtype, {self.shape[dim]});
  std::vector<Expr> shape = self.shape, sizes = inferSizes(call, part, call.integers("sizes"));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), sizes.begin(), sizes.end());
  return shape;
}

std::vector<Expr> reshapedShape(const OperatorCall &call) {
  return inferSizes(call, call.tensor("self"), call.integers("shape"));
}

/// reshape and flatten: a view, or a copy seen as one.
std::vector<Value *> reshapeDecomposition(Graph &graph, const OperatorCall &call,
                                          const OperatorRegistry &registry) {
  Value *self = call.value("self");
  TensorType result = std::get<TensorType>(call.op.fake(call)[0]);
  if (!viewStrides(self->type(), result.shape, call.symbols))
    self = emitCall(graph, registry, call.symbols, "aten.clone.default", {self},
                    {{"memory_format", "contiguous_format"}}, call.where)
               ->result();
  return {emitCall(graph, registry, call.symbols, "aten.view.default",
                   {self, Argument::list(result.shape)}, {}, call.where)
              ->result()};
}

TensorType permuted(const TensorType &self, const std::vector<int64_t> &dims) {
  std::vector<Expr> shape, strides;
  for (int64_t d : dims) {
    shape.push_back(self.shape[static_cast<size_t>(d)]);
    strides.push_back(self.strides[static_cast<size_t>(d)]);
  }
  return aliased(self, shape, strides, self.offset);
}

std::vector<ResultType> permuteFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  std::vector<int64_t> dims = call.constants("dims");
  std::vector<bool> seen(self.rank());
  bool fits = dims.size() == self.rank();
  for (int64_t &d : dims) {
    d = wrapDim(call, d, self.rank());
    fits = fits && !seen[static_cast<size_t>(d)];
    if (fits)
      seen[static_cast<size_t>(d)] = true;
  }
  if (!fits)
    call.fail("expects each of " + std::to_string(self.rank()) + " dims once, got " +
              toString(call.at("dims")));
  return {permuted(self, dims)};
}

TensorType swapped(const TensorType &self, int64_t a, int64_t b) {
  std::vector<int64_t> dims(self.rank());
  std::iota(dims.begin(), dims.end(), 0);
  if (!dims.empty())
    std::swap(dims[static_cast<size_t>(a)], dims[static_cast<size_t>(b)]);
  return permuted(self, dims);
}

std::vector<ResultType> transposeFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  return {swapped(self, call.dim("dim0", self.rank()), call.dim("dim1", self.rank()))};
}

std::vector<ResultType> tFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  if (self.rank() > 2)
    call.fail("expects at most 2 dims, got " + shapeText(self.shape));
  return {self.rank() == 2 ? swapped(self, 0, 1) : self};
}

std::vector<ResultType> expandFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  std::vector<Expr> sizes = call.integers("size"), strides(sizes.size(), Expr(0));
  if (sizes.size() < self.rank())
    call.fail("cannot expand " + shapeText(self.shape) + " to fewer dims " + shapeText(sizes));
  size_t added = sizes.size() - self.rank();
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool fresh = i < added;
    if (sizes[i].constant() == -1) {
      if (fresh)
        call.fail("cannot keep a dim that " + shapeText(self.shape) + " does not have, got " +
                  shapeText(sizes));
      sizes[i] = self.shape[i - added];
    }
    if (fresh)
      continue;
    const Expr &old = self.shape[i - added];
    if (call.symbols.proveEqual(old, sizes[i]))
      strides[i] = self.strides[i - added];
    else if (!call.symbols.proveEqual(old, 1))
      call.fail("cannot expand dim " + std::to_string(i - added) + " of " + shapeText(self.shape) +
                " from " + old.text() + " to " + sizes[i].text());
  }
  return {aliased(self, sizes, strides, self.offset)};
}

std::vector<ResultType> expandAsFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self"), &other = call.tensor("other");
  std::vector<Expr> strides(other.rank(), Expr(0));
  if (broadcastShapes(call, self.shape, other.shape) != other.shape)
    call.fail("cannot expand " + shapeText(self.shape) + " to " + shapeText(other.shape));
  size_t added = other.rank() - self.rank();
  for (size_t i = added; i < other.rank(); ++i)
    if (call.symbols.proveEqual(self.shape[i - added], other.shape[i]))
      strides[i] = self.strides[i - added];
  return {aliased(self, other.shape, strides, self.offset)};
}

std::vector<ResultType> unsqueezeFake(const OperatorCall &call) {
  TensorType self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank() + 1));
  Expr stride = dim < self.rank() ? self.shape[dim] * self.strides[dim] : Expr(1);
  self.shape.insert(self.shape.begin() + static_cast<std::ptrdiff_t>(dim), Expr(1));
  self.strides.insert(self.strides.begin() + static_cast<std::ptrdiff_t>(dim), stride);
  return {self};
}

/// Drops those of `dims` that have size 1. A size that may or may not be 1 has no one result type.
TensorType squeezed(const OperatorCall &call, const TensorType &self,
                    const std::vector<int64_t> &dims) {
  std::vector<Expr> shape, strides;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end()) {
      std::optional<bool> isOne = call.symbols.prove(equal(self.shape[i], 1));
      if (!isOne)
        call.fail("cannot tell whether dim " + std::to_string(i) + " of size " +
                  self.shape[i].text() + " is 1");
      if (*isOne)
        continue;
    }
    shape.push_back(self.shape[i]);
    strides.push_back(self.strides[i]);
  }
  return aliased(self, shape, strides, self.offset);
}

std::vector<ResultType> squeezeFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  // Of squeeze.dims; for reductions an empty list means every dim.
  if (call.op.schema.indexOf("dim") && call.at("dim").list() && call.at("dim").list()->empty())
    return {self};
  return {squeezed(call, self, reducedDims(call, self))};
}

/// A start or end of a slice as an index in [0, size]; below 0 it counts from the end.
Expr clampedIndex(const OperatorCall &call, const Expr &index, const Expr &size) {
  auto holds = [&](const Expr &condition) { return call.symbols.prove(condition) == true; };
  Expr fromEnd = index + size;
  if (!holds(lessEqual(0, fromEnd)))
    fromEnd = max(fromEnd, 0);
  Expr fromStart = holds(lessEqual(index, size)) ? index : min(index, size);
  std::optional<bool> isBelow = call.symbols.prove(less(index, 0));
  return isBelow ? *isBelow ? fromEnd : fromStart : select(less(index, 0), fromEnd, fromStart);
}

std::vector<ResultType> sliceFake(const OperatorCall &call) {
  TensorType self = call.tensor("self");
  if (self.rank() == 0)
    call.fail("cannot slice a tensor without dims");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Expr size = self.shape[dim], step = call.integer("step");
  if (call.symbols.prove(less(0, step)) != true)
    call.fail("expects a positive step, got " + step.text());
  Expr start = call.has("start") ? clampedIndex(call, call.integer("start"), size) : Expr(0);
  Expr end = call.has("end") && call.integer("end").constant() != INT64_MAX
                 ? clampedIndex(call, call.integer("end"), size)
                 : size;
  Expr length = end - start;
  if (call.symbols.prove(lessEqual(0, length)) != true)
    length = max(length, 0);
  self.offset = self.offset + start * self.strides[dim];
  self.shape[dim] = ceilDiv(length, step);
  self.strides[dim] = self.strides[dim] * step;
  return {self};
}

std::vector<ResultType> narrowFake(const OperatorCall &call) {
  TensorType self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  // Unlike a slice's, a start beyond the ends is an error.
  auto given = call.integer("start").constant(), size = self.shape[dim].constant();
  if (given && size && (*given < -*size || *given > *size))
    call.fail("expects a start in " + std::to_string(-*size) + ".." + std::to_string(*size) +
              ", got " + std::to_string(*given));
  Expr start = clampedIndex(call, call.integer("start"), self.shape[dim]),
       length = call.integer("length");
  if (call.symbols.prove(lessEqual(0, length)) != true)
    call.fail("expects a length that is not negative, got " + length.text());
  if (call.symbols.prove(lessEqual(start + length, self.shape[dim])) != true)
    call.fail("expects start + length to be at most " + self.shape[dim].text() + ", got " +
              (start + length).text());
  self.offset = self.offset + start * self.strides[dim];
  self.shape[dim] = length;
  return {self};
}

/// Removes `dim` at `index`.
TensorType selected(const TensorType &self, size_t dim, const Expr &index) {
  TensorType view = self;
  view.offset = self.offset + index * self.strides[dim];
  view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  return view;
}

std::vector<ResultType> selectFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  if (self.rank() == 0)
    call.fail("cannot select from a tensor without dims");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  const Expr &size = self.shape[dim];
  Expr index = call.integer("index");
  if (call.symbols.prove(logicalAnd(lessEqual(-size, index), less(index, size))) != true)
    call.fail("expects an index in [-" + size.text() + ", " + size.text() + ") for dim " +
              std::to_string(dim) + ", got " + index.text());
  std::optional<bool> isBelow = call.symbols.prove(less(index, 0));
  if (!isBelow)
    index = select(less(index, 0), index + size, index);
  else if (*isBelow)
    index = index + size;
  return {selected(self, dim, index)};
}

std::vector<ResultType> pieces(const TensorType &self, size_t dim, const std::vector<Expr> &sizes) {
  std::vector<ResultType> results;
  Expr start = 0;
  for (const Expr &size : sizes) {
    TensorType piece = self;
    piece.offset = self.offset + start * self.strides[dim];
    piece.shape[dim] = size;
    start = start + size;
    results.push_back(std::move(piece));
  }
  return results;
}

/// More results than any program uses; a number that was typed wrong would fill the memory.
constexpr int64_t maximumPieces = 65536;

/// The sizes when a dim of `size` is cut every `step`; the number of pieces must be known.
std::vector<Expr> cutSizes(const OperatorCall &call, const Expr &size, const Expr &step) {
  std::optional<int64_t> count = ceilDiv(size, step).constant();
  if (!count)
    call.fail("cannot tell into how many pieces of " + step.text() + " a dim of size " +
              size.text() + " falls");
  if (*count > maximumPieces)
    call.fail("falls into " + std::to_string(*count) + " pieces, of which " +
              std::to_string(maximumPieces) + " are the most");
  if (*count == 0)
    return {size};
  std::vector<Expr> sizes(static_cast<size_t>(*count), step);
  sizes.back() = size - step * (*count - 1);
  return sizes;
}

std::vector<ResultType> splitFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  Expr step = call.integer("split_size");
  if (step.constant() == 0 && call.symbols.proveEqual(self.shape[dim], 0))
    return {self};
  if (call.symbols.prove(less(0, step)) != true)
    call.fail("expects a positive split_size, got " + step.text());
  return pieces(self, dim, cutSizes(call, self.shape[dim], step));
}

std::vector<ResultType> chunkFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  int64_t chunks = call.constant("chunks");
  const Expr &size = self.shape[dim];
  if (chunks <= 0 || chunks > maximumPieces)
    call.fail("expects between 1 and " + std::to_string(maximumPieces) + " chunks, got " +
              std::to_string(chunks));
  // ATen gives as many empty pieces as were asked for.
  if (call.symbols.proveEqual(size, 0))
    return pieces(self, dim, std::vector<Expr>(static_cast<size_t>(chunks), Expr(0)));
  if (call.symbols.isMultipleOf(size, chunks) && call.symbols.prove(less(0, size)) == true)
    return pieces(self, dim,
                  std::vector<Expr>(static_cast<size_t>(chunks), floorDiv(size, chunks)));
  return pieces(self, dim, cutSizes(call, size, ceilDiv(size, chunks)));
}

std::vector<ResultType> splitWithSizesFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  Expr total = 0;
  for (const Expr &size : call.integers("split_sizes")) {
    if (call.symbols.prove(lessEqual(0, size)) != true)
      call.fail("expects split_sizes that are not negative, got " +
                shapeText(call.integers("split_sizes")));
    total = total + size;
  }
  if (!call.symbols.proveEqual(total, self.shape[dim]))
    call.fail("expects split_sizes to add up to " + self.shape[dim].text() + ", got " +
              total.text());
  return pieces(self, dim, call.integers("split_sizes"));
}

std::vector<ResultType> unbindFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  size_t dim = existingDim(call, "dim", self);
  std::optional<int64_t> count = self.shape[dim].constant();
  if (!count || *count > maximumPieces)
    call.fail("cannot unbind a dim of size " + self.shape[dim].text() +
              (count ? ", which is more than " + std::to_string(maximumPieces)
                     : ", which is not constant"));
  std::vector<ResultType> results;
  for (int64_t i = 0; i < *count; ++i)
    results.push_back(selected(self, dim, i));
  return results;
}

/// The value whose memory `value` looks at; null where an operator that is not known here stands in
/// between.
const Value *storageOwner(const Value *value) {
  for (;;) {
    const Node *node = value->producer();
    if (!node->isCall())
      return value;
    if (const Launch *launch = node->launch()) {
      value = launch->operands[launch->resultOperands[value->resultIndex()]].value.value();
      continue;
    }
    const Operator *op = OperatorRegistry::builtins().find(node->target());
    if (!op || op->kind == Operator::Kind::Composite)
      return nullptr; // may give its argument itself
    if (op->kind != Operator::Kind::View)
      return value;
    value = node->arg(0).value();
  }
}

std::vector<ResultType> asStridedFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  std::vector<Expr> size = call.integers("size"), stride = call.integers("stride");
  if (size.size() != stride.size())
    call.fail("expects as many strides as sizes, got " + shapeText(stride) + " and " +
              shapeText(size));
  Expr offset = call.has("storage_offset") ? call.integer("storage_offset") : self.offset;
  checkInsideStorage(call, size, stride, offset);
  return {aliased(self, size, stride, offset)};
}
} // namespace

void checkInsideStorage(const OperatorCall &call, const std::vector<Expr> &size,
                        const std::vector<Expr> &stride, const Expr &offset) {
  for (const std::vector<Expr> &list : {size, stride, {offset}})
    for (const Expr &e : list)
      if (call.symbols.prove(less(e, 0)) == true)
        call.fail("expects sizes, strides and an offset that are not negative, got " + e.text());
  const Value *owner = storageOwner(call.value("self"));
  if (!owner)
    return;
  TensorType view(owner->type().dtype, size);
  view.strides = stride;
  view.offset = offset;
  Expr have = owner->type().storageElements(call.symbols),
       need = view.storageElements(call.symbols);
  if (call.symbols.prove(lessEqual(need, have)) == false)
    call.fail("reaches " + need.text() + " elements of a storage that has " + have.text());
}

void registerViewOperators(OperatorRegistry &registry) {
  struct Row {
    std::string_view schema;
    FakeFunction fake;
  };
  const Row rows[] = {
      {"aten::view.default(Tensor(a) self, SymInt[] size) -> Tensor(a)", viewFake},
      {"aten::permute.default(Tensor(a) self, int[] dims) -> Tensor(a)", permuteFake},
      {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transposeFake},
      {"aten::t.default(Tensor(a) self) -> Tensor(a)", tFake},
      {"aten::expand.default(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
       expandFake},
      {"aten::expand_as.default(Tensor(a) self, Tensor other) -> Tensor(a)", expandAsFake},
      {"aten::unsqueeze.default(Tensor(a) self, int dim) -> Tensor(a)", unsqueezeFake},
      {"aten::squeeze.default(Tensor(a) self) -> Tensor(a)", squeezeFake},
      {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeezeFake},
      {"aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeezeFake},
      {"aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
       "step=1) -> Tensor(a)",
       sliceFake},
      {"aten::narrow.default(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
       narrowFake},
      {"aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", selectFake},
      {"aten::chunk.default(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]", chunkFake},
      {"aten::split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
       splitFake},
      {"aten::split_with_sizes.default(Tensor(a) self, SymInt[] split_sizes, int dim=0) -> "
       "Tensor(a)[]",
       splitWithSizesFake},
      {"aten::unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", unbindFake},
      {"aten::as_strided.default(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
       "storage_offset=None) -> "
       "Tensor(a)",
       asStridedFake},
      {"aten::alias.default(Tensor(a) self) -> Tensor(a)", identityFake},
      {"aten::detach.default(Tensor(a) self) -> Tensor(a)", identityFake},
  };
  for (const Row &row : rows)
    registry.add(makeOperator(row.schema, Operator::Kind::View, row.fake));

  struct Reshape {
    std::string_view schema;
    std::vector<Expr> (*shape)(const OperatorCall &);
    bool copies; ///< where there is no view
  };
  const Reshape reshapes[] = {
      {"aten::reshape.default(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshapedShape, true},
      {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
       flattenedShape, true},
      {"aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
       unflattenedShape, false},
      {"aten::view_as.default(Tensor(a) self, Tensor other) -> Tensor(a)",
       [](const OperatorCall &call) { return call.tensor("other").shape; }, false},
  };
  for (const Reshape &row : reshapes) {
    auto fake = [row](const OperatorCall &call) -> std::vector<ResultType> {
      const TensorType &self = call.tensor("self");
      return {(row.copies ? reshaped : viewed)(call, self, row.shape(call))};
    };
    Operator op = makeOperator(row.schema, Operator::Kind::Composite, fake);
    op.decompose = reshapeDecomposition;
    op.aliasing = [row](const OperatorCall &call) {
      return reshapeAliasing(call.tensor("self"), row.shape(call), call.symbols);
    };
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
