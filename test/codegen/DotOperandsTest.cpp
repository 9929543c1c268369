// SPDX-License-Identifier: Apache-2.0
// Operands of products as blocks of matrices in memory: rows dense, columns dense, neither; cut by
// masks; rows that wrap around; offsets beyond 32 bits. Numbers are small integers, so that sums
// are exact, and what a mask leaves out is no number.
#include "codegen/KernelFixture.h"

#include <map>
#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

constexpr int m = 16, n = 32, k = 64;

/// `text` with the words in the places of {0}, {1}, ...
std::string fill(std::string text, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string mark = "{" + std::to_string(i) + "}";
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), words[i]);
  }
  return text;
}

/// An operand of `rows` x `columns` at base[(row % wraps) * step + column * other], inside limits.
std::string operand(const std::string &name, int rows, int columns, const std::string &type) {
  return fill(
      R"(
      %{0}_r0 = tt.make_range {end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
      %{0}_f = tt.splat %{0}_first : i32 -> tensor<{1}xi32>
      %{0}_r1 = arith.addi %{0}_r0, %{0}_f : tensor<{1}xi32>
      %{0}_n = tt.splat %{0}_wraps : i32 -> tensor<{1}xi32>
      %{0}_r2 = arith.remsi %{0}_r1, %{0}_n : tensor<{1}xi32>
      %{0}_r = tt.expand_dims %{0}_r2 {axis = 1 : i32} : tensor<{1}xi32> -> tensor<{1}x1xi32>
      %{0}_c0 = tt.make_range {end = {2} : i32, start = 0 : i32} : tensor<{2}xi32>
      %{0}_c = tt.expand_dims %{0}_c0 {axis = 0 : i32} : tensor<{2}xi32> -> tensor<1x{2}xi32>
      %{0}_s = tt.splat %{0}_step : i32 -> tensor<{1}x1xi32>
      %{0}_o = tt.splat %{0}_other : i32 -> tensor<1x{2}xi32>
      %{0}_x = arith.muli %{0}_r, %{0}_s : tensor<{1}x1xi32>
      %{0}_y = arith.muli %{0}_c, %{0}_o : tensor<1x{2}xi32>
      %{0}_xw = tt.broadcast %{0}_x : tensor<{1}x1xi32> -> tensor<{1}x{2}xi32>
      %{0}_yw = tt.broadcast %{0}_y : tensor<1x{2}xi32> -> tensor<{1}x{2}xi32>
      %{0}_at = arith.addi %{0}_xw, %{0}_yw : tensor<{1}x{2}xi32>
      %{0}_p0 = tt.splat %{0} : !tt.ptr<{3}> -> tensor<{1}x{2}x!tt.ptr<{3}>>
      %{0}_p = tt.addptr %{0}_p0, %{0}_at : tensor<{1}x{2}x!tt.ptr<{3}>>, tensor<{1}x{2}xi32>
      %{0}_i = tt.expand_dims %{0}_r0 {axis = 1 : i32} : tensor<{1}xi32> -> tensor<{1}x1xi32>
      %{0}_lr = tt.splat %{0}_rows : i32 -> tensor<{1}x1xi32>
      %{0}_lc = tt.splat %{0}_columns : i32 -> tensor<1x{2}xi32>
      %{0}_mr = arith.cmpi slt, %{0}_i, %{0}_lr : tensor<{1}x1xi32>
      %{0}_mc = arith.cmpi slt, %{0}_c, %{0}_lc : tensor<1x{2}xi32>
      %{0}_mrw = tt.broadcast %{0}_mr : tensor<{1}x1xi1> -> tensor<{1}x{2}xi1>
      %{0}_mcw = tt.broadcast %{0}_mc : tensor<1x{2}xi1> -> tensor<{1}x{2}xi1>
      %{0}_m = arith.andi %{0}_mrw, %{0}_mcw : tensor<{1}x{2}xi1>
      %{0}_z = arith.constant dense<0{4}> : tensor<{1}x{2}x{3}>
      %{0}_v = tt.load %{0}_p, %{0}_m, %{0}_z : tensor<{1}x{2}x!tt.ptr<{3}>>
)",
      {name, std::to_string(rows), std::to_string(columns), type, type[0] == 'i' ? "" : ".0"});
}

