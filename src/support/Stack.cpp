// SPDX-License-Identifier: Apache-2.0
#include "support/Stack.h"

#include <cstdint>
#include <pthread.h>
#include <sys/resource.h>
#include <utility>

namespace pellucid {

namespace {

struct Bounds {
  uintptr_t lowest = 0, highest = 0; ///< both 0 where they are not known
};

/// A main thread's stack grows up to its limit, of which pthread_getattr_np() gives the part that
/// `ulimit -s` allows now; "unlimited" comes as a huge size, and then 8 MiB are counted on.
Bounds ownStack() {
  constexpr size_t countedOn = 8 << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return {};
  void *lowest = nullptr;
  size_t size = 0;
  bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known)
    return {};
  auto low = reinterpret_cast<uintptr_t>(lowest);
  uintptr_t high = low + size;
  rlimit limit{};
  bool unlimited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  if (unlimited && size > countedOn)
    low = high - countedOn;
  return {low, high};
}

thread_local StackRange coroutineStack;

} // namespace

StackRange setStackRange(StackRange range) { return std::exchange(coroutineStack, range); }

bool stackIsLow(size_t reserve) {
  if (coroutineStack.base)
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) -
               reinterpret_cast<uintptr_t>(coroutineStack.base) <
           reserve;
  static thread_local Bounds bounds;
  static thread_local bool isKnown = false;
  if (!isKnown) {
    bounds = ownStack();
    isKnown = true;
  }
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  bool isOwn = here >= bounds.lowest && here < bounds.highest;
  return isOwn && here - bounds.lowest < reserve;
}

} // namespace pellucid
