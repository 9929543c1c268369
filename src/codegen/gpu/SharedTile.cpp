// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/SharedTile.h"

#include "llvm/Support/MathExtras.h"

#include <utility>

namespace pellucid::codegen {

uint64_t SharedTile::bytes() const {
  return llvm::alignTo(static_cast<uint64_t>(rows * columns) * elementBytes, alignment);
}

unsigned SharedTile::swizzleShift() const { return llvm::Log2_32(mostRowBytes / rowBytes()); }

uint64_t SharedTile::offsetOf(int64_t row, int64_t column) const {
  int64_t panel = column / panelColumns(), within = column % panelColumns();
  int64_t chunk = within / chunkElements ^ (row >> swizzleShift() & swizzleMask());
  return panel * panelBytes() + row * rowBytes() + chunk * chunkBytes +
         within % chunkElements * elementBytes;
}

// Strides count in 16 bytes. Where k is contiguous, groups of eight rows follow each other at the
// stride offset (bit 32) and the leading offset is not used; else panels along m or n follow each
// other at the leading offset (bit 16), and groups of eight k at the stride offset. Without a
// swizzle the two change places.
uint64_t SharedTile::descriptor(bool kIsContiguous) const {
  uint64_t eightRows = 8 * rowBytes() / chunkBytes;
  uint64_t leading = kIsContiguous ? 1 : panelBytes() / chunkBytes;
  if (rowBytes() == chunkBytes)
    std::swap(eightRows, leading);
  // 1, 2, 3 stand for rows of 128, 64 and 32 bytes; 0 is no swizzle.
  uint64_t swizzle = rowBytes() == 16 ? 0 : 4 - llvm::Log2_32(rowBytes() / chunkBytes);
  return swizzle << 62 | eightRows << 32 | (leading & 0x3fff) << 16;
}

} // namespace pellucid::codegen
