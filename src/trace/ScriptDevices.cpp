// SPDX-License-Identifier: Apache-2.0
#include "trace/ScriptDevices.h"

#include <cstring>

namespace pellucid::trace {

using graph::Device;

namespace {

using Data = std::shared_ptr<const std::byte>;

Data at(const Data &data, size_t offset) { return {data, data.get() + offset}; }

Data moved(const Data &data, size_t bytes, Device from, Device to, ScriptDevices &devices) {
  Data onHost = from.kind == Device::Kind::Cpu ? data : devices.toHost(data.get(), bytes, from);
  return to.kind == Device::Kind::Cpu ? onHost : devices.toDevice(onHost.get(), bytes, to);
}

/// Copies of this size are kept in any case: numbers and the like, which come again and again.
constexpr size_t alwaysKept = size_t(64) << 10;

} // namespace

Data partOn(const ConcreteMemory &memory, size_t offset, size_t bytes, Device device, bool keeps,
            ScriptDevices *devices) {
  if (memory.device == device || !devices)
    return at(memory.data, offset);
  if (memory.copy && memory.copy->device == device)
    return at(memory.copy->data, offset);
  if (!keeps && memory.bytes > alwaysKept)
    return moved(at(memory.data, offset), bytes, memory.device, device, *devices);
  auto copy = std::make_shared<ConcreteMemory>();
  copy->data = moved(memory.data, memory.bytes, memory.device, device, *devices);
  copy->device = device;
  copy->bytes = memory.bytes;
  memory.copy = copy;
  return at(copy->data, offset);
}

void copyTogether(const std::vector<const ConcreteMemory *> &memories, Device device,
                  ScriptDevices &devices) {
  // What kernels may take for granted of a tensor's place.
  constexpr size_t alignment = 64;
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const ConcreteMemory *memory : memories) {
    offsets.push_back(bytes);
    bytes += (memory->bytes + alignment - 1) / alignment * alignment;
  }
  std::vector<std::byte> all(bytes);
  for (size_t i = 0; i < memories.size(); ++i)
    std::memcpy(all.data() + offsets[i], memories[i]->data.get(), memories[i]->bytes);
  Data moved = devices.toDevice(all.data(), bytes, device);
  for (size_t i = 0; i < memories.size(); ++i) {
    auto copy = std::make_shared<ConcreteMemory>();
    copy->data = at(moved, offsets[i]);
    copy->device = device;
    copy->bytes = memories[i]->bytes;
    memories[i]->copy = std::move(copy);
  }
}

} // namespace pellucid::trace
