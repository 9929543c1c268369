// SPDX-License-Identifier: Apache-2.0
/// Operators that move elements without computing.
#include "graph/ops/Families.h"

#include <algorithm>

namespace pellucid::graph {

namespace {
std::vector<ResultType> cloneFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  TensorType result = freshLike(self, self.dtype, self.shape);
  std::string format = call.string("memory_format");
  if (format.empty() || format == "preserve_format")
    result.strides = preservedStrides(self, call.symbols);
  else if (format != "contiguous_format")
    call.fail("does not support the memory format " + format);
  return {result};
}

std::vector<ResultType> contiguousFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  if (std::string format = call.string("memory_format"); format != "contiguous_format")
    call.fail("does not support the memory format " + format);
  if (self.isContiguous(call.symbols))
    return {self};
  return {freshLike(self, self.dtype, self.shape)};
}

Aliasing contiguousAliasing(const OperatorCall &call) {
  std::optional<bool> contiguous = call.tensor("self").contiguity(call.symbols);
  return !contiguous ? Aliasing::Unknown : *contiguous ? Aliasing::Same : Aliasing::Fresh;
}

/// Nothing to do where the tensor is contiguous, else a clone.
std::vector<Value *> contiguousDecomposition(Graph &graph, const OperatorCall &call,
                                             const OperatorRegistry &registry) {
  Value *self = call.value("self");
  if (self->type().isContiguous(call.symbols))
    return {self};
  return {emitCall(graph, registry, call.symbols, "aten.clone.default", {self},
                   {{"memory_format", "contiguous_format"}}, call.where)
              ->result()};
}

DataType commonType(const OperatorCall &call, const std::vector<Value *> &tensors) {
  using Priority = PromotionOperand::Priority;
  std::vector<PromotionOperand> operands;
  for (const Value *v : tensors)
    operands.push_back(
        {v->type().dtype, v->type().rank() ? Priority::Dimensioned : Priority::ZeroDim});
  if (operands.empty())
    call.fail("expects at least one tensor");
  return resultType(operands);
}

/// Beside tensors of other ranks cat() passes over those of shape [0], as PyTorch does.
std::vector<Value *> joinedTensors(const OperatorCall &call) {
  std::vector<Value *> tensors = call.tensors("tensors");
  auto isNothing = [](const Value *v) {
    return v->type().rank() == 1 && v->type().shape[0].constant() == 0;
  };
  if (!std::all_of(tensors.begin(), tensors.end(),
                   [](const Value *v) { return v->type().rank() == 1; }))
    std::erase_if(tensors, isNothing);
  return tensors;
}

std::vector<Value *> catDecomposition(Graph &graph, const OperatorCall &call,
                                      const OperatorRegistry &registry) {
  std::vector<Value *> tensors = joinedTensors(call);
  size_t all = call.tensors("tensors").size();
  if (tensors.size() == all)
    return {};
  DataType dtype = commonType(call, call.tensors("tensors"));
  Argument::List list;
  for (Value *v : tensors)
    list.push_back(v);
  Value *joined = emitCall(graph, registry, call.symbols, "aten.cat.default",
                           {list, call.at("dim")}, {}, call.where)
                      ->result();
  if (joined->type().dtype != dtype)
    joined = emitCall(graph, registry, call.symbols, "aten._to_copy.default", {joined},
                      {{"dtype", dtype}}, call.where)
                 ->result();
  return {joined};
}

std::vector<ResultType> catFake(const OperatorCall &call) {
  std::vector<Value *> tensors = call.tensors("tensors");
  DataType dtype = commonType(call, tensors);
  tensors = joinedTensors(call);
  const TensorType &first = tensors[0]->type();
  if (first.rank() == 0)
    call.fail("cannot concatenate tensors without dims");
  size_t dim = static_cast<size_t>(call.dim("dim", first.rank()));
  std::vector<Expr> shape = first.shape;
  for (size_t t = 1; t < tensors.size(); ++t) {
    const TensorType &next = tensors[t]->type();
    bool fits = next.rank() == first.rank();
    for (size_t i = 0; fits && i < first.rank(); ++i)
      fits = i == dim || call.symbols.proveEqual(next.shape[i], first.shape[i]);
    if (!fits)
      call.fail("expects shapes that agree except in dim " + std::to_string(dim) + ", got " +
                shapeText(first.shape) + " and " + shapeText(next.shape));
    shape[dim] = shape[dim] + next.shape[dim];
  }
  TensorType result = freshLike(first, dtype, shape);
  if (std::all_of(tensors.begin(), tensors.end(), [&](const Value *v) {
        return v->type().rank() == first.rank() && suggestsChannelsLast(v->type(), call.symbols);
      }))
    result.strides = channelsLastStrides(shape);
  return {result};
}

