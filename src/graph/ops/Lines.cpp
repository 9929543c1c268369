// SPDX-License-Identifier: Apache-2.0
/// Operators over whole lines of a tensor: running sums and products, and orders.
#include "graph/ops/Families.h"

namespace pellucid::graph {

namespace {
std::vector<ResultType> runningFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  call.dim("dim", self.rank());
  DataType own = isFloat(self.dtype) ? self.dtype : DataType::Int64;
  return {freshLike(self, call.dtype("dtype").value_or(own), self.shape)};
}

std::vector<ResultType> ordered(const TensorType &self, std::vector<Expr> shape) {
  return {freshLike(self, self.dtype, shape), freshLike(self, DataType::Int64, shape)};
}

std::vector<ResultType> runningExtremeFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  call.dim("dim", self.rank());
  return ordered(self, self.shape);
}

std::vector<ResultType> sortFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  call.dim("dim", self.rank());
  // Dense, the dims in the order that they have in `self`; of topk and of running sums row-major.
  TensorType values = freshLike(self, self.dtype, self.shape),
             indices = freshLike(self, DataType::Int64, self.shape);
  values.strides = indices.strides = preservedStrides(self, call.symbols);
  return {values, indices};
}

std::vector<ResultType> topkFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  if (self.dtype == DataType::Bool)
    call.fail("is not defined for bool");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Expr k = call.integer("k"), size = self.rank() ? self.shape[dim] : Expr(1);
  if (call.symbols.prove(lessEqual(0, k)) != true || call.symbols.prove(lessEqual(k, size)) != true)
    call.fail("expects k to be no larger than dim " + std::to_string(dim) + ", got " + k.text() +
              " and " + size.text());
  std::vector<Expr> shape = self.shape;
  if (!shape.empty())
    shape[dim] = k;
  return ordered(self, std::move(shape));
}

std::vector<ResultType> argsortFake(const OperatorCall &call) { return {sortFake(call)[1]}; }

std::vector<Value *> argsortDecomposition(Graph &graph, const OperatorCall &call,
                                          const OperatorRegistry &registry) {
  Node *sort =
      emitCall(graph, registry, call.symbols, "aten.sort.default",
               {call.value("self"), call.at("dim"), call.at("descending")}, {}, call.where);
  return {sort->result(1)};
}

/// max and min along a dim.
std::vector<ResultType> extremeFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  int64_t dim = call.dim("dim", self.rank());
  if (self.rank() && call.symbols.proveEqual(self.shape[static_cast<size_t>(dim)], 0))
    call.fail("has no value over dim " + std::to_string(dim) + " of size 0");
  return ordered(self, reducedShape(self, reducedDims(call, self), call.flag("keepdim")));
}

std::vector<Value *> extremeDecomposition(Graph &graph, const OperatorCall &call,
                                          const OperatorRegistry &registry) {
  std::string name = call.op.schema.name;
  auto emit = [&](const std::string &target, Value *of, Argument dim) {
    return emitCall(graph, registry, call.symbols, target,
                    {of, std::move(dim), call.flag("keepdim")}, {}, call.where)
        ->result();
  };
  Argument dim = call.at("dim");
  Value *self = call.value("self"), *ordered = self;
  // argmax by itself refuses truth values.
  if (self->type().dtype == DataType::Bool)
    ordered = emitCall(graph, registry, call.symbols, "aten._to_copy.default", {self},
                       {{"dtype", DataType::UInt8}}, call.where)
                  ->result();
  return {emit("aten.a" + name + ".default", self, Argument(Argument::List{dim})),
          emit("aten.arg" + name + ".default", ordered, dim)};
}
} // namespace

void registerLineOperators(OperatorRegistry &registry) {
  struct Row {
    std::string_view schema;
    FakeFunction fake;
    DecomposeFunction decompose;
  };
  const Row rows[] = {
      {"aten::cumsum.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
       runningFake, nullptr},
      {"aten::cumprod.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
       runningFake, nullptr},
      {"aten::cummax.default(Tensor self, int dim) -> (Tensor values, Tensor indices)",
       runningExtremeFake, nullptr},
      {"aten::cummin.default(Tensor self, int dim) -> (Tensor values, Tensor indices)",
       runningExtremeFake, nullptr},
      {"aten::sort.default(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, "
       "Tensor indices)",
       sortFake, nullptr},
      {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
       "(Tensor values, Tensor indices)",
       sortFake, nullptr},
      {"aten::topk.default(Tensor self, SymInt k, int dim=-1, bool largest=True, bool "
       "sorted=True) -> (Tensor values, Tensor indices)",
       topkFake, nullptr},
      {"aten::argsort.default(Tensor self, int dim=-1, bool descending=False) -> Tensor",
       argsortFake, argsortDecomposition},
      {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       extremeFake, extremeDecomposition},
      {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       extremeFake, extremeDecomposition},
  };
  for (const Row &row : rows) {
    Operator op = makeOperator(
        row.schema, row.decompose ? Operator::Kind::Composite : Operator::Kind::Line, row.fake);
    op.decompose = row.decompose;
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
