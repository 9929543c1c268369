// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Cancellation.h"
#include "runtime/PrepareLaunch.h"

#include <functional>
#include <optional>

namespace pellucid::runtime {

/// Memory of one output, and how to give it back.
struct OutputMemory {
  unsigned char *data = nullptr;
  size_t bytes = 0;
  DLDevice device{};
  void *state = nullptr;
  void (*release)(void *state, void *data, size_t bytes, DLDevice device) = nullptr;
};

class Instance;

/// Some of a call's steps, to be done now.
using DoSteps = std::function<Result()>;

/// A loop with its places known.
struct LoopSteps {
  /// Moves the windows to a turn.
  std::function<Result(uint64_t turn)> enter;
  std::optional<uint64_t> turns; ///< none: as long as `flag` is not 0 after `condition`
  const unsigned char *flag = nullptr;
  DoSteps condition, body;
  DoSteps settle; ///< after an odd number of turns: results go where they belong
};

/// Does the steps of one call on one device. Used by one thread.
class Executor {
public:
  virtual ~Executor() = default;

  virtual Result allocateOutput(size_t bytes, OutputMemory &memory) = 0;
  /// Memory for the buffers of one stage, valid until finish.
  virtual Result allocateArena(Frame::Arena &arena, unsigned char *&memory) = 0;
  virtual const GridLimits &gridLimits() const = 0;
  /// `arguments` are packed as the variant's parameters say; they are needed during the call only.
  virtual Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                        const unsigned char *arguments) = 0;
  virtual Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) = 0;
  virtual Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
                      size_t bytes) = 0;
  /// The `bytes` bytes at `from`, at most 8, after all that was asked for before it.
  virtual Result read(const unsigned char *from, void *out, size_t bytes) = 0;
  Result readFlag(const unsigned char *flag, bool &out);
  virtual Result branch(const unsigned char *flag, const DoSteps &whenTrue,
                        const DoSteps &whenFalse);
  virtual Result loop(const LoopSteps &steps);
  /// Before the first step that writes to the state of `instance`, which may be null.
  virtual Result beginStateWrites(Instance *instance);
  /// After the last step, also when one failed.
  virtual Result finish() = 0;

  /// A point in the device's time, for the profiler; microseconds of it can be asked for after
  /// finish.
  virtual size_t mark() = 0;
  virtual double microsecondsOf(size_t mark) = 0;

  /// Null: nothing can cancel the call.
  Cancellation *cancellation = nullptr;

protected:
  Result whyCancelled() const {
    return cancellation && cancellation->isRequested() ? cancellation->result() : Result();
  }
};

} // namespace pellucid::runtime
