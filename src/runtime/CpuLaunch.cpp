// SPDX-License-Identifier: Apache-2.0
#include "runtime/CpuLaunch.h"

#include "runtime/GuardedMemory.h"
#include "support/PlainNumbers.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>

namespace pellucid::runtime {

/// KernelAbi.h's.
static constexpr size_t scratchAlignment = 64;

/// A thread works on one piece at a time, so one block per thread serves all kernels.
static HostBlock &threadScratch() {
  static thread_local HostBlock scratch;
  return scratch;
}

static GuardedBlock &guardedScratch() {
  static thread_local GuardedBlock scratch;
  return scratch;
}

bool CpuLaunch::enter() {
  size_t bytes = prepared.variant->executable->scratchBytes;
  if (isGuarded())
    return guardedScratch().allocate(bytes, options->guard, scratchAlignment);
  return threadScratch().reserve(bytes, package::safeScratchBytes);
}

/// Pieces are made for few threads and may be long: between parts of some milliseconds the call's
/// cancellation is asked for.
bool CpuLaunch::runPiece(uint64_t first, uint64_t last) {
  if (!cancellation)
    return runPrograms(first, last);
  using std::chrono::steady_clock;
  for (uint64_t part = 1; first < last;) {
    if (cancellation->isRequested())
      return false;
    uint64_t end = first + std::min(part, last - first);
    auto begin = steady_clock::now();
    if (!runPrograms(first, end))
      return false;
    first = end;
    bool isShort = steady_clock::now() - begin < std::chrono::milliseconds(1);
    part = isShort ? part * 2 : std::max<uint64_t>(1, part / 2);
  }
  return true;
}

bool CpuLaunch::runPrograms(uint64_t first, uint64_t last) {
  auto entry = reinterpret_cast<package::KernelEntry>(const_cast<void *>(prepared.variant->entry));
  package::KernelContext context{};
  unsigned char *scratch = isGuarded() ? guardedScratch().data() : threadScratch().data();
  if (options && options->print) {
    context.print = &CpuLaunch::print;
    context.printState = this;
  }
  if (entry(arguments, prepared.grid, first, last, scratch, &context) == 0)
    return true;
  std::lock_guard lock(mutex);
  uint64_t program = linear(context.program);
  if (!failed || program < failedProgram) {
    failed = true;
    failedProgram = program;
    failure = context;
  }
  return false;
}

static std::string placeText(const package::Message &message) {
  return message.file + ":" + std::to_string(message.line) + ":" + std::to_string(message.column);
}

Result CpuLaunch::result() const {
  if (printThrew)
    return Result::invalid("the function that gets printed lines threw an exception");
  if (!failed)
    return cancellation ? cancellation->result() : Result();
  const std::vector<package::Message> &messages = prepared.variant->executable->messages;
  bool known = failure.message >= 0 && static_cast<size_t>(failure.message) < messages.size();
  std::string where = known ? placeText(messages[failure.message]) + ": " : "";
  std::string what =
      known ? messages[failure.message].text : "code " + std::to_string(failure.failure);
  char program[64];
  std::snprintf(program, sizeof(program), "(%u, %u, %u)", failure.program[0], failure.program[1],
                failure.program[2]);
  return Result::error(PELLUCID_KERNEL_FAILED, where + "device assertion failed: " + what +
                                                   " (kernel '" + prepared.variant->kernel->name +
                                                   "', program " + program + ", launch '" +
                                                   step.launch->label + "')");
}

void CpuLaunch::print(void *self, int32_t message, const uint32_t program[3], int32_t kind,
                      const void *values, uint64_t count) {
  CpuLaunch &launch = *static_cast<CpuLaunch *>(self);
  const std::vector<package::Message> &messages = launch.prepared.variant->executable->messages;
  if (message < 0 || static_cast<size_t>(message) >= messages.size())
    return;
  try {
    launch.printLines(messages[message], program, kind, values, count);
  } catch (...) { // a kernel has no frames that an exception could pass
    std::lock_guard lock(launch.mutex);
    launch.printThrew = true;
  }
}

/// One line per element, as Triton's device_print writes them.
void CpuLaunch::printLines(const package::Message &message, const uint32_t program[3], int32_t kind,
                           const void *values, uint64_t count) {
  PlainNumbers numbers;
  std::lock_guard lock(mutex);
  for (uint64_t i = 0; i < count; ++i) {
    char head[96], value[64];
    std::snprintf(head, sizeof(head), "pid (%u, %u, %u) idx (%" PRIu64 ") ", program[0], program[1],
                  program[2], i);
    if (kind == 1)
      std::snprintf(value, sizeof(value), "%f", static_cast<const double *>(values)[i]);
    else if (message.hex)
      std::snprintf(value, sizeof(value), "0x%016" PRIx64,
                    static_cast<uint64_t>(static_cast<const int64_t *>(values)[i]));
    else
      std::snprintf(value, sizeof(value), "%" PRId64, static_cast<const int64_t *>(values)[i]);
    options->print(options->print_state, (head + message.text + value).c_str());
  }
  if (count == 0)
    options->print(options->print_state, message.text.c_str());
}

} // namespace pellucid::runtime
