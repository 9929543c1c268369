// SPDX-License-Identifier: Apache-2.0
#include "eager/Devices.h"

#include "eager/QueuedRuns.h"

#include "runtime/CudaDriver.h"
#include "support/Diagnostics.h"
#include "support/PlainNumbers.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace pellucid::eager {

using graph::Device;
namespace cuda = pellucid::runtime::cuda;

namespace {

constexpr size_t alignment = 256; ///< of every block

void check(const runtime::Result &result) {
  if (!result.ok())
    throw DiagnosticError(SourceLocation("cuda"), result.message());
}

cuda::Address addressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }

class DriverBlocks : public BlockSource {
public:
  DriverBlocks(const cuda::Driver &d, cuda::Context c) : driver(d), context(c) {}
  void *allocate(size_t bytes) override {
    cuda::CurrentContext current(driver, context);
    cuda::Address address = 0;
    if (driver.memAlloc(&address, bytes) != 0)
      return nullptr;
    return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  }
  void release(void *block) override {
    cuda::CurrentContext current(driver, context);
    driver.memFree(addressOf(block));
  }

private:
  const cuda::Driver &driver;
  cuda::Context context;
};

class EventMoment : public CudaDevice::Moment {
public:
  EventMoment(const cuda::Driver &d, cuda::Context c) : driver(d), context(c) {
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.eventCreate(&event, 0), "make an event"));
    if (runtime::Result result =
            driver.check(driver.eventRecord(event, nullptr), "record an event");
        !result.ok()) {
      driver.eventDestroy(event);
      check(result);
    }
  }
  ~EventMoment() override {
    cuda::CurrentContext current(driver, context);
    driver.eventDestroy(event);
  }
  bool isReached() override {
    wait();
    return true;
  }
  void wait() override {
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.eventSynchronize(event), "wait for an event"));
  }
  double millisecondsTo(CudaDevice::Moment &other) override {
    auto &end = static_cast<EventMoment &>(other);
    end.wait();
    wait();
    cuda::CurrentContext current(driver, context);
    float milliseconds = 0;
    check(driver.check(driver.eventElapsedTime(&milliseconds, event, end.event),
                       "take the time between two events"));
    return milliseconds;
  }

private:
  const cuda::Driver &driver;
  cuda::Context context;
  cuda::Event event = nullptr;
};

/// torch's names of what the driver says of a device, with CUdevice_attribute's numbers.
constexpr std::pair<const char *, int> attributes[] = {
    {"major", 75},
    {"minor", 76},
    {"multi_processor_count", 16},
    {"warp_size", 10},
    {"max_threads_per_block", 1},
    {"max_threads_per_multi_processor", 39},
    {"regs_per_multiprocessor", 82},
    {"regs_per_block", 12},
    {"shared_memory_per_block", 8},
    {"shared_memory_per_block_optin", 97},
    {"shared_memory_per_multiprocessor", 81},
    {"L2_cache_size", 38},
    {"clock_rate", 13},
    {"memory_clock_rate", 36},
    {"memory_bus_width", 37},
    {"is_integrated", 18},
};

class OpenDevice : public CudaDevice {
public:
  OpenDevice(const cuda::Driver &d, int ordinal) : driver(d) {
    uint32_t sm = 0;
    check(cuda::openDevice(driver, ordinal, context, sm));
    target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, sm};
    cuda::Device device = 0;
    char text[256] = "";
    driver.deviceGet(&device, ordinal);
    driver.deviceGetName(text, sizeof text - 1, device);
    driver.deviceTotalMem(&totalBytes, device);
    name = text;
    for (const auto &[key, number] : attributes) {
      int value = 0;
      if (driver.deviceGetAttribute(&value, number, device) == 0)
        properties[key] = value;
    }
    // What nobody uses may be half of the device.
    blocks = std::make_unique<DeviceMemory>(std::make_unique<DriverBlocks>(driver, context),
                                            totalBytes / 2);
    functions.state = blocks.get();
    functions.allocate = [](void *state, size_t bytes, size_t, DLDevice) {
      return static_cast<DeviceMemory *>(state)->allocate(bytes);
    };
    functions.release = [](void *state, void *data, size_t, DLDevice) {
      static_cast<DeviceMemory *>(state)->release(data);
    };
  }

  DeviceMemory &memory() override { return *blocks; }
  const pellucid_allocator &allocator() const override { return functions; }
  std::pair<size_t, size_t> freeMemory() override {
    size_t used = blocks->statistics().allocated;
    return {totalBytes - std::min(used, totalBytes), totalBytes};
  }
  void synchronize() override {
    QueuedRuns::get().settle();
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.ctxSynchronize(), "wait for the device"));
  }
  void copyTo(void *device, const void *host, size_t bytes) override {
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.memcpyHtoD(addressOf(device), host, bytes),
                       "copy " + std::to_string(bytes) + " bytes to the device"));
  }
  void copyFrom(void *host, const void *device, size_t bytes) override {
    QueuedRuns::get().settle();
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.memcpyDtoH(host, addressOf(device), bytes),
                       "copy " + std::to_string(bytes) + " bytes from the device"));
  }
  void copyWithin(void *to, const void *from, size_t bytes) override {
    QueuedRuns::get().settle();
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.memcpyDtoDAsync(addressOf(to), addressOf(from), bytes, nullptr),
                       "copy " + std::to_string(bytes) + " bytes of the device"));
  }
  void fill(void *device, unsigned char value, size_t bytes) override {
    QueuedRuns::get().settle();
    cuda::CurrentContext current(driver, context);
    check(driver.check(driver.memsetD8Async(addressOf(device), value, bytes, nullptr),
                       "fill " + std::to_string(bytes) + " bytes of the device"));
  }
  std::unique_ptr<Moment> mark() override {
    QueuedRuns::get().settle();
    return std::make_unique<EventMoment>(driver, context);
  }

