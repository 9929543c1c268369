// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"
#include "package/Status.h"

namespace pellucid::package {

/// Validates `contents` and writes the package to `path` through a temporary file beside it, so
/// that `path` holds a whole package or what it held before. Same contents, same bytes.
Status writePackage(const Contents &contents, const std::string &path);

/// The same bytes in memory, for pellucid_load_memory.
Status packageBytes(const Contents &contents, std::vector<uint8_t> &out);

} // namespace pellucid::package
