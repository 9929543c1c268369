// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace pellucid::runtime {

/// Memory for arenas, outputs and scratch: 64-byte aligned, huge pages advised for large blocks.
/// Freed large blocks are kept for the next request (fresh pages cost a copy's time), up to a
/// bound. Thread-safe; null when there is none, or when filling it would take more than the machine
/// or the process's control group has.
void *allocateHost(size_t bytes);
/// `bytes` as asked for.
void releaseHost(void *data, size_t bytes);

/// Owns one block; grows by replacing it, its contents are lost then.
class HostBlock {
public:
  HostBlock() = default;
  ~HostBlock() { releaseHost(block, capacity); }
  HostBlock(const HostBlock &) = delete;
  HostBlock &operator=(const HostBlock &) = delete;

  /// The pages of the first `present` bytes, at most two, are in memory, whether or not anything is
  /// ever written there: a masked load or store without an active lane does not bring them, and the
  /// processor takes a microsecond to suppress the fault of each.
  bool reserve(size_t bytes, size_t present = 0) {
    if (bytes <= capacity)
      return true;
    releaseHost(block, std::exchange(capacity, 0));
    block = allocateHost(bytes);
    capacity = block ? bytes : 0;
    if (block && present != 0 && present <= bytes)
      for (size_t at : {size_t(0), present - 1})
        static_cast<volatile unsigned char *>(data())[at] = 0;
    return block != nullptr;
  }
  unsigned char *data() const { return static_cast<unsigned char *>(block); }

private:
  void *block = nullptr;
  size_t capacity = 0;
};

} // namespace pellucid::runtime
