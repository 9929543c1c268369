// SPDX-License-Identifier: Apache-2.0
#include "RandomInputs.h"

#include <algorithm>
#include <cstring>

namespace pellucid::cli {

static void fillRandom(Array &array, std::mt19937 &random) {
  size_t count = static_cast<size_t>(array.numel()), size = byteSize(array.dtype);
  std::uniform_real_distribution<double> reals(-2, 2);
  for (size_t i = 0; i < count; ++i) {
    char *at = array.bytes->data() + i * size;
    double real = reals(random);
    float single = static_cast<float>(real);
    _Float16 half = static_cast<_Float16>(real);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    uint16_t upper = static_cast<uint16_t>(bits >> 16);
    switch (array.dtype) {
    case DataType::Float64:
      std::memcpy(at, &real, size);
      break;
    case DataType::Float32:
      std::memcpy(at, &single, size);
      break;
    case DataType::Float16:
      std::memcpy(at, &half, size);
      break;
    case DataType::BFloat16:
      std::memcpy(at, &upper, size);
      break;
    default:
      // Small enough to be an index into anything.
      at[0] = static_cast<char>(random() % 2);
    }
  }
}

std::vector<Array> randomInputs(const graph::Program &program,
                                const std::map<std::string, int64_t> &sizes, std::mt19937 &random) {
  std::vector<Array> arrays;
  size_t position = 0;
  for (const graph::Node *node : program.main.placeholders()) {
    const graph::InputSpec &spec = program.inputs[position++];
    if (spec.kind != graph::InputSpec::Kind::UserInput || !node->resultCount() ||
        !node->result()->isTensor())
      continue;
    const graph::TensorType &type = node->result()->type();
    std::vector<int64_t> shape, strides;
    int64_t elements = 1;
    for (size_t d = 0; d < type.rank(); ++d) {
      shape.push_back(symbolic::evaluate(type.shape[d], sizes).value_or(1));
      strides.push_back(symbolic::evaluate(type.strides[d], sizes).value_or(1));
      elements += (shape.back() - 1) * strides.back();
    }
    bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    Array array = makeArray(type.dtype, {empty ? 0 : elements});
    fillRandom(array, random);
    array.shape = shape;
    array.strides = strides;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

} // namespace pellucid::cli
