// SPDX-License-Identifier: Apache-2.0
/// Calls on a real CUDA device; skipped where there is none.
#include "package/Crc32.h"
#include "package/PackageWriter.h"
#include "package/SamplePackage.h"
#include "runtime/LoadedPackage.h"
#include "runtime/Profile.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <thread>

using namespace pellucid;
using namespace pellucid::runtime;
using namespace pellucid::test;
using package::PlaceKind;

// out[i] = in[i] * scale for i < count; Triton's two scratch pointers come last.
static const char *const scalePtx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 count, .param .f32 scale,
                      .param .u64 globalScratch, .param .u64 profileScratch)
{
  .reg .pred %p;
  .reg .b32 %i, %t, %n;
  .reg .f32 %v, %s;
  .reg .b64 %in, %out, %offset;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u32 %n, [count];
  ld.param.f32 %s, [scale];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.s32 %i, %i, 128, %t;
  setp.ge.s32 %p, %i, %n;
  @%p bra done;
  mul.wide.s32 %offset, %i, 4;
  add.s64 %in, %in, %offset;
  add.s64 %out, %out, %offset;
  ld.global.f32 %v, [%in];
  mul.f32 %v, %v, %s;
  st.global.f32 [%out], %v;
done:
  ret;
}
)";

/// y = (x * 2) * 3 through a buffer, w = a copy of the weight, f = a fill with an 8-byte pattern.
static package::Contents cudaModel(const std::string &ptx = scalePtx, uint32_t sm = 80,
                                   int64_t mostRows = 1 << 20) {
  package::Manifest m;
  m.name = "cuda_sample";
  m.symbols.push_back({"batch", 1, mostRows, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"x", DataType::Float32, codes({"batch", "64"}), true, {}});
  m.outputs.push_back({"y", DataType::Float32, codes({"batch", "64"})});
  m.outputs.push_back({"w", DataType::Float32, codes({"64"})});
  m.outputs.push_back({"f", DataType::Int64, codes({"batch"})});
  std::vector<float> bias = sampleBias();
  std::vector<uint8_t> bytes(256);
  std::memcpy(bytes.data(), bias.data(), bytes.size());
  m.weights.push_back(
      {"bias", DataType::Float32, {64}, "weights/0", 0, 256, package::crc32(bytes)});
  package::Kernel kernel;
  kernel.name = "scale";
  kernel.parameters =
      packParameters({source("in"), pointer("out"), scalar("count", DataType::Int32),
                      scalar("scale", DataType::Float32)});
  package::Executable executable;
  executable.target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, sm};
  executable.format = package::CodeFormat::Ptx;
  executable.record = "code/scale.sm_80.ptx";
  executable.entry = "scale";
  kernel.executables.push_back(executable);
  m.kernels.push_back(kernel);
  package::Program program;
  program.device = Target::Kind::Cuda;
  program.buffers.push_back(
      {"hidden", DataType::Float32, codes({"batch", "64"}), code("batch*256"), 0});
  program.slots = 1;
  auto launch = [](std::string label, package::Argument in, package::Argument out, float scale) {
    package::Launch step;
    step.label = std::move(label);
    step.variants.push_back(
        {{}, 0, {code("CeilDiv(batch*64, 128)")}, {in, out, value("batch*64"), immediate(scale)}});
    step.bytes = code("batch*512");
    return step;
  };
  program.steps.push_back(
      launch("scale_0", address(PlaceKind::Input, 0), address(PlaceKind::Buffer, 0), 2));
  program.steps.push_back(
      launch("scale_1", address(PlaceKind::Buffer, 0), address(PlaceKind::Output, 0), 3));
  program.steps.push_back(
      package::Copy{{PlaceKind::Output, 1, {}}, {PlaceKind::Weight, 0, {}}, code("256")});
  program.steps.push_back(
      package::Fill{{PlaceKind::Output, 2, {}}, 0x1122334455667788, 8, code("batch*8")});
  m.programs.push_back(std::move(program));
  package::Contents contents;
  contents.manifest = std::move(m);
  contents.records.push_back(package::textRecord("code/scale.sm_80.ptx", ptx));
  contents.records.push_back(package::ownedRecord("weights/0", std::move(bytes)));
  return contents;
}

class CudaDevice : public testing::Test {
protected:
  const cuda::Driver *driver = nullptr;
  cuda::Context context = nullptr;
  std::vector<uint8_t> bytes;
  std::unique_ptr<LoadedPackage> package;

