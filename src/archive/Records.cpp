// SPDX-License-Identifier: Apache-2.0
#include "archive/Records.h"

#include "package/ByteSource.h"
#include "package/ZipMembers.h"
#include "support/Printable.h"

namespace pellucid::archive {

using package::Status;

/// What all names begin with, up to and with a slash; archives are one folder.
static std::string commonRoot(const std::vector<package::ZipMember> &members) {
  if (members.empty())
    return {};
  size_t slash = members.front().name.find('/');
  if (slash == std::string::npos)
    return {};
  std::string root = members.front().name.substr(0, slash + 1);
  for (const package::ZipMember &member : members)
    if (!member.name.starts_with(root))
      return {};
  return root;
}

/// The directory at the end of a zip file says where all records lie; without it, the last one that
/// begins in the file says how far the file goes.
static std::string whatIsLeft(std::span<const uint8_t> file) {
  constexpr size_t most = 100'000;
  std::vector<package::ZipMember> begun = package::scanZipHeaders(file, most);
  std::string text =
      "is not a complete zip archive: the directory at its end is missing or damaged, as of "
      "a file that was cut off while it was written or copied; it has " +
      std::to_string(file.size()) + " bytes";
  if (begun.empty())
    return text;
  return text + ", in which " + std::to_string(begun.size()) +
         (begun.size() == 1 ? " record begins" : " records begin") + ", the last '" +
         printableLine(begun.back().name) + "' at byte " + std::to_string(begun.back().header);
}

Status Records::read(std::span<const uint8_t> file) {
  byName.clear();
  std::vector<package::ZipMember> members;
  if (!listZipMembers(file, members))
    return Status::error(whatIsLeft(file));
  std::string root = commonRoot(members);
  for (const package::ZipMember &member : members) {
    std::string shown = "record '" + member.name + "' ";
    if (member.flags & 1)
      return Status::error(shown + "is encrypted");
    if (member.method != 0)
      return Status::error(shown + "is compressed, which torch.export.save does not do; save it "
                                   "again from PyTorch");
    uint64_t start = 0;
    if (!findZipData(file, member, start))
      return Status::error(shown + "reaches beyond the file: it is truncated or damaged");
    Record record{file.subspan(start, member.bytes), member.crc32};
    if (!byName.emplace(member.name.substr(root.size()), record).second)
      return Status::error(shown + "is there twice");
  }
  return {};
}

const Record *Records::find(const std::string &name) const {
  auto entry = byName.find(name);
  return entry == byName.end() ? nullptr : &entry->second;
}

Status Records::take(const std::string &name, std::span<const uint8_t> &bytes) const {
  const Record *record = find(name);
  if (!record)
    return Status::error("has no record '" + name + "'");
  // torch.serialization.set_crc32_options(False) leaves the field empty.
  if (record->crc32 && package::crc32InPieces(record->bytes) != record->crc32)
    return Status::error("record '" + name + "' is damaged: its checksum differs");
  bytes = record->bytes;
  return {};
}

} // namespace pellucid::archive
