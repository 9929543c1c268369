// SPDX-License-Identifier: Apache-2.0
#include "runtime/CudaDriver.h"

#include "package/JsonWriter.h"

#include <algorithm>
#include <dlfcn.h>
#include <mutex>
#include <vector>

namespace pellucid::runtime::cuda {

// CUdevice_attribute, CUmemPool_attribute
static constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76,
                     multiprocessorCount = 16;
static constexpr int poolReleaseThreshold = 4;
static constexpr Code outOfMemory = 2; // of CUresult

namespace {
struct Opened {
  Driver driver;
  std::string why;

  Opened() {
    // RTLD_NODELETE: the driver's own threads outlive any reference of ours.
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
      const char *reason = dlerror();
      why = std::string("no CUDA driver: ") + (reason ? reason : "libcuda.so.1 cannot be opened");
      return;
    }
#define PELLUCID_RESOLVE(member, name, parameters)                                                 \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, name));                 \
  if (!driver.member && why.empty())                                                               \
    why = "the CUDA driver is too old: it has no " name;
    PELLUCID_CUDA_FUNCTIONS(PELLUCID_RESOLVE)
#undef PELLUCID_RESOLVE
#define PELLUCID_RESOLVE(member, name, parameters)                                                 \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, name));
    PELLUCID_NEWER_CUDA_FUNCTIONS(PELLUCID_RESOLVE)
#undef PELLUCID_RESOLVE
    if (why.empty())
      if (Result result = driver.check(driver.init(0), "initialise the CUDA driver"); !result.ok())
        why = result.message();
  }
};
} // namespace

const Driver *Driver::get(std::string &why) {
  static const Opened *opened = new Opened;
  why = opened->why;
  return why.empty() ? &opened->driver : nullptr;
}

bool makesTensorMaps() {
  std::string why;
  const Driver *driver = Driver::get(why);
  return driver && driver->tensorMapEncodeTiled;
}

Result Driver::check(Code code, const std::string &what) const {
  if (code == 0)
    return {};
  const char *text = nullptr;
  if (getErrorString(code, &text) != 0 || !text)
    text = "unknown error";
  return Result::error(code == outOfMemory ? PELLUCID_OUT_OF_MEMORY : PELLUCID_DEVICE_ERROR,
                       "cannot " + what + ": " + text + " (CUDA error " + std::to_string(code) +
                           ")");
}

CurrentContext::CurrentContext(const Driver &d, Context context) : driver(d) {
  driver.ctxGetCurrent(&before);
  changed = before != context;
  if (changed)
    driver.ctxSetCurrent(context);
}

CurrentContext::~CurrentContext() {
  if (changed)
    driver.ctxSetCurrent(before);
}

namespace {
struct RetainedDevice {
  int ordinal;
  Context context;
  uint32_t sm;
};
} // namespace

static Result retainDevice(const Driver &driver, int ordinal, RetainedDevice &out) {
  Device device = 0;
  std::string name = "device cuda:" + std::to_string(ordinal);
  if (Result result = driver.check(driver.deviceGet(&device, ordinal), "find " + name);
      !result.ok())
    return result;
  int major = 0, minor = 0;
  Result result = driver.check(driver.deviceGetAttribute(&major, computeCapabilityMajor, device),
                               "ask " + name);
  if (result.ok())
    result = driver.check(driver.deviceGetAttribute(&minor, computeCapabilityMinor, device),
                          "ask " + name);
  if (result.ok())
    result = driver.check(driver.devicePrimaryCtxRetain(&out.context, device), "open " + name);
  if (!result.ok())
    return result;
  out.ordinal = ordinal;
  out.sm = static_cast<uint32_t>(10 * major + minor);
  // Keep freed memory in the pool: giving it back to the system costs more than a small call.
  MemoryPool pool = nullptr;
  uint64_t unlimited = UINT64_MAX;
  if (driver.deviceGetDefaultMemPool(&pool, device) == 0)
    driver.memPoolSetAttribute(pool, poolReleaseThreshold, &unlimited);
  return {};
}

Result openDevice(const Driver &driver, int ordinal, Context &context, uint32_t &sm) {
  static std::mutex mutex;
  static std::vector<RetainedDevice> *retained = new std::vector<RetainedDevice>;
  std::lock_guard lock(mutex);
  auto known = std::find_if(retained->begin(), retained->end(),
                            [&](auto &d) { return d.ordinal == ordinal; });
  if (known == retained->end()) {
    RetainedDevice device{};
    if (Result result = retainDevice(driver, ordinal, device); !result.ok())
      return result;
    known = retained->insert(retained->end(), device);
  }
  context = known->context;
  sm = known->sm;
  return {};
}

static void describeDevice(package::JsonWriter &json, const Driver &driver, int ordinal) {
  Device device = 0;
  char name[256] = "";
  size_t memory = 0;
  int major = 0, minor = 0, processors = 0;
  driver.deviceGet(&device, ordinal);
  driver.deviceGetName(name, sizeof(name) - 1, device);
  driver.deviceTotalMem(&memory, device);
  driver.deviceGetAttribute(&major, computeCapabilityMajor, device);
  driver.deviceGetAttribute(&minor, computeCapabilityMinor, device);
  driver.deviceGetAttribute(&processors, multiprocessorCount, device);
  json.beginObject()
      .field("name", name)
      .field("sm", 10 * major + minor)
      .field("memory_bytes", memory);
  json.field("multiprocessors", processors).endObject();
}

std::string describeCuda() {
  package::JsonWriter json;
  std::string why;
  const Driver *driver = Driver::get(why);
  json.beginObject().field("available", driver != nullptr);
  if (!driver)
    return json.field("reason", why).endObject().take();
  int version = 0, count = 0;
  driver->driverGetVersion(&version);
  driver->deviceGetCount(&count);
  json.field("driver_version",
             std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  json.key("devices").beginArray();
  for (int ordinal = 0; ordinal < count; ++ordinal)
    describeDevice(json, *driver, ordinal);
  json.endArray().endObject();
  return json.take();
}

} // namespace pellucid::runtime::cuda
