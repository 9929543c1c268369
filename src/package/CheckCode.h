// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"
#include "package/Status.h"

#include <functional>

namespace pellucid::package {

/// Checks each CPU image of a valid manifest once and that every kernel's entry lies in its code.
Status
checkImages(const Manifest &manifest,
            const std::function<std::span<const uint8_t>(const std::string &record)> &recordData);

} // namespace pellucid::package
