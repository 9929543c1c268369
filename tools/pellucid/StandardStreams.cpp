// SPDX-License-Identifier: Apache-2.0
#include "StandardStreams.h"

#include "CommandLine.h"
#include "support/Printable.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace pellucid::cli {

namespace {

/// What stands between one of our streams and its descriptor.
struct TextFilter {
  int fd;
  std::string rest; ///< the first bytes of a character whose others are not written yet
};

/// Bytes at the end of `text` that begin a character and are not all of it.
size_t unfinishedBytes(const std::string &text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80)
      continue;
    size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

bool writeAll(int fd, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

ssize_t writeFiltered(void *cookie, const char *data, size_t bytes) {
  auto &filter = *static_cast<TextFilter *>(cookie);
  std::string text = filter.rest + std::string(data, bytes);
  filter.rest = text.substr(text.size() - unfinishedBytes(text));
  text.resize(text.size() - filter.rest.size());
  return writeAll(filter.fd, printable(text)) ? static_cast<ssize_t>(bytes) : 0;
}

/// What is left of a cut character is no character.
int closeFiltered(void *cookie) {
  auto *filter = static_cast<TextFilter *>(cookie);
  bool isWritten = writeAll(filter->fd, printable(filter->rest));
  delete filter;
  return isWritten ? 0 : EOF;
}

} // namespace

FILE *printableStream(int fd) {
  cookie_io_functions_t functions{};
  functions.write = writeFiltered;
  functions.close = closeFiltered;
  auto *filter = new TextFilter{fd, ""};
  FILE *stream = ::fopencookie(filter, "w", functions);
  if (!stream)
    delete filter;
  return stream;
}

void prepareStandardStreams() {
  // An open takes the lowest number that is free.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", O_RDWR);
  std::signal(SIGXFSZ, SIG_IGN);
  if (FILE *output = printableStream(STDOUT_FILENO)) {
    // As the C library buffers: lines where somebody reads along.
    std::setvbuf(output, nullptr, ::isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = output;
  }
  if (FILE *errors = printableStream(STDERR_FILENO)) {
    std::setvbuf(errors, nullptr, _IONBF, 0);
    stderr = errors;
  }
}

int finishStandardOutput(int code) {
  bool isLost = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !isLost)
    return code;
  int refused = refuse("standard output",
                       std::string("cannot be written") +
                           (errno ? std::string(": ") + std::strerror(errno) : std::string()));
  return code == Ok ? refused : code;
}

} // namespace pellucid::cli
