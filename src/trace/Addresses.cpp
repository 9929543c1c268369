// SPDX-License-Identifier: Apache-2.0
#include "trace/Addresses.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace pellucid::trace {

using graph::Device;

namespace {
constexpr auto alignment = std::align_val_t(64);
} // namespace

std::shared_ptr<std::byte> Addresses::allocate(size_t bytes, Device place) const {
  if (place.kind != Device::Kind::Cpu)
    return tracer.devices->memoryOn(bytes, place);
  return {static_cast<std::byte *>(::operator new(std::max<size_t>(bytes, 1), alignment)),
          [](std::byte *data) { ::operator delete(data, alignment); }};
}

void Addresses::copy(std::byte *to, const std::byte *from, size_t bytes, Device place) const {
  if (bytes == 0)
    return;
  if (place.kind == Device::Kind::Cpu)
    std::memcpy(to, from, bytes);
  else
    tracer.devices->copyWithin(to, from, bytes, place);
}

int64_t Addresses::of(const std::shared_ptr<TracedStorage> &storage, size_t bytes, Device place) {
  if (!storage->pinned) {
    auto memory = std::make_shared<PinnedMemory>();
    memory->data = allocate(bytes, place);
    memory->device = place;
    memory->bytes = bytes;
    storage->pinned = std::move(memory);
    pinned.push_back(storage);
  }
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(storage->pinned->data.get()));
}

bool Addresses::any() {
  std::erase_if(pinned, [](const auto &storage) { return storage.expired(); });
  return !pinned.empty();
}

void Addresses::give(const std::function<void(TracedStorage &)> &contents) {
  for (const auto &weak : pinned) {
    std::shared_ptr<TracedStorage> storage = weak.lock();
    if (!storage || storage->pinned->isAhead)
      continue;
    contents(*storage);
    PinnedMemory &memory = *storage->pinned;
    if (!storage->memory || memory.holds == storage->memory)
      continue;
    copy(memory.data.get(),
         partOn(*storage->memory, 0, memory.bytes, memory.device, false, tracer.devices).get(),
         memory.bytes, memory.device);
    memory.holds = storage->memory;
  }
}

void Addresses::take() {
  for (const auto &weak : pinned)
    if (std::shared_ptr<TracedStorage> storage = weak.lock(); storage && !storage->base) {
      storage->pinned->isAhead = true;
      storage->pinned->holds = nullptr;
      storage->memory = nullptr;
      storage->initializer = {};
      ++storage->version;
    }
}

void Addresses::settle(TracedStorage &storage) const {
  if (!storage.pinned || !storage.pinned->isAhead || storage.base)
    return;
  PinnedMemory &memory = *storage.pinned;
  std::shared_ptr<std::byte> data = allocate(memory.bytes, memory.device);
  copy(data.get(), memory.data.get(), memory.bytes, memory.device);
  auto contents = std::make_shared<ConcreteMemory>();
  contents->data = std::move(data);
  contents->device = memory.device;
  contents->bytes = memory.bytes;
  storage.memory = contents;
  memory.holds = contents;
  memory.isAhead = false;
}

const std::byte *Addresses::addressOf(const ConcreteMemory &memory, Device place) const {
  for (const auto &weak : pinned)
    if (std::shared_ptr<TracedStorage> storage = weak.lock();
        storage && storage->pinned->holds.get() == &memory && storage->pinned->device == place)
      return storage->pinned->data.get();
  return nullptr;
}

} // namespace pellucid::trace
