// SPDX-License-Identifier: Apache-2.0
#include "runtime/GuardedMemory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace pellucid::runtime {

using package::PlaceKind;

/// All bits set: NaN in every float type, -1 in every integer.
static constexpr int poison = 0xff;

GuardedBlock::GuardedBlock(GuardedBlock &&other) noexcept { *this = std::move(other); }

GuardedBlock &GuardedBlock::operator=(GuardedBlock &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  std::swap(begin, other.begin);
  return *this;
}

void GuardedBlock::release() {
  if (mapping)
    munmap(mapping, mapped);
  mapping = nullptr;
}

bool GuardedBlock::allocate(size_t bytes, int32_t guard, size_t alignment, size_t shift) {
  release();
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX / 2)
    return false;
  size_t before = shift % alignment;
  size_t inside = (before + bytes + page - 1) / page * page;
  void *whole = mmap(nullptr, inside + 2 * page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED)
    return false;
  mapping = whole;
  mapped = inside + 2 * page;
  unsigned char *first = static_cast<unsigned char *>(whole) + page;
  size_t slack = inside - before - bytes;
  begin = first + before + (guard == PELLUCID_GUARD_BEGIN ? 0 : slack / alignment * alignment);
  if (inside == 0)
    return true;
  if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0)
    return false;
  std::memset(first, poison, inside);
  return true;
}

static Result noMemory(size_t bytes) {
  return Result::error(PELLUCID_OUT_OF_MEMORY, "cannot allocate " + std::to_string(bytes) +
                                                   " bytes beside a page without access");
}

/// By base, the alignment that some launch cannot do without. Of variants with one guard only the
/// last counts: what the others want besides chooses between them, and more of it would leave more
/// bytes before the page.
static std::vector<size_t> promisedAlignments(const ProgramPlan &plan) {
  std::vector<size_t> alignments(plan.baseCount(), 1);
  for (const StepPlan &step : plan.steps) {
    const auto *launch = std::get_if<LaunchPlan>(&step);
    for (size_t i = 0; launch && i < launch->variants.size(); ++i) {
      const std::vector<package::LaunchVariant> &sources = launch->launch->variants;
      if (i + 1 < sources.size() && sources[i].guard == sources[i + 1].guard)
        continue;
      for (const ArgumentPlan &argument : launch->variants[i].arguments)
        if (argument.kind == ArgumentPlan::Kind::Pointer) {
          size_t &alignment = alignments[argument.place.base];
          alignment = std::max<size_t>(alignment, argument.parameter->divisor);
        }
    }
  }
  return alignments;
}

void GuardedMemory::findRanges(const ProgramPlan &plan, const Frame &frame,
                               const std::vector<size_t> &promised) {
  std::vector<Range> found;
  for (size_t i = 0; i < plan.baseOf(PlaceKind::Weight); ++i)
    if (unsigned char *base = frame.bases[i]) {
      bool isInput = i < plan.manifest.inputs.size();
      size_t alignment = promised[i];
      if (isInput)
        alignment = std::max<size_t>(alignment, plan.manifest.inputs[i].alignment);
      const Extent &extent = frame.extents[i];
      found.push_back({base - extent.below, base + extent.above, alignment, isInput, {}});
    }
  std::sort(found.begin(), found.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (Range &next : found) {
    Range *last = ranges.empty() ? nullptr : &ranges.back();
    if (last && (next.begin < last->end || next.begin == last->begin)) {
      last->end = std::max(last->end, next.end);
      last->alignment = std::max(last->alignment, next.alignment);
      last->isRead |= next.isRead;
    } else {
      ranges.push_back(std::move(next));
    }
  }
}

/// A range without bytes begins where another may end: the later one is meant.
GuardedMemory::Range *GuardedMemory::rangeOf(const unsigned char *address) {
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](const unsigned char *value, const Range &range) { return value < range.begin; });
  return &*std::prev(after);
}

Result GuardedMemory::enclose(const ProgramPlan &plan, Frame &frame) {
  originals = frame.bases;
  std::vector<size_t> promised = promisedAlignments(plan);
  findRanges(plan, frame, promised);
  for (Range &range : ranges) {
    size_t bytes = static_cast<size_t>(range.end - range.begin);
    if (!range.block.allocate(bytes, guard, range.alignment,
                              reinterpret_cast<uintptr_t>(range.begin)))
      return noMemory(bytes);
    if (range.isRead)
      std::memcpy(range.block.data(), range.begin, bytes);
  }
  for (size_t i = 0; i < plan.baseOf(PlaceKind::Weight); ++i)
    if (unsigned char *&base = frame.bases[i]) {
      const Range *range = rangeOf(base - frame.extents[i].below);
      base = range->block.data() + (base - range->begin);
    }
  for (size_t i = plan.baseOf(PlaceKind::Weight); i < plan.baseCount(); ++i) {
    size_t bytes = frame.extents[i].above;
    bool isState = i >= plan.baseOf(PlaceKind::State);
    bool isBuffer = i >= plan.baseOf(PlaceKind::Buffer) && !isState;
    if (!frame.bases[i] && !isBuffer)
      continue;
    if (!own.emplace_back().allocate(bytes, guard, promised[i]))
      return noMemory(bytes);
    if (isState)
      state.push_back({frame.bases[i], own.back().data(), bytes});
    if (!isBuffer)
      std::memcpy(own.back().data(), frame.bases[i], bytes);
    frame.bases[i] = own.back().data();
  }
  return {};
}

void GuardedMemory::giveBack(const ProgramPlan &plan, Frame &frame) {
  // What nothing wrote to may lie in memory that cannot be written.
  for (const Range &range : ranges) {
    size_t bytes = static_cast<size_t>(range.end - range.begin);
    if (range.block.data() && std::memcmp(range.begin, range.block.data(), bytes) != 0)
      std::memcpy(range.begin, range.block.data(), bytes);
  }
  for (const MovedState &moved : state)
    std::memcpy(moved.original, moved.data, moved.bytes);
  std::copy_n(originals.begin(), plan.baseOf(PlaceKind::Weight), frame.bases.begin());
}

} // namespace pellucid::runtime
