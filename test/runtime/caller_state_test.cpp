// SPDX-License-Identifier: Apache-2.0
/// What the calling thread has set, and callbacks that fail: results are the same, nothing ends
/// the process, and the caller's settings are the caller's again.
#include "runtime/Tensors.h"

#include <cfenv>
#include <cstring>
#include <functional>
#include <stdexcept>

using namespace pellucid;
using namespace pellucid::test;

namespace {

/// Tenths, whose sums are rounded; every third row has subnormal numbers alone.
Array<float> roundedRows() {
  Array<float> x({600, 64});
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] =
        i / 64 % 3 == 0 ? 1e-42f * static_cast<float>(i % 64) : 0.1f * static_cast<float>(i % 97);
  return x;
}

std::vector<float> sumsOf(pellucid_package *package, Array<float> &x, int32_t threads) {
  Array<float> total({600});
  DLTensor input = x.tensor(), output = total.tensor();
  pellucid_run_options options = runOptions(threads);
  EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options), PELLUCID_OK)
      << pellucid_last_error();
  return total.data;
}

/// Where subnormal numbers are flushed, as bits of the processor's control word.
unsigned flushing() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & 0x8040;
#else
  return 0;
#endif
}

/// total = sum of each row of x f32[batch, 64].
package::Contents summingModel() {
  package::Manifest m;
  m.name = "sums";
  m.symbols.push_back({"batch", 1, 1024, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"x", DataType::Float32, codes({"batch", "64"}), true, {}});
  m.outputs.push_back({"total", DataType::Float32, codes({"batch"})});
  m.kernels.push_back(sampleKernel(
      "row_sum", {source("in"), pointer("out"), scalar("columns", DataType::Int32)}, 64 * 4));
  package::Launch launch;
  launch.label = "row_sum";
  launch.variants.push_back({{},
                             0,
                             {code("batch")},
                             {address(package::PlaceKind::Input, 0),
                              address(package::PlaceKind::Output, 0), value("64")}});
  package::Program program;
  program.steps.push_back(std::move(launch));
  m.programs.push_back(std::move(program));
  return withImage(std::move(m));
}

struct Setting {
  const char *name;
  std::function<void()> set;
};

const Setting settings[] = {
    {"rounds upward", [] { std::fesetround(FE_UPWARD); }},
    {"rounds towards zero", [] { std::fesetround(FE_TOWARDZERO); }},
    {"exceptions end the process",
     [] { ::feenableexcept(FE_INEXACT | FE_UNDERFLOW | FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }},
#if defined(__x86_64__)
    {"subnormal numbers are zero",
     [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }},
#endif
};

class CallerState : public testing::Test {
protected:
  void SetUp() override { std::fegetenv(&before); }
  void TearDown() override { std::fesetenv(&before); }
  std::fenv_t before;
};

TEST_F(CallerState, ArithmeticIsTheSame) {
  Loaded package(summingModel());
  Array<float> x = roundedRows();
  std::vector<float> plain = sumsOf(package, x, 1);
  EXPECT_GT(plain[0], 0) << "sums of subnormal numbers are not zero";
  for (const Setting &setting : settings)
    for (int32_t threads : {1, 4}) {
      setting.set();
      int rounding = std::fegetround(), traps = ::fegetexcept();
      unsigned flushed = flushing();
      std::vector<float> sums = sumsOf(package, x, threads);
      bool isLeft =
          std::fegetround() == rounding && ::fegetexcept() == traps && flushing() == flushed;
      std::fesetenv(&before);
      EXPECT_TRUE(isLeft) << setting.name << ": the caller's setting is gone";
      EXPECT_EQ(std::memcmp(sums.data(), plain.data(), sums.size() * sizeof(float)), 0)
          << setting.name << ", " << threads << " threads";
    }
}

/// An allocator's second request; the first one's memory must come back.
struct FailingAllocator {
  enum class How { Null, Misaligned, Throws } how;
  int calls = 0, live = 0;

  static void *allocate(void *state, size_t bytes, size_t alignment, DLDevice) {
    auto &self = *static_cast<FailingAllocator *>(state);
    if (++self.calls == 2 && self.how == How::Null)
      return nullptr;
    if (self.calls == 2 && self.how == How::Throws)
      throw std::runtime_error("no");
    ++self.live;
    auto *data = static_cast<char *>(std::aligned_alloc(alignment, (bytes + 191) / 64 * 64));
    return self.calls == 2 ? data + 16 : data;
  }
  static void release(void *state, void *data, size_t, DLDevice) {
    --static_cast<FailingAllocator *>(state)->live;
    auto address = reinterpret_cast<uintptr_t>(data);
    std::free(reinterpret_cast<void *>(address / 64 * 64));
  }
};

TEST_F(CallerState, AnAllocatorThatFailsLeavesNothing) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({4, 64});
  DLTensor input = x.tensor();
  using How = FailingAllocator::How;
  const std::pair<How, const char *> cases[] = {
      {How::Null, "the caller's allocator gave no memory for 16 bytes"},
      {How::Misaligned, "the caller's allocator gave memory whose address is no multiple of 64"},
      {How::Throws, "the caller's allocator threw an exception"}};
  for (auto [how, why] : cases) {
    FailingAllocator state{how};
    pellucid_allocator allocator{&state, FailingAllocator::allocate, FailingAllocator::release};
    pellucid_run_options options = runOptions();
    options.allocator = &allocator;
    DLManagedTensorVersioned *outputs[2];
    pellucid_status status = pellucid_run(package, &input, 1, outputs, 2, &options);
    EXPECT_EQ(status, how == How::Misaligned ? PELLUCID_INVALID_ARGUMENT : PELLUCID_OUT_OF_MEMORY);
    EXPECT_STREQ(pellucid_last_error(), why);
    EXPECT_EQ(outputs[0], nullptr);
    EXPECT_EQ(outputs[1], nullptr);
    EXPECT_EQ(state.live, 0) << why;
  }
}

/// Never set, options say that they are as large as whatever lay there before.
TEST_F(CallerState, OptionsThatWereNeverSetAreRefused) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({4, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions();
  options.struct_size = SIZE_MAX / 3;
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(pellucid_last_error()), "the options' struct_size is " +
                                                    std::to_string(SIZE_MAX / 3) +
                                                    ", must be sizeof the struct");
}

} // namespace
