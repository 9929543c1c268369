// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/FloatFormat.h"

#include <bit>
#include <cmath>
#include <limits>

namespace pellucid::reference {

using Specials = FloatFormat::Specials;

static uint64_t lowBits(int count) { return (uint64_t(1) << count) - 1; }

static uint64_t nanBits(const FloatFormat &format) {
  switch (format.specials) {
  case Specials::Ieee:
    return (lowBits(format.exponentBits) << format.mantissaBits) |
           (uint64_t(1) << (format.mantissaBits - 1));
  case Specials::NanAllOnes:
    return lowBits(format.width() - 1);
  case Specials::NanMinusZero:
    return format.signBit();
  }
  return 0;
}

static uint64_t largestBits(const FloatFormat &format) {
  switch (format.specials) {
  case Specials::Ieee:
    return (lowBits(format.exponentBits) << format.mantissaBits) - 1;
  case Specials::NanAllOnes:
    return lowBits(format.width() - 1) - 1;
  case Specials::NanMinusZero:
    return lowBits(format.width() - 1);
  }
  return 0;
}

static bool isNan(uint64_t bits, const FloatFormat &format) {
  uint64_t magnitude = bits & (format.signBit() - 1);
  if (format.specials == Specials::NanMinusZero)
    return bits == format.signBit();
  return magnitude > largestBits(format) + (format.specials == Specials::Ieee ? 1 : 0);
}

double decodeFloat(uint64_t bits, const FloatFormat &format) {
  if (format.width() == 64)
    return std::bit_cast<double>(bits);
  if (format.width() == 32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (isNan(bits, format))
    return std::numeric_limits<double>::quiet_NaN();
  uint64_t magnitude = bits & (format.signBit() - 1);
  double sign = bits & format.signBit() ? -1.0 : 1.0;
  if (magnitude > largestBits(format))
    return sign * std::numeric_limits<double>::infinity();
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  double mantissa = static_cast<double>(magnitude & lowBits(format.mantissaBits));
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - format.bias - format.mantissaBits);
  mantissa += std::ldexp(1.0, format.mantissaBits);
  return sign * std::ldexp(mantissa, exponent - format.bias - format.mantissaBits);
}

/// The bits of a positive finite value, rounded as if there were no largest exponent.
static uint64_t encodeMagnitude(double value, const FloatFormat &format, Rounding rounding) {
  int exponent;
  std::frexp(value, &exponent);
  // value = 1.x * 2^exponent, or a subnormal of the format.
  exponent = std::max(exponent - 1, 1 - format.bias);
  double units = std::ldexp(value, format.mantissaBits - exponent);
  units = rounding == Rounding::NearestEven ? std::nearbyint(units) : std::trunc(units);
  // A carry out of the mantissa raises the exponent by itself, also from subnormal to normal.
  uint64_t base = static_cast<uint64_t>(exponent + format.bias - 1) << format.mantissaBits;
  return base + static_cast<uint64_t>(units);
}

uint64_t encodeFloat(double value, const FloatFormat &format, Rounding rounding) {
  if (std::isnan(value))
    return nanBits(format);
  if (format.width() == 64)
    return std::bit_cast<uint64_t>(value);
  uint64_t largest = largestBits(format);
  uint64_t magnitude;
  if (std::isinf(value))
    magnitude = format.saturates() ? largest : largest + 1;
  else if (value == 0)
    magnitude = 0;
  else
    magnitude = encodeMagnitude(std::fabs(value), format, rounding);
  if (magnitude > largest && !std::isinf(value))
    magnitude = format.saturates() || rounding == Rounding::TowardZero ? largest : largest + 1;
  bool negative = std::signbit(value);
  if (magnitude == 0 && format.specials == Specials::NanMinusZero)
    negative = false;
  return magnitude | (negative ? format.signBit() : 0);
}

double sumRoundedToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double bPart = sum - a;
  double error = (a - (sum - bPart)) + (b - bPart);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // The exact sum lies between `sum` and its neighbour in the direction of the error; that
  // neighbour is the odd one.
  bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

double roundedToOdd(uint64_t magnitude) {
  constexpr int excess = 64 - 53;
  if (magnitude < (uint64_t(1) << 53))
    return static_cast<double>(magnitude);
  uint64_t kept = magnitude >> excess;
  if (magnitude & lowBits(excess))
    kept |= 1;
  return std::ldexp(static_cast<double>(kept), excess);
}

} // namespace pellucid::reference
