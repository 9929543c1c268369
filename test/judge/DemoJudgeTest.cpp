// SPDX-License-Identifier: Apache-2.0
// The demo's table says "ok": a wrong element anywhere must turn it.
#include "demo/Reference.h"

#include <gtest/gtest.h>

using namespace demo;

namespace {

constexpr int64_t batch = 5;

struct DemoJudge : testing::Test {
  Weights weights = Weights::random(7);
  Bf16 input = randomBf16(batch * features, 4, 3);
  Bf16 right() const {
    Bf16 output(batch * features);
    for (size_t i = 0; i < output.size(); ++i)
      output[i] = closest(i);
    return output;
  }

private:
  uint16_t closest(size_t place) const {
    std::vector<double> x(features), h(hidden);
    size_t row = place / features, column = place % features;
    for (size_t i = 0; i < features; ++i)
      x[i] = fromBf16(input[row * features + i]);
    for (size_t j = 0; j < hidden; ++j) {
      double sum = fromBf16(weights.bias1[j]);
      for (size_t i = 0; i < features; ++i)
        sum += fromBf16(weights.weight1[j * features + i]) * x[i];
      h[j] = sum / (1 + std::exp(-sum));
    }
    double sum = fromBf16(weights.bias2[column]);
    for (size_t j = 0; j < hidden; ++j)
      sum += fromBf16(weights.weight2[column * hidden + j]) * h[j];
    return toBf16(static_cast<float>(sum));
  }
};

TEST_F(DemoJudge, TakesTheRightOutput) {
  auto comparison = compare(weights, input, batch, right());
  EXPECT_TRUE(comparison.ok()) << comparison.ofBound();
  EXPECT_EQ(comparison.compared(), size_t(batch * features));
}

TEST_F(DemoJudge, SeesAPoisonedElementInEveryPlace) {
  const uint16_t nan = 0x7fc0, inf = 0x7f80, minusInf = 0xff80;
  for (size_t place : {size_t(0), size_t(1), size_t(features), size_t(batch * features / 2),
                       size_t(batch * features - 1)}) {
    Bf16 output = right();
    for (uint16_t poison : {nan, inf, minusInf, toBf16(1e30f),
                            toBf16(static_cast<float>(fromBf16(output[place]) + 0.5))}) {
      Bf16 poisoned = output;
      poisoned[place] = poison;
      auto comparison = compare(weights, input, batch, poisoned);
      EXPECT_FALSE(comparison.ok()) << poison << " at " << place;
      EXPECT_EQ(comparison.firstWrongIndex(), place);
      EXPECT_GT(comparison.ofBound(), 1);
    }
  }
}

TEST_F(DemoJudge, RefusesAnotherSize) {
  Bf16 output = right();
  output.pop_back();
  EXPECT_THROW(compare(weights, input, batch, output), std::runtime_error);
  EXPECT_THROW(compare(weights, input, batch, {}), std::runtime_error);
}

} // namespace
