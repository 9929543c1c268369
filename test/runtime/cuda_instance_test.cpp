// SPDX-License-Identifier: Apache-2.0
/// Instances on CUDA devices, against a driver of our own (fake_cuda.cpp) that does what is queued
/// as late, and in as wrong an order, as it may.
#include "package/Safetensors.h"
#include "runtime/StatePackage.h"

#include <dlfcn.h>

using namespace pellucid;
using namespace pellucid::test;

namespace {

using Address = unsigned long long;

struct FakeDriver {
  void *library = dlopen(PELLUCID_FAKE_CUDA, RTLD_NOW);
  template <typename Function> Function *find(const char *name) const {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }
  int count(const char *what) const { return find<int(const char *)>("fakeCudaCount")(what); }
  int deviceOf(const void *data) const {
    return find<int(Address)>("fakeCudaDeviceOf")(reinterpret_cast<Address>(data));
  }
  Address allocate(size_t bytes) const {
    Address address = 0;
    EXPECT_EQ(find<int(Address *, size_t)>("cuMemAlloc_v2")(&address, bytes), 0);
    return address;
  }
  void *stream() const {
    void *made = nullptr;
    EXPECT_EQ(find<int(void **, unsigned)>("cuStreamCreate")(&made, 1), 0);
    return made;
  }
  void synchronize() const { find<int()>("cuCtxSynchronize")(); }
};

/// Before the run time opens the driver: a library of its name is in the process then.
const FakeDriver driver;

/// seen f32[8] = sums += 1, by a kernel that waits itself for what is ahead of it or not.
package::Contents deviceModel(bool dependentLaunch = false) {
  using namespace package;
  Contents contents = countingModel();
  Manifest &m = contents.manifest;
  m.kernels.clear();
  Kernel add;
  add.name = "add";
  add.parameters = packParameters(
      {pointer("data"), scalar("count", DataType::Int32), scalar("amount", DataType::Float32)});
  Executable code;
  code.target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, 80};
  code.format = CodeFormat::Ptx;
  code.record = "code/add.sm_80.ptx";
  code.entry = "add";
  code.dependentLaunch = dependentLaunch;
  add.executables.push_back(code);
  m.kernels.push_back(add);
  Launch launch;
  launch.label = "add_0";
  launch.variants.push_back(
      {{}, 0, {test::code("1")}, {address(PlaceKind::State, 0), value("8"), immediate(1)}});
  Program program;
  program.device = Target::Kind::Cuda;
  program.steps.push_back(std::move(launch));
  program.steps.push_back(
      Copy{{PlaceKind::Output, 0, {}}, {PlaceKind::State, 0, {}}, test::code("32")});
  m.programs = {std::move(program)};
  contents.records.erase(contents.records.begin());
  contents.records.push_back(textRecord("code/add.sm_80.ptx", "fake"));
  return contents;
}

/// The same by a kernel that copies by box, with code for other devices beside it.
package::Contents boxModel() {
  using namespace package;
  Contents contents = deviceModel();
  Kernel &add = contents.manifest.kernels[0];
  add.parameters[0].divisor = 16;
  Executable code = add.executables[0];
  code.target.sm = 90;
  code.format = CodeFormat::GenerationPtx;
  code.entry = "add_by_box";
  code.tensorMaps = {{.parameter = 0, .elementBytes = 4, .swizzleBytes = 32, .dims = {{8, 1, 8}}}};
  add.executables.push_back(code);
  return contents;
}

class CudaInstance : public testing::Test {
protected:
  Loaded package{deviceModel()};
  std::vector<int64_t> four = {4}, eight = {8};

  static void SetUpTestSuite() { ASSERT_NE(driver.library, nullptr) << dlerror(); }

  pellucid_instance *make(int device, bool restores = false) {
    pellucid_instance_options options{};
    options.struct_size = sizeof options;
    options.device = {kDLCUDA, device};
    options.restore_on_failure = restores;
    pellucid_instance *made = nullptr;
    EXPECT_EQ(pellucid_instance_create(package, &options, &made), PELLUCID_OK)
        << pellucid_last_error();
    return made;
  }
  DLTensor tensor(Address data, std::vector<int64_t> &shape, int device) {
    return {reinterpret_cast<void *>(data),
            {kDLCUDA, device},
            1,
            dlpackType<float>(),
            shape.data(),
            nullptr,
            0};
  }
  /// Queues a call on the stream.
  void call(pellucid_instance *instance, Address seen, int device, void *stream) {
    DLTensor input = tensor(x, four, device), output = tensor(seen, eight, device);
    pellucid_run_options options = runOptions();
    options.stream = stream;
    ASSERT_EQ(pellucid_instance_run_into(instance, &input, 1, &output, 1, &options), PELLUCID_OK)
        << pellucid_last_error();
  }
  std::vector<float> read(Address data) {
    driver.synchronize();
    const float *values = reinterpret_cast<float *>(data);
    return {values, values + 8};
  }

