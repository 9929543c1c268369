// SPDX-License-Identifier: Apache-2.0
#include "runtime/AvailableMemory.h"
#include "runtime/HostMemory.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace pellucid::runtime;

namespace {

/// Of this process, in bytes.
size_t addressSpace() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

TEST(HostMemory, EveryBlockIsAlignedAndWritable) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(64), size_t(1000), (size_t(1) << 18) - 1,
                       size_t(1) << 18, size_t(300001), (size_t(2) << 20) + 1, size_t(33) << 20}) {
    void *block = allocateHost(bytes);
    ASSERT_NE(block, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 0x5a, bytes);
    releaseHost(block, bytes);
  }
}

TEST(HostMemory, LargeBlocksComeBack) {
  size_t bytes = size_t(5) << 20;
  void *first = allocateHost(bytes);
  releaseHost(first, bytes);
  EXPECT_EQ(allocateHost(bytes - 100), first) << "a little less finds the same block";
  releaseHost(first, bytes - 100);
}

// A kernel's masked-off lanes read and write there, which brings no page.
TEST(HostMemory, TheFirstBytesOfScratchAreInMemory) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t bytes : {size_t(4096), size_t(300001), size_t(1) << 20, size_t(9) << 20}) {
    HostBlock scratch;
    ASSERT_TRUE(scratch.reserve(bytes, 4096));
    auto first = reinterpret_cast<uintptr_t>(scratch.data());
    for (uintptr_t at : {first, first + 4095}) {
      unsigned char isPresent = 0;
      ASSERT_EQ(mincore(reinterpret_cast<void *>(at / page * page), page, &isPresent), 0);
      EXPECT_EQ(isPresent & 1, 1) << bytes;
    }
  }
}

// A step of training frees hundreds at once, and the next one asks for them again.
TEST(HostMemory, HundredsOfBlocksComeBack) {
  constexpr size_t count = 300, bytes = size_t(1) << 18;
  std::set<void *> first, again;
  for (size_t i = 0; i < count; ++i)
    first.insert(allocateHost(bytes));
  for (void *block : first)
    releaseHost(block, bytes);
  for (size_t i = 0; i < count; ++i)
    again.insert(allocateHost(bytes));
  EXPECT_EQ(first, again);
  for (void *block : again)
    releaseHost(block, bytes);
}

TEST(HostMemory, KeptMemoryIsBounded) {
  size_t bytes = size_t(400) << 20; // address space only: nothing is touched
  size_t before = addressSpace();
  void *blocks[5];
  for (void *&block : blocks)
    ASSERT_NE(block = allocateHost(bytes), nullptr);
  EXPECT_GE(addressSpace() - before, 5 * bytes);
  for (void *block : blocks)
    releaseHost(block, bytes);
  EXPECT_LE(addressSpace() - before, (size_t(1) << 30) + (size_t(16) << 20));
}

TEST(HostMemory, TooMuchIsNull) {
  EXPECT_EQ(allocateHost(SIZE_MAX), nullptr);
  EXPECT_EQ(allocateHost(SIZE_MAX / 8), nullptr);
  HostBlock block;
  EXPECT_FALSE(block.reserve(SIZE_MAX / 8));
  EXPECT_TRUE(block.reserve(100)) << "a failure leaves it usable";
}

/// Mapping always works; it is filling that ends the process.
TEST(HostMemory, MoreThanTheMachineHasIsNull) {
  uint64_t available = availableMemory();
  ASSERT_GT(available, 0u);
  if (available < (uint64_t(1) << 43))
    EXPECT_EQ(allocateHost(size_t(1) << 43), nullptr);
  // Two that fit alone and not together, although nothing is written to either.
  size_t most = static_cast<size_t>(available / 4 * 3);
  void *first = allocateHost(most);
  if (!first)
    return; // another process took the memory meanwhile
  EXPECT_EQ(allocateHost(most), nullptr);
  releaseHost(first, most);
}
