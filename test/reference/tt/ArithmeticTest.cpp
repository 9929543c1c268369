// SPDX-License-Identifier: Apache-2.0
#include "judge/Near.h"
#include "reference/tt/KernelTest.h"

#include <bit>
#include <cmath>
#include <limits>

namespace pellucid::reference {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

using Arithmetic = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, Arithmetic, ::testing::Values("", "raw/"));

TEST_P(Arithmetic, AddsWithATail) {
  std::vector<float> x = randomFloats(150), y = randomFloats(150), out(160, -7);
  ASSERT_TRUE(launch("add", {f32("x", x), f32("y", y), f32("out", out), int64_t(150)}, {3, 1, 1}))
      << diagnostics.text();
  for (int i = 0; i < 150; ++i)
    EXPECT_EQ(out[i], x[i] + y[i]);
  for (int i = 150; i < 160; ++i)
    EXPECT_EQ(out[i], -7);
}

/// Which of several values to expect; NaNs are all the same.
void expectSame(float got, float expected, int i, const char *what) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(got)) << what << " " << i << " got " << got;
  else
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected)) << what << " " << i;
}

TEST_P(Arithmetic, MaximumAndClampWithNans) {
  const float specials[] = {nan, infinity, -infinity, 1.5f, -3, 0.25f, 100, -0.5f};
  std::vector<float> x(64), y(64), high(64), strict(64), low(64), clamped(64), clampedNan(64);
  for (int i = 0; i < 64; ++i) {
    x[i] = specials[i / 8];
    y[i] = specials[i % 8];
  }
  ASSERT_TRUE(
      launch("extremes", {f32("x", x), f32("y", y), f32("max", high), f32("maximum", strict),
                          f32("min", low), f32("clamp", clamped), f32("clamp_nan", clampedNan)}))
      << diagnostics.text();
  for (int i = 0; i < 64; ++i) {
    bool unordered = std::isnan(x[i]) || std::isnan(y[i]);
    expectSame(high[i], std::fmax(x[i], y[i]), i, "maximum");
    expectSame(strict[i], unordered ? nan : std::fmax(x[i], y[i]), i, "maximum, NaN kept");
    expectSame(low[i], std::fmin(x[i], y[i]), i, "minimum");
    expectSame(clamped[i], std::fmin(std::fmax(x[i], -1.0f), 2.0f), i, "clamp");
    expectSame(clampedNan[i], std::isnan(x[i]) ? nan : std::fmin(std::fmax(x[i], -1.0f), 2.0f), i,
               "clamp, NaN kept");
  }
}

TEST_P(Arithmetic, CastsRoundToNearestEven) {
  std::vector<float> x = randomFloats(64, -500, 500);
  const float edges[] = {nan,   infinity, -infinity, 0.0f,    -0.0f,    448,   464,
                         465,   1e-3f,    1e-5f,     1e-40f,  65504,    65520, 57344,
                         61440, 1e30f,    1.0625f,   1.1875f, 0.01953f, 1e-7f};
  std::copy(std::begin(edges), std::end(edges), x.begin());
  std::vector<Brain> brain(64);
  std::vector<_Float16> half(64);
  std::vector<uint8_t> e4m3(64), e5m2(64);
  std::vector<int32_t> shifted(64);
  std::vector<float> back(64);
  ASSERT_TRUE(launch("casts", {f32("x", x), bf16("bf16", brain), f16("f16", half),
                               hostTensor("e4m3", DataType::Float8E4M3FN, e4m3),
                               hostTensor("e5m2", DataType::Float8E5M2, e5m2), i32("i32", shifted),
                               f32("back", back)}))
      << diagnostics.text();
  for (int i = 0; i < 64; ++i) {
    expectSame(static_cast<float>(brain[i]), static_cast<float>(static_cast<Brain>(x[i])), i,
               "bf16");
    expectSame(static_cast<float>(half[i]), static_cast<float>(static_cast<_Float16>(x[i])), i,
               "f16");
    EXPECT_EQ(shifted[i], std::bit_cast<int32_t>(x[i]) >> 3);
    // e4m3: 3 bits after the first, steps of 2^-9 below 2^-6, up to 448.
    float magnitude = std::fmin(std::fabs(x[i]), 448.0f);
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    double step = std::ldexp(1.0, std::max(exponent - 1, -6) - 3);
    double expected = std::fmin(std::nearbyint(magnitude / step) * step, 448.0);
    expectSame(back[i], std::isnan(x[i]) ? nan : std::copysign(float(expected), x[i]), i, "e4m3");
  }
  EXPECT_EQ(e5m2[0] & 0x7c, 0x7c);
  EXPECT_NE(e5m2[0] & 3, 0);
  EXPECT_EQ(e5m2[1], 0x7b) << "infinity saturates";
  EXPECT_EQ(e5m2[13], 0x7b) << "57344 is the largest";
  EXPECT_EQ(e5m2[3], 0);
  EXPECT_EQ(e5m2[4], 0x80);
}

