// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace pellucid::runtime {

/// Work over the index range [0, total), handed out in ascending pieces. It lives on the stack of
/// the thread that calls CpuPool::run.
class ParallelWork {
public:
  virtual ~ParallelWork() = default;
  /// Prepares the calling thread; false when it cannot take part (no memory).
  virtual bool enter() = 0;
  /// Runs [first, last). Called at once from several threads. False stops the whole work: no piece
  /// that was not begun is begun.
  virtual bool runPiece(uint64_t first, uint64_t last) = 0;
};

/// How long one index of a work takes, learned from one call to the next.
class CostEstimate {
public:
  explicit CostEstimate(uint64_t ticksPerIndex = 0) : ticks(ticksPerIndex) {}
  /// In ticks of the CPU's counter per index, or 0 when unknown.
  uint64_t ticksPerIndex() const { return ticks.load(std::memory_order_relaxed); }
  void learn(uint64_t indices, uint64_t measured);

private:
  std::atomic<uint64_t> ticks;
};

/// The process's worker threads. They spin for some microseconds after work and then park. Any
/// number of threads may call run at once, also from inside a piece.
class CpuPool {
public:
  static CpuPool &shared();
  /// Threads this process may use, from its affinity mask.
  static unsigned hardwareThreads();

  /// Does all of `work` on the calling thread and at most `maxThreads` - 1 workers (0:
  /// hardwareThreads). Workers are woken only when `cost` or the time already spent says that it
  /// pays. Returns false when the calling thread could not enter (then nothing ran); pieces'
  /// failures are the work's business.
  bool run(ParallelWork &work, uint64_t total, unsigned maxThreads, CostEstimate &cost);

private:
  struct Job;
  std::mutex mutex;
  std::condition_variable posted, left;
  std::atomic<uint64_t> postings = 0;
  Job *open = nullptr;
  unsigned workers = 0;

  void runAlone(Job &job, CostEstimate &cost, unsigned threads);
  void runShared(Job &job, CostEstimate &cost, unsigned threads);
  void post(Job &job, unsigned helpers);
  void withdraw(Job &job);
  void workerLoop();
  Job *takeJob(uint64_t &seenPostings);
  void leave(Job &job);
  static void *workerEntry(void *pool);
  bool startWorker();
};

} // namespace pellucid::runtime
