// SPDX-License-Identifier: Apache-2.0
// Kernels on tiles of two dimensions, products, atomics, control flow and shape operations.
#include "codegen/KernelFixture.h"

#include <algorithm>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

using TileKernels = KernelTest;

TEST_P(TileKernels, Matmul) {
  CompiledKernel kernel = compile("matmul_fp32", "matmul");
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{33, 65, 31}, std::array{64, 128, 96},
                         std::array{100, 70, 200}}) {
    std::vector<float> a = randomFloats(m, m * k), b = randomFloats(n, k * n), c(m * n + 16, 9.0f);
    Arguments arguments;
    arguments.add(a.data()).add(b.data()).add(c.data()).add(m).add(n).add(k).add(k).add(n).add(n);
    ASSERT_EQ(kernel.run(arguments, ((m + 31) / 32) * ((n + 63) / 64)), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int l = 0; l < k; ++l) {
          sum += double(a[i * k + l]) * b[l * n + j];
          size += std::abs(double(a[i * k + l]) * b[l * n + j]);
        }
        ASSERT_TRUE(judge::isNear(c[i * n + j], sum, 0x1p-22 * size))
            << m << " " << n << " " << i << " " << j;
      }
    ASSERT_EQ(c[m * n], 9.0f);
  }
}

TEST_P(TileKernels, MatmulBFloat16) {
  CompiledKernel kernel = compile("matmul_bf16", "matmul");
  int m = 40, n = 100, k = 70;
  std::vector<float> av = randomFloats(1, m * k), bv = randomFloats(2, k * n);
  std::vector<uint16_t> a(m * k), b(k * n), c(m * n);
  std::transform(av.begin(), av.end(), a.begin(), toBFloat16);
  std::transform(bv.begin(), bv.end(), b.begin(), toBFloat16);
  Arguments arguments;
  arguments.add(a.data()).add(b.data()).add(c.data()).add(m).add(n).add(k).add(k).add(n).add(n);
  ASSERT_EQ(kernel.run(arguments, 2 * 2), 0);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(fromBFloat16(a[i * k + l])) * fromBFloat16(b[l * n + j]);
      ASSERT_TRUE(isClose(fromBFloat16(c[i * n + j]), sum, 0x1p-8)) << i << " " << j;
    }
}

TEST_P(TileKernels, SumsAlongBothAxesAndTranspose) {
  CompiledKernel kernel = compile("tile2d");
  for (auto [m, n] : {std::pair{32, 64}, std::pair{1, 1}, std::pair{17, 50}, std::pair{31, 63}}) {
    std::vector<float> x = randomFloats(m * n, m * n), rows(m), columns(n), largest(1),
                       turned(m * n);
    Arguments arguments;
    arguments.add(x.data())
        .add(rows.data())
        .add(columns.data())
        .add(largest.data())
        .add(turned.data());
    arguments.add(m).add(n);
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    double best = m * n < 32 * 64 ? 0 : -INFINITY;
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int j = 0; j < n; ++j) {
        sum += x[i * n + j];
        best = std::max<double>(best, x[i * n + j]);
        ASSERT_EQ(turned[j * m + i], x[i * n + j]) << i << " " << j;
      }
      ASSERT_TRUE(isClose(rows[i], sum, 1e-5));
    }
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int i = 0; i < m; ++i)
        sum += x[i * n + j];
      ASSERT_TRUE(isClose(columns[j], sum, 1e-5));
    }
    ASSERT_EQ(largest[0], float(best));
  }
}

TEST_P(TileKernels, Atomics) {
  CompiledKernel kernel = compile("atomics");
  int n = 1000;
  Random random(3);
  std::vector<int32_t> x(n), histogram(50), largest(1, INT32_MIN), expected(50);
  std::vector<float> sum(1);
  double total = 0;
  for (int32_t &v : x) {
    v = random.integer(0, 50);
    ++expected[v];
    total += v;
  }
  Arguments arguments;
  arguments.add(x.data()).add(histogram.data()).add(sum.data()).add(largest.data()).add(n);
  ASSERT_EQ(kernel.run(arguments, (n + 127) / 128), 0);
  EXPECT_EQ(histogram, expected);
  EXPECT_EQ(sum[0], total);
  EXPECT_EQ(largest[0], *std::max_element(x.begin(), x.end()));
}

