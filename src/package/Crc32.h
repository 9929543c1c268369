// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace pellucid::package {

/// The CRC-32 of zip (reflected 0x04c11db7), continued from `crc` (0 at the start). Over 10 GB/s
/// where the CPU multiplies without carries.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc = 0);

/// The same by tables alone; what crc32 falls back to.
uint32_t crc32Portable(std::span<const uint8_t> bytes, uint32_t crc = 0);

} // namespace pellucid::package
