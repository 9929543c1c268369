// SPDX-License-Identifier: Apache-2.0
/// Elements written at places that an index tensor holds. What falls on the same element is written
/// in order.
#include "graph/ops/Families.h"
#include "graph/ops/Indices.h"

#include <limits>

namespace pellucid::graph {

namespace {
std::vector<ResultType> like(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  return {freshLike(self, self.dtype, self.shape)};
}

void checkSource(const OperatorCall &call, std::string_view name) {
  DataType self = call.tensor("self").dtype, source = call.tensor(name).dtype;
  if (self != source)
    call.fail("expects '" + std::string(name) + "' to hold " + std::string(info(self).torch) +
              " as the tensor does, got " + std::string(info(source).torch));
}

void checkFits(const OperatorCall &call, const std::vector<Expr> &inner,
               const std::vector<Expr> &outer, std::optional<size_t> except,
               std::string_view what) {
  bool fits = inner.size() == outer.size();
  for (size_t d = 0; fits && d < inner.size(); ++d)
    fits = d == except || call.symbols.prove(lessEqual(inner[d], outer[d])) == true;
  if (!fits)
    call.fail("expects an index no larger than " + std::string(what) + ", got " + shapeText(inner) +
              " and " + shapeText(outer));
}

/// An index without elements may have any shape.
bool writesNothing(const OperatorCall &call) {
  return call.symbols.proveEqual(call.tensor("index").numel(), 0);
}

std::vector<Value *> unchanged(Graph &graph, const OperatorCall &call,
                               const OperatorRegistry &registry) {
  if (!writesNothing(call))
    return {};
  return {emitCall(graph, registry, call.symbols, "aten.clone.default", {call.value("self")},
                   {{"memory_format", "contiguous_format"}}, call.where)
              ->result()};
}

/// An index of the tensor's rank, beside a source that is at least as large.
std::vector<ResultType> scatteredFake(const OperatorCall &call) {
  checkIndex(call, "index");
  const TensorType &self = call.tensor("self"), &index = call.tensor("index");
  if (writesNothing(call))
    return like(call);
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  checkFits(call, index.shape, self.shape, dim, "the tensor in every other dim");
  if (call.op.schema.indexOf("src")) {
    checkSource(call, "src");
    checkFits(call, index.shape, call.tensor("src").shape, std::nullopt, "the source");
  }
  return like(call);
}

/// An index of one dim that goes along `dim`.
std::vector<ResultType> alongFake(const OperatorCall &call) {
  checkIndex(call, "index");
  const TensorType &self = call.tensor("self"), &index = call.tensor("index");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  if (index.rank() > 1)
    call.fail("expects an index with at most one dim, got " + shapeText(index.shape));
  if (self.rank() == 0 && !call.symbols.proveEqual(index.numel(), 1))
    call.fail("expects an index of 1 element for a tensor without dims, got " +
              index.numel().text());
  if (call.op.schema.indexOf("source")) {
    checkSource(call, "source");
    std::vector<Expr> want = self.shape;
    if (!want.empty())
      want[dim] = index.numel();
    const std::vector<Expr> &got = call.tensor("source").shape;
    bool same = got.size() == want.size();
    for (size_t d = 0; same && d < want.size(); ++d)
      same = call.symbols.proveEqual(got[d], want[d]);
    if (!same)
      call.fail("expects a source of shape " + shapeText(want) + ", got " + shapeText(got));
  }
  return like(call);
}

/// A copy of the tensor is what is filled.
std::vector<ResultType> filledFake(const OperatorCall &call) {
  std::vector<ResultType> results = alongFake(call);
  std::get<TensorType>(results[0]).strides = preservedStrides(call.tensor("self"), call.symbols);
  return results;
}

/// index_put() whose only index is a mask, and values as many as the mask has elements or fewer.
struct MaskedPut {
  Value *mask = nullptr;
  std::vector<Expr> maskShape, valueShape; ///< that broadcast to the tensor
};

std::optional<MaskedPut> maskedPut(const OperatorCall &call) {
  const TensorType &self = call.tensor("self"), &values = call.tensor("values");
  const Argument::List &list = *call.at("indices").list();
  MaskedPut put;
  size_t at = 0, count = 0;
  for (size_t d = 0; d < list.size(); ++d)
    if (Value *index = list[d].value()) {
      put.mask = index;
      at = d;
      ++count;
    }
  if (count != 1 || put.mask->type().dtype != DataType::Bool)
    return std::nullopt;
  const std::vector<Expr> &mask = put.mask->type().shape;
  bool fits = at + mask.size() <= self.rank();
  for (size_t d = 0; fits && d < mask.size(); ++d)
    fits = call.symbols.proveEqual(mask[d], self.shape[at + d]);
  if (!fits)
    call.fail("expects a mask of the shape of the dims that it stands for, got " + shapeText(mask) +
              " from dim " + std::to_string(at) + " of " + shapeText(self.shape));
  size_t behind = self.rank() - at - mask.size();
  put.maskShape = mask;
  put.maskShape.insert(put.maskShape.end(), behind, Expr(1));
  put.valueShape = values.shape;
  if (values.rank() > behind) {
    // The dim of the chosen elements: of one that stands for all.
    auto chosen = put.valueShape.end() - static_cast<long>(behind) - 1;
    if (chosen->constant() != 1)
      call.fail("expects values whose number does not depend on the mask's, got " +
                shapeText(values.shape) + "; use masked_scatter or torch.where");
    chosen = put.valueShape.erase(chosen);
    put.valueShape.insert(chosen, mask.size(), Expr(1));
  }
  if (broadcastShapes(call, self.shape, put.valueShape) != self.shape)
    call.fail("expects values that broadcast to " + shapeText(self.shape) + ", got " +
              shapeText(values.shape));
  return put;
}

/// Where the mask holds, the values; else what was there.
std::vector<Value *> maskedPutDecomposition(Graph &graph, const OperatorCall &call,
                                            const OperatorRegistry &registry) {
  auto put = maskedPut(call);
  if (!put)
    return {};
  auto emit = [&](std::string_view target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  };
  Value *self = call.value("self");
  Value *mask = emit("aten.reshape.default", {put->mask, Argument::list(put->maskShape)});
  Value *values =
      emit("aten.reshape.default", {call.value("values"), Argument::list(put->valueShape)});
  if (call.flag("accumulate"))
    values = emit("aten.add.Tensor", {self, values});
  return {emit("aten.where.self", {mask, values, self})};
}

std::vector<ResultType> indexPutFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self"), &values = call.tensor("values");
  checkSource(call, "values");
  if (maskedPut(call))
    return like(call);
  std::vector<Expr> shape = indexedDims(call).resultShape(self);
  if (broadcastShapes(call, shape, values.shape) != shape)
    call.fail("expects values that broadcast to " + shapeText(shape) + ", got " +
              shapeText(values.shape));
  return like(call);
}

/// index_put along one dim. A tensor without dims is written as one with a dim of size 1.
Value *putAlong(Graph &graph, const OperatorCall &call, const OperatorRegistry &registry,
                Value *source, bool accumulate) {
  auto emit = [&](std::string_view target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  };
  Value *self = call.value("self");
  bool single = self->type().rank() == 0;
  if (single) {
    self = emit("aten.view.default", {self, Argument::List{1}});
    source = emit("aten.reshape.default", {source, Argument::List{1}});
  }
  Argument::List indices(static_cast<size_t>(call.dim("dim", self->type().rank())));
  indices.push_back(emit("aten.reshape.default", {call.value("index"), Argument::List{-1}}));
  Value *written = emit("aten.index_put.default", {self, indices, source, accumulate});
  return single ? emit("aten.view.default", {written, Argument::List{}}) : written;
}

/// index_add with a factor is one of the source times that factor.
std::vector<Value *> scaledIndexAdd(Graph &graph, const OperatorCall &call,
                                    const OperatorRegistry &registry) {
  Value *source = call.value("source");
  // Integers are scaled by an integer, truth values by whether there is a factor.
  Argument alpha = call.at("alpha");
  bool isOne = call.number("alpha") == 1;
  if (DataType dtype = source->type().dtype; dtype == DataType::Bool) {
    isOne = call.number("alpha") != 0;
    alpha = Argument(isOne);
  } else if (!isFloat(dtype)) {
    alpha = Argument(integerOf(alpha, dtype, OutOfRange::Wraps));
    isOne = alpha == Argument(1);
  }
  if (!isOne)
    source =
        emitCall(graph, registry, call.symbols, "aten.mul.Scalar", {source, alpha}, {}, call.where)
            ->result();
  return {putAlong(graph, call, registry, source, true)};
}

/// index_copy and index_fill write what index_put writes.
std::vector<Value *> indexWrite(Graph &graph, const OperatorCall &call,
                                const OperatorRegistry &registry) {
  const TensorType &self = call.tensor("self");
  Value *source = nullptr;
  if (call.op.schema.indexOf("source"))
    source = call.value("source");
  else
    source =
        emitCall(graph, registry, call.symbols, "aten.full.default",
                 {Argument::List{}, call.at("value")},
                 {{"dtype", Argument(self.dtype)}, {"device", Argument(self.device)}}, call.where)
            ->result();
  return {putAlong(graph, call, registry, source, false)};
}

/// A number in the place of the source.
std::vector<Value *> scatterValue(Graph &graph, const OperatorCall &call,
                                  const OperatorRegistry &registry) {
  if (writesNothing(call))
    return unchanged(graph, call, registry);
  const TensorType &self = call.tensor("self");
  Value *source =
      emitCall(graph, registry, call.symbols, "aten.full.default",
               {Argument::list(call.tensor("index").shape), call.at("value")},
               {{"dtype", Argument(self.dtype)}, {"device", Argument(self.device)}}, call.where)
          ->result();
  return {emitCall(graph, registry, call.symbols, "aten.scatter.src",
                   {call.value("self"), call.at("dim"), call.value("index"), source}, {},
                   call.where)
              ->result()};
}

std::vector<ResultType> scatterReduceFake(const OperatorCall &call) {
  std::string reduce = call.string("reduce");
  if (reduce != "sum" && reduce != "prod" && reduce != "mean" && reduce != "amax" &&
      reduce != "amin")
    call.fail("expects reduce to be 'sum', 'prod', 'mean', 'amax' or 'amin', got '" + reduce + "'");
  return scatteredFake(call);
}

/// What a reduction of nothing gives, of the type.
Argument identityOf(const std::string &reduce, DataType type) {
  if (reduce == "sum" || reduce == "mean")
    return isFloat(type) ? Argument(0.0) : type == DataType::Bool ? Argument(false) : Argument(0);
  if (reduce == "prod")
    return isFloat(type) ? Argument(1.0) : type == DataType::Bool ? Argument(true) : Argument(1);
  bool largest = reduce == "amax";
  double infinite = std::numeric_limits<double>::infinity();
  if (isFloat(type))
    return Argument(largest ? -infinite : infinite);
  if (type == DataType::Bool)
    return Argument(!largest);
  uint32_t bits = 8 * byteSize(type);
  if (!info(type).isSigned)
    return Argument(largest ? int64_t(0) : static_cast<int64_t>((uint64_t(1) << bits) - 1));
  int64_t high = static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1);
  return Argument(largest ? -high - 1 : high);
}

