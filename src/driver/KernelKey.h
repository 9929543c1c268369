// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/CodegenJob.h"

#include <string>
#include <string_view>

namespace pellucid::driver {

/// Equal for kernels with the same code: names and places are left out, unless the kernel has
/// messages that say them.
std::string kernelKey(const CodegenKernel &kernel, const CodegenJob &job);

/// Whether the kernel has messages, which name it.
bool saysItsName(std::string_view ttir);

/// A kernel's text without definitions and uses of places, and with one name for the kernel.
std::string withoutNames(std::string_view ttir, const std::string &symbol);

} // namespace pellucid::driver
