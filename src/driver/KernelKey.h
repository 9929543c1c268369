// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/CodegenJob.h"

#include <string>

namespace pellucid::driver {

/// Equal for kernels with the same code: names and places are left out, unless the kernel has
/// messages that say them.
std::string kernelKey(const CodegenKernel &kernel, const CodegenJob &job);

} // namespace pellucid::driver
