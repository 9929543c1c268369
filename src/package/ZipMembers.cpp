// SPDX-License-Identifier: Apache-2.0
#include "package/ZipMembers.h"

#include <algorithm>
#include <iterator>

namespace pellucid::package {

namespace {

uint64_t little(std::span<const uint8_t> bytes, uint64_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

/// The 64-bit values of a zip64 extra field stand for those fields that hold 0xffffffff, in this
/// order.
void applyZip64(std::span<const uint8_t> extra, ZipMember &member) {
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    uint64_t size = little(extra, at + 2, 2);
    if (size > extra.size() - at - 4)
      return;
    if (little(extra, at, 2) == 1) {
      std::span<const uint8_t> values = extra.subspan(at + 4, size);
      uint64_t next = 0;
      for (uint64_t *field : {&member.bytes, &member.compressed, &member.header})
        if (*field == 0xffffffff && next + 8 <= values.size()) {
          *field = little(values, next, 8);
          next += 8;
        }
    }
    at += 4 + size;
  }
}

/// Where the central directory is and how many members it has.
bool findDirectory(std::span<const uint8_t> file, uint64_t &at, uint64_t &count) {
  if (file.size() < 22)
    return false;
  for (uint64_t end = file.size() - 22; end + 65557 >= file.size(); --end) {
    if (little(file, end, 4) == 0x06054b50) {
      count = little(file, end + 10, 2);
      at = little(file, end + 16, 4);
      bool wide = (at == 0xffffffff || count == 0xffff) && end >= 20 &&
                  little(file, end - 20, 4) == 0x07064b50;
      if (!wide)
        return true;
      uint64_t record = little(file, end - 12, 8);
      if (file.size() < 56 || record > file.size() - 56 || little(file, record, 4) != 0x06064b50)
        return false;
      count = little(file, record + 32, 8);
      at = little(file, record + 48, 8);
      return true;
    }
    if (end == 0)
      break;
  }
  return false;
}

bool readMember(std::span<const uint8_t> file, uint64_t &at, ZipMember &member) {
  if (at > file.size() || file.size() - at < 46 || little(file, at, 4) != 0x02014b50)
    return false;
  uint64_t nameSize = little(file, at + 28, 2), extraSize = little(file, at + 30, 2),
           note = little(file, at + 32, 2);
  if (nameSize + extraSize + note > file.size() - at - 46)
    return false;
  member.flags = static_cast<uint16_t>(little(file, at + 8, 2));
  member.method = static_cast<uint16_t>(little(file, at + 10, 2));
  member.crc32 = static_cast<uint32_t>(little(file, at + 16, 4));
  member.compressed = little(file, at + 20, 4);
  member.bytes = little(file, at + 24, 4);
  member.header = little(file, at + 42, 4);
  member.name.assign(reinterpret_cast<const char *>(file.data()) + at + 46, nameSize);
  applyZip64(file.subspan(at + 46 + nameSize, extraSize), member);
  at += 46 + nameSize + extraSize + note;
  return true;
}

} // namespace

bool listZipMembers(std::span<const uint8_t> file, std::vector<ZipMember> &members) {
  uint64_t at = 0, count = 0;
  if (!findDirectory(file, at, count))
    return false;
  members.clear();
  for (uint64_t i = 0; i < count; ++i)
    if (!readMember(file, at, members.emplace_back()))
      return false;
  return true;
}

std::vector<ZipMember> scanZipHeaders(std::span<const uint8_t> file, size_t most) {
  static constexpr uint8_t mark[] = {'P', 'K', 3, 4};
  std::vector<ZipMember> found;
  for (auto at = file.begin(); found.size() < most; ++at) {
    at = std::search(at, file.end(), std::begin(mark), std::end(mark));
    if (file.end() - at < 30)
      break;
    uint64_t header = static_cast<uint64_t>(at - file.begin()), size = little(file, header + 26, 2);
    if (size == 0 || size > file.size() - header - 30)
      continue;
    ZipMember member;
    member.header = header;
    member.name.assign(reinterpret_cast<const char *>(file.data()) + header + 30, size);
    found.push_back(std::move(member));
  }
  return found;
}

bool findZipData(std::span<const uint8_t> file, const ZipMember &member, uint64_t &start) {
  if (member.header > file.size() || file.size() - member.header < 30 ||
      little(file, member.header, 4) != 0x04034b50)
    return false;
  start = member.header + 30 + little(file, member.header + 26, 2) +
          little(file, member.header + 28, 2);
  bool isStored = member.method == 0;
  return start <= file.size() && member.compressed <= file.size() - start &&
         (!isStored || member.bytes == member.compressed);
}

} // namespace pellucid::package
