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

// A bound with the sign bit set is large where the loop counts without signs, and negative
// otherwise.
TEST_P(Control, SignsOfBounds) {
  const char *text = R"(
    tt.func public @count(%out: !tt.ptr<i32>, %from: i32, %to: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %unsigned = scf.for unsigned %i = %from to %to step %one iter_args(%c = %zero) -> (i32) : i32 {
        %next = arith.addi %c, %one : i32
        scf.yield %next : i32
      }
      %signed = scf.for %i = %from to %to step %one iter_args(%c = %one) -> (i32) : i32 {
        %next = arith.addi %c, %one : i32
        scf.yield %next : i32
      }
      tt.store %out, %unsigned : !tt.ptr<i32>
      %second = tt.addptr %out, %one : !tt.ptr<i32>, i32
      tt.store %second, %signed : !tt.ptr<i32>
      tt.return
    })";
  auto counts = [&](int64_t from, int64_t to) {
    std::vector<int32_t> out(2, -1);
    EXPECT_TRUE(launchText(text, "count", {i32("out", out), from, to})) << diagnostics.text();
    return out;
  };
  EXPECT_EQ(counts(2, 7), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(counts(-3, 2), (std::vector<int32_t>{0, 6}));
  EXPECT_EQ(counts(2147483646, -2147483646), (std::vector<int32_t>{4, 1}));
  EXPECT_EQ(counts(7, 7), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(counts(7, 2), (std::vector<int32_t>{0, 1}));
}

TEST_P(Control, AStepThatIsNotPositiveIsSaid) {
  const char *text = R"(
    tt.func public @count(%out: !tt.ptr<i32>, %step: i32) {
      %zero = arith.constant 0 : i32
      %to = arith.constant 9 : i32
      scf.for %i = %zero to %to step %step : i32 {
        tt.store %out, %i : !tt.ptr<i32>
      }
      tt.return
    })";
  std::vector<int32_t> out(1);
  ASSERT_TRUE(launchText(text, "count", {i32("out", out), int64_t(4)})) << diagnostics.text();
  EXPECT_EQ(out[0], 8);
  for (int64_t step : {0, -4}) {
    EXPECT_FALSE(launchText(text, "count", {i32("out", out), step}));
    EXPECT_NE(diagnostics.text().find("expects a positive step, got " + std::to_string(step)),
              std::string::npos)
        << diagnostics.text();
  }
}

// Only one way is gone: the others would divide by zero or leave the tensor.
TEST_P(Control, BranchesNotTakenDoNothing) {
  const char *text = R"(
    tt.func public @choose(%out: !tt.ptr<i32>, %which: i32, %far: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %case = arith.index_cast %which : i32 to index
      %value = scf.index_switch %case -> i32
      case 3 {
        %bad = arith.divsi %one, %zero : i32
        scf.yield %bad : i32
      }
      case 5 {
        %seven = arith.constant 7 : i32
        scf.yield %seven : i32
      }
      default {
        %inner = scf.execute_region -> i32 {
          %nine = arith.constant 9 : i32
          scf.yield %nine : i32
        }
        scf.yield %inner : i32
      }
      %is = arith.cmpi eq, %which, %zero : i32
      %both:2 = scf.if %is -> (i32, i32) {
        %outside = tt.addptr %out, %far : !tt.ptr<i32>, i32
        %read = tt.load %outside : !tt.ptr<i32>
        scf.yield %read, %one : i32, i32
      } else {
        scf.yield %one, %value : i32, i32
      }
      %sum = arith.addi %both#0, %both#1 : i32
      tt.store %out, %sum : !tt.ptr<i32>
      tt.return
    })";
  std::vector<int32_t> out(1);
  for (auto [which, expected] : {std::pair{5, 8}, {4, 10}, {-1, 10}}) {
    ASSERT_TRUE(launchText(text, "choose", {i32("out", out), int64_t(which), int64_t(1 << 20)}))
        << diagnostics.text();
    EXPECT_EQ(out[0], expected) << which;
  }
  EXPECT_FALSE(launchText(text, "choose", {i32("out", out), int64_t(0), int64_t(1 << 20)}));
}

// What a loop without a used result does to memory counts.
TEST_P(Control, ALoopThatStoresIsThereWithoutAUser) {
  const char *text = R"(
    tt.func public @fill(%out: !tt.ptr<i32>, %n: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %count = scf.while (%i = %zero) : (i32) -> i32 {
        %more = arith.cmpi slt, %i, %n : i32
        scf.condition(%more) %i : i32
      } do {
      ^bb0(%i: i32):
        %place = tt.addptr %out, %i : !tt.ptr<i32>, i32
        tt.store %place, %i : !tt.ptr<i32>
        %next = arith.addi %i, %one : i32
        scf.yield %next : i32
      }
      tt.return
    })";
  std::vector<int32_t> out(5, -1);
  ASSERT_TRUE(launchText(text, "fill", {i32("out", out), int64_t(4)})) << diagnostics.text();
  EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2, 3, -1}));
}

} // namespace
} // namespace pellucid::reference
