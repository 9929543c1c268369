// SPDX-License-Identifier: Apache-2.0
// Functions of integers of `width` bits that operations and the device library share. Arguments
// have no bits above the width; those of results are for the caller to cut.
#pragma once

#include "reference/tt/TileValue.h"

#include <bit>

namespace pellucid::reference {

inline uint64_t leadingZeros(uint64_t a, unsigned width) {
  return std::countl_zero(a) - (64 - width);
}
inline uint64_t trailingZeros(uint64_t a, unsigned width) {
  return a ? std::countr_zero(a) : width;
}
inline uint64_t setBits(uint64_t a, unsigned) { return std::popcount(a); }
inline uint64_t magnitude(uint64_t a, unsigned width) {
  return signExtended(a, width) < 0 ? 0 - a : a;
}
/// The upper half of the product.
inline uint64_t highUnsigned(uint64_t a, uint64_t b, unsigned width) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> width);
}
inline uint64_t highSigned(uint64_t a, uint64_t b, unsigned width) {
  return static_cast<uint64_t>(
      static_cast<__int128>(signExtended(a, width)) * signExtended(b, width) >> width);
}

} // namespace pellucid::reference
