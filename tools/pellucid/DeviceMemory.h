// SPDX-License-Identifier: Apache-2.0
/// Tensors of the command line on a CUDA device: the verbs read and write files, so everything is
/// copied there and back.
#pragma once

#include "ArrayFile.h"
#include "support/Target.h"

#include <pellucid/runtime.h>
#include <string>
#include <vector>

namespace pellucid::runtime::cuda {
struct Driver;
} // namespace pellucid::runtime::cuda

namespace pellucid::cli {

/// Whether `--target` asks for a CUDA device.
bool isCudaTarget(const std::string &target);

/// The targets to compile for so that `--target TEXT` can run here; for a CUDA device, asked for by
/// any of its names, code of its own generation. Throws DiagnosticError for a wrong name and where
/// there is no device.
std::vector<Target> targetsToRun(const std::string &text);

/// What kernels print the driver writes to standard output, where a verb's own results go: while
/// this lives it comes out on standard error, as on the CPU.
class PrintsOnStandardError {
public:
  PrintsOnStandardError();
  ~PrintsOnStandardError();
  PrintsOnStandardError(const PrintsOnStandardError &) = delete;
  PrintsOnStandardError &operator=(const PrintsOnStandardError &) = delete;

private:
  int standardOutput;
};

/// Memory on the first CUDA device that lives as long as this object.
class DeviceMemory {
public:
  /// Throws DiagnosticError where there is no device.
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// Copies the whole storage of each array and points the tensor over it there.
  void upload(const std::vector<Array> &arrays, std::vector<DLTensor> &tensors);
  /// Copies the storages back into the arrays, after all queued work.
  void download(std::vector<Array> &arrays) const;
  /// Copies `bytes` from the device.
  void read(void *destination, const void *source, size_t bytes) const;
  void synchronize() const;
  /// 90 for a device of compute capability 9.0.
  unsigned sm() const { return computeCapability; }

private:
  PrintsOnStandardError prints;
  const runtime::cuda::Driver *driver = nullptr;
  unsigned computeCapability = 0;
  std::vector<unsigned long long> addresses;

  void check(int code, const char *what) const;
};

} // namespace pellucid::cli
