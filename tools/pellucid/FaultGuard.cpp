// SPDX-License-Identifier: Apache-2.0
#include "FaultGuard.h"

#include "CommandLine.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

namespace pellucid::cli {

/// A heap that was overwritten is found out by an abort.
static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGABRT};

static char faultMessage[1024]; // the handler must not allocate

static void onFault(int) {
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, faultMessage, std::strlen(faultMessage));
  ::_exit(Refused);
}

void guardAgainstFaults(const std::string &target) {
  std::string text = target.substr(0, 700) +
                     ": error: the kernel accessed memory outside of its arguments\nnote: "
                     "--sanitize names the line and the element\n";
  text.copy(faultMessage, sizeof faultMessage - 1);
  faultMessage[text.size()] = 0;
  struct sigaction action{};
  action.sa_handler = onFault;
  for (int signal : signals)
    ::sigaction(signal, &action, nullptr);
}

} // namespace pellucid::cli
