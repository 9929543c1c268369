// SPDX-License-Identifier: Apache-2.0
#include "judge/Near.h"
#include "reference/tt/KernelTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pellucid::reference {
namespace {

using Reduction = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, Reduction, ::testing::Values("", "raw/"));

TEST_P(Reduction, SoftmaxOverRowsOfOddLength) {
  constexpr int rows = 5, columns = 77, stride = 80;
  std::vector<float> x = randomFloats(rows * stride, -30, 30), out(rows * stride, 9);
  x[stride + 3] = -std::numeric_limits<float>::infinity();
  x[2 * stride + 5] = std::nanf("");
  ASSERT_TRUE(launch(
      "softmax", {f32("out", out), f32("x", x), int64_t(stride), int64_t(rows), int64_t(columns)},
      {2, 1, 1}))
      << diagnostics.text();
  for (int row = 0; row < rows; ++row) {
    double total = 0;
    for (int i = 0; i < columns; ++i)
      total += std::exp(double(x[row * stride + i]));
    for (int i = 0; i < columns; ++i) {
      double expected = std::exp(double(x[row * stride + i])) / total;
      if (row == 2)
        EXPECT_TRUE(std::isnan(out[row * stride + i]));
      else
        // x - max is up to 60 and rounded to 2^-19; then come 77 sums, exp and a quotient.
        EXPECT_TRUE(
            judge::isNear(out[row * stride + i], expected, expected * (0x1p-19 + 80 * 0x1p-24)));
    }
    for (int i = columns; i < stride; ++i)
      EXPECT_EQ(out[row * stride + i], 9);
  }
}

TEST_P(Reduction, LayerNorm) {
  constexpr int rows = 3, n = 100;
  auto x = cast<Brain>(randomFloats(rows * n, -5, 9));
  std::vector<float> w = randomFloats(n), b = randomFloats(n), out(rows * n);
  ASSERT_TRUE(launch("layer_norm",
                     {bf16("x", x), f32("w", w), f32("b", b), f32("out", out), int64_t(n), 1e-5},
                     {rows, 1, 1}))
      << diagnostics.text();
  for (int row = 0; row < rows; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < n; ++i)
      mean += double(float(x[row * n + i])) / n;
    for (int i = 0; i < n; ++i)
      variance += std::pow(double(float(x[row * n + i])) - mean, 2) / n;
    for (int i = 0; i < n; ++i) {
      double expected =
          (double(float(x[row * n + i])) - mean) / std::sqrt(variance + 1e-5) * w[i] + b[i];
      EXPECT_TRUE(judge::isNear(out[row * n + i], expected, 1e-5));
    }
  }
}

TEST_P(Reduction, ScansAlongEachAxisAndBackwards) {
  constexpr int rows = 4, columns = 16;
  std::vector<float> x = randomFloats(64), a = randomFloats(64), sum(64), reverse(64), linear(64);
  ASSERT_TRUE(launch("scans", {f32("x", x), f32("sum", sum), f32("reverse", reverse), f32("a", a),
                               f32("linear", linear)}))
      << diagnostics.text();
  for (int row = 0; row < rows; ++row) {
    // Rounded at each step, in order.
    float running = 0, state = 0;
    for (int column = 0; column < columns; ++column) {
      int at = row * columns + column;
      running = column ? running + x[at] : x[at];
      EXPECT_EQ(sum[at], running);
      double exact = column ? double(state) * a[at] + x[at] : x[at];
      state = static_cast<float>(exact);
      EXPECT_TRUE(judge::isNear(linear[at], exact, 1e-4 * std::fmax(1, std::fabs(exact))));
    }
  }
  for (int column = 0; column < columns; ++column) {
    float running = 0;
    for (int row = rows; row-- > 0;) {
      running = row == rows - 1 ? x[row * columns + column] : running + x[row * columns + column];
      EXPECT_EQ(reverse[row * columns + column], running);
    }
  }
}

// Ties go to the lower index.
TEST_P(Reduction, ArgMaxAndArgMin) {
  constexpr int rows = 8, columns = 32;
  std::vector<float> x(rows * columns), best(rows);
  for (float &value : x)
    value = static_cast<float>(static_cast<int>(generator() % 9) - 4);
  std::vector<int32_t> where(rows), lowest(columns);
  ASSERT_TRUE(launch("arg_reductions",
                     {f32("x", x), f32("best", best), i32("where", where), i32("lowest", lowest)}))
      << diagnostics.text();
  for (int row = 0; row < rows; ++row) {
    auto first = x.begin() + row * columns;
    auto highest = std::max_element(first, first + columns);
    EXPECT_EQ(best[row], *highest);
    EXPECT_EQ(where[row], highest - first);
  }
  for (int column = 0; column < columns; ++column) {
    int expected = 0;
    for (int row = 1; row < rows; ++row)
      if (x[row * columns + column] < x[expected * columns + column])
        expected = row;
    EXPECT_EQ(lowest[column], expected);
  }
}

TEST_P(Reduction, Sorts) {
  std::vector<int32_t> x = randomInts(64, -50, 50), up(64), down(64);
  ASSERT_TRUE(launch("sort_rows", {i32("x", x), i32("out", up), i32("down", down)}))
      << diagnostics.text();
  for (int row = 0; row < 2; ++row) {
    std::vector<int32_t> expected(x.begin() + row * 32, x.begin() + row * 32 + 32);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(std::vector<int32_t>(up.begin() + row * 32, up.begin() + row * 32 + 32), expected);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(std::vector<int32_t>(down.begin() + row * 32, down.begin() + row * 32 + 32),
              expected);
  }
}

TEST_P(Reduction, ShapeChangesMoveEveryElement) {
  constexpr int n = 16;
  std::vector<int32_t> x = randomInts(n, -99, 99), y = randomInts(n, -99, 99), joined(2 * n),
                       woven(2 * n), even(n / 2), turned(n), flipped(n);
  ASSERT_TRUE(
      launch("shapes", {i32("x", x), i32("y", y), i32("joined", joined), i32("woven", woven),
                        i32("even", even), i32("turned", turned), i32("flipped", flipped)}))
      << diagnostics.text();
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(joined[2 * i], x[i]);
    EXPECT_EQ(joined[2 * i + 1], y[i]);
    EXPECT_EQ(flipped[i], x[n - 1 - i]);
    // turned[c][a][b] = x[a][b][c] for shapes 4x2x2 and 2x2x4.
    EXPECT_EQ(turned[i], x[i / 2 % 2 * 8 + i % 2 * 4 + i / 4]);
  }
  EXPECT_EQ(woven, joined);
  for (int i = 0; i < n / 2; ++i)
    EXPECT_EQ(even[i], x[2 * i] - x[2 * i + 1]);
}

TEST_P(Reduction, HistogramAndGather) {
  constexpr int n = 50;
  std::vector<int32_t> x = randomInts(64, 0, 7), bins(8);
  std::vector<float> table = randomFloats(8), taken(64, -1);
  ASSERT_TRUE(launch("histogram_gather", {i32("x", x), i32("bins", bins), f32("table", table),
                                          f32("taken", taken), int64_t(n)}))
      << diagnostics.text();
  for (int bin = 0; bin < 8; ++bin)
    EXPECT_EQ(bins[bin], std::count(x.begin(), x.begin() + n, bin));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(taken[i], i < n ? table[x[i]] : -1);
}

} // namespace
} // namespace pellucid::reference
