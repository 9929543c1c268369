// SPDX-License-Identifier: Apache-2.0
#include "eager/DeviceMemory.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pellucid::eager {

DeviceMemory::DeviceMemory(std::unique_ptr<BlockSource> s, size_t most)
    : source(std::move(s)), mostKept(most) {}

DeviceMemory::~DeviceMemory() { releaseAll(); }

/// An eighth of the size's power of two, so that tensors of similar sizes share blocks and at most
/// an eighth of one is waste.
size_t DeviceMemory::roundedUp(size_t bytes) {
  constexpr size_t least = 512;
  if (bytes > SIZE_MAX / 2)
    return bytes;
  size_t step = std::max(least, std::bit_floor(std::max<size_t>(bytes, 1)) / 8);
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

void *DeviceMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex);
  size_t size = roundedUp(bytes);
  ++counts.given;
  void *block = nullptr;
  // A block that is a little larger serves too.
  if (auto fit = kept.lower_bound(size); fit != kept.end() && fit->first <= size + size / 4) {
    size = fit->first;
    block = fit->second;
    kept.erase(fit);
    keptBytes -= size;
  } else {
    ++counts.made;
    block = source->allocate(size);
    if (!block && !kept.empty()) {
      releaseAll();
      block = source->allocate(size);
    }
    if (!block)
      return nullptr;
    counts.reserved += size;
  }
  used.emplace(block, size);
  counts.allocated += size;
  counts.peak = std::max(counts.peak, counts.allocated);
  counts.peakReserved = std::max(counts.peakReserved, counts.reserved);
  return block;
}

void DeviceMemory::release(void *block) {
  std::lock_guard lock(mutex);
  auto known = used.find(block);
  if (known == used.end())
    return;
  size_t size = known->second;
  used.erase(known);
  counts.allocated -= size;
  kept.emplace(size, block);
  keptBytes += size;
  while (keptBytes > mostKept)
    releaseLargest();
}

void DeviceMemory::releaseLargest() {
  auto last = std::prev(kept.end());
  source->release(last->second);
  keptBytes -= last->first;
  counts.reserved -= last->first;
  kept.erase(last);
}

void DeviceMemory::releaseAll() {
  while (!kept.empty())
    releaseLargest();
}

void DeviceMemory::releaseKept() {
  std::lock_guard lock(mutex);
  releaseAll();
}

DeviceMemory::Statistics DeviceMemory::statistics() const {
  std::lock_guard lock(mutex);
  return counts;
}

void DeviceMemory::resetPeak() {
  std::lock_guard lock(mutex);
  counts.peak = counts.allocated;
  counts.peakReserved = counts.reserved;
}

} // namespace pellucid::eager
