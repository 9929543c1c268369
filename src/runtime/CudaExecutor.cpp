// SPDX-License-Identifier: Apache-2.0
#include "runtime/CudaExecutor.h"

#include "runtime/TensorMaps.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pellucid::runtime {

using namespace package;

// CUfunction_attribute
static constexpr int maxDynamicShared = 8;
// CUlaunchAttributeID
static constexpr int programmaticStreamSerialization = 6;
/// A launch may use this much shared memory without asking.
static constexpr uint32_t defaultSharedBytes = 48 << 10;
static constexpr size_t weightAlignment = 256;
static constexpr unsigned warpThreads = 32;
static constexpr size_t mostTensorMaps = 16; ///< of a valid manifest

static cuda::Address addressOf(const unsigned char *data) {
  return reinterpret_cast<uintptr_t>(data);
}
static unsigned char *dataAt(cuda::Address address) {
  return reinterpret_cast<unsigned char *>(static_cast<uintptr_t>(address));
}

Result CudaResources::open(int ordinal, std::unique_ptr<CudaResources> &out, uint32_t &sm) {
  std::string why;
  const cuda::Driver *driver = cuda::Driver::get(why);
  if (!driver)
    return Result::error(PELLUCID_UNSUPPORTED, why);
  std::unique_ptr<CudaResources> opened(new CudaResources(*driver, ordinal));
  if (Result result = cuda::openDevice(*driver, ordinal, opened->context, sm); !result.ok())
    return result;
  out = std::move(opened);
  return {};
}

CudaResources::~CudaResources() {
  cuda::CurrentContext current(driver, context);
  if (weightMemory)
    driver.memFree(weightMemory);
  if (zeros)
    driver.memFree(zeros);
}

Result CudaResources::load(const PackageFile &file, ProgramPlan &plan) {
  if (Result result = loadCode(file, plan); !result.ok())
    return result;
  cuda::CurrentContext current(driver, context);
  for (StepPlan &step : plan.steps)
    if (auto *launch = std::get_if<LaunchPlan>(&step))
      for (VariantPlan &variant : launch->variants)
        if (Result result = findEntry(variant); !result.ok())
          return result;
  if (Result result = makeZeros(plan); !result.ok())
    return result;
  return uploadWeights(file, plan);
}

/// What stands for tensors without elements.
Result CudaResources::makeZeros(const ProgramPlan &plan) {
  constexpr size_t bytes = 256;
  bool isNeeded = false;
  for (const StepPlan &step : plan.steps)
    if (const auto *launch = std::get_if<LaunchPlan>(&step))
      for (const VariantPlan &variant : launch->variants)
        isNeeded |= std::ranges::any_of(variant.executable->tensorMaps, cuda::mayBeEmpty);
  if (!isNeeded || zeros)
    return {};
  const char *what = "allocate 256 bytes of zeros on the device";
  if (Result result = driver.check(driver.memAlloc(&zeros, bytes), what); !result.ok())
    return result;
  const unsigned char none[bytes] = {};
  return driver.check(driver.memcpyHtoD(zeros, none, bytes), what);
}

