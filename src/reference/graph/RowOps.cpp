// SPDX-License-Identifier: Apache-2.0
#include "graph/FakeRules.h"
#include "reference/graph/Operators.h"

#include <algorithm>
#include <cmath>

namespace pellucid::reference {

namespace {
/// Runs `f` on every line of `self` along `dim`; the result has the declared type.
Results alongDim(const Call &call, const std::function<void(std::vector<double> &)> &f) {
  Tensor self = call.tensor("self");
  // softmax(dtype=…) converts first.
  if (call.knows("dtype") && call.bound.dtype("dtype"))
    self = self.copy(*call.bound.dtype("dtype"));
  Tensor result(call.resultDtype(), self.shape);
  if (self.rank() == 0) {
    std::vector<double> line = self.reals();
    f(line);
    result.set({}, line[0]);
    return {result};
  }
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  std::vector<int64_t> outer = self.shape;
  outer[dim] = std::min<int64_t>(self.shape[dim], 1);
  Tensor::forEachIndex(outer, [&](std::span<const int64_t> start) {
    std::vector<int64_t> index(start.begin(), start.end());
    std::vector<double> line;
    for (index[dim] = 0; index[dim] < self.shape[dim]; ++index[dim])
      line.push_back(self.real(index));
    f(line);
    for (index[dim] = 0; index[dim] < self.shape[dim]; ++index[dim])
      result.set(index, line[static_cast<size_t>(index[dim])]);
  });
  return {result};
}

double largestOf(const std::vector<double> &line) {
  double largest = -HUGE_VAL;
  for (double v : line)
    largest = std::isnan(v) || v > largest ? v : largest;
  return largest;
}

void softmax(std::vector<double> &line) {
  double largest = largestOf(line), total = 0;
  for (double &v : line)
    total += v = std::exp(v - largest);
  for (double &v : line)
    v /= total;
}

void logSoftmax(std::vector<double> &line) {
  double largest = largestOf(line), total = 0;
  for (double v : line)
    total += std::exp(v - largest);
  for (double &v : line)
    v = v - largest - std::log(total);
}

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last dims; rms_norm leaves mean and
/// bias out.
Results norm(const Call &call, bool centred) {
  const Tensor &input = call.tensor("input");
  int64_t n = 1;
  for (int64_t d : call.integers("normalized_shape"))
    n *= d;
  double eps = graph::rowEpsilon(call.bound);
  std::vector<double> x = input.reals();
  std::vector<double> weight =
      call.has("weight") ? call.tensor("weight").reals() : std::vector<double>(size_t(n), 1);
  std::vector<double> bias =
      call.has("bias") ? call.tensor("bias").reals() : std::vector<double>(size_t(n), 0);
  for (size_t row = 0; n > 0 && row < x.size(); row += static_cast<size_t>(n)) {
    double mean = 0, squares = 0;
    for (int64_t k = 0; centred && k < n; ++k)
      mean += x[row + size_t(k)] / static_cast<double>(n);
    for (int64_t k = 0; k < n; ++k)
      squares += (x[row + size_t(k)] - mean) * (x[row + size_t(k)] - mean);
    double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (int64_t k = 0; k < n; ++k)
      x[row + size_t(k)] =
          (x[row + size_t(k)] - mean) * scale * weight[size_t(k)] + bias[size_t(k)];
  }
  return {Tensor::of(call.resultDtype(), input.shape, x)};
}
} // namespace

void addRows(Table &table) {
  for (const char *name : {"aten.softmax", "aten._softmax"})
    table[name] = [](const Call &call) { return alongDim(call, softmax); };
  for (const char *name : {"aten.log_softmax", "aten._log_softmax"})
    table[name] = [](const Call &call) { return alongDim(call, logSoftmax); };
  table["aten.layer_norm"] = [](const Call &call) { return norm(call, true); };
  table["aten.rms_norm"] = [](const Call &call) { return norm(call, false); };
}

} // namespace pellucid::reference