  void SetUp() override {
    std::string why;
    driver = cuda::Driver::get(why);
    uint32_t sm = 0;
    if (!driver || !cuda::openDevice(*driver, 0, context, sm).ok())
      GTEST_SKIP() << "no CUDA device: " << why;
    driver->ctxSetCurrent(context);
  }
  void load(const package::Contents &contents) {
    package::Status status = package::packageBytes(contents, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    Result result = LoadedPackage::loadMemory(bytes, {}, package);
    ASSERT_TRUE(result.ok()) << result.message();
  }
  cuda::Address upload(const std::vector<float> &data) {
    cuda::Address address = 0;
    EXPECT_EQ(driver->memAlloc(&address, data.size() * sizeof(float)), 0);
    EXPECT_EQ(driver->memcpyHtoD(address, data.data(), data.size() * sizeof(float)), 0);
    return address;
  }
  template <typename T> std::vector<T> download(const void *data, size_t count) {
    std::vector<T> host(count);
    EXPECT_EQ(driver->memcpyDtoH(host.data(), reinterpret_cast<uintptr_t>(data), count * sizeof(T)),
              0);
    return host;
  }
};

static std::vector<float> numbers(size_t count) {
  std::vector<float> list(count);
  for (size_t i = 0; i < count; ++i)
    list[i] = 0.5f * static_cast<float>(i % 1001);
  return list;
}

static DLTensor onDevice(cuda::Address address, int64_t *shape, int32_t rank) {
  return {reinterpret_cast<void *>(static_cast<uintptr_t>(address)),
          {kDLCUDA, 0},
          rank,
          {kDLFloat, 32, 1},
          shape,
          nullptr,
          0};
}

TEST_F(CudaDevice, RunsLaunchesCopiesAndFills) {
  load(cudaModel());
  for (int64_t batch : {1, 7, 1000}) {
    std::vector<float> x = numbers(static_cast<size_t>(batch) * 64);
    int64_t shape[2] = {batch, 64};
    DLTensor input = onDevice(upload(x), shape, 2);
    DLManagedTensorVersioned *outputs[3];
    Result result = package->run({&input, 1}, outputs);
    ASSERT_TRUE(result.ok()) << result.message();
    EXPECT_EQ(outputs[0]->dl_tensor.device.device_type, kDLCUDA);
    std::vector<float> y = download<float>(outputs[0]->dl_tensor.data, x.size());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i] * 6) << i;
    EXPECT_EQ(download<float>(outputs[1]->dl_tensor.data, 64), sampleBias());
    EXPECT_EQ(download<int64_t>(outputs[2]->dl_tensor.data, static_cast<size_t>(batch)),
              std::vector<int64_t>(static_cast<size_t>(batch), 0x1122334455667788));
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
    driver->memFree(reinterpret_cast<uintptr_t>(input.data));
  }
}

/// One graph, queued again and again on several streams, reads what is there at each run.
TEST_F(CudaDevice, PreparedCallsAreGraphs) {
  load(cudaModel());
  int64_t shape[2] = {1000, 64}, row[1] = {64}, batch[1] = {1000};
  std::vector<float> x = numbers(64000), empty(64000), fill(2000);
  DLTensor input = onDevice(upload(x), shape, 2);
  DLTensor outputs[] = {onDevice(upload(empty), shape, 2), onDevice(upload(empty), row, 1),
                        onDevice(upload(fill), batch, 1)};
  outputs[2].dtype = {kDLInt, 64, 1};
  std::unique_ptr<PreparedCall> call;
  Result result = package->prepareCall({&input, 1}, outputs, call);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(download<float>(outputs[0].data, 64000), empty);
  cuda::Stream streams[3] = {};
  ASSERT_EQ(driver->streamCreate(&streams[1], 1), 0);
  ASSERT_EQ(driver->streamCreate(&streams[2], 1), 0);
  for (int round = 0; round < 6; ++round) {
    for (float &value : x)
      value += 1;
    driver->memcpyHtoD(reinterpret_cast<uintptr_t>(input.data), x.data(), x.size() * sizeof(float));
    // A copy from pageable memory may still be under way, and streams of their own do not wait for
    // it.
    driver->ctxSynchronize();
    pellucid_run_options options{};
    options.struct_size = sizeof(options);
    options.stream = streams[round % 3];
    result = call->run(options);
    ASSERT_TRUE(result.ok()) << result.message();
    driver->ctxSynchronize();
    std::vector<float> y = download<float>(outputs[0].data, x.size());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i] * 6) << i;
    EXPECT_EQ(download<float>(outputs[1].data, 64), sampleBias());
    EXPECT_EQ(download<int64_t>(outputs[2].data, 1000),
              std::vector<int64_t>(1000, 0x1122334455667788));
  }
  pellucid_run_options options{};
  options.struct_size = sizeof(options);
  options.timeout_ms = 5;
  EXPECT_EQ(call->run(options).code(), PELLUCID_INVALID_ARGUMENT);
  call.reset();
  driver->streamDestroy(streams[1]);
  driver->streamDestroy(streams[2]);
}

