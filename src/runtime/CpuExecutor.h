// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Executor.h"

#include <cstring>

namespace pellucid::runtime {

/// Runs a call's steps on the CPU pool; `options` may be null.
class CpuExecutor : public Executor {
public:
  explicit CpuExecutor(const pellucid_run_options *options) : options(options) {}

  Result allocateOutput(size_t bytes, OutputMemory &memory) override;
  Result allocateArena(Frame::Arena &arena, unsigned char *&memory) override;
  const GridLimits &gridLimits() const override { return cpuGridLimits; }
  Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                const unsigned char *arguments) override;
  Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) override;
  Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
              size_t bytes) override;
  Result read(const unsigned char *from, void *out, size_t bytes) override {
    std::memcpy(out, from, bytes);
    return {};
  }
  Result finish() override { return {}; }
  size_t mark() override;
  double microsecondsOf(size_t mark) override { return marks[mark]; }

private:
  const pellucid_run_options *options;
  std::vector<double> marks;
  /// Ticks per 64 KiB at some 10 GB/s.
  CostEstimate transferCost{20000};
};

} // namespace pellucid::runtime
