// SPDX-License-Identifier: Apache-2.0
/// .npy files in and out, and what --arg and --input make of them.
#pragma once

#include "ArgumentValue.h"
#include "support/DataType.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace pellucid::cli {

/// At a multiple of 64, or of 2 MiB for large ones; free() releases it. Throws std::bad_alloc.
void *allocateLines(size_t bytes);

/// Memory that starts at a cache line, so that kernels may store past the caches; large arrays lie
/// on huge pages.
template <typename T> struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <typename Other> LineAllocator(const LineAllocator<Other> &) {}
  T *allocate(size_t count) { return static_cast<T *>(allocateLines(count * sizeof(T))); }
  void deallocate(T *data, size_t) { std::free(data); }
  bool operator==(const LineAllocator &) const = default;
};
using ArrayBytes = std::vector<char, LineAllocator<char>>;

/// A strided array in memory of its own. Strides are in elements.
struct Array {
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0; ///< of the first element, in elements
  std::shared_ptr<ArrayBytes> bytes;
  std::vector<int64_t> wholeShape; ///< of the file; differs from `shape` for a view
  std::string path;                ///< what it was read from, else empty

  char *data() const { return bytes->data() + offset * static_cast<int64_t>(byteSize(dtype)); }
  int64_t numel() const;
};

/// Reads what `argument` names; a DiagnosticError naming the file says why not.
Array readArray(const TensorArgument &argument);
/// Row-major zeros.
Array makeArray(DataType dtype, std::vector<int64_t> shape);

struct ArrayToWrite {
  const Array *array;
  std::string path;
};

/// Writes whole arrays (for a view: all of the file's elements), all of them or none. Types that
/// numpy lacks are written as unsigned integers of their size.
void writeArrays(const std::vector<ArrayToWrite> &arrays);

} // namespace pellucid::cli
