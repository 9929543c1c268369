// SPDX-License-Identifier: Apache-2.0
// operator new of the command line (tools/pellucid/SmallBlocks.cpp), linked into this program.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Block {
  unsigned char *memory;
  size_t bytes;
  unsigned char mark;

  Block(size_t bytes, size_t mark)
      : memory(static_cast<unsigned char *>(::operator new(bytes))), bytes(bytes),
        mark(static_cast<unsigned char>(mark)) {
    std::memset(memory, this->mark, bytes);
  }
  bool isWhole() const {
    for (size_t i = 0; i < bytes; ++i)
      if (memory[i] != mark)
        return false;
    return true;
  }
  void free() { ::operator delete(memory); }
};

/// Whether there are addresses for lists of ours; without them, all blocks are malloc's.
bool hasLists() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur > rlim_t(64) << 30;
}

uintptr_t spanOf(const void *memory) { return reinterpret_cast<uintptr_t>(memory) >> 16; }

TEST(SmallBlocks, LieApartAndAreAligned) {
  std::vector<Block> blocks;
  for (size_t bytes = 0; bytes < 700; ++bytes)
    for (size_t i = 0; i < 3; ++i)
      blocks.emplace_back(bytes, blocks.size() % 251);
  std::set<void *> places;
  for (const Block &block : blocks) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.memory) % 16, 0u) << block.bytes;
    EXPECT_TRUE(places.insert(block.memory).second) << block.bytes;
  }
  for (size_t i = 0; i < blocks.size(); i += 2)
    blocks[i].free();
  for (size_t i = 0; i < blocks.size(); i += 2)
    blocks[i] = Block(blocks[i].bytes, i % 249);
  for (Block &block : blocks) {
    EXPECT_TRUE(block.isWhole()) << block.bytes;
    block.free();
  }
}

// A size of its list shares blocks with every size up to the next multiple of 16, and no other.
TEST(SmallBlocks, WhatIsFreedIsTheNextOfItsSize) {
  for (size_t most = 16; most <= 512; most += 16) {
    void *block = ::operator new(most);
    ::operator delete(block);
    void *less = ::operator new(most - 15), *more = most < 512 ? ::operator new(most + 1) : nullptr;
    EXPECT_EQ(less, block) << most;
    EXPECT_NE(more, block) << most;
    ::operator delete(less, most - 15);
    ::operator delete(more);
  }
  void *nothing = ::operator new(0), *other = ::operator new(0);
  EXPECT_NE(nothing, other);
  ::operator delete(nothing);
  ::operator delete(other);
  ::operator delete(nullptr);
}

/// How many of `given` this thread is given back.
size_t foundAgain(const std::vector<void *> &given, size_t bytes) {
  std::set<void *> wanted(given.begin(), given.end());
  std::vector<void *> taken;
  size_t found = 0;
  while (found < wanted.size() && taken.size() < 10'000) {
    taken.push_back(::operator new(bytes));
    found += wanted.count(taken.back());
  }
  for (void *block : taken)
    ::operator delete(block);
  return found;
}

TEST(SmallBlocks, EndedThreadsBlocksAreTheOthers) {
  std::vector<void *> made(100);
  for (void *&block : made)
    block = ::operator new(500);
  for (size_t half : {size_t(0), made.size() / 2})
    std::thread([&made, half] {
      ::operator delete(::operator new(300)); // a thread that never allocates has nothing to leave
      for (size_t i = 0; i < made.size() / 2; ++i)
        ::operator delete(made[half + i]);
    }).join();
  EXPECT_EQ(foundAgain(made, 500), made.size());
}

// A thread cuts blocks from 64 KiB at a time; what it has not cut is not lost with it.
TEST(SmallBlocks, AnEndedThreadsRestIsTheOthers) {
  std::vector<void *> blocks(300);
  for (void *&block : blocks)
    std::thread([&block] { block = ::operator new(470); }).join();
  std::set<uintptr_t> spans;
  for (void *block : blocks)
    spans.insert(spanOf(block));
  EXPECT_LE(spans.size(), 12u); // 300 blocks of 480 bytes are in three, and the first may be used
  for (void *block : blocks)
    ::operator delete(block);
}