TEST_P(TileKernels, CausalAttention) {
  CompiledKernel kernel = compile("flash");
  for (int n : {32, 70, 128}) {
    int d = 32;
    std::vector<float> q = randomFloats(1, n * d), k = randomFloats(2, n * d),
                       v = randomFloats(3, n * d), o(n * d);
    float scale = 0.3f;
    Arguments arguments;
    arguments.add(q.data()).add(k.data()).add(v.data()).add(o.data()).add(scale).add(n);
    ASSERT_EQ(kernel.run(arguments, (n + 31) / 32), 0);
    for (int i = 0; i < n; ++i) {
      std::vector<double> p(i + 1), row(d);
      double sum = 0, largest = -INFINITY;
      for (int j = 0; j <= i; ++j) {
        for (int c = 0; c < d; ++c)
          p[j] += double(q[i * d + c]) * k[j * d + c];
        p[j] *= scale;
        largest = std::max(largest, p[j]);
      }
      for (double &value : p)
        sum += value = std::exp(value - largest);
      for (int c = 0; c < d; ++c) {
        double expected = 0;
        for (int j = 0; j <= i; ++j)
          expected += p[j] / sum * v[j * d + c];
        ASSERT_TRUE(isClose(o[i * d + c], expected, 2e-5)) << n << " " << i << " " << c;
      }
    }
  }
}

TEST_P(TileKernels, ControlFlowAroundTiles) {
  CompiledKernel kernel = compile("control");
  int n = 300;
  std::vector<float> x = randomFloats(9, n), o(n);
  for (int threshold : {-1, 0, 1, 5}) {
    Arguments arguments;
    arguments.add(x.data()).add(o.data()).add(n).add(threshold);
    ASSERT_EQ(kernel.run(arguments, 3), 0);
    for (int i = 0; i < n; ++i) {
      float expected = threshold > 0 ? x[i] * 2 : -x[i];
      for (int k = 0; k < threshold; ++k)
        expected += 1;
      ASSERT_EQ(o[i], expected) << threshold << " " << i;
    }
  }
}

TEST_P(TileKernels, ShapesGatherSortHistogram) {
  CompiledKernel kernel = compile("shapes");
  constexpr int n = 64;
  Random random(5);
  std::vector<float> x = randomFloats(4, n), o(4 * n), gathered(n);
  std::vector<int32_t> index(n);
  for (int32_t &i : index)
    i = random.integer(0, 20);
  Arguments arguments;
  arguments.add(x.data()).add(o.data()).add(gathered.data()).add(index.data());
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  std::vector<float> sorted = x, bins(16);
  std::sort(sorted.begin(), sorted.end());
  for (int32_t i : index)
    if (i < 16)
      ++bins[i];
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(o[i], x[i ^ 1]) << i;
    ASSERT_EQ(gathered[i], x[index[i]]) << i;
    ASSERT_EQ(o[n + i], sorted[i]) << i;
    ASSERT_EQ(o[3 * n + i], x[n - 1 - i]) << i;
  }
  for (int i = 0; i < 16; ++i)
    ASSERT_EQ(o[2 * n + i], bins[i]) << i;
}

template <typename T> double mathKernel(double v) {
  double r =
      std::exp(v) + std::log(std::abs(v) + 1) + std::sin(v) * std::cos(v) + std::sqrt(std::abs(v));
  r += std::erf(v) + std::tanh(v) + std::exp2(v) + 1 / std::sqrt(std::abs(v) + 1);
  r += std::floor(v) + std::ceil(v) + v * v + v;
  return r + std::pow(std::abs(v), v) + std::atan2(v, r) + std::fmod(r, v) +
         std::log1p(std::abs(v)) + std::expm1(v);
}

