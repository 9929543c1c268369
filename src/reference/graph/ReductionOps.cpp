// SPDX-License-Identifier: Apache-2.0
#include "reference/graph/Operators.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pellucid::reference {

namespace {
/// The elements of one reduced group, in row-major order.
struct Group {
  std::vector<double> f;
  std::vector<int64_t> i;
};

/// A value of a reduction: `f` for floating results, `i` else.
struct Value {
  double f;
  int64_t i;
};
using Reduce = std::function<Value(const Call &, const Group &)>;

std::vector<bool> reducedMask(const Call &call, size_t rank) {
  std::vector<int64_t> dims;
  if (call.has("dim"))
    dims = call.bound.at("dim").list() ? call.integers("dim")
                                       : std::vector<int64_t>{call.integer("dim")};
  std::vector<bool> mask(rank, dims.empty());
  for (int64_t d : dims)
    if (rank)
      mask[static_cast<size_t>(wrappedDim(d, rank))] = true;
  return mask;
}

/// For every index of the dims that stay, the group of all indices of the dims that go.
Results reduced(const Call &call, const Reduce &reduce) {
  const Tensor &self = call.tensor("self");
  std::vector<bool> mask = reducedMask(call, self.rank());
  std::vector<int64_t> kept, gone;
  for (size_t i = 0; i < self.rank(); ++i) {
    kept.push_back(mask[i] ? 1 : self.shape[i]);
    gone.push_back(mask[i] ? self.shape[i] : 1);
  }
  DataType in =
      call.knows("dtype") && call.bound.dtype("dtype") ? *call.bound.dtype("dtype") : self.dtype;
  Tensor converted = self.copy(in), result(call.resultDtype(), kept);
  Tensor::forEachIndex(kept, [&](std::span<const int64_t> outer) {
    Group group;
    std::vector<int64_t> index(outer.begin(), outer.end());
    Tensor::forEachIndex(gone, [&](std::span<const int64_t> inner) {
      for (size_t i = 0; i < index.size(); ++i)
        index[i] = outer[i] + inner[i];
      group.f.push_back(converted.real(index));
      group.i.push_back(isFloat(in) ? 0 : converted.integer(index));
    });
    Value value = reduce(call, group);
    if (isFloat(result.dtype))
      result.set(outer, value.f);
    else
      result.setInteger(outer, isFloat(in) && result.dtype == self.dtype
                                   ? static_cast<int64_t>(value.f)
                                   : value.i);
  });
  std::vector<int64_t> shape = call.resultShape();
  Tensor out(result.dtype, shape);
  out.storage = result.storage;
  return {out};
}

Value sum(const Call &, const Group &g) {
  uint64_t total = 0;
  for (int64_t v : g.i)
    total += static_cast<uint64_t>(v);
  return {std::accumulate(g.f.begin(), g.f.end(), 0.0), static_cast<int64_t>(total)};
}

Value mean(const Call &call, const Group &g) {
  return {sum(call, g).f / static_cast<double>(g.f.size()), 0};
}

Value product(const Call &, const Group &g) {
  double f = 1;
  uint64_t i = 1;
  for (size_t k = 0; k < g.f.size(); ++k) {
    f *= g.f[k];
    i *= static_cast<uint64_t>(g.i[k]);
  }
  return {f, static_cast<int64_t>(i)};
}

/// The first largest (or smallest) element; NaN is both.
size_t extremeIndex(const Group &g, double direction) {
  size_t best = 0;
  for (size_t k = 1; k < g.f.size(); ++k) {
    if (std::isnan(g.f[best]))
      break;
    bool integers = g.i[k] != 0 || g.i[best] != 0;
    bool better = integers ? (direction > 0 ? g.i[k] > g.i[best] : g.i[k] < g.i[best])
                           : std::isnan(g.f[k]) || direction * g.f[k] > direction * g.f[best];
    if (better)
      best = k;
  }
  return best;
}

Reduce extreme(double direction) {
  return [direction](const Call &, const Group &g) {
    size_t k = extremeIndex(g, direction);
    return Value{g.f[k], g.i[k]};
  };
}

Reduce extremePlace(double direction) {
  return [direction](const Call &, const Group &g) {
    return Value{0, static_cast<int64_t>(extremeIndex(g, direction))};
  };
}

Reduce truth(bool all) {
  return [all](const Call &, const Group &g) {
    for (double v : g.f)
      if ((v != 0) != all)
        return Value{0, !all};
    return Value{0, all};
  };
}

Value variance(const Call &call, const Group &g) {
  double n = static_cast<double>(g.f.size()), m = mean(call, g).f, squares = 0;
  for (double v : g.f)
    squares += (v - m) * (v - m);
  double correction = call.has("correction") ? call.number("correction") : 1;
  return {squares / std::max(n - correction, 0.0), 0};
}

Value logSumExp(const Call &, const Group &g) {
  double most = -HUGE_VAL, total = 0;
  for (double v : g.f)
    most = std::max(most, v);
  double base = std::isinf(most) ? 0 : most;
  for (double v : g.f)
    total += std::exp(v - base);
  return {std::log(total) + base, 0};
}

Value deviation(const Call &call, const Group &g) { return {std::sqrt(variance(call, g).f), 0}; }
} // namespace

void addReductions(Table &table) {
  const std::pair<const char *, Reduce> rows[] = {
      {"aten.sum", sum},
      {"aten.mean", mean},
      {"aten.prod", product},
      {"aten.amax", extreme(1)},
      {"aten.amin", extreme(-1)},
      {"aten.max", extreme(1)},
      {"aten.min", extreme(-1)},
      {"aten.argmax", extremePlace(1)},
      {"aten.argmin", extremePlace(-1)},
      {"aten.any", truth(false)},
      {"aten.all", truth(true)},
      {"aten.var", variance},
      {"aten.std", deviation},
      {"aten.logsumexp", logSumExp},
  };
  for (const auto &[name, reduce] : rows)
    table[name] = [reduce](const Call &call) { return reduced(call, reduce); };
}

} // namespace pellucid::reference
