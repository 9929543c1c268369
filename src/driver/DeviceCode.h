// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/Compile.h"

namespace pellucid::driver {

/// PTX for the job's kernels: what was made before from `kept`, the rest by several of its workers
/// at once (`program` is their executable). Kernels of a device are not linked with each other, so
/// that any worker may make any of them.
bool generateDeviceCode(const CodegenJob &job, const std::string &program, KeptWorkers &kept,
                        CodegenResult &result, Diagnostics &diagnostics);

} // namespace pellucid::driver
