// SPDX-License-Identifier: Apache-2.0
#include "package/LibraryKernel.h"

#include <algorithm>

namespace pellucid::package {

std::string toString(const LibraryKernel &kernel) {
  std::string text(kernel.kindName());
  text += " ";
  text += info(kernel.type).cli;
  if (kernel.bias)
    text += " bias";
  if (kernel.unpacked)
    text += " unpacked";
  return text;
}

std::optional<LibraryKernel::Kind> libraryKernelKindNamed(std::string_view name) {
  auto found = std::find(LibraryKernel::kindNames.begin(), LibraryKernel::kindNames.end(), name);
  if (found == LibraryKernel::kindNames.end())
    return std::nullopt;
  return static_cast<LibraryKernel::Kind>(found - LibraryKernel::kindNames.begin());
}

} // namespace pellucid::package
