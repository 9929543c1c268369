// SPDX-License-Identifier: Apache-2.0
#include "judge/Near.h"
#include "reference/tt/KernelTest.h"

#include <cmath>
#include <limits>

namespace pellucid::reference {
namespace {

using Matrix = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, Matrix, ::testing::Values("", "raw/"));

template <typename T>
double product(const std::vector<T> &a, const std::vector<T> &b, int row, int column, int n,
               int k) {
  double sum = 0;
  for (int i = 0; i < k; ++i)
    sum += double(float(a[row * k + i])) * double(float(b[i * n + column]));
  return sum;
}

constexpr int m = 37, n = 45, k = 51;
constexpr std::array<uint32_t, 3> grid{3, 2, 1};

TEST_P(Matrix, PointerArithmetic) {
  auto a = cast<_Float16>(randomFloats(m * k)), b = cast<_Float16>(randomFloats(k * n));
  std::vector<_Float16> c(m * n);
  ASSERT_TRUE(launch(
      "matmul", {f16("a", a), f16("b", b), f16("c", c), int64_t(m), int64_t(n), int64_t(k)}, grid))
      << diagnostics.text();
  for (int i = 0; i < m * n; ++i) {
    double expected = product(a, b, i / n, i % n, n, k);
    EXPECT_TRUE(judge::isNear(double(c[i]), expected, std::fabs(expected) * 0x1p-11 + 1e-5));
  }
}

// Four roundings to float32, one per step along K, and no more.
TEST_P(Matrix, BlockPointers) {
  auto a = cast<_Float16>(randomFloats(m * k)), b = cast<_Float16>(randomFloats(k * n));
  std::vector<float> c(m * n);
  ASSERT_TRUE(launch("matmul_block",
                     {f16("a", a), f16("b", b), f32("c", c), int64_t(m), int64_t(n), int64_t(k)},
                     grid))
      << diagnostics.text();
  for (int i = 0; i < m * n; ++i)
    EXPECT_TRUE(judge::isNear(c[i], product(a, b, i / n, i % n, n, k), 1e-5));
}

TEST_P(Matrix, Descriptors) {
  auto a = cast<Brain>(randomFloats(m * k)), b = cast<Brain>(randomFloats(k * n));
  std::vector<float> c(m * n);
  ASSERT_TRUE(launch("matmul_descriptor",
                     {bf16("a", a), bf16("b", b), f32("c", c), int64_t(m), int64_t(n), int64_t(k)},
                     grid))
      << diagnostics.text();
  for (int i = 0; i < m * n; ++i)
    EXPECT_TRUE(judge::isNear(c[i], product(a, b, i / n, i % n, n, k), 1e-5));
}

TEST_P(Matrix, CausalAttention) {
  constexpr int length = 41, dim = 32;
  constexpr double scale = 0.25;
  auto q = cast<Brain>(randomFloats(length * dim)), key = cast<Brain>(randomFloats(length * dim)),
       v = cast<Brain>(randomFloats(length * dim));
  std::vector<float> out(length * dim);
  ASSERT_TRUE(
      launch("attention",
             {bf16("q", q), bf16("k", key), bf16("v", v), f32("out", out), int64_t(length), scale},
             {3, 1, 1}))
      << diagnostics.text();
  for (int row = 0; row < length; ++row) {
    std::vector<double> weights;
    double total = 0;
    for (int column = 0; column <= row; ++column) {
      double score = 0;
      for (int d = 0; d < dim; ++d)
        score += double(float(q[row * dim + d])) * double(float(key[column * dim + d]));
      weights.push_back(std::exp2(score * scale));
      total += weights.back();
    }
    for (int d = 0; d < dim; ++d) {
      double expected = 0;
      for (int column = 0; column <= row; ++column)
        expected += weights[column] / total * double(float(v[column * dim + d]));
      // Weights are rounded to bf16 before the second product.
      EXPECT_TRUE(judge::isNear(out[row * dim + d], expected, 2.0 * 0x1p-8)) << row << " " << d;
    }
  }
}

double fp4(int nibble) {
  const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (nibble & 8 ? -1 : 1) * magnitudes[nibble & 7];
}
double e4m3(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  double magnitude = exponent ? std::ldexp(8 + mantissa, exponent - 10) : std::ldexp(mantissa, -9);
  return bits & 0x80 ? -magnitude : magnitude;
}

TEST_P(Matrix, MicroscaledOperands) {
  constexpr int rows = 16, columns = 16, inner = 64, groups = inner / 32;
  std::vector<uint8_t> a(rows * inner / 2), aScale(rows * groups), b(inner * columns),
      bScale(columns * groups);
  for (uint8_t &byte : a)
    byte = static_cast<uint8_t>(generator());
  for (uint8_t &byte : b)
    byte = static_cast<uint8_t>(generator() % 0x7f | (generator() & 0x80));
  for (auto *scales : {&aScale, &bScale})
    for (uint8_t &byte : *scales)
      byte = static_cast<uint8_t>(120 + generator() % 14);
  bScale[2 * groups] = 255;
  std::vector<float> c(rows * columns);
  ASSERT_TRUE(launch("scaled_dot", {hostTensor("a", DataType::UInt8, a),
                                    hostTensor("a_scale", DataType::UInt8, aScale),
                                    hostTensor("b", DataType::Float8E4M3FN, b),
                                    hostTensor("b_scale", DataType::UInt8, bScale), f32("c", c)}))
      << diagnostics.text();
  for (int i = 0; i < rows * columns; ++i) {
    int row = i / columns, column = i % columns;
    if (column == 2) {
      EXPECT_TRUE(std::isnan(c[i])) << "a scale of 255 is NaN";
      continue;
    }
    double expected = 0;
    for (int x = 0; x < inner; ++x) {
      int byte = a[row * inner / 2 + x / 2];
      double scale =
          std::ldexp(1.0, aScale[row * groups + x / 32] + bScale[column * groups + x / 32] - 254);
      expected += fp4(x % 2 ? byte >> 4 : byte & 15) * e4m3(b[x * columns + column]) * scale;
    }
    EXPECT_EQ(c[i], static_cast<float>(expected)) << i;
  }
}

// int8 products are exact and sums wrap.
TEST_P(Matrix, IntegerDot) {
  const char *text = R"(
    tt.func public @dot(%a: !tt.ptr<i8>, %b: !tt.ptr<i8>, %c: !tt.ptr<i32>) {
      %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
      %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %width = arith.constant dense<16> : tensor<16x1xi32>
      %start = arith.muli %rows, %width : tensor<16x1xi32>
      %wide = tt.broadcast %start : tensor<16x1xi32> -> tensor<16x16xi32>
      %tall = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
      %at = arith.addi %wide, %tall : tensor<16x16xi32>
      %as = tt.splat %a : !tt.ptr<i8> -> tensor<16x16x!tt.ptr<i8>>
      %ap = tt.addptr %as, %at : tensor<16x16x!tt.ptr<i8>>, tensor<16x16xi32>
      %av = tt.load %ap : tensor<16x16x!tt.ptr<i8>>
      %bs = tt.splat %b : !tt.ptr<i8> -> tensor<16x16x!tt.ptr<i8>>
      %bp = tt.addptr %bs, %at : tensor<16x16x!tt.ptr<i8>>, tensor<16x16xi32>
      %bv = tt.load %bp : tensor<16x16x!tt.ptr<i8>>
      %zero = arith.constant dense<0> : tensor<16x16xi32>
      %d = tt.dot %av, %bv, %zero : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
      %cs = tt.splat %c : !tt.ptr<i32> -> tensor<16x16x!tt.ptr<i32>>
      %cp = tt.addptr %cs, %at : tensor<16x16x!tt.ptr<i32>>, tensor<16x16xi32>
      tt.store %cp, %d : tensor<16x16x!tt.ptr<i32>>
      tt.return
    })";
  std::vector<int8_t> a(256), b(256);
  for (auto *values : {&a, &b})
    for (int8_t &value : *values)
      value = static_cast<int8_t>(generator());
  std::vector<int32_t> c(256);
  ASSERT_TRUE(launchText(
      text, "dot",
      {hostTensor("a", DataType::Int8, a), hostTensor("b", DataType::Int8, b), i32("c", c)}))
      << diagnostics.text();
  for (int i = 0; i < 256; ++i) {
    int expected = 0;
    for (int x = 0; x < 16; ++x)
      expected += a[i / 16 * 16 + x] * b[x * 16 + i % 16];
    EXPECT_EQ(c[i], expected);
  }
}

} // namespace
} // namespace pellucid::reference
