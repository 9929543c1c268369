// SPDX-License-Identifier: Apache-2.0
/// The front end of kernels: every kernel of a file, its arguments guessed as `pellucid kernels`
/// guesses them.
#include "FuzzTarget.h"

#include "driver/ListKernels.h"
#include "support/Diagnostics.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  static const int fd = ::memfd_create("fuzz.py", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, data.data(), data.size(), 0) != static_cast<ssize_t>(data.size()))
    return 0;
  try {
    driver::HostLimits limits;
    limits.steps = 200'000;
    limits.bytes = 64 << 20;
    (void)driver::listKernels(path, {}, limits);
  } catch (const DiagnosticError &) {
  }
  return 0;
}
