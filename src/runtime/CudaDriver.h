// SPDX-License-Identifier: Apache-2.0
/// The CUDA driver, opened at run time. The declarations are our own: no CUDA header is needed to
/// build.
#pragma once

#include "runtime/Result.h"

#include <cstdint>

namespace pellucid::runtime::cuda {

using Code = int; ///< CUresult; 0 is success
using Device = int;
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using MemoryPool = struct MemoryPoolObject *;
using Graph = struct GraphObject *;
using GraphExec = struct GraphExecObject *;
using Address = unsigned long long;

/// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id = 0;
  alignas(8) unsigned char value[64] = {};
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
/// CUtensorMap.
struct alignas(64) TensorMap {
  uint64_t words[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

/// X(member, exported name, parameters). The names carry the suffix of the current ABI of each
/// function.
#define PELLUCID_CUDA_FUNCTIONS(X)                                                                 \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorString, "cuGetErrorString", (Code code, const char **text))                            \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (Device * device, int ordinal))                                      \
  X(deviceGetName, "cuDeviceGetName", (char *name, int bytes, Device device))                      \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *bytes, Device device))                         \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, Device device))        \
  X(devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context * context, Device device))        \
  X(ctxGetCurrent, "cuCtxGetCurrent", (Context * context))                                         \
  X(ctxSetCurrent, "cuCtxSetCurrent", (Context context))                                           \
  X(ctxSynchronize, "cuCtxSynchronize", ())                                                        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (Module * module, const void *image, unsigned count, int *options, void **values))             \
  X(moduleUnload, "cuModuleUnload", (Module module))                                               \
  X(moduleGetFunction, "cuModuleGetFunction",                                                      \
    (Function * function, Module module, const char *name))                                        \
  X(funcSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))         \
  X(launchKernel, "cuLaunchKernel",                                                                \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters,     \
     void **extra))                                                                                \
  X(streamCreate, "cuStreamCreate", (Stream * stream, unsigned flags))                             \
  X(streamDestroy, "cuStreamDestroy_v2", (Stream stream))                                          \
  X(streamWaitEvent, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))            \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (Stream stream, int mode))                      \
  X(streamEndCapture, "cuStreamEndCapture", (Stream stream, Graph * graph))                        \
  X(graphInstantiate, "cuGraphInstantiateWithFlags",                                               \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                     \
  X(graphLaunch, "cuGraphLaunch", (GraphExec exec, Stream stream))                                 \
  X(graphExecDestroy, "cuGraphExecDestroy", (GraphExec exec))                                      \
  X(graphDestroy, "cuGraphDestroy", (Graph graph))                                                 \
  X(memAlloc, "cuMemAlloc_v2", (Address * address, size_t bytes))                                  \
  X(memFree, "cuMemFree_v2", (Address address))                                                    \
  X(memAllocAsync, "cuMemAllocAsync", (Address * address, size_t bytes, Stream stream))            \
  X(memFreeAsync, "cuMemFreeAsync", (Address address, Stream stream))                              \
  X(deviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", (MemoryPool * pool, Device device))      \
  X(memPoolSetAttribute, "cuMemPoolSetAttribute", (MemoryPool pool, int attribute, void *value))   \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (Address destination, const void *source, size_t bytes))        \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *destination, Address source, size_t bytes))              \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                       \
    (void *destination, Address source, size_t bytes, Stream stream))                              \
  X(streamSynchronize, "cuStreamSynchronize", (Stream stream))                                     \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                       \
    (Address destination, Address source, size_t bytes, Stream stream))                            \
  X(memsetD8Async, "cuMemsetD8Async",                                                              \
    (Address destination, unsigned char value, size_t count, Stream stream))                       \
  X(memsetD16Async, "cuMemsetD16Async",                                                            \
    (Address destination, unsigned short value, size_t count, Stream stream))                      \
  X(memsetD32Async, "cuMemsetD32Async",                                                            \
    (Address destination, unsigned value, size_t count, Stream stream))                            \
  X(memsetD2D32Async, "cuMemsetD2D32Async",                                                        \
    (Address destination, size_t pitch, unsigned value, size_t width, size_t height,               \
     Stream stream))                                                                               \
  X(eventCreate, "cuEventCreate", (Event * event, unsigned flags))                                 \
  X(eventRecord, "cuEventRecord", (Event event, Stream stream))                                    \
  X(eventSynchronize, "cuEventSynchronize", (Event event))                                         \
  X(eventElapsedTime, "cuEventElapsedTime", (float *milliseconds, Event begin, Event end))         \
  X(eventDestroy, "cuEventDestroy_v2", (Event event))

/// What a driver may lack; null then.
#define PELLUCID_NEWER_CUDA_FUNCTIONS(X)                                                           \
  X(launchKernelEx, "cuLaunchKernelEx",                                                            \
    (const LaunchConfig *config, Function function, void **parameters, void **extra))              \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (TensorMap * map, int type, unsigned rank, void *address, const uint64_t *sizes,               \
     const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,          \
     int swizzle, int promotion, int fill))

struct Driver {
#define PELLUCID_DECLARE(member, name, parameters) Code(*member) parameters = nullptr;
  PELLUCID_CUDA_FUNCTIONS(PELLUCID_DECLARE)
  PELLUCID_NEWER_CUDA_FUNCTIONS(PELLUCID_DECLARE)
#undef PELLUCID_DECLARE

  /// The driver of this process, opened and initialised at the first call; null with the reason in
  /// `why` when there is none that can be used.
  static const Driver *get(std::string &why);

  /// A status for a failed call: `what` is what was being done.
  Result check(Code code, const std::string &what) const;
};

/// Makes the primary context of a device current for its lifetime. Contexts are retained until the
/// process ends.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, Context context);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;

private:
  const Driver &driver;
  Context before = nullptr;
  bool changed = false;
};

/// The driver can describe tensors to a device (CUDA 12).
bool makesTensorMaps();

/// The primary context and compute capability (90 for 9.0) of device `ordinal`.
Result openDevice(const Driver &driver, int ordinal, Context &context, uint32_t &sm);

/// The driver, its version and its devices as a JSON object, or why there are none.
std::string describeCuda();

} // namespace pellucid::runtime::cuda
