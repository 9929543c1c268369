// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/Indices.h"
#include "reference/graph/Operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pellucid::reference {

namespace {
int64_t checkedIndex(const Call &call, int64_t index, int64_t size, bool negative) {
  if (index < (negative ? -size : 0) || index >= size)
    call.fail("index " + std::to_string(index) + " is out of range for size " +
              std::to_string(size));
  return index < 0 ? index + size : index;
}

/// result[index] = self[with the coordinate `dim` replaced by place(index)].
Results gathered(const Call &call, const Tensor &self,
                 const std::function<std::vector<int64_t>(std::span<const int64_t>)> &from) {
  Tensor result(call.resultDtype(), call.resultShape());
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    if (isFloat(self.dtype))
      result.set(index, self.real(from(index)));
    else
      result.setInteger(index, self.integer(from(index)));
  });
  return {result};
}

Results embedding(const Call &call) {
  const Tensor &weight = call.tensor("weight"), &indices = call.tensor("indices");
  return gathered(call, weight, [&](std::span<const int64_t> index) -> std::vector<int64_t> {
    int64_t row = indices.integer(index.first(indices.rank()));
    return {checkedIndex(call, row, weight.shape[0], false), index.back()};
  });
}

Results indexSelect(const Call &call) {
  const Tensor &self = call.tensor("self");
  Tensor picks = call.tensor("index").copy();
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  return gathered(call, self, [&](std::span<const int64_t> index) {
    std::vector<int64_t> from(index.begin(), index.end());
    if (!from.empty()) {
      int64_t pick = picks.rank() ? picks.integer(std::span(&from[dim], 1)) : picks.integer({});
      from[dim] = checkedIndex(call, pick, self.shape[dim], false);
    }
    return from;
  });
}

Results gather(const Call &call) {
  const Tensor &self = call.tensor("self"), &picks = call.tensor("index");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  return gathered(call, self, [&](std::span<const int64_t> index) {
    std::vector<int64_t> from(index.begin(), index.end());
    if (!from.empty())
      from[dim] = checkedIndex(call, picks.integer(index), self.shape[dim], false);
    return from;
  });
}

/// Calls f(index into `self`, index into the result) for every element that indices choose.
void forEachIndexed(
    const Call &call, const Tensor &self,
    const std::function<void(const std::vector<int64_t> &, std::span<const int64_t>)> &f) {
  graph::IndexedDims indexed = graph::indexedDims(call.bound);
  std::vector<int64_t> shape = call.evaluate(indexed.resultShape(call.bound.tensor("self")));
  std::vector<int64_t> places = call.evaluate(indexed.shape);
  std::vector<Tensor> indices;
  for (const Tensor &index : call.tensors("indices"))
    indices.push_back(broadcast(index, places));
  Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
    auto chosen = index.subspan(indexed.place, places.size());
    std::vector<int64_t> from;
    size_t plain = 0, pick = 0;
    for (size_t d = 0; d < self.rank(); ++d) {
      bool isIndexed = pick < indexed.dims.size() && indexed.dims[pick] == d;
      if (isIndexed) {
        from.push_back(checkedIndex(call, indices[pick++].integer(chosen), self.shape[d], true));
        continue;
      }
      if (plain == indexed.place)
        plain += places.size();
      from.push_back(index[plain++]);
    }
    f(from, index);
  });
}

void move(const Tensor &from, std::span<const int64_t> at, Tensor &to,
          std::span<const int64_t> place, bool adds) {
  if (isFloat(to.dtype))
    to.set(place, from.real(at) + (adds ? to.real(place) : 0));
  else
    to.setInteger(place, from.integer(at) + (adds ? to.integer(place) : 0));
}

Results index(const Call &call) {
  const Tensor &self = call.tensor("self");
  Tensor result(call.resultDtype(), call.resultShape());
  forEachIndexed(call, self, [&](const std::vector<int64_t> &from, std::span<const int64_t> to) {
    move(self, from, result, to, false);
  });
  return {result};
}