/// Without the tensor's own elements they count as the reduction of nothing; a mean is a sum over a
/// count. What is left is computed as it is.
std::vector<Value *> scatterReduceDecomposition(Graph &graph, const OperatorCall &call,
                                                const OperatorRegistry &registry) {
  auto emit = [&](std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  };
  std::string reduce = call.string("reduce");
  Value *self = call.value("self"), *index = call.value("index"), *src = call.value("src");
  DataType type = self->type().dtype;
  bool sums = reduce == "sum" || reduce == "mean", includes = call.flag("include_self");
  if (includes && !sums)
    return {};
  Value *base = includes ? self
                         : emit("aten.scatter.value",
                                {self, call.at("dim"), index, identityOf(reduce, type)});
  if (!sums)
    return {emit("aten.scatter_reduce.two", {base, call.at("dim"), index, src, reduce})};
  Value *sum = emit("aten.scatter_add.default", {base, call.at("dim"), index, src});
  if (reduce == "sum")
    return {sum};
  Value *ones = emit("aten.ones_like.default", {self});
  Value *counts = includes ? ones : emit("aten.scatter.value", {ones, call.at("dim"), index, 0});
  counts = emit("aten.scatter_add.default",
                {counts, call.at("dim"), index, emit("aten.ones_like.default", {src})});
  counts = emit("aten.clamp_min.default", {counts, 1});
  if (isFloat(type))
    return {emit("aten.div.Tensor", {sum, counts})};
  return {emit("aten.div.Tensor_mode", {sum, counts}, {{"rounding_mode", "floor"}})};
}
} // namespace

