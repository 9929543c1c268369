// SPDX-License-Identifier: Apache-2.0
/// The devices beside the CPU that a script's tensors can lie on, as the recorder sees them.
#pragma once

#include "graph/Types.h"
#include "trace/TuneConfigs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace pellucid::trace {

/// The values of a tensor in memory that nothing writes to any more.
struct ConcreteMemory {
  std::shared_ptr<const std::byte> data; ///< of the first element of a storage
  graph::Device device;                  ///< where it lies
  size_t bytes = 0;                      ///< from `data` on
  /// The same on another device, where a copy is kept.
  mutable std::shared_ptr<const ConcreteMemory> copy;
};

struct TracedStorage;

/// PyTorch's generator of a CUDA device: Philox 4x32-10. Each call draws behind the last one.
struct DeviceGenerator {
  uint64_t seed = 0, offset = 0;
  int index = 0; ///< of the device
  /// The seed as an operand, which segments share.
  std::shared_ptr<TracedStorage> operand = nullptr;
};

class ScriptDevices {
public:
  virtual ~ScriptDevices() = default;

  /// How many CUDA devices a script may use.
  virtual int count() = 0;
  /// Where tensors of `device` lie and are computed: the CPU for one that only stands for it.
  virtual graph::Device placeOf(graph::Device device) const = 0;
  /// Copies of host memory on a device and back, after all that was asked for before. Throw
  /// DiagnosticError with the driver's words.
  virtual std::shared_ptr<const std::byte> toDevice(const std::byte *data, size_t bytes,
                                                    graph::Device device) = 0;
  virtual std::shared_ptr<const std::byte> toHost(const std::byte *data, size_t bytes,
                                                  graph::Device device) = 0;

  /// New memory on a device, and a copy within it behind all that was asked for before.
  virtual std::shared_ptr<std::byte> memoryOn(size_t bytes, graph::Device device) = 0;
  virtual void copyWithin(std::byte *to, const std::byte *from, size_t bytes,
                          graph::Device device) = 0;

  /// How many threads PyTorch draws with at most: those that the device has room for at once.
  virtual uint64_t drawingThreads(graph::Device) { return standInThreads; }
  /// Of a device that stands for the CPU: 108 processors (exec/torch/cuda.py).
  static constexpr uint64_t standInThreads = uint64_t(108) * 2048;
  std::shared_ptr<DeviceGenerator> generatorOf(int index) {
    auto &made = generators[index];
    if (!made)
      made = std::make_shared<DeviceGenerator>(DeviceGenerator{defaultSeed, 0, index});
    return made;
  }
  /// torch.manual_seed: of all devices, also of those that nobody has asked for yet.
  void seedAll(uint64_t seed) {
    defaultSeed = seed;
    for (auto &[index, generator] : generators)
      *generator = {seed, 0, index};
  }

  /// What the call that is being recorded asks for by device=.
  std::optional<graph::Device> asked;
  /// Whether the script has asked for a device beside the CPU.
  bool areUsed = false;
  /// Which config a launch on a GPU takes; empty: the first.
  ConfigChooser chooseConfig;
  int current = 0; ///< what "cuda" without a number is
  /// Where tensors are made of which a script does not say it.
  std::optional<graph::Device> byDefault;

private:
  std::map<int, std::shared_ptr<DeviceGenerator>> generators;
  uint64_t defaultSeed = 0;
};

/// The `bytes` bytes of `memory` from `offset` on as they lie on `device`; they are copied there
/// where they do not. `keeps`: so that they will be found there the next time. `devices` is needed
/// for what is not on the CPU.
std::shared_ptr<const std::byte> partOn(const ConcreteMemory &memory, size_t offset, size_t bytes,
                                        graph::Device device, bool keeps, ScriptDevices *devices);

/// Gives small host memory a copy on `device` that partOn() finds: all of it in one transfer, since
/// each takes the host as long as a launch does.
void copyTogether(const std::vector<const ConcreteMemory *> &memories, graph::Device device,
                  ScriptDevices &devices);

} // namespace pellucid::trace
