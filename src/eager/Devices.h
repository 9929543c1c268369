// SPDX-License-Identifier: Apache-2.0
/// The CUDA devices of this machine, for scripts.
#pragma once

#include "eager/DeviceMemory.h"
#include "support/Diagnostics.h"
#include "support/Target.h"
#include "trace/ScriptDevices.h"

#include <pellucid/runtime.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::eager {

/// One device: its context, which lives as long as the process, and its memory.
class CudaDevice {
public:
  virtual ~CudaDevice() = default;

  Target target;
  std::string name;
  size_t totalBytes = 0;
  /// By torch's names: multi_processor_count, warp_size, …
  std::map<std::string, int64_t> properties;

  virtual DeviceMemory &memory() = 0;
  /// For outputs of packages.
  virtual const pellucid_allocator &allocator() const = 0;
  /// Free and total bytes.
  virtual std::pair<size_t, size_t> freeMemory() = 0;
  /// Until all that was queued is done. Throws DiagnosticError with the driver's words.
  virtual void synchronize() = 0;
  virtual void copyTo(void *device, const void *host, size_t bytes) = 0;
  virtual void copyFrom(void *host, const void *device, size_t bytes) = 0;
  /// From memory of the device to memory of it, behind what was queued.
  virtual void copyWithin(void *to, const void *from, size_t bytes) = 0;
  /// Sets every byte, behind what was queued.
  virtual void fill(void *device, unsigned char value, size_t bytes) = 0;

  /// A point in the device's time.
  class Moment {
  public:
    virtual ~Moment() = default;
    virtual bool isReached() = 0;
    /// Waits for both.
    virtual double millisecondsTo(Moment &end) = 0;
    virtual void wait() = 0;
  };
  virtual std::unique_ptr<Moment> mark() = 0;
};

/// Opened when they are first asked for; the driver takes a while to start.
class CudaDevices {
public:
  static CudaDevices &get();
  /// 0 without a driver, or without a device that it can use.
  int count();
  /// Throws DiagnosticError where it cannot be opened.
  CudaDevice &at(int ordinal);

private:
  std::vector<std::unique_ptr<CudaDevice>> opened;
  std::optional<int> known;
};

/// Why there is no memory for `bytes` bytes, in PyTorch's words.
std::string outOfMemory(CudaDevice &device, size_t bytes);

/// What a script sees: the machine's devices, or the CPU under their name.
class SessionDevices : public trace::ScriptDevices {
public:
  /// `isCpu`: what the script calls cuda is the CPU.
  explicit SessionDevices(bool isCpu) : isCpu(isCpu) {}

  int count() override { return isCpu ? 1 : CudaDevices::get().count(); }
  graph::Device placeOf(graph::Device device) const override;
  std::shared_ptr<const std::byte> toDevice(const std::byte *data, size_t bytes,
                                            graph::Device device) override;
  std::shared_ptr<const std::byte> toHost(const std::byte *data, size_t bytes,
                                          graph::Device device) override;
  std::shared_ptr<std::byte> memoryOn(size_t bytes, graph::Device device) override;
  void copyWithin(std::byte *to, const std::byte *from, size_t bytes,
                  graph::Device device) override;
  uint64_t drawingThreads(graph::Device device) override;
  /// Whether there is a GPU that the script's tensors lie on.
  bool areReal() { return !isCpu && count() > 0; }
  /// Gets what goes wrong in a copy, and throws it in its own way.
  std::function<void(const Diagnostic &)> onFailure;

private:
  template <typename Body> void checked(const Body &body) const {
    try {
      body();
    } catch (const DiagnosticError &error) {
      if (onFailure)
        onFailure(error.diagnostic);
      throw;
    }
  }

  bool isCpu;
};

} // namespace pellucid::eager
