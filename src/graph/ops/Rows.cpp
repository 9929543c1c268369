// SPDX-License-Identifier: Apache-2.0
/// Operators that take whole rows: softmax and the norms. Each is one kernel per row, and can also
/// be said in reductions and pointwise operators.
#include "graph/ops/Families.h"

namespace pellucid::graph {

namespace {
struct RowEmitter {
  Graph &graph;
  const OperatorCall &call;
  const OperatorRegistry &registry;
  Value *operator()(std::string_view target, std::vector<Argument> args,
                    KeywordArguments kwargs = {}) const {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  }
  /// bf16 and f16 in f32, as the row kernels compute.
  Value *widened(Value *v) const {
    DataType wide = opMathType(v->type().dtype);
    return wide == v->type().dtype ? v : (*this)("aten._to_copy.default", {v}, {{"dtype", wide}});
  }
  Value *converted(Value *v, DataType dtype) const {
    return v->type().dtype == dtype ? v : (*this)("aten._to_copy.default", {v}, {{"dtype", dtype}});
  }
};

std::vector<ResultType> softmaxFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  call.dim("dim", self.rank());
  DataType dtype = self.dtype;
  if (call.op.schema.indexOf("dtype"))
    dtype = call.dtype("dtype").value_or(dtype);
  else if (call.flag("half_to_float"))
    dtype = DataType::Float32;
  if (!isFloat(dtype))
    call.fail("is not defined for " + std::string(info(dtype).torch));
  return {freshLike(self, dtype, self.shape)};
}

std::vector<Value *> softmaxDecomposition(Graph &graph, const OperatorCall &call,
                                          const OperatorRegistry &registry) {
  RowEmitter emit{graph, call, registry};
  DataType result = std::get<TensorType>(call.op.fake(call)[0]).dtype;
  Value *x = emit.widened(emit.converted(call.value("self"), result));
  int64_t dim = call.dim("dim", x->type().rank());
  Argument::List dims{Argument(dim)};
  Value *shifted = emit("aten.sub.Tensor", {x, emit("aten.amax.default", {x, dims, true})});
  Value *exps = emit("aten.exp.default", {shifted});
  Value *total = emit("aten.sum.dim_IntList", {exps, dims, true});
  bool logarithm = call.op.row.rule == RowKernelBody::Rule::LogSoftmax;
  Value *y = logarithm ? emit("aten.sub.Tensor", {shifted, emit("aten.log.default", {total})})
                       : emit("aten.div.Tensor", {exps, total});
  return {emit.converted(y, result)};
}

/// The normalized dims must be the last ones, with these sizes; parameters have exactly that shape.
void checkNormalized(const OperatorCall &call) {
  const TensorType &input = call.tensor("input");
  std::vector<Expr> row = call.integers("normalized_shape");
  bool fits = !row.empty() && row.size() <= input.rank();
  for (size_t i = 0; fits && i < row.size(); ++i)
    fits = call.symbols.proveEqual(row[i], input.shape[input.rank() - row.size() + i]);
  if (!fits)
    call.fail("expects the last dims of its input to be " + shapeText(row) + ", got " +
              shapeText(input.shape));
  for (std::string_view name : {"weight", "bias"})
    if (call.op.schema.indexOf(name) && call.has(name) && call.tensor(name).shape != row)
      call.fail("expects '" + std::string(name) + "' to be " + shapeText(row) + ", got " +
                shapeText(call.tensor(name).shape));
  if (!isFloat(input.dtype))
    call.fail("is not defined for " + std::string(info(input.dtype).torch));
}

std::vector<ResultType> normFake(const OperatorCall &call) {
  checkNormalized(call);
  const TensorType &input = call.tensor("input");
  DataType dtype = input.dtype;
  // rms_norm multiplies by the weight as mul does; layer_norm keeps the input's type.
  if (call.op.row.rule == RowKernelBody::Rule::RmsNorm && call.has("weight"))
    dtype = promoteTypes(dtype, call.tensor("weight").dtype);
  return {freshLike(input, dtype, input.shape)};
}

std::vector<Value *> normDecomposition(Graph &graph, const OperatorCall &call,
                                       const OperatorRegistry &registry) {
  RowEmitter emit{graph, call, registry};
  DataType result = std::get<TensorType>(call.op.fake(call)[0]).dtype;
  bool centred = call.op.row.rule == RowKernelBody::Rule::LayerNorm;
  Value *x = emit.widened(call.value("input"));
  Argument::List dims;
  size_t count = call.integers("normalized_shape").size();
  for (size_t i = 0; i < count; ++i)
    dims.emplace_back(static_cast<int64_t>(x->type().rank() - count + i));
  if (centred)
    x = emit("aten.sub.Tensor", {x, emit("aten.mean.dim", {x, dims, true})});
  Value *squares = emit("aten.mul.Tensor", {x, x});
  Value *mean = emit("aten.mean.dim", {squares, dims, true});
  Value *scale = emit("aten.rsqrt.default", {emit("aten.add.Tensor", {mean, rowEpsilon(call)})});
  Value *y = emit("aten.mul.Tensor", {x, scale});
  if (call.has("weight"))
    y = emit("aten.mul.Tensor", {y, emit.widened(call.value("weight"))});
  if (centred && call.has("bias"))
    y = emit("aten.add.Tensor", {y, emit.widened(call.value("bias"))});
  return {emit.converted(y, result)};
}

Operator rowOperator(std::string_view schema, FakeFunction fake, DecomposeFunction decompose,
                     RowKernelBody body) {
  Operator op = makeOperator(schema, Operator::Kind::RowKernel, std::move(fake));
  op.decompose = std::move(decompose);
  op.row = std::move(body);
  return op;
}

CostFunction rowCost(int64_t flopsPerElement) {
  return [flopsPerElement](const OperatorCall &call, std::span<const ResultType> results) {
    Operator plain =
        makeOperator(printSchema(call.op.schema), Operator::Kind::RowKernel, call.op.fake);
    Cost cost = costOf(OperatorCall{plain, call.symbols, call.args, call.where}, results);
    cost.flops = std::get<TensorType>(results[0]).numel() * flopsPerElement;
    return cost;
  };
}
} // namespace

