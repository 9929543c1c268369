// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pellucid::runtime {

/// What this machine offers as one JSON object: CPU level and threads, CUDA driver and devices.
/// Asked once.
const std::string &describeSystem();

} // namespace pellucid::runtime
