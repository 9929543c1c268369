// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pellucid::reference {

/// How the bits of a floating-point type of at most 64 bits are read. Every value of every such
/// type is a double.
struct FloatFormat {
  enum class Specials : uint8_t {
    Ieee,         ///< infinities and NaNs in the highest exponent
    NanAllOnes,   ///< no infinities; NaN is all ones (E4M3FN)
    NanMinusZero, ///< no infinities, no -0; NaN is the pattern of -0 (FNUZ)
  };
  int exponentBits, mantissaBits, bias;
  Specials specials;

  int width() const { return 1 + exponentBits + mantissaBits; }
  /// fp8 conversions saturate: what overflows, infinities included, becomes the largest value, as
  /// `cvt.satfinite` does on NVIDIA.
  bool saturates() const { return width() == 8; }
  uint64_t signBit() const { return uint64_t(1) << (width() - 1); }
};

inline constexpr FloatFormat float16Format{5, 10, 15, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat bfloat16Format{8, 7, 127, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat float32Format{8, 23, 127, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat float64Format{11, 52, 1023, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat float8E4M3FNFormat{4, 3, 7, FloatFormat::Specials::NanAllOnes};
inline constexpr FloatFormat float8E5M2Format{5, 2, 15, FloatFormat::Specials::Ieee};
inline constexpr FloatFormat float8E4M3FNUZFormat{4, 3, 8, FloatFormat::Specials::NanMinusZero};
inline constexpr FloatFormat float8E5M2FNUZFormat{5, 2, 16, FloatFormat::Specials::NanMinusZero};
inline constexpr FloatFormat float8E4M3B11FNUZFormat{4, 3, 11, FloatFormat::Specials::NanMinusZero};

enum class Rounding : uint8_t { NearestEven, TowardZero };

double decodeFloat(uint64_t bits, const FloatFormat &format);

/// Rounds once. A NaN becomes the format's positive quiet NaN; -0 of a format without one is +0.
uint64_t encodeFloat(double value, const FloatFormat &format,
                     Rounding rounding = Rounding::NearestEven);

/// The double nearest to a + b that, where the sum is inexact, has an odd last bit: rounding it
/// again to a type with at most 51 significant bits gives what rounding the exact sum once gives.
double sumRoundedToOdd(double a, double b);

/// The same for an integer.
double roundedToOdd(uint64_t magnitude);

} // namespace pellucid::reference
