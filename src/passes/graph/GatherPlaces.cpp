// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/GatherPlaces.h"

#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

std::vector<Expr> keptStrides(const TensorType &type, const IndexedDims &indexed, size_t rank) {
  std::vector<Expr> strides;
  for (size_t d = 0; d < type.rank(); ++d)
    if (std::find(indexed.dims.begin(), indexed.dims.end(), d) == indexed.dims.end())
      strides.push_back(type.strides[d]);
  strides.insert(strides.begin() + static_cast<long>(indexed.place), rank - strides.size(),
                 Expr(0));
  return strides;
}

std::vector<TextIndex> placesOf(const OperatorCall &call, const IndexedDims &indexed,
                                const TensorType &type, const std::vector<Expr> &shape,
                                std::vector<Value *> &inputs) {
  std::vector<TextIndex> places;
  const Argument::List &list = *call.at("indices").list();
  for (size_t d : indexed.dims) {
    Value *index = list[d].value();
    TextIndex place;
    TextOperand local = broadcastOperand(index->type(), indexed.shape, call.symbols);
    place.operand.dtype = local.dtype;
    place.operand.strides.assign(shape.size(), Expr(0));
    std::copy(local.strides.begin(), local.strides.end(),
              place.operand.strides.begin() + static_cast<long>(indexed.place));
    place.along = type.strides[d];
    place.size = type.shape[d];
    place.wraps = true;
    places.push_back(std::move(place));
    inputs.push_back(index);
  }
  return places;
}

TextIndex placeAlong(const Value *index, std::vector<Expr> strides, const TensorType &type,
                     size_t dim) {
  return {{index->type().dtype, std::move(strides), 0}, type.strides[dim], type.shape[dim], false};
}

namespace {

void describeEmbedding(GatherSpec &spec, const OperatorCall &call, size_t rank,
                       std::vector<Value *> &inputs) {
  Value *index = call.value("indices");
  const TensorType &weight = call.tensor("weight");
  std::vector<Expr> strides = index->type().strides;
  strides.resize(rank, Expr(0));
  spec.places = {placeAlong(index, std::move(strides), weight, 0)};
  spec.table.strides.assign(rank, Expr(0));
  spec.table.strides.back() = weight.strides[1];
  inputs = {index, call.value("weight")};
}

void describeAlong(GatherSpec &spec, const OperatorCall &call, size_t rank,
                   std::vector<Value *> &inputs) {
  Value *index = call.value("index");
  const TensorType &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  std::vector<Expr> strides = index->type().strides;
  if (call.op.schema.name == "index_select") {
    strides.assign(rank, Expr(0));
    if (rank)
      strides[dim] = index->type().rank() ? index->type().strides[0] : Expr(0);
  }
  spec.table.strides = self.strides;
  if (rank) {
    spec.table.strides[dim] = 0;
    spec.places = {placeAlong(index, std::move(strides), self, dim)};
  } else {
    // Without dims there is one element.
    spec.places = {{{index->type().dtype, {}, 0}, 1, 1, false}};
  }
  inputs = {index, call.value("self")};
}

void describeIndex(GatherSpec &spec, const OperatorCall &call, std::vector<Value *> &inputs) {
  const TensorType &self = call.tensor("self");
  IndexedDims indexed = indexedDims(call);
  spec.places = placesOf(call, indexed, self, spec.shape, inputs);
  spec.table.strides = keptStrides(self, indexed, spec.shape.size());
  inputs.push_back(call.value("self"));
}

} // namespace

std::optional<GatherSpec> gatherOf(const Node &node, const OperatorRegistry &registry,
                                   const SymbolTable &symbols, std::vector<Value *> &inputs) {
  auto given = callOf(node, registry, symbols);
  const OperatorCall &call = *given;
  const TensorType &result = node.result()->type();
  const std::string &name = call.op.schema.name;
  GatherSpec spec;
  spec.operation = node.target();
  spec.where = node.location;
  spec.shape = result.shape;
  spec.output = {result.dtype, result.strides, 0};
  spec.table.dtype = result.dtype;
  if (name == "embedding")
    describeEmbedding(spec, call, result.rank(), inputs);
  else if (name == "index_select" || name == "gather")
    describeAlong(spec, call, result.rank(), inputs);
  else if (name == "index")
    describeIndex(spec, call, inputs);
  else
    return std::nullopt;
  return spec;
}

} // namespace pellucid::passes