std::string parameters(const std::string &name, const std::string &type) {
  return fill("%{0}: !tt.ptr<{1}>, %{0}_step: i32, %{0}_other: i32, %{0}_first: i32, "
              "%{0}_wraps: i32, %{0}_rows: i32, %{0}_columns: i32",
              {name, type});
}

/// c = a * b, or with `turned` a * transpose(b), where b lies [n][k].
std::string kernelText(const std::string &type, const std::string &sum, bool turned) {
  std::string mk = fill("tensor<{0}x{1}x{2}>", {std::to_string(m), std::to_string(k), type}),
              kn = fill("tensor<{0}x{1}x{2}>", {std::to_string(k), std::to_string(n), type}),
              mn = fill("tensor<{0}x{1}x{2}>", {std::to_string(m), std::to_string(n), sum});
  std::string turn =
      fill("%t = tt.trans %b_v {order = array<i32: 1, 0>} : tensor<{0}x{1}x{2}> -> {3}\n",
           {std::to_string(n), std::to_string(k), type, kn});
  return "module { tt.func public @dot(" + parameters("a", type) + ", " + parameters("b", type) +
         ", %c: !tt.ptr<" + sum + ">) {" + operand("a", m, k, type) +
         operand("b", turned ? n : k, turned ? k : n, type) + (turned ? turn : "") +
         fill(R"(
      %z = arith.constant dense<0{6}> : {2}
      %d = tt.dot %a_v, {3}, %z, inputPrecision = ieee : {0} * {1} -> {2}
      %r = tt.make_range {end = {4} : i32, start = 0 : i32} : tensor<{4}xi32>
      %p0 = tt.splat %c : !tt.ptr<{5}> -> tensor<{4}x!tt.ptr<{5}>>
      %p = tt.addptr %p0, %r : tensor<{4}x!tt.ptr<{5}>>, tensor<{4}xi32>
      %f = tt.reshape %d : {2} -> tensor<{4}x{5}>
      tt.store %p, %f : tensor<{4}x!tt.ptr<{5}>>
      tt.return } })",
              {mk, kn, mn, turned ? "%t" : "%b_v", std::to_string(m * n), sum,
               sum[0] == 'i' ? "" : ".0"});
}

struct Block {
  int step, other, first, wraps, rows, columns;
};

template <typename T> T held(int value, const std::string &type) {
  if (type == "bf16")
    return static_cast<T>(toBFloat16(float(value)));
  if (type == "f16")
    return static_cast<T>(toHalf(float(value)));
  return static_cast<T>(value);
}
template <typename T> T wrong(const std::string &type) {
  if (type == "bf16")
    return static_cast<T>(toBFloat16(std::nanf("")));
  if (type == "f16")
    return static_cast<T>(toHalf(std::nanf("")));
  return std::is_floating_point_v<T> ? static_cast<T>(std::nanf("")) : static_cast<T>(-77);
}

/// A block's numbers, and the memory that holds them at `base` and no others.
template <typename T> struct Operand {
  std::vector<int> numbers;
  std::vector<T> memory;

  Operand(const Block &block, int rows, int columns, const std::string &type, uint64_t seed)
      : numbers(size_t(rows) * columns) {
    memory.assign(size_t(block.wraps) * block.step + size_t(columns) * block.other + 1,
                  wrong<T>(type));
    Random random(seed);
    std::map<size_t, int> known;
    for (int i = 0; i < std::min(rows, block.rows); ++i)
      for (int j = 0; j < std::min(columns, block.columns); ++j) {
        size_t at = size_t((i + block.first) % block.wraps) * block.step + size_t(j) * block.other;
        auto [place, isNew] = known.try_emplace(at, int(random.integer(-3, 4)));
        memory[at] = held<T>(place->second, type);
        numbers[size_t(i) * columns + j] = place->second;
      }
  }
};