/// The modules of all records that launches name.
Result CudaResources::loadCode(const PackageFile &file, const ProgramPlan &plan) {
  std::vector<WantedModule> wanted;
  for (const StepPlan &step : plan.steps) {
    const auto *launch = std::get_if<LaunchPlan>(&step);
    if (!launch)
      continue;
    for (const VariantPlan &variant : launch->variants) {
      const Executable &executable = *variant.executable;
      if (Result result = checkUsable(variant); !result.ok())
        return result;
      if (!modules.try_emplace(executable.record).second)
        continue;
      std::span<const uint8_t> bytes = *file.record(executable.record);
      wanted.push_back({executable.record,
                        {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
                        executable.sharedBytes,
                        nullptr});
    }
  }
  if (Result result = loadModules(driver, context, wanted); !result.ok())
    return result;
  for (WantedModule &one : wanted)
    modules[one.record] = std::move(one.module);
  return {};
}

Result CudaResources::checkUsable(const VariantPlan &variant) {
  const Executable &executable = *variant.executable;
  std::string kernel = "kernel '" + variant.kernel->name + "'";
  if (executable.numCtas != 1)
    return Result::error(PELLUCID_UNSUPPORTED, kernel + " needs clusters of " +
                                                   std::to_string(executable.numCtas) +
                                                   " blocks, which this run time does not launch");
  if (executable.scratchBytes != 0)
    return Result::error(PELLUCID_UNSUPPORTED,
                         kernel + " needs " + std::to_string(executable.scratchBytes) +
                             " bytes of global scratch, which this run time does not give");
  return {};
}

Result CudaResources::findEntry(VariantPlan &variant) {
  const Executable &executable = *variant.executable;
  std::string kernel = "kernel '" + variant.kernel->name + "'";
  cuda::Function function = nullptr;
  if (Result result =
          driver.check(driver.moduleGetFunction(&function, modules.at(executable.record)->handle,
                                                executable.entry.c_str()),
                       "find entry '" + executable.entry + "' of " + kernel);
      !result.ok())
    return result;
  variant.entry = function;
  if (executable.sharedBytes <= defaultSharedBytes)
    return {};
  return driver.check(
      driver.funcSetAttribute(function, maxDynamicShared, static_cast<int>(executable.sharedBytes)),
      "give " + kernel + " " + std::to_string(executable.sharedBytes) + " bytes of shared memory");
}

Result CudaResources::uploadWeights(const PackageFile &file, const ProgramPlan &plan) {
  const std::vector<Weight> &list = file.manifest().weights;
  size_t total = 0;
  std::vector<size_t> offsets;
  for (size_t i = 0; i < list.size(); ++i) {
    offsets.push_back(total);
    if (plan.usesWeight[i])
      total += (list[i].bytes + weightAlignment - 1) / weightAlignment * weightAlignment;
  }
  if (total == 0) {
    weights.assign(list.size(), nullptr);
    return {};
  }
  std::string what = "upload " + std::to_string(total) + " bytes of weights";
  if (Result result = driver.check(driver.memAlloc(&weightMemory, total), what); !result.ok())
    return result;
  for (size_t i = 0; i < list.size(); ++i) {
    cuda::Address address = weightMemory + offsets[i];
    weights.push_back(plan.usesWeight[i] ? dataAt(address) : nullptr);
    const uint8_t *source = file.record(list[i].record)->data() + list[i].offset;
    if (list[i].bytes == 0 || !plan.usesWeight[i])
      continue;
    if (Result result = driver.check(driver.memcpyHtoD(address, source, list[i].bytes), what);
        !result.ok())
      return result;
  }
  return {};
}

CudaExecutor::CudaExecutor(const CudaResources &r, const pellucid_run_options *o)
    : CudaExecutor(r, o, static_cast<cuda::Stream>(o ? o->stream : nullptr)) {}

CudaExecutor::CudaExecutor(const CudaResources &r, const pellucid_run_options *o, cuda::Stream s)
    : resources(r), driver(r.driver), options(o), stream(s), current(r.driver, r.context) {}

CudaExecutor::~CudaExecutor() {
  for (cuda::Event event : events)
    driver.eventDestroy(event);
}

/// Frees an output in the legacy default stream's order. Work on a stream of the caller's own may
/// still read it, so then everything is waited for first (`state` is not null).
static void releaseDeviceOutput(void *state, void *data, size_t, DLDevice device) {
  std::string why;
  const cuda::Driver *driver = cuda::Driver::get(why);
  cuda::Context context = nullptr;
  uint32_t sm = 0;
  if (!driver || !cuda::openDevice(*driver, device.device_id, context, sm).ok())
    return;
  cuda::CurrentContext current(*driver, context);
  if (state)
    driver->ctxSynchronize();
  driver->memFreeAsync(addressOf(static_cast<unsigned char *>(data)), nullptr);
}

Result CudaExecutor::allocateOutput(size_t bytes, OutputMemory &memory) {
  memory.bytes = std::max<size_t>(1, bytes);
  memory.device = {kDLCUDA, resources.ordinal};
  if (options && options->allocator) {
    const pellucid_allocator &allocator = *options->allocator;
    memory.data = static_cast<unsigned char *>(
        allocator.allocate(allocator.state, bytes, weightAlignment, memory.device));
    memory.state = allocator.state;
    memory.bytes = bytes;
    memory.release = allocator.release;
    if (memory.data || bytes == 0)
      return {};
    return Result::error(PELLUCID_OUT_OF_MEMORY,
                         "the allocator has no " + std::to_string(bytes) + " bytes");
  }
  cuda::Address address = 0;
  Result result = checked(driver.memAllocAsync(&address, memory.bytes, stream), [&] {
    return "allocate " + std::to_string(bytes) + " bytes on the device";
  });
  memory.data = dataAt(address);
  memory.state = stream;
  memory.release = releaseDeviceOutput;
  return result;
}

namespace {
struct CudaBlock : DeviceBlock {
  CudaBlock(const cuda::Driver &d, cuda::Context c) : driver(d), context(c) {}
  ~CudaBlock() override {
    cuda::CurrentContext current(driver, context);
    driver.memFree(addressOf(data));
  }
  const cuda::Driver &driver;
  cuda::Context context;
};
} // namespace

/// In the default stream's order the next call of the frame may overwrite the arena without
/// waiting, so it is kept. A stream of the caller's own may be gone by then: its calls take and
/// give back memory in its order.
Result CudaExecutor::allocateArena(Frame::Arena &arena, unsigned char *&memory) {
  memory = nullptr;
  if (arena.bytes == 0)
    return {};
  auto what = [&] {
    return "allocate " + std::to_string(arena.bytes) + " bytes for buffers on the device";
  };
  cuda::Address address = 0;
  if (stream) {
    Result result = checked(driver.memAllocAsync(&address, arena.bytes, stream), what);
    if (result.ok())
      arenas.push_back(address);
    memory = dataAt(address);
    return result;
  }
  if (!arena.device || arena.device->bytes < arena.bytes) {
    arena.device.reset();
    if (Result result = checked(driver.memAlloc(&address, arena.bytes), what); !result.ok())
      return result;
    arena.device = std::make_unique<CudaBlock>(driver, resources.context);
    arena.device->data = dataAt(address);
    arena.device->bytes = arena.bytes;
  }
  memory = arena.device->data;
  return {};
}

/// A kernel that waits for the launches ahead of it itself is placed before they have ended.
cuda::Code CudaExecutor::queue(const PreparedLaunch &prepared, void **parameters) {
  const Executable &executable = *prepared.variant->executable;
  auto function = static_cast<cuda::Function>(const_cast<void *>(prepared.variant->entry));
  unsigned threads = executable.numWarps * warpThreads;
  if (!executable.dependentLaunch || !driver.launchKernelEx)
    return driver.launchKernel(function, prepared.grid[0], prepared.grid[1], prepared.grid[2],
                               threads, 1, 1, executable.sharedBytes, stream, parameters, nullptr);
  cuda::LaunchAttribute attribute;
  attribute.id = programmaticStreamSerialization;
  attribute.value[0] = 1; // an int
  cuda::LaunchConfig config = {
      prepared.grid[0],       prepared.grid[1], prepared.grid[2], threads, 1, 1,
      executable.sharedBytes, stream,           &attribute,       1};
  return driver.launchKernelEx(&config, function, parameters, nullptr);
}

/// From the packed arguments.
Result CudaExecutor::describeTensors(const LaunchPlan &step, const VariantPlan &variant,
                                     const unsigned char *arguments, cuda::TensorMap *maps) {
  auto valueOf = [&](uint32_t number) {
    const KernelParameter &parameter = *variant.arguments[number].parameter;
    int64_t value = 0;
    int32_t narrow = 0;
    std::memcpy(&value, arguments + parameter.offset, parameter.bytes);
    std::memcpy(&narrow, arguments + parameter.offset, sizeof narrow);
    return parameter.bytes == sizeof value ? value : int64_t(narrow);
  };
  for (const TensorMap &map : variant.executable->tensorMaps)
    if (Result result =
            cuda::encodeTensorMap(driver, map, static_cast<cuda::Address>(valueOf(map.parameter)),
                                  resources.zeros, valueOf, *maps++);
        !result.ok())
      return Result::error(result.code(),
                           "launch '" + step.launch->label + "': " + result.message());
  return {};
}

Result CudaExecutor::launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                            const unsigned char *arguments) {
  // The driver copies each parameter from where its pointer points. Triton's two scratch pointers
  // come last.
  static constexpr size_t maxParameters = 1024;
  const VariantPlan &variant = *prepared.variant;
  if (variant.arguments.size() + 2 + mostTensorMaps > maxParameters)
    return Result::error(PELLUCID_UNSUPPORTED,
                         "launch '" + step.launch->label + "' has too many arguments");
  void *parameters[maxParameters];
  cuda::Address scratch[2] = {0, 0};
  size_t count = 0;
  unsigned char *packed = const_cast<unsigned char *>(arguments);
  for (const ArgumentPlan &argument : variant.arguments)
    parameters[count++] = packed + argument.parameter->offset;
  parameters[count++] = &scratch[0];
  parameters[count++] = &scratch[1];
  cuda::TensorMap maps[mostTensorMaps];
  if (Result result = describeTensors(step, variant, arguments, maps); !result.ok())
    return result;
  for (size_t i = 0; i < variant.executable->tensorMaps.size(); ++i)
    parameters[count++] = &maps[i];
  return checked(queue(prepared, parameters), [&] {
    return "launch '" + step.launch->label + "' (kernel '" + variant.kernel->name + "')";
  });
}