/// Where the mask, which stands for its dims from `at` on, holds.
Results maskedPut(const Call &call, const Tensor &mask, size_t at) {
  Tensor result = call.tensor("self").copy(), values = call.tensor("values");
  size_t behind = result.rank() - at - mask.rank();
  if (values.rank() > behind) {
    auto chosen = static_cast<std::ptrdiff_t>(values.rank() - behind - 1);
    values.shape.erase(values.shape.begin() + chosen);
    values.strides.erase(values.strides.begin() + chosen);
    values.shape.insert(values.shape.begin() + chosen, mask.rank(), 1);
    values.strides.insert(values.strides.begin() + chosen, mask.rank(), 0);
  }
  values = broadcast(values, result.shape);
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> place) {
    if (mask.integer(place.subspan(at, mask.rank())))
      move(values, place, result, place, call.flag("accumulate"));
  });
  return {result};
}

Results indexPut(const Call &call) {
  const graph::Argument::List &list = *call.bound.at("indices").list();
  std::vector<Tensor> indices = call.tensors("indices");
  if (indices.size() == 1 && indices[0].dtype == DataType::Bool) {
    auto place = std::find_if(list.begin(), list.end(),
                              [](const graph::Argument &index) { return index.value(); });
    return maskedPut(call, indices[0], static_cast<size_t>(place - list.begin()));
  }
  Tensor result = call.tensor("self").copy();
  graph::IndexedDims indexed = graph::indexedDims(call.bound);
  Tensor values = broadcast(call.tensor("values"),
                            call.evaluate(indexed.resultShape(call.bound.tensor("self"))));
  bool adds = call.flag("accumulate");
  forEachIndexed(call, result, [&](const std::vector<int64_t> &to, std::span<const int64_t> from) {
    move(values, from, result, to, adds);
  });
  return {result};
}

/// The number `value` everywhere, of the type of `like`.
Tensor filledLike(const Call &call, const Tensor &like, const std::vector<int64_t> &shape) {
  Tensor filled(like.dtype, shape);
  Tensor::forEachIndex(shape, [&](std::span<const int64_t> at) {
    if (isFloat(filled.dtype))
      filled.set(at, call.number("value"));
    else
      filled.setInteger(at, call.integer("value"));
  });
  return filled;
}

/// index_add, index_copy and index_fill.
Results alongIndex(const Call &call) {
  Tensor result = call.tensor("self").copy();
  Tensor picks = call.tensor("index").copy();
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  std::vector<int64_t> shape = result.shape;
  shape[dim] = picks.numel();
  bool adds = call.knows("alpha");
  Tensor source = call.knows("source") ? call.tensor("source") : filledLike(call, result, shape);
  Tensor::forEachIndex(shape, [&](std::span<const int64_t> from) {
    std::vector<int64_t> to(from.begin(), from.end());
    int64_t pick = picks.rank() ? picks.integer(std::span(&to[dim], 1)) : picks.integer({});
    to[dim] = checkedIndex(call, pick, result.shape[dim], false);
    double scale = adds ? call.number("alpha") : 1;
    if (isFloat(result.dtype))
      result.set(to, source.real(from) * scale + (adds ? result.real(to) : 0));
    else
      result.setInteger(to, source.integer(from) * static_cast<int64_t>(scale) +
                                (adds ? result.integer(to) : 0));
  });
  return {result};
}

Results scatter(const Call &call, bool adds) {
  Tensor result = call.tensor("self").copy();
  const Tensor &picks = call.tensor("index");
  Tensor source = call.knows("src") ? call.tensor("src") : filledLike(call, result, picks.shape);
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  Tensor::forEachIndex(picks.shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> to(index.begin(), index.end());
    to[dim] = checkedIndex(call, picks.integer(index), result.shape[dim], false);
    move(source, index, result, to, adds);
  });
  return {result};
}

double combined(const std::string &reduce, double old, double v) {
  if (reduce == "sum" || reduce == "mean")
    return old + v;
  if (reduce == "prod")
    return old * v;
  if (std::isnan(old) || std::isnan(v))
    return std::nan("");
  return reduce == "amax" ? std::max(old, v) : std::min(old, v);
}

