// SPDX-License-Identifier: Apache-2.0
/// The manifest as bytes: "PELLUCID", format version, ABI version, then every field in the order of
/// ManifestFields.h.
#pragma once

#include "package/Package.h"
#include "package/Status.h"

namespace pellucid::package {

inline constexpr size_t manifestHeaderBytes = 16;

std::vector<uint8_t> writeManifest(const Manifest &manifest);

/// Refuses other magic, newer versions (naming both) and whatever is not exactly a manifest. Safe
/// on any bytes; the meaning of what was read is validateManifest's business.
Status readManifest(std::span<const uint8_t> bytes, Manifest &manifest);

/// The first two of readManifest's checks.
Status checkManifestHeader(std::span<const uint8_t> bytes);

} // namespace pellucid::package
