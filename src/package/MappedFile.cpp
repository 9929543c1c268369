// SPDX-License-Identifier: Apache-2.0
#include "package/MappedFile.h"

#include "package/ByteSource.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pellucid::package {

namespace {
/// Where files are mapped now: the only memory that may be let go of, for it can be read again.
struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, uintptr_t> endOfStart;
};
Mappings &mappings() {
  static Mappings all;
  return all;
}
} // namespace

static uintptr_t address(const uint8_t *data) { return reinterpret_cast<uintptr_t>(data); }

void letGo(std::span<const uint8_t> bytes) {
  static const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t start = (address(bytes.data()) + page - 1) / page * page;
  uintptr_t end = (address(bytes.data()) + bytes.size()) / page * page;
  if (start >= end)
    return;
  std::lock_guard lock(mappings().mutex);
  auto after = mappings().endOfStart.upper_bound(start);
  if (after != mappings().endOfStart.begin() && end <= std::prev(after)->second)
    ::madvise(reinterpret_cast<void *>(start), end - start, MADV_DONTNEED);
}

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
  if (size) {
    std::lock_guard lock(mappings().mutex);
    mappings().endOfStart[reinterpret_cast<uintptr_t>(data)] =
        reinterpret_cast<uintptr_t>(data) + size;
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const uint8_t *>(data), size));
}

MappedFile::~MappedFile() {
  if (!size)
    return;
  std::lock_guard lock(mappings().mutex);
  mappings().endOfStart.erase(address(data));
  ::munmap(const_cast<uint8_t *>(data), size);
}

} // namespace pellucid::package
