// SPDX-License-Identifier: Apache-2.0
#include "support/SourceFile.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pellucid {

static constexpr size_t mostBytes = size_t(256) << 20;

SourceFile::SourceFile(std::string path, std::string text)
    : filePath(std::move(path)), fileText(std::move(text)) {
  lineStarts.push_back(0);
  for (uint32_t i = 0; i < fileText.size(); ++i) {
    bool carriageReturnAlone =
        fileText[i] == '\r' && (i + 1 == fileText.size() || fileText[i + 1] != '\n');
    if (fileText[i] == '\n' || carriageReturnAlone)
      lineStarts.push_back(i + 1);
  }
}

/// Waits so long for something to read, or for the last writer to be gone; false when neither
/// comes.
static bool waitToRead(int fd, int milliseconds) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, milliseconds) > 0;
}

/// Reads a file or a pipe to its end; 0 or an errno.
static int readWhole(int fd, std::string &text) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return errno;
  if (S_ISDIR(info.st_mode))
    return EISDIR;
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
    return ENOTSUP;
  // A pipe that nobody has opened for writing yet reads like one at its end.
  constexpr int millisecondsForAWriter = 2000;
  bool awaitsWriter = S_ISFIFO(info.st_mode);
  char block[1 << 16];
  for (;;) {
    ssize_t n = ::read(fd, block, sizeof block);
    if (n == 0 && awaitsWriter) {
      awaitsWriter = false;
      if (!waitToRead(fd, millisecondsForAWriter))
        return ENODATA;
    } else if (n == 0) {
      return 0;
    } else if (n < 0 && errno == EAGAIN) {
      waitToRead(fd, -1);
    } else if (n < 0 && errno != EINTR) {
      return errno;
    } else if (n > 0) {
      awaitsWriter = false;
      text.append(block, static_cast<size_t>(n));
      if (text.size() > mostBytes)
        return EFBIG;
    }
  }
}

std::shared_ptr<const SourceFile> SourceFile::open(const std::string &path) {
  // A pipe that nobody writes to would keep the open waiting.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return nullptr;
  std::string text;
  int error = readWhole(fd, text);
  ::close(fd);
  errno = error;
  return error ? nullptr : std::make_shared<SourceFile>(path, std::move(text));
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineStarts.size())
    return {};
  size_t begin = lineStarts[number - 1];
  size_t end = number < lineStarts.size() ? lineStarts[number] : fileText.size();
  while (end > begin && (fileText[end - 1] == '\n' || fileText[end - 1] == '\r'))
    --end;
  return std::string_view(fileText).substr(begin, end - begin);
}

} // namespace pellucid
