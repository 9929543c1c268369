// SPDX-License-Identifier: Apache-2.0
// Operators and launches outside of any trace, against double.
#include "Near.h"

#include <algorithm>

namespace pellucid::test {
namespace {

TEST(Eager, PointwiseOperatorsBroadcastAndPromote) {
  Tensor a = rand({3, 7}, dtype::float32, -2, 2, 1), b = rand({7}, dtype::bfloat16, -2, 2, 2);
  std::vector<double> x = values(a), y = values(b), expected;
  for (size_t i = 0; i < x.size(); ++i)
    expected.push_back(x[i] * y[i % 7] - 0.5);
  Tensor result = a * b - 0.5;
  EXPECT_EQ(result.scalar_type(), dtype::float32);
  expectNear(result, expected, 1e-6);
}

TEST(Eager, LinearAgreesWithDouble) {
  Tensor x = rand({5, 13}, dtype::float32, -1, 1, 3), w = rand({9, 13}, dtype::float32, -1, 1, 4),
         bias = rand({9}, dtype::float32, -1, 1, 5);
  std::vector<double> xv = values(x), wv = values(w), bv = values(bias), expected;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = bv[j];
      for (int k = 0; k < 13; ++k)
        sum += xv[i * 13 + k] * wv[j * 13 + k];
      expected.push_back(sum);
    }
  expectNear(linear(x, w, bias), expected, 1e-5, 1e-5);
}

TEST(Eager, SoftmaxOfARowWithInfinity) {
  Tensor x = rand({3, 11}, dtype::float32, -5, 5, 6);
  x.data<float>()[4] = -INFINITY;
  std::vector<double> v = values(x), expected(33);
  for (int r = 0; r < 3; ++r) {
    double top = *std::max_element(v.begin() + r * 11, v.begin() + r * 11 + 11), sum = 0;
    for (int i = 0; i < 11; ++i)
      sum += expected[r * 11 + i] = std::exp(v[r * 11 + i] - top);
    for (int i = 0; i < 11; ++i)
      expected[r * 11 + i] /= sum;
  }
  expectNear(softmax(x, -1), expected, 1e-5);
}

TEST(Eager, ViewsShareMemory) {
  Tensor x = rand({4, 6}, dtype::float32, 0, 1, 7);
  Tensor t = x.transpose(0, 1).slice(0, 1, 4);
  EXPECT_EQ(t.data<float>(), x.data<float>() + 1);
  EXPECT_FALSE(t.is_contiguous());
  std::vector<double> v = values(x), expected;
  for (int i = 1; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      expected.push_back(std::exp(v[j * 6 + i]));
  expectNear(exp(t), expected, 1e-5);
}

TEST(Eager, InPlaceOperatorWritesItsFirstArgument) {
  Tensor x = rand({9}, dtype::float32, -1, 1, 8);
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v += 2;
  call("aten::add_", {x, 2.0});
  expectNear(x, expected, 1e-6);
}

TEST(Eager, RawLaunchOfOddSizes) {
  for (int64_t n : {1, 127, 129, 1000}) {
    Tensor x = rand({n}, dtype::bfloat16, -6, 6, static_cast<uint64_t>(n));
    std::vector<double> expected = values(x);
    for (double &v : expected)
      v = silu(v);
    expectNear(launchSilu(x), expected, 0x1p-8);
  }
}

TEST(Eager, AutotunedKernelAsksTheConfigForItsGrid) {
  Tensor x = rand({301}, dtype::float32, -6, 6, 9), out = empty_like(x);
  auto grid = [&](const triton::Meta &meta) {
    return std::vector<SymInt>{cdiv(x.numel(), meta["BLOCK_SIZE"])};
  };
  kernels()["tuned_silu"][grid]({x, out, x.numel()});
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v = silu(v);
  expectNear(out, expected, 1e-5);
}

TEST(Eager, ErrorsNameTheKernelAndTheArgument) {
  EXPECT_TRUE(contains(errorOf([] { (void)kernels()["absent"]; }), "'absent'"));
  Tensor x = ones({8});
  auto kernel = kernels()["silu"];
  EXPECT_TRUE(contains(errorOf([&] { kernel[{1}]({x, x}, {{"BLOCK_SIZE", 8}}); }),
                       "'silu' needs an argument for 'n'"));
  EXPECT_TRUE(
      contains(errorOf([&] { kernel[{1}]({x, x, 8}, {{"BLOCK", 8}}); }), "no parameter 'BLOCK'"));
  EXPECT_TRUE(contains(errorOf([&] { call("aten::no_such_operator", {x}); }), "no_such_operator"));
  EXPECT_TRUE(contains(errorOf([&] { (void)x.view({3, 3}); }), "3"));
  EXPECT_TRUE(contains(errorOf([&] { (void)(Tensor() + x); }), "undefined") ||
              contains(errorOf([&] { (void)(Tensor() + x); }), "self"));
}

} // namespace
} // namespace pellucid::test
