// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pellucid::reference {

struct MemoryRegion;
struct TouchedRegion;

/// What is known of every byte of the regions of a launch: whether it was ever written, and which
/// programs touched it. Programs run one after the other; a conflict is an access that a parallel
/// run could order differently.
class AccessShadow {
public:
  explicit AccessShadow(const std::vector<MemoryRegion> &regions);

  /// The linear number of the program that runs from now on.
  void beginProgram(uint64_t program);

  struct Finding {
    enum Kind : uint8_t { Uninitialized, ReadOfForeignWrite, WriteAfterForeignRead, ForeignWrite };
    Kind kind;
    uint64_t otherProgram;
  };
  /// Each records the access and says what is wrong with it.
  std::optional<Finding> onRead(int region, uint64_t offset, unsigned bytes, bool atomic);
  /// `changes`: whether the bytes get another value than they had.
  std::optional<Finding> onWrite(int region, uint64_t offset, unsigned bytes, bool atomic,
                                 bool changes);

  /// What all programs so far did with a region; `touched` gets its two lists.
  void summarise(int region, TouchedRegion &touched) const;

  /// What the running program did so far is before what a program does after it acquired `address`.
  void onRelease(uint64_t address);
  void onAcquire(uint64_t address);

private:
  using Step = uint64_t;
  /// Programs count from 1; 0: none.
  struct Byte {
    uint32_t writer = 0, reader = 0;
    Step writeStep = 0, readStep = 0;
    bool initialized = false, atomicWrite = false, atomicRead = false;
  };
  bool orderedBefore(uint32_t program, Step step) const;

  std::vector<std::vector<Byte>> regions;
  uint32_t running = 0;
  Step now = 0;
  std::unordered_map<uint64_t, std::unordered_map<uint32_t, Step>> releases;
  /// Up to which step of another program the running one has seen it.
  std::unordered_map<uint32_t, Step> seen;
};

} // namespace pellucid::reference
