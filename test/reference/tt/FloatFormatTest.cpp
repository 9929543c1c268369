// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/FloatFormat.h"

#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace pellucid::reference {
namespace {

struct Case {
  const char *name;
  FloatFormat format;
  const llvm::fltSemantics &semantics;
};

const Case cases[] = {
    {"f16", float16Format, llvm::APFloat::IEEEhalf()},
    {"bf16", bfloat16Format, llvm::APFloat::BFloat()},
    {"f32", float32Format, llvm::APFloat::IEEEsingle()},
    {"e4m3fn", float8E4M3FNFormat, llvm::APFloat::Float8E4M3FN()},
    {"e5m2", float8E5M2Format, llvm::APFloat::Float8E5M2()},
    {"e4m3fnuz", float8E4M3FNUZFormat, llvm::APFloat::Float8E4M3FNUZ()},
    {"e5m2fnuz", float8E5M2FNUZFormat, llvm::APFloat::Float8E5M2FNUZ()},
    {"e4m3b11fnuz", float8E4M3B11FNUZFormat, llvm::APFloat::Float8E4M3B11FNUZ()},
};

/// What LLVM's arbitrary-precision floats make of `value`.
uint64_t encodedByLlvm(double value, const Case &c, llvm::RoundingMode mode) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(c.semantics, mode, &lost);
  bool overflowed = !std::isnan(value) && (number.isInfinity() || number.isNaN());
  // fp8 saturates.
  if (c.format.saturates() && overflowed)
    number = llvm::APFloat::getLargest(c.semantics, value < 0);
  return number.bitcastToAPInt().getZExtValue();
}

TEST(FloatFormat, DecodesEveryPatternOfEveryNarrowType) {
  for (const Case &c : cases) {
    if (c.format.width() > 16)
      continue;
    for (uint64_t bits = 0; bits < uint64_t(1) << c.format.width(); ++bits) {
      llvm::APFloat number(c.semantics, llvm::APInt(c.format.width(), bits));
      bool lost;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::RoundingMode::NearestTiesToEven, &lost);
      double expected = number.convertToDouble(), got = decodeFloat(bits, c.format);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << c.name << " " << bits;
      else
        EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(expected))
            << c.name << " " << bits;
    }
  }
}

TEST(FloatFormat, EncodesRandomDoublesLikeLlvm) {
  std::mt19937_64 generator(7);
  for (const Case &c : cases) {
    for (int i = 0; i < 200000; ++i) {
      // Exponents around the format's range, so that overflow and subnormals are frequent.
      int exponent = static_cast<int>(generator() % (4 * c.format.bias)) - 2 * c.format.bias;
      double value = std::ldexp(1 + std::ldexp(double(generator() >> 12), -52), exponent);
      // Half of them with few bits, so that ties are frequent.
      if (i % 2)
        value = std::ldexp(double(generator() % 4096), exponent);
      if (generator() % 2)
        value = -value;
      ASSERT_EQ(encodeFloat(value, c.format),
                encodedByLlvm(value, c, llvm::RoundingMode::NearestTiesToEven))
          << c.name << " " << value;
      ASSERT_EQ(encodeFloat(value, c.format, Rounding::TowardZero),
                encodedByLlvm(value, c, llvm::RoundingMode::TowardZero))
          << c.name << " " << value << " toward zero";
    }
  }
}

TEST(FloatFormat, EncodesSpecialValues) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(encodeFloat(infinity, float16Format), 0x7c00u);
  EXPECT_EQ(encodeFloat(-infinity, bfloat16Format), 0xff80u);
  EXPECT_EQ(encodeFloat(65520, float16Format), 0x7c00u);
  EXPECT_EQ(encodeFloat(65519.99, float16Format), 0x7bffu);
  EXPECT_EQ(encodeFloat(infinity, float8E4M3FNFormat), 0x7eu);
  EXPECT_EQ(encodeFloat(-1e9, float8E5M2Format), 0xfbu);
  EXPECT_EQ(encodeFloat(-0.0, float8E4M3FNUZFormat), 0u);
  EXPECT_EQ(encodeFloat(-0.0, float16Format), 0x8000u);
  EXPECT_EQ(encodeFloat(std::nan(""), float8E4M3FNFormat), 0x7fu);
  EXPECT_EQ(encodeFloat(std::nan(""), float8E4M3FNUZFormat), 0x80u);
  EXPECT_EQ(encodeFloat(std::nan(""), float32Format), 0x7fc00000u);
}

// Rounding a float32 product plus addend to float64 and then again gives other bits in the half-way
// cases; rounding to odd first must not.
TEST(FloatFormat, SumRoundedToOddMakesAnExactFusedMultiplyAdd) {
  std::mt19937 generator(11);
  auto anyFloat = [&] { return std::bit_cast<float>(static_cast<uint32_t>(generator())); };
  int compared = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    float a = anyFloat(), b = anyFloat(), c = anyFloat();
    // An addend close to half a unit of the product is where double rounding shows.
    if (i % 2)
      c = static_cast<float>(std::ldexp(double(a) * b, -24 - i % 3));
    float expected = std::fmaf(a, b, c);
    if (std::isnan(expected))
      continue;
    double sum = sumRoundedToOdd(double(a) * double(b), c);
    ASSERT_EQ(encodeFloat(sum, float32Format), std::bit_cast<uint32_t>(expected))
        << a << " " << b << " " << c;
    ++compared;
  }
  EXPECT_GT(compared, 1'500'000);
}

TEST(FloatFormat, IntegersRoundOnce) {
  std::mt19937_64 generator(5);
  for (int i = 0; i < 500000; ++i) {
    // Close to half-way between two floats.
    uint64_t value = ((generator() >> 40) << 40 | uint64_t(1) << 39) + generator() % 3 - 1;
    ASSERT_EQ(encodeFloat(roundedToOdd(value), float32Format),
              std::bit_cast<uint32_t>(static_cast<float>(value)))
        << value;
  }
}

} // namespace
} // namespace pellucid::reference