class DotOperands : public testing::TestWithParam<CpuLevel> {
protected:
  static void add(Arguments &to, const void *base, const Block &b) {
    to.add(base).add(b.step).add(b.other).add(b.first).add(b.wraps).add(b.rows).add(b.columns);
  }

  template <typename T, typename S>
  void check(const std::string &type, const std::string &sum, bool turned) {
    CompiledKernel kernel(kernelText(type, sum, turned), "dot", GetParam());
    int high = turned ? n : k, wide = turned ? k : n;
    const Block left[] = {{k + 5, 1, 0, m, m, k},     {1, m + 3, 0, m, m, k},
                          {2 * k + 1, 2, 0, m, m, k}, {k, 1, 7, m, m, k},
                          {k + 1, 1, 0, m, m - 3, k}, {k + 1, 1, 0, m, m, k - 7},
                          {1, m, 0, m, m, k - 1},     {k, 1, 9, m + 50, m, k},
                          {k, 1, 0, m, 0, k},         {k, 1, 3, m, m + 1, k + 1}};
    const Block right[] = {
        {wide + 7, 1, 0, high, high, wide},     {1, high + 1, 0, high, high, wide},
        {2 * wide + 3, 3, 0, high, high, wide}, {wide, 1, 5, high, high, wide},
        {wide, 1, 0, high, high - 1, wide},     {wide + 2, 1, 0, high, high, wide - 9},
        {1, high, 11, high + 90, high, wide},   {1, high + 2, 0, high, high - 5, wide},
        {wide, 1, 0, high, high + 4, wide + 4}};
    for (size_t i = 0; i < std::size(left); ++i)
      for (size_t j = 0; j < std::size(right); ++j) {
        if (i != 0 && j != 0 && i != j)
          continue;
        Operand<T> a(left[i], m, k, type, i), b(right[j], high, wide, type, 100 + j);
        std::vector<S> c(m * n, S(99));
        Arguments arguments;
        add(arguments, a.memory.data(), left[i]);
        add(arguments, b.memory.data(), right[j]);
        arguments.add(c.data());
        ASSERT_EQ(kernel.run(arguments, 1), 0);
        for (int x = 0; x < m; ++x)
          for (int y = 0; y < n; ++y) {
            int want = 0;
            for (int l = 0; l < k; ++l)
              want += a.numbers[x * k + l] * b.numbers[turned ? y * k + l : l * n + y];
            ASSERT_EQ(c[x * n + y], S(want)) << type << (turned ? " turned, " : ", ") << i << " "
                                             << j << " at " << x << " " << y;
          }
      }
  }
};

TEST_P(DotOperands, OfEachTypeAsTheyLie) {
  check<float, float>("f32", "f32", false);
  check<uint16_t, float>("f16", "f32", false);
  check<uint16_t, float>("bf16", "f32", false);
  check<int8_t, int32_t>("i8", "i32", false);
}

TEST_P(DotOperands, OfEachTypeTransposed) {
  check<float, float>("f32", "f32", true);
  check<uint16_t, float>("f16", "f32", true);
  check<uint16_t, float>("bf16", "f32", true);
  check<int8_t, int32_t>("i8", "i32", true);
}

