// SPDX-License-Identifier: Apache-2.0
/// One loaded package, many threads.
#include "runtime/Tensors.h"

#include <atomic>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace pellucid;
using namespace pellucid::test;

TEST(Threads, SixtyFourCallOnePackage) {
  Loaded package(sampleModel());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 30; ++round) {
        int64_t batch = 1 + (t * 31 + round * 17) % 200;
        if (round % 10 == 9) { // a refusal among the calls
          Array<float> wrong({1025, 64});
          DLTensor input = wrong.tensor();
          DLManagedTensorVersioned *outputs[2];
          EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, nullptr),
                    PELLUCID_INVALID_ARGUMENT);
          continue;
        }
        Array<float> x = countingArray({batch, 64}), y({batch, 64}), total({batch});
        DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
        pellucid_run_options options = runOptions(round % 5);
        ASSERT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
            << pellucid_last_error();
        expectSample(x, y.data.data(), total.data.data());
        ++good;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 64 * 27);
}

/// Bits do not depend on how many threads work on a call.
TEST(Threads, ResultsAreTheSameForEveryNumberOfThreads) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({1024, 64});
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] *= 1.0f / 3;
  std::vector<float> first;
  for (int32_t threads : {1, 2, 3, 7, 16, 0}) {
    Array<float> y({1024, 64}), total({1024});
    DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
    pellucid_run_options options = runOptions(threads);
    ASSERT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
        << pellucid_last_error();
    y.data.insert(y.data.end(), total.data.begin(), total.data.end());
    if (first.empty())
      first = y.data;
    EXPECT_EQ(std::memcmp(first.data(), y.data.data(), first.size() * sizeof(float)), 0) << threads;
  }
}

/// Whatever the other threads are doing at the moment of a fork, the child can call, load and
/// unload.
TEST(Threads, ForkWhileOthersCall) {
#if defined(__SANITIZE_THREAD__) || (defined(__has_feature) && __has_feature(thread_sanitizer))
  GTEST_SKIP() << "the thread sanitizer does not support threads after fork";
#endif
  Loaded package(sampleModel());
  auto call = [&] {
    Array<float> x = countingArray({1024, 64});
    DLTensor input = x.tensor();
    DLManagedTensorVersioned *outputs[2] = {};
    pellucid_run_options options = runOptions(4);
    if (pellucid_run(package, &input, 1, outputs, 2, &options) != PELLUCID_OK)
      return false;
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
    return true;
  };
  std::atomic<bool> stop = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&] {
      while (!stop && call()) {
      }
    });
  for (int i = 0; i < 50; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool ok = call();
      {
        Loaded own(sampleModel());
      }
      _exit(ok && call() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread &thread : others)
    thread.join();
}

/// A forked child has none of the workers; its calls work all the same.
TEST(Threads, WorkAfterFork) {
  Loaded package(sampleModel());
  auto call = [&] {
    Array<float> x = countingArray({1024, 64}), y({1024, 64}), total({1024});
    DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
    pellucid_run_options options = runOptions(4);
    return pellucid_run_into(package, &input, 1, outputs, 2, &options);
  };
  ASSERT_EQ(call(), PELLUCID_OK);
#if defined(__SANITIZE_THREAD__) || (defined(__has_feature) && __has_feature(thread_sanitizer))
  GTEST_SKIP() << "the thread sanitizer does not support threads after fork";
#endif
  pid_t child = fork();
  if (child == 0)
    _exit(call() == PELLUCID_OK ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
