// SPDX-License-Identifier: Apache-2.0
#include "reference/graph/Operators.h"

namespace pellucid::reference {

namespace {
/// Σ_k a[…, m, k] * b[…, k, n], batches broadcast, as unrounded values in row-major order.
struct Product {
  std::vector<int64_t> shape;
  std::vector<double> f;
  std::vector<int64_t> i;
};

std::vector<int64_t> broadcastBatch(const Tensor &a, const Tensor &b) {
  std::vector<int64_t> x(a.shape.begin(), a.shape.end() - 2), y(b.shape.begin(), b.shape.end() - 2);
  if (x.size() < y.size())
    std::swap(x, y);
  for (size_t i = 0; i < y.size(); ++i)
    if (int64_t &dim = x[x.size() - y.size() + i]; dim == 1)
      dim = y[i];
  return x;
}

Product multiply(const Tensor &a, const Tensor &b) {
  size_t ra = a.rank(), rb = b.rank();
  Product p{broadcastBatch(a, b), {}, {}};
  int64_t m = a.shape[ra - 2], k = a.shape[ra - 1], n = b.shape[rb - 1];
  std::vector<int64_t> left = p.shape, right = p.shape;
  left.insert(left.end(), {m, k});
  right.insert(right.end(), {k, n});
  p.shape.insert(p.shape.end(), {m, n});
  Tensor x = broadcast(a, left), y = broadcast(b, right);
  bool floats = isFloat(a.dtype);
  // Indices are walked by stride here, because products are where the interpreter's time goes.
  Tensor::forEachIndex(p.shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> i(index.begin(), index.end()), j = i;
    double f = 0;
    uint64_t total = 0;
    for (int64_t c = 0; c < k; ++c) {
      i.back() = c;
      j[j.size() - 2] = c;
      if (floats)
        f += x.real(i) * y.real(j);
      else
        total += static_cast<uint64_t>(x.integer(i)) * static_cast<uint64_t>(y.integer(j));
    }
    p.f.push_back(f);
    p.i.push_back(static_cast<int64_t>(total));
  });
  return p;
}

/// beta * addend + alpha * product, rounded once.
Results finish(const Call &call, const Product &p, const Tensor *addend, double beta = 1,
               double alpha = 1) {
  Tensor result(call.resultDtype(), call.resultShape());
  Tensor extra = addend ? broadcast(*addend, result.shape) : Tensor();
  size_t next = 0;
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    size_t at = next++;
    if (isFloat(result.dtype))
      result.set(index, alpha * p.f[at] + (addend && beta != 0 ? beta * extra.real(index) : 0));
    else
      result.setInteger(index,
                        static_cast<int64_t>(alpha) * p.i[at] +
                            (addend ? static_cast<int64_t>(beta) * extra.integer(index) : 0));
  });
  return {result};
}

Tensor transposed(const Tensor &t) {
  Tensor v = t;
  std::swap(v.shape[0], v.shape[1]);
  std::swap(v.strides[0], v.strides[1]);
  return v;
}

Tensor withDim(const Tensor &t, bool atEnd) {
  Tensor v = t;
  v.shape.insert(atEnd ? v.shape.end() : v.shape.begin(), 1);
  v.strides.insert(atEnd ? v.strides.end() : v.strides.begin(), 0);
  return v;
}

Results linear(const Call &call) {
  const Tensor &weight = call.tensor("weight");
  Tensor input = call.tensor("input");
  if (input.rank() == 1)
    input = withDim(input, false);
  Product p = multiply(input, weight.rank() == 2 ? transposed(weight) : withDim(weight, true));
  return finish(call, p, call.has("bias") ? &call.tensor("bias") : nullptr);
}

Results matmul(const Call &call) {
  Tensor a = call.tensor("self"), b = call.tensor("other");
  if (a.rank() == 1)
    a = withDim(a, false);
  if (b.rank() == 1)
    b = withDim(b, true);
  return finish(call, multiply(a, b), nullptr);
}

Results product(const Call &call) {
  return finish(call, multiply(call.tensor("self"), call.tensor("mat2")), nullptr);
}

Results addmm(const Call &call) {
  return finish(call, multiply(call.tensor("mat1"), call.tensor("mat2")), &call.tensor("self"),
                call.number("beta"), call.number("alpha"));
}
} // namespace

void addGemm(Table &table) {
  table["aten.linear"] = linear;
  table["aten.matmul"] = matmul;
  table["aten.mm"] = table["aten.bmm"] = product;
  table["aten.addmm"] = addmm;
}

} // namespace pellucid::reference
