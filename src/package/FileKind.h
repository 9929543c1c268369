// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pellucid::package {

/// What a saved program begins with.
inline constexpr std::string_view programMarker = "pellucid.program ";

/// What a file is by its content, with an article: "a package", "an .npy file", "text". For
/// refusals that say what they were given.
std::string_view fileKind(std::span<const uint8_t> bytes);

/// True when `begin` (the first 64 bytes of a file are enough) begins like a package.
bool looksLikePackage(std::span<const uint8_t> begin);

} // namespace pellucid::package