TEST_F(CudaDevice, HostTensorsAreRefusedByName) {
  load(cudaModel());
  std::vector<float> x(64);
  int64_t shape[2] = {1, 64};
  DLTensor input = {x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLManagedTensorVersioned *outputs[3];
  Result result = package->run({&input, 1}, outputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.message(), "input 'x': device is cpu, must be cuda");
  input.device = {kDLCUDA, 99};
  result = package->run({&input, 1}, outputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), PELLUCID_DEVICE_ERROR);
  EXPECT_NE(result.message().find("cuda:99"), std::string::npos) << result.message();
}

TEST_F(CudaDevice, WrongPtxBringsTheTranslatorsLog) {
  std::string ptx = scalePtx;
  ptx.replace(ptx.find("mul.f32"), 7, "mul.f99");
  load(cudaModel(ptx));
  std::vector<float> x(64);
  int64_t shape[2] = {1, 64};
  DLTensor input = onDevice(upload(x), shape, 2);
  DLManagedTensorVersioned *outputs[3];
  Result result = package->run({&input, 1}, outputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), PELLUCID_DEVICE_ERROR);
  EXPECT_NE(result.message().find("code/scale.sm_80.ptx"), std::string::npos) << result.message();
  EXPECT_NE(result.message().find("ptxas"), std::string::npos) << result.message();
}

TEST_F(CudaDevice, ProfilesWithDeviceTimes) {
  load(cudaModel());
  std::vector<float> x = numbers(64 * 4096);
  int64_t shape[2] = {4096, 64};
  DLTensor input = onDevice(upload(x), shape, 2);
  Profile profile;
  pellucid_run_options options{};
  options.struct_size = sizeof(options);
  options.profile = reinterpret_cast<pellucid_profile *>(&profile);
  DLManagedTensorVersioned *outputs[3];
  Result result = package->run({&input, 1}, outputs, &options);
  ASSERT_TRUE(result.ok()) << result.message();
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
  const std::string &json = profile.json();
  EXPECT_NE(json.find("\"name\":\"scale_0\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"target\":\"cuda:sm_80\",\"grid\":[2048,1,1]"), std::string::npos) << json;
}

TEST_F(CudaDevice, ManyThreads) {
  load(cudaModel());
  std::vector<float> x = numbers(16 * 64);
  int64_t shape[2] = {16, 64};
  DLTensor input = onDevice(upload(x), shape, 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      driver->ctxSetCurrent(context); // for the downloads
      for (int round = 0; round < 100; ++round) {
        DLManagedTensorVersioned *outputs[3];
        Result result = package->run({&input, 1}, outputs);
        ASSERT_TRUE(result.ok()) << result.message();
        std::vector<float> y = download<float>(outputs[0]->dl_tensor.data, x.size());
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(y[i], x[i] * 6) << i;
        for (DLManagedTensorVersioned *output : outputs)
          output->deleter(output);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CudaDevice, MoreThanTheDeviceHasIsRefusedAndTheNextCallRuns) {
  load(cudaModel(scalePtx, 80, int64_t(1) << 40));
  std::vector<float> x = numbers(64);
  cuda::Address data = upload(x);
  int64_t huge[2] = {int64_t(1) << 36, 64}, one[2] = {1, 64};
  DLTensor input = onDevice(data, huge, 2);
  DLManagedTensorVersioned *outputs[3];
  Result result = package->run({&input, 1}, outputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), PELLUCID_OUT_OF_MEMORY) << result.message();
  EXPECT_NE(result.message().find("bytes on the device"), std::string::npos) << result.message();
  for (DLManagedTensorVersioned *output : outputs)
    EXPECT_EQ(output, nullptr);
  input = onDevice(data, one, 2);
  result = package->run({&input, 1}, outputs);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(download<float>(outputs[0]->dl_tensor.data, 64)[5], x[5] * 6);
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
}

TEST_F(CudaDevice, CodeForALaterArchitectureIsRefusedByName) {
  load(cudaModel(scalePtx, 999));
  std::vector<float> x(64);
  int64_t shape[2] = {1, 64};
  DLTensor input = onDevice(upload(x), shape, 2);
  DLManagedTensorVersioned *outputs[3];
  Result result = package->run({&input, 1}, outputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), PELLUCID_UNSUPPORTED) << result.message();
  EXPECT_NE(result.message().find("has no code for cuda:sm_"), std::string::npos)
      << result.message();
  EXPECT_NE(result.message().find("cuda:sm_999"), std::string::npos) << result.message();
}

