// SPDX-License-Identifier: Apache-2.0
#include "FaultGuard.h"

#include "StandardStreams.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <pellucid/runtime.h>
#include <unistd.h>

namespace pellucid::cli {

/// A heap that was overwritten is found out by an abort.
static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGABRT};

static char faultMessage[1024]; // the handler must not allocate
static int standardError = STDERR_FILENO;

static void onFault(int) {
  [[maybe_unused]] ssize_t written =
      ::write(standardError, faultMessage, std::strlen(faultMessage));
  ::_exit(Refused);
}

/// Before it aborts, the C library says on descriptor 2 what it found in the heap. The first line
/// is ours, so from here on messages go through a copy of the descriptor.
static void silenceCLibrary() {
  if (standardError != STDERR_FILENO)
    return;
  int copy = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  FILE *stream = copy < 0 || nowhere < 0 ? nullptr : printableStream(copy);
  if (stream) {
    std::setvbuf(stream, nullptr, _IONBF, 0);
    standardError = copy;
    stderr = stream;
    ::dup2(nowhere, STDERR_FILENO);
  } else if (copy >= 0) {
    ::close(copy);
  }
  if (nowhere >= 0)
    ::close(nowhere);
}

void guardAgainstFaults(const std::string &target, const std::string &note) {
  std::string text = target.substr(0, 700) +
                     ": error: the kernel accessed memory outside of its arguments\nnote: " + note +
                     "\n";
  text.copy(faultMessage, sizeof faultMessage - 1);
  faultMessage[text.size()] = 0;
  silenceCLibrary();
  struct sigaction action{};
  action.sa_handler = onFault;
  for (int signal : signals)
    ::sigaction(signal, &action, nullptr);
}

int32_t guardNamed(const std::string &text) {
  return text == "end" ? PELLUCID_GUARD_END : text == "begin" ? PELLUCID_GUARD_BEGIN : 0;
}

Option addGuard(VerbLine &line, std::string &guard) {
  return line
      .add(
          "--guard", guard,
          "let every tensor end, or begin, at a page without access: a CPU kernel that goes beyond "
          "is found out")
      .valueText("end|begin")
      .check([](const std::string &text) {
        return guardNamed(text) ? std::string() : "'" + text + "' is neither end nor begin";
      });
}

} // namespace pellucid::cli
