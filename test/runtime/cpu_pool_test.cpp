// SPDX-License-Identifier: Apache-2.0
#include "runtime/CpuPool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace pellucid::runtime;

namespace {
/// Counts how often each index is run.
struct Counting : ParallelWork {
  explicit Counting(size_t total) : counts(total) {}
  std::vector<std::atomic<int>> counts;
  std::chrono::microseconds each{0};
  /// Pieces wait until that many threads take part.
  size_t wanted = 0;
  std::condition_variable entered;
  std::atomic<uint64_t> stopAt = UINT64_MAX;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  bool canEnter = true;

  bool enter() override {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    entered.notify_all();
    return canEnter;
  }
  bool runPiece(uint64_t first, uint64_t last) override {
    if (wanted) {
      std::unique_lock lock(mutex);
      entered.wait(lock, [&] { return threads.size() >= wanted; });
    }
    for (uint64_t i = first; i < last; ++i) {
      ++counts[i];
      if (each.count())
        std::this_thread::sleep_for(each);
      if (i == stopAt)
        return false;
    }
    return true;
  }
  bool eachRanOnce() const {
    for (const std::atomic<int> &count : counts)
      if (count != 1)
        return false;
    return true;
  }
};
} // namespace

TEST(CpuPool, RunsEveryIndexOnce) {
  for (uint64_t total : {1, 2, 3, 7, 64, 1000, 100003})
    for (unsigned threads : {1u, 2u, 3u, 8u, 0u}) {
      CostEstimate cost;
      for (int round = 0; round < 3; ++round) {
        Counting work(total);
        ASSERT_TRUE(CpuPool::shared().run(work, total, threads, cost));
        ASSERT_TRUE(work.eachRanOnce()) << total << " " << threads;
      }
    }
}

TEST(CpuPool, NothingToDo) {
  Counting work(1);
  CostEstimate cost;
  EXPECT_TRUE(CpuPool::shared().run(work, 0, 4, cost));
  EXPECT_EQ(work.counts[0], 0);
}

/// Were it not shared, its first piece would wait for ever.
TEST(CpuPool, LongWorkIsShared) {
  Counting work(40);
  work.wanted = 2;
  CostEstimate cost;
  CpuPool::shared().run(work, 40, 4, cost);
  EXPECT_TRUE(work.eachRanOnce());
  EXPECT_GE(work.threads.size(), 2u);
  EXPECT_LE(work.threads.size(), 4u);
}

TEST(CpuPool, ShortWorkStaysWithTheCaller) {
  for (int round = 0; round < 50; ++round) {
    // Each round anew: what a busy machine measures of one must not reach the next.
    CostEstimate cost;
    cost.learn(1, 10); // a few nanoseconds per index
    Counting work(16);
    CpuPool::shared().run(work, 16, 4, cost);
    ASSERT_TRUE(work.eachRanOnce());
    ASSERT_EQ(work.threads.size(), 1u);
  }
}

/// A wrong estimate corrects itself while the work runs.
TEST(CpuPool, WorkThatTurnsOutLongIsSharedAfterAll) {
  CostEstimate cost;
  cost.learn(1, 10);
  Counting work(30);
  work.each = std::chrono::milliseconds(2);
  CpuPool::shared().run(work, 30, 4, cost);
  EXPECT_TRUE(work.eachRanOnce());
  EXPECT_GT(cost.ticksPerIndex(), 10u);
}

TEST(CpuPool, OneThreadMeansTheCaller) {
  Counting work(1000);
  CostEstimate cost;
  CpuPool::shared().run(work, 1000, 1, cost);
  EXPECT_EQ(work.threads, std::set{std::this_thread::get_id()});
}

TEST(CpuPool, AFailedPieceStopsWhatHasNotBegun) {
  Counting work(100000);
  work.stopAt = 10;
  CostEstimate cost;
  CpuPool::shared().run(work, 100000, 4, cost);
  EXPECT_EQ(work.counts[10], 1);
  size_t run = 0;
  for (const std::atomic<int> &count : work.counts) {
    EXPECT_LE(count, 1);
    run += count;
  }
  EXPECT_LT(run, 100000u);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(work.counts[i], 1) << "pieces are begun in order";
}

TEST(CpuPool, ACallerThatCannotEnterRunsNothing) {
  Counting work(10);
  work.canEnter = false;
  CostEstimate cost;
  EXPECT_FALSE(CpuPool::shared().run(work, 10, 4, cost));
  EXPECT_EQ(work.counts[0], 0);
}

TEST(CpuPool, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int t = 0; t < 16; ++t)
    callers.emplace_back([&] {
      CostEstimate cost;
      for (int round = 0; round < 100; ++round) {
        Counting work(257);
        CpuPool::shared().run(work, 257, 1 + round % 5, cost);
        good += work.eachRanOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(good, 1600);
}

TEST(CpuPool, WorkInsideWork) {
  struct Outer : ParallelWork {
    std::atomic<int> good = 0;
    bool enter() override { return true; }
    bool runPiece(uint64_t first, uint64_t last) override {
      for (uint64_t i = first; i < last; ++i) {
        Counting inner(100);
        CostEstimate cost;
        CpuPool::shared().run(inner, 100, 3, cost);
        good += inner.eachRanOnce();
      }
      return true;
    }
  } outer;
  CostEstimate cost;
  CpuPool::shared().run(outer, 50, 4, cost);
  EXPECT_EQ(outer.good, 50);
}
