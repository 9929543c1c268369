// SPDX-License-Identifier: Apache-2.0
/// Views share the storage of their operand; the interpreter brings the result to its declared
/// strides.
#include "reference/graph/Operators.h"

#include <algorithm>

namespace pellucid::reference {

namespace {
using Dims = std::vector<int64_t>;

Results permuted(const Tensor &self, const Dims &order) {
  Tensor v = self;
  for (size_t i = 0; i < order.size(); ++i) {
    v.shape[i] = self.shape[static_cast<size_t>(order[i])];
    v.strides[i] = self.strides[static_cast<size_t>(order[i])];
  }
  return {v};
}

Dims identityOrder(size_t rank) {
  Dims order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = static_cast<int64_t>(i);
  return order;
}

Results permute(const Call &call) {
  const Tensor &self = call.tensor("self");
  Dims order = call.integers("dims");
  for (int64_t &d : order)
    d = wrappedDim(d, self.rank());
  return permuted(self, order);
}

Results transpose(const Call &call) {
  const Tensor &self = call.tensor("self");
  Dims order = identityOrder(self.rank());
  if (self.rank())
    std::swap(order[static_cast<size_t>(call.dim("dim0", self.rank()))],
              order[static_cast<size_t>(call.dim("dim1", self.rank()))]);
  return permuted(self, order);
}

Results t(const Call &call) {
  const Tensor &self = call.tensor("self");
  return self.rank() == 2 ? permuted(self, {1, 0}) : Results{self};
}

/// The same elements in row-major order under the declared shape.
Results reshape(const Call &call) {
  Tensor result = call.tensor("self").copy();
  Tensor shaped(result.dtype, call.resultShape());
  if (shaped.numel() != result.numel())
    call.fail("has " + std::to_string(result.numel()) + " elements for a shape of " +
              std::to_string(shaped.numel()));
  shaped.storage = result.storage;
  return {shaped};
}

Results expand(const Call &call) { return {broadcast(call.tensor("self"), call.resultShape())}; }

Results unsqueeze(const Call &call) {
  Tensor v = call.tensor("self");
  std::ptrdiff_t dim = static_cast<std::ptrdiff_t>(call.dim("dim", v.rank() + 1));
  v.shape.insert(v.shape.begin() + dim, 1);
  v.strides.insert(v.strides.begin() + dim, 0);
  return {v};
}

Results squeeze(const Call &call) {
  const Tensor &self = call.tensor("self");
  Dims dims = identityOrder(self.rank());
  if (call.knows("dim"))
    dims = call.bound.at("dim").list() ? call.integers("dim") : Dims{call.integer("dim")};
  for (int64_t &d : dims)
    d = wrappedDim(d, self.rank());
  Tensor v = self;
  v.shape.clear();
  v.strides.clear();
  for (size_t i = 0; i < self.rank(); ++i)
    if (self.shape[i] != 1 ||
        std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) == dims.end()) {
      v.shape.push_back(self.shape[i]);
      v.strides.push_back(self.strides[i]);
    }
  return {v};
}

Tensor section(const Tensor &self, size_t dim, int64_t start, int64_t length, int64_t step = 1) {
  Tensor v = self;
  v.offset += start * self.strides[dim];
  v.shape[dim] = length;
  v.strides[dim] *= step;
  return v;
}

Results slice(const Call &call) {
  const Tensor &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  int64_t size = self.shape[dim], step = call.integer("step");
  auto clamped = [&](std::string_view name, int64_t fallback) {
    int64_t i = call.has(name) ? call.integer(name) : fallback;
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  int64_t start = clamped("start", 0), end = clamped("end", size);
  return {section(self, dim, start, std::max<int64_t>(0, (end - start + step - 1) / step), step)};
}

Results narrow(const Call &call) {
  const Tensor &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  int64_t start = call.integer("start");
  return {section(self, dim, start < 0 ? start + self.shape[dim] : start, call.integer("length"))};
}

Tensor chosen(const Tensor &self, size_t dim, int64_t index) {
  Tensor v = section(self, dim, index < 0 ? index + self.shape[dim] : index, 1);
  v.shape.erase(v.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  v.strides.erase(v.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  return v;
}

Results select(const Call &call) {
  const Tensor &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  int64_t index = call.integer("index");
  if (index < -self.shape[dim] || index >= self.shape[dim])
    call.fail("index " + std::to_string(index) + " is out of range for size " +
              std::to_string(self.shape[dim]));
  return {chosen(self, dim, index)};
}

Results unbind(const Call &call) {
  const Tensor &self = call.tensor("self");
  Results results;
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  for (int64_t i = 0; i < self.shape[dim]; ++i)
    results.push_back(chosen(self, dim, i));
  return results;
}

Results cut(const Call &call, const std::function<int64_t(size_t, int64_t)> &sizeOf) {
  const Tensor &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Results results;
  int64_t start = 0, size = self.shape[dim];
  do {
    int64_t length = std::min(sizeOf(results.size(), size), size - start);
    results.push_back(section(self, dim, start, length));
    start += length;
  } while (start < size);
  return results;
}

Results split(const Call &call) {
  int64_t size = call.integer("split_size");
  return cut(call, [&](size_t, int64_t) { return size; });
}

Results chunk(const Call &call) {
  int64_t chunks = call.integer("chunks");
  return cut(call, [&](size_t, int64_t size) { return (size + chunks - 1) / chunks; });
}

Results splitWithSizes(const Call &call) {
  const Tensor &self = call.tensor("self");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Results results;
  int64_t start = 0;
  for (int64_t size : call.integers("split_sizes")) {
    results.push_back(section(self, dim, start, size));
    start += size;
  }
  return results;
}

Results asStrided(const Call &call) {
  const Tensor &self = call.tensor("self");
  int64_t offset = call.has("storage_offset") ? call.integer("storage_offset") : self.offset;
  return {self.view(call.integers("size"), call.integers("stride"), offset)};
}

Results identity(const Call &call) { return {call.tensor("self")}; }
} // namespace

void addViews(Table &table) {
  for (const char *name :
       {"aten.view", "aten.reshape", "aten.flatten", "aten.unflatten", "aten.view_as"})
    table[name] = reshape;
  table["aten.permute"] = permute;
  table["aten.transpose"] = transpose;
  table["aten.t"] = t;
  table["aten.expand"] = table["aten.expand_as"] = expand;
  table["aten.unsqueeze"] = unsqueeze;
  table["aten.squeeze"] = squeeze;
  table["aten.slice"] = slice;
  table["aten.narrow"] = narrow;
  table["aten.select"] = select;
  table["aten.unbind"] = unbind;
  table["aten.split"] = split;
  table["aten.chunk"] = chunk;
  table["aten.split_with_sizes"] = splitWithSizes;
  table["aten.as_strided"] = asStrided;
  table["aten.alias"] = table["aten.detach"] = identity;
}

} // namespace pellucid::reference
