// SPDX-License-Identifier: Apache-2.0
#include "runtime/CpuExecutor.h"

#include "runtime/CpuLaunch.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pellucid::runtime {

static constexpr DLDevice cpuDevice = {kDLCPU, 0};
/// One index of a copy or fill: large enough that pieces are worth handing out.
static constexpr size_t blockBytes = size_t(64) << 10;
static constexpr size_t outputAlignment = 64;

static Result outOfMemory(size_t bytes) {
  return Result::error(PELLUCID_OUT_OF_MEMORY,
                       "cannot allocate " + std::to_string(bytes) +
                           " bytes: the machine or its control group has fewer left");
}

/// Memory from the caller's allocator, held to what runtime.h says of it.
static Result takeFrom(const pellucid_allocator &allocator, size_t bytes, OutputMemory &memory) {
  try {
    memory.data = static_cast<unsigned char *>(
        allocator.allocate(allocator.state, bytes, outputAlignment, cpuDevice));
  } catch (...) {
    return Result::error(PELLUCID_OUT_OF_MEMORY, "the caller's allocator threw an exception");
  }
  if (!memory.data && bytes)
    return Result::error(PELLUCID_OUT_OF_MEMORY, "the caller's allocator gave no memory for " +
                                                     std::to_string(bytes) + " bytes");
  if (reinterpret_cast<uintptr_t>(memory.data) % outputAlignment == 0) {
    memory.state = allocator.state;
    memory.release = allocator.release;
    return {};
  }
  allocator.release(allocator.state, memory.data, bytes, cpuDevice);
  return Result::invalid("the caller's allocator gave memory whose address is no multiple of " +
                         std::to_string(outputAlignment));
}

static void releaseOutput(void *, void *data, size_t bytes, DLDevice) { releaseHost(data, bytes); }

Result CpuExecutor::allocateOutput(size_t bytes, OutputMemory &memory) {
  memory.bytes = bytes;
  memory.device = cpuDevice;
  if (options && options->allocator)
    return takeFrom(*options->allocator, bytes, memory);
  memory.data = static_cast<unsigned char *>(allocateHost(bytes));
  memory.release = releaseOutput;
  return memory.data ? Result() : outOfMemory(bytes);
}

Result CpuExecutor::allocateArena(Frame::Arena &arena, unsigned char *&memory) {
  if (!arena.host.reserve(arena.bytes))
    return outOfMemory(arena.bytes);
  memory = arena.host.data();
  return {};
}

static unsigned threadsOf(const pellucid_run_options *options) {
  return options && options->threads > 0 ? static_cast<unsigned>(options->threads) : 0;
}

Result CpuExecutor::launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                           const unsigned char *arguments) {
  CpuLaunch work(step, prepared, arguments, options, cancellation);
  unsigned threads = prepared.variant->kernel->ordered ? 1 : threadsOf(options);
  if (!CpuPool::shared().run(work, prepared.programs, threads, *prepared.variant->cost))
    return outOfMemory(prepared.variant->executable->scratchBytes);
  return work.result();
}

namespace {
/// A copy or fill, 64 KiB per index.
template <typename Body> class BlockWork : public ParallelWork {
public:
  BlockWork(size_t bytes, Body body) : bytes(bytes), body(body) {}
  uint64_t total() const { return (bytes + blockBytes - 1) / blockBytes; }
  bool enter() override { return true; }
  bool runPiece(uint64_t first, uint64_t last) override {
    size_t begin = first * blockBytes;
    body(begin, std::min<size_t>(bytes, last * blockBytes) - begin);
    return true;
  }

private:
  size_t bytes;
  Body body;
};
} // namespace

Result CpuExecutor::copy(unsigned char *destination, const unsigned char *source, size_t bytes) {
  BlockWork work(bytes,
                 [=](size_t at, size_t size) { std::memcpy(destination + at, source + at, size); });
  CpuPool::shared().run(work, work.total(), threadsOf(options), transferCost);
  return {};
}

static void fillBlock(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
                      size_t bytes) {
  if (patternBytes == 1) {
    std::memset(destination, static_cast<int>(pattern & 0xff), bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += patternBytes)
    std::memcpy(destination + at, &pattern, patternBytes);
}

Result CpuExecutor::fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
                         size_t bytes) {
  BlockWork work(bytes, [=](size_t at, size_t size) {
    fillBlock(destination + at, pattern, patternBytes, size);
  });
  CpuPool::shared().run(work, work.total(), threadsOf(options), transferCost);
  return {};
}

size_t CpuExecutor::mark() {
  using namespace std::chrono;
  marks.push_back(duration<double, std::micro>(steady_clock::now().time_since_epoch()).count());
  return marks.size() - 1;
}

} // namespace pellucid::runtime