/// Made before a thread's lists are, so it ends after them.
struct Late {
  std::vector<void *> *freed = nullptr;
  std::vector<Block> *made = nullptr;
  ~Late() {
    if (!freed)
      return;
    for (void *block : *freed)
      ::operator delete(block);
    for (size_t i = 0; i < 100; ++i)
      made->emplace_back(33 + i, i);
  }
};
thread_local Late late;

TEST(SmallBlocks, ServeObjectsThatEndAfterTheirThreadsLists) {
  std::vector<void *> freed(100);
  for (void *&block : freed)
    block = ::operator new(440);
  std::vector<Block> made;
  made.reserve(200);
  std::thread([&] {
    late.freed = &freed;
    late.made = &made;
    ::operator delete(::operator new(40));
  }).join();
  ASSERT_EQ(made.size(), 100u);
  for (size_t i = 0; i < 100; ++i)
    made.emplace_back(33 + i, i + 100);
  for (Block &block : made) {
    EXPECT_TRUE(block.isWhole()) << block.bytes;
    block.free();
  }
  if (hasLists())
    EXPECT_EQ(foundAgain(freed, 440), freed.size());
}

TEST(SmallBlocks, GoFromThreadToThread) {
  std::mutex mutex;
  std::vector<Block> shared;
  size_t damaged = 0;
  auto work = [&](size_t seed) {
    std::vector<Block> own;
    for (size_t turn = 0; turn < 20'000; ++turn) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      own.emplace_back(seed >> 33 & 127, seed >> 50);
      if (own.size() < 64)
        continue;
      std::lock_guard lock(mutex);
      shared.insert(shared.end(), own.begin() + 32, own.end());
      own.resize(32, own.front());
      for (; shared.size() > 100; shared.pop_back()) {
        damaged += !shared.back().isWhole();
        shared.back().free();
      }
    }
    std::lock_guard lock(mutex);
    shared.insert(shared.end(), own.begin(), own.end());
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < 5; ++i)
      threads.emplace_back(work, i + 10 * static_cast<size_t>(round));
    for (std::thread &thread : threads)
      thread.join();
  }
  for (Block &block : shared) {
    damaged += !block.isWhole();
    block.free();
  }
  EXPECT_EQ(damaged, 0u);
}

/// More than there are addresses; unknown to the compiler, which would refuse it.
size_t tooMany() {
  static volatile size_t bytes = size_t(1) << 62;
  return bytes;
}

TEST(SmallBlocks, WhatIsNotToBeHadIsAnException) {
  EXPECT_THROW(::operator delete(::operator new(tooMany())), std::bad_alloc);
  EXPECT_EQ(::operator new(tooMany(), std::nothrow), nullptr);
  static int asked;
  asked = 0;
  std::set_new_handler([] {
    if (++asked == 3)
      std::set_new_handler(nullptr);
  });
  EXPECT_THROW(::operator delete(::operator new(tooMany())), std::bad_alloc);
  EXPECT_EQ(asked, 3);
}

TEST(SmallBlocks, OtherFormsOfNewAndDelete) {
  delete[] new int[7];
  auto *block = new (std::nothrow) long(5);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(*block, 5);
  delete block;
  struct alignas(64) Wide {
    char bytes[64];
  };
  for (int i = 0; i < 20; ++i) {
    Wide *wide = new Wide, *several = new Wide[3];
    EXPECT_EQ(reinterpret_cast<uintptr_t>(wide) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(several) % 64, 0u);
    delete wide;
    delete[] several;
  }
}

// Where 16 GiB of addresses are not to be had, all blocks are malloc's.
TEST(SmallBlocks, WithoutAddressesAreMallocs) {
  std::string filter = "--gtest_filter=*Apart*:*EndAfter*:*FromThread*:*Exception*:*OtherForms*";
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit{rlim_t(4) << 30, rlim_t(4) << 30};
    if (setrlimit(RLIMIT_AS, &limit) == 0)
      execl("/proc/self/exe", "small_blocks", filter.c_str(), nullptr);
    _exit(99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
