// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/Families.h"

#include <algorithm>

namespace pellucid::graph {

using Combine = ReductionBody::Combine;
using Accumulate = ReductionBody::Accumulate;

namespace {
/// What the dtype of a result is, from the input's.
enum class ResultRule { Sum, Float, Same, Long, Bool };

DataType reducedType(const OperatorCall &call, ResultRule rule) {
  DataType self = call.tensor("self").dtype;
  if (call.op.schema.indexOf("dtype"))
    if (std::optional<DataType> asked = call.dtype("dtype"))
      return *asked;
  switch (rule) {
  case ResultRule::Sum:
    return isFloat(self) ? self : DataType::Int64;
  case ResultRule::Float:
    if (!isFloat(self))
      call.fail("expects a floating-point tensor or a floating-point dtype, got " +
                std::string(info(self).torch));
    return self;
  case ResultRule::Same:
    return self;
  case ResultRule::Long:
    if (self == DataType::Bool)
      call.fail("is not defined for bool");
    return DataType::Int64;
  case ResultRule::Bool:
    // ATen keeps the truth values of bytes in bytes.
    return self == DataType::UInt8 ? DataType::UInt8 : DataType::Bool;
  }
  return self;
}

FakeFunction reductionFake(ResultRule rule) {
  return [rule](const OperatorCall &call) -> std::vector<ResultType> {
    const TensorType &self = call.tensor("self");
    std::vector<int64_t> dims = reducedDims(call, self);
    bool keepdim = call.op.schema.indexOf("keepdim") && call.flag("keepdim");
    Combine combine = call.op.reduction.combine;
    bool hasEmptyValue =
        combine == Combine::Sum || combine == Combine::Prod || rule == ResultRule::Bool;
    if (!hasEmptyValue)
      for (int64_t d : dims)
        if (call.symbols.proveEqual(self.shape[static_cast<size_t>(d)], 0))
          call.fail("has no value over dim " + std::to_string(d) + " of size 0");
    return {freshLike(self, reducedType(call, rule), reducedShape(self, dims, keepdim))};
  };
}

/// Whole numbers become f32 first. What is reduced may be empty: the logarithm of nothing.
std::vector<ResultType> logSumExpFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  DataType type = isFloat(self.dtype) ? self.dtype : DataType::Float32;
  return {freshLike(self, type, reducedShape(self, reducedDims(call, self), call.flag("keepdim")))};
}

struct ReductionRow {
  std::string_view schema;
  ResultRule rule;
  ReductionBody body;
};

Value *one(Node *node) { return node->result(); }

/// Whether a program may take a row at a time: the last dim alone, and rows that are short or as
/// many as a device has room for. Of few long ones each is shared by programs, as the parts are.
bool isTakenByRows(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  std::vector<int64_t> dims = reducedDims(call, self);
  if (!isFloat(self.dtype) || dims.size() != 1 || dims[0] + 1 != static_cast<int64_t>(self.rank()))
    return false;
  constexpr int64_t shortRow = 8192, manyRows = 128;
  Expr rows = 1;
  for (size_t d = 0; d + 1 < self.rank(); ++d)
    rows = rows * self.shape[d];
  return call.symbols.range(self.shape.back()).max <= shortRow ||
         call.symbols.range(rows).min >= manyRows;
}

/// The largest, and the logarithm of the sum of exponentials beside it.
std::vector<Value *> logSumExpDecomposition(Graph &g, const OperatorCall &call,
                                            const OperatorRegistry &registry) {
  if (isTakenByRows(call))
    return {};
  auto emit = [&](std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return one(emitCall(g, registry, call.symbols, target, std::move(args), std::move(kwargs),
                        call.where));
  };
  Value *self = call.value("self");
  DataType result = std::get<TensorType>(call.op.fake(call)[0]).dtype;
  if (DataType wide = opMathType(result); self->type().dtype != wide)
    self = emit("aten._to_copy.default", {self}, {{"dtype", wide}});
  std::vector<int64_t> dims = reducedDims(call, self->type());
  Argument::List dimList(dims.begin(), dims.end());
  bool isEmpty = std::any_of(dims.begin(), dims.end(), [&](int64_t d) {
    return call.symbols.proveEqual(self->type().shape[static_cast<size_t>(d)], 0);
  });
  auto logarithm = [&](Value *of) {
    Value *exps = emit("aten.exp.default", {of});
    return emit("aten.log.default", {emit("aten.sum.dim_IntList", {exps, dimList, true})});
  };
  Value *sum = nullptr;
  if (isEmpty) { // which has no largest
    sum = logarithm(self);
  } else {
    Value *most = emit("aten.amax.default", {self, dimList, true});
    Value *infinite = emit("aten.isinf.default", {most});
    Value *base = emit("aten.where.ScalarSelf", {infinite, 0.0, most});
    sum = emit("aten.add.Tensor", {logarithm(emit("aten.sub.Tensor", {self, base})), base});
  }
  if (!call.flag("keepdim"))
    sum = emit("aten.squeeze.dims", {sum, dimList});
  if (sum->type().dtype != result)
    sum = emit("aten._to_copy.default", {sum}, {{"dtype", result}});
  return {sum};
}

/// mean, then the mean of squared differences with the correction in the divisor.
std::vector<Value *> varianceDecomposition(Graph &g, const OperatorCall &call,
                                           const OperatorRegistry &registry) {
  if (isTakenByRows(call))
    return {};
  auto emit = [&](std::string_view target, std::vector<Argument> args,
                  KeywordArguments kwargs = {}) {
    return one(emitCall(g, registry, call.symbols, target, std::move(args), std::move(kwargs),
                        call.where));
  };
  Value *self = call.value("self");
  // Squares of 16-bit numbers do not fit their type.
  DataType narrow = self->type().dtype, wide = opMathType(narrow);
  if (wide != narrow)
    self = emit("aten._to_copy.default", {self}, {{"dtype", wide}});
  std::vector<int64_t> dims = reducedDims(call, self->type());
  Argument::List dimList(dims.begin(), dims.end());
  Expr count = 1;
  for (int64_t d : dims)
    count = count * self->type().shape[static_cast<size_t>(d)];
  double correction = call.has("correction") ? call.number("correction") : 1;
  Argument divisor;
  if (correction == static_cast<double>(static_cast<int64_t>(correction)))
    divisor = Argument(max(count - Expr(static_cast<int64_t>(correction)), 0));
  else if (auto known = count.constant())
    divisor = Argument(std::max(static_cast<double>(*known) - correction, 0.0));
  else
    call.fail("expects a whole correction for a dynamic number of elements, got " +
              std::to_string(correction) + " and " + count.text());
  Value *mean = emit("aten.mean.dim", {self, dimList, true});
  Value *difference = emit("aten.sub.Tensor", {self, mean});
  Value *squares = emit("aten.mul.Tensor", {difference, difference});
  Value *total = emit("aten.sum.dim_IntList", {squares, dimList, call.flag("keepdim")});
  Value *variance = emit("aten.div.Scalar", {total, divisor});
  if (call.op.schema.name == "std")
    variance = emit("aten.sqrt.default", {variance});
  if (wide != narrow)
    variance = emit("aten._to_copy.default", {variance}, {{"dtype", narrow}});
  return {variance};
}
} // namespace

