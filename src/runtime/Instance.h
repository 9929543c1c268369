// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Executor.h"
#include "runtime/StateMemory.h"

#include <atomic>

namespace pellucid::runtime {

class LoadedPackage;

struct InstanceOptions {
  DLDevice device{};
  /// A call that fails leaves the state as it was before.
  bool restore = false;
};

/// The state of one user of a package, on one device. Does one thing at a time: a call, a load, a
/// save or a reset; a second one is refused.
class Instance {
public:
  const LoadedPackage &package() const { return owner; }
  DLDevice device() const { return where; }
  /// By the manifest's state.
  std::span<unsigned char *const> addresses() const { return places; }

  /// To the contents that the package gives.
  Result reset();
  /// All of the file's or nothing.
  Result load(const std::string &path);
  Result save(const std::string &path);
  /// A view of the state's memory.
  Result tensor(size_t index, DLTensor &out) const;
  /// Empty when the tensor lies apart from the state's memory; else which state it overlaps.
  std::string overlapping(const DLTensor &tensor) const;

  /// Before the first step of a call that writes to state; with `restore` keeps a copy.
  Result beginWrites(Executor &executor);
  /// After the last step: `result` is the call's. Restores the state or notes that it is
  /// unfinished.
  Result endCall(Executor &executor, Result result);

  /// The right to use the instance, from its construction to its end. A null instance is free.
  class Turn {
  public:
    /// For a load, save or reset.
    explicit Turn(Instance *instance);
    /// For a call on that stream, which an unfinished state refuses.
    Turn(Instance *instance, void *onStream);
    ~Turn();
    Turn(const Turn &) = delete;
    Result &result() { return refusal; }

  private:
    Instance *instance = nullptr; ///< null: the turn was not given
    void *stream = nullptr;
    bool isCall = false;
    Result refusal;
  };

private:
  friend class LoadedPackage;
  explicit Instance(const LoadedPackage &owner) : owner(owner) {}
  Result allocate(const CudaResources *cuda, const InstanceOptions &options);
  /// Fills the memory; `sources` by the manifest's state.
  Result write(const std::vector<std::span<const uint8_t>> &sources);

  const LoadedPackage &owner;
  DLDevice where{};
  std::unique_ptr<StateMemory> memory; ///< with `restore`, the copy lies behind the state
  std::vector<unsigned char *> places;
  size_t bytes = 0;
  bool restores = false;
  std::atomic<bool> isBusy{false};
  // Of the thread whose turn it is.
  bool isBeingWritten = false;
  bool isUnfinished = false;
  std::string whyUnfinished;

  Result refuseUnfinished() const;
};

} // namespace pellucid::runtime
