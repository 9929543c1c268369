// SPDX-License-Identifier: Apache-2.0
#include "reference/graph/Tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace pellucid::reference {

//===-- Floats --------------------------------------------------------------------------------===//

namespace {
struct Format {
  int exponentBits, mantissaBits, bias;
  bool hasInfinity;           ///< else overflow is NaN
  bool onlyNegativeZeroIsNan; ///< the FNUZ types
};

Format formatOf(DataType dtype) {
  switch (dtype) {
  case DataType::Float16:
    return {5, 10, 15, true, false};
  case DataType::BFloat16:
    return {8, 7, 127, true, false};
  case DataType::Float32:
    return {8, 23, 127, true, false};
  case DataType::Float64:
    return {11, 52, 1023, true, false};
  case DataType::Float8E4M3FN:
    return {4, 3, 7, false, false};
  case DataType::Float8E5M2:
    return {5, 2, 15, true, false};
  case DataType::Float8E4M3FNUZ:
    return {4, 3, 8, false, true};
  case DataType::Float8E5M2FNUZ:
    return {5, 2, 16, false, true};
  default:
    throw std::logic_error("not a floating type");
  }
}

uint64_t nanBits(const Format &f) {
  if (f.onlyNegativeZeroIsNan)
    return uint64_t(1) << (f.exponentBits + f.mantissaBits);
  uint64_t exponent = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  // Without infinities the largest pattern alone is NaN; else the quiet bit is enough.
  return exponent | (f.hasInfinity ? uint64_t(1) << (f.mantissaBits - 1)
                                   : (uint64_t(1) << f.mantissaBits) - 1);
}

/// The largest finite value's pattern.
uint64_t maxBits(const Format &f) {
  uint64_t all = (uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1;
  if (f.onlyNegativeZeroIsNan)
    return all;
  return f.hasInfinity ? (((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits) - 1 : all - 1;
}
} // namespace

uint64_t encodeFloat(DataType dtype, double value) {
  if (dtype == DataType::Float64)
    return std::bit_cast<uint64_t>(value);
  Format f = formatOf(dtype);
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (f.exponentBits + f.mantissaBits) : 0;
  if (std::isnan(value))
    return nanBits(f);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return f.onlyNegativeZeroIsNan ? 0 : sign;
  uint64_t pattern = maxBits(f) + 1;
  if (std::isfinite(magnitude)) {
    // In units of the last place the value is an exact double; nearbyint rounds ties to even.
    int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
    double units = std::nearbyint(std::ldexp(magnitude, f.mantissaBits - exponent));
    // A carry out of the mantissa runs into the exponent by itself. Subnormals have exponent field
    // 0.
    pattern = static_cast<uint64_t>(units) +
              (static_cast<uint64_t>(exponent + f.bias - 1) << f.mantissaBits);
  }
  if (pattern > maxBits(f))
    return f.hasInfinity ? sign | (maxBits(f) + 1) : nanBits(f);
  return pattern == 0 && f.onlyNegativeZeroIsNan ? 0 : sign | pattern;
}

double decodeFloat(DataType dtype, uint64_t bits) {
  if (dtype == DataType::Float64)
    return std::bit_cast<double>(bits);
  Format f = formatOf(dtype);
  uint64_t signBit = uint64_t(1) << (f.exponentBits + f.mantissaBits);
  double sign = bits & signBit ? -1 : 1;
  if (f.onlyNegativeZeroIsNan && bits == signBit)
    return std::nan("");
  uint64_t magnitude = bits & (signBit - 1);
  if (magnitude > maxBits(f))
    return f.hasInfinity && magnitude == maxBits(f) + 1 ? sign * HUGE_VAL : std::nan("");
  uint64_t mantissa = magnitude & ((uint64_t(1) << f.mantissaBits) - 1);
  int exponent = static_cast<int>(magnitude >> f.mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(static_cast<double>(mantissa), 1 - f.bias - f.mantissaBits);
  double significand = static_cast<double>(mantissa | uint64_t(1) << f.mantissaBits);
  return sign * std::ldexp(significand, exponent - f.bias - f.mantissaBits);
}

double roundTo(DataType dtype, double value) {
  // The processor's own conversion, for the two types that are asked for most.
  if (dtype == DataType::Float64)
    return value;
  if (dtype == DataType::Float32 && value == value)
    return static_cast<double>(static_cast<float>(value));
  return isFloat(dtype) ? decodeFloat(dtype, encodeFloat(dtype, value)) : value;
}

int64_t wrapTo(DataType dtype, int64_t value) {
  if (dtype == DataType::Bool)
    return value != 0;
  int unused = 64 - 8 * static_cast<int>(byteSize(dtype));
  uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return info(dtype).isSigned ? static_cast<int64_t>(shifted) >> unused
                              : static_cast<int64_t>(shifted >> unused);
}

//===-- Tensor --------------------------------------------------------------------------------===//

Tensor::Tensor(DataType dtype, std::vector<int64_t> shape) : dtype(dtype), shape(std::move(shape)) {
  strides.assign(this->shape.size(), 1);
  for (size_t i = this->shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(this->shape[i], 1);
  storage = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(numel()) * byteSize(dtype));
}

Tensor Tensor::of(DataType dtype, std::vector<int64_t> shape, std::span<const double> values) {
  Tensor t(dtype, std::move(shape));
  size_t next = 0;
  forEachIndex(t.shape, [&](std::span<const int64_t> index) { t.set(index, values[next++]); });
  return t;
}

int64_t Tensor::numel() const {
  int64_t n = 1;
  for (int64_t dim : shape)
    n *= dim;
  return n;
}

int64_t Tensor::at(std::span<const int64_t> index) const {
  int64_t position = offset;
  for (size_t i = 0; i < index.size(); ++i)
    position += index[i] * strides[i];
  return position;
}

uint64_t Tensor::bits(int64_t position) const {
  uint64_t value = 0;
  size_t size = byteSize(dtype), start = static_cast<size_t>(position) * size;
  if (position < 0 || start + size > storage->size())
    throw std::out_of_range("element " + std::to_string(position) + " lies outside its storage");
  std::memcpy(&value, storage->data() + start, size);
  return value;
}

void Tensor::setBits(int64_t position, uint64_t value) {
  size_t size = byteSize(dtype), start = static_cast<size_t>(position) * size;
  if (position < 0 || start + size > storage->size())
    throw std::out_of_range("element " + std::to_string(position) + " lies outside its storage");
  std::memcpy(storage->data() + start, &value, size);
}

int64_t Tensor::integer(std::span<const int64_t> index) const {
  if (isFloat(dtype))
    return static_cast<int64_t>(real(index));
  return wrapTo(dtype, static_cast<int64_t>(bits(at(index))));
}

double Tensor::real(std::span<const int64_t> index) const {
  if (isFloat(dtype))
    return decodeFloat(dtype, bits(at(index)));
  int64_t value = integer(index);
  return dtype == DataType::UInt64 ? static_cast<double>(static_cast<uint64_t>(value))
                                   : static_cast<double>(value);
}

void Tensor::set(std::span<const int64_t> index, double value) {
  if (isFloat(dtype))
    return setBits(at(index), encodeFloat(dtype, value));
  if (dtype == DataType::Bool)
    return setInteger(index, value != 0);
  // What C leaves undefined becomes the smallest integer, as x86 does it.
  bool fits = value > -0x1p63 && value < 0x1p63;
  bool large = dtype == DataType::UInt64 && value >= 0x1p63 && value < 0x1p64;
  setInteger(index, large  ? static_cast<int64_t>(static_cast<uint64_t>(value))
                    : fits ? static_cast<int64_t>(value)
                           : INT64_MIN);
}

void Tensor::setInteger(std::span<const int64_t> index, int64_t value) {
  if (isFloat(dtype))
    return set(index, static_cast<double>(value));
  setBits(at(index), static_cast<uint64_t>(wrapTo(dtype, value)));
}

void Tensor::forEachIndex(const std::vector<int64_t> &shape,
                          const std::function<void(std::span<const int64_t>)> &f) {
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    f(index);
    size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

std::vector<double> Tensor::reals() const {
  std::vector<double> values;
  forEachIndex(shape, [&](std::span<const int64_t> index) { values.push_back(real(index)); });
  return values;
}

Tensor Tensor::view(std::vector<int64_t> newShape, std::vector<int64_t> newStrides,
                    int64_t newOffset) const {
  Tensor t = *this;
  t.shape = std::move(newShape);
  t.strides = std::move(newStrides);
  t.offset = newOffset;
  return t;
}

Tensor Tensor::copy(DataType to) const {
  Tensor t(to, shape);
  bool integers = !isFloat(dtype) && !isFloat(to);
  forEachIndex(shape, [&](std::span<const int64_t> index) {
    if (integers)
      t.setInteger(index, integer(index));
    else
      t.set(index, real(index));
  });
  return t;
}

} // namespace pellucid::reference
