// SPDX-License-Identifier: Apache-2.0
#include "runtime/CudaExecutor.h"
#include "runtime/StateMemory.h"

namespace pellucid::runtime {

static constexpr unsigned withoutTiming = 2; // CUevent_flags

/// Calls of one instance may come on any streams. An event behind the last of them, for which the
/// next one waits on the device, keeps them in order.
class CudaStateMemory : public StateMemory {
public:
  explicit CudaStateMemory(const CudaResources &r) : driver(r.driver), context(r.context) {}
  ~CudaStateMemory() override {
    cuda::CurrentContext current(driver, context);
    if (last)
      driver.eventDestroy(last);
    if (data)
      driver.memFree(address());
  }

  Result allocate(size_t bytes) {
    cuda::CurrentContext current(driver, context);
    cuda::Address block = 0;
    std::string what = "allocate " + std::to_string(bytes) + " bytes for state on the device";
    if (Result result = driver.check(driver.memAlloc(&block, bytes), what); !result.ok())
      return result;
    data = reinterpret_cast<unsigned char *>(static_cast<uintptr_t>(block));
    return driver.check(driver.eventCreate(&last, withoutTiming), "make an event for state");
  }

  Result write(unsigned char *to, const void *from, size_t bytes) override {
    cuda::CurrentContext current(driver, context);
    if (Result result = wait(); !result.ok())
      return result;
    if (Result result =
            driver.check(driver.memcpyHtoD(address(to), from, bytes), "copy state to the device");
        !result.ok())
      return result;
    // The copy from pageable memory may be under way still, in the default stream's order.
    return record(nullptr);
  }
  Result read(void *to, const unsigned char *from, size_t bytes) override {
    cuda::CurrentContext current(driver, context);
    if (Result result = wait(); !result.ok())
      return result;
    return driver.check(driver.memcpyDtoH(to, address(from), bytes), "copy state from the device");
  }

  Result beginCall(void *stream) override {
    if (!isRecorded)
      return {};
    cuda::CurrentContext current(driver, context);
    cuda::Code code = driver.streamWaitEvent(static_cast<cuda::Stream>(stream), last, 0);
    return code == 0 ? Result() : driver.check(code, "wait for the last call of the instance");
  }
  void endCall(void *stream) override {
    cuda::CurrentContext current(driver, context);
    // Without the event the next call cannot wait for this one, so this thread does.
    if (!record(static_cast<cuda::Stream>(stream)).ok())
      driver.ctxSynchronize();
  }

private:
  const cuda::Driver &driver;
  cuda::Context context;
  cuda::Event last = nullptr;
  bool isRecorded = false;

  static cuda::Address address(const unsigned char *at) { return reinterpret_cast<uintptr_t>(at); }
  cuda::Address address() const { return address(data); }
  Result wait() const {
    return isRecorded ? driver.check(driver.eventSynchronize(last), "wait for the last call")
                      : Result();
  }
  Result record(cuda::Stream stream) {
    cuda::Code code = driver.eventRecord(last, stream);
    isRecorded |= code == 0;
    return code == 0 ? Result() : driver.check(code, "note the end of a call");
  }
};

Result makeCudaState(const CudaResources &resources, size_t bytes,
                     std::unique_ptr<StateMemory> &out) {
  auto memory = std::make_unique<CudaStateMemory>(resources);
  if (Result result = memory->allocate(bytes); !result.ok())
    return result;
  out = std::move(memory);
  return {};
}

} // namespace pellucid::runtime
