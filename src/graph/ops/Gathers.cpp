// SPDX-License-Identifier: Apache-2.0
/// Elements chosen by an index tensor.
#include "graph/ops/Families.h"
#include "graph/ops/Indices.h"

#include <algorithm>

namespace pellucid::graph {

IndexedDims indexedDims(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  const Argument::List &list = *call.at("indices").list();
  IndexedDims found;
  for (size_t d = 0; d < list.size(); ++d) {
    const Value *index = list[d].value();
    if (!index)
      continue;
    if (index->type().dtype != DataType::Int64 && index->type().dtype != DataType::Int32)
      call.fail("expects indices that hold int64 or int32, got " +
                std::string(info(index->type().dtype).torch));
    found.dims.push_back(d);
    found.shape = broadcastShapes(call, found.shape, index->type().shape);
  }
  if (found.dims.empty() || list.size() > self.rank())
    call.fail("expects between 1 and " + std::to_string(self.rank()) + " indices, got " +
              std::to_string(found.dims.empty() ? 0 : list.size()));
  bool together = found.dims.back() - found.dims.front() + 1 == found.dims.size();
  found.place = together ? found.dims.front() : 0;
  return found;
}

std::vector<Expr> IndexedDims::resultShape(const TensorType &self) const {
  std::vector<Expr> result;
  for (size_t d = 0; d < self.rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      result.push_back(self.shape[d]);
  result.insert(result.begin() + static_cast<long>(place), shape.begin(), shape.end());
  return result;
}

bool isNothing(const TensorType &index) {
  return std::any_of(index.shape.begin(), index.shape.end(),
                     [](const Expr &size) { return size.constant() == 0; });
}

void checkIndex(const OperatorCall &call, std::string_view name) {
  DataType dtype = call.tensor(name).dtype;
  if (isNothing(call.tensor(name)) && isInteger(dtype))
    return;
  if (dtype != DataType::Int64 && dtype != DataType::Int32)
    call.fail("expects '" + std::string(name) + "' to hold int64 or int32, got " +
              std::string(info(dtype).torch));
}

namespace {
std::vector<ResultType> indexFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  return {freshLike(self, self.dtype, indexedDims(call).resultShape(self))};
}

std::vector<ResultType> embeddingFake(const OperatorCall &call) {
  checkIndex(call, "indices");
  const TensorType &weight = call.tensor("weight");
  if (weight.rank() != 2)
    call.fail("expects a weight with 2 dims, got " + shapeText(weight.shape));
  std::vector<Expr> shape = call.tensor("indices").shape;
  shape.push_back(weight.shape[1]);
  return {freshLike(weight, weight.dtype, shape)};
}

std::vector<ResultType> indexSelectFake(const OperatorCall &call) {
  checkIndex(call, "index");
  const TensorType &self = call.tensor("self"), &index = call.tensor("index");
  if (index.rank() > 1)
    call.fail("expects an index with at most 1 dim, got " + shapeText(index.shape));
  std::vector<Expr> shape = self.shape;
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  if (!shape.empty())
    shape[dim] = index.numel();
  else if (!call.symbols.proveEqual(index.numel(), 1))
    call.fail("expects an index of 1 element for a tensor without dims, got " +
              index.numel().text());
  return {freshLike(self, self.dtype, shape)};
}

std::vector<ResultType> gatherFake(const OperatorCall &call) {
  checkIndex(call, "index");
  const TensorType &self = call.tensor("self"), &index = call.tensor("index");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  if (isNothing(index))
    return {freshLike(self, self.dtype, index.shape)};
  // A tensor without dims counts as one of one element.
  if (std::max<size_t>(index.rank(), 1) != std::max<size_t>(self.rank(), 1))
    call.fail("expects an index with as many dims as the tensor, got " + shapeText(index.shape) +
              " and " + shapeText(self.shape));
  for (size_t i = 0; i < std::min(self.rank(), index.rank()); ++i)
    if (i != dim && call.symbols.prove(lessEqual(index.shape[i], self.shape[i])) != true)
      call.fail("expects the index to be no larger than the tensor in dim " + std::to_string(i) +
                ", got " + index.shape[i].text() + " and " + self.shape[i].text());
  return {freshLike(self, self.dtype, index.shape)};
}

/// Where the tensor or the index has no dims, and the other one.
std::vector<Value *> gatheredFromOne(Graph &graph, const OperatorCall &call,
                                     const OperatorRegistry &registry) {
  auto emit = [&](const char *target, std::vector<Argument> args) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), {}, call.where)
        ->result();
  };
  Value *self = call.value("self"), *index = call.value("index");
  const std::vector<Expr> shape = call.tensor("index").shape;
  if (call.tensor("self").rank() == 0)
    self = emit("aten.reshape.default", {self, Argument::List{1}});
  else
    index = emit("aten.reshape.default", {index, Argument::List{1}});
  Value *taken = emit("aten.gather.default", {self, 0, index});
  return {emit("aten.reshape.default", {taken, Argument::list(shape)})};
}

/// An index without elements takes nothing, whatever its type and rank.
std::vector<Value *> nothingGathered(Graph &graph, const OperatorCall &call,
                                     const OperatorRegistry &registry) {
  const TensorType &self = call.tensor("self"), &index = call.tensor("index");
  if (!isNothing(index) && self.rank() != index.rank())
    return gatheredFromOne(graph, call, registry);
  if (!isNothing(index))
    return {};
  return {emitCall(graph, registry, call.symbols, "aten.empty.memory_format",
                   {Argument::list(index.shape)},
                   {{"dtype", Argument(self.dtype)}, {"device", Argument(self.device)}}, call.where)
              ->result()};
}
} // namespace

void registerGatherOperators(OperatorRegistry &registry) {
  registry.add(makeOperator("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                            Operator::Kind::Gather, indexFake));
  registry.add(makeOperator(
      "aten::embedding.default(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
      "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
      Operator::Kind::Gather, embeddingFake));
  registry.add(
      makeOperator("aten::index_select.default(Tensor self, int dim, Tensor index) -> Tensor",
                   Operator::Kind::Gather, indexSelectFake));
  Operator gather = makeOperator(
      "aten::gather.default(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> "
      "Tensor",
      Operator::Kind::Gather, gatherFake);
  gather.decompose = nothingGathered;
  registry.add(std::move(gather));
}

} // namespace pellucid::graph