Result CudaExecutor::copy(unsigned char *destination, const unsigned char *source, size_t bytes) {
  return checked(driver.memcpyDtoDAsync(addressOf(destination), addressOf(source), bytes, stream),
                 [&] { return "copy " + std::to_string(bytes) + " bytes on the device"; });
}

Result CudaExecutor::fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
                          size_t bytes) {
  cuda::Address address = addressOf(destination);
  unsigned low = static_cast<unsigned>(pattern), high = static_cast<unsigned>(pattern >> 32);
  size_t count = bytes / patternBytes;
  cuda::Code code = 0;
  if (patternBytes == 1)
    code = driver.memsetD8Async(address, static_cast<unsigned char>(pattern), count, stream);
  else if (patternBytes == 2)
    code = driver.memsetD16Async(address, static_cast<unsigned short>(pattern), count, stream);
  else if (patternBytes == 4)
    code = driver.memsetD32Async(address, low, count, stream);
  else if (low == high)
    code = driver.memsetD32Async(address, low, 2 * count, stream);
  else if ((code = driver.memsetD2D32Async(address, 8, low, 1, count, stream)) == 0)
    code = driver.memsetD2D32Async(address + 4, 8, high, 1, count, stream);
  return checked(code, [&] { return "fill " + std::to_string(bytes) + " bytes on the device"; });
}

