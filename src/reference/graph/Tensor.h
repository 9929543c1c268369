// SPDX-License-Identifier: Apache-2.0
/// Concrete tensors of the reference interpreter: any strides, every element type, values as double
/// or int64.
#pragma once

#include "support/DataType.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pellucid::reference {

/// Rounds to nearest, ties to even, in one step from double. Overflow gives infinity, or what the
/// type has instead.
double roundTo(DataType dtype, double value);
/// The bits of `roundTo(dtype, value)`, and back. Floating types only.
uint64_t encodeFloat(DataType dtype, double value);
double decodeFloat(DataType dtype, uint64_t bits);
/// The value modulo 2^bits, in the type's range; bool: 0 or 1.
int64_t wrapTo(DataType dtype, int64_t value);

struct Tensor {
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape, strides; ///< in elements
  int64_t offset = 0;
  std::shared_ptr<std::vector<uint8_t>> storage;

  /// Row-major, zero.
  Tensor() : Tensor(DataType::Float32, {}) {}
  Tensor(DataType dtype, std::vector<int64_t> shape);
  static Tensor of(DataType dtype, std::vector<int64_t> shape, std::span<const double> values);

  size_t rank() const { return shape.size(); }
  int64_t numel() const;
  int64_t at(std::span<const int64_t> index) const; ///< position in storage, in elements

  double real(std::span<const int64_t> index) const;      ///< any type, as double
  int64_t integer(std::span<const int64_t> index) const;  ///< floats truncate
  void set(std::span<const int64_t> index, double value); ///< rounds, or truncates and wraps
  void setInteger(std::span<const int64_t> index, int64_t value);

  /// Every element in row-major order.
  std::vector<double> reals() const;
  /// Calls f(index) for every index of `shape` in row-major order.
  static void forEachIndex(const std::vector<int64_t> &shape,
                           const std::function<void(std::span<const int64_t>)> &f);
  /// Another look at the same storage.
  Tensor view(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset) const;
  /// A row-major copy, converted.
  Tensor copy(DataType dtype) const;
  Tensor copy() const { return copy(dtype); }

private:
  uint64_t bits(int64_t position) const;
  void setBits(int64_t position, uint64_t value);
};

} // namespace pellucid::reference
