// SPDX-License-Identifier: Apache-2.0
#include "support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pellucid {

static constexpr size_t pieceBytes = size_t(1) << 20;

/// Why what has that name must stay, or empty.
static std::string whyNotReplaceable(const std::string &path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return {};
  if (S_ISDIR(status.st_mode))
    return "it is a folder";
  if (!S_ISREG(status.st_mode))
    return "it is not a regular file";
  return ::access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

static std::string followLinks(const std::string &path) {
  char resolved[PATH_MAX];
  struct stat status{};
  bool isLink = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return isLink && ::realpath(path.c_str(), resolved) ? resolved : path;
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// A name that nobody else thinks of: processes of other machines may write to the same folder, and
/// a killed one leaves its name behind.
static std::string temporaryName(const std::string &target) {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number))
    number = reinterpret_cast<uintptr_t>(&number) ^ static_cast<uint64_t>(::getpid()) << 32;
  static constexpr char hex[] = "0123456789abcdef";
  std::string name = target + ".";
  for (int i = 0; i < 16; ++i, number >>= 4)
    name += hex[number & 15];
  return name + ".tmp";
}

/// Calls `create` with names until one was free; it gives errno's EEXIST where it was not.
static bool withFreeName(const std::string &target, std::string &temporary, auto create) {
  for (int tries = 0; tries < 100; ++tries) {
    temporary = temporaryName(target);
    if (create())
      return true;
    if (errno != EEXIST)
      break;
  }
  temporary.clear();
  return false;
}

static std::string nameInFileTable(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

OutputFile::OutputFile(const std::string &path) : target(followLinks(path)) {
  failure = whyNotReplaceable(target);
  if (!failure.empty())
    return;
  fd = ::open(folderOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0 && ::access(nameInFileTable(fd).c_str(), F_OK) == 0)
    return;
  // Not every file system has files without names, and only /proc can give them one.
  if (fd >= 0)
    ::close(fd);
  if (!withFreeName(target, temporary, [&] {
        fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return fd >= 0;
      }))
    fail();
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::move(other.temporary)),
      failure(std::move(other.failure)), fd(std::exchange(other.fd, -1)), written(other.written) {}

OutputFile::~OutputFile() {
  if (fd < 0)
    return;
  ::close(fd);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

bool OutputFile::fail() {
  failure = std::strerror(errno);
  return false;
}

bool OutputFile::writeAt(const char *data, size_t bytes, uint64_t at) {
  while (bytes > 0) {
    ssize_t done = ::pwrite(fd, data, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail();
    data += done;
    at += static_cast<uint64_t>(done);
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

bool OutputFile::append(const void *data, size_t bytes) {
  if (fd < 0 || !failure.empty())
    return false;
  const char *begin = static_cast<const char *>(data);
  while (bytes > 0) {
    size_t piece = std::min(bytes, pieceBytes);
    bool isZero =
        piece == pieceBytes && begin[0] == 0 && std::memcmp(begin, begin + 1, piece - 1) == 0;
    if (!isZero && !writeAt(begin, piece, written))
      return false;
    begin += piece;
    written += piece;
    bytes -= piece;
  }
  return true;
}

bool OutputFile::commit() {
  if (fd < 0 || !failure.empty())
    return false;
  if (::ftruncate(fd, static_cast<off_t>(written)) != 0)
    return fail();
  struct stat status{};
  bool isNameless = ::fstat(fd, &status) == 0 && status.st_nlink == 0;
  if (isNameless && !withFreeName(target, temporary, [&] {
        return ::linkat(AT_FDCWD, nameInFileTable(fd).c_str(), AT_FDCWD, temporary.c_str(),
                        AT_SYMLINK_FOLLOW) == 0;
      }))
    return fail();
  bool isWhole = ::close(std::exchange(fd, -1)) == 0;
  if (isWhole && ::rename(temporary.c_str(), target.c_str()) == 0)
    return true;
  fail();
  ::unlink(temporary.c_str());
  return false;
}

} // namespace pellucid
