// SPDX-License-Identifier: Apache-2.0
/// Host arrays as DLPack tensors, and packages loaded through the C interface, for tests.
#pragma once

#include "package/PackageWriter.h"
#include "package/SamplePackage.h"

#include <gtest/gtest.h>
#include <pellucid/runtime.h>

namespace pellucid::test {

template <typename T> constexpr DLDataType dlpackType();
template <> constexpr DLDataType dlpackType<float>() { return {kDLFloat, 32, 1}; }
template <> constexpr DLDataType dlpackType<uint32_t>() { return {kDLUInt, 32, 1}; }
template <> constexpr DLDataType dlpackType<int64_t>() { return {kDLInt, 64, 1}; }

/// A dense array with its shape; 64-byte alignment is not promised.
template <typename T> struct Array {
  std::vector<int64_t> shape, strides;
  std::vector<T> data;

  explicit Array(std::vector<int64_t> dims, T fill = T()) : shape(std::move(dims)) {
    size_t count = 1;
    for (int64_t dim : shape)
      count *= static_cast<size_t>(dim);
    data.assign(count, fill);
  }
  DLTensor tensor() {
    return {data.data(),
            {kDLCPU, 0},
            static_cast<int32_t>(shape.size()),
            dlpackType<T>(),
            shape.data(),
            strides.empty() ? nullptr : strides.data(),
            0};
  }
};

/// 1, 1.5, 2, … : sums of a few stay exact in float32.
inline Array<float> countingArray(std::vector<int64_t> shape) {
  Array<float> array(std::move(shape));
  for (size_t i = 0; i < array.data.size(); ++i)
    array.data[i] = 1 + 0.5f * static_cast<float>(i % 37);
  return array;
}

/// Loaded from memory; unloaded at the end.
class Loaded {
public:
  explicit Loaded(const package::Contents &contents) {
    package::Status status = package::packageBytes(contents, bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(pellucid_load_memory(bytes.data(), bytes.size(), nullptr, &handle), PELLUCID_OK)
        << pellucid_last_error();
  }
  ~Loaded() { pellucid_unload(handle); }
  Loaded(const Loaded &) = delete;
  operator pellucid_package *() const { return handle; }

private:
  std::vector<uint8_t> bytes;
  pellucid_package *handle = nullptr;
};

inline pellucid_run_options runOptions(int32_t threads = 0) {
  pellucid_run_options options{};
  options.struct_size = sizeof(options);
  options.threads = threads;
  return options;
}

/// What sampleModel computes, in float64, row by row.
inline void expectSample(const Array<float> &x, const float *y, const float *total) {
  std::vector<float> bias = sampleBias();
  size_t rows = static_cast<size_t>(x.shape[0]);
  for (size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 64; ++i) {
      double expected = (double(x.data[row * 64 + i]) * 2 + bias[i]) * 3 + bias[i];
      ASSERT_EQ(y[row * 64 + i], expected) << row << " " << i;
      sum += expected;
    }
    ASSERT_EQ(total[row], sum) << row;
  }
}

} // namespace pellucid::test
