// SPDX-License-Identifier: Apache-2.0
/// The CPU code of a package: an ELF64 shared object without relocations, imports or writable data.
#pragma once

#include "package/Status.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pellucid::package {

/// A loadable piece, widened to whole pages: the image's bytes from `fileOffset` belong at
/// `address` (from the image's base).
struct ImageSegment {
  uint64_t fileOffset, address, bytes;
  bool executable;
};

struct ImageLayout {
  std::vector<ImageSegment> segments; ///< ascending, not overlapping
  uint64_t memoryBytes = 0;           ///< address space the image takes, from 0
};

/// Reads the program headers and refuses what the run time cannot map: relocations, needed
/// libraries, data that is written (a segment that is read-only after relocation counts as
/// read-only), segments that do not fit the 4096-byte grid, anything beyond the bytes. Safe on any
/// bytes.
Status readImageLayout(std::span<const uint8_t> image, ImageLayout &layout);

/// The virtual address of the function `name` from the image's .symtab or .dynsym; what
/// Executable::entryOffset holds.
Status symbolAddress(std::span<const uint8_t> image, std::string_view name, uint64_t &address);

/// True when `address` lies in an executable segment.
bool isExecutableAddress(const ImageLayout &layout, uint64_t address);

} // namespace pellucid::package