int64_t combined(const std::string &reduce, int64_t old, int64_t v, bool isBool) {
  if (reduce == "amax" || reduce == "amin")
    return reduce == "amax" ? std::max(old, v) : std::min(old, v);
  uint64_t a = static_cast<uint64_t>(old), b = static_cast<uint64_t>(v);
  int64_t wrapped = static_cast<int64_t>(reduce == "prod" ? a * b : a + b);
  return isBool ? wrapped != 0 : wrapped;
}

/// What is computed for an element counts how many it is of.
Results scatterReduce(const Call &call) {
  Tensor result = call.tensor("self").copy();
  const Tensor &picks = call.tensor("index"), &source = call.tensor("src");
  std::string reduce = call.bound.string("reduce");
  size_t dim = static_cast<size_t>(call.dim("dim", result.rank()));
  bool includes = call.flag("include_self"), isBool = result.dtype == DataType::Bool;
  std::map<std::vector<int64_t>, int64_t> counts;
  Tensor::forEachIndex(picks.shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> to(index.begin(), index.end());
    if (!to.empty())
      to[dim] = checkedIndex(call, picks.integer(index), result.shape[dim], false);
    auto [count, isFirst] = counts.try_emplace(to, includes ? 1 : 0);
    bool alone = count->second++ == 0;
    if (isFloat(result.dtype))
      result.set(to, alone ? source.real(index)
                           : combined(reduce, result.real(to), source.real(index)));
    else
      result.setInteger(
          to, alone ? source.integer(index)
                    : combined(reduce, result.integer(to), source.integer(index), isBool));
  });
  if (reduce != "mean")
    return {result};
  for (const auto &[to, count] : counts)
    if (isFloat(result.dtype))
      result.set(to, result.real(to) / static_cast<double>(count));
    else
      result.setInteger(to,
                        static_cast<int64_t>(std::floor(static_cast<double>(result.integer(to)) /
                                                        static_cast<double>(count))));
  return {result};
}

/// Calls f(line start, its index with the coordinate `dim` free).
void forEachLine(const Tensor &self, size_t dim,
                 const std::function<void(std::vector<int64_t> &)> &f) {
  std::vector<int64_t> outer = self.shape;
  outer[dim] = std::min<int64_t>(self.shape[dim], 1);
  Tensor::forEachIndex(outer, [&](std::span<const int64_t> start) {
    std::vector<int64_t> at(start.begin(), start.end());
    f(at);
  });
}

Results running(const Call &call, bool sum) {
  Tensor self = call.tensor("self").copy(call.resultDtype());
  if (self.rank() == 0)
    return {self};
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Tensor result(self.dtype, self.shape);
  forEachLine(self, dim, [&](std::vector<int64_t> &at) {
    double real = sum ? 0 : 1;
    uint64_t integer = sum ? 0 : 1;
    for (at[dim] = 0; at[dim] < self.shape[dim]; ++at[dim])
      if (isFloat(self.dtype)) {
        real = sum ? real + self.real(at) : real * self.real(at);
        result.set(at, real);
      } else {
        uint64_t element = static_cast<uint64_t>(self.integer(at));
        integer = sum ? integer + element : integer * element;
        result.setInteger(at, static_cast<int64_t>(integer));
      }
  });
  return {result};
}

/// The largest or smallest of each line so far and where it last stood; NaN above all.
Results runningExtreme(const Call &call, bool largest) {
  Tensor self = call.tensor("self");
  Tensor values(self.dtype, self.shape), places(DataType::Int64, self.shape);
  if (self.rank() == 0)
    return {self.copy(), places};
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  forEachLine(self, dim, [&](std::vector<int64_t> &at) {
    std::vector<int64_t> best = at;
    best[dim] = 0;
    for (at[dim] = 0; at[dim] < self.shape[dim]; ++at[dim]) {
      bool wins = isFloat(self.dtype)
                      ? std::isnan(self.real(at)) || (largest ? self.real(at) >= self.real(best)
                                                              : self.real(at) <= self.real(best))
                  : largest ? self.integer(at) >= self.integer(best)
                            : self.integer(at) <= self.integer(best);
      if (wins)
        best[dim] = at[dim];
      move(self, best, values, at, false);
      places.setInteger(at, best[dim]);
    }
  });
  return {values, places};
}

