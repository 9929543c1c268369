// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ForkSafeMutex.h"
#include "runtime/HostMemory.h"
#include "runtime/Plan.h"

namespace pellucid::runtime {

/// Memory on a device that a frame keeps from one call to the next.
struct DeviceBlock {
  virtual ~DeviceBlock() = default;
  unsigned char *data = nullptr;
  size_t bytes = 0;
};

/// How many bytes a place has below its address (negative strides) and from it on.
struct Extent {
  uint64_t below = 0, above = 0;
};

/// What one running call needs and the next one takes over, so that a call allocates nothing but
/// its outputs.
struct Frame {
  explicit Frame(const ProgramPlan &plan);

  std::vector<int64_t> symbols;
  Numbers numbers;
  std::vector<unsigned char *> bases; ///< ProgramPlan::baseOf says whose
  std::vector<Extent> extents;        ///< one for each base
  std::vector<uint64_t> slotOffsets;  ///< in the arena of the slot's stage
  /// The buffers of one stage.
  struct Arena {
    uint64_t bytes = 0;
    HostBlock host;                      ///< CPU only
    std::unique_ptr<DeviceBlock> device; ///< CUDA only
  };
  std::vector<Arena> arenas; ///< by stage
  std::vector<unsigned char> arguments;
  std::vector<DLTensor> outputTensors;
  std::vector<int64_t> outputDims;  ///< all outputs' dims, one after another
  std::vector<size_t> outputDimsAt; ///< where each output's begin
  std::vector<uint64_t> outputBytes;

  /// Computes the offsets of a stage's slots and the bytes of its arena from the current numbers.
  Result layOutArena(const ProgramPlan &plan, uint32_t stage);
  /// Points the bases of the stage's buffers into its arena at `memory`.
  void placeBuffers(const ProgramPlan &plan, uint32_t stage, unsigned char *memory);

  unsigned char *address(const PlacePlan &place) const {
    return bases[place.base] + numbers[place.offset];
  }
  /// Empty when `bytes` bytes at `place`, `moved` further on, lie within it; else what is wrong
  /// with them.
  std::string whyOutside(const ProgramPlan &plan, const PlacePlan &place, uint64_t bytes,
                         int64_t moved = 0) const;
};

/// Frames that no call uses. As many exist as calls have run at once.
class FramePool {
public:
  std::unique_ptr<Frame> take(const ProgramPlan &plan);
  void give(std::unique_ptr<Frame> frame);

private:
  ForkSafeMutex mutex;
  std::vector<std::unique_ptr<Frame>> idle;
};

} // namespace pellucid::runtime
