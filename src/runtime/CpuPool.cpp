// SPDX-License-Identifier: Apache-2.0
#include "runtime/CpuPool.h"

#include <algorithm>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <chrono>
#endif

namespace pellucid::runtime {

#if defined(__x86_64__)
static uint64_t ticksNow() { return __rdtsc(); }
static void pauseBriefly() { _mm_pause(); }
static constexpr uint64_t ticksPerMicrosecond = 3000;
#else
static uint64_t ticksNow() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
static void pauseBriefly() {}
static constexpr uint64_t ticksPerMicrosecond = 1000;
#endif

/// Waking a parked thread costs the caller about 2 us and the thread starts 5 to 50 us later.
static constexpr uint64_t worthSharing = 20 * ticksPerMicrosecond;
static constexpr uint64_t pieceTicks = 5 * ticksPerMicrosecond;
static constexpr uint64_t spinTicks = 10 * ticksPerMicrosecond;
static constexpr unsigned maxWorkers = 1023;
/// Pieces per thread, so that a thread that comes late or runs slowly does not hold up the rest.
static constexpr uint64_t piecesPerThread = 8;

void CostEstimate::learn(uint64_t indices, uint64_t measured) {
  uint64_t now = std::max<uint64_t>(1, measured / std::max<uint64_t>(1, indices)),
           before = ticksPerIndex();
  ticks.store(before == 0 ? now : (3 * before + now) / 4, std::memory_order_relaxed);
}

struct CpuPool::Job {
  ParallelWork &work;
  uint64_t total;
  uint64_t piece = 1;
  std::atomic<uint64_t> next = 0;
  // Changed under the pool's mutex:
  Job *nextOpen = nullptr;
  unsigned freePlaces = 0;
  std::atomic<unsigned> helpers = 0;

  Job(ParallelWork &w, uint64_t t) : work(w), total(t) {}

  /// True while there was something to do.
  bool runOnePiece() {
    uint64_t first = next.fetch_add(piece, std::memory_order_relaxed);
    if (first >= total)
      return false;
    if (!work.runPiece(first, first + std::min(piece, total - first)))
      next.store(total, std::memory_order_relaxed);
    return true;
  }
  bool isExhausted() const { return next.load(std::memory_order_relaxed) >= total; }
};

unsigned CpuPool::hardwareThreads() {
  static const unsigned count = [] {
    cpu_set_t set;
    int affine = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
    return affine > 0 ? static_cast<unsigned>(affine)
                      : std::max(1u, std::thread::hardware_concurrency());
  }();
  return count;
}

static std::atomic<CpuPool *> sharedPool = nullptr;

/// A forked child has none of the threads and perhaps a locked mutex: it gets a pool of its own.
static void replacePoolInChild() { sharedPool.store(new CpuPool, std::memory_order_release); }

/// Never destroyed: its threads may be parked in it while the process ends.
CpuPool &CpuPool::shared() {
  static const bool created = [] {
    sharedPool.store(new CpuPool, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, replacePoolInChild);
    return true;
  }();
  (void)created;
  return *sharedPool.load(std::memory_order_acquire);
}

bool CpuPool::run(ParallelWork &work, uint64_t total, unsigned maxThreads, CostEstimate &cost) {
  if (total == 0)
    return true;
  if (!work.enter())
    return false;
  unsigned threads = std::min(maxThreads ? maxThreads : hardwareThreads(), maxWorkers + 1);
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, total));
  Job job(work, total);
  if (threads == 1) {
    work.runPiece(0, total);
    return true;
  }
  uint64_t known = cost.ticksPerIndex(), expected = 0;
  bool overflows = __builtin_mul_overflow(known, total, &expected);
  if (known == 0 || overflows || expected > worthSharing)
    runShared(job, cost, threads);
  else
    runAlone(job, cost, threads);
  return true;
}

