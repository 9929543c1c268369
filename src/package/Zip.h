// SPDX-License-Identifier: Apache-2.0
/// The zip64 container of a package: records stored, data on the 4096-byte grid, every field fixed
/// by the names, sizes and checksums, so that a reader compares whole headers instead of trusting
/// their parts.
#pragma once

#include "package/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pellucid::package {

inline constexpr uint64_t recordAlignment = 4096;
inline constexpr size_t maxRecordName = 1024;

struct ZipEntry {
  std::string name;
  uint64_t bytes = 0;
  uint32_t crc32 = 0;
  uint64_t headerOffset = 0, dataOffset = 0; ///< set by placeEntries
};

/// Gives every entry its offsets, in order; returns where the directory begins. False on a 64-bit
/// overflow.
bool placeEntries(std::span<ZipEntry> entries, uint64_t &directoryOffset);

/// The local header, padded so that the data follows it at `dataOffset`.
std::vector<uint8_t> localHeader(const ZipEntry &entry);

/// The central directory and its end records, to the end of the file.
std::vector<uint8_t> directory(std::span<const ZipEntry> entries, uint64_t directoryOffset);

/// Reads and checks the directory; the entries lie within the file and do not overlap. Local
/// headers are not looked at (checkLocalHeader). Safe on any bytes.
Status readDirectory(std::span<const uint8_t> file, std::vector<ZipEntry> &entries);

Status checkLocalHeader(std::span<const uint8_t> file, const ZipEntry &entry);

} // namespace pellucid::package
