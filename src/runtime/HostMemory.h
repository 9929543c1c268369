// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

  bool reserve(size_t bytes) {
    if (bytes <= capacity)
      return true;
    releaseHost(block, std::exchange(capacity, 0));
    block = allocateHost(bytes);
    capacity = block ? bytes : 0;
    return block != nullptr;
  }
  unsigned char *data() const { return static_cast<unsigned char *>(block); }

private:
  void *block = nullptr;
  size_t capacity = 0;
};

} // namespace pellucid::runtime