/// The first elements in order, stable, NaN the largest, and where they stood: `shape` says how
/// many.
Results sorted(const Call &call, const char *descending, const std::vector<int64_t> &shape) {
  Tensor self = call.tensor("self");
  if (self.rank() == 0)
    return {self.copy(), Tensor(DataType::Int64, {})};
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  Tensor values(self.dtype, shape), places(DataType::Int64, shape);
  bool down = call.flag(descending);
  forEachLine(self, dim, [&](std::vector<int64_t> &at) {
    auto element = [&](int64_t k) {
      at[dim] = k;
      return self.real(at);
    };
    std::vector<int64_t> order(static_cast<size_t>(self.shape[dim]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      double x = element(down ? b : a), y = element(down ? a : b);
      return x < y || (std::isnan(y) && !std::isnan(x));
    });
    for (int64_t k = 0; k < values.shape[dim]; ++k) {
      std::vector<int64_t> from = at, to = at;
      from[dim] = order[static_cast<size_t>(k)];
      to[dim] = k;
      move(self, from, values, to, false);
      places.setInteger(to, from[dim]);
    }
  });
  return {values, places};
}
/// The largest or smallest of each line and where it first stands; the first NaN where there is
/// one.
Results extreme(const Call &call, bool largest) {
  Tensor self = call.tensor("self");
  Tensor values(self.dtype, call.resultShape(0)), places(DataType::Int64, call.resultShape(1));
  if (self.rank() == 0)
    return {self.copy(), places};
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  bool keeps = call.flag("keepdim");
  forEachLine(self, dim, [&](std::vector<int64_t> &at) {
    int64_t best = 0;
    double found = 0;
    for (at[dim] = 0; at[dim] < self.shape[dim]; ++at[dim]) {
      double v = self.real(at);
      bool better = largest ? v > found : v < found;
      if (at[dim] == 0 || (!std::isnan(found) && (better || std::isnan(v))))
        found = v, best = at[dim];
    }
    std::vector<int64_t> to = at, from = at;
    from[dim] = best;
    if (keeps)
      to[dim] = 0;
    else
      to.erase(to.begin() + static_cast<long>(dim));
    move(self, from, values, to, false);
    places.setInteger(to, best);
  });
  return {values, places};
}
} // namespace

void addGathers(Table &table) {
  table["aten.embedding"] = embedding;
  table["aten.index_select"] = indexSelect;
  table["aten.gather"] = gather;
  table["aten.index"] = index;
}

void addScatters(Table &table) {
  table["aten.index_put"] = indexPut;
  table["aten.scatter"] = [](const Call &call) { return scatter(call, false); };
  table["aten.index_add"] = table["aten.index_copy"] = table["aten.index_fill"] = alongIndex;
  table["aten.scatter_reduce"] = scatterReduce;
  table["aten.scatter_add"] = [](const Call &call) { return scatter(call, true); };
}

void addLines(Table &table) {
  table["aten.cumsum"] = [](const Call &call) { return running(call, true); };
  table["aten.cumprod"] = [](const Call &call) { return running(call, false); };
  table["aten.cummax"] = [](const Call &call) { return runningExtreme(call, true); };
  table["aten.cummin"] = [](const Call &call) { return runningExtreme(call, false); };
  table["aten.sort"] = [](const Call &call) {
    return sorted(call, "descending", call.resultShape());
  };
  table["aten.argsort"] = [](const Call &call) {
    return Results{sorted(call, "descending", call.resultShape())[1]};
  };
  table["aten.max.dim"] = [](const Call &call) { return extreme(call, true); };
  table["aten.min.dim"] = [](const Call &call) { return extreme(call, false); };
  table["aten.topk"] = [](const Call &call) { return sorted(call, "largest", call.resultShape()); };
}

} // namespace pellucid::reference
