// SPDX-License-Identifier: Apache-2.0
/// Instances of a package own its state: calls, resets, prepared calls, failures.
#include "runtime/StatePackage.h"

#include <atomic>
#include <fstream>
#include <thread>

using namespace pellucid;
using namespace pellucid::test;

static const std::string inUse = "the instance is in use: calls, loads, saves and resets of one "
                                 "instance take turns; make an instance for each thread";

TEST(Instance, KeepsItsStateFromCallToCall) {
  Loaded package(countingModel());
  Instance first(package), second(package);
  for (int call = 1; call <= 3; ++call) {
    ASSERT_EQ(first.run(), PELLUCID_OK) << pellucid_last_error();
    EXPECT_EQ(first.seen, sumsAfter(call));
    EXPECT_EQ(first.sums(), sumsAfter(call));
  }
  EXPECT_EQ(second.sums(), firstSums()) << "instances are independent";
  ASSERT_EQ(second.run(), PELLUCID_OK);
  EXPECT_EQ(second.seen, sumsAfter(1));
  ASSERT_EQ(pellucid_instance_reset(first), PELLUCID_OK);
  EXPECT_EQ(first.sums(), firstSums());
  EXPECT_EQ(second.sums(), sumsAfter(1));
  Instance third(package);
  EXPECT_EQ(third.sums(), firstSums()) << "the package's own is never written";
}

TEST(Instance, DescribesItsState) {
  Loaded package(countingModel());
  Instance instance(package);
  ASSERT_EQ(pellucid_state_count(package), 3u);
  EXPECT_STREQ(pellucid_state_name(package, 1), "flags");
  EXPECT_EQ(pellucid_state_name(package, 3), nullptr);
  EXPECT_NE(std::string(pellucid_describe(package))
                .find("\"state\":[{\"name\":\"sums\",\"dtype\":\"f32\",\"shape\":[8],\"bytes\":32"),
            std::string::npos)
      << pellucid_describe(package);
  DLTensor view{};
  ASSERT_EQ(pellucid_instance_state(instance, 1, &view), PELLUCID_OK);
  EXPECT_EQ(view.ndim, 1);
  EXPECT_EQ(view.shape[0], 3);
  EXPECT_EQ(view.dtype.code, kDLBool);
  EXPECT_EQ(static_cast<uint8_t *>(view.data)[1], 1);
  ASSERT_EQ(pellucid_instance_state(instance, 0, &view), PELLUCID_OK);
  static_cast<float *>(view.data)[0] = 100;
  ASSERT_EQ(instance.run(), PELLUCID_OK);
  EXPECT_EQ(instance.seen[0], 101) << "what is written to the view is the next call's";
  EXPECT_EQ(pellucid_instance_state(instance, 3, &view), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "state number 3 of 3 is asked for");
}

TEST(Instance, APackageWithStateIsCalledThroughOne) {
  Loaded package(countingModel());
  Array<float> x({4}, 1), seen({8}, -1);
  DLTensor input = x.tensor(), output = seen.tensor();
  DLManagedTensorVersioned *made = reinterpret_cast<DLManagedTensorVersioned *>(1);
  const char *why = "the package has state (3 tensors, 'sums' the first), which an instance of it "
                    "owns: make an instance and call that";
  EXPECT_EQ(pellucid_run(package, &input, 1, &made, 1, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), why);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), why);
  pellucid_call *call = nullptr;
  EXPECT_EQ(pellucid_call_create(package, &input, 1, &output, 1, &call), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), why);
  EXPECT_EQ(seen.data[0], -1);
  int32_t rank = 0;
  int64_t shape[64] = {};
  ASSERT_EQ(pellucid_output_shapes(package, &input, 1, &rank, shape, 1), PELLUCID_OK);
  EXPECT_EQ(shape[0], 8) << "shapes need no state";
}

