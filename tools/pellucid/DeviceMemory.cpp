// SPDX-License-Identifier: Apache-2.0
#include "DeviceMemory.h"

#include "runtime/CudaDriver.h"
#include "support/Diagnostics.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace pellucid::cli {

using namespace runtime;

[[noreturn]] static void failOnDevice(const std::string &message) {
  throw DiagnosticError(SourceLocation("--target cuda"), message);
}

bool isCudaTarget(const std::string &target) {
  return target == "cuda" || target.starts_with("cuda:");
}

std::vector<Target> targetsToRun(const std::string &text) {
  std::vector<Target> targets;
  std::string error;
  if (!parseTargets(text, targets, error))
    throw DiagnosticError(SourceLocation("--target " + text), error);
  // A device runs code of its own generation and of older ones.
  if (isCudaTarget(text))
    targets = {{Target::Kind::Cuda, CpuLevel::X86_64_v3, DeviceMemory().sm() >= 90 ? 90u : 80u}};
  return targets;
}

PrintsOnStandardError::PrintsOnStandardError() {
  std::fflush(stdout);
  standardOutput = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (standardOutput >= 0)
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

PrintsOnStandardError::~PrintsOnStandardError() {
  if (standardOutput < 0)
    return;
  std::fflush(stdout);
  ::dup2(standardOutput, STDOUT_FILENO);
  ::close(standardOutput);
}

DeviceMemory::DeviceMemory() {
  std::string why;
  driver = cuda::Driver::get(why);
  if (!driver)
    failOnDevice(why);
  cuda::Context context = nullptr;
  if (Result result = cuda::openDevice(*driver, 0, context, computeCapability); !result.ok())
    failOnDevice(result.message());
  check(driver->ctxSetCurrent(context), "use the device");
}

DeviceMemory::~DeviceMemory() {
  for (unsigned long long address : addresses)
    driver->memFree(address);
}

void DeviceMemory::check(int code, const char *what) const {
  if (Result result = driver->check(code, what); !result.ok())
    failOnDevice(result.message());
}

void DeviceMemory::upload(const std::vector<Array> &arrays, std::vector<DLTensor> &tensors) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto &bytes = *arrays[i].bytes;
    cuda::Address address = 0;
    check(driver->memAlloc(&address, bytes.empty() ? 1 : bytes.size()),
          "allocate memory for a tensor");
    addresses.push_back(address);
    if (!bytes.empty())
      check(driver->memcpyHtoD(address, bytes.data(), bytes.size()), "copy a tensor to the device");
    tensors[i].data = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
    tensors[i].device = {kDLCUDA, 0};
  }
}

void DeviceMemory::download(std::vector<Array> &arrays) const {
  synchronize();
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i].bytes->empty())
      check(driver->memcpyDtoH(arrays[i].bytes->data(), addresses[i], arrays[i].bytes->size()),
            "copy a tensor from the device");
}

void DeviceMemory::read(void *destination, const void *source, size_t bytes) const {
  check(driver->memcpyDtoH(destination, reinterpret_cast<uintptr_t>(source), bytes),
        "copy a result from the device");
}

void DeviceMemory::synchronize() const { check(driver->ctxSynchronize(), "wait for the device"); }

} // namespace pellucid::cli
