// SPDX-License-Identifier: Apache-2.0
#include "runtime/Frame.h"

#include <algorithm>

namespace pellucid::runtime {

static constexpr uint64_t slotAlignment = 64;

Frame::Frame(const ProgramPlan &plan)
    : symbols(plan.signature.symbolCount()), bases(plan.baseCount()), extents(plan.baseCount()),
      slotOffsets(plan.program.slots), arenas(plan.stages), arguments(plan.maxArgumentBytes),
      outputTensors(plan.manifest.outputs.size()), outputBytes(plan.manifest.outputs.size()) {
  size_t rank = 0;
  for (size_t i = 0; i < plan.manifest.outputs.size(); ++i) {
    outputDimsAt.push_back(rank);
    rank += plan.signature.outputRank(i);
  }
  outputDims.resize(rank);
  for (size_t i = 0; i < plan.manifest.weights.size(); ++i)
    extents[plan.baseOf(package::PlaceKind::Weight) + i].above = plan.manifest.weights[i].bytes;
  for (size_t i = 0; i < plan.manifest.state.size(); ++i)
    extents[plan.baseOf(package::PlaceKind::State) + i].above = plan.manifest.state[i].bytes;
}

std::string Frame::whyOutside(const ProgramPlan &plan, const PlacePlan &place, uint64_t bytes,
                              int64_t moved) const {
  if (!numbers.isKnown(place.offset))
    return "the offset " + plan.expressions.text(place.offset) + " into " +
           plan.nameOfBase(place.base) + " divides by zero or exceeds 64 bits";
  const Extent &extent = extents[place.base];
  __int128 begin = static_cast<__int128>(numbers[place.offset]) + moved;
  if (begin >= -static_cast<__int128>(extent.below) && begin + bytes <= extent.above)
    return {};
  return std::to_string(bytes) + " bytes at offset " + std::to_string(static_cast<int64_t>(begin)) +
         " lie outside " + plan.nameOfBase(place.base) + ", which has " +
         std::to_string(extent.below + extent.above);
}

Result Frame::layOutArena(const ProgramPlan &plan, uint32_t stage) {
  // First the slots' sizes, then in the same place where they begin.
  std::vector<uint64_t> &sizes = slotOffsets;
  for (size_t slot = 0; slot < sizes.size(); ++slot)
    if (plan.slotStages[slot] == stage)
      sizes[slot] = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlan &buffer = plan.buffers[i];
    if (buffer.stage != stage)
      continue;
    if (!numbers.isKnown(buffer.bytes) || numbers[buffer.bytes] < 0)
      return Result::invalid("the size of buffer '" + plan.program.buffers[i].name +
                             "' is negative or exceeds 2^63 bytes for these inputs");
    sizes[buffer.slot] = std::max(sizes[buffer.slot], static_cast<uint64_t>(numbers[buffer.bytes]));
  }
  uint64_t &arenaBytes = arenas[stage].bytes;
  arenaBytes = 0;
  for (size_t i = 0; i < slotOffsets.size(); ++i) {
    if (plan.slotStages[i] != stage)
      continue;
    uint64_t &slot = slotOffsets[i], begin = arenaBytes;
    if (__builtin_add_overflow(arenaBytes, slot + slotAlignment - 1, &arenaBytes))
      return Result::invalid("the buffers of a call with these inputs exceed 2^64 bytes");
    arenaBytes = arenaBytes / slotAlignment * slotAlignment;
    slot = begin;
  }
  return {};
}

void Frame::placeBuffers(const ProgramPlan &plan, uint32_t stage, unsigned char *memory) {
  size_t base = plan.baseOf(package::PlaceKind::Buffer);
  for (const BufferPlan &buffer : plan.buffers) {
    if (buffer.stage == stage) {
      extents[base].above = static_cast<uint64_t>(numbers[buffer.bytes]);
      bases[base] = memory + slotOffsets[buffer.slot];
    }
    ++base;
  }
}

std::unique_ptr<Frame> FramePool::take(const ProgramPlan &plan) {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Frame> frame = std::move(idle.back());
      idle.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(plan);
}

void FramePool::give(std::unique_ptr<Frame> frame) {
  std::lock_guard lock(mutex);
  idle.push_back(std::move(frame));
}

} // namespace pellucid::runtime
