// SPDX-License-Identifier: Apache-2.0
/// Matrix products: library calls on every target.
#include "graph/ops/Families.h"

namespace pellucid::graph {

namespace {
void checkInner(const OperatorCall &call, const Expr &left, const Expr &right) {
  if (!call.symbols.proveEqual(left, right))
    call.fail("expects inner dims to match, got " + left.text() + " and " + right.text());
}

void checkSameType(const OperatorCall &call, const TensorType &a, const TensorType &b) {
  if (a.dtype != b.dtype)
    call.fail("expects both operands to have the same dtype, got " +
              std::string(info(a.dtype).torch) + " and " + std::string(info(b.dtype).torch));
  if (a.dtype == DataType::Bool)
    call.fail("is not defined for bool");
}

void checkRank(const OperatorCall &call, std::string_view name, size_t rank) {
  if (call.tensor(name).rank() != rank)
    call.fail("expects '" + std::string(name) + "' to have " + std::to_string(rank) +
              " dims, got " + shapeText(call.tensor(name).shape));
}

std::vector<ResultType> linearFake(const OperatorCall &call) {
  const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
  if (input.rank() == 0 || weight.rank() < 1 || weight.rank() > 2)
    call.fail("expects an input with dims and a weight with 1 or 2, got " + shapeText(input.shape) +
              " and " + shapeText(weight.shape));
  checkSameType(call, input, weight);
  checkInner(call, input.shape.back(), weight.shape.back());
  std::vector<Expr> shape(input.shape.begin(), input.shape.end() - 1);
  if (weight.rank() == 2)
    shape.push_back(weight.shape[0]);
  if (call.has("bias")) {
    const TensorType &bias = call.tensor("bias");
    checkSameType(call, input, bias);
    if (broadcastShapes(call, shape, bias.shape) != shape)
      call.fail("expects a bias that broadcasts to " + shapeText(shape) + ", got " +
                shapeText(bias.shape));
  }
  return {freshLike(input, input.dtype, shape)};
}

std::vector<ResultType> mmFake(const OperatorCall &call) {
  bool batched = call.op.schema.name == "bmm";
  checkRank(call, "self", batched ? 3 : 2);
  checkRank(call, "mat2", batched ? 3 : 2);
  const TensorType &a = call.tensor("self"), &b = call.tensor("mat2");
  checkSameType(call, a, b);
  size_t i = batched;
  checkInner(call, a.shape[i + 1], b.shape[i]);
  std::vector<Expr> shape{a.shape[i], b.shape[i + 1]};
  if (batched) {
    if (!call.symbols.proveEqual(a.shape[0], b.shape[0]))
      call.fail("expects equal batches, got " + a.shape[0].text() + " and " + b.shape[0].text());
    shape.insert(shape.begin(), a.shape[0]);
  }
  return {freshLike(a, a.dtype, shape)};
}

std::vector<ResultType> addmmFake(const OperatorCall &call) {
  checkRank(call, "mat1", 2);
  checkRank(call, "mat2", 2);
  const TensorType &a = call.tensor("mat1"), &b = call.tensor("mat2"), &self = call.tensor("self");
  checkSameType(call, a, b);
  checkSameType(call, a, self);
  checkInner(call, a.shape[1], b.shape[0]);
  std::vector<Expr> shape{a.shape[0], b.shape[1]};
  if (broadcastShapes(call, shape, self.shape) != shape)
    call.fail("expects 'self' to broadcast to " + shapeText(shape) + ", got " +
              shapeText(self.shape));
  return {freshLike(a, a.dtype, shape)};
}

std::vector<ResultType> matmulFake(const OperatorCall &call) {
  const TensorType &a = call.tensor("self"), &b = call.tensor("other");
  if (a.rank() == 0 || b.rank() == 0)
    call.fail("expects operands with at least 1 dim, got " + shapeText(a.shape) + " and " +
              shapeText(b.shape));
  checkSameType(call, a, b);
  checkInner(call, a.shape.back(), b.rank() == 1 ? b.shape[0] : b.shape[b.rank() - 2]);
  std::vector<Expr> batchA(a.shape.begin(),
                           a.shape.end() - std::min<std::ptrdiff_t>(2, std::ptrdiff_t(a.rank())));
  std::vector<Expr> batchB(b.shape.begin(),
                           b.shape.end() - std::min<std::ptrdiff_t>(2, std::ptrdiff_t(b.rank())));
  std::vector<Expr> shape = broadcastShapes(call, batchA, batchB);
  if (a.rank() > 1)
    shape.push_back(a.shape[a.rank() - 2]);
  if (b.rank() > 1)
    shape.push_back(b.shape.back());
  return {freshLike(a, a.dtype, shape)};
}

/// 2*k FLOPs for every element of the result.
CostFunction gemmCost(std::string_view left) {
  return [left](const OperatorCall &call, std::span<const ResultType> results) {
    Cost cost = kindCost(call, results);
    cost.flops = std::get<TensorType>(results[0]).numel() * call.tensor(left).shape.back() * 2;
    return cost;
  };
}

void addGemm(OperatorRegistry &registry, std::string_view schema, FakeFunction fake,
             std::string_view left) {
  Operator op = makeOperator(schema, Operator::Kind::Gemm, std::move(fake));
  op.cost = gemmCost(left);
  registry.add(std::move(op));
}
} // namespace

void registerGemmOperators(OperatorRegistry &registry) {
  addGemm(registry,
          "aten::linear.default(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
          linearFake, "input");
  addGemm(registry, "aten::mm.default(Tensor self, Tensor mat2) -> Tensor", mmFake, "self");
  addGemm(registry, "aten::bmm.default(Tensor self, Tensor mat2) -> Tensor", mmFake, "self");
  addGemm(registry,
          "aten::addmm.default(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar "
          "alpha=1) -> Tensor",
          addmmFake, "mat1");
  addGemm(registry, "aten::matmul.default(Tensor self, Tensor other) -> Tensor", matmulFake,
          "self");
}

} // namespace pellucid::graph
