// SPDX-License-Identifier: Apache-2.0
/// The members of any zip or zip64 file, by its central directory: what numpy, PyTorch and other
/// writers make. Zip.h has the one form that packages have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pellucid::package {

struct ZipMember {
  std::string name;
  uint16_t method = 0, flags = 0; ///< method 0: stored, 8: deflated; flag 1: encrypted
  uint32_t crc32 = 0;
  uint64_t compressed = 0, bytes = 0, header = 0;
};

/// Safe on any bytes; memory grows with what the directory really holds. False for what is no whole
/// zip file.
bool listZipMembers(std::span<const uint8_t> file, std::vector<ZipMember> &members);

/// Of a file without its end: the members whose headers are still there, by the headers before
/// their data, each with its name and where it begins. Those that other members' data imitates are
/// among them; at most `most`.
std::vector<ZipMember> scanZipHeaders(std::span<const uint8_t> file, size_t most);

/// Where the member's data begins. False when it does not lie in the file.
bool findZipData(std::span<const uint8_t> file, const ZipMember &member, uint64_t &start);

} // namespace pellucid::package