  Address x = driver.allocate(16), seen = driver.allocate(32), later = driver.allocate(32);
};

TEST_F(CudaInstance, LaunchesThatWaitThemselvesAreQueuedAhead) {
  for (bool waits : {false, true}) {
    Loaded model{deviceModel(waits)};
    pellucid_instance *instance = nullptr;
    pellucid_instance_options options{};
    options.struct_size = sizeof options;
    options.device = {kDLCUDA, 0};
    ASSERT_EQ(pellucid_instance_create(model, &options, &instance), PELLUCID_OK);
    int before = driver.count("dependentLaunches");
    call(instance, seen, 0, nullptr);
    EXPECT_EQ(read(seen), sumsAfter(1));
    EXPECT_EQ(driver.count("dependentLaunches") - before, waits ? 1 : 0);
    pellucid_instance_destroy(instance);
  }
}

TEST_F(CudaInstance, TensorsAreDescribedToTheDeviceForEachLaunch) {
  Loaded model{boxModel()};
  pellucid_instance *instance = nullptr;
  pellucid_instance_options options{};
  options.struct_size = sizeof options;
  options.device = {kDLCUDA, 0};
  ASSERT_EQ(pellucid_instance_create(model, &options, &instance), PELLUCID_OK)
      << pellucid_last_error();
  int before = driver.count("tensorMaps");
  call(instance, seen, 0, nullptr);
  call(instance, seen, 0, nullptr);
  EXPECT_EQ(read(seen), sumsAfter(2));
  EXPECT_EQ(driver.count("tensorMaps") - before, 2);
  pellucid_instance_destroy(instance);
}

TEST_F(CudaInstance, TensorsAreRoundedAsTheDeviceCopiesThem) {
  for (bool rounds : {false, true}) {
    package::Contents contents = boxModel();
    contents.manifest.kernels[0].executables.back().tensorMaps[0].roundsToTf32 = rounds;
    Loaded model{std::move(contents)};
    pellucid_instance *instance = nullptr;
    pellucid_instance_options options{};
    options.struct_size = sizeof options;
    options.device = {kDLCUDA, 0};
    ASSERT_EQ(pellucid_instance_create(model, &options, &instance), PELLUCID_OK)
        << pellucid_last_error();
    int before = driver.count("roundedMaps");
    call(instance, seen, 0, nullptr);
    driver.synchronize();
    EXPECT_EQ(driver.count("roundedMaps") - before, rounds ? 1 : 0);
    pellucid_instance_destroy(instance);
  }
}

TEST_F(CudaInstance, CallsOnSeveralStreamsFollowEachOther) {
  pellucid_instance *instance = make(0);
  void *streams[] = {driver.stream(), driver.stream(), driver.stream()};
  std::vector<Address> outputs;
  int calls = 0, launched = driver.count("launches");
  for (int round = 0; round < 3; ++round)
    for (void *stream : streams) {
      outputs.push_back(driver.allocate(32));
      call(instance, outputs.back(), 0, stream);
      ++calls;
    }
  EXPECT_EQ(driver.count("launches"), launched) << "nothing waited";
  for (int i = 0; i < calls; ++i)
    EXPECT_EQ(read(outputs[static_cast<size_t>(i)]), sumsAfter(i + 1)) << i;
  pellucid_instance_destroy(instance);
}

TEST_F(CudaInstance, SaveResetAndLoadWaitForTheCalls) {
  pellucid_instance *instance = make(0);
  std::string path = temporaryFolder() + "/device.safetensors";
  void *stream = driver.stream();
  call(instance, seen, 0, stream);
  call(instance, seen, 0, stream);
  ASSERT_EQ(pellucid_instance_save(instance, path.c_str()), PELLUCID_OK) << pellucid_last_error();
  std::vector<uint8_t> file = readFile(path);
  std::vector<package::TensorEntry> entries;
  ASSERT_TRUE(package::readSafetensors(file, entries).ok());
  for (const package::TensorEntry &entry : entries)
    if (entry.name == "sums") {
      std::vector<float> sums(8);
      std::memcpy(sums.data(), file.data() + entry.offset, 32);
      EXPECT_EQ(sums, sumsAfter(2));
    }
  call(instance, seen, 0, stream);
  ASSERT_EQ(pellucid_instance_reset(instance), PELLUCID_OK);
  call(instance, later, 0, stream);
  EXPECT_EQ(read(later), sumsAfter(1))
      << "the reset comes after the call before it, and before this";
  EXPECT_EQ(read(seen), sumsAfter(3));
  ASSERT_EQ(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK) << pellucid_last_error();
  call(instance, later, 0, driver.stream());
  EXPECT_EQ(read(later), sumsAfter(3));
  pellucid_instance_destroy(instance);
}