TEST(Instance, OfAPackageWithoutState) {
  Loaded package(sampleModel());
  Instance instance(package);
  Array<float> x = countingArray({9, 64}), y({9, 64}), total({9});
  DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
  ASSERT_EQ(pellucid_instance_run_into(instance, &input, 1, outputs, 2, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  expectSample(x, y.data.data(), total.data.data());
}

// --- prepared calls

TEST(Instance, PreparedCallsShareItsState) {
  Loaded package(countingModel());
  Instance instance(package), other(package);
  Array<float> x({4}, 1), seen({8}), otherSeen({8});
  DLTensor input = x.tensor(), output = seen.tensor(), otherOutput = otherSeen.tensor();
  pellucid_call *calls[3] = {};
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &output, 1, &calls[0]), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &output, 1, &calls[1]), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_call_create(other, &input, 1, &otherOutput, 1, &calls[2]),
            PELLUCID_OK);
  EXPECT_EQ(instance.sums(), firstSums()) << "nothing runs while a call is prepared";
  int count = 0;
  for (int which : {0, 1, 1, 0}) {
    ASSERT_EQ(pellucid_call_run(calls[which], nullptr), PELLUCID_OK) << pellucid_last_error();
    EXPECT_EQ(seen.data, sumsAfter(++count));
  }
  ASSERT_EQ(instance.run(), PELLUCID_OK);
  EXPECT_EQ(instance.seen, sumsAfter(5)) << "other calls go on from there";
  ASSERT_EQ(pellucid_instance_reset(instance), PELLUCID_OK);
  ASSERT_EQ(pellucid_call_run(calls[0], nullptr), PELLUCID_OK);
  EXPECT_EQ(seen.data, sumsAfter(1)) << "a reset counts for prepared calls";
  ASSERT_EQ(pellucid_call_run(calls[2], nullptr), PELLUCID_OK);
  EXPECT_EQ(otherSeen.data, sumsAfter(1));
  for (pellucid_call *call : calls)
    pellucid_call_destroy(call);
}

// --- threads

/// While a call of `instance` runs, everything else of it is refused; `other` is free.
static void expectTaken(Instance &instance, Instance &other, pellucid_call *prepared,
                        const std::string &file) {
  auto refused = [](pellucid_status status) {
    EXPECT_EQ(status, PELLUCID_INVALID_ARGUMENT);
    EXPECT_EQ(pellucid_last_error(), inUse);
  };
  refused(instance.run());
  refused(pellucid_call_run(prepared, nullptr));
  refused(pellucid_instance_reset(instance));
  refused(pellucid_instance_save(instance, file.c_str()));
  refused(pellucid_instance_load(instance, file.c_str()));
  EXPECT_EQ(other.run(), PELLUCID_OK) << pellucid_last_error();
}

TEST(Instance, DoesOneThingAtATime) {
  Loaded package(countingModel(Check::AfterWrites));
  Instance instance(package), other(package);
  Array<float> x({4}, 1), seen({8});
  DLTensor input = x.tensor(), output = seen.tensor();
  struct Watch {
    Instance &instance, &other;
    std::string file;
    pellucid_call *call = nullptr;
    int lines = 0;
  } watch{instance, other, temporaryFolder() + "/taken.safetensors"};
  pellucid_call *prepared = nullptr;
  for (pellucid_call **call : {&watch.call, &prepared})
    ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &output, 1, call), PELLUCID_OK);
  pellucid_run_options options = runOptions(1);
  options.print = [](void *state, const char *) {
    auto *self = static_cast<Watch *>(state);
    if (self->lines++ == 0)
      std::thread([self] {
        expectTaken(self->instance, self->other, self->call, self->file);
      }).join();
  };
  options.print_state = &watch;
  ASSERT_EQ(instance.run(&options), PELLUCID_OK) << pellucid_last_error();
  EXPECT_GT(watch.lines, 0);
  EXPECT_EQ(instance.sums(), sumsAfter(1)) << "what was refused did nothing";
  EXPECT_EQ(other.sums(), sumsAfter(1));
  watch.lines = 0;
  ASSERT_EQ(pellucid_call_run(prepared, &options), PELLUCID_OK) << pellucid_last_error();
  EXPECT_GT(watch.lines, 0);
  EXPECT_EQ(instance.sums(), sumsAfter(2));
  pellucid_call_destroy(watch.call);
  pellucid_call_destroy(prepared);
}

