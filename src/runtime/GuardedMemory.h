// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Frame.h"

namespace pellucid::runtime {

/// Memory whose one end lies at a page that nobody may access. What lies beyond the other end, to
/// the end of its page, holds NaN in every float type, and so does the memory itself at first.
class GuardedBlock {
public:
  GuardedBlock() = default;
  ~GuardedBlock() { release(); }
  GuardedBlock(GuardedBlock &&other) noexcept;
  GuardedBlock(const GuardedBlock &) = delete;
  GuardedBlock &operator=(GuardedBlock &&other) noexcept;
  GuardedBlock &operator=(const GuardedBlock &) = delete;

  /// New memory in place of the old, at a multiple of `alignment` plus `shift`; `guard` is one of
  /// runtime.h's PELLUCID_GUARD values. False where there is none.
  bool allocate(size_t bytes, int32_t guard, size_t alignment = 1, size_t shift = 0);
  unsigned char *data() const { return begin; }

private:
  void *mapping = nullptr;
  size_t mapped = 0;
  unsigned char *begin = nullptr;

  void release();
};

/// The places of one call, each moved to memory of its own that ends or begins at such a page.
/// Inputs and outputs that overlap stay together. What a kernel was promised of an address holds of
/// the new one too; then the page may lie up to 15 bytes behind the end.
class GuardedMemory {
public:
  explicit GuardedMemory(int32_t guard) : guard(guard) {}

  /// Moves every base of the frame; inputs, weights and state with what they hold.
  Result enclose(const ProgramPlan &plan, Frame &frame);
  /// Copies what was written to the caller's memory and the state, and points the bases there
  /// again.
  void giveBack(const ProgramPlan &plan, Frame &frame);

private:
  /// Memory of the caller's that inputs and outputs share.
  struct Range {
    unsigned char *begin, *end;
    size_t alignment;
    bool isRead; ///< an input lies in it
    GuardedBlock block;
  };

  int32_t guard;
  std::vector<unsigned char *> originals; ///< the frame's bases
  std::vector<Range> ranges;
  std::vector<GuardedBlock> own; ///< of weights, buffers and state
  struct MovedState {
    unsigned char *original;
    const unsigned char *data; ///< in `own`
    size_t bytes;
  };
  std::vector<MovedState> state;

  /// `promised` is by base, as the frame's.
  void findRanges(const ProgramPlan &plan, const Frame &frame, const std::vector<size_t> &promised);
  Range *rangeOf(const unsigned char *address);
};

} // namespace pellucid::runtime
