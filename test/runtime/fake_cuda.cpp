// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 of two devices that work on host memory, for tests of what the run time asks of a
// driver. What is queued is done as late as the rules allow, and of several streams the newest
// first: who relies on an order that nothing makes sees it broken. The one kernel is "add": data[i]
// += amount for i < count.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

enum Code { Success = 0, InvalidValue = 1, OutOfMemory = 2, NotSupported = 801, Isolated = 905 };

/// Something queued; done once all of `after` are.
struct Operation {
  std::function<void()> work;
  std::vector<std::shared_ptr<Operation>> after;
  bool done = false;
};
using Queued = std::shared_ptr<Operation>;

struct Stream {
  std::deque<Queued> queue;
  bool captures = false;
  std::vector<std::function<void()>> captured;
};
struct Event {
  Queued last;
};
struct Graph {
  std::vector<std::function<void()>> steps;
};
struct Context {
  int device;
};

std::recursive_mutex mutex;
Context contexts[2] = {{0}, {1}};
Context *current = nullptr;
Stream defaultStream;
std::vector<Stream *> streams = {&defaultStream};
std::map<unsigned long long, std::pair<size_t, int>> blocks; ///< bytes and device, by address
size_t launches = 0, dependentLaunches = 0, graphLaunches = 0, tensorMaps = 0, roundedMaps = 0,
       modules = 0, loads = 0, copiesTo = 0, copiesFrom = 0;
/// Kernels; the second one takes a tensor map as well.
int add, addByBox;
/// Where scripts are looked at any kernel is there and does nothing; memory begins with zeros.
const bool runsNothing = std::getenv("PELLUCID_FAKE_CUDA_RUNS_NOTHING") != nullptr;

/// With everything that must come before it.
void finish(const Queued &operation) {
  if (!operation || operation->done)
    return;
  for (const Queued &before : operation->after)
    finish(before);
  if (operation->work)
    operation->work();
  operation->done = true;
}

void finishAll() {
  for (size_t i = streams.size(); i-- > 0;)
    for (const Queued &operation :
         std::vector<Queued>(streams[i]->queue.begin(), streams[i]->queue.end()))
      finish(operation);
  for (Stream *stream : streams)
    stream->queue.clear();
}

Stream *streamOf(void *handle) { return handle ? static_cast<Stream *>(handle) : &defaultStream; }

int enqueue(void *handle, std::function<void()> work, std::vector<Queued> after = {}) {
  Stream *stream = streamOf(handle);
  if (stream->captures) {
    stream->captured.push_back(std::move(work));
    return Success;
  }
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  operation->after = std::move(after);
  if (!stream->queue.empty())
    operation->after.push_back(stream->queue.back());
  stream->queue.push_back(std::move(operation));
  return Success;
}

void *at(unsigned long long address) { return reinterpret_cast<void *>(address); }

/// Whether the bytes lie in one block of memory.
bool isAllocated(unsigned long long address, size_t bytes) {
  auto block = blocks.upper_bound(address);
  if (block == blocks.begin())
    return false;
  --block;
  return address - block->first <= block->second.first &&
         bytes <= block->second.first - (address - block->first);
}

template <typename T> void fill(unsigned long long address, T value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<T *>(at(address)) + i, &value, sizeof(T));
}

} // namespace

/// Said where a script's process ends.
struct Counts {
  ~Counts() {
    if (const char *file = std::getenv("PELLUCID_FAKE_CUDA_COUNTS"))
      if (std::FILE *out = std::fopen(file, "w")) {
        std::fprintf(out, "loads %zu\nlaunches %zu\ncopies_to %zu\ncopies_from %zu\n", loads,
                     launches, copiesTo, copiesFrom);
        std::fclose(out);
      }
  }
} counts;

#define API extern "C" __attribute__((visibility("default"))) int
#define LOCKED std::lock_guard lock(mutex)

// What tests ask.
API fakeCudaCount(const char *what) {
  LOCKED;
  std::string name = what;
  return static_cast<int>(name == "blocks"              ? blocks.size()
                          : name == "launches"          ? launches
                          : name == "graphLaunches"     ? graphLaunches
                          : name == "dependentLaunches" ? dependentLaunches
                          : name == "tensorMaps"        ? tensorMaps
                          : name == "roundedMaps"       ? roundedMaps
                          : name == "modules"           ? modules
                                                        : 0);
}
API fakeCudaDeviceOf(unsigned long long address) {
  LOCKED;
  auto block = blocks.find(address);
  return block == blocks.end() ? -1 : block->second.second;
}

