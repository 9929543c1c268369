// SPDX-License-Identifier: Apache-2.0
/// Addresses of a script's tensors: kernels may read and write through tables of them.
#pragma once

#include "trace/Tracer.h"

#include <functional>
#include <memory>
#include <vector>

namespace pellucid::trace {

/// Memory at an address that the script was told. Values of tensors are never written to
/// (docs/design/0030), so it is apart from them: it gets a storage's contents before a kernel runs
/// that follows addresses, and what it has afterwards are the storage's contents.
struct PinnedMemory {
  std::shared_ptr<std::byte> data;
  graph::Device device; ///< where it lies
  size_t bytes = 0;
  std::shared_ptr<const ConcreteMemory> holds; ///< the contents that it has a copy of
  bool isAhead = false; ///< a kernel may have written to it: it has the storage's contents
};

class Addresses {
public:
  explicit Addresses(Tracer &t) : tracer(t) {}

  /// Where the first byte of the storage's `bytes` bytes will lie in `place` as long as it lives.
  int64_t of(const std::shared_ptr<TracedStorage> &storage, size_t bytes, graph::Device place);
  /// Whether a storage that still lives has one.
  bool any();
  /// The contents of all such storages, nothing of which is pending, go to their addresses.
  /// `contents` makes those of a storage that has none yet.
  void give(const std::function<void(TracedStorage &)> &contents);
  /// What lies at the addresses are the contents from here on.
  void take();
  /// The storage's contents as a value that nothing writes to, where they are at its address.
  void settle(TracedStorage &storage) const;
  /// Where the memory has a copy at an address in `place`; null for other memory.
  const std::byte *addressOf(const ConcreteMemory &memory, graph::Device place) const;

private:
  void copy(std::byte *to, const std::byte *from, size_t bytes, graph::Device place) const;
  std::shared_ptr<std::byte> allocate(size_t bytes, graph::Device place) const;

  Tracer &tracer;
  std::vector<std::weak_ptr<TracedStorage>> pinned;
};

} // namespace pellucid::trace