/// The only place where a call waits for the device: what comes next hangs on it. The copy is in
/// the stream's order, so it sees what was queued before.
Result CudaExecutor::read(const unsigned char *from, void *out, size_t bytes) {
  auto what = [] { return std::string("read a condition or a size from the device"); };
  if (Result result = checked(driver.memcpyDtoHAsync(out, addressOf(from), bytes, stream), what);
      !result.ok())
    return result;
  return checked(driver.streamSynchronize(stream), what);
}

Result CudaExecutor::wait() {
  return checked(driver.streamSynchronize(stream), [] { return std::string("wait for a call"); });
}

Result CudaExecutor::finish() {
  Result result;
  for (cuda::Address arena : arenas)
    if (Result freed =
            driver.check(driver.memFreeAsync(arena, stream), "free the buffers of a call");
        result.ok())
      result = std::move(freed);
  arenas.clear();
  if (!events.empty() && result.ok())
    result = driver.check(driver.eventSynchronize(events.back()), "wait for the profiled call");
  return result;
}

size_t CudaExecutor::mark() {
  using namespace std::chrono;
  if (events.empty())
    originMicroseconds =
        duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
  cuda::Event event = nullptr;
  if (driver.eventCreate(&event, 0) == 0) {
    driver.eventRecord(event, stream);
    events.push_back(event);
  }
  return events.size() - 1;
}

double CudaExecutor::microsecondsOf(size_t mark) {
  float milliseconds = 0;
  if (mark < events.size())
    driver.eventElapsedTime(&milliseconds, events[0], events[mark]);
  return originMicroseconds + 1000.0 * milliseconds;
}

} // namespace pellucid::runtime