TEST_F(CudaDevice, OutputsInHostMemoryAreRefusedByName) {
  load(cudaModel());
  std::vector<float> x(64), y(64), w(64), f(2);
  int64_t shape[2] = {1, 64}, wShape[1] = {64}, fShape[1] = {1};
  DLTensor input = onDevice(upload(x), shape, 2);
  DLTensor into[3] = {onDevice(upload(y), shape, 2), onDevice(upload(w), wShape, 1),
                      onDevice(upload(f), fShape, 1)};
  into[2].dtype = {kDLInt, 64, 1};
  into[1].data = w.data();
  into[1].device = {kDLCPU, 0};
  Result result = package->runInto({&input, 1}, into);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("'w': device is cpu, must be cuda"), std::string::npos)
      << result.message();
}

/// Functions of the driver that the run time has no use for.
template <typename Function> static Function *driverFunction(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  return reinterpret_cast<Function *>(dlsym(library, name));
}

static cuda::Stream newStream() {
  constexpr unsigned nonBlocking = 1;
  cuda::Stream stream = nullptr;
  auto *create = driverFunction<cuda::Code(cuda::Stream *, unsigned)>("cuStreamCreate");
  EXPECT_EQ(create(&stream, nonBlocking), 0);
  return stream;
}
static cuda::Code synchronize(cuda::Stream stream) {
  return driverFunction<cuda::Code(cuda::Stream)>("cuStreamSynchronize")(stream);
}
/// 0 when all of the stream's work is done.
static cuda::Code query(cuda::Stream stream) {
  return driverFunction<cuda::Code(cuda::Stream)>("cuStreamQuery")(stream);
}

static pellucid_run_options onStream(cuda::Stream stream) {
  pellucid_run_options options{};
  options.struct_size = sizeof(options);
  options.stream = stream;
  return options;
}

/// What is queued on the caller's stream runs behind the caller's work there, and nowhere else.
TEST_F(CudaDevice, CallsGoToTheCallersStream) {
  load(cudaModel());
  constexpr size_t rows = 1 << 16;
  std::vector<float> x = numbers(rows * 64);
  int64_t shape[2] = {rows, 64}, wShape[1] = {64}, fShape[1] = {rows};
  DLTensor input = onDevice(upload(x), shape, 2);
  std::vector<float> zeros(x.size());
  DLTensor into[3] = {onDevice(upload(zeros), shape, 2), onDevice(upload(zeros), wShape, 1),
                      onDevice(upload(zeros), fShape, 1)};
  into[2].dtype = {kDLInt, 64, 1};
  cuda::Stream stream = newStream();
  pellucid_run_options options = onStream(stream);
  ASSERT_TRUE(package->runInto({&input, 1}, into, &options).ok());
  ASSERT_EQ(synchronize(stream), 0);
  constexpr size_t bytes = size_t(4) << 30;
  cuda::Address large = 0;
  ASSERT_EQ(driver->memAlloc(&large, bytes), 0);
  ASSERT_EQ(driver->memsetD32Async(reinterpret_cast<uintptr_t>(into[0].data), 0, x.size(), stream),
            0);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(driver->memsetD8Async(large, 1, bytes, stream), 0);
  ASSERT_TRUE(package->runInto({&input, 1}, into, &options).ok());
  EXPECT_NE(query(stream), 0) << "the call waited for the stream";
  EXPECT_EQ(query(nullptr), 0) << "the call went to the default stream";
  ASSERT_EQ(synchronize(stream), 0);
  std::vector<float> y = download<float>(into[0].data, x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], x[i] * 6) << i;
  driver->memFree(large);
}

