// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pellucid {

/// Instruction-set levels of CPU images, ascending; a machine runs every level up to its own
/// (docs/design/0020). Append only: part of the package format.
enum class CpuLevel : uint8_t {
  X86_64_v3 = 0,
  X86_64_v4 = 1,
  X86_64_v4_bf16 = 2, ///< and AVX512-BF16, AVX512-VNNI: products of pairs and quads
  X86_64_v4_amx = 3,  ///< and AMX-TILE, AMX-BF16, AMX-INT8: products of tiles
};
inline constexpr std::array allCpuLevels = {CpuLevel::X86_64_v3, CpuLevel::X86_64_v4,
                                            CpuLevel::X86_64_v4_bf16, CpuLevel::X86_64_v4_amx};

constexpr bool hasAvx512(CpuLevel level) { return level >= CpuLevel::X86_64_v4; }
/// Instructions that multiply pairs of bf16 and quads of int8 and add them up.
constexpr bool hasPairProducts(CpuLevel level) { return level >= CpuLevel::X86_64_v4_bf16; }
constexpr bool hasTileProducts(CpuLevel level) { return level >= CpuLevel::X86_64_v4_amx; }
/// Whether matrix products of `type` use what `level` adds to x86-64-v4.
constexpr bool hasProductUnits(CpuLevel level, DataType type) {
  return hasPairProducts(level) && type == DataType::BFloat16;
}

/// What code is generated for: `cpu:x86-64-v3`, `cpu:x86-64-v4+amx`, `cuda:sm_80`, `cuda:sm_90`.
struct Target {
  enum class Kind : uint8_t { Cpu = 0, Cuda = 1 };
  Kind kind = Kind::Cpu;
  CpuLevel cpu = CpuLevel::X86_64_v3;
  uint32_t sm = 0; ///< 80 for sm_80; 0 for Cpu
  bool operator==(const Target &) const = default;
};

std::string toString(const Target &target);
std::string_view toString(CpuLevel level);
std::optional<CpuLevel> cpuLevelNamed(std::string_view name);
/// "x86-64-v3, x86-64-v4, …", each with `before` in front.
std::string cpuLevelNames(std::string_view before);

/// Parses a comma list as `--target` takes it (`cpu` stands for every supported level, `cuda` for
/// sm_90). On a wrong name returns false and sets `error` to a sentence naming it and what is
/// possible.
bool parseTargets(std::string_view text, std::vector<Target> &out, std::string &error);

/// The highest level this machine runs; nullopt below x86-64-v3.
std::optional<CpuLevel> hostCpuLevel();

/// Asks the system, once per process, that its threads may use tile registers (AMX). False where it
/// refuses; code for such a level must not run then.
bool allowTiles();

} // namespace pellucid