private:
  const cuda::Driver &driver;
  cuda::Context context = nullptr;
  std::unique_ptr<DeviceMemory> blocks;
  pellucid_allocator functions{};
};

} // namespace

//===-- the machine's -------------------------------------------------------------------------===//

/// Never destroyed: at the process's end the driver may be gone already.
CudaDevices &CudaDevices::get() {
  static auto *devices = new CudaDevices;
  return *devices;
}

int CudaDevices::count() {
  if (known)
    return *known;
  std::string why;
  const cuda::Driver *driver = cuda::Driver::get(why);
  int number = 0;
  if (!driver || driver->deviceGetCount(&number) != 0)
    number = 0;
  known = number;
  return number;
}

CudaDevice &CudaDevices::at(int ordinal) {
  if (ordinal < 0 || ordinal >= count())
    throw DiagnosticError(SourceLocation("cuda"),
                          "there is no device cuda:" + std::to_string(ordinal));
  opened.resize(std::max(opened.size(), static_cast<size_t>(ordinal) + 1));
  auto &device = opened[static_cast<size_t>(ordinal)];
  std::string why;
  if (!device)
    device = std::make_unique<OpenDevice>(*cuda::Driver::get(why), ordinal);
  return *device;
}

//===-- a script's ----------------------------------------------------------------------------===//

Device SessionDevices::placeOf(Device device) const { return isCpu ? Device() : device; }

uint64_t SessionDevices::drawingThreads(Device device) {
  if (isCpu)
    return standInThreads;
  uint64_t threads = 0;
  checked([&] {
    const auto &has = CudaDevices::get().at(device.index).properties;
    auto number = [&](const char *name) {
      auto found = has.find(name);
      return found == has.end() ? uint64_t(0) : static_cast<uint64_t>(found->second);
    };
    // In blocks of 256.
    threads =
        number("multi_processor_count") * (number("max_threads_per_multi_processor") / 256 * 256);
  });
  return threads ? threads : standInThreads;
}

using Data = std::shared_ptr<const std::byte>;

std::shared_ptr<std::byte> SessionDevices::memoryOn(size_t bytes, Device device) {
  std::shared_ptr<std::byte> made;
  checked([&] {
    CudaDevice &on = CudaDevices::get().at(device.index);
    void *block = on.memory().allocate(bytes);
    if (!block)
      throw DiagnosticError(SourceLocation("cuda"), outOfMemory(on, bytes));
    made = {static_cast<std::byte *>(block), [&on](std::byte *b) { on.memory().release(b); }};
  });
  return made;
}

void SessionDevices::copyWithin(std::byte *to, const std::byte *from, size_t bytes, Device device) {
  checked([&] { CudaDevices::get().at(device.index).copyWithin(to, from, bytes); });
}

Data SessionDevices::toDevice(const std::byte *data, size_t bytes, Device device) {
  std::shared_ptr<std::byte> made = memoryOn(bytes, device);
  if (bytes)
    checked([&] { CudaDevices::get().at(device.index).copyTo(made.get(), data, bytes); });
  return made;
}

Data SessionDevices::toHost(const std::byte *data, size_t bytes, Device device) {
  constexpr auto places = std::align_val_t(alignment);
  std::shared_ptr<std::byte> copy(
      static_cast<std::byte *>(::operator new(std::max<size_t>(bytes, 1), places)),
      [](std::byte *b) { ::operator delete(b, std::align_val_t(alignment)); });
  if (bytes)
    checked([&] { CudaDevices::get().at(device.index).copyFrom(copy.get(), data, bytes); });
  return copy;
}

std::string outOfMemory(CudaDevice &device, size_t bytes) {
  auto size = [](size_t n) {
    PlainNumbers numbers;
    char text[64];
    std::snprintf(text, sizeof text, "%.2f %s",
                  static_cast<double>(n) / (n >> 30 ? 1 << 30 : 1 << 20), n >> 30 ? "GiB" : "MiB");
    return std::string(text);
  };
  DeviceMemory::Statistics counts = device.memory().statistics();
  return "CUDA out of memory. Tried to allocate " + size(bytes) + ". The device has " +
         size(device.totalBytes) + " in all, of which tensors of the script take " +
         size(counts.allocated);
}

} // namespace pellucid::eager