/// Expected to be short: piece by piece, looking at the clock, with help after all if it takes too
/// long.
void CpuPool::runAlone(Job &job, CostEstimate &cost, unsigned threads) {
  job.piece = std::max<uint64_t>(1, pieceTicks / std::max<uint64_t>(1, cost.ticksPerIndex()));
  uint64_t begin = ticksNow();
  while (job.runOnePiece()) {
    if (job.isExhausted())
      break;
    if (ticksNow() - begin > worthSharing) {
      cost.learn(job.next.load(std::memory_order_relaxed), ticksNow() - begin);
      return runShared(job, cost, threads);
    }
  }
  cost.learn(job.total, ticksNow() - begin);
}

void CpuPool::runShared(Job &job, CostEstimate &cost, unsigned threads) {
  uint64_t remaining = job.total - job.next.load(std::memory_order_relaxed);
  uint64_t smallest = pieceTicks / std::max<uint64_t>(1, cost.ticksPerIndex());
  uint64_t even = std::max<uint64_t>(1, remaining / (uint64_t(threads) * piecesPerThread));
  job.piece = cost.ticksPerIndex() == 0
                  ? even
                  : std::clamp<uint64_t>(smallest, even, std::max(even, remaining / threads));
  post(job, threads - 1);
  uint64_t begin = ticksNow(), pieces = 0;
  while (job.runOnePiece())
    ++pieces;
  if (pieces)
    cost.learn(pieces * job.piece, ticksNow() - begin);
  withdraw(job);
}

void CpuPool::post(Job &job, unsigned helpers) {
  {
    std::lock_guard lock(mutex);
    while (workers < helpers && startWorker())
      ++workers;
    job.freePlaces = helpers;
    job.nextOpen = open;
    open = &job;
    postings.fetch_add(1, std::memory_order_relaxed);
  }
  if (helpers == 1)
    posted.notify_one();
  else
    posted.notify_all();
}

/// After it no worker knows the job.
void CpuPool::withdraw(Job &job) {
  std::unique_lock lock(mutex);
  Job **link = &open;
  while (*link != &job)
    link = &(*link)->nextOpen;
  *link = job.nextOpen;
  if (job.helpers.load(std::memory_order_relaxed) == 0)
    return;
  lock.unlock();
  for (uint64_t begin = ticksNow();
       job.helpers.load(std::memory_order_acquire) != 0 && ticksNow() - begin < spinTicks;)
    pauseBriefly();
  // The lock also makes sure that the last helper is out of leave().
  lock.lock();
  left.wait(lock, [&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
}

CpuPool::Job *CpuPool::takeJob(uint64_t &seenPostings) {
  std::lock_guard lock(mutex);
  seenPostings = postings.load(std::memory_order_relaxed);
  for (Job *job = open; job; job = job->nextOpen) {
    if (job->freePlaces == 0 || job->isExhausted())
      continue;
    --job->freePlaces;
    job->helpers.fetch_add(1, std::memory_order_relaxed);
    return job;
  }
  return nullptr;
}

void CpuPool::leave(Job &job) {
  std::lock_guard lock(mutex);
  if (job.helpers.fetch_sub(1, std::memory_order_release) == 1)
    left.notify_all();
}

void CpuPool::workerLoop() {
  for (;;) {
    uint64_t seen = 0;
    if (Job *job = takeJob(seen)) {
      if (job->work.enter())
        while (job->runOnePiece()) {
        }
      leave(*job);
      continue;
    }
    auto nothingNew = [&] { return postings.load(std::memory_order_relaxed) == seen; };
    for (uint64_t begin = ticksNow(); nothingNew() && ticksNow() - begin < spinTicks;)
      pauseBriefly();
    if (!nothingNew())
      continue;
    std::unique_lock lock(mutex);
    posted.wait(lock, [&] { return !nothingNew(); });
  }
}

void *CpuPool::workerEntry(void *pool) {
  static_cast<CpuPool *>(pool)->workerLoop();
  return nullptr;
}

/// Workers take no signals but their own faults: the others belong to the program's own threads,
/// and a fault that is blocked ends the process before any handler runs.
bool CpuPool::startWorker() {
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool started = pthread_create(&thread, nullptr, &CpuPool::workerEntry, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) {
    pthread_setname_np(thread, "pellucid");
    pthread_detach(thread);
  }
  return started;
}

} // namespace pellucid::runtime