/// One package, many threads, a stream each, new outputs and the caller's outputs in turn.
TEST_F(CudaDevice, ManyStreams) {
  load(cudaModel());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      driver->ctxSetCurrent(context); // for the downloads
      std::vector<float> x = numbers(static_cast<size_t>(64 * (100 + t)));
      int64_t shape[2] = {100 + t, 64}, wShape[1] = {64}, fShape[1] = {100 + t};
      DLTensor input = onDevice(upload(x), shape, 2);
      DLTensor into[3] = {onDevice(upload(x), shape, 2), onDevice(upload(x), wShape, 1),
                          onDevice(upload(x), fShape, 1)};
      into[2].dtype = {kDLInt, 64, 1};
      cuda::Stream stream = newStream();
      pellucid_run_options options = onStream(stream);
      for (int round = 0; round < 50; ++round) {
        DLManagedTensorVersioned *outputs[3] = {};
        bool fresh = round % 2 == 0;
        Result result = fresh ? package->run({&input, 1}, outputs, &options)
                              : package->runInto({&input, 1}, into, &options);
        ASSERT_TRUE(result.ok()) << result.message();
        ASSERT_EQ(synchronize(stream), 0);
        void *data = fresh ? outputs[0]->dl_tensor.data : into[0].data;
        std::vector<float> y = download<float>(data, x.size());
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(y[i], x[i] * 6) << i;
        for (DLManagedTensorVersioned *output : outputs)
          if (output)
            output->deleter(output);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// The host's part of a call, in bursts short enough for the device's queue.
TEST_F(CudaDevice, HostTimeOfACall) {
  load(cudaModel());
  std::vector<float> x = numbers(16 * 64), w(64), f(32);
  int64_t shape[2] = {16, 64}, wShape[1] = {64}, fShape[1] = {16};
  DLTensor input = onDevice(upload(x), shape, 2);
  DLTensor into[3] = {onDevice(upload(x), shape, 2), onDevice(upload(w), wShape, 1),
                      onDevice(upload(f), fShape, 1)};
  into[2].dtype = {kDLInt, 64, 1};
  auto bestOf = [&](auto call) {
    double best = 1e9;
    for (int burst = 0; burst < 50; ++burst) {
      auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 50; ++i)
        call();
      std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
      best = std::min(best, took.count() / 50);
      driver->ctxSynchronize();
    }
    return best;
  };
  double runInto = bestOf([&] { ASSERT_TRUE(package->runInto({&input, 1}, into).ok()); });
  double run = bestOf([&] {
    DLManagedTensorVersioned *outputs[3];
    ASSERT_TRUE(package->run({&input, 1}, outputs).ok());
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
  });
  RecordProperty("run_into_microseconds", std::to_string(runInto));
  RecordProperty("run_microseconds", std::to_string(run));
  std::printf("host time of 2 launches, 1 copy, 1 fill: %.2f us into 3 tensors, %.2f us with 3 new "
              "outputs\n",
              runInto, run);
  EXPECT_LT(runInto, 1000);
}

/// Runs last: a kernel that fails takes the context of the process with it.
TEST(CudaFailure, ALaunchThatFailsIsAStatusOfTheNextCall) {
  std::string why;
  const cuda::Driver *driver = cuda::Driver::get(why);
  cuda::Context context = nullptr;
  uint32_t sm = 0;
  if (!driver || !cuda::openDevice(*driver, 0, context, sm).ok())
    GTEST_SKIP() << "no CUDA device: " << why;
  driver->ctxSetCurrent(context);
  std::string ptx = scalePtx;
  ptx.replace(ptx.find("  mul.f32 %v, %v, %s;"), 21, "  trap;");
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(package::packageBytes(cudaModel(ptx), bytes).ok());
  std::unique_ptr<LoadedPackage> loaded;
  ASSERT_TRUE(LoadedPackage::loadMemory(bytes, {}, loaded).ok());
  cuda::Address address = 0;
  ASSERT_EQ(driver->memAlloc(&address, 256), 0);
  int64_t shape[2] = {1, 64};
  DLTensor input = onDevice(address, shape, 2);
  DLManagedTensorVersioned *outputs[3] = {};
  Result first = loaded->run({&input, 1}, outputs); // queued: may be well
  EXPECT_NE(driver->ctxSynchronize(), 0);
  for (DLManagedTensorVersioned *output : outputs)
    if (first.ok() && output)
      output->deleter(output);
  Result next = loaded->run({&input, 1}, outputs);
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.code(), PELLUCID_DEVICE_ERROR) << next.message();
  EXPECT_NE(next.message().find("CUDA error"), std::string::npos) << next.message();
}