double rowEpsilon(const OperatorCall &call) {
  if (call.has("eps"))
    return call.number("eps");
  switch (call.tensor("input").dtype) {
  case DataType::Float64:
    return 2.220446049250313e-16;
  case DataType::Float16:
    return 0.0009765625;
  case DataType::BFloat16:
    return 0.0078125;
  default:
    return 1.1920928955078125e-07;
  }
}

void registerRowOperators(OperatorRegistry &registry) {
  using Rule = RowKernelBody::Rule;
  const RowKernelBody softmax{Rule::Softmax, "self", "dim"},
      logSoftmax{Rule::LogSoftmax, "self", "dim"},
      layerNorm{Rule::LayerNorm, "input", "normalized_shape"},
      rmsNorm{Rule::RmsNorm, "input", "normalized_shape"};
  struct Row {
    std::string_view schema;
    FakeFunction fake;
    DecomposeFunction decompose;
    RowKernelBody body;
    int64_t flops;
  };
  const Row rows[] = {
      {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmaxFake,
       softmaxDecomposition, softmax, 12},
      {"aten::_softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor", softmaxFake,
       softmaxDecomposition, softmax, 12},
      {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmaxFake,
       softmaxDecomposition, logSoftmax, 12},
      {"aten::_log_softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor",
       softmaxFake, softmaxDecomposition, logSoftmax, 12},
      {"aten::layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
       "Tensor? bias=None, "
       "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
       normFake, normDecomposition, layerNorm, 8},
      {"aten::rms_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
       "float? eps=None) -> "
       "Tensor",
       normFake, normDecomposition, rmsNorm, 5},
  };
  for (const Row &row : rows) {
    Operator op = rowOperator(row.schema, row.fake, row.decompose, row.body);
    op.cost = rowCost(row.flops);
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
