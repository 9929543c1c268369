// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pellucid::package {

/// What a saved program begins with.
inline constexpr std::string_view programMarker = "pellucid.program ";

/// What a file is by its content. For refusals that say what they were given.
enum class FileKind : uint8_t {
  Package,
  Program,
  TorchArchive, ///< of torch.export or torch.save
  Npz,
  Zip,
  Npy,
  Safetensors,
  Elf,
  Text,
  Binary,
  Empty,
};
FileKind fileKind(std::span<const uint8_t> bytes);
/// With an article: "an .npy file".
std::string_view toString(FileKind kind);

/// True when `begin` (the first 64 bytes of a file are enough) begins like a package.
bool looksLikePackage(std::span<const uint8_t> begin);

} // namespace pellucid::package
