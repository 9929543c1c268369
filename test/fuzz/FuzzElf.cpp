// SPDX-License-Identifier: Apache-2.0
/// The code of a package.
#include "FuzzTarget.h"

#include "package/ElfImage.h"

using namespace pellucid::package;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  ImageLayout layout;
  if (readImageLayout(data, layout).ok())
    (void)isExecutableAddress(layout, layout.memoryBytes / 2);
  uint64_t address = 0;
  (void)symbolAddress(data, "row_sum", address);
  return 0;
}
