// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/KernelTest.h"

namespace pellucid::reference {
namespace {

using Control = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, Control, ::testing::Values("", "raw/"));

TEST_P(Control, WhileLoopsAndEarlyReturn) {
  std::vector<int64_t> x{1, 2, 7, 27, 97};
  std::vector<int32_t> steps(8, -1);
  ASSERT_TRUE(launch(
      "collatz", {hostTensor("x", DataType::Int64, x), i32("steps", steps), int64_t(5)}, {8, 1, 1}))
      << diagnostics.text();
  EXPECT_EQ(steps, (std::vector<int32_t>{0, 1, 16, 111, 118, -1, -1, -1}));
}

TEST_P(Control, ScalarBranchesPerElement) {
  std::vector<int32_t> x = randomInts(32, -9, 9), y = randomInts(32, -9, 9), out(32);
  ASSERT_TRUE(launch("mapped", {i32("x", x), i32("y", y), i32("out", out)})) << diagnostics.text();
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], x[i] > y[i] ? x[i] - y[i] : 2 * x[i]);
}

// The bounds of a loop that ends at the largest integer must not wrap.
TEST_P(Control, LoopUpToTheLargestInteger) {
  const char *text = R"(
    tt.func public @count(%out: !tt.ptr<i32>) {
      %from = arith.constant 2147483640 : i32
      %to = arith.constant 2147483647 : i32
      %step = arith.constant 3 : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %n = scf.for %i = %from to %to step %step iter_args(%c = %zero) -> (i32) : i32 {
        %next = arith.addi %c, %one : i32
        scf.yield %next : i32
      }
      tt.store %out, %n : !tt.ptr<i32>
      tt.return
    })";
  std::vector<int32_t> out(1);
  ASSERT_TRUE(launchText(text, "count", {i32("out", out)})) << diagnostics.text();
  EXPECT_EQ(out[0], 3);
}

TEST_P(Control, BranchesBetweenBlocks) {
  const char *text = R"(
    tt.func public @sum(%out: !tt.ptr<i32>, %n: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      cf.br ^head(%zero, %zero : i32, i32)
    ^head(%i: i32, %sum: i32):
      %more = arith.cmpi slt, %i, %n : i32
      cf.cond_br %more, ^body, ^exit(%sum : i32)
    ^body:
      %next = arith.addi %i, %one : i32
      %total = arith.addi %sum, %next : i32
      cf.br ^head(%next, %total : i32, i32)
    ^exit(%result: i32):
      %small = tt.call @halved(%result) : (i32) -> i32
      tt.store %out, %small : !tt.ptr<i32>
      tt.return
    }
    tt.func private @halved(%x: i32) -> i32 {
      %two = arith.constant 2 : i32
      %half = arith.divsi %x, %two : i32
      tt.return %half : i32
    })";
  std::vector<int32_t> out(1);
  ASSERT_TRUE(launchText(text, "sum", {i32("out", out), int64_t(100)})) << diagnostics.text();
  EXPECT_EQ(out[0], 2525);
}

TEST_P(Control, AnEndlessLoopIsGivenUp) {
  const char *text = R"(
    tt.func public @forever(%out: !tt.ptr<i32>) {
      %true = arith.constant true
      %one = arith.constant 1 : i32
      scf.while : () -> () {
        scf.condition(%true)
      } do {
        tt.store %out, %one : !tt.ptr<i32>
        scf.yield
      }
      tt.return
    })";
  options.stepLimit = 1000;
  std::vector<int32_t> out(1);
  EXPECT_FALSE(launchText(text, "forever", {i32("out", out)}));
  EXPECT_NE(diagnostics.text().find("did not end within 1000 operations, in program (0, 0, 0)"),
            std::string::npos)
      << diagnostics.text();
}

TEST_P(Control, ALoopWhoseValueNobodyUsesIsNotThere) {
  const char *text = R"(
    tt.func public @unused(%out: !tt.ptr<i32>) {
      %true = arith.constant true
      %one = arith.constant 1 : i32
      %count = scf.while (%i = %one) : (i32) -> i32 {
        scf.condition(%true) %i : i32
      } do {
      ^bb0(%i: i32):
        %read = tt.load %out : !tt.ptr<i32>
        %next = arith.addi %i, %read : i32
        scf.yield %next : i32
      }
      %twice = arith.muli %count, %count : i32
      tt.store %out, %one : !tt.ptr<i32>
      tt.return
    })";
  options.stepLimit = 1000;
  std::vector<int32_t> out(1);
  EXPECT_TRUE(launchText(text, "unused", {i32("out", out)})) << diagnostics.text();
  EXPECT_EQ(out[0], 1);
}

} // namespace
} // namespace pellucid::reference
