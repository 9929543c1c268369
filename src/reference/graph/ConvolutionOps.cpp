// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/ConvolutionDims.h"
#include "reference/graph/Operators.h"

#include <algorithm>

namespace pellucid::reference {

namespace {

/// Calls f(output's place, kernel's place, input's place) for every term of one channel.
void forEachTerm(const graph::ConvolutionDims &dims, const std::vector<int64_t> &input,
                 const std::vector<int64_t> &output,
                 const std::function<void(std::span<const int64_t>, std::span<const int64_t>,
                                          std::span<const int64_t>)> &f) {
  // Of a transposed convolution the input's places are what the output's would be.
  const std::vector<int64_t> &from = dims.transposed ? input : output;
  const std::vector<int64_t> &within = dims.transposed ? output : input;
  Tensor::forEachIndex(from, [&](std::span<const int64_t> place) {
    std::vector<int64_t> first(place.begin(), place.end());
    Tensor::forEachIndex(dims.kernel, [&](std::span<const int64_t> tap) {
      std::vector<int64_t> at(first.size());
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] = first[d] * dims.stride[d] - dims.padding[d] + tap[d] * dims.dilation[d];
        if (at[d] < 0 || at[d] >= within[d])
          return;
      }
      dims.transposed ? f(at, tap, first) : f(first, tap, at);
    });
  });
}

std::vector<int64_t> indexOf(int64_t first, int64_t second, std::span<const int64_t> rest) {
  std::vector<int64_t> index{first, second};
  index.insert(index.end(), rest.begin(), rest.end());
  return index;
}

Results convolution(const Call &call) {
  graph::ConvolutionDims dims = graph::convolutionDims(call.bound);
  Tensor input = call.tensor("input"), weight = call.tensor("weight");
  if (dims.isSingle) {
    input.shape.insert(input.shape.begin(), 1);
    input.strides.insert(input.strides.begin(), 0);
  }
  Tensor result(call.resultDtype(), call.resultShape());
  std::vector<int64_t> shape = result.shape, strides = result.strides;
  if (dims.isSingle) {
    shape.insert(shape.begin(), 1);
    strides.insert(strides.begin(), 0);
  }
  std::vector<double> sums(static_cast<size_t>(result.numel()), 0.0);
  auto positionOf = [&](std::span<const int64_t> index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d)
      position += index[d] * strides[d];
    return static_cast<size_t>(position);
  };
  int64_t inputs = input.shape[1] / dims.groups, outputs = shape[1] / dims.groups;
  std::vector<int64_t> places(input.shape.begin() + 2, input.shape.end()),
      results(shape.begin() + 2, shape.end());
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t o = 0; o < shape[1]; ++o)
      for (int64_t c = 0; c < inputs; ++c)
        forEachTerm(dims, places, results, [&](auto to, auto tap, auto from) {
          int64_t channel = o / outputs * inputs + c;
          double factor = dims.transposed ? weight.real(indexOf(channel, o % outputs, tap))
                                          : weight.real(indexOf(o, c, tap));
          sums[positionOf(indexOf(b, o, to))] += input.real(indexOf(b, channel, from)) * factor;
        });
  const Tensor *bias = call.has("bias") ? &call.tensor("bias") : nullptr;
  Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
    int64_t channel[] = {index[1]};
    std::span<const int64_t> place = dims.isSingle ? index.subspan(1) : index;
    result.set(place, sums[positionOf(index)] + (bias ? bias->real(channel) : 0));
  });
  return {result};
}

} // namespace

void addConvolutions(Table &table) {
  for (const char *name : {"convolution", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                           "conv_transpose2d", "conv_transpose3d"})
    table[std::string("aten.") + name] = convolution;
}

} // namespace pellucid::reference
