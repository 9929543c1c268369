// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveWeights.h"

#include "support/Diagnostics.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace pellucid::trace {

using namespace graph;

bool isRowMajor(const archive::Tensor &tensor) {
  int64_t expected = 1;
  for (size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != expected)
      return false;
    expected *= tensor.sizes[d];
  }
  return true;
}

Weight weightAt(const archive::Tensor &tensor, std::vector<int64_t> shape) {
  Weight weight;
  weight.dtype = tensor.dtype;
  weight.shape = std::move(shape);
  int64_t count = 1;
  for (int64_t size : weight.shape)
    count *= size;
  uint64_t element = byteSize(tensor.dtype);
  weight.bytes = static_cast<uint64_t>(count) * element;
  if (weight.bytes)
    weight.data = {tensor.storage,
                   tensor.storage.get() + static_cast<uint64_t>(tensor.offset) * element};
  else
    weight.data = std::make_shared<const std::byte>();
  return weight;
}

std::optional<std::vector<size_t>> denseOrder(const archive::Tensor &tensor) {
  std::vector<size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return tensor.strides[a] > tensor.strides[b]; });
  // Dims of one element may have any stride; they stay where they are when all others are in
  // order.
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t size = tensor.sizes[order[i]];
    if (size != 1 && tensor.strides[order[i]] != expected)
      return std::nullopt;
    expected *= size;
  }
  return order;
}

const archive::Tensor &tensorOf(const archive::Archive &archive, const archive::Input &input) {
  bool isConstant = input.kind == archive::Input::Kind::TensorConstant ||
                    (input.kind == archive::Input::Kind::Buffer && !input.persistent);
  for (const auto *table : isConstant ? std::array{&archive.constants, &archive.weights}
                                      : std::array{&archive.weights, &archive.constants})
    if (auto entry = table->find(input.name); entry != table->end())
      return entry->second;
  throw DiagnosticError(
      SourceLocation(archive.path),
      "holds no plain tensor '" + input.name +
          "', which its graph takes; tensor subclasses are saved as pickles, which are not read");
}

} // namespace pellucid::trace