API cuInit(unsigned) { return Success; }
API cuDriverGetVersion(int *version) { return *version = 12080, Success; }
API cuGetErrorString(int code, const char **text) {
  *text = code == Isolated ? "isolated" : "an error of the fake driver";
  return Success;
}
API cuDeviceGetCount(int *count) { return *count = 2, Success; }
API cuDeviceGet(int *device, int ordinal) {
  return ordinal < 0 || ordinal > 1 ? int(InvalidValue) : (*device = ordinal, int(Success));
}
API cuDeviceGetName(char *name, int, int) { return std::strcpy(name, "fake"), Success; }
API cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = size_t(1) << 30, Success; }
API cuDeviceGetAttribute(int *value, int attribute, int) {
  constexpr int major = 75, minor = 76, mostShared = 97;
  *value = attribute == major ? 9 : attribute == minor ? 0 : attribute == mostShared ? 232448 : 1;
  return Success;
}
API cuDevicePrimaryCtxRetain(Context **context, int device) {
  return *context = &contexts[device], Success;
}
API cuCtxGetCurrent(Context **context) { return *context = current, Success; }
API cuCtxSetCurrent(Context *context) { return current = context, Success; }
API cuCtxSynchronize() {
  LOCKED;
  finishAll();
  return Success;
}

API cuModuleLoadDataEx(void **module, const void *, unsigned, int *, void **) {
  LOCKED;
  static int loaded;
  ++modules;
  ++loads;
  return *module = &loaded, Success;
}
API cuModuleUnload(void *) {
  LOCKED;
  --modules;
  return Success;
}
API cuModuleGetFunction(void **function, void *, const char *name) {
  *function = std::string(name) == "add_by_box" ? &addByBox : &add;
  return runsNothing || std::string(name).starts_with("add") ? int(Success) : int(InvalidValue);
}
/// A map of one dim of f32, which keeps where the tensor begins and its size.
API cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank, void *address,
                           const uint64_t *sizes, const uint64_t *, const unsigned *box,
                           const unsigned *steps, int interleave, int swizzle, int, int fill) {
  LOCKED;
  if (runsNothing)
    return Success;
  constexpr int unsignedInteger = 2, tf32 = 11;
  if ((type != unsignedInteger && type != tf32) || rank != 1 || box[0] != 8 || steps[0] != 1 ||
      interleave || swizzle != 1 || fill)
    return InvalidValue;
  ++tensorMaps;
  roundedMaps += type == tf32;
  map[0] = reinterpret_cast<uintptr_t>(address);
  map[1] = sizes[0];
  return Success;
}
API cuFuncSetAttribute(void *, int, int) { return Success; }
API cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void *stream, void **parameters, void **) {
  LOCKED;
  if (runsNothing)
    return ++launches, int(Success);
  auto data = *static_cast<unsigned long long *>(parameters[0]);
  auto count = *static_cast<int32_t *>(parameters[1]);
  auto amount = *static_cast<float *>(parameters[2]);
  // Behind the two scratch pointers.
  const auto *map = function == &addByBox ? static_cast<const uint64_t *>(parameters[5]) : nullptr;
  if (map && (map[0] != data || map[1] != static_cast<uint64_t>(count)))
    return InvalidValue;
  return enqueue(stream, [=] {
    ++launches;
    if (!isAllocated(data, size_t(count) * sizeof(float)))
      std::abort();
    for (int32_t i = 0; i < count; ++i)
      static_cast<float *>(at(data))[i] += amount;
  });
}

/// CUlaunchConfig with its one attribute, which lets a kernel be queued before what is ahead ends.
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  const int *attribute; ///< its id, a gap of four bytes, its value
  unsigned attributeCount;
};
API cuLaunchKernelEx(const LaunchConfig *config, void *function, void **parameters, void **extra) {
  LOCKED;
  if (config->attributeCount != 1 || config->attribute[0] != 6 || config->attribute[2] != 1)
    return InvalidValue;
  ++dependentLaunches;
  return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                        config->block[0], config->block[1], config->block[2], config->sharedBytes,
                        config->stream, parameters, extra);
}

