// SPDX-License-Identifier: Apache-2.0
/// A package file. A first byte of 'm' makes the rest the manifest of an archive whose checksums
/// are right, which the bytes of a whole file would rarely be.
#include "FuzzTarget.h"

#include "package/Crc32.h"
#include "package/Describe.h"
#include "package/PackageFile.h"
#include "package/Zip.h"

using namespace pellucid::package;

static std::vector<uint8_t> archiveOf(std::span<const uint8_t> manifest) {
  std::vector<uint8_t> weight(256, 1), out;
  std::vector<ZipEntry> entries = {
      {"manifest.bin", manifest.size(), crc32(manifest)},
      {"weights/0", weight.size(), crc32(weight)},
  };
  uint64_t directoryOffset = 0;
  if (!placeEntries(entries, directoryOffset))
    return {};
  auto append = [&](std::span<const uint8_t> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  append(localHeader(entries[0]));
  append(manifest);
  append(localHeader(entries[1]));
  append(weight);
  append(directory(entries, directoryOffset));
  return out;
}

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  std::vector<uint8_t> archive;
  if (!data.empty() && data[0] == 'm') {
    archive = archiveOf(data.subspan(1));
    data = archive;
  }
  std::unique_ptr<PackageFile> file;
  if (!PackageFile::openMemory(data, file).ok())
    return 0;
  (void)file->verify();
  describe(file->manifest());
  return 0;
}
