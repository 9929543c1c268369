// SPDX-License-Identifier: Apache-2.0
#include "archive/RecordWriter.h"

#include "package/ByteSource.h"

#include <algorithm>

namespace pellucid::archive {

namespace {

constexpr uint64_t alignment = 64, most32 = 0xffffffff;
constexpr uint16_t versionNeeded = 45; ///< zip64
constexpr uint16_t flagUtf8 = 0x800;

struct Bytes {
  std::vector<uint8_t> out;

  Bytes &number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i)
      out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  Bytes &u16(uint64_t value) { return number(value, 2); }
  Bytes &u32(uint64_t value) { return number(value, 4); }
  Bytes &u64(uint64_t value) { return number(value, 8); }
  Bytes &text(const std::string &value) {
    out.insert(out.end(), value.begin(), value.end());
    return *this;
  }
  Bytes &append(const std::vector<uint8_t> &bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return *this;
  }
};

/// The extra field of numbers that 32 bits do not hold.
std::vector<uint8_t> wideNumbers(std::initializer_list<uint64_t> numbers) {
  Bytes values;
  for (uint64_t number : numbers)
    values.u64(number);
  if (values.out.empty())
    return {};
  return Bytes().u16(1).u16(values.out.size()).append(values.out).out;
}

/// What both headers of a record have in common.
Bytes &common(Bytes &header, uint32_t crc32, uint64_t bytes, const std::string &name) {
  uint64_t narrow = std::min(bytes, most32);
  header.u16(versionNeeded).u16(flagUtf8).u16(0).u16(0).u16(0x21); // stored, 1 January 1980
  return header.u32(crc32).u32(narrow).u32(narrow).u16(name.size());
}

} // namespace

void RecordWriter::add(const std::string &name, std::span<const uint8_t> bytes) {
  Entry entry{root.empty() ? name : root + "/" + name, bytes.size(), file.size(),
              package::crc32InPieces(bytes)};
  std::vector<uint8_t> extra;
  if (entry.bytes >= most32)
    extra = wideNumbers({entry.bytes, entry.bytes});
  // Filled up as PyTorch does, with a field of its own kind.
  constexpr uint64_t fixed = 30, fieldHead = 4;
  uint64_t start = entry.header + fixed + entry.name.size() + extra.size() + fieldHead;
  uint64_t padding = (alignment - start % alignment) % alignment;
  extra = Bytes().append(extra).u16(0x4246).u16(padding).text(std::string(padding, 'Z')).out;
  Bytes header;
  header.u32(0x04034b50);
  common(header, entry.crc32, entry.bytes, entry.name).u16(extra.size());
  append(header.text(entry.name).append(extra).out);
  package::sendPieces(bytes, [&](std::span<const uint8_t> piece) {
    return file.append(piece.data(), piece.size());
  });
  entries.push_back(std::move(entry));
}

void RecordWriter::finish() {
  uint64_t start = file.size();
  for (const Entry &entry : entries) {
    std::vector<uint8_t> extra;
    if (entry.bytes >= most32 && entry.header >= most32)
      extra = wideNumbers({entry.bytes, entry.bytes, entry.header});
    else if (entry.bytes >= most32)
      extra = wideNumbers({entry.bytes, entry.bytes});
    else if (entry.header >= most32)
      extra = wideNumbers({entry.header});
    Bytes record;
    record.u32(0x02014b50).u16(versionNeeded);
    common(record, entry.crc32, entry.bytes, entry.name).u16(extra.size());
    record.u16(0).u16(0).u16(0).u32(0).u32(std::min(entry.header, most32));
    append(record.text(entry.name).append(extra).out);
  }
  uint64_t end = file.size(), count = entries.size();
  bool isWide = end >= most32 || count >= 0xffff;
  Bytes last;
  if (isWide) {
    last.u32(0x06064b50).u64(44).u16(versionNeeded).u16(versionNeeded).u32(0).u32(0);
    last.u64(count).u64(count).u64(end - start).u64(start);
    last.u32(0x07064b50).u32(0).u64(end).u32(1);
  }
  uint64_t narrowCount = isWide ? 0xffff : count;
  last.u32(0x06054b50).u16(0).u16(0).u16(narrowCount).u16(narrowCount);
  last.u32(isWide ? most32 : end - start).u32(isWide ? most32 : start).u16(0);
  append(last.out);
}

} // namespace pellucid::archive