API cuStreamCreate(Stream **stream, unsigned) {
  LOCKED;
  streams.push_back(*stream = new Stream);
  return Success;
}
API cuStreamDestroy_v2(Stream *stream) {
  LOCKED;
  if (!stream->queue.empty())
    finish(stream->queue.back());
  std::erase(streams, stream);
  delete stream;
  return Success;
}
API cuStreamSynchronize(void *stream) {
  LOCKED;
  if (!streamOf(stream)->queue.empty())
    finish(streamOf(stream)->queue.back());
  return Success;
}
API cuStreamWaitEvent(void *stream, Event *event, unsigned) {
  LOCKED;
  if (streamOf(stream)->captures)
    return Isolated;
  return enqueue(stream, nullptr, {event->last});
}
API cuStreamBeginCapture_v2(Stream *stream, int) { return stream->captures = true, Success; }
API cuStreamEndCapture(Stream *stream, Graph **graph) {
  *graph = new Graph{std::move(stream->captured)};
  stream->captures = false;
  return Success;
}
API cuGraphInstantiateWithFlags(Graph **exec, Graph *graph, unsigned long long) {
  return *exec = new Graph(*graph), Success;
}
API cuGraphLaunch(Graph *exec, void *stream) {
  LOCKED;
  ++graphLaunches;
  for (const auto &step : exec->steps)
    enqueue(stream, step);
  return Success;
}
API cuGraphExecDestroy(Graph *exec) { return delete exec, Success; }
API cuGraphDestroy(Graph *graph) { return delete graph, Success; }

API cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  LOCKED;
  // Beyond this the fake device is full.
  if (bytes > size_t(1) << 28)
    return OutOfMemory;
  void *block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(block, runsNothing ? 0 : 0xff, bytes);
  *address = reinterpret_cast<uintptr_t>(block);
  blocks[*address] = {bytes, current ? current->device : -1};
  return Success;
}
API cuMemFree_v2(unsigned long long address) {
  LOCKED;
  finishAll();
  if (!blocks.erase(address))
    std::abort();
  std::free(at(address));
  return Success;
}
API cuMemAllocAsync(unsigned long long *address, size_t bytes, void *) {
  return cuMemAlloc_v2(address, bytes);
}
API cuMemFreeAsync(unsigned long long address, void *) { return cuMemFree_v2(address); }
API cuDeviceGetDefaultMemPool(void **pool, int) { return *pool = nullptr, InvalidValue; }
API cuMemPoolSetAttribute(void *, int, void *) { return Success; }

/// From pageable memory: staged at once, and copied in the default stream's order.
API cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  LOCKED;
  if (!isAllocated(to, bytes))
    return InvalidValue;
  ++copiesTo;
  std::string staged(static_cast<const char *>(from), bytes);
  return enqueue(nullptr, [=] { std::memcpy(at(to), staged.data(), staged.size()); });
}
API cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  LOCKED;
  if (!isAllocated(from, bytes))
    return InvalidValue;
  ++copiesFrom;
  enqueue(nullptr, [=] { std::memcpy(to, at(from), bytes); });
  return cuStreamSynchronize(nullptr);
}
API cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  LOCKED;
  return enqueue(stream, [=] { std::memcpy(to, at(from), bytes); });
}
API cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                         void *stream) {
  LOCKED;
  return enqueue(stream, [=] {
    if (!isAllocated(to, bytes) || !isAllocated(from, bytes))
      std::abort();
    std::memmove(at(to), at(from), bytes);
  });
}
API cuMemsetD8Async(unsigned long long to, unsigned char value, size_t count, void *stream) {
  LOCKED;
  return enqueue(stream, [=] { fill(to, value, count); });
}
API cuMemsetD16Async(unsigned long long to, unsigned short value, size_t count, void *stream) {
  LOCKED;
  return enqueue(stream, [=] { fill(to, value, count); });
}
API cuMemsetD32Async(unsigned long long to, unsigned value, size_t count, void *stream) {
  LOCKED;
  return enqueue(stream, [=] { fill(to, value, count); });
}
API cuMemsetD2D32Async(unsigned long long, size_t, unsigned, size_t, size_t, void *) {
  return NotSupported;
}

API cuEventCreate(Event **event, unsigned) { return *event = new Event, Success; }
API cuEventRecord(Event *event, void *stream) {
  LOCKED;
  Stream *on = streamOf(stream);
  if (on->captures)
    return Isolated;
  enqueue(stream, nullptr);
  event->last = on->queue.back();
  return Success;
}
API cuEventSynchronize(Event *event) {
  LOCKED;
  finish(event->last);
  return Success;
}
API cuEventElapsedTime(float *milliseconds, Event *, Event *) { return *milliseconds = 0, Success; }
API cuEventDestroy_v2(Event *event) { return delete event, Success; }
