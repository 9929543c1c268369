// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"
#include "package/Status.h"

#include <functional>

namespace pellucid::package {

/// Most dims of a tensor, as in PyTorch.
inline constexpr size_t maxRank = 64;

/// The size of a record of the package; nullopt when it has none of that name.
using RecordSize = std::function<std::optional<uint64_t>(const std::string &name)>;

/// Checks everything that can be checked without the code's bytes: indices and bytecodes, argument
/// layouts, that records are there and weights inside them. Afterwards the run time indexes without
/// looking. The message names the part and both values.
Status validateManifest(const Manifest &manifest, const RecordSize &recordSize);

} // namespace pellucid::package
