// SPDX-License-Identifier: Apache-2.0
#include "package/PackageWriter.h"

#include "package/CheckCode.h"
#include "package/Crc32.h"
#include "package/Describe.h"
#include "package/ManifestBytes.h"
#include "package/ValidateManifest.h"
#include "package/Zip.h"
#include "support/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <unordered_map>

namespace pellucid::package {

Record ownedRecord(std::string name, std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {std::move(name), {owner->data(), owner->size()}, owner};
}

Record textRecord(std::string name, std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {
      std::move(name), {reinterpret_cast<const uint8_t *>(owner->data()), owner->size()}, owner};
}

using RecordsByName = std::unordered_map<std::string_view, const Record *>;

static Status indexRecords(const std::vector<Record> &records, RecordsByName &byName) {
  for (const Record &record : records) {
    const std::string &name = record.name;
    bool clean = !name.empty() && name.size() <= maxRecordName && name.front() != '/' &&
                 name.find("..") == name.npos && name.find('\0') == name.npos;
    if (!clean || !byName.emplace(name, &record).second)
      return Status::error("a package cannot hold the record name '" + name + "'" +
                           (clean ? " twice" : ""));
  }
  return {};
}

static Status checkContents(const Contents &contents, const std::vector<Record> &records) {
  RecordsByName byName;
  if (Status status = indexRecords(records, byName); !status.ok())
    return status;
  auto size = [&](const std::string &name) -> std::optional<uint64_t> {
    auto found = byName.find(name);
    return found == byName.end() ? std::nullopt : std::optional<uint64_t>(found->second->bytes());
  };
  if (Status status = validateManifest(contents.manifest, size); !status.ok())
    return status;
  return checkImages(contents.manifest,
                     [&](const std::string &name) { return byName.at(name)->data; });
}

static uint32_t checksum(const Record &record) {
  if (record.crc32)
    return *record.crc32;
  uint32_t crc = 0;
  record.sendTo([&](std::span<const uint8_t> piece) {
    crc = crc32(piece, crc);
    return true;
  });
  return crc;
}

/// Gives every piece of the package to `sink`, in order; stops at its first false.
static Status emit(const Contents &contents, auto sink) {
  std::vector<Record> records = {ownedRecord("manifest.bin", writeManifest(contents.manifest)), {}};
  records.insert(records.end(), contents.records.begin(), contents.records.end());
  records[1].name = "describe.json";
  if (Status status = checkContents(contents, records); !status.ok())
    return status;
  records[1] = textRecord("describe.json", describe(contents.manifest));
  std::vector<ZipEntry> entries;
  for (const Record &record : records)
    entries.push_back({record.name, record.bytes(), checksum(record)});
  uint64_t directoryOffset = 0;
  if (!placeEntries(entries, directoryOffset))
    return Status::error("the records together exceed 2^64 bytes");
  bool going = true;
  for (size_t i = 0; i < records.size() && going; ++i)
    going = sink(localHeader(entries[i])) && records[i].sendTo(sink);
  if (!going || !sink(directory(entries, directoryOffset)))
    return Status::error(std::strerror(errno));
  return {};
}

Status packageBytes(const Contents &contents, std::vector<uint8_t> &out) {
  out.clear();
  return emit(contents, [&](std::span<const uint8_t> piece) {
    out.insert(out.end(), piece.begin(), piece.end());
    return true;
  });
}

Status writePackage(const Contents &contents, const std::string &path) {
  OutputFile file(path);
  Status status;
  if (file.error().empty())
    status = emit(contents, [&](std::span<const uint8_t> piece) {
      return file.append(piece.data(), piece.size());
    });
  if (status.ok() && file.commit())
    return {};
  return Status::error("cannot write '" + path +
                       "': " + (file.error().empty() ? status.message() : file.error()));
}

} // namespace pellucid::package
