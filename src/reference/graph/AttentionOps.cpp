// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/AttentionDims.h"
#include "reference/graph/Operators.h"

#include <algorithm>
#include <cmath>

namespace pellucid::reference {

namespace {

/// `tensor` with each head as often as heads of the query share it, its batch broadcast.
Tensor withHeads(Tensor tensor, int64_t group, std::vector<int64_t> batch) {
  if (group != 1) {
    std::vector<int64_t> shape = tensor.shape;
    shape[tensor.rank() - 3] *= group;
    Tensor spread(tensor.dtype, shape);
    Tensor::forEachIndex(spread.shape, [&](std::span<const int64_t> index) {
      std::vector<int64_t> from(index.begin(), index.end());
      from[from.size() - 3] /= group;
      spread.set(index, tensor.real(from));
    });
    tensor = spread;
  }
  batch.insert(batch.end(), tensor.shape.end() - 2, tensor.shape.end());
  return broadcast(tensor, batch);
}

/// One row of scores becomes weights; returns the logarithm of the sum of their exponentials.
double softmaxOrZeros(std::vector<double> &scores) {
  double top = -HUGE_VAL, total = 0;
  for (double s : scores)
    top = std::isnan(s) || s > top ? s : top;
  bool nothing = std::all_of(scores.begin(), scores.end(), [](double s) { return s == -HUGE_VAL; });
  if (nothing) {
    std::fill(scores.begin(), scores.end(), 0.0);
    return 0;
  }
  for (double &s : scores)
    total += s = std::exp(s - top);
  for (double &s : scores)
    s /= total;
  return top + std::log(total);
}

Results attention(const Call &call) {
  graph::AttentionDims dims = graph::attentionDims(call.bound);
  std::vector<int64_t> batch = call.evaluate(dims.batch);
  int64_t keys = call.evaluate(dims.keys), width = call.evaluate(dims.width);
  Tensor query = withHeads(call.tensor("query"), 1, batch);
  Tensor key = withHeads(call.tensor("key"), call.evaluate(dims.keyGroup), batch);
  Tensor value = withHeads(call.tensor("value"), call.evaluate(dims.valueGroup), batch);
  double scale = graph::attentionScale(call.bound, dims)
                     .value_or(width ? 1 / std::sqrt(static_cast<double>(width)) : 1);
  std::vector<int64_t> rows = batch;
  rows.push_back(call.evaluate(dims.queries));
  Tensor mask;
  const std::string &maskName = call.bound.op.attention.mask;
  bool hasMask = graph::attentionMask(call.bound);
  if (hasMask) {
    std::vector<int64_t> shape = rows;
    shape.push_back(keys);
    mask = broadcast(call.tensor(maskName), shape);
  }
  if (call.number("dropout_p") != 0)
    call.fail("drops weights, which have numbers of their own once the program is decomposed");
  Tensor result(call.resultDtype(), call.resultShape());
  Tensor logsumexp(call.bound.op.attention.logsumexp ? call.resultDtype(1) : DataType::Float32,
                   rows);
  Tensor::forEachIndex(rows, [&](std::span<const int64_t> row) {
    std::vector<int64_t> at(row.begin(), row.end()), other = at;
    at.push_back(0);
    other.push_back(0);
    std::vector<double> scores;
    for (int64_t k = 0; k < keys; ++k) {
      other[other.size() - 2] = k;
      double sum = 0;
      for (int64_t c = 0; c < width; ++c) {
        at.back() = other.back() = c;
        sum += query.real(at) * key.real(other);
      }
      sum *= scale;
      at.back() = k;
      if (call.flag("is_causal") && k > row.back())
        sum = -HUGE_VAL;
      if (hasMask && mask.dtype == DataType::Bool)
        sum += mask.integer(at) ? 0 : -HUGE_VAL;
      else if (hasMask)
        sum += mask.real(at);
      scores.push_back(sum);
    }
    logsumexp.set(row, softmaxOrZeros(scores));
    for (int64_t c = 0; c < value.shape.back(); ++c) {
      double sum = 0;
      at.back() = other.back() = c;
      for (int64_t k = 0; k < keys; ++k) {
        other[other.size() - 2] = k;
        sum += scores[static_cast<size_t>(k)] * value.real(other);
      }
      result.set(at, sum);
    }
  });
  Results results{result};
  if (call.bound.op.attention.logsumexp)
    results.push_back(logsumexp);
  return results;
}

} // namespace

void addAttention(Table &table) {
  table["aten.scaled_dot_product_attention"] = attention;
  table["aten._scaled_dot_product_flash_attention_for_cpu"] = attention;
}

} // namespace pellucid::reference
