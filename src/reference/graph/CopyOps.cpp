// SPDX-License-Identifier: Apache-2.0
/// Copies, factories and gathers.
#include "reference/graph/Operators.h"

#include <algorithm>

namespace pellucid::reference {

namespace {
Results clone(const Call &call) { return {call.tensor("self").copy()}; }

void copyInto(Tensor &target, const Tensor &source) {
  Tensor from = broadcast(source, target.shape);
  bool integers = !isFloat(from.dtype) && !isFloat(target.dtype);
  Tensor::forEachIndex(target.shape, [&](std::span<const int64_t> index) {
    if (integers)
      target.setInteger(index, from.integer(index));
    else
      target.set(index, from.real(index));
  });
}

Results joined(const Call &call, bool stacked) {
  std::vector<Tensor> parts = call.tensors("tensors");
  Tensor result(call.resultDtype(), call.resultShape());
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  int64_t start = 0;
  for (Tensor part : parts) {
    // Nothing, which counts for none of the ranks.
    if (!stacked && part.rank() != result.rank())
      continue;
    if (stacked) {
      part.shape.insert(part.shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
      part.strides.insert(part.strides.begin() + static_cast<std::ptrdiff_t>(dim), 0);
    }
    Tensor place = result;
    place.offset += start * result.strides[dim];
    place.shape[dim] = part.shape[dim];
    copyInto(place, part);
    start += part.shape[dim];
  }
  return {result};
}

Results assertion(const Call &call) {
  const Tensor &self = call.tensor("self");
  Tensor::forEachIndex(self.shape, [&](std::span<const int64_t> index) {
    if (self.real(index) == 0)
      call.fail(call.knows("assert_msg") ? call.string("assert_msg") : "assertion error");
  });
  return {};
}

Results copy(const Call &call) {
  Tensor result = call.tensor("self").copy();
  copyInto(result, call.tensor("src"));
  return {result};
}

/// The whole storage with the part at the given places replaced.
Results asStridedScatter(const Call &call) {
  const Tensor &self = call.tensor("self");
  Tensor result = self;
  result.storage = std::make_shared<std::vector<uint8_t>>(*self.storage);
  int64_t offset = call.has("storage_offset") ? call.integer("storage_offset") : self.offset;
  Tensor place = result.view(call.integers("size"), call.integers("stride"), offset);
  copyInto(place, call.tensor("src"));
  return {result};
}

Results sliceScatter(const Call &call) {
  Tensor result = call.tensor("self").copy();
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  int64_t size = result.shape[dim], step = call.integer("step");
  auto clamped = [&](std::string_view name, int64_t fallback) {
    int64_t i = call.has(name) ? call.integer(name) : fallback;
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  int64_t start = clamped("start", 0), end = clamped("end", size);
  Tensor place = result;
  place.offset += start * result.strides[dim];
  place.shape[dim] = std::max<int64_t>(0, (end - start + step - 1) / step);
  place.strides[dim] *= step;
  copyInto(place, call.tensor("src"));
  return {result};
}

Results selectScatter(const Call &call) {
  Tensor result = call.tensor("self").copy();
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  int64_t index = call.integer("index");
  Tensor place = result;
  place.offset += (index < 0 ? index + result.shape[dim] : index) * result.strides[dim];
  place.shape.erase(place.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  place.strides.erase(place.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  copyInto(place, call.tensor("src"));
  return {result};
}

Results repeat(const Call &call) {
  const Tensor &self = call.tensor("self");
  Tensor result(self.dtype, call.resultShape());
  size_t added = result.rank() - self.rank();
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> from;
    for (size_t i = added; i < index.size(); ++i)
      from.push_back(index[i] % self.shape[i - added]);
    if (isFloat(self.dtype))
      result.set(index, self.real(from));
    else
      result.setInteger(index, self.integer(from));
  });
  return {result};
}

/// The argument `name`, or a constant where `name` is empty, everywhere.
Handler filled(std::string name, int64_t constant) {
  return [name, constant](const Call &call) -> Results {
    Tensor result(call.resultDtype(), call.resultShape());
    bool whole = name.empty() || call.bound.at(name).integer();
    int64_t i = name.empty() ? constant : whole ? call.integer(name) : 0;
    double f = whole ? static_cast<double>(i) : call.number(name);
    Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
      if (whole)
        result.setInteger(index, i);
      else
        result.set(index, f);
    });
    return {result};
  };
}

Results arange(const Call &call) {
  Tensor result(call.resultDtype(), call.resultShape());
  auto number = [&](std::string_view name, double fallback) {
    if (!call.knows(name))
      return fallback;
    return call.bound.at(name).integer() ? static_cast<double>(call.integer(name))
                                         : call.number(name);
  };
  double start = number("start", 0), step = number("step", 1);
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    result.set(index, start + static_cast<double>(index[0]) * step);
  });
  return {result};
}

} // namespace

void addCopies(Table &table) {
  table["aten.clone"] = table["aten.contiguous"] = clone;
  table["aten.cat"] = [](const Call &call) { return joined(call, false); };
  table["aten.stack"] = [](const Call &call) { return joined(call, true); };
  table["aten.copy"] = copy;
  table["aten._assert_async"] = assertion;
  table["aten.as_strided_scatter"] = asStridedScatter;
  table["aten.slice_scatter"] = sliceScatter;
  table["aten.select_scatter"] = selectScatter;
  table["aten.repeat"] = repeat;
}

void addFactories(Table &table) {
  // Uninitialised memory reads as zero here.
  for (const char *name :
       {"empty", "empty_strided", "empty_like", "new_empty", "zeros", "zeros_like", "new_zeros"})
    table["aten." + std::string(name)] = filled("", 0);
  for (const char *name : {"ones", "ones_like", "new_ones"})
    table["aten." + std::string(name)] = filled("", 1);
  for (const char *name : {"full", "full_like", "new_full"})
    table["aten." + std::string(name)] = filled("fill_value", 0);
  table["aten.fill"] = filled("value", 0);
  table["aten.scalar_tensor"] = filled("s", 0);
  table["aten.arange"] = arange;
}

} // namespace pellucid::reference
