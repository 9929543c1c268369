// SPDX-License-Identifier: Apache-2.0
#include "package/Zip.h"

#include <algorithm>
#include <cstring>

namespace pellucid::package {

// Signatures and sizes of the fixed parts, from PKWARE's APPNOTE 6.3.
static constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50;
static constexpr uint32_t endSignature = 0x06054b50, end64Signature = 0x06064b50;
static constexpr uint32_t locatorSignature = 0x07064b50;
static constexpr size_t localFixed = 30, centralFixed = 46, endBytes = 22, end64Bytes = 56,
                        locatorBytes = 20;
static constexpr size_t tailBytes = end64Bytes + locatorBytes + endBytes;
static constexpr size_t localExtra64 = 20, centralExtra64 = 28, paddingHeader = 4;
static constexpr uint16_t zip64Tag = 1;
/// "Pc": an extra field of zeros that aligns the data.
static constexpr uint16_t paddingTag = 0x6350;
static constexpr uint16_t version45 = 45;
/// 1980-01-01, the epoch of zip: packages carry no time.
static constexpr uint16_t zipDate = 0x0021;
static constexpr uint16_t utf8Names = 0x0800;

namespace {
struct Bytes {
  std::vector<uint8_t> out;
  template <typename T> void put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      out.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  }
  void text(const std::string &s) { out.insert(out.end(), s.begin(), s.end()); }
};

template <typename T> T get(std::span<const uint8_t> bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
} // namespace

bool placeEntries(std::span<ZipEntry> entries, uint64_t &directoryOffset) {
  uint64_t at = 0;
  for (ZipEntry &entry : entries) {
    entry.headerOffset = at;
    uint64_t header = localFixed + entry.name.size() + localExtra64 + paddingHeader;
    uint64_t end;
    if (__builtin_add_overflow(at, header + recordAlignment - 1, &end))
      return false;
    entry.dataOffset = end / recordAlignment * recordAlignment;
    if (__builtin_add_overflow(entry.dataOffset, entry.bytes, &at))
      return false;
  }
  directoryOffset = at;
  return true;
}

std::vector<uint8_t> localHeader(const ZipEntry &entry) {
  uint64_t total = entry.dataOffset - entry.headerOffset;
  uint64_t extra = total - localFixed - entry.name.size();
  Bytes b;
  b.put(localSignature);
  b.put(version45);
  b.put(utf8Names);
  b.put(uint16_t(0)); // stored
  b.put(uint16_t(0));
  b.put(zipDate);
  b.put(entry.crc32);
  b.put(uint32_t(-1));
  b.put(uint32_t(-1));
  b.put(static_cast<uint16_t>(entry.name.size()));
  b.put(static_cast<uint16_t>(extra));
  b.text(entry.name);
  b.put(zip64Tag);
  b.put(uint16_t(16));
  b.put(entry.bytes);
  b.put(entry.bytes);
  b.put(paddingTag);
  b.put(static_cast<uint16_t>(extra - localExtra64 - paddingHeader));
  b.out.resize(total);
  return std::move(b.out);
}

static void putCentralEntry(Bytes &b, const ZipEntry &entry) {
  b.put(centralSignature);
  b.put(uint16_t(version45 | 3 << 8)); // made on Unix, so that the mode below counts
  b.put(version45);
  b.put(utf8Names);
  b.put(uint16_t(0));
  b.put(uint16_t(0));
  b.put(zipDate);
  b.put(entry.crc32);
  b.put(uint32_t(-1));
  b.put(uint32_t(-1));
  b.put(static_cast<uint16_t>(entry.name.size()));
  b.put(static_cast<uint16_t>(centralExtra64));
  b.put(uint16_t(0)); // comment
  b.put(uint16_t(0)); // disk
  b.put(uint16_t(0)); // internal attributes
  b.put(uint32_t(0100644u << 16));
  b.put(uint32_t(-1));
  b.text(entry.name);
  b.put(zip64Tag);
  b.put(uint16_t(24));
  b.put(entry.bytes);
  b.put(entry.bytes);
  b.put(entry.headerOffset);
}

static void putEnd(Bytes &b, uint64_t count, uint64_t size, uint64_t offset) {
  b.put(end64Signature);
  b.put(uint64_t(end64Bytes - 12));
  b.put(uint16_t(version45 | 3 << 8));
  b.put(version45);
  b.put(uint32_t(0));
  b.put(uint32_t(0));
  b.put(count);
  b.put(count);
  b.put(size);
  b.put(offset);
  b.put(locatorSignature);
  b.put(uint32_t(0));
  b.put(offset + size);
  b.put(uint32_t(1));
  b.put(endSignature);
  b.put(uint32_t(0));
  b.put(uint16_t(-1));
  b.put(uint16_t(-1));
  b.put(uint32_t(-1));
  b.put(uint32_t(-1));
  b.put(uint16_t(0));
}

std::vector<uint8_t> directory(std::span<const ZipEntry> entries, uint64_t directoryOffset) {
  Bytes b;
  for (const ZipEntry &entry : entries)
    putCentralEntry(b, entry);
  putEnd(b, entries.size(), b.out.size(), directoryOffset);
  return std::move(b.out);
}

/// Takes name, size and checksum of each entry; nothing else is believed.
static bool parseEntries(std::span<const uint8_t> central, std::vector<ZipEntry> &entries) {
  uint64_t at = 0;
  while (at < central.size()) {
    if (central.size() - at < centralFixed)
      return false;
    size_t nameBytes = get<uint16_t>(central, at + 28);
    if (nameBytes == 0 || nameBytes > maxRecordName ||
        central.size() - at < centralFixed + nameBytes + centralExtra64)
      return false;
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char *>(central.data() + at + centralFixed),
                      nameBytes);
    entry.crc32 = get<uint32_t>(central, at + 16);
    entry.bytes = get<uint64_t>(central, at + centralFixed + nameBytes + 4);
    entries.push_back(std::move(entry));
    at += centralFixed + nameBytes + centralExtra64;
  }
  return true;
}

