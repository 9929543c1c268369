// SPDX-License-Identifier: Apache-2.0
/// The contract between generated kernels and the run time. Plain C layout, little endian; part of
/// the package format.
#pragma once

#include <cstdint>

namespace pellucid::package {

/// Written by a kernel that fails, read by the run time; one per running chunk, zeroed before the
/// call.
struct KernelContext {
  /// 0: no failure. 1: device_assert.
  int32_t failure;
  /// Index into the executable record's list of messages (`assertion text` with file, line and
  /// column).
  int32_t message;
  /// The program that failed.
  uint32_t program[3];
  uint32_t reserved;
  /// Called for tl.device_print with the message's index and the printed lanes; may be null (then
  /// nothing is printed). `kind` 0: values are int64_t, 1: double; `count` of them, in row-major
  /// order of the tile.
  void (*print)(void *printState, int32_t message, const uint32_t program[3], int32_t kind,
                const void *values, uint64_t count);
  void *printState;
};

/// Of a kernel's scratch memory, if it has any: the first bytes, which nothing is written to.
/// Masked loads and stores without an active lane go there, so their pages should be present.
inline constexpr uint64_t safeScratchBytes = 4096;

/// Runs programs [first, last) of the linearised grid (x fastest: id = x + grid[0] * (y + grid[1] *
/// z)). `arguments` is the packed struct below, `scratch` at least the record's scratch bytes,
/// 64-byte aligned, private to the call. Returns 0, or the failure code also stored in `context`.
/// May be called from many threads at once.
using KernelEntry = int32_t (*)(const void *arguments, const uint32_t grid[3], uint64_t first,
                                uint64_t last, void *scratch, KernelContext *context);

/// Packed arguments: the kernel's run-time parameters in order (constexprs and None removed), each
/// at its natural alignment: pointers and 64-bit scalars 8, 32-bit 4, 16-bit 2, 8-bit and bool 1;
/// no tail padding. The same on every target.
struct ArgumentSlot {
  uint32_t offset;
  uint32_t bytes;
};

} // namespace pellucid::package