/// Offsets are of 32 bits: those of a row that reach the largest one go on at the smallest.
TEST_P(DotOperands, OffsetsThatWrap) {
  constexpr size_t half = size_t(1) << 31, bytes = 2 * half;
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto *base = static_cast<int8_t *>(mapped) + half;
  // Columns a byte apart, rows 2^31 - 32 further each: the second one is cut in two.
  constexpr int step = int(half - 32);
  Random random(5);
  std::vector<int> numbers(m * k);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j) {
      auto at = static_cast<int32_t>(uint32_t(i) * uint32_t(step) + uint32_t(j));
      base[at] = static_cast<int8_t>(random.integer(-3, 4));
    }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j)
      numbers[i * k + j] = base[static_cast<int32_t>(uint32_t(i) * uint32_t(step) + uint32_t(j))];
  CompiledKernel kernel(kernelText("i8", "i32", false), "dot", GetParam());
  Block left{step, 1, 0, m, m, k}, right{n, 1, 0, k, k, n};
  Operand<int8_t> b(right, k, n, "i8", 3);
  std::vector<int32_t> c(m * n);
  Arguments arguments;
  add(arguments, base, left);
  add(arguments, b.memory.data(), right);
  arguments.add(c.data());
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  for (int x = 0; x < m; ++x)
    for (int y = 0; y < n; ++y) {
      int want = 0;
      for (int l = 0; l < k; ++l)
        want += numbers[x * k + l] * b.numbers[l * n + y];
      ASSERT_EQ(c[x * n + y], want) << x << " " << y;
    }
  munmap(mapped, bytes);
}

/// x = x * w + x, three times: rows of x are read until the last sum of them is made.
TEST_P(DotOperands, AddedToThemselves) {
  constexpr int size = 64;
  std::string text = fill(R"(
    module { tt.func public @dot(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>) {
      %lower = arith.constant 0 : i32
      %upper = arith.constant 3 : i32
      %step = arith.constant 1 : i32
      %r = tt.make_range {end = {0} : i32, start = 0 : i32} : tensor<{0}xi32>
      %a0 = tt.splat %a : !tt.ptr<f32> -> tensor<{0}x!tt.ptr<f32>>
      %b0 = tt.splat %b : !tt.ptr<f32> -> tensor<{0}x!tt.ptr<f32>>
      %ap = tt.addptr %a0, %r : tensor<{0}x!tt.ptr<f32>>, tensor<{0}xi32>
      %bp = tt.addptr %b0, %r : tensor<{0}x!tt.ptr<f32>>, tensor<{0}xi32>
      %al = tt.load %ap : tensor<{0}x!tt.ptr<f32>>
      %bl = tt.load %bp : tensor<{0}x!tt.ptr<f32>>
      %x = tt.reshape %al : tensor<{0}xf32> -> tensor<{1}x{1}xf32>
      %w = tt.reshape %bl : tensor<{0}xf32> -> tensor<{1}x{1}xf32>
      %y = scf.for %i = %lower to %upper step %step iter_args(%v = %x) -> (tensor<{1}x{1}xf32>) : i32 {
        %n = tt.dot %v, %w, %v, inputPrecision = ieee : tensor<{1}x{1}xf32> * tensor<{1}x{1}xf32> -> tensor<{1}x{1}xf32>
        scf.yield %n : tensor<{1}x{1}xf32>
      }
      %o = tt.reshape %y : tensor<{1}x{1}xf32> -> tensor<{0}xf32>
      tt.store %ap, %o : tensor<{0}x!tt.ptr<f32>>
      tt.return } })",
                          {std::to_string(size * size), std::to_string(size)});
  CompiledKernel kernel(text, "dot", GetParam());
  Random random(11);
  std::vector<float> x(size * size), w(size * size);
  for (float &v : x)
    v = float(random.integer(-2, 3));
  for (float &v : w)
    v = float(random.integer(-1, 2));
  std::vector<double> want(x.begin(), x.end());
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<double> before = want;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        for (int l = 0; l < size; ++l)
          want[i * size + j] += before[i * size + l] * w[l * size + j];
  }
  Arguments arguments;
  arguments.add(x.data()).add(w.data());
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  for (int i = 0; i < size * size; ++i)
    ASSERT_EQ(x[i], want[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Levels, DotOperands, testing::ValuesIn(productLevels()),
                         [](const auto &level) { return testName(level.param); });

} // namespace
