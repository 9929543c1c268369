// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/KernelTest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pellucid::reference {
namespace {

using MemoryAccess = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, MemoryAccess, ::testing::Values("", "raw/"));

TEST_P(MemoryAccess, Atomics) {
  constexpr int n = 83;
  std::vector<float> x = randomFloats(n), sums(4), highest{-1e30f};
  std::vector<int32_t> count{10}, bits{0}, swap{0}, old(3);
  ASSERT_TRUE(launch("atomics",
                     {f32("x", x), f32("sum", sums), f32("max", highest), i32("count", count),
                      i32("bits", bits), i32("swap", swap), i32("old", old), int64_t(n)},
                     {3, 1, 1}))
      << diagnostics.text();
  float expected[4] = {};
  int parity = 0;
  for (int i = 0; i < n; ++i) {
    expected[i % 4] += x[i];
    parity ^= i;
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(sums[i], expected[i]);
  EXPECT_EQ(highest[0], std::max(0.0f, *std::max_element(x.begin(), x.end())));
  EXPECT_EQ(count[0], 13);
  EXPECT_EQ(old, (std::vector<int32_t>{10, 11, 12}));
  EXPECT_EQ(bits[0], parity);
  EXPECT_EQ(swap[0], 3);
}

TEST_P(MemoryAccess, SpinLock) {
  std::vector<int32_t> lock{0};
  std::vector<float> x(100), sum{0};
  std::iota(x.begin(), x.end(), 0.0f);
  options.sanitize = true;
  ASSERT_TRUE(launch("locked_sum", {i32("lock", lock), f32("x", x), f32("sum", sum), int64_t(100)},
                     {4, 1, 1}))
      << diagnostics.text();
  EXPECT_EQ(sum[0], 4950);
  EXPECT_EQ(lock[0], 0);
}

TEST_P(MemoryAccess, TablesOfPointers) {
  constexpr int n = 13;
  std::vector<float> a = randomFloats(n), b = randomFloats(n), out(2 * n);
  HostPointerTable table{"table", {f32("a", a), f32("b", b)}};
  ASSERT_TRUE(launch("pointer_table", {table, f32("out", out), int64_t(n)}, {2, 1, 1}))
      << diagnostics.text();
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(out[i], 2 * a[i]);
    EXPECT_EQ(out[n + i], 2 * b[i]);
  }
}

// A block pointer without boundary check in a dim goes wherever the strides lead, within memory.
TEST_P(MemoryAccess, BlockPointerPadsWithNanWhereChecked) {
  const char *text = R"(
    tt.func public @block(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
      %rows = arith.constant 3 : i64
      %cols = arith.constant 5 : i64
      %one = arith.constant 1 : i64
      %eight = arith.constant 8 : i64
      %o0 = arith.constant 1 : i32
      %o1 = arith.constant -2 : i32
      %zero = arith.constant 0 : i32
      %p = tt.make_tensor_ptr %x, [%rows, %cols], [%cols, %one], [%zero, %zero] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
      %q = tt.advance %p, [%o0, %o1] : <tensor<4x8xf32>>
      %v = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<4x8xf32>>
      %o = tt.make_tensor_ptr %out, [%eight, %eight], [%eight, %one], [%zero, %zero] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
      tt.store %o, %v : !tt.ptr<tensor<4x8xf32>>
      tt.return
    })";
  std::vector<float> x = randomFloats(15), out(32);
  ASSERT_TRUE(launchText(text, "block", {f32("x", x), f32("out", out)})) << diagnostics.text();
  for (int i = 0; i < 32; ++i) {
    int row = i / 8 + 1, column = i % 8 - 2;
    if (row < 3 && column >= 0 && column < 5)
      EXPECT_EQ(out[i], x[row * 5 + column]);
    else
      EXPECT_TRUE(std::isnan(out[i])) << i;
  }
}

TEST_P(MemoryAccess, HostDescriptorGatherScatterReduce) {
  const char *text = R"(
    tt.func public @rows(%in: !tt.tensordesc<tensor<1x8xf32>>, %out: !tt.tensordesc<tensor<1x8xf32>>,
                         %sum: !tt.tensordesc<tensor<4x8xf32>>) {
      %rows = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
      %two = arith.constant dense<2> : tensor<4xi32>
      %picked = arith.muli %rows, %two : tensor<4xi32>
      %start = arith.constant 3 : i32
      %zero = arith.constant 0 : i32
      %v = tt.descriptor_gather %in[%picked, %start] : (!tt.tensordesc<tensor<1x8xf32>>, tensor<4xi32>, i32) -> tensor<4x8xf32>
      tt.descriptor_scatter %out[%rows, %zero], %v : !tt.tensordesc<tensor<1x8xf32>>, tensor<4xi32>, i32, tensor<4x8xf32>
      tt.descriptor_reduce max, %sum[%zero, %zero], %v : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>
      tt.return
    })";
  std::vector<float> x = randomFloats(6 * 9), out(3 * 8, -5), sum(4 * 8, 0.5f);
  Arguments arguments{HostDescriptor{f32("in", x), {6, 9}, {9, 1}, true},
                      HostDescriptor{f32("out", out), {3, 8}, {8, 1}},
                      HostDescriptor{f32("sum", sum), {4, 8}, {8, 1}}};
  ASSERT_TRUE(launchText(text, "rows", arguments)) << diagnostics.text();
  for (int i = 0; i < 32; ++i) {
    int row = 2 * (i / 8), column = 3 + i % 8;
    bool inside = row < 6 && column < 9;
    if (i < 24) {
      if (inside)
        EXPECT_EQ(out[i], x[row * 9 + column]);
      else
        EXPECT_TRUE(std::isnan(out[i])) << i;
    }
    EXPECT_EQ(sum[i], inside ? std::max(0.5f, x[row * 9 + column]) : 0.5f) << i;
  }
}

// i1 lies in memory as bytes; any byte but zero is true.
TEST_P(MemoryAccess, BooleansAreBytes) {
  const char *text = R"(
    tt.func public @negate(%p: !tt.ptr<i1>) {
      %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
      %s = tt.splat %p : !tt.ptr<i1> -> tensor<4x!tt.ptr<i1>>
      %a = tt.addptr %s, %r : tensor<4x!tt.ptr<i1>>, tensor<4xi32>
      %v = tt.load %a : tensor<4x!tt.ptr<i1>>
      %t = arith.constant dense<true> : tensor<4xi1>
      %n = arith.xori %v, %t : tensor<4xi1>
      tt.store %a, %n : tensor<4x!tt.ptr<i1>>
      tt.return
    })";
  std::vector<uint8_t> flags{0, 1, 2, 128};
  ASSERT_TRUE(launchText(text, "negate", {hostTensor("p", DataType::Bool, flags)}))
      << diagnostics.text();
  EXPECT_EQ(flags, (std::vector<uint8_t>{1, 0, 0, 0}));
}

} // namespace
} // namespace pellucid::reference
