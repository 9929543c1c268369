// SPDX-License-Identifier: Apache-2.0
/// Variants, arguments, grids, assertions and printing.
#include "judge/CommaLocale.h"
#include "runtime/Tensors.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;

/// One kernel over "in" f32[batch] and "out" of `outType`[outSize], with the variants given.
static package::Contents oneLaunch(package::Kernel kernel,
                                   std::vector<package::LaunchVariant> variants,
                                   DataType outType = DataType::Int64, const char *outSize = "8") {
  package::Manifest m;
  m.name = "one";
  m.symbols.push_back({"batch", 0, int64_t(1) << 40, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"in", DataType::Float32, codes({"batch"}), true, {}});
  m.outputs.push_back({"out", outType, codes({outSize})});
  m.kernels.push_back(std::move(kernel));
  package::Launch launch;
  launch.label = "one_0";
  launch.variants = std::move(variants);
  package::Program program;
  program.steps.push_back(std::move(launch));
  m.programs.push_back(std::move(program));
  return withImage(std::move(m));
}

static package::Kernel scalarsKernel() {
  return sampleKernel("store_scalars",
                      {pointer("out", DataType::Int64), scalar("wide", DataType::Int64),
                       scalar("word", DataType::Int32), scalar("half", DataType::Int16),
                       scalar("byte", DataType::UInt8), scalar("flag", DataType::Bool),
                       scalar("single", DataType::Float32), scalar("real", DataType::Float64)});
}

static package::LaunchVariant scalarsVariant(std::vector<const char *> values) {
  package::LaunchVariant variant;
  variant.arguments.push_back(address(PlaceKind::Output, 0));
  for (const char *text : values)
    variant.arguments.push_back(value(text));
  return variant;
}

static pellucid_status runOne(pellucid_package *package, int64_t batch, Array<int64_t> &out,
                              const pellucid_run_options *options = nullptr) {
  Array<float> in({batch}, 1);
  DLTensor input = in.tensor(), output = out.tensor();
  return pellucid_run_into(package, &input, 1, &output, 1, options);
}

