// SPDX-License-Identifier: Apache-2.0
// tl.dot of bf16 and int8 on every level, at every size that chooses another form: vectors of four
// lanes and more, one row, whole tiles and parts of them.
#include "codegen/KernelFixture.h"

#include <limits>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

/// The offsets of a dense tile, as %NAME_at.
std::string offsets(const std::string &name, int rows, int columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string column = "tensor<" + r + "x1xi32>", row = "tensor<1x" + c + "xi32>",
              whole = "tensor<" + r + "x" + c + "xi32>";
  auto at = [&](const char *part) { return "%" + name + "_" + part; };
  return at("r") + " = tt.make_range {end = " + r + " : i32, start = 0 : i32} : tensor<" + r +
         "xi32>\n" + at("c") + " = tt.make_range {end = " + c +
         " : i32, start = 0 : i32} : tensor<" + c + "xi32>\n" + at("r1") + " = tt.expand_dims " +
         at("r") + " {axis = 1 : i32} : tensor<" + r + "xi32> -> " + column + "\n" + at("c1") +
         " = tt.expand_dims " + at("c") + " {axis = 0 : i32} : tensor<" + c + "xi32> -> " + row +
         "\n" + at("w") + " = arith.constant dense<" + c + "> : " + column + "\n" + at("r2") +
         " = arith.muli " + at("r1") + ", " + at("w") + " : " + column + "\n" + at("r3") +
         " = tt.broadcast " + at("r2") + " : " + column + " -> " + whole + "\n" + at("c2") +
         " = tt.broadcast " + at("c1") + " : " + row + " -> " + whole + "\n" + at("at") +
         " = arith.addi " + at("r3") + ", " + at("c2") + " : " + whole + "\n";
}

std::string pointers(const std::string &name, int rows, int columns, const std::string &type) {
  std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  std::string tile = "tensor<" + shape + "x!tt.ptr<" + type + ">>";
  return offsets(name, rows, columns) + "%" + name + "_s = tt.splat %" + name + " : !tt.ptr<" +
         type + "> -> " + tile + "\n%" + name + "_p = tt.addptr %" + name + "_s, %" + name +
         "_at : " + tile + ", tensor<" + shape + "xi32>\n%" + name + "_v = tt.load %" + name +
         "_p : " + tile + "\n";
}

/// c += a * b, dense; twice, so that tiles are used by two products of one program.
std::string kernelText(int m, int n, int k, const std::string &type, const std::string &sum) {
  auto tensor = [](int rows, int columns, const std::string &element) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
  };
  std::string product = ", inputPrecision = tf32 : " + tensor(m, k, type) + " * " +
                        tensor(k, n, type) + " -> " + tensor(m, n, sum) + "\n";
  return "module { tt.func public @dot(%a: !tt.ptr<" + type + ">, %b: !tt.ptr<" + type +
         ">, %c: !tt.ptr<" + sum + ">) {\n" + pointers("a", m, k, type) +
         pointers("b", k, n, type) + pointers("c", m, n, sum) + "%d = tt.dot %a_v, %b_v, %c_v" +
         product + "%e = tt.dot %a_v, %b_v, %d" + product + "tt.store %c_p, %e : " + "tensor<" +
         std::to_string(m) + "x" + std::to_string(n) + "x!tt.ptr<" + sum + ">>\ntt.return\n} }\n";
}

/// c = bf16(a) * transpose(b): a is f32 in memory, b lies [n][k], nothing is added to.
std::string turnedText(int m, int n, int k) {
  std::string mk = std::to_string(m) + "x" + std::to_string(k),
              nk = std::to_string(n) + "x" + std::to_string(k),
              kn = std::to_string(k) + "x" + std::to_string(n),
              mn = std::to_string(m) + "x" + std::to_string(n);
  return "module { tt.func public @dot(%a: !tt.ptr<f32>, %b: !tt.ptr<bf16>, %c: !tt.ptr<f32>) {\n" +
         pointers("a", m, k, "f32") + pointers("b", n, k, "bf16") + pointers("c", m, n, "f32") +
         "%n = arith.truncf %a_v : tensor<" + mk + "xf32> to tensor<" + mk +
         "xbf16>\n%t = tt.trans %b_v {order = array<i32: 1, 0>} : tensor<" + nk +
         "xbf16> -> tensor<" + kn + "xbf16>\n%z = arith.constant dense<0.0> : tensor<" + mn +
         "xf32>\n%d = tt.dot %n, %t, %z, inputPrecision = tf32 : tensor<" + mk +
         "xbf16> * tensor<" + kn + "xbf16> -> tensor<" + mn + "xf32>\ntt.store %c_p, %d : tensor<" +
         mn + "x!tt.ptr<f32>>\ntt.return\n} }\n";
}

