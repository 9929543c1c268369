// SPDX-License-Identifier: Apache-2.0
#include "package/FileKind.h"

#include <algorithm>

namespace pellucid::package {

static std::string_view asText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

bool looksLikePackage(std::span<const uint8_t> begin) {
  constexpr size_t localHeaderFixed = 30;
  constexpr std::string_view manifestName = "manifest.bin";
  std::string_view text = asText(begin);
  return text.starts_with("PK\3\4") && text.size() > localHeaderFixed &&
         text.substr(localHeaderFixed).starts_with(manifestName);
}

static std::string_view zipKind(std::string_view file) {
  // The names stand in the directory at the end.
  std::string_view tail = file.substr(file.size() - std::min<size_t>(file.size(), 1 << 16));
  auto names = [&](std::string_view name) { return tail.find(name) != std::string_view::npos; };
  if (names("/archive_format") || names("/data.pkl") || names("/byteorder"))
    return "an archive of torch.export or torch.save";
  return names(".npy") ? "an .npz file" : "a zip archive";
}

std::string_view fileKind(std::span<const uint8_t> bytes) {
  if (looksLikePackage(bytes))
    return "a package";
  std::string_view file = asText(bytes);
  if (file.empty())
    return "an empty file";
  if (file.starts_with(programMarker))
    return "a saved program";
  if (file.starts_with("PK\3\4"))
    return zipKind(file);
  if (file.starts_with("\x93NUMPY"))
    return "an .npy file";
  if (file.starts_with("\x7f"
                       "ELF"))
    return "a program or library of this system";
  // A length of 8 bytes and a JSON object.
  if (file.size() > 8 && file[8] == '{' && file.substr(0, 8).find('\0') != std::string_view::npos)
    return "a .safetensors file";
  std::string_view start = file.substr(0, 4096);
  bool binary = std::any_of(start.begin(), start.end(), [](char c) {
    return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
  return binary ? "a binary file" : "text";
}

} // namespace pellucid::package