std::vector<ResultType> stackFake(const OperatorCall &call) {
  std::vector<Value *> tensors = call.tensors("tensors");
  DataType dtype = commonType(call, tensors);
  const TensorType &first = tensors[0]->type();
  size_t dim = static_cast<size_t>(call.dim("dim", first.rank() + 1));
  for (const Value *v : tensors) {
    bool fits = v->type().rank() == first.rank();
    for (size_t i = 0; fits && i < first.rank(); ++i)
      fits = call.symbols.proveEqual(v->type().shape[i], first.shape[i]);
    if (!fits)
      call.fail("expects equal shapes, got " + shapeText(first.shape) + " and " +
                shapeText(v->type().shape));
  }
  std::vector<Expr> shape = first.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim),
               Expr(static_cast<int64_t>(tensors.size())));
  return {freshLike(first, dtype, shape)};
}

std::vector<Value *> stackDecomposition(Graph &graph, const OperatorCall &call,
                                        const OperatorRegistry &registry) {
  std::vector<Value *> tensors = call.tensors("tensors"), columns;
  int64_t dim = call.dim("dim", tensors[0]->type().rank() + 1);
  for (Value *v : tensors)
    columns.push_back(
        emitCall(graph, registry, call.symbols, "aten.unsqueeze.default", {v, dim}, {}, call.where)
            ->result());
  return {emitCall(graph, registry, call.symbols, "aten.cat.default",
                   {Argument::list(columns), dim}, {}, call.where)
              ->result()};
}

/// The whole of `self` with a part replaced: same type, new storage.
std::vector<ResultType> scatterFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  TensorType result = freshLike(self, self.dtype, self.shape);
  result.strides = preservedStrides(self, call.symbols);
  return {result};
}

/// What slice_scatter and select_scatter write: the result of slice and select on the same tensor.
std::vector<Argument> viewArguments(const OperatorCall &call, Value *self) {
  std::vector<Argument> args{self};
  for (size_t i = 2; i < call.args.size(); ++i) // behind self and src
    args.push_back(call.args[i]);
  return args;
}
std::string_view viewTarget(const OperatorCall &call) {
  return call.op.schema.name == "slice_scatter" ? "aten.slice.Tensor" : "aten.select.int";
}

std::vector<ResultType> viewScatterFake(const OperatorCall &call) {
  const Operator &view = *OperatorRegistry::builtins().find(viewTarget(call));
  std::vector<ResultType> part =
      view.fake({view, call.symbols, viewArguments(call, call.value("self")), call.where});
  const std::vector<Expr> &want = std::get<TensorType>(part[0]).shape;
  const TensorType &src = call.tensor("src");
  bool fits = src.rank() == want.size();
  for (size_t d = 0; fits && d < want.size(); ++d)
    fits = call.symbols.proveEqual(src.shape[d], want[d]);
  if (!fits)
    call.fail("expects 'src' to be " + shapeText(want) + ", got " + shapeText(src.shape));
  return scatterFake(call);
}

/// A copy, of which as_strided_scatter replaces the part.
std::vector<Value *> viewScatterDecomposition(Graph &graph, const OperatorCall &call,
                                              const OperatorRegistry &registry) {
  auto emit = [&](std::string_view target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  };
  Value *src = call.value("src"), *whole = emit("aten.clone.default", {call.value("self")});
  if (src->type().dtype != whole->type().dtype)
    src = emitCall(graph, registry, call.symbols, "aten._to_copy.default", {src},
                   {{"dtype", whole->type().dtype}}, call.where)
              ->result();
  const TensorType part = emit(viewTarget(call), viewArguments(call, whole))->type();
  return {emit("aten.as_strided_scatter.default",
               {whole, src, Argument::list(part.shape), Argument::list(part.strides),
                Argument(part.offset)})};
}

/// In the coordinates of `self`'s storage, so the result keeps its strides and offset.
std::vector<ResultType> asStridedScatterFake(const OperatorCall &call) {
  std::vector<Expr> size = call.integers("size"), stride = call.integers("stride");
  if (size.size() != stride.size())
    call.fail("expects as many strides as sizes, got " + shapeText(stride) + " and " +
              shapeText(size));
  const TensorType &src = call.tensor("src");
  if (src.shape != size)
    call.fail("expects 'src' to be " + shapeText(size) + ", got " + shapeText(src.shape));
  checkInsideStorage(call, size, stride,
                     call.has("storage_offset") ? call.integer("storage_offset")
                                                : call.tensor("self").offset);
  return {call.tensor("self")};
}

