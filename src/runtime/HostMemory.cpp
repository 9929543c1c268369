// SPDX-License-Identifier: Apache-2.0
#include "runtime/HostMemory.h"

#include "runtime/ForkSafeMutex.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace pellucid::runtime {

static constexpr size_t alignment = 64;
/// From here on blocks are mapped by us and kept; below, malloc keeps them well enough.
static constexpr size_t largeBytes = size_t(1) << 18;
static constexpr size_t hugePageBytes = size_t(2) << 20;
static constexpr size_t keptBytesLimit = size_t(1) << 30;
static constexpr size_t keptBlocksLimit = 32;

/// Eight sizes per power of two, so that a request a little larger than the last finds the same
/// block.
static size_t sizeClass(size_t bytes) {
  size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

static void *mapBlock(size_t bytes) {
  if (bytes < hugePageBytes) {
    void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
  }
  // Cut an aligned piece out of a larger mapping.
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  size_t whole = bytes + hugePageBytes;
  void *mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  uintptr_t begin = reinterpret_cast<uintptr_t>(mapped);
  uintptr_t aligned = (begin + hugePageBytes - 1) / hugePageBytes * hugePageBytes;
  if (aligned > begin)
    munmap(mapped, aligned - begin);
  munmap(reinterpret_cast<void *>(aligned + bytes), begin + whole - aligned - bytes);
  void *block = reinterpret_cast<void *>(aligned);
  madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

namespace {
/// Large blocks nobody uses, the last freed at the end.
class KeptBlocks {
public:
  void *take(size_t bytes) {
    std::lock_guard lock(mutex);
    for (size_t i = count; i-- > 0;)
      if (blocks[i].bytes == bytes)
        return remove(i).data;
    return nullptr;
  }
  void keep(void *data, size_t bytes) {
    std::lock_guard lock(mutex);
    if (bytes > keptBytesLimit) {
      munmap(data, bytes);
      return;
    }
    while (count == keptBlocksLimit || keptBytes + bytes > keptBytesLimit) {
      Block oldest = remove(0);
      munmap(oldest.data, oldest.bytes);
    }
    blocks[count++] = {data, bytes};
    keptBytes += bytes;
  }

private:
  struct Block {
    void *data;
    size_t bytes;
  };
  ForkSafeMutex mutex;
  Block blocks[keptBlocksLimit];
  size_t count = 0, keptBytes = 0;

  Block remove(size_t i) {
    Block block = blocks[i];
    for (--count; i < count; ++i)
      blocks[i] = blocks[i + 1];
    keptBytes -= block.bytes;
    return block;
  }
};
} // namespace

/// Never destroyed: outputs may be freed while the process ends.
static KeptBlocks &keptBlocks() {
  static KeptBlocks *kept = new KeptBlocks;
  return *kept;
}

void *allocateHost(size_t bytes) {
  if (bytes < largeBytes)
    return std::aligned_alloc(
        alignment, bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment);
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  size_t size = sizeClass(bytes);
  void *kept = keptBlocks().take(size);
  return kept ? kept : mapBlock(size);
}

void releaseHost(void *data, size_t bytes) {
  if (!data)
    return;
  if (bytes < largeBytes)
    std::free(data);
  else
    keptBlocks().keep(data, sizeClass(bytes));
}

} // namespace pellucid::runtime
