// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Cancellation.h"
#include "runtime/PrepareLaunch.h"

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

/// Does the steps of one call on one device. Used by one thread.
class Executor {
public:
  virtual ~Executor() = default;

  virtual Result allocateOutput(size_t bytes, OutputMemory &memory) = 0;
  /// Memory for the frame's buffers, valid until finish.
  virtual Result allocateArena(Frame &frame, unsigned char *&memory) = 0;
  virtual const GridLimits &gridLimits() const = 0;
  /// `arguments` are packed as the variant's parameters say; they are needed during the call only.
  virtual Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                        const unsigned char *arguments) = 0;
  virtual Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) = 0;
  virtual Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
                      size_t bytes) = 0;
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
};

} // namespace pellucid::runtime
