// SPDX-License-Identifier: Apache-2.0
// Kernels that treat one row per program: reductions, scans, loops that carry tiles.
#include "codegen/KernelFixture.h"

#include <algorithm>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

using RowKernels = KernelTest;

TEST_P(RowKernels, Softmax) {
  CompiledKernel kernel = compile("softmax");
  for (int n : {1, 2, 31, 33, 781, 1024}) {
    int rows = 5, stride = n + 3;
    std::vector<float> x = randomFloats(n, rows * stride, -20, 20), o(rows * stride, -7.0f);
    Arguments arguments;
    arguments.add(o.data()).add(x.data()).add(int32_t(stride)).add(int32_t(stride)).add(int32_t(n));
    ASSERT_EQ(kernel.run(arguments, rows), 0);
    for (int r = 0; r < rows; ++r) {
      // The difference is rounded to float, as in the kernel; the rest is not.
      float largest = *std::max_element(&x[r * stride], &x[r * stride] + n);
      auto exponential = [&](int i) { return std::exp(double(x[r * stride + i] - largest)); };
      double sum = 0;
      for (int i = 0; i < n; ++i)
        sum += exponential(i);
      for (int i = 0; i < n; ++i) {
        double expected = exponential(i) / sum;
        ASSERT_TRUE(judge::isNear(o[r * stride + i], expected, 4e-7 * expected + 1e-40))
            << n << " " << r << " " << i;
      }
      ASSERT_EQ(o[r * stride + n], -7.0f);
    }
  }
}

TEST_P(RowKernels, SoftmaxBFloat16) {
  CompiledKernel kernel = compile("softmax_bf16", "softmax");
  int n = 201, rows = 3;
  std::vector<uint16_t> x(rows * n), o(rows * n + 8, 0x1234);
  std::vector<float> values = randomFloats(1, rows * n, -5, 5);
  for (int i = 0; i < rows * n; ++i)
    x[i] = toBFloat16(values[i]);
  Arguments arguments;
  arguments.add(o.data()).add(x.data()).add(n).add(n).add(n);
  ASSERT_EQ(kernel.run(arguments, rows), 0);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::exp(fromBFloat16(x[r * n + i]));
    for (int i = 0; i < n; ++i) {
      double expected = std::exp(fromBFloat16(x[r * n + i])) / sum;
      ASSERT_TRUE(judge::isNear(fromBFloat16(o[r * n + i]), expected, expected * 0x1p-8))
          << r << " " << i;
    }
  }
  ASSERT_EQ(o[rows * n], 0x1234);
}

TEST_P(RowKernels, LayerNorm) {
  CompiledKernel kernel = compile("layernorm");
  for (int n : {5, 128, 129, 1000}) {
    int rows = 3;
    std::vector<float> x = randomFloats(n, rows * n), w = randomFloats(n + 1, n),
                       b = randomFloats(n + 2, n);
    std::vector<float> y(rows * n), mean(rows), rstd(rows);
    Arguments arguments;
    arguments.add(x.data())
        .add(y.data())
        .add(w.data())
        .add(b.data())
        .add(mean.data())
        .add(rstd.data());
    arguments.add(n).add(n).add(1e-5f);
    ASSERT_EQ(kernel.run(arguments, rows), 0);
    for (int r = 0; r < rows; ++r) {
      double sum = 0, squares = 0;
      for (int i = 0; i < n; ++i)
        sum += x[r * n + i];
      double mu = sum / n;
      for (int i = 0; i < n; ++i)
        squares += (x[r * n + i] - mu) * (x[r * n + i] - mu);
      double scale = 1 / std::sqrt(squares / n + 1e-5);
      ASSERT_TRUE(isClose(mean[r], mu, 1e-6));
      ASSERT_TRUE(isClose(rstd[r], scale, 1e-6));
      for (int i = 0; i < n; ++i)
        ASSERT_TRUE(isClose(y[r * n + i], (x[r * n + i] - mu) * scale * w[i] + b[i], 3e-6))
            << n << " " << i;
    }
  }
}

TEST_P(RowKernels, SiluNarrow) {
  for (bool half : {false, true}) {
    CompiledKernel kernel = compile(half ? "silu_fp16" : "silu_bf16", "silu");
    auto narrow = half ? toHalf : toBFloat16;
    auto wide = half ? fromHalf : fromBFloat16;
    for (int n : {1, 15, 17, 1000, 2049}) {
      std::vector<float> values = randomFloats(n, n, -20, 20);
      std::vector<uint16_t> x(n), o(n + 40, 0x5a5a);
      for (int i = 0; i < n; ++i)
        x[i] = narrow(values[i]);
      if (n > 20) {
        x[0] = narrow(NAN), x[1] = narrow(INFINITY), x[2] = narrow(-100.0f), x[3] = narrow(-0.0f);
      }
      Arguments arguments;
      arguments.add(o.data()).add(x.data()).add(n);
      ASSERT_EQ(kernel.run(arguments, (n + 1023) / 1024), 0);
      for (int i = 0; i < n; ++i) {
        double v = wide(x[i]);
        float expected = wide(narrow(static_cast<float>(v / (1 + std::exp(-v)))));
        ASSERT_TRUE(isClose(wide(o[i]), expected, half ? 0x1p-10 : 0x1p-7)) << v;
      }
      for (int i = n; i < n + 40; ++i)
        ASSERT_EQ(o[i], 0x5a5a);
    }
  }
}

TEST_P(RowKernels, ArgmaxTakesTheFirstOfEquals) {
  CompiledKernel kernel = compile("argmax_rows");
  for (int n : {1, 7, 100, 256}) {
    int rows = 20;
    Random random(n);
    std::vector<float> x(rows * n), values(rows);
    std::vector<int32_t> where(rows);
    for (float &v : x)
      v = random.integer(-5, 5);
    Arguments arguments;
    arguments.add(x.data()).add(where.data()).add(values.data()).add(n);
    ASSERT_EQ(kernel.run(arguments, rows), 0);
    for (int r = 0; r < rows; ++r) {
      auto *best = std::max_element(&x[r * n], &x[r * n] + n);
      ASSERT_EQ(where[r], best - &x[r * n]) << n << " " << r;
      ASSERT_EQ(values[r], *best);
    }
  }
}

TEST_P(RowKernels, CumulativeSums) {
  CompiledKernel kernel = compile("cumsum_rows");
  for (int n : {1, 30, 256}) {
    int rows = 3;
    std::vector<float> x = randomFloats(n, rows * n), o(rows * n), reversed(rows * n);
    Arguments arguments;
    arguments.add(x.data()).add(o.data()).add(reversed.data()).add(n);
    ASSERT_EQ(kernel.run(arguments, rows), 0);
    for (int r = 0; r < rows; ++r) {
      double sum = 0, back = 0;
      for (int i = 0; i < n; ++i) {
        sum += x[r * n + i];
        ASSERT_TRUE(isClose(o[r * n + i], sum, 1e-5)) << i;
        back += x[r * n + n - 1 - i];
        ASSERT_TRUE(isClose(reversed[r * n + n - 1 - i], back, 1e-5)) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, RowKernels, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
