// SPDX-License-Identifier: Apache-2.0
#include "runtime/HostMemory.h"

#include "runtime/AvailableMemory.h"
#include "runtime/ForkSafeMutex.h"

#include <atomic>
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
/// A step of training frees hundreds at once.
static constexpr size_t keptBlocksLimit = 1024;

/// Eight sizes per power of two, so that a request a little larger than the last finds the same
/// block.
static size_t sizeClass(size_t bytes) {
  size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

/// From here on a new block is held against what the machine has; asking takes some microseconds.
static constexpr size_t checkedBytes = size_t(64) << 20;

/// Address space that is mapped here, whether or not anything was written to it yet.
static std::atomic<uint64_t> mappedBytes = 0;

/// Mapping always works and writing to what is not there ends the process, so a block is refused
/// that, with what is mapped and not yet filled, exceeds what is left.
static bool exceedsMemory(size_t bytes) {
  if (bytes < checkedBytes)
    return false;
  uint64_t mapped = mappedBytes.load(std::memory_order_relaxed), filled = residentMemory();
  uint64_t promised = mapped > filled ? mapped - filled : 0, available = availableMemory();
  return promised > available || bytes > available - promised;
}

static void *mapPages(size_t bytes) {
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

static void *mapBlock(size_t bytes) {
  if (exceedsMemory(bytes))
    return nullptr;
  void *block = mapPages(bytes);
  if (block)
    mappedBytes.fetch_add(bytes, std::memory_order_relaxed);
  return block;
}

static void unmapBlock(void *block, size_t bytes) {
  munmap(block, bytes);
  mappedBytes.fetch_sub(bytes, std::memory_order_relaxed);
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
      unmapBlock(data, bytes);
      return;
    }
    while (count == keptBlocksLimit || keptBytes + bytes > keptBytesLimit) {
      Block oldest = remove(0);
      unmapBlock(oldest.data, oldest.bytes);
    }
    blocks[count++] = {data, bytes};
    keptBytes += bytes;
  }

  void drop() {
    std::lock_guard lock(mutex);
    while (count) {
      Block oldest = remove(0);
      unmapBlock(oldest.data, oldest.bytes);
    }
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
  if (void *kept = keptBlocks().take(size))
    return kept;
  if (void *block = mapBlock(size))
    return block;
  // What is kept for later is the first to go.
  keptBlocks().drop();
  return mapBlock(size);
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