TEST_P(Arithmetic, IntegersDivideTowardsZeroAndWrap) {
  std::vector<int32_t> x = randomInts(64, INT32_MIN, INT32_MAX), y = randomInts(64, -1000, 1000);
  for (int32_t &value : y)
    value = value ? value : 3;
  x[0] = INT32_MIN, y[0] = -1;
  x[1] = -7, y[1] = 2;
  x[2] = 7, y[2] = -2;
  std::vector<int32_t> quotient(64), remainder(64), high(64), shift(64), unsignedQuotient(64);
  ASSERT_TRUE(
      launch("integers", {i32("x", x), i32("y", y), i32("quotient", quotient),
                          i32("remainder", remainder), i32("high", high), i32("shift", shift),
                          i32("unsigned", unsignedQuotient), int64_t(64)}))
      << diagnostics.text();
  for (int i = 0; i < 64; ++i) {
    int64_t wide = x[i];
    EXPECT_EQ(quotient[i], static_cast<int32_t>(wide / y[i]));
    EXPECT_EQ(remainder[i], static_cast<int32_t>(wide % y[i]));
    uint64_t product = uint64_t(uint32_t(x[i])) * uint32_t(y[i]);
    EXPECT_EQ(static_cast<uint32_t>(high[i]), product >> 32);
    EXPECT_EQ(static_cast<uint32_t>(shift[i]), uint32_t(x[i] >> 3) ^ uint32_t(y[i]) << 2);
    EXPECT_EQ(static_cast<uint32_t>(unsignedQuotient[i]),
              uint32_t(x[i]) / uint32_t(std::abs(y[i])));
  }
}

TEST_P(Arithmetic, FunctionsAreRoundedFloat64) {
  constexpr int n = 64;
  std::vector<float> x = randomFloats(n, -6, 6), out(13 * n);
  const float edges[] = {0, infinity, -infinity, nan, 0.5f, 2.5f, -1.5f, 1e-30f};
  std::copy(std::begin(edges), std::end(edges), x.begin());
  ASSERT_TRUE(launch("functions", {f32("x", x), f32("out", out), int64_t(n)}))
      << diagnostics.text();
  for (int i = 0; i < n; ++i) {
    double v = x[i];
    float sine = static_cast<float>(std::sin(v)), cosine = static_cast<float>(std::cos(v));
    // sigmoid is 1 / (1 + exp(-x)) with a rounding at each step.
    float grown = static_cast<float>(std::exp(-v));
    const float expected[] = {static_cast<float>(std::exp(v)),
                              static_cast<float>(std::log2(std::fabs(v))),
                              sine * cosine,
                              static_cast<float>(std::erf(v)),
                              1.0f / (1.0f + grown),
                              static_cast<float>(std::floor(v)) + static_cast<float>(std::ceil(v)),
                              static_cast<float>(std::tanh(v)),
                              static_cast<float>(std::log1p(std::fabs(v))),
                              static_cast<float>(std::pow(std::fabs(v), 1.5)),
                              std::fmaf(x[i], x[i], -1.0f),
                              std::sqrt(std::fabs(x[i])),
                              x[i] / 3.0f,
                              std::nearbyint(x[i])};
    for (int f = 0; f < 13; ++f)
      expectSame(out[f * n + i], expected[f], i, std::to_string(f).c_str());
  }
}

/// Philox4x32-10 for counter (i, 0, 0, 0) and key (seed, 0), written from its definition.
std::array<uint32_t, 4> philox(uint32_t seed, uint32_t i) {
  std::array<uint32_t, 4> c{i, 0, 0, 0};
  uint32_t k0 = seed, k1 = 0;
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

TEST_P(Arithmetic, RandomNumbersArePhilox) {
  std::vector<float> uniform(64), normal(64);
  std::vector<int32_t> bits(64);
  ASSERT_TRUE(launch(
      "random", {f32("uniform", uniform), f32("normal", normal), i32("bits", bits), int64_t(1234)}))
      << diagnostics.text();
  auto toUniform = [](uint32_t word) {
    int32_t value = static_cast<int32_t>(word);
    return static_cast<float>(value < 0 ? -value - 1 : value) * 4.6566127342e-10f;
  };
  for (uint32_t i = 0; i < 64; ++i) {
    auto words = philox(1234, i);
    EXPECT_EQ(static_cast<uint32_t>(bits[i]), words[0]);
    EXPECT_EQ(uniform[i], toUniform(words[0]));
    double first = std::fmax(1.0e-7f, toUniform(words[0]));
    double expected =
        std::sqrt(-2 * std::log(first)) * std::cos(6.283185307179586 * toUniform(words[1]));
    EXPECT_TRUE(judge::isNear(normal[i], expected, 2e-6 * std::fmax(1.0, std::fabs(expected))));
  }
}

} // namespace
} // namespace pellucid::reference