struct Size {
  int m, n, k;
};
constexpr Size sizes[] = {{1, 4, 2},    {1, 8, 4},     {4, 2, 8},    {16, 16, 16},  {16, 16, 32},
                          {32, 16, 64}, {16, 32, 64},  {64, 64, 64}, {8, 128, 128}, {128, 8, 32},
                          {16, 64, 1},  {32, 32, 128}, {2, 1, 4}};

class DotUnits : public testing::TestWithParam<CpuLevel> {};

TEST_P(DotUnits, BFloat16AgainstDoubleSums) {
  for (auto [m, n, k] : sizes) {
    CompiledKernel kernel(kernelText(m, n, k, "bf16", "f32"), "dot", GetParam());
    EXPECT_EQ(kernel.object.productUnits, hasPairProducts(GetParam()) && n % 4 == 0 && k % 2 == 0);
    std::vector<float> av = randomFloats(m, m * k), bv = randomFloats(n, k * n),
                       c = randomFloats(k, m * n), before = c;
    std::vector<uint16_t> a(m * k), b(k * n);
    std::transform(av.begin(), av.end(), a.begin(), toBFloat16);
    std::transform(bv.begin(), bv.end(), b.begin(), toBFloat16);
    Arguments arguments;
    arguments.add(a.data()).add(b.data()).add(c.data());
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = before[i * n + j], size = std::abs(sum);
        for (int l = 0; l < k; ++l) {
          double term = 2.0 * fromBFloat16(a[i * k + l]) * fromBFloat16(b[l * n + j]);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_TRUE(judge::isNear(c[i * n + j], sum, 0x1p-20 * size))
            << m << "x" << n << "x" << k << " at " << i << " " << j;
      }
  }
}

TEST_P(DotUnits, OfATransposeBeginningWithZeros) {
  for (auto [m, n, k] : {Size{16, 16, 32}, Size{32, 64, 64}, Size{64, 16, 32}, Size{16, 32, 16},
                         Size{4, 8, 32}, Size{128, 64, 128}, Size{1, 16, 64}}) {
    CompiledKernel kernel(turnedText(m, n, k), "dot", GetParam());
    std::vector<float> a = randomFloats(m, m * k), bv = randomFloats(n, n * k),
                       c(m * n, std::nanf(""));
    std::vector<uint16_t> b(n * k);
    std::transform(bv.begin(), bv.end(), b.begin(), toBFloat16);
    Arguments arguments;
    arguments.add(a.data()).add(b.data()).add(c.data());
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int l = 0; l < k; ++l) {
          double term = double(fromBFloat16(toBFloat16(a[i * k + l]))) * fromBFloat16(b[j * k + l]);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_TRUE(judge::isNear(c[i * n + j], sum, 0x1p-20 * size))
            << m << "x" << n << "x" << k << " at " << i << " " << j;
      }
  }
}

TEST_P(DotUnits, NanAndInfinityArrive) {
  constexpr int m = 16, n = 16, k = 32;
  CompiledKernel kernel(kernelText(m, n, k, "bf16", "f32"), "dot", GetParam());
  std::vector<uint16_t> a(m * k, toBFloat16(1)), b(k * n, toBFloat16(1));
  std::vector<float> c(m * n);
  a[2 * k + 5] = toBFloat16(std::nanf(""));
  a[3 * k + 6] = toBFloat16(std::numeric_limits<float>::infinity());
  Arguments arguments;
  arguments.add(a.data()).add(b.data()).add(c.data());
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  for (int j = 0; j < n; ++j) {
    ASSERT_TRUE(std::isnan(c[2 * n + j]));
    ASSERT_EQ(c[3 * n + j], std::numeric_limits<float>::infinity());
    ASSERT_EQ(c[4 * n + j], 2.0f * k);
  }
}

TEST_P(DotUnits, Int8IsExact) {
  for (auto [m, n, k] : sizes) {
    CompiledKernel kernel(kernelText(m, n, k, "i8", "i32"), "dot", GetParam());
    // Their sums have the same bits on every level.
    EXPECT_FALSE(kernel.object.productUnits);
    Random random(m + n + k);
    std::vector<int8_t> a(m * k), b(k * n);
    std::vector<int32_t> c(m * n);
    for (auto *values : {&a, &b})
      for (int8_t &value : *values)
        value = static_cast<int8_t>(random.integer(-128, 128));
    a[0] = b[0] = -128;
    for (int32_t &value : c)
      value = static_cast<int32_t>(random.bits());
    std::vector<int32_t> before = c;
    Arguments arguments;
    arguments.add(a.data()).add(b.data()).add(c.data());
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        uint32_t sum = static_cast<uint32_t>(before[i * n + j]);
        for (int l = 0; l < k; ++l)
          sum += 2u * static_cast<uint32_t>(int(a[i * k + l]) * int(b[l * n + j]));
        ASSERT_EQ(c[i * n + j], static_cast<int32_t>(sum))
            << m << "x" << n << "x" << k << " at " << i << " " << j;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, DotUnits, testing::ValuesIn(productLevels()),
                         [](const auto &level) { return testName(level.param); });

} // namespace
