// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/KernelAbi.h"
#include "runtime/Cancellation.h"
#include "runtime/PrepareLaunch.h"

#include <mutex>

namespace pellucid::runtime {

/// One launch as work for the pool: calls the kernel's entry per piece, keeps the failure of the
/// lowest program and turns tl.device_print into lines.
class CpuLaunch : public ParallelWork {
public:
  CpuLaunch(const LaunchPlan &step, const PreparedLaunch &prepared, const void *arguments,
            const pellucid_run_options *options, Cancellation *cancellation)
      : step(step), prepared(prepared), arguments(arguments), options(options),
        cancellation(cancellation) {}

  bool enter() override;
  bool runPiece(uint64_t first, uint64_t last) override;
  /// Once all pieces are done.
  Result result() const;

private:
  const LaunchPlan &step;
  const PreparedLaunch &prepared;
  const void *arguments;
  const pellucid_run_options *options;
  Cancellation *cancellation;
  std::mutex mutex; ///< of the failure and of printing
  bool failed = false, printThrew = false;
  uint64_t failedProgram = 0;
  package::KernelContext failure{};

  uint64_t linear(const uint32_t program[3]) const {
    return program[0] +
           uint64_t(prepared.grid[0]) * (program[1] + uint64_t(prepared.grid[1]) * program[2]);
  }
  bool isGuarded() const { return options && options->guard; }
  bool runPrograms(uint64_t first, uint64_t last);
  static void print(void *self, int32_t message, const uint32_t program[3], int32_t kind,
                    const void *values, uint64_t count);
  void printLines(const package::Message &message, const uint32_t program[3], int32_t kind,
                  const void *values, uint64_t count);
};

} // namespace pellucid::runtime
