// SPDX-License-Identifier: Apache-2.0
/// Calls that are prepared once and run often.
#include "runtime/Tensors.h"

#include <atomic>
#include <cstdlib>
#include <new>

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;

static std::atomic<int64_t> allocations = 0;

// The library's allocations are the program's.
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {
/// Destroyed before its package is unloaded.
class Prepared {
public:
  Prepared(pellucid_package *package, std::vector<DLTensor> inputs, std::vector<DLTensor> outputs) {
    status = pellucid_call_create(package, inputs.data(), inputs.size(), outputs.data(),
                                  outputs.size(), &handle);
    if (status != PELLUCID_OK)
      error = pellucid_last_error();
  }
  ~Prepared() { pellucid_call_destroy(handle); }
  Prepared(const Prepared &) = delete;
  pellucid_status run(const pellucid_run_options *options = nullptr) {
    return pellucid_call_run(handle, options);
  }

  pellucid_status status;
  std::string error;
  pellucid_call *handle = nullptr;
};
} // namespace

TEST(PreparedCall, ReadsWhatIsThereAtEachRun) {
  Loaded package(sampleModel());
  for (int64_t batch : {1, 9, 1024}) {
    Array<float> x = countingArray({batch, 64}), y({batch, 64}, -1), total({batch}, -1);
    Prepared call(package, {x.tensor()}, {y.tensor(), total.tensor()});
    ASSERT_EQ(call.status, PELLUCID_OK) << call.error;
    EXPECT_EQ(y.data[0], -1) << "nothing runs while a call is prepared";
    for (int round = 0; round < 3; ++round) {
      pellucid_run_options options = runOptions(round);
      ASSERT_EQ(call.run(&options), PELLUCID_OK) << pellucid_last_error();
      expectSample(x, y.data.data(), total.data.data());
      for (float &value : x.data)
        value += 1;
    }
  }
}

TEST(PreparedCall, AllocatesNothing) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({16, 64}), y({16, 64}), total({16});
  Prepared call(package, {x.tensor()}, {y.tensor(), total.tensor()});
  ASSERT_EQ(call.status, PELLUCID_OK) << call.error;
  pellucid_run_options options = runOptions(1);
  ASSERT_EQ(call.run(&options), PELLUCID_OK); // the thread's own memory
  int64_t before = allocations;
  for (int round = 0; round < 100; ++round)
    ASSERT_EQ(call.run(&options), PELLUCID_OK);
  EXPECT_EQ(allocations, before);
}

TEST(PreparedCall, TwoCallsHaveMemoryOfTheirOwn) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({5, 64}), y({5, 64}), total({5});
  Array<float> other = countingArray({7, 64}), otherY({7, 64}), otherTotal({7});
  Prepared first(package, {x.tensor()}, {y.tensor(), total.tensor()});
  Prepared second(package, {other.tensor()}, {otherY.tensor(), otherTotal.tensor()});
  ASSERT_EQ(first.run(), PELLUCID_OK);
  ASSERT_EQ(second.run(), PELLUCID_OK);
  ASSERT_EQ(first.run(), PELLUCID_OK);
  expectSample(x, y.data.data(), total.data.data());
  expectSample(other, otherY.data.data(), otherTotal.data.data());
}

TEST(PreparedCall, IsCheckedAsACallIs) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({1025, 64}), y({1025, 64}), total({1025});
  Prepared call(package, {x.tensor()}, {y.tensor(), total.tensor()});
  EXPECT_EQ(call.status, PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(call.error, "input 'x': dim 0 (batch) is 1025, must be in 1..1024");
  EXPECT_EQ(call.handle, nullptr);
  Array<float> small = countingArray({4, 64}), wrong({5, 64});
  Prepared outputs(package, {small.tensor()}, {wrong.tensor(), total.tensor()});
  EXPECT_EQ(outputs.status, PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(outputs.handle, nullptr);
  DLTensor input = small.tensor();
  EXPECT_EQ(pellucid_call_create(package, &input, 1, &input, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  pellucid_call *made = nullptr;
  EXPECT_EQ(pellucid_call_create(nullptr, &input, 1, &input, 1, &made), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_call_run(nullptr, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the call is null");
  pellucid_call_destroy(nullptr);
}

TEST(PreparedCall, OptionsWithoutEffectAreRefused) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({4, 64}), y({4, 64}, -1), total({4});
  Prepared call(package, {x.tensor()}, {y.tensor(), total.tensor()});
  pellucid_profile *profile = nullptr;
  ASSERT_EQ(pellucid_profile_create(&profile), PELLUCID_OK);
  pellucid_run_options options = runOptions();
  options.profile = profile;
  EXPECT_EQ(call.run(&options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "a prepared call records no profile; profile "
                                      "pellucid_run_into of the same tensors");
  pellucid_profile_destroy(profile);
  pellucid_allocator allocator{};
  allocator.allocate = [](void *, size_t, size_t, DLDevice) -> void * { return nullptr; };
  allocator.release = [](void *, void *, size_t, DLDevice) {};
  options = runOptions();
  options.allocator = &allocator;
  EXPECT_EQ(call.run(&options), PELLUCID_INVALID_ARGUMENT);
  options = runOptions();
  options.guard = PELLUCID_GUARD_END;
  EXPECT_EQ(call.run(&options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(y.data[0], -1);
}

/// in[i] is printed for every i; `onLine` runs meanwhile.
static package::Contents printingModel() {
  package::Manifest m;
  m.symbols.push_back({"batch", 1, 1 << 20, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"in", DataType::Float32, codes({"batch"}), true, {}});
  package::Kernel kernel = sampleKernel("check_positive", {source("in")});
  kernel.ordered = true;
  kernel.executables[0].messages = {
      {package::MessageKind::Assert, "x >= 0", "kernels.py", 12, 9, false},
      {package::MessageKind::Print, "", "kernels.py", 13, 5, false},
      {package::MessageKind::Print, "", "kernels.py", 14, 5, false}};
  m.kernels.push_back(kernel);
  package::Launch launch;
  launch.label = "check_0";
  launch.variants.push_back({{}, 0, {code("batch")}, {address(PlaceKind::Input, 0)}});
  package::Program program;
  program.steps.push_back(std::move(launch));
  m.programs.push_back(std::move(program));
  return withImage(std::move(m));
}

TEST(PreparedCall, RunsOnceAtATimeAndCanBeCancelled) {
  Loaded package(printingModel());
  Array<float> in({3000}, 1);
  Prepared call(package, {in.tensor()}, {});
  ASSERT_EQ(call.status, PELLUCID_OK) << call.error;
  struct Watch {
    Prepared &call;
    size_t lines = 0;
    pellucid_status inner = PELLUCID_OK;
    int32_t cancel = 0;
    bool cancels = false;
  } watch{call};
  pellucid_run_options options = runOptions(1);
  options.print = [](void *state, const char *) {
    auto *self = static_cast<Watch *>(state);
    if (self->lines++ == 0)
      self->inner = self->call.run();
    self->cancel = self->cancels;
  };
  options.print_state = &watch;
  options.cancel = &watch.cancel;
  EXPECT_EQ(call.run(&options), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(watch.lines, 6000u);
  EXPECT_EQ(watch.inner, PELLUCID_INVALID_ARGUMENT);
  watch.cancels = true;
  watch.lines = 0;
  EXPECT_EQ(call.run(&options), PELLUCID_CANCELLED);
  EXPECT_LT(watch.lines, 6000u);
  watch.cancel = 0;
  watch.cancels = false;
  EXPECT_EQ(call.run(&options), PELLUCID_OK) << pellucid_last_error();
}
