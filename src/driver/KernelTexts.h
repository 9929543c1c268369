// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/CodegenJob.h"
#include "graph/Program.h"

namespace pellucid::driver {

/// The stages that a kernel goes through, in order, as `inspect --ir KERNEL:STAGE` names them. The
/// first is the kernel's TTIR as the program has it.
const std::vector<std::string> &kernelStages();

/// Generates code for `kernel` as `job` says, which names everything but the kernel, and gives
/// what it is after each stage. False with errors in `diagnostics`.
bool kernelTexts(const graph::KernelDef &kernel, uint32_t numWarps, uint32_t numStages,
                 CodegenJob job, std::vector<CodegenText> &texts, Diagnostics &diagnostics);

} // namespace pellucid::driver
