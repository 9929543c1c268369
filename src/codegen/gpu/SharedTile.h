// SPDX-License-Identifier: Apache-2.0
// A tile of 16-bit elements in shared memory as the matrix units read it: panels of up to 128 bytes
// a row, one after the other, whose 16-byte chunks are swizzled so that a column of chunks lies in
// different banks. Bits 4 to 6 of an address are xor-ed with bits 7 to 9, as many of them as a row
// has chunks for; ldmatrix reads rows anywhere, and wgmma knows the three swizzles by number.
// Elements of other sizes lie the same way: a row counts in units of 16 bits.
#pragma once

#include <cstdint>

namespace pellucid::codegen {

struct SharedTile {
  /// Neighbours in memory are neighbours along the columns.
  int64_t rows, columns;
  /// Of shared memory; a multiple of `alignment`.
  uint64_t byteOffset = 0;

  static constexpr unsigned elementBytes = 2, chunkBytes = 16, chunkElements = 8;
  static constexpr unsigned mostRowBytes = 128, alignment = 1024;

  /// Extents are powers of two, and a row has at least a chunk.
  static bool holds(int64_t rows, int64_t columns) { return rows >= 8 && columns >= chunkElements; }

  int64_t panelColumns() const {
    return columns < mostRowBytes / elementBytes ? columns : mostRowBytes / elementBytes;
  }
  unsigned rowBytes() const { return static_cast<unsigned>(panelColumns()) * elementBytes; }
  uint64_t panelBytes() const { return static_cast<uint64_t>(rows) * rowBytes(); }
  uint64_t bytes() const;

  /// What is xor-ed into a chunk's number: `(row >> swizzleShift()) & swizzleMask()`.
  unsigned swizzleShift() const;
  unsigned swizzleMask() const { return rowBytes() < chunkBytes ? 0 : rowBytes() / chunkBytes - 1; }

  /// From the begin of the tile, for one element.
  uint64_t offsetOf(int64_t row, int64_t column) const;

  /// The constant part of a wgmma matrix descriptor; its lowest 14 bits take an address / 16.
  /// `kIsContiguous`: the products' inner dimension is along the columns.
  uint64_t descriptor(bool kIsContiguous) const;
};

} // namespace pellucid::codegen
