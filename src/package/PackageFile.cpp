// SPDX-License-Identifier: Apache-2.0
#include "package/PackageFile.h"

#include "package/CheckCode.h"
#include "package/Crc32.h"
#include "package/FileKind.h"
#include "package/ManifestBytes.h"
#include "package/ValidateManifest.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pellucid::package {

static constexpr std::string_view manifestName = "manifest.bin";

static Status systemError(const std::string &what, const std::string &path) {
  return Status::error("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

Status PackageFile::mapFile(const std::string &path) {
  // A pipe would keep the open waiting for its writer.
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return systemError("open", path);
  struct stat stat;
  if (fstat(fd, &stat) != 0)
    return systemError("read", path);
  if (!S_ISREG(stat.st_mode) || stat.st_size == 0)
    return Status::error("'" + path + "' is " +
                         (S_ISREG(stat.st_mode) ? "empty" : "no regular file"));
  size_t size = static_cast<size_t>(stat.st_size);
  void *address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED)
    return systemError("map", path);
  mapping = address;
  file = {static_cast<const uint8_t *>(address), size};
  return {};
}

PackageFile::~PackageFile() {
  if (mapping)
    munmap(mapping, file.size());
  if (fd >= 0)
    close(fd);
}

Status PackageFile::open(const std::string &path, std::unique_ptr<PackageFile> &out) {
  std::unique_ptr<PackageFile> opened(new PackageFile);
  if (Status status = opened->mapFile(path); !status.ok())
    return status;
  if (Status status = opened->read(); !status.ok())
    return Status::error("'" + path + "' cannot be loaded: " + status.message());
  out = std::move(opened);
  return {};
}

Status PackageFile::openMemory(std::span<const uint8_t> bytes, std::unique_ptr<PackageFile> &out) {
  std::unique_ptr<PackageFile> opened(new PackageFile);
  opened->file = bytes;
  if (Status status = opened->read(); !status.ok())
    return Status::error("the package in memory cannot be loaded: " + status.message());
  out = std::move(opened);
  return {};
}

const ZipEntry *PackageFile::find(std::string_view name) const {
  auto found = indexOfName.find(name);
  return found == indexOfName.end() ? nullptr : &directory[found->second];
}

std::optional<std::span<const uint8_t>> PackageFile::record(std::string_view name) const {
  const ZipEntry *entry = find(name);
  return entry ? std::optional(data(*entry)) : std::nullopt;
}

Status PackageFile::read() {
  if (!looksLikePackage(file))
    return Status::error("expects a package, got " + std::string(toString(fileKind(file))));
  // A newer format may lay out everything behind the manifest's header in another way, so its
  // version comes first.
  if (file.size() >= recordAlignment + manifestHeaderBytes)
    if (Status status = checkManifestHeader(file.subspan(recordAlignment)); !status.ok())
      return status;
  if (Status status = readDirectory(file, directory); !status.ok())
    return status;
  for (size_t i = 0; i < directory.size(); ++i)
    indexOfName.emplace(directory[i].name, i);
  if (Status status = readManifestRecord(); !status.ok())
    return status;
  return checkCode();
}

Status PackageFile::readManifestRecord() {
  if (directory.empty() || directory.front().name != manifestName)
    return Status::error("its first record is not 'manifest.bin'");
  if (Status status = checkRecord(directory.front()); !status.ok())
    return status;
  if (Status status = readManifest(data(directory.front()), contents); !status.ok())
    return status;
  return validateManifest(contents, [this](const std::string &name) -> std::optional<uint64_t> {
    const ZipEntry *entry = find(name);
    return entry ? std::optional(entry->bytes) : std::nullopt;
  });
}

Status PackageFile::checkCode() const {
  for (const ZipEntry &entry : directory)
    if (entry.name.starts_with("code/"))
      if (Status status = checkRecord(entry); !status.ok())
        return status;
  return checkImages(contents, [this](const std::string &name) { return *record(name); });
}

Status PackageFile::checkRecord(const ZipEntry &entry) const {
  if (Status status = checkLocalHeader(file, entry); !status.ok())
    return status;
  if (crc32(data(entry)) != entry.crc32)
    return Status::error("the checksum of its record '" + entry.name +
                         "' does not match: it is corrupted");
  return {};
}

Status PackageFile::verify() const {
  for (const ZipEntry &entry : directory)
    if (Status status = checkRecord(entry); !status.ok())
      return status;
  for (const auto &[list, kind] :
       {std::pair(&contents.weights, "weight"), std::pair(&contents.state, "state")})
    for (const Weight &weight : *list)
      if (crc32(record(weight.record)->subspan(weight.offset, weight.bytes)) != weight.crc32)
        return Status::error(std::string("the checksum of ") + kind + " '" + weight.name +
                             "' does not match");
  return {};
}

} // namespace pellucid::package