TEST_P(TileKernels, MathInBothPrecisions) {
  int n = 500;
  CompiledKernel narrow = compile("mathk"), wide = compile("mathk_fp64", "mathk");
  std::vector<float> x = randomFloats(8, n, -4, 4), o(n);
  std::vector<double> xd(x.begin(), x.end()), od(n);
  Arguments arguments, argumentsDouble;
  arguments.add(x.data()).add(o.data()).add(n);
  argumentsDouble.add(xd.data()).add(od.data()).add(n);
  ASSERT_EQ(narrow.run(arguments, (n + 127) / 128), 0);
  ASSERT_EQ(wide.run(argumentsDouble, (n + 127) / 128), 0);
  int jumps = 0;
  for (int i = 0; i < n; ++i) {
    double expected = mathKernel<double>(xd[i]);
    EXPECT_TRUE(isClose(od[i], expected, 1e-13)) << xd[i];
    if (isClose(o[i], expected, 1e-4))
      continue;
    // fmod jumps by its divisor where its quotient is nearly whole.
    ++jumps;
    EXPECT_TRUE(isNear(std::abs(o[i] - expected), std::abs(xd[i]), 1e-4 * std::max(1.0, expected)))
        << x[i];
  }
  EXPECT_LE(jumps, n / 50);
}

TEST_P(TileKernels, RotaryInPlace) {
  CompiledKernel kernel = compile("rope");
  int rows = 4, d = 64, h = 32;
  std::vector<float> values = randomFloats(1, rows * d), cs = randomFloats(2, rows * h, -1, 1),
                     sn = randomFloats(3, rows * h, -1, 1);
  std::vector<uint16_t> x(rows * d), c(rows * h), s(rows * h);
  std::transform(values.begin(), values.end(), x.begin(), toBFloat16);
  std::transform(cs.begin(), cs.end(), c.begin(), toBFloat16);
  std::transform(sn.begin(), sn.end(), s.begin(), toBFloat16);
  std::vector<uint16_t> before = x;
  Arguments arguments;
  arguments.add(x.data()).add(c.data()).add(s.data()).add(x.data()).add(int32_t(rows));
  ASSERT_EQ(kernel.run(arguments, rows), 0);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < h; ++i) {
      double a = fromBFloat16(before[r * d + i]), b = fromBFloat16(before[r * d + h + i]);
      double cosine = fromBFloat16(c[r * h + i]), sine = fromBFloat16(s[r * h + i]);
      ASSERT_TRUE(isClose(fromBFloat16(x[r * d + i]), a * cosine - b * sine, 0x1p-7))
          << r << " " << i;
      ASSERT_TRUE(isClose(fromBFloat16(x[r * d + h + i]), b * cosine + a * sine, 0x1p-7))
          << r << " " << i;
    }
}

struct Printed {
  std::vector<int64_t> values;
  int32_t message = -1;
};

TEST_P(TileKernels, AssertionsAndPrints) {
  CompiledKernel kernel = compile("debugk");
  std::vector<int32_t> x(100, 3);
  Printed printed;
  kernel.context.printState = &printed;
  kernel.context.print = [](void *state, int32_t message, const uint32_t *, int32_t kind,
                            const void *values, uint64_t count) {
    auto *printed = static_cast<Printed *>(state);
    printed->message = message;
    ASSERT_EQ(kind, 0);
    auto *numbers = static_cast<const int64_t *>(values);
    printed->values.insert(printed->values.end(), numbers, numbers + count);
  };
  Arguments arguments;
  arguments.add(x.data()).add(int32_t(100));
  ASSERT_EQ(kernel.run(arguments, 2), 0);
  ASSERT_EQ(printed.values.size(), 128u);
  EXPECT_EQ(printed.values[99], 3);
  EXPECT_EQ(printed.values[100], 1);
  x[70] = -1;
  ASSERT_EQ(kernel.run(arguments, 2), 1);
  EXPECT_EQ(kernel.context.failure, 1);
  EXPECT_EQ(kernel.context.program[0], 1u);
  EXPECT_EQ(kernel.object.messages.at(kernel.context.message).text, "x must be positive");
}

INSTANTIATE_TEST_SUITE_P(Levels, TileKernels, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
