// SPDX-License-Identifier: Apache-2.0
#include "driver/Worker.h"
#include "support/CrashHandler.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

/// Reads one code generation job from standard input and answers on standard output. LLVM's own
/// messages go to standard error, so the answer's descriptor is moved out of the way of anything
/// that prints.
int main() {
  // A compiler that is killed takes its workers along.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The compiler says that the worker was ended by the signal.
  pellucid::reportCrashes("pellucid-worker", pellucid::AfterCrash::Raise);
  int output = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return pellucid::driver::serveWorker(STDIN_FILENO, output);
}
