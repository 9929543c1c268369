// SPDX-License-Identifier: Apache-2.0
// Where operands of matrix units lie in shared memory: what ldmatrix needs of banks, and what the
// PTX manual says of wgmma's swizzles and descriptors.
#include "codegen/gpu/SharedTile.h"

#include <gtest/gtest.h>
#include <set>

using namespace pellucid::codegen;

namespace {

const SharedTile tiles[] = {{16, 8},  {8, 16},   {64, 16},  {32, 32},  {64, 32},
                            {64, 64}, {128, 64}, {64, 128}, {32, 256}, {16, 512}};

std::string nameOf(const SharedTile &tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
}

/// Every element has a place of its own, and the eight of a chunk lie together.
TEST(SharedTile, PlacesAreDistinctAndChunksWhole) {
  for (const SharedTile &tile : tiles) {
    std::set<uint64_t> places;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        uint64_t place = tile.offsetOf(row, column);
        ASSERT_LT(place + SharedTile::elementBytes, tile.bytes() + 1) << nameOf(tile);
        ASSERT_TRUE(places.insert(place).second) << nameOf(tile);
        int64_t within = column % SharedTile::chunkElements;
        ASSERT_EQ(place, tile.offsetOf(row, column - within) + 2 * within) << nameOf(tile);
        ASSERT_EQ(tile.offsetOf(row, column - within) % SharedTile::chunkBytes, 0u);
      }
  }
}

/// ldmatrix reads the same chunk of eight rows at once: 128 bytes, one in each bank.
TEST(SharedTile, EightRowsLieInDifferentBanks) {
  for (const SharedTile &tile : tiles)
    for (int64_t row = 0; row + 8 <= tile.rows; row += 8)
      for (int64_t column = 0; column < tile.columns; column += SharedTile::chunkElements) {
        std::set<uint64_t> chunks;
        for (int64_t r = row; r < row + 8; ++r)
          chunks.insert(tile.offsetOf(r, column) / SharedTile::chunkBytes % 8);
        ASSERT_EQ(chunks.size(), 8u) << nameOf(tile) << " at " << row << ", " << column;
      }
}

/// The hardware xors bits 4 to 6 of an address with bits 7 to 9, the lower ones of them for rows of
/// 64 and 32 bytes.
TEST(SharedTile, SwizzlesAreThoseOfTheHardware) {
  for (const SharedTile &tile : tiles) {
    uint64_t mask = tile.rowBytes() / SharedTile::chunkBytes - 1;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        uint64_t plain = column / tile.panelColumns() * tile.panelBytes() + row * tile.rowBytes() +
                         column % tile.panelColumns() * SharedTile::elementBytes;
        ASSERT_EQ(tile.offsetOf(row, column), plain ^ (plain >> 7 & mask) << 4) << nameOf(tile);
      }
  }
}

/// Rows that are eight further are as many bytes further: what elementAddress() counts on.
TEST(SharedTile, EightRowsFurtherTheSwizzleIsTheSame) {
  for (const SharedTile &tile : tiles)
    for (int64_t row = 0; row + 8 < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        ASSERT_EQ(tile.offsetOf(row + 8, column), tile.offsetOf(row, column) + 8 * tile.rowBytes())
            << nameOf(tile);
}

struct Descriptor {
  uint64_t leading, stride, swizzle; ///< offsets in 16 bytes
};
Descriptor fieldsOf(uint64_t descriptor) {
  EXPECT_EQ(descriptor & 0x3fff, 0u) << "the address comes at run time";
  return {descriptor >> 16 & 0x3fff, descriptor >> 32 & 0x3fff, descriptor >> 62};
}

TEST(SharedTile, DescriptorsAlongK) {
  struct {
    SharedTile tile;
    uint64_t stride, swizzle;
  } known[] = {{{128, 64}, 64, 1}, {{128, 128}, 64, 1}, {{64, 32}, 32, 2}, {{64, 16}, 16, 3}};
  for (auto &[tile, stride, swizzle] : known) {
    Descriptor fields = fieldsOf(tile.descriptor(true));
    EXPECT_EQ(fields.stride, stride) << nameOf(tile);
    EXPECT_EQ(fields.swizzle, swizzle) << nameOf(tile);
  }
}

/// Panels of 64 columns follow each other at the leading offset, eight k at the stride offset.
TEST(SharedTile, DescriptorsAcrossK) {
  Descriptor wide = fieldsOf(SharedTile{64, 128}.descriptor(false));
  EXPECT_EQ(wide.leading, 64u * 128 / 16);
  EXPECT_EQ(wide.stride, 64u);
  EXPECT_EQ(wide.swizzle, 1u);
  Descriptor plain = fieldsOf(SharedTile{32, 8}.descriptor(false));
  EXPECT_EQ(plain.leading, 8u) << "without a swizzle the offsets change places";
  EXPECT_EQ(plain.swizzle, 0u);
}

} // namespace
