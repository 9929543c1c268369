// SPDX-License-Identifier: Apache-2.0
#include "driver/Ceiling.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace pellucid::driver {

namespace {

using Clock = std::chrono::steady_clock;
typedef float Lane16 __attribute__((vector_size(64)));

double seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

/// Pages that are there already, so that the first copy does not pay for them.
struct Pages {
  explicit Pages(size_t n) : bytes(n) {
    data = ::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      data = nullptr;
      return;
    }
    ::madvise(data, n, MADV_HUGEPAGE);
    std::fill_n(static_cast<char *>(data), n, 1);
  }
  ~Pages() {
    if (data)
      ::munmap(data, bytes);
  }
  void *data = nullptr;
  size_t bytes;
};

void copyPlain(Lane16 *to, const Lane16 *from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = from[i];
}

void copyStreaming(Lane16 *to, const Lane16 *from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    __builtin_nontemporal_store(from[i], to + i);
  __builtin_ia32_sfence();
}

/// Runs `work(thread)` on `threads` threads at once; the seconds until the last has ended.
template <typename Work> double together(unsigned threads, Work work) {
  std::vector<std::thread> others;
  auto start = Clock::now();
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back(work, t);
  work(0u);
  for (std::thread &other : others)
    other.join();
  return seconds(start);
}

template <typename Copy>
double copySpeed(unsigned threads, int rounds, Pages &to, const Pages &from, Copy copy) {
  size_t lanes = from.bytes / sizeof(Lane16), share = lanes / threads;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round)
    best = std::min(best, together(threads, [&](unsigned t) {
                      copy(static_cast<Lane16 *>(to.data) + t * share,
                           static_cast<const Lane16 *>(from.data) + t * share, share);
                    }));
  return 2.0 * static_cast<double>(share * threads * sizeof(Lane16)) / best;
}

constexpr int chains = 12;
constexpr long fmaSteps = 2000000;

#define PELLUCID_FMA_LOOP(width)                                                                   \
  typedef float V __attribute__((vector_size(width)));                                             \
  V sums[chains], a, b;                                                                            \
  for (unsigned j = 0; j < width / 4; ++j) {                                                       \
    a[j] = 0.999f;                                                                                 \
    b[j] = 0.001f;                                                                                 \
  }                                                                                                \
  for (V &sum : sums)                                                                              \
    sum = b;                                                                                       \
  for (long i = 0; i < fmaSteps; ++i)                                                              \
    for (int c = 0; c < chains; ++c)                                                               \
      sums[c] = __builtin_elementwise_fma(sums[c], a, b);                                          \
  float total = 0;                                                                                 \
  for (V &sum : sums)                                                                              \
    total += sum[0];                                                                               \
  return total;

__attribute__((target("avx512f"), noinline)) float fma512() { PELLUCID_FMA_LOOP(64) }
__attribute__((target("avx2,fma"), noinline)) float fma256() { PELLUCID_FMA_LOOP(32) }
#undef PELLUCID_FMA_LOOP

double fmaSpeed(unsigned threads) {
  __builtin_cpu_init();
  bool wide = __builtin_cpu_supports("avx512f");
  volatile float sink = 0;
  double best = 1e9;
  for (int round = 0; round < 3; ++round)
    best = std::min(best, together(threads, [&](unsigned) { sink = wide ? fma512() : fma256(); }));
  return 2.0 * chains * (wide ? 16 : 8) * static_cast<double>(fmaSteps) * threads / best;
}

} // namespace

Ceiling measureCeiling(unsigned threads, size_t bytes, int rounds) {
  Ceiling ceiling;
  threads = std::max(1u, threads);
  Pages from(bytes), to(bytes);
  if (from.data && to.data) {
    ceiling.copyBytesPerSecond = copySpeed(threads, rounds, to, from, copyPlain);
    ceiling.streamBytesPerSecond = copySpeed(threads, rounds, to, from, copyStreaming);
  }
  ceiling.fmaFlopsPerSecond = fmaSpeed(threads);
  return ceiling;
}

} // namespace pellucid::driver
