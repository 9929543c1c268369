// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"
#include "package/Status.h"
#include "package/Zip.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace pellucid::package {

/// A package opened for reading: mapped, its directory, manifest and code checked, its weights
/// untouched. Immutable after opening, so safe from many threads.
class PackageFile {
public:
  static Status open(const std::string &path, std::unique_ptr<PackageFile> &out);
  /// `bytes` must outlive the object.
  static Status openMemory(std::span<const uint8_t> bytes, std::unique_ptr<PackageFile> &out);
  ~PackageFile();
  PackageFile(const PackageFile &) = delete;
  PackageFile &operator=(const PackageFile &) = delete;

  const Manifest &manifest() const { return contents; }
  const std::vector<ZipEntry> &entries() const { return directory; }
  const ZipEntry *find(std::string_view name) const;
  std::span<const uint8_t> data(const ZipEntry &entry) const {
    return file.subspan(entry.dataOffset, entry.bytes);
  }
  std::optional<std::span<const uint8_t>> record(std::string_view name) const;

  /// The checksums and headers of all records; reads the whole file.
  Status verify() const;

  /// The open file, for mapping code from it; -1 when the package lies in memory.
  int descriptor() const { return fd; }

private:
  PackageFile() = default;
  std::span<const uint8_t> file;
  void *mapping = nullptr;
  int fd = -1;
  std::vector<ZipEntry> directory;
  std::unordered_map<std::string_view, size_t> indexOfName;
  Manifest contents;

  Status mapFile(const std::string &path);
  Status read();
  Status readManifestRecord();
  Status checkCode() const;
  Status checkRecord(const ZipEntry &entry) const;
};

} // namespace pellucid::package