static bool namesAreUnique(std::span<const ZipEntry> entries) {
  std::vector<std::string_view> names;
  for (const ZipEntry &entry : entries)
    names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

Status readDirectory(std::span<const uint8_t> file, std::vector<ZipEntry> &entries) {
  if (file.size() < tailBytes)
    return Status::error("the file has " + std::to_string(file.size()) +
                         " bytes, fewer than the shortest package");
  uint64_t tail = file.size() - tailBytes;
  if (get<uint32_t>(file, tail) != end64Signature ||
      get<uint32_t>(file, file.size() - endBytes) != endSignature)
    return Status::error(
        "the end of the file is not a package's: it is truncated or has bytes appended");
  uint64_t offset = get<uint64_t>(file, tail + 48);
  if (offset > tail)
    return Status::error("its directory is said to begin at byte " + std::to_string(offset) +
                         " of " + std::to_string(file.size()));
  entries.clear();
  // Offsets are not read but computed, and the whole directory is written again and compared: what
  // differs in any bit from what a writer makes of these entries is refused.
  uint64_t computed = 0;
  if (!parseEntries(file.subspan(offset, tail - offset), entries) ||
      !placeEntries(entries, computed) || computed != offset || !namesAreUnique(entries))
    return Status::error("its directory of records is corrupted");
  std::vector<uint8_t> expected = directory(entries, offset);
  if (expected.size() != file.size() - offset ||
      std::memcmp(expected.data(), file.data() + offset, expected.size()) != 0)
    return Status::error("its directory of records is corrupted");
  return {};
}

Status checkLocalHeader(std::span<const uint8_t> file, const ZipEntry &entry) {
  std::vector<uint8_t> expected = localHeader(entry);
  if (std::memcmp(expected.data(), file.data() + entry.headerOffset, expected.size()) != 0)
    return Status::error("the header of its record '" + entry.name + "' is corrupted");
  return {};
}

} // namespace pellucid::package