void registerScatterOperators(OperatorRegistry &registry) {
  struct Row {
    std::string_view schema;
    FakeFunction fake;
    DecomposeFunction decompose;
    Operator::Kind kind = Operator::Kind::Composite;
  };
  const Row rows[] = {
      {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatteredFake,
       unchanged, Operator::Kind::Scatter},
      {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
       scatteredFake, scatterValue},
      {"aten::scatter_add.default(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
       scatteredFake, unchanged, Operator::Kind::Scatter},
      {"aten::index_add.default(Tensor self, int dim, Tensor index, Tensor source, *, Scalar "
       "alpha=1) -> Tensor",
       alongFake, scaledIndexAdd},
      {"aten::index_copy.default(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
       alongFake, indexWrite},
      {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
       filledFake, indexWrite},
  };
  Operator put = makeOperator("aten::index_put.default(Tensor self, Tensor?[] indices, Tensor "
                              "values, bool accumulate=False) -> Tensor",
                              Operator::Kind::Scatter, indexPutFake);
  put.decompose = maskedPutDecomposition;
  registry.add(std::move(put));
  Operator reduce = makeOperator("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, "
                                 "Tensor src, str reduce, *, bool include_self=True) -> Tensor",
                                 Operator::Kind::Scatter, scatterReduceFake);
  reduce.decompose = scatterReduceDecomposition;
  registry.add(std::move(reduce));
  for (const Row &row : rows) {
    Operator op = makeOperator(row.schema, row.kind, row.fake);
    op.decompose = row.decompose;
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
