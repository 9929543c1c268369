// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"

namespace pellucid::package {

/// The manifest as one JSON object for people and tools: versions, symbols, inputs, outputs,
/// weights, kernels with their targets, and per program its launches and buffers. Ends with a
/// newline.
std::string describe(const Manifest &manifest);

} // namespace pellucid::package
