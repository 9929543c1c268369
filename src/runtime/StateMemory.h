// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Result.h"

#include <cstddef>
#include <memory>

namespace pellucid::runtime {

/// One block on one device that stays at its address. Used by one thread at a time.
class StateMemory {
public:
  virtual ~StateMemory() = default;
  StateMemory() = default;
  StateMemory(const StateMemory &) = delete;

  unsigned char *data = nullptr;

  // Between the host and the block, behind the calls that are queued.
  virtual Result write(unsigned char *to, const void *from, size_t bytes) = 0;
  virtual Result read(void *to, const unsigned char *from, size_t bytes) = 0;

  /// What is queued on `stream` from here on comes after the calls and writes before.
  virtual Result beginCall(void *stream) = 0;
  /// The call's work is queued.
  virtual void endCall(void *stream) = 0;
};

/// Null memory on failure.
Result makeHostState(size_t bytes, std::unique_ptr<StateMemory> &out);

class CudaResources;
/// `resources` outlives it.
Result makeCudaState(const CudaResources &resources, size_t bytes,
                     std::unique_ptr<StateMemory> &out);

} // namespace pellucid::runtime
