// SPDX-License-Identifier: Apache-2.0
// Runs that another thread queues: their order, what they hold and for how long, and what goes
// wrong.
#include "eager/QueuedRuns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pellucid::eager {
namespace {

TEST(QueuedRuns, KeepTheirOrder) {
  QueuedRuns &runs = QueuedRuns::get();
  std::vector<int> order;
  for (int i = 0; i < 200; ++i)
    runs.add([&order, i] { order.push_back(i); });
  runs.settle();
  ASSERT_EQ(order.size(), 200u);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(QueuedRuns, RunBesideWhoAddedThem) {
  std::atomic<bool> mayGoOn = false, hasRun = false;
  std::thread::id where;
  QueuedRuns::get().add([&] {
    while (!mayGoOn)
      std::this_thread::yield();
    where = std::this_thread::get_id();
    hasRun = true;
  });
  EXPECT_FALSE(hasRun);
  mayGoOn = true;
  QueuedRuns::get().settle();
  EXPECT_TRUE(hasRun);
  EXPECT_NE(where, std::this_thread::get_id());
}

// Tensors of the script let go of memory and of other tensors when they die, which is nothing for
// another thread.
TEST(QueuedRuns, WhatARunHeldDiesOnTheThreadThatSettles) {
  std::thread::id where;
  auto held = std::shared_ptr<int>(new int(3), [&](int *data) {
    where = std::this_thread::get_id();
    delete data;
  });
  std::weak_ptr<int> watched = held;
  QueuedRuns::get().add([held = std::move(held)] { (void)*held; });
  QueuedRuns::get().settle();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(QueuedRuns, WhatGoesWrongIsSaidOnceBySettle) {
  QueuedRuns &runs = QueuedRuns::get();
  runs.add([] { throw std::runtime_error("no memory"); });
  try {
    runs.settle();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "no memory");
  }
  EXPECT_NO_THROW(runs.settle());
  // By the next run, too, which is not added then.
  runs.add([] { throw std::runtime_error("lost"); });
  bool hasRun = false;
  EXPECT_THROW(runs.add([&] { hasRun = true; }), std::runtime_error);
  runs.settle();
  EXPECT_FALSE(hasRun);
  runs.add([] { throw std::runtime_error("at the end"); });
  runs.settleQuietly();
  EXPECT_NO_THROW(runs.settle());
}

} // namespace
} // namespace pellucid::eager