TEST(Instance, EveryCallOfManyThreadsIsDoneOrRefused) {
  Loaded package(countingModel());
  Instance shared(package);
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Instance own(package);
      Array<float> x({64}, 1), seen({8});
      DLTensor input = x.tensor(), output = seen.tensor();
      for (int i = 0; i < 200; ++i) {
        pellucid_status status = pellucid_instance_run_into(shared, &input, 1, &output, 1, nullptr);
        done += status == PELLUCID_OK;
        if (status != PELLUCID_OK)
          EXPECT_EQ(pellucid_last_error(), inUse);
        EXPECT_EQ(own.run(x), PELLUCID_OK) << pellucid_last_error();
      }
      EXPECT_EQ(own.sums(), sumsAfter(200));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GE(done, 1);
  EXPECT_EQ(shared.sums(), sumsAfter(done)) << "neither more calls nor fewer than were done";
}

// --- calls that fail

TEST(Instance, ARefusedCallLeavesTheStateAsItWas) {
  Loaded package(countingModel());
  Instance instance(package);
  Array<float> tooLarge({4097}, 1);
  EXPECT_EQ(instance.run(tooLarge), PELLUCID_INVALID_ARGUMENT);
  int32_t cancel = 1;
  pellucid_run_options options = runOptions();
  options.cancel = &cancel;
  EXPECT_EQ(instance.run(&options), PELLUCID_CANCELLED) << "before the first step";
  EXPECT_EQ(instance.sums(), firstSums());
  EXPECT_EQ(instance.run(), PELLUCID_OK) << pellucid_last_error();
}

TEST(Instance, AFailureBeforeTheFirstWriteLeavesTheStateAsItWas) {
  Loaded package(countingModel(Check::BeforeWrites));
  Instance instance(package);
  Array<float> negative({4}, -1);
  EXPECT_EQ(instance.run(negative), PELLUCID_KERNEL_FAILED);
  EXPECT_EQ(instance.sums(), firstSums());
  ASSERT_EQ(instance.run(), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(instance.seen, sumsAfter(1));
}

TEST(Instance, ALaterFailureLeavesItUnfinished) {
  Loaded package(countingModel(Check::AfterWrites));
  Instance instance(package);
  std::string file = temporaryFolder() + "/before.safetensors";
  ASSERT_EQ(instance.run(), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_save(instance, file.c_str()), PELLUCID_OK) << pellucid_last_error();
  Array<float> negative({4}, -1), x({4}, 1), seen({8});
  DLTensor input = x.tensor(), output = seen.tensor();
  pellucid_call *prepared = nullptr;
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &output, 1, &prepared), PELLUCID_OK);
  for (bool byLoading : {false, true}) {
    EXPECT_EQ(instance.run(negative), PELLUCID_KERNEL_FAILED);
    const std::string why = "the state of the instance is unfinished (the last call ended in the "
                            "middle: kernels.py:12:9: device assertion failed: x >= 0";
    auto refused = [&](pellucid_status status) {
      EXPECT_EQ(status, PELLUCID_INVALID_ARGUMENT);
      EXPECT_EQ(std::string(pellucid_last_error()).substr(0, why.size()), why);
    };
    refused(instance.run());
    refused(pellucid_call_run(prepared, nullptr));
    refused(pellucid_instance_save(instance, file.c_str()));
    EXPECT_EQ(byLoading ? pellucid_instance_load(instance, file.c_str())
                        : pellucid_instance_reset(instance),
              PELLUCID_OK)
        << pellucid_last_error();
    EXPECT_EQ(instance.sums(), sumsAfter(byLoading)) << "the saved file is what it was";
    EXPECT_EQ(instance.run(), PELLUCID_OK) << pellucid_last_error();
  }
  // Of a prepared call too.
  x.data[2] = -1;
  EXPECT_EQ(pellucid_call_run(prepared, nullptr), PELLUCID_KERNEL_FAILED);
  EXPECT_EQ(instance.run(), PELLUCID_INVALID_ARGUMENT);
  pellucid_call_destroy(prepared);
}

