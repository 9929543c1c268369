// SPDX-License-Identifier: Apache-2.0
#include "trace/ConcreteTensor.h"

#include "reference/graph/Tensor.h"

#include <algorithm>
#include <cstring>

namespace pellucid::trace {

using namespace graph;

std::vector<int64_t> constants(const std::vector<Expr> &sizes) {
  std::vector<int64_t> out;
  for (const Expr &size : sizes)
    out.push_back(size.constant().value());
  return out;
}

std::vector<Expr> expressions(const std::vector<int64_t> &sizes) {
  return std::vector<Expr>(sizes.begin(), sizes.end());
}

size_t byteCount(const TensorType &type) {
  return static_cast<size_t>(type.numel().constant().value()) * byteSize(type.dtype);
}

int64_t ConcreteTensor::numel() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool ConcreteTensor::isRowMajor() const {
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != stride)
      return numel() == 0;
    stride *= shape[d];
  }
  return true;
}

std::shared_ptr<const std::byte> ConcreteTensor::dense() const {
  if (isRowMajor())
    return data;
  size_t element = byteSize(dtype), bytes = static_cast<size_t>(numel()) * element;
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (size_t at = 0; at < bytes; at += element) {
    std::memcpy(copy.get() + at, data.get() + offset * static_cast<int64_t>(element), element);
    for (size_t d = index.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return {copy, copy.get()};
}

namespace {
template <typename T> T loaded(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
} // namespace

int64_t integerAt(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Bool:
    return loaded<uint8_t>(at) != 0;
  case DataType::Int8:
    return loaded<int8_t>(at);
  case DataType::Int16:
    return loaded<int16_t>(at);
  case DataType::Int32:
    return loaded<int32_t>(at);
  case DataType::UInt8:
    return loaded<uint8_t>(at);
  case DataType::UInt16:
    return loaded<uint16_t>(at);
  case DataType::UInt32:
    return loaded<uint32_t>(at);
  case DataType::Int64:
  case DataType::UInt64:
    return loaded<int64_t>(at);
  default:
    return static_cast<int64_t>(realAt(dtype, at));
  }
}

double realAt(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Float64:
    return loaded<double>(at);
  case DataType::Float32:
    return loaded<float>(at);
  case DataType::Float16:
  case DataType::BFloat16:
    return reference::decodeFloat(dtype, loaded<uint16_t>(at));
  case DataType::UInt64:
    return static_cast<double>(loaded<uint64_t>(at));
  default:
    return isFloat(dtype) ? reference::decodeFloat(dtype, loaded<uint8_t>(at))
                          : static_cast<double>(integerAt(dtype, at));
  }
}

//===-- recording -----------------------------------------------------------------------------===//

} // namespace pellucid::trace
