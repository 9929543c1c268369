// SPDX-License-Identifier: Apache-2.0
// The bounds of docs/design/0009-vector-math.md, on samples of all f32 numbers (bench/math_error
// runs over every one) and of f64.
#include "codegen/KernelFixture.h"
#include "codegen/MathFunctions.h"

#include <bit>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

class VectorMath : public testing::TestWithParam<std::tuple<CpuLevel, size_t>> {
protected:
  CpuLevel level = std::get<0>(GetParam());
  const MathFunction &function = mathFunctions()[std::get<1>(GetParam())];
};

TEST_P(VectorMath, SingleWithinItsBound) {
  MathImage image(unaryMath(function.name), false, level);
  constexpr uint32_t stride = 20011, batch = 4096;
  std::vector<float> x(batch), out(batch);
  double worst = 0;
  for (uint64_t start = 0; start < uint64_t(1) << 32; start += uint64_t(stride) * batch) {
    for (uint32_t i = 0; i < batch; ++i)
      x[i] = std::bit_cast<float>(uint32_t(start + uint64_t(i) * stride));
    image.run(x.data(), nullptr, out.data(), batch);
    for (uint32_t i = 0; i < batch; ++i) {
      double error = errorInUlps(out[i], function.exact(static_cast<double>(x[i])));
      ASSERT_LE(error, function.singleBound) << function.name << "(" << x[i] << ") = " << out[i];
      worst = std::max(worst, error);
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

/// What is left of an angle beside a quarter turn is small, and no bit of it may be lost.
TEST_P(VectorMath, BesideQuarterTurns) {
  MathImage image(unaryMath(function.name), false, level);
  bool turns = function.name == std::string("sin") || function.name == std::string("cos");
  if (!turns)
    GTEST_SKIP() << "no angles";
  constexpr int count = 30000, around = 16;
  std::vector<float> x(around), out(around);
  for (int turn = 1; turn < count; ++turn) {
    auto nearest = std::bit_cast<int32_t>(float(turn * 0x1.921fb54442d18p+0));
    for (int i = 0; i < around; ++i)
      x[i] = std::bit_cast<float>(nearest + i / 2 - around / 4) * (i % 2 ? -1.0f : 1.0f);
    image.run(x.data(), nullptr, out.data(), around);
    for (int i = 0; i < around; ++i)
      ASSERT_LE(errorInUlps(out[i], function.exact(static_cast<double>(x[i]))),
                function.singleBound)
          << function.name << "(" << x[i] << ") = " << out[i];
  }
}

/// A zero keeps the sign that the function gives it: tanh(-0) is -0.
TEST_P(VectorMath, SignsOfZeros) {
  MathImage image(unaryMath(function.name), false, level);
  float x[16] = {0.0f, -0.0f, 1e-45f, -1e-45f, 1, -1}, out[16];
  image.run(x, nullptr, out, 16);
  for (int i = 0; i < 16; ++i)
    ASSERT_TRUE(judge::hasSignOfZero(out[i], function.exact(static_cast<double>(x[i]))))
        << function.name << "(" << x[i] << ") = " << out[i];
}

TEST_P(VectorMath, DoubleWithinItsBound) {
  MathImage image(unaryMath(function.name), true, level);
  constexpr int count = 32000;
  std::vector<double> x(count), out(count);
  Random random(7);
  for (int i = 0; i < count; ++i) {
    x[i] = i % 4 == 0   ? random.number(-1, 1)
           : i % 4 == 1 ? random.number(-50, 50)
           : i % 4 == 2 ? random.number(-800, 800)
                        : std::bit_cast<double>(random.bits());
  }
  double special[] = {0.0, -0.0,   INFINITY, -INFINITY, NAN,      1.0, -1.0,
                      0.5, 5e-324, 1e-310,   1.7e308,   -1.7e308, 2.0, -2.0};
  std::copy(std::begin(special), std::end(special), x.begin());
  image.run(x.data(), nullptr, out.data(), count);
  for (int i = 0; i < count; ++i) {
    long double exact = function.exactLong(static_cast<long double>(x[i]));
    double error = errorInUlps(out[i], exact);
    ASSERT_LE(error, function.doubleBound) << function.name << "(" << std::hexfloat << x[i]
                                           << ") = " << out[i] << std::defaultfloat << " " << x[i];
    if (x[i] == 0 && exact == 0)
      ASSERT_EQ(std::signbit(out[i]), std::signbit(static_cast<double>(exact))) << function.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, VectorMath,
                         testing::Combine(testing::ValuesIn(runnableLevels()),
                                          testing::Range(size_t(0), mathFunctions().size())),
                         [](const auto &point) {
                           return std::string(std::get<0>(point.param) == CpuLevel::X86_64_v4
                                                  ? "v4_"
                                                  : "v3_") +
                                  mathFunctions()[std::get<1>(point.param)].name;
                         });

class BinaryVectorMath : public testing::TestWithParam<CpuLevel> {};

void checkBinary(const char *name, CpuLevel level, long double (*exact)(long double, long double),
                 double singleBound, double doubleBound) {
  MathImage single(binaryMath(name), false, level), wide(binaryMath(name), true, level);
  std::vector<double> numbers = {0.0,       -0.0, 1.0,  -1.0,   0.5,  -0.5,  2.0,
                                 -2.0,      3.0,  -3.0, 1e-40,  1e30, -1e30, INFINITY,
                                 -INFINITY, NAN,  1.5,  100.25, 7.0,  -7.0};
  Random random(11);
  while (numbers.size() < 160)
    numbers.push_back(random.number(-30, 30));
  size_t count = numbers.size() * numbers.size();
  std::vector<double> x, y, out(count);
  for (double a : numbers)
    for (double b : numbers)
      x.push_back(a), y.push_back(b);
  std::vector<float> xs(x.begin(), x.end()), ys(y.begin(), y.end()), outs(count);
  wide.run(x.data(), y.data(), out.data(), count);
  single.run(xs.data(), ys.data(), outs.data(), count);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_LE(errorInUlps(out[i], exact(x[i], y[i])), doubleBound)
        << name << " " << x[i] << " " << y[i] << " = " << out[i];
    ASSERT_LE(errorInUlps(outs[i], static_cast<double>(exact(xs[i], ys[i]))), singleBound)
        << name << " " << xs[i] << " " << ys[i] << " = " << outs[i];
  }
}

TEST_P(BinaryVectorMath, Pow) { checkBinary("pow", GetParam(), powl, 0.51, 4); }
TEST_P(BinaryVectorMath, Fmod) { checkBinary("fmod", GetParam(), fmodl, 0.51, 0); }
TEST_P(BinaryVectorMath, Atan2) { checkBinary("atan2", GetParam(), atan2l, 0.51, 2); }
TEST_P(BinaryVectorMath, Hypot) { checkBinary("hypot", GetParam(), hypotl, 0.51, 2); }

INSTANTIATE_TEST_SUITE_P(Levels, BinaryVectorMath, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
