// SPDX-License-Identifier: Apache-2.0
#include "eager/DeviceMemory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace pellucid::eager {
namespace {

/// Addresses up to `most` bytes in all.
class CountedBlocks : public BlockSource {
public:
  void *allocate(size_t bytes) override {
    if (inUse + bytes > most)
      return nullptr;
    inUse += bytes;
    next += 4096;
    sizes[reinterpret_cast<void *>(next)] = bytes;
    return reinterpret_cast<void *>(next);
  }
  void release(void *block) override {
    ASSERT_TRUE(sizes.count(block));
    inUse -= sizes[block];
    sizes.erase(block);
  }
  std::map<void *, size_t> sizes;
  size_t inUse = 0, most = SIZE_MAX;
  uintptr_t next = 0;
};

struct Memory : testing::Test {
  CountedBlocks *blocks = new CountedBlocks;
  DeviceMemory memory{std::unique_ptr<BlockSource>(blocks), 1 << 20};
};

TEST(DeviceMemory, RoundsUpByAtMostAnEighth) {
  EXPECT_EQ(DeviceMemory::roundedUp(0), 512u);
  EXPECT_EQ(DeviceMemory::roundedUp(1), 512u);
  EXPECT_EQ(DeviceMemory::roundedUp(513), 1024u);
  for (size_t bytes = 1; bytes < size_t(1) << 40; bytes = bytes * 5 / 3 + 1) {
    size_t rounded = DeviceMemory::roundedUp(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded - bytes, std::max<size_t>(512, bytes / 8));
    EXPECT_EQ(rounded % 512, 0u);
    EXPECT_EQ(DeviceMemory::roundedUp(rounded), rounded);
  }
  EXPECT_EQ(DeviceMemory::roundedUp(SIZE_MAX), SIZE_MAX);
}

TEST_F(Memory, FreedBlocksAreGivenAgain) {
  void *a = memory.allocate(1000), *b = memory.allocate(1000);
  EXPECT_NE(a, b);
  memory.release(a);
  EXPECT_EQ(memory.allocate(900), a);
  memory.release(b);
  // Much smaller: a block of its own.
  EXPECT_NE(memory.allocate(100), b);
  EXPECT_EQ(memory.statistics().made, 3u);
  EXPECT_EQ(memory.statistics().given, 4u);
}

TEST_F(Memory, CountsWhatIsUsed) {
  void *a = memory.allocate(1024), *b = memory.allocate(2048);
  memory.release(a);
  DeviceMemory::Statistics counts = memory.statistics();
  EXPECT_EQ(counts.allocated, 2048u);
  EXPECT_EQ(counts.peak, 3072u);
  EXPECT_EQ(counts.reserved, 3072u);
  memory.resetPeak();
  EXPECT_EQ(memory.statistics().peak, 2048u);
  memory.releaseKept();
  EXPECT_EQ(memory.statistics().reserved, 2048u);
  EXPECT_EQ(blocks->inUse, 2048u);
  memory.release(b);
  memory.release(b); // twice, or none of ours: nothing happens
  EXPECT_EQ(memory.statistics().allocated, 0u);
}

TEST_F(Memory, WhatIsKeptIsBounded) {
  std::vector<void *> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(memory.allocate(64 << 10));
  for (void *block : all)
    memory.release(block);
  EXPECT_EQ(blocks->inUse, size_t(1) << 20);
  EXPECT_EQ(memory.statistics().reserved, size_t(1) << 20);
}

TEST_F(Memory, WhatIsKeptMakesRoom) {
  blocks->most = 1 << 20;
  void *a = memory.allocate(600 << 10);
  memory.release(a);
  EXPECT_NE(memory.allocate(900 << 10), nullptr);
  EXPECT_EQ(memory.allocate(200 << 10), nullptr);
  EXPECT_EQ(memory.statistics().reserved, DeviceMemory::roundedUp(900 << 10));
}

TEST(DeviceMemory, GivesEverythingBackAtItsEnd) {
  struct Watched : CountedBlocks {
    explicit Watched(size_t &left) : left(left) {}
    ~Watched() override { left = inUse; }
    size_t &left;
  };
  size_t left = 1;
  {
    DeviceMemory memory(std::make_unique<Watched>(left), 1 << 30);
    memory.release(memory.allocate(5000));
  }
  EXPECT_EQ(left, 0u);
}

} // namespace
} // namespace pellucid::eager
