// SPDX-License-Identifier: Apache-2.0
// operator new of this program. A script's step makes and drops some hundred thousand small
// objects, and the C library's cache holds seven of a size: blocks of up to 512 bytes come from
// lists of ours here, one per thread and size, in memory that stays with the process. Larger ones,
// and all of them where such an amount of addresses is not to be had, are malloc's.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

// Sanitizers have their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define PELLUCID_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PELLUCID_SANITIZED
#endif

#ifndef PELLUCID_SANITIZED

namespace {

constexpr size_t step = 16, mostBytes = 512, classes = mostBytes / step;
constexpr size_t spanBytes = size_t(64) << 10, regionBytes = size_t(16) << 30;
constexpr size_t spans = regionBytes / spanBytes;

struct Free {
  Free *next;
};

/// Addresses that spans are cut from; each span has blocks of one size.
struct Region {
  std::atomic<uintptr_t> begin = 0; ///< 0: not asked for yet; 1: there is none
  std::atomic<size_t> used = 0;     ///< spans
  uint8_t classOf[spans] = {};
  /// What ended threads left, per size.
  std::atomic<Free *> left[classes] = {};
};
constinit Region region;

struct Lists {
  Free *free[classes];
  std::byte *next[classes], *end[classes]; ///< the rest of a span
};
constinit thread_local Lists lists{};
constinit thread_local bool isEnding = false;

void leave(size_t which, Free *first, Free *last) {
  Free *others = region.left[which].load(std::memory_order_relaxed);
  do
    last->next = others;
  while (!region.left[which].compare_exchange_weak(others, first, std::memory_order_release,
                                                   std::memory_order_relaxed));
}

/// Gives a thread's blocks to the others when it ends.
struct Leaving {
  bool isUsed = false;
  ~Leaving() {
    // Where the first thread ends, the program does.
    if (gettid() == getpid())
      return;
    isEnding = true;
    for (size_t which = 0; which < classes; ++which) {
      for (size_t size = (which + 1) * step; lists.next[which] + size <= lists.end[which];
           lists.next[which] += size) {
        auto *block = reinterpret_cast<Free *>(lists.next[which]);
        block->next = lists.free[which];
        lists.free[which] = block;
      }
      lists.next[which] = lists.end[which] = nullptr;
      Free *first = lists.free[which], *last = first;
      lists.free[which] = nullptr;
      if (!first)
        continue;
      while (last->next)
        last = last->next;
      leave(which, first, last);
    }
  }
};
thread_local Leaving leaving;

uintptr_t regionBegin() {
  uintptr_t begin = region.begin.load(std::memory_order_acquire);
  if (begin != 0)
    return begin;
  void *memory = mmap(nullptr, regionBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  uintptr_t made = memory == MAP_FAILED ? 1 : reinterpret_cast<uintptr_t>(memory);
  if (region.begin.compare_exchange_strong(begin, made, std::memory_order_acq_rel))
    return made;
  if (memory != MAP_FAILED)
    munmap(memory, regionBytes);
  return begin;
}

/// A block where the thread's list has none; null where malloc has to give it.
void *refill(size_t which) {
  if (isEnding)
    return nullptr;
  leaving.isUsed = true; // so that it is made
  if (Free *block = region.left[which].exchange(nullptr, std::memory_order_acquire)) {
    lists.free[which] = block->next;
    return block;
  }
  size_t size = (which + 1) * step;
  if (static_cast<size_t>(lists.end[which] - lists.next[which]) < size) {
    uintptr_t begin = regionBegin();
    if (begin == 1 || region.used.load(std::memory_order_relaxed) >= spans)
      return nullptr;
    size_t span = region.used.fetch_add(1, std::memory_order_relaxed);
    if (span >= spans)
      return nullptr;
    region.classOf[span] = static_cast<uint8_t>(which);
    lists.next[which] = reinterpret_cast<std::byte *>(begin + span * spanBytes);
    lists.end[which] = lists.next[which] + spanBytes;
  }
  void *block = lists.next[which];
  lists.next[which] += size;
  return block;
}

void *large(size_t bytes) {
  for (;;) {
    if (void *block = std::malloc(bytes ? bytes : 1))
      return block;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

} // namespace

void *operator new(size_t bytes) {
  if (bytes <= mostBytes) {
    size_t which = bytes ? (bytes - 1) / step : 0;
    if (Free *block = lists.free[which]) {
      lists.free[which] = block->next;
      // Blocks that a step before dropped are no longer in the nearer caches; the next of this size
      // is fetched while this one is filled.
      __builtin_prefetch(block->next, 1);
      return block;
    }
    if (void *block = refill(which))
      return block;
  }
  return large(bytes);
}

void operator delete(void *memory) noexcept {
  if (!memory)
    return;
  uintptr_t begin = region.begin.load(std::memory_order_relaxed);
  uintptr_t at = reinterpret_cast<uintptr_t>(memory) - begin;
  if (begin <= 1 || at >= regionBytes)
    return std::free(memory);
  size_t which = region.classOf[at / spanBytes];
  auto *block = static_cast<Free *>(memory);
  if (isEnding)
    return leave(which, block, block);
  block->next = lists.free[which];
  lists.free[which] = block;
}

void operator delete(void *memory, size_t) noexcept { ::operator delete(memory); }

#endif
