// SPDX-License-Identifier: Apache-2.0
#include "StandardStreams.h"

#include "CommandLine.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace pellucid::cli {

void prepareStandardStreams() {
  // An open takes the lowest number that is free.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", O_RDWR);
  std::signal(SIGXFSZ, SIG_IGN);
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