TEST(Launch, ScalarsArriveInTheirTypes) {
  package::Contents contents =
      oneLaunch(scalarsKernel(), {scalarsVariant({"batch*4294967296", "0 - batch", "batch - 100",
                                                  "255", "batch", "batch*3", "0 - batch*5"})});
  Loaded package(contents);
  Array<int64_t> out({8});
  ASSERT_EQ(runOne(package, 7, out), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(out.data, (std::vector<int64_t>{7ll << 32, -7, -93, 255, 1, 21, -35, 0}));
}

TEST(Launch, AValueThatDoesNotFitIsRefused) {
  Loaded package(oneLaunch(scalarsKernel(),
                           {scalarsVariant({"1", "batch*1000000000", "0", "0", "0", "0", "0"})}));
  Array<int64_t> out({8});
  EXPECT_EQ(runOne(package, 2, out), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(out.data[1], 2000000000);
  EXPECT_EQ(runOne(package, 3, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "launch 'one_0': argument 'word' is 3000000000, which does not fit i32");
}

TEST(Launch, OverflowAndDivisionByZeroAreErrorsOfTheirUser) {
  Loaded package(
      oneLaunch(scalarsKernel(), {scalarsVariant({"12 // batch", "0", "0", "0", "0", "0", "0"})}));
  Array<int64_t> out({8});
  EXPECT_EQ(runOne(package, 5, out), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(out.data[0], 2);
  EXPECT_EQ(runOne(package, 0, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "launch 'one_0': argument 'wide' = 12 // batch divides by zero or exceeds 64 bits");
}

TEST(Launch, TheFirstVariantThatFitsIsTaken) {
  package::LaunchVariant small = scalarsVariant({"1", "0", "0", "0", "0", "0", "0"});
  small.guard = code("batch < 10");
  package::LaunchVariant even = scalarsVariant({"2", "0", "0", "0", "0", "0", "0"});
  even.guard = code("Eq(batch % 2, 0)");
  Loaded package(oneLaunch(scalarsKernel(), {small, even}));
  Array<int64_t> out({8});
  for (auto [batch, expected] : {std::pair(4, 1), std::pair(9, 1), std::pair(12, 2)}) {
    ASSERT_EQ(runOne(package, batch, out), PELLUCID_OK) << pellucid_last_error();
    EXPECT_EQ(out.data[0], expected) << batch;
  }
  EXPECT_EQ(runOne(package, 13, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_NE(std::string(pellucid_last_error())
                .find("launch 'one_0': no variant was compiled for these inputs"),
            std::string::npos);
}

/// A variant that was specialised for a multiple of 16 is passed over when the value is none.
TEST(Launch, DivisorsOfParametersChooseToo) {
  package::Contents contents =
      oneLaunch(scalarsKernel(), {scalarsVariant({"batch", "0", "0", "0", "0", "0", "0"}),
                                  scalarsVariant({"0 - batch", "0", "0", "0", "0", "0", "0"})});
  package::Kernel plain = contents.manifest.kernels[0];
  contents.manifest.kernels[0].parameters[1].divisor = 16;
  contents.manifest.kernels.push_back(plain);
  std::get<package::Launch>(contents.manifest.programs[0].steps[0]).variants[1].kernel = 1;
  Loaded package(contents);
  Array<int64_t> out({8});
  ASSERT_EQ(runOne(package, 32, out), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(out.data[0], 32);
  ASSERT_EQ(runOne(package, 33, out), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(out.data[0], -33);
}

TEST(Launch, GridsAreLimited) {
  package::LaunchVariant variant = scalarsVariant({"batch", "0", "0", "0", "0", "0", "0"});
  variant.grid[1] = code("batch*1000000000 - 1000000000");
  Loaded package(oneLaunch(scalarsKernel(), {variant}));
  Array<int64_t> out({8}, -1);
  EXPECT_EQ(runOne(package, 1, out), PELLUCID_OK) << "an empty grid runs nothing";
  EXPECT_EQ(out.data[0], -1);
  EXPECT_EQ(runOne(package, 4, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "launch 'one_0': grid[1] is 3000000000, must be in 0..2147483647");
  EXPECT_EQ(runOne(package, 0, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "launch 'one_0': grid[1] is -1000000000, must be in 0..2147483647");
}

static package::Contents checkingModel() {
  package::Kernel kernel = sampleKernel("check_positive", {source("in")});
  kernel.executables[0].messages = {
      {package::MessageKind::Assert, "x >= 0", "kernels.py", 12, 9, false},
      {package::MessageKind::Print, "x: ", "kernels.py", 13, 5, false},
      {package::MessageKind::Print, "pid ", "kernels.py", 14, 5, true}};
  package::LaunchVariant variant;
  variant.grid = {code("CeilDiv(batch, 2)"), code("2"), {}};
  variant.arguments = {address(PlaceKind::Input, 0)};
  return oneLaunch(kernel, {variant});
}

/// Whatever the number of threads, the lowest failing program is the one reported.
TEST(Launch, AFailedAssertionIsAStatus) {
  Loaded package(checkingModel());
  Array<float> in({5000}, 1);
  Array<int64_t> out({8});
  DLTensor input = in.tensor(), output = out.tensor();
  EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  in.data[4999] = in.data[2503] = in.data[2504] = -1;
  for (int32_t threads : {1, 2, 3, 8})
    for (int round = 0; round < 20; ++round) {
      pellucid_run_options options = runOptions(threads);
      ASSERT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options),
                PELLUCID_KERNEL_FAILED);
      ASSERT_STREQ(pellucid_last_error(),
                   "kernels.py:12:9: device assertion failed: x >= 0 (kernel 'check_positive', "
                   "program (3, 1, 0), launch 'one_0')");
    }
}

TEST(Launch, PrintsGoToTheCaller) {
  Loaded package(checkingModel());
  Array<float> in({3}, 1.5f);
  in.shape = {3};
  in.data.resize(4, 2.5f); // the grid is 2 x 2
  Array<int64_t> out({8});
  DLTensor input = in.tensor(), output = out.tensor();
  std::vector<std::string> lines;
  pellucid_run_options options = runOptions(4);
  options.print = [](void *state, const char *line) {
    static_cast<std::vector<std::string> *>(state)->push_back(line);
  };
  options.print_state = &lines;
  ASSERT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options), PELLUCID_OK)
      << pellucid_last_error();
  ASSERT_EQ(lines.size(), 8u);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines[0], "pid (0, 0, 0) idx (0) pid 0x0000000000000000");
  EXPECT_EQ(lines[1], "pid (0, 0, 0) idx (0) x: 1.500000");
  EXPECT_EQ(lines[6], "pid (1, 1, 0) idx (0) pid 0x0000000000000003");
  EXPECT_EQ(lines[7], "pid (1, 1, 0) idx (0) x: 2.500000");
}

/// Whatever the program that loads us has chosen for the numbers that it shows.
TEST(Launch, PrintedNumbersHaveAPoint) {
  CommaLocale comma;
  if (!comma.isThere)
    GTEST_SKIP() << "this C library takes no locale that is made here";
  Loaded package(checkingModel());
  Array<float> in({1}, 1.5f);
  in.data.resize(2, 2.5f); // the grid is 1 x 2
  Array<int64_t> out({8});
  DLTensor input = in.tensor(), output = out.tensor();
  std::string lines;
  pellucid_run_options options = runOptions(1);
  options.print = [](void *state, const char *line) { *static_cast<std::string *>(state) += line; };
  options.print_state = &lines;
  ASSERT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_NE(lines.find("x: 1.500000"), std::string::npos) << lines;
}

/// A kernel has no frames that an exception could pass.
TEST(Launch, APrintThatThrowsIsAStatus) {
  Loaded package(checkingModel());
  Array<float> in({3}, 1.5f);
  in.data.resize(4, 2.5f);
  Array<int64_t> out({8});
  DLTensor input = in.tensor(), output = out.tensor();
  for (int32_t threads : {1, 4}) {
    pellucid_run_options options = runOptions(threads);
    options.print = [](void *, const char *) { throw 5; };
    EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options),
              PELLUCID_INVALID_ARGUMENT);
    EXPECT_STREQ(pellucid_last_error(), "the function that gets printed lines threw an exception");
  }
  EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, nullptr), PELLUCID_OK);
}

TEST(Launch, TooLargeBuffersAreAStatus) {
  package::Contents contents =
      oneLaunch(scalarsKernel(), {scalarsVariant({"1", "0", "0", "0", "0", "0", "0"})});
  contents.manifest.programs[0].buffers.push_back(
      {"tmp", DataType::UInt8, {}, code("batch*1099511627776*1024 + 1"), 0});
  contents.manifest.programs[0].slots = 1;
  Loaded package(contents);
  Array<int64_t> out({8});
  EXPECT_EQ(runOne(package, 1, out), PELLUCID_OUT_OF_MEMORY);
  EXPECT_EQ(runOne(package, 100000, out), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "the size of buffer 'tmp' is negative or exceeds 2^63 bytes for these inputs");
}

/// A kernel whose programs must run in order sees them in order, on the calling thread, however
/// many there are.
TEST(Launch, OrderedKernelsRunInOrder) {
  package::Kernel kernel = sampleKernel("check_positive", {source("in")});
  kernel.ordered = true;
  kernel.executables[0].messages = {
      {package::MessageKind::Assert, "x >= 0", "kernels.py", 12, 9, false},
      {package::MessageKind::Print, "", "kernels.py", 13, 5, false},
      {package::MessageKind::Print, "", "kernels.py", 14, 5, false}};
  package::LaunchVariant variant;
  variant.grid[0] = code("batch");
  variant.arguments = {address(PlaceKind::Input, 0)};
  Loaded package(oneLaunch(kernel, {variant}));
  std::vector<std::string> lines;
  pellucid_run_options options = runOptions(8);
  options.print = [](void *state, const char *line) {
    static_cast<std::vector<std::string> *>(state)->push_back(line);
  };
  options.print_state = &lines;
  Array<int64_t> out({8});
  ASSERT_EQ(runOne(package, 3000, out, &options), PELLUCID_OK) << pellucid_last_error();
  ASSERT_EQ(lines.size(), 6000u);
  for (size_t p = 0; p < 3000; ++p)
    ASSERT_EQ(lines[2 * p].rfind("pid (" + std::to_string(p) + ", 0, 0)", 0), 0u) << lines[2 * p];
}

namespace {
/// A launch of check_positive over 3000 programs on one thread, whose lines go to `onLine`.
struct Watched {
  package::Kernel kernel = sampleKernel("check_positive", {source("in")});
  pellucid_run_options options = runOptions(1);
  size_t lines = 0;
  std::string error;
  std::function<void()> onLine = [] {};

  pellucid_status run() {
    kernel.executables[0].messages = {
        {package::MessageKind::Assert, "x >= 0", "kernels.py", 12, 9, false},
        {package::MessageKind::Print, "", "kernels.py", 13, 5, false},
        {package::MessageKind::Print, "", "kernels.py", 14, 5, false}};
    package::LaunchVariant variant;
    variant.grid[0] = code("batch");
    variant.arguments = {address(PlaceKind::Input, 0)};
    Loaded package(oneLaunch(kernel, {variant}));
    options.print = [](void *state, const char *) {
      auto *self = static_cast<Watched *>(state);
      ++self->lines;
      self->onLine();
    };
    options.print_state = this;
    Array<int64_t> out({8});
    pellucid_status status = runOne(package, 3000, out, &options);
    error = pellucid_last_error(); // the package's end is a call too
    return status;
  }
};
} // namespace

/// The programs that are under way end, and no more begin.
TEST(Cancel, BetweenTheProgramsOfALaunch) {
  Watched watched;
  int32_t cancel = 0;
  watched.options.cancel = &cancel;
  EXPECT_EQ(watched.run(), PELLUCID_OK) << watched.error;
  EXPECT_EQ(watched.lines, 6000u);
  watched.lines = 0;
  watched.onLine = [&] { cancel = 1; };
  EXPECT_EQ(watched.run(), PELLUCID_CANCELLED);
  EXPECT_EQ(watched.error, "the call was cancelled by its caller");
  EXPECT_EQ(watched.lines, 2u) << "the first part is one program";
  watched.lines = 0;
  EXPECT_EQ(watched.run(), PELLUCID_CANCELLED);
  EXPECT_EQ(watched.lines, 0u) << "it is asked before the first step too";
}

TEST(Cancel, AfterALimitOfTime) {
  Watched watched;
  watched.options.timeout_ms = 1;
  watched.onLine = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  EXPECT_EQ(watched.run(), PELLUCID_CANCELLED);
  EXPECT_EQ(watched.error, "the call took longer than its limit of 1 ms");
  EXPECT_LT(watched.lines, 6000u);
  watched.options.timeout_ms = INT64_MAX;
  watched.onLine = [] {};
  EXPECT_EQ(watched.run(), PELLUCID_OK) << watched.error;
  watched.options.timeout_ms = -1;
  EXPECT_EQ(watched.run(), PELLUCID_INVALID_ARGUMENT);
}
