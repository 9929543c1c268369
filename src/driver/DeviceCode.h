// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/Compile.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace pellucid::driver {

/// What was said of kernels that have no code, by kernelKey().
using RefusedKernels = std::unordered_map<std::string, Diagnostics>;

/// Makes PTX of what `kept` lacks of the jobs' kernels, by several of its workers at once
/// (`program` is their executable). Kernels of a device are not linked with each other, so that any
/// worker may make any of them, and what is refused concerns no other.
RefusedKernels makeDeviceCode(const std::vector<const CodegenJob *> &jobs,
                              const std::string &program, KeptWorkers &kept);

/// The job's kernels, which makeDeviceCode() was given. False where one was refused.
bool takeDeviceCode(const CodegenJob &job, const KeptWorkers &kept, const RefusedKernels &refused,
                    CodegenResult &result, Diagnostics &diagnostics);

} // namespace pellucid::driver
