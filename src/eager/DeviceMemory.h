// SPDX-License-Identifier: Apache-2.0
/// A device's memory for the tensors of scripts: what was freed is kept for those that come next.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace pellucid::eager {

/// Where blocks come from and go to.
class BlockSource {
public:
  virtual ~BlockSource() = default;
  /// Null: there is no such block left.
  virtual void *allocate(size_t bytes) = 0;
  /// May wait until the device has done all that was queued.
  virtual void release(void *block) = 0;
};

/// Blocks are given out in the order of one stream: a freed one may be given out again at once,
/// because what is queued next comes after what was queued before.
class DeviceMemory {
public:
  /// At most `mostKept` bytes that nobody uses are kept.
  DeviceMemory(std::unique_ptr<BlockSource> source, size_t mostKept);
  /// Gives back what is kept; blocks in use are left alone.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// Of every block.
  static constexpr size_t alignment = 256;
  /// At least `bytes` bytes; null where the device has no more, with nothing kept either.
  void *allocate(size_t bytes);
  void release(void *block);
  /// Gives back what nobody uses.
  void releaseKept();

  struct Statistics {
    size_t allocated = 0, peak = 0;        ///< bytes in blocks that are used
    size_t reserved = 0, peakReserved = 0; ///< and those that are kept
    size_t made = 0, given = 0;            ///< blocks asked of the source, and of us
  };
  Statistics statistics() const;
  void resetPeak();

  /// What a block for `bytes` bytes has.
  static size_t roundedUp(size_t bytes);

private:
  void releaseLargest();
  void releaseAll();

  std::unique_ptr<BlockSource> source;
  const size_t mostKept;
  mutable std::mutex mutex;
  std::multimap<size_t, void *> kept; ///< by size
  std::unordered_map<void *, size_t> used;
  size_t keptBytes = 0;
  Statistics counts;
};

} // namespace pellucid::eager
