// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"

#include <string>

namespace pellucid::cli {

/// What `inspect` prints of a package: its tensors, and the steps and buffers of a call.
std::string packageText(const package::Manifest &manifest, const std::string &path, uint64_t bytes);

} // namespace pellucid::cli
