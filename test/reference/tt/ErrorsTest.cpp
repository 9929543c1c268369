// SPDX-License-Identifier: Apache-2.0
// What is said of kernels that do what they must not.
#include "reference/tt/KernelTest.h"

#include <numeric>

namespace pellucid::reference {
namespace {

using Errors = KernelTest;
INSTANTIATE_TEST_SUITE_P(Dumps, Errors, ::testing::Values("", "raw/"));

#define EXPECT_SAYS(part)                                                                          \
  EXPECT_NE(diagnostics.text().find(part), std::string::npos) << diagnostics.text()

TEST_P(Errors, ReadBeyondTheEnd) {
  std::vector<float> x = randomFloats(32), out(32);
  EXPECT_FALSE(launch("out_of_bounds", {f32("x", x), f32("out", out)}, {2, 1, 1}));
  EXPECT_SAYS("error: reads element 32 of 'x_ptr', which has 32 elements, in program (1, 0, 0)");
  EXPECT_SAYS("kernels.py:");
  EXPECT_EQ(diagnostics.all().size(), 1u);
  // What is inside is still done.
  EXPECT_EQ(out[30], x[31]);
  EXPECT_EQ(out[31], 0);
}

TEST_P(Errors, TheLineIsShownWhereTheFileIsFound) {
  const char *text = R"(
    tt.func public @k(%x: !tt.ptr<f32> loc("x")) {
      %v = tt.load %x : !tt.ptr<f32> loc("PLACE":7:3)
      tt.store %x, %v : !tt.ptr<f32>
      tt.return
    })";
  std::string source = kernelFolder + "kernels.py", withPlace = text;
  withPlace.replace(withPlace.find("PLACE"), 5, source);
  std::vector<float> x(1);
  HostTensor empty = f32("x", x);
  empty.bytes = 2;
  EXPECT_FALSE(launchText(withPlace, "k", {empty}));
  EXPECT_SAYS(source + ":7:3: error: reads element 0 of 'x'");
  EXPECT_SAYS("import triton.language as tl");
  EXPECT_SAYS("^");
}

TEST_P(Errors, FailedAssertionAndPrint) {
  std::vector<int32_t> x{1, 2, 3, 4, 5, -6, 70, 8};
  EXPECT_FALSE(launch("checks", {i32("x", x), int64_t(50)}, {2, 1, 1}));
  EXPECT_SAYS("error: device_assert failed at (2): too large, in program (1, 0, 0)");
  EXPECT_EQ(prints, "pid (0, 0, 0) idx (0) x: 1\npid (0, 0, 0) idx (1) x: 2\n"
                    "pid (0, 0, 0) idx (2) x: 3\npid (0, 0, 0) idx (3) x: 4\n"
                    "pid (1, 0, 0) idx (0) x: 5\npid (1, 0, 0) idx (1) x: -6\n"
                    "pid (1, 0, 0) idx (2) x: 70\npid (1, 0, 0) idx (3) x: 8\n");
}

TEST_P(Errors, InlineAssemblyIsRefused) {
  std::vector<int32_t> x(16);
  EXPECT_FALSE(launch("foreign_code", {i32("x", x)}));
  EXPECT_SAYS("error: inline assembly cannot be interpreted: \"shl.b32 $0, $1, 3;\"");
}

TEST_P(Errors, DivisionByZeroIsAWarning) {
  const char *text = R"(
    tt.func public @divide(%out: !tt.ptr<i32>, %a: i32, %b: i32) {
      %q = arith.divsi %a, %b : i32
      tt.store %out, %q : !tt.ptr<i32>
      tt.return
    })";
  std::vector<int32_t> out(1);
  EXPECT_TRUE(launchText(text, "divide", {i32("out", out), int64_t(5), int64_t(0)}));
  EXPECT_SAYS("warning: divides by zero, which is unspecified, in program (0, 0, 0)");
  EXPECT_EQ(out[0], -1);
}

TEST_P(Errors, WrongArguments) {
  std::vector<float> x(4);
  EXPECT_FALSE(launch("racing", {f32("x", x)}));
  EXPECT_SAYS("'racing' expects 2 arguments, got 1");
  EXPECT_FALSE(launch("racing", {f32("x", x), int64_t(3)}));
  EXPECT_SAYS("'out_ptr' expects !tt.ptr<f32>");
  std::vector<_Float16> y(4);
  EXPECT_FALSE(launch("racing", {f32("x", x), f16("y", y)}));
  EXPECT_SAYS("'y' expects elements of type f32, got f16");
}

// The compiler may leave a poison block pointer where control never uses it; using it is an error.
TEST_P(Errors, PoisonBlockPointer) {
  const char *text = R"(
    tt.func public @poison() {
      %p = ub.poison : !tt.ptr<tensor<4xf32>>
      %one = arith.constant 1 : i32
      %q = tt.advance %p, [%one] : <tensor<4xf32>>
      tt.return
    })";
  EXPECT_FALSE(launchText(text, "poison", {}));
  EXPECT_SAYS("uses a poison block pointer or descriptor, in program (0, 0, 0)");
}

//===--- sanitize --------------------------------------------------------------------------===//

TEST_P(Errors, WritesOfDifferentValuesRace) {
  std::vector<float> x = randomFloats(32), out(1);
  ASSERT_TRUE(launch("racing", {f32("x", x), f32("out", out)}, {2, 1, 1})) << diagnostics.text();
  options.sanitize = true;
  EXPECT_FALSE(launch("racing", {f32("x", x), f32("out", out)}, {2, 1, 1}));
  EXPECT_SAYS("error: writes element 0 of 'out_ptr', which program (0, 0, 0) wrote: a race, in "
              "program (1, 0, 0)");
}

TEST_P(Errors, WritesOfTheSameValueDoNotRace) {
  std::vector<float> x(32, 1), out(1);
  options.sanitize = true;
  EXPECT_TRUE(launch("racing", {f32("x", x), f32("out", out)}, {2, 1, 1})) << diagnostics.text();
}

TEST_P(Errors, ReadOfWhatAnotherProgramWroteRaces) {
  std::vector<float> x = randomFloats(33);
  options.sanitize = true;
  EXPECT_FALSE(launch("shifted_in_place", {f32("x", x)}, {2, 1, 1}));
  EXPECT_SAYS("error: reads element 16 of 'x_ptr', which program (0, 0, 0) wrote: a race, in "
              "program (1, 0, 0)");
}

TEST_P(Errors, AtomicsDoNotRace) {
  std::vector<float> x = randomFloats(83), sums(4), highest{0};
  std::vector<int32_t> count{10}, bits{0}, swap{0}, old(3);
  options.sanitize = true;
  EXPECT_TRUE(launch("atomics",
                     {f32("x", x), f32("sum", sums), f32("max", highest), i32("count", count),
                      i32("bits", bits), i32("swap", swap), i32("old", old), int64_t(83)},
                     {3, 1, 1}))
      << diagnostics.text();
}

TEST_P(Errors, ReadOfWhatWasNeverWritten) {
  std::vector<float> x = randomFloats(32), out(32);
  HostTensor fresh = f32("x", x);
  fresh.initialized = false;
  EXPECT_TRUE(launch("racing", {fresh, f32("out", out)}, {1, 1, 1})) << diagnostics.text();
  options.sanitize = true;
  EXPECT_FALSE(launch("racing", {fresh, f32("out", out)}, {1, 1, 1}));
  EXPECT_SAYS("error: reads element 0 of 'x_ptr', which was never written, in program (0, 0, 0)");
}

} // namespace
} // namespace pellucid::reference
