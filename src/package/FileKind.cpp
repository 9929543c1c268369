// SPDX-License-Identifier: Apache-2.0
#include "package/FileKind.h"

#include "package/ZipMembers.h"

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

static FileKind zipKind(std::span<const uint8_t> bytes) {
  std::vector<ZipMember> members;
  // Of a damaged file the end has to do, where its directory stood.
  std::string_view tail =
      asText(bytes.subspan(bytes.size() - std::min<size_t>(bytes.size(), 1 << 16)));
  bool isWhole = listZipMembers(bytes, members);
  auto names = [&](std::string_view name) {
    if (!isWhole)
      return tail.find(name) != std::string_view::npos;
    return std::any_of(members.begin(), members.end(),
                       [&](const ZipMember &member) { return member.name.ends_with(name); });
  };
  if (names("/archive_format") || names("serialized_exported_program.json") || names("/data.pkl") ||
      names("/byteorder"))
    return FileKind::TorchArchive;
  return names(".npy") ? FileKind::Npz : FileKind::Zip;
}

FileKind fileKind(std::span<const uint8_t> bytes) {
  if (looksLikePackage(bytes))
    return FileKind::Package;
  std::string_view file = asText(bytes);
  if (file.empty())
    return FileKind::Empty;
  if (file.starts_with(programMarker))
    return FileKind::Program;
  if (file.starts_with("PK\3\4"))
    return zipKind(bytes);
  if (file.starts_with("\x93NUMPY"))
    return FileKind::Npy;
  if (file.starts_with("\x7f"
                       "ELF"))
    return FileKind::Elf;
  // A length of 8 bytes and a JSON object.
  if (file.size() > 8 && file[8] == '{' && file.substr(0, 8).find('\0') != std::string_view::npos)
    return FileKind::Safetensors;
  std::string_view start = file.substr(0, 4096);
  bool binary = std::any_of(start.begin(), start.end(), [](char c) {
    return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
  return binary ? FileKind::Binary : FileKind::Text;
}

std::string_view toString(FileKind kind) {
  switch (kind) {
  case FileKind::Package:
    return "a package";
  case FileKind::Program:
    return "a saved program";
  case FileKind::TorchArchive:
    return "an archive of torch.export or torch.save";
  case FileKind::Npz:
    return "an .npz file";
  case FileKind::Zip:
    return "a zip archive";
  case FileKind::Npy:
    return "an .npy file";
  case FileKind::Safetensors:
    return "a .safetensors file";
  case FileKind::Elf:
    return "a program or library of this system";
  case FileKind::Text:
    return "text";
  case FileKind::Binary:
    return "a binary file";
  case FileKind::Empty:
    return "an empty file";
  }
  return "";
}

} // namespace pellucid::package
