// SPDX-License-Identifier: Apache-2.0
#include "reference/graph/Tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

using namespace pellucid;
using namespace pellucid::reference;

namespace {
// Single precision has a rounding of its own in the hardware to compare with.
TEST(Rounding, f32IsTheHardwares) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 200000; ++i) {
    double value = std::bit_cast<double>(rng());
    if (i % 2)
      value = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(rng()))) *
              (1 + (static_cast<double>(rng() % 4) - 1) * 0x1p-25);
    if (std::isnan(value))
      continue;
    float expected = static_cast<float>(value);
    ASSERT_EQ(encodeFloat(DataType::Float32, value), std::bit_cast<uint32_t>(expected)) << value;
  }
}

// Every pattern of the narrow types is a value that encodes to itself; the midpoint of two
// neighbours goes to the even one.
TEST(Rounding, narrowTypesRoundTiesToEven) {
  for (DataType dtype :
       {DataType::Float16, DataType::BFloat16, DataType::Float8E4M3FN, DataType::Float8E5M2,
        DataType::Float8E4M3FNUZ, DataType::Float8E5M2FNUZ}) {
    uint64_t positive = uint64_t(1) << (8 * byteSize(dtype) - 1);
    for (uint64_t bits = 0; bits < 2 * positive; ++bits) {
      double value = decodeFloat(dtype, bits);
      if (std::isnan(value))
        continue;
      ASSERT_EQ(encodeFloat(dtype, value), bits) << info(dtype).torch;
      if (bits + 1 >= positive || !std::isfinite(value))
        continue;
      double next = decodeFloat(dtype, bits + 1);
      if (!std::isfinite(next))
        continue;
      double middle = value + (next - value) / 2;
      ASSERT_EQ(encodeFloat(dtype, middle), bits + (bits & 1)) << info(dtype).torch << " " << bits;
      ASSERT_EQ(encodeFloat(dtype, std::nextafter(middle, HUGE_VAL)), bits + 1);
      ASSERT_EQ(encodeFloat(dtype, std::nextafter(middle, -HUGE_VAL)), bits);
    }
  }
}

// Figures from the formats' own tables.
TEST(Rounding, knownValues) {
  EXPECT_EQ(encodeFloat(DataType::BFloat16, 1.0), 0x3f80u);
  EXPECT_EQ(encodeFloat(DataType::Float16, 65504.0), 0x7bffu);
  EXPECT_EQ(encodeFloat(DataType::Float16, 65520.0), 0x7c00u);
  EXPECT_EQ(encodeFloat(DataType::Float16, 0x1p-24), 1u);
  EXPECT_EQ(encodeFloat(DataType::Float16, 0x1p-25), 0u);
  EXPECT_EQ(encodeFloat(DataType::BFloat16, -HUGE_VAL), 0xff80u);
  EXPECT_EQ(decodeFloat(DataType::Float8E4M3FN, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(decodeFloat(DataType::Float8E4M3FN, 0x7f)));
  EXPECT_EQ(decodeFloat(DataType::Float8E5M2, 0x7b), 57344.0);
  EXPECT_TRUE(std::isnan(roundTo(DataType::BFloat16, std::nan(""))));
  EXPECT_TRUE(std::signbit(roundTo(DataType::Float16, -1e-30)));
}

TEST(Integers, wrapInTheirType) {
  EXPECT_EQ(wrapTo(DataType::Int8, 200), -56);
  EXPECT_EQ(wrapTo(DataType::UInt8, -1), 255);
  EXPECT_EQ(wrapTo(DataType::Bool, 2), 1);
  EXPECT_EQ(wrapTo(DataType::Int64, INT64_MIN), INT64_MIN);
}

TEST(Tensors, viewsReadThroughStrides) {
  Tensor t = Tensor::of(DataType::Int32, {2, 3}, std::vector<double>{0, 1, 2, 3, 4, 5});
  EXPECT_EQ(t.view({3, 2}, {1, 3}, 0).reals(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(t.view({2, 2}, {0, 1}, 1).reals(), (std::vector<double>{1, 2, 1, 2}));
  EXPECT_THROW(t.view({2}, {5}, 3).reals(), std::out_of_range);
  EXPECT_TRUE(Tensor(DataType::Float32, {0, 4}).reals().empty());
}
} // namespace