std::vector<ResultType> copyFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self"), &src = call.tensor("src");
  if (broadcastShapes(call, self.shape, src.shape) != self.shape)
    call.fail("cannot copy " + shapeText(src.shape) + " into " + shapeText(self.shape));
  return scatterFake(call);
}

std::vector<ResultType> repeatFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  std::vector<Expr> repeats = call.integers("repeats");
  if (repeats.size() < self.rank())
    call.fail("expects at least " + std::to_string(self.rank()) + " repeats, got " +
              shapeText(repeats));
  constexpr int64_t most = INT64_MAX / 64;
  for (const Expr &times : repeats) {
    if (times.constantOr(0) < 0)
      call.fail("repeats tensors a number of times that is not negative, got " +
                shapeText(repeats));
    if (times.constantOr(0) > most)
      call.fail("asks for more elements than 64 bits can count");
  }
  size_t added = repeats.size() - self.rank();
  for (size_t i = added; i < repeats.size(); ++i)
    repeats[i] = repeats[i] * self.shape[i - added];
  return {freshLike(self, self.dtype, repeats)};
}

/// A dim of repeats before each dim, expanded and merged.
std::vector<Value *> repeatDecomposition(Graph &graph, const OperatorCall &call,
                                         const OperatorRegistry &registry) {
  auto emit = [&](std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  };
  Value *x = call.value("self");
  std::vector<Expr> repeats = call.integers("repeats"), expanded;
  size_t added = repeats.size() - x->type().rank();
  std::vector<Expr> old = x->type().shape;
  for (size_t i = 0; i < repeats.size(); ++i) {
    expanded.push_back(repeats[i]);
    if (i < added)
      continue;
    x = emit("aten.unsqueeze.default", {x, static_cast<int64_t>(2 * (i - added))});
    expanded.push_back(old[i - added]);
  }
  x = emit("aten.expand.default", {x, Argument::list(expanded)});
  x = emit("aten.clone.default", {x}, {{"memory_format", "contiguous_format"}});
  TensorType result = std::get<TensorType>(call.op.fake(call)[0]);
  return {emit("aten.view.default", {x, Argument::list(result.shape)})};
}
/// `src` itself, else one times `src`: exact for every value, broadcast and laid out as `self`.
std::vector<Value *> copyDecomposition(Graph &graph, const OperatorCall &call,
                                       const OperatorRegistry &registry) {
  auto emit = [&](std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  };
  Value *self = call.value("self"), *src = call.value("src");
  if (src->type().dtype != self->type().dtype)
    src = emit("aten._to_copy.default", {src}, {{"dtype", self->type().dtype}});
  // Values do not change: what has the result's type already is the result.
  if (src->type() == std::get<TensorType>(call.op.fake(call)[0]))
    return {src};
  return {emit("aten.mul.Tensor", {emit("aten.ones_like.default", {self}), src})};
}
} // namespace

void registerCopyOperators(OperatorRegistry &registry) {
  struct Row {
    std::string_view schema;
    FakeFunction fake;
    DecomposeFunction decompose = {};
    Operator::Kind kind = Operator::Kind::Copy;
    AliasingFunction aliasing = {};
  };
  const Row rows[] = {
      {"aten::clone.default(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
       cloneFake},
      {"aten::contiguous.default(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) "
       "-> Tensor(a)",
       contiguousFake, contiguousDecomposition, Operator::Kind::Composite, contiguousAliasing},
      {"aten::cat.default(Tensor[] tensors, int dim=0) -> Tensor", catFake, catDecomposition},
      {"aten::stack.default(Tensor[] tensors, int dim=0) -> Tensor", stackFake, stackDecomposition,
       Operator::Kind::Composite},
      {"aten::copy.default(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copyFake,
       copyDecomposition, Operator::Kind::Composite},
      {"aten::as_strided_scatter.default(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
       "SymInt? "
       "storage_offset=None) -> Tensor",
       asStridedScatterFake},
      {"aten::slice_scatter.default(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
       "SymInt? end=None, SymInt "
       "step=1) -> Tensor",
       viewScatterFake, viewScatterDecomposition, Operator::Kind::Composite},
      {"aten::select_scatter.default(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
       viewScatterFake, viewScatterDecomposition, Operator::Kind::Composite},
      {"aten::repeat.default(Tensor self, SymInt[] repeats) -> Tensor", repeatFake,
       repeatDecomposition, Operator::Kind::Composite},
  };
  for (const Row &row : rows) {
    Operator op = makeOperator(row.schema, row.kind, row.fake);
    op.decompose = row.decompose;
    op.aliasing = row.aliasing;
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