TEST(Instance, RestoresItsStateWhereThatIsAskedFor) {
  Loaded package(countingModel(Check::AfterWrites));
  Instance instance(package, true);
  ASSERT_EQ(instance.run(), PELLUCID_OK);
  Array<float> negative({4}, -1), x({4}, 1), seen({8});
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(instance.run(negative), PELLUCID_KERNEL_FAILED);
    EXPECT_EQ(instance.sums(), sumsAfter(round));
    ASSERT_EQ(instance.run(), PELLUCID_OK) << pellucid_last_error();
  }
  // Ended from outside, after the write.
  int32_t cancel = 0;
  pellucid_run_options options = runOptions(1);
  options.print = [](void *state, const char *) { *static_cast<int32_t *>(state) = 1; };
  options.print_state = &cancel;
  options.cancel = &cancel;
  Array<float> many({4096}, 1);
  EXPECT_EQ(instance.run(many, &options), PELLUCID_CANCELLED);
  EXPECT_EQ(instance.sums(), sumsAfter(3));
  DLTensor input = x.tensor(), output = seen.tensor();
  pellucid_call *prepared = nullptr;
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &output, 1, &prepared), PELLUCID_OK);
  x.data[3] = -1;
  EXPECT_EQ(pellucid_call_run(prepared, nullptr), PELLUCID_KERNEL_FAILED);
  EXPECT_EQ(instance.sums(), sumsAfter(3));
  x.data[3] = 1;
  EXPECT_EQ(pellucid_call_run(prepared, nullptr), PELLUCID_OK);
  EXPECT_EQ(seen.data, sumsAfter(4));
  pellucid_call_destroy(prepared);
}

