// SPDX-License-Identifier: Apache-2.0
#include "runtime/Instance.h"

#include "package/MappedFile.h"
#include "package/StateFile.h"
#include "runtime/DlpackTypes.h"
#include "runtime/LoadedPackage.h"
#include "support/OutputFile.h"

#include <cstring>

namespace pellucid::runtime {

// Kernels rely on these, as for weights.
static constexpr size_t hostAlignment = 64, deviceAlignment = 256;

namespace {
class HostState : public StateMemory {
public:
  bool allocate(size_t bytes) {
    bool isThere = block.reserve(bytes);
    data = block.data();
    return isThere;
  }
  Result write(unsigned char *to, const void *from, size_t size) override {
    std::memcpy(to, from, size);
    return {};
  }
  Result read(void *to, const unsigned char *from, size_t size) override {
    std::memcpy(to, from, size);
    return {};
  }
  Result beginCall(void *) override { return {}; }
  void endCall(void *) override {}

private:
  HostBlock block;
};
} // namespace

Result makeHostState(size_t bytes, std::unique_ptr<StateMemory> &out) {
  auto memory = std::make_unique<HostState>();
  if (!memory->allocate(bytes))
    return Result::error(PELLUCID_OUT_OF_MEMORY,
                         "cannot allocate " + std::to_string(bytes) +
                             " bytes for the state of an instance: the machine or its control "
                             "group has fewer left");
  out = std::move(memory);
  return {};
}

Result Instance::allocate(const CudaResources *cuda, const InstanceOptions &options) {
  where = options.device;
  restores = options.restore;
  size_t alignment = cuda ? deviceAlignment : hostAlignment;
  std::vector<size_t> offsets;
  for (const package::Weight &state : owner.manifest().state) {
    offsets.push_back(bytes);
    if (state.bytes > SIZE_MAX / 4 - bytes)
      return Result::error(PELLUCID_OUT_OF_MEMORY, "the state has more than 2^62 bytes");
    bytes = (bytes + state.bytes + alignment - 1) / alignment * alignment;
  }
  size_t all = std::max(alignment, restores ? 2 * bytes : bytes);
  Result result = cuda ? makeCudaState(*cuda, all, memory) : makeHostState(all, memory);
  for (size_t i = 0; i < offsets.size() && result.ok(); ++i)
    places.push_back(memory->data + offsets[i]);
  return result;
}

Result Instance::write(const std::vector<std::span<const uint8_t>> &sources) {
  isUnfinished = true;
  whyUnfinished = "it could not be written as a whole";
  for (size_t i = 0; i < places.size(); ++i)
    if (!sources[i].empty())
      if (Result result = memory->write(places[i], sources[i].data(), sources[i].size());
          !result.ok())
        return result;
  isUnfinished = false;
  return {};
}

Result Instance::reset() {
  Turn turn(this);
  if (!turn.result().ok())
    return std::move(turn.result());
  std::vector<std::span<const uint8_t>> sources;
  for (const package::Weight &state : owner.manifest().state)
    sources.push_back(owner.packageFile().record(state.record)->subspan(state.offset, state.bytes));
  return write(sources);
}

Result Instance::load(const std::string &path) {
  Turn turn(this);
  if (!turn.result().ok())
    return std::move(turn.result());
  package::Status status;
  std::shared_ptr<const package::MappedFile> file = package::MappedFile::open(path, status);
  if (!file)
    return Result::error(PELLUCID_IO_ERROR, "'" + path + "' cannot be read: " + status.message());
  std::vector<std::span<const uint8_t>> sources;
  if (status = readState(file->bytes(), owner.manifest(), sources); !status.ok())
    return Result::invalid("'" + path + "' cannot be loaded: " + status.message());
  return write(sources);
}

Result Instance::save(const std::string &path) {
  Turn turn(this);
  if (!turn.result().ok())
    return std::move(turn.result());
  if (isUnfinished)
    return refuseUnfinished();
  std::vector<uint32_t> order;
  std::vector<uint8_t> header = package::stateHeader(owner.manifest(), order), staged;
  OutputFile file(path);
  file.append(header.data(), header.size());
  for (uint32_t index : order) {
    size_t size = owner.manifest().state[index].bytes;
    if (where.device_type == kDLCPU) {
      file.append(places[index], size);
      continue;
    }
    staged.resize(size);
    if (Result result = size ? memory->read(staged.data(), places[index], size) : Result();
        !result.ok())
      return result;
    file.append(staged.data(), size);
  }
  return file.commit() ? Result()
                       : Result::error(PELLUCID_IO_ERROR,
                                       "'" + path + "' cannot be written: " + file.error());
}

Result Instance::tensor(size_t index, DLTensor &out) const {
  const std::vector<package::Weight> &state = owner.manifest().state;
  if (index >= state.size())
    return Result::invalid("state number " + std::to_string(index) + " of " +
                           std::to_string(state.size()) + " is asked for");
  out = {};
  out.data = places[index];
  out.device = where;
  out.ndim = static_cast<int32_t>(state[index].shape.size());
  out.dtype = toDlpack(state[index].dtype);
  // DLPack's pointers are not const, but nobody writes through this one.
  out.shape = const_cast<int64_t *>(state[index].shape.data());
  return {};
}

std::string Instance::overlapping(const DLTensor &tensor) const {
  MemoryRange range = memoryRange(tensor), all{memory->data, memory->data + bytes};
  if (range.begin >= range.end || !range.overlaps(all))
    return {};
  for (size_t i = 0; i < places.size(); ++i)
    if (range.overlaps({places[i], places[i] + owner.manifest().state[i].bytes}))
      return owner.manifest().state[i].name;
  return {};
}

Result Executor::beginStateWrites(Instance *instance) {
  return instance ? instance->beginWrites(*this) : Result();
}

Result Instance::beginWrites(Executor &executor) {
  if (restores && bytes)
    if (Result result = executor.copy(memory->data + bytes, memory->data, bytes); !result.ok())
      return result;
  isBeingWritten = true;
  return {};
}

Result Instance::endCall(Executor &executor, Result result) {
  bool wrote = std::exchange(isBeingWritten, false);
  if (result.ok() || !wrote)
    return result;
  if (restores && executor.copy(memory->data, memory->data + bytes, bytes).ok())
    return result;
  isUnfinished = true;
  whyUnfinished = "the last call ended in the middle: " + result.message();
  return result;
}

Result Instance::refuseUnfinished() const {
  return Result::invalid("the state of the instance is unfinished (" + whyUnfinished +
                         "); reset it or load a saved state");
}

Instance::Turn::Turn(Instance *wanted) {
  if (!wanted)
    return;
  if (wanted->isBusy.exchange(true, std::memory_order_acquire))
    refusal = Result::invalid("the instance is in use: calls, loads, saves and resets of one "
                              "instance take turns; make an instance for each thread");
  else
    instance = wanted;
}

Instance::Turn::Turn(Instance *wanted, void *onStream) : Turn(wanted) {
  if (!instance)
    return;
  if (instance->isUnfinished)
    refusal = instance->refuseUnfinished();
  else
    refusal = instance->memory->beginCall(onStream);
  isCall = refusal.ok();
  stream = onStream;
}

Instance::Turn::~Turn() {
  if (!instance)
    return;
  if (isCall)
    instance->memory->endCall(stream);
  instance->isBusy.store(false, std::memory_order_release);
}

} // namespace pellucid::runtime
