// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/cpu/CompileKernel.h"

#include <span>

namespace pellucid::codegen {

/// Where a kernel's entry lies in a linked image.
struct EntryOffset {
  std::string symbol;
  uint64_t fileOffset; ///< in the image's bytes
  uint64_t vaddr;      ///< from the base the image is mapped at
};

/// Links objects of one level into one ELF shared object that needs no dynamic linker: no
/// relocations, no imports, no writable data, segments on page borders. Same objects in the same
/// order, same bytes. On failure reports through `diagnostics` and returns false.
bool linkImage(std::span<const CompiledObject> objects, CpuLevel level, std::vector<char> &elf,
               std::vector<EntryOffset> &entries, Diagnostics &diagnostics);

} // namespace pellucid::codegen