TEST(Instance, GuardedAndProfiledCallsGoOnFromIt) {
  Loaded package(countingModel());
  Instance instance(package);
  pellucid_run_options options = runOptions();
  for (int32_t guard : {PELLUCID_GUARD_END, PELLUCID_GUARD_BEGIN}) {
    options.guard = guard;
    ASSERT_EQ(instance.run(&options), PELLUCID_OK) << pellucid_last_error();
    EXPECT_EQ(instance.seen, sumsAfter(guard));
    EXPECT_EQ(instance.sums(), sumsAfter(guard));
  }
  pellucid_profile *profile = nullptr;
  ASSERT_EQ(pellucid_profile_create(&profile), PELLUCID_OK);
  options = runOptions();
  options.profile = profile;
  ASSERT_EQ(instance.run(&options), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(instance.seen, sumsAfter(3));
  EXPECT_NE(std::string(pellucid_profile_json(profile)).find("\"data\":[8]"), std::string::npos)
      << pellucid_profile_json(profile);
  pellucid_profile_destroy(profile);
}

// --- what is refused

TEST(Instance, TensorsOfACallMustBeApartFromIt) {
  Loaded package(countingModel());
  Instance instance(package), other(package);
  DLTensor view{}, fine{};
  ASSERT_EQ(pellucid_instance_state(instance, 0, &view), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_state(other, 0, &fine), PELLUCID_OK);
  Array<float> x({4}, 1);
  DLTensor input = x.tensor();
  EXPECT_EQ(pellucid_instance_run_into(instance, &view, 1, &fine, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "input 'x': overlaps state 'sums' of the instance");
  EXPECT_EQ(pellucid_instance_run_into(instance, &input, 1, &view, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "output 'seen': overlaps state 'sums' of the instance");
  pellucid_call *call = nullptr;
  EXPECT_EQ(pellucid_instance_call_create(instance, &input, 1, &view, 1, &call),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(instance.sums(), firstSums());
  EXPECT_EQ(pellucid_instance_run_into(instance, &fine, 1, &fine, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_run_into(instance, &input, 1, &fine, 1, nullptr), PELLUCID_OK)
      << "another instance's is as good as any memory";
  EXPECT_EQ(other.sums(), sumsAfter(1));
}

TEST(Instance, OptionsAndNulls) {
  Loaded package(countingModel());
  pellucid_instance_options options{};
  pellucid_instance *made = reinterpret_cast<pellucid_instance *>(1);
  auto refused = [&](const char *why) {
    made = reinterpret_cast<pellucid_instance *>(1);
    EXPECT_EQ(pellucid_instance_create(package, &options, &made), PELLUCID_INVALID_ARGUMENT);
    EXPECT_STREQ(pellucid_last_error(), why);
    EXPECT_EQ(made, nullptr);
  };
  refused("the options' struct_size is 0, must be sizeof the struct");
  options.struct_size = sizeof(options);
  options.device = {kDLCUDA, 0};
  refused("an instance cannot be on cuda:0: the package runs on the CPU");
  options.device = {kDLMetal, 0};
  refused("an instance cannot be on DLPack device type 8:0: the package runs on the CPU");
  EXPECT_EQ(pellucid_instance_create(nullptr, nullptr, &made), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_create(package, nullptr, nullptr), PELLUCID_INVALID_ARGUMENT);
  Instance instance(package);
  Array<float> x({4}, 1);
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *output = nullptr;
  EXPECT_EQ(pellucid_instance_run(nullptr, &input, 1, &output, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the instance is null");
  EXPECT_EQ(pellucid_instance_run(instance, nullptr, 1, &output, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_run_into(nullptr, &input, 1, &input, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_call_create(instance, &input, 1, &input, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  pellucid_call *call = nullptr;
  EXPECT_EQ(pellucid_instance_call_create(nullptr, &input, 1, &input, 1, &call),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_reset(nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_save(instance, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_load(instance, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_load(nullptr, "x"), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_instance_state(instance, 0, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_state_count(nullptr), 0u);
  EXPECT_EQ(pellucid_state_name(nullptr, 0), nullptr);
  pellucid_instance_destroy(nullptr);
}

/// Steps may write to state and to nothing else of the package.
TEST(Instance, ManifestsWithWrongStateAreRefused) {
  auto refused = [](package::Contents contents, const std::string &why) {
    std::vector<uint8_t> bytes;
    package::Status status = package::packageBytes(contents, bytes);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
  };
  package::Contents contents = countingModel();
  contents.manifest.state[1].name = "sums";
  refused(contents, "state 'sums' is there twice");
  contents = countingModel();
  contents.manifest.state[0].bytes = 64;
  refused(contents, "state 'sums' has 64 bytes");
  contents = countingModel();
  contents.manifest.state[0].offset = 128;
  refused(contents, "state 'sums' needs bytes up to 160 of record 'weights/0'");
  contents = countingModel();
  contents.manifest.state.clear();
  refused(contents, "is number 0 of 0");
}

// --- memory

static size_t anonymousBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  size_t kilobytes = 0;
  while (status >> word)
    if (word == "RssAnon:" && status >> kilobytes)
      return kilobytes << 10;
  return 0;
}

TEST(Instance, CostsTheStateAndNothingElse) {
  constexpr size_t weightBytes = size_t(256) << 20, stateBytes = size_t(1) << 20;
  package::Contents contents = countingModel();
  package::Record large = package::ownedRecord("weights/1", std::vector<uint8_t>(weightBytes));
  uint32_t crc = package::crc32(large.data);
  contents.manifest.weights.push_back(
      {"large", DataType::UInt8, {int64_t(weightBytes)}, "weights/1", 0, weightBytes, crc});
  contents.manifest.state.push_back({"more",
                                     DataType::UInt8,
                                     {int64_t(stateBytes)},
                                     "weights/1",
                                     0,
                                     stateBytes,
                                     package::crc32(large.data.first(stateBytes))});
  contents.records.push_back(std::move(large));
  std::string path = temporaryFolder() + "/large.plc";
  ASSERT_TRUE(package::writePackage(contents, path).ok());
  contents = {};
  pellucid_package *package = nullptr;
  ASSERT_EQ(pellucid_load(path.c_str(), &package), PELLUCID_OK) << pellucid_last_error();
  {
    Instance first(package);
    ASSERT_EQ(first.run(), PELLUCID_OK) << pellucid_last_error();
    size_t before = anonymousBytes();
    std::vector<std::unique_ptr<Instance>> many;
    for (int i = 0; i < 64; ++i) {
      many.push_back(std::make_unique<Instance>(package));
      ASSERT_EQ(many.back()->run(), PELLUCID_OK);
    }
    size_t grown = anonymousBytes() - before;
    EXPECT_GE(grown, 60 * stateBytes);
#if defined(__SANITIZE_THREAD__) || (defined(__has_feature) && __has_feature(thread_sanitizer))
    // What it notes of each access is memory, too.
    EXPECT_LE(grown, 400 * stateBytes);
#else
    EXPECT_LE(grown, 80 * stateBytes);
#endif
  }
  pellucid_unload(package);
}