void registerReductionOperators(OperatorRegistry &registry) {
  const ReductionBody sum{Combine::Sum, Accumulate::OpMath, "x", "acc", "0"};
  const ReductionBody mean{Combine::Sum, Accumulate::OpMath, "x", "acc / n", "0"};
  const ReductionBody largest{Combine::Max, Accumulate::Same, "x", "acc", "-inf"};
  const ReductionBody smallest{Combine::Min, Accumulate::Same, "x", "acc", "inf"};
  const ReductionBody product{Combine::Prod, Accumulate::OpMath, "x", "acc", "1"};
  const ReductionBody argmax{Combine::ArgMax, Accumulate::Same, "x", "acc", "-inf"};
  const ReductionBody argmin{Combine::ArgMin, Accumulate::Same, "x", "acc", "inf"};
  const ReductionBody any{Combine::Max, Accumulate::ResultType, "x != 0", "acc", "0"};
  const ReductionBody all{Combine::Min, Accumulate::ResultType, "x != 0", "acc", "1"};
  const ReductionRow rows[] = {
      {"aten::sum.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", ResultRule::Sum, sum},
      {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
       "dtype=None) -> Tensor",
       ResultRule::Sum, sum},
      {"aten::mean.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", ResultRule::Float,
       mean},
      {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
       "Tensor",
       ResultRule::Float, mean},
      {"aten::prod.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", ResultRule::Sum,
       product},
      {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
       "Tensor",
       ResultRule::Sum, product},
      {"aten::amax.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       ResultRule::Same, largest},
      {"aten::amin.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       ResultRule::Same, smallest},
      {"aten::max.default(Tensor self) -> Tensor", ResultRule::Same, largest},
      {"aten::min.default(Tensor self) -> Tensor", ResultRule::Same, smallest},
      {"aten::argmax.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
       ResultRule::Long, argmax},
      {"aten::argmin.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
       ResultRule::Long, argmin},
      {"aten::any.default(Tensor self) -> Tensor", ResultRule::Bool, any},
      {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", ResultRule::Bool, any},
      {"aten::all.default(Tensor self) -> Tensor", ResultRule::Bool, all},
      {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", ResultRule::Bool, all},
  };
  for (const ReductionRow &row : rows) {
    Operator op = makeOperator(row.schema, Operator::Kind::Reduction, reductionFake(row.rule));
    op.reduction = row.body;
    registry.add(std::move(op));
  }
  for (std::string_view schema : {"aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? "
                                  "correction=None, bool keepdim=False) -> Tensor",
                                  "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? "
                                  "correction=None, bool keepdim=False) -> "
                                  "Tensor"}) {
    Operator op = makeOperator(schema, Operator::Kind::RowKernel, reductionFake(ResultRule::Float));
    op.decompose = varianceDecomposition;
    op.row = {op.schema.name == "std" ? RowKernelBody::Rule::Deviation
                                      : RowKernelBody::Rule::Variance,
              "self", "dim"};
    registry.add(std::move(op));
  }
  Operator op =
      makeOperator("aten::logsumexp.default(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                   Operator::Kind::RowKernel, logSumExpFake);
  op.decompose = logSumExpDecomposition;
  op.row = {RowKernelBody::Rule::LogSumExp, "self", "dim"};
  registry.add(std::move(op));
}

} // namespace pellucid::graph
