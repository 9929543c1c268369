// SPDX-License-Identifier: Apache-2.0
#include "package/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pellucid::package {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path, Status &status) {
  auto refuse = [&](const char *why) {
    status = Status::error(why);
    return nullptr;
  };
  auto fail = [&](int error) { return refuse(std::strerror(error)); };
  // A pipe would keep the open waiting for its writer.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail(errno);
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return refuse(S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file");
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *data = size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  int error = errno;
  ::close(fd);
  if (data == MAP_FAILED)
    return fail(error);
  status = Status();
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const uint8_t *>(data), size));
}

MappedFile::~MappedFile() {
  if (size)
    ::munmap(const_cast<uint8_t *>(data), size);
}

} // namespace pellucid::package