TEST_F(CudaInstance, PreparedCallsAreGraphsOverItsState) {
  pellucid_instance *instance = make(0);
  DLTensor input = tensor(x, four, 0), first = tensor(seen, eight, 0),
           second = tensor(later, eight, 0);
  pellucid_call *calls[2] = {};
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &first, 1, &calls[0]), PELLUCID_OK)
      << pellucid_last_error();
  ASSERT_EQ(pellucid_instance_call_create(instance, &input, 1, &second, 1, &calls[1]), PELLUCID_OK);
  int launched = driver.count("graphLaunches");
  auto run = [&](int which, void *stream) {
    pellucid_run_options options = runOptions();
    options.stream = stream;
    ASSERT_EQ(pellucid_call_run(calls[which], &options), PELLUCID_OK) << pellucid_last_error();
  };
  run(0, driver.stream());
  run(1, driver.stream());
  EXPECT_EQ(read(seen), sumsAfter(1));
  EXPECT_EQ(read(later), sumsAfter(2)) << "two graphs on two streams, one state";
  EXPECT_EQ(driver.count("graphLaunches"), launched + 2);
  ASSERT_EQ(pellucid_instance_reset(instance), PELLUCID_OK);
  run(1, driver.stream());
  run(0, nullptr);
  EXPECT_EQ(read(later), sumsAfter(1));
  EXPECT_EQ(read(seen), sumsAfter(2));
  for (pellucid_call *call : calls)
    pellucid_call_destroy(call);
  pellucid_instance_destroy(instance);
}

TEST_F(CudaInstance, LivesOnItsDevice) {
  pellucid_instance *first = make(0), *second = make(1);
  DLTensor here{}, there{};
  ASSERT_EQ(pellucid_instance_state(first, 0, &here), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_state(second, 0, &there), PELLUCID_OK);
  EXPECT_EQ(driver.deviceOf(here.data), 0);
  EXPECT_EQ(driver.deviceOf(there.data), 1);
  EXPECT_EQ(there.device.device_id, 1);
  DLTensor input = tensor(x, four, 0), output = tensor(seen, eight, 0);
  EXPECT_EQ(pellucid_instance_run_into(second, &input, 1, &output, 1, nullptr),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "input 'x': device is cuda:0, must be cuda:1");
  call(second, seen, 1, nullptr);
  EXPECT_EQ(read(seen), sumsAfter(1));
  call(first, seen, 0, nullptr);
  EXPECT_EQ(read(seen), sumsAfter(1)) << "each device's instance has its own";
  pellucid_instance_options options{};
  options.struct_size = sizeof options;
  options.device = {kDLCUDA, 2};
  pellucid_instance *made = nullptr;
  EXPECT_NE(pellucid_instance_create(package, &options, &made), PELLUCID_OK);
  EXPECT_EQ(made, nullptr);
  // Without a wish it is where the package runs.
  ASSERT_EQ(pellucid_instance_create(package, nullptr, &made), PELLUCID_OK);
  ASSERT_EQ(pellucid_instance_state(made, 0, &here), PELLUCID_OK);
  EXPECT_EQ(here.device.device_type, kDLCUDA);
  for (pellucid_instance *instance : {first, second, made})
    pellucid_instance_destroy(instance);
}

TEST_F(CudaInstance, GivesItsMemoryBack) {
  pellucid_instance_destroy(make(0)); // the package's own is there then
  int before = driver.count("blocks");
  std::vector<pellucid_instance *> many;
  for (int i = 0; i < 10; ++i)
    many.push_back(make(0, i % 2 == 1));
  EXPECT_EQ(driver.count("blocks"), before + 10) << "one block each";
  for (pellucid_instance *instance : many)
    pellucid_instance_destroy(instance);
  EXPECT_EQ(driver.count("blocks"), before);
}

TEST_F(CudaInstance, RestoresItsStateInTheStreamsOrder) {
  pellucid_instance *instance = make(0, true);
  call(instance, seen, 0, nullptr);
  int32_t cancel = 0;
  pellucid_run_options options = runOptions();
  options.cancel = &cancel;
  DLTensor input = tensor(x, four, 0), output = tensor(later, eight, 0);
  cancel = 1;
  EXPECT_EQ(pellucid_instance_run_into(instance, &input, 1, &output, 1, &options),
            PELLUCID_CANCELLED);
  call(instance, later, 0, driver.stream());
  EXPECT_EQ(read(later), sumsAfter(2));
  pellucid_instance_destroy(instance);
}

} // namespace
