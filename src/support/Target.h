// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include <string>
#include <vector>

namespace pellucid {

/// Instruction-set levels of CPU images, ascending; a machine runs every level up to its own.
enum class CpuLevel : uint8_t { X86_64_v3 = 0, X86_64_v4 = 1 };

/// What code is generated for: `cpu:x86-64-v3`, `cpu:x86-64-v4`, `cuda:sm_80`, `cuda:sm_90`.
struct Target {
  enum class Kind : uint8_t { Cpu = 0, Cuda = 1 };
  Kind kind = Kind::Cpu;
  CpuLevel cpu = CpuLevel::X86_64_v3;
  uint32_t sm = 0; ///< 80 for sm_80; 0 for Cpu
  bool operator==(const Target &) const = default;
};

std::string toString(const Target &target);
std::string_view toString(CpuLevel level);

/// Parses a comma list as `--target` takes it (`cpu` stands for every supported level, `cuda` for
/// sm_90). On a wrong name returns false and sets `error` to a sentence naming it and what is
/// possible.
bool parseTargets(std::string_view text, std::vector<Target> &out, std::string &error);

/// The highest level this machine runs; nullopt below x86-64-v3.
std::optional<CpuLevel> hostCpuLevel();

} // namespace pellucid
