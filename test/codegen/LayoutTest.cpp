// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/Layout.h"
#include "codegen/gpu/LaneExchange.h"
#include "codegen/gpu/SharedSwizzle.h"
#include "codegen/gpu/WarpMove.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace pellucid::codegen;
using Point = std::vector<int32_t>;

namespace {

/// How often each element is held, over all registers, lanes and warps.
std::map<Point, unsigned> holders(const Layout &layout) {
  std::map<Point, unsigned> count;
  for (unsigned w = 0; w < 1u << layout.warps.size(); ++w)
    for (unsigned l = 0; l < 1u << layout.lanes.size(); ++l)
      for (unsigned r = 0; r < layout.registerCount(); ++r) {
        Layout::Point point = layout.pointOf(r, l, w);
        ++count[{point.begin(), point.end()}];
      }
  return count;
}

size_t elements(llvm::ArrayRef<int64_t> shape) {
  size_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// Every element of a tile is held, by equally many threads; by one when the tile is large enough.
TEST(Layout, BlockedLayoutsHoldEveryElementEquallyOften) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    unsigned rank = random() % 4, warps = 1u << random() % 4;
    llvm::SmallVector<int64_t, 4> shape;
    llvm::SmallVector<unsigned> order;
    for (unsigned d = 0; d < rank; ++d) {
      shape.push_back(int64_t(1) << random() % 6);
      order.push_back(d);
    }
    std::shuffle(order.begin(), order.end(), random);
    int64_t perThread = int64_t(1) << random() % 4;
    Layout layout = Layout::blocked(shape, order, perThread, warps);
    auto count = holders(layout);
    ASSERT_EQ(count.size(), elements(shape)) << layout.text();
    size_t places = size_t(32) * warps * layout.registerCount();
    for (auto &[point, times] : count)
      ASSERT_EQ(times, places / elements(shape)) << layout.text();
    if (rank && shape[order[0]] >= perThread)
      EXPECT_GE(layout.contiguousAlong(order[0]), perThread) << layout.text();
  }
}

/// The example in Layout.h.
TEST(Layout, RowOf1024OnFourWarps) {
  Layout layout = Layout::blocked({1024}, {0}, 4, 4);
  EXPECT_EQ(layout.text(),
            "registers (1) (2) (512) lanes (4) (8) (16) (32) (64) warps (128) (256)");
  EXPECT_EQ(layout.contiguousAlong(0), 4);
  EXPECT_EQ(layout.pointOf(5, 3, 2)[0], 1 + 512 + 12 + 256);
}

/// Register r of the source's layout holds the element that the operation takes register r of the
/// result from.
template <typename Map>
void expectSource(const Layout &result, const Layout &source, Map sourceOf) {
  for (unsigned w = 0; w < 1u << result.warps.size(); ++w)
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned r = 0; r < result.registerCount(); ++r) {
        Layout::Point to = result.pointOf(r, l, w), from = source.pointOf(r, l, w);
        ASSERT_EQ(Point(from.begin(), from.end()), sourceOf(Point(to.begin(), to.end())))
            << result.text();
      }
}

TEST(Layout, ShapeOperationsMoveBitsOnly) {
  Layout layout = Layout::blocked({8, 4, 16}, {2, 0, 1}, 4, 4);
  expectSource(layout, layout.throughTranspose({2, 0, 1}),
               [](Point p) { return Point{p[1], p[2], p[0]}; });
  expectSource(layout, layout.throughBroadcast({8, 1, 16}),
               [](Point p) { return Point{p[0], 0, p[2]}; });
  expectSource(layout, layout.throughReshape({32, 16}),
               [](Point p) { return Point{p[0] * 4 + p[1], p[2]}; });
  expectSource(layout, layout.throughReshape({4, 2, 64}),
               [](Point p) { return Point{p[0] / 2, p[0] % 2, p[1] * 16 + p[2]}; });
  Layout row = Layout::blocked({1, 64}, {1, 0}, 2, 1);
  expectSource(row, row.throughExpandDims(0), [](Point p) { return Point{p[1]}; });
}

TEST(Layout, ReducedAlongAnAxisEveryThreadKnowsItsSums) {
  Layout layout = Layout::blocked({16, 64}, {1, 0}, 4, 4);
  Layout reduced = layout.reducedAlong(1);
  EXPECT_EQ(reduced.shape, (llvm::SmallVector<int64_t, 4>{16}));
  EXPECT_EQ(holders(reduced).size(), 16u);
  for (const Layout::Point &point : reduced.registers)
    EXPECT_FALSE(isZero(point));
  // What a broadcast of the sums asks for is there already.
  EXPECT_FALSE(layout.throughBroadcast({16, 1}).throughExpandDims(1).registersIn(reduced).empty());
}

TEST(Layout, DataMovesOnlyBetweenDifferentThreads) {
  Layout rows = Layout::blocked({32, 32}, {1, 0}, 4, 4),
         columns = Layout::blocked({32, 32}, {0, 1}, 4, 4);
  EXPECT_TRUE(columns.registersIn(rows).empty());
  std::vector<unsigned> same = rows.registersIn(rows);
  for (unsigned r = 0; r < rows.registerCount(); ++r)
    EXPECT_EQ(same[r], r);
}

/// As the PTX manual has the accumulators of mma.m16n8k16: row lane / 4 (+ 8), column
/// 2 * (lane % 4) (+ 1).
TEST(Layout, ProductsLieAsTheInstructionMakesThem) {
  Layout layout = Layout::product({32, 64}, 4);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      Layout::Point point = layout.pointOf(i, lane, 0);
      EXPECT_EQ(point[0], static_cast<int32_t>(lane / 4 + 8 * (i / 2)));
      EXPECT_EQ(point[1], static_cast<int32_t>(2 * (lane % 4) + i % 2));
    }
  EXPECT_EQ(layout.contiguousAlong(1), 2u);
}

TEST(Layout, ProductsHoldEveryElementEquallyOften) {
  for (int64_t m : {16, 32, 128})
    for (int64_t n : {8, 16, 64, 256})
      for (unsigned warps : {1, 2, 4, 8, 16}) {
        Layout layout = Layout::product({m, n}, warps);
        std::map<Point, unsigned> count = holders(layout);
        size_t held = layout.registerCount() * 32u * warps;
        ASSERT_EQ(count.size(), elements({m, n})) << layout.text();
        for (auto &[point, times] : count)
          ASSERT_EQ(times, held / count.size()) << layout.text();
        EXPECT_EQ(layout.registers.size(), layout.withoutRepeats().registers.size());
      }
}

/// The sums of wgmma.m64nN as the PTX manual draws them; every element is held, none twice while
/// there is enough for all warps.
TEST(Layout, WarpgroupProducts) {
  for (auto [rows, columns, warps] : {std::array<int64_t, 3>{64, 8, 4},
                                      {64, 64, 4},
                                      {128, 128, 8},
                                      {128, 256, 8},
                                      {64, 64, 8},
                                      {256, 64, 4},
                                      {64, 256, 16},
                                      {64, 8, 8}}) {
    Layout layout = Layout::warpgroupProduct({rows, columns}, static_cast<unsigned>(warps));
    auto count = holders(layout);
    EXPECT_EQ(count.size(), elements({rows, columns})) << layout.text();
    unsigned times = count.begin()->second;
    for (auto &[point, held] : count)
      ASSERT_EQ(held, times) << layout.text();
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < std::min(layout.registerCount(), 8u); ++r) {
          Layout::Point point = layout.pointOf(r, lane, warp);
          if (columns > 8 || r < 4) {
            ASSERT_EQ(point[0] % 64, 16 * warp + lane / 4 + 8 * (r / 2 % 2)) << layout.text();
            ASSERT_EQ(point[1], 8 * (r / 4) + 2 * (lane % 4) + r % 2) << layout.text();
          }
        }
  }
}

/// Multiply-adds by lanes: every element is held once; where an operand lies along a dim a thread
/// has four neighbours of it, else eight lanes and warps do, in whose rows of shared memory the
/// swizzle differs.
TEST(Layout, LaneProducts) {
  for (auto [rows, columns, warps] : {std::array<int64_t, 3>{128, 128, 8},
                                      {128, 64, 4},
                                      {64, 64, 4},
                                      {32, 64, 4},
                                      {16, 64, 4},
                                      {64, 16, 4},
                                      {16, 512, 8},
                                      {1024, 16, 4}})
    for (bool rowsLie : {false, true})
      for (bool columnsLie : {false, true}) {
        Layout layout =
            Layout::laneProduct({rows, columns}, static_cast<unsigned>(warps), rowsLie, columnsLie);
        auto count = holders(layout);
        ASSERT_EQ(count.size(), elements({rows, columns})) << layout.text();
        for (auto &[point, held] : count)
          ASSERT_EQ(held, 1u) << layout.text();
        if (columnsLie && columns >= 64) {
          EXPECT_EQ(layout.contiguousAlong(1), 4u) << layout.text();
        }
        if (!columnsLie) {
          EXPECT_EQ(layout.pointOf(0, 13, 0)[1], 7) << layout.text();
        }
      }
}

/// A thread's registers by lane, after the exchanges: what each holds is the element that the
/// wanted layout puts there.
TEST(LaneExchange, BringsEachElementToItsPlace) {
  for (auto [rows, columns, warps, count] : std::vector<std::array<int64_t, 4>>{{64, 64, 4, 8},
                                                                                {128, 256, 8, 8},
                                                                                {128, 256, 8, 4},
                                                                                {64, 256, 4, 16},
                                                                                {16, 64, 4, 8},
                                                                                {32, 128, 4, 2}}) {
    bool byGroups = rows >= 64;
    Layout from = byGroups ? Layout::warpgroupProduct({rows, columns}, warps)
                           : Layout::product({rows, columns}, warps);
    Layout to = withVectors(from, 1, count);
    EXPECT_EQ(to == from, count == 2 || !byGroups) << to.text();
    if (to != from)
      EXPECT_EQ(to.contiguousAlong(1), count) << to.text();
    auto plan = laneExchange(from, to);
    ASSERT_TRUE(plan) << from.text() << " to " << to.text();
    for (unsigned warp = 0; warp < 1u << from.warps.size(); ++warp) {
      std::vector<std::vector<Layout::Point>> held(32);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < from.registerCount(); ++r)
          held[lane].push_back(from.pointOf(r, lane, warp));
      for (auto [bit, laneBit] : plan->exchanges)
        for (unsigned lane = 0; lane < 32; ++lane)
          if (!(lane >> laneBit & 1))
            for (unsigned r = 0; r < from.registerCount(); ++r)
              if (!(r >> bit & 1))
                std::swap(held[lane][r | 1u << bit], held[lane | 1u << laneBit][r]);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < to.registerCount(); ++r)
          ASSERT_EQ(held[lane][plan->registers[r]], to.pointOf(r, lane, warp)) << to.text();
    }
  }
}

/// Threads of other warps cannot be asked.
TEST(LaneExchange, RefusesWhatOtherWarpsHold) {
  Layout from = Layout::blocked({64, 64}, {1, 0}, 8, 4),
         to = Layout::blocked({64, 64}, {0, 1}, 8, 4);
  EXPECT_FALSE(laneExchange(from, to));
}

/// The element that each thread finds where the move says, against where the wanted layout has it;
/// layouts with random points, of which many repeat elements.
TEST(WarpMove, FindsEachElementInItsWarp) {
  std::mt19937 draw(7);
  unsigned possible = 0, impossible = 0;
  for (int round = 0; round < 4000; ++round) {
    unsigned bits = draw() % 6, rowBits = bits == 0 ? 0 : draw() % (bits + 1);
    llvm::SmallVector<int64_t> shape = {int64_t(1) << rowBits, int64_t(1) << (bits - rowBits)};
    auto point = [&] {
      if (draw() % 3 == 0)
        return Layout::Point{0, 0};
      return Layout::Point{static_cast<int32_t>(draw() % shape[0]),
                           static_cast<int32_t>(draw() % shape[1])};
    };
    auto any = [&](unsigned registers) {
      Layout layout;
      layout.shape.assign(shape.begin(), shape.end());
      for (unsigned i = 0; i < registers; ++i)
        layout.registers.push_back(point());
      for (unsigned i = 0; i < Layout::laneBits; ++i)
        layout.lanes.push_back(point());
      for (unsigned i = 0; i < 2; ++i)
        layout.warps.push_back(point());
      return layout;
    };
    Layout from = any(draw() % 4), to = any(draw() % 4);
    auto move = warpMove(from, to);
    bool isThere = true; // every warp holds what it wants
    for (unsigned warp = 0; warp < 4; ++warp) {
      std::set<std::vector<int32_t>> held;
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < from.registerCount(); ++r) {
          Layout::Point at = from.pointOf(r, lane, warp);
          held.insert({at.begin(), at.end()});
        }
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < to.registerCount(); ++r) {
          Layout::Point wanted = to.pointOf(r, lane, warp);
          isThere &= held.count({wanted.begin(), wanted.end()}) != 0;
          if (!move)
            continue;
          WarpMove::Source source = move->sourceOf(r);
          auto change = [&](const std::vector<WarpMove::Source> &changes, unsigned number) {
            for (unsigned bit = 0; bit < changes.size(); ++bit)
              if (number >> bit & 1) {
                source.lane ^= changes[bit].lane;
                source.reg ^= changes[bit].reg;
              }
          };
          change(move->ofLane, lane);
          change(move->ofWarp, warp);
          ASSERT_EQ(from.pointOf(source.reg, source.lane, warp), wanted)
              << from.text() << " to " << to.text();
          EXPECT_TRUE(!move->staysInThreads() || source.lane == lane);
        }
    }
    ASSERT_EQ(isThere, move.has_value()) << from.text() << " to " << to.text();
    ++(move ? possible : impossible);
  }
  EXPECT_GT(possible, 500U);
  EXPECT_GT(impossible, 500U);
}

/// How often the lanes of one warp that move at once meet in a bank, at most.
unsigned conflictsOf(const SharedSwizzle &swizzle, const Layout &layout, unsigned bytes) {
  unsigned worst = 1, lanes = bytes == 8 ? 16 : 32;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    std::map<uint32_t, std::set<uint32_t>> words;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      uint32_t byte = swizzle.placeOf(rowMajor(layout, layout.pointOf(r, lane, 0))) * bytes;
      words[byte / std::max(4u, bytes) % (128 / std::max(4u, bytes))].insert(byte /
                                                                             std::max(4u, bytes));
    }
    for (const auto &[bank, inBank] : words)
      worst = std::max(worst, static_cast<unsigned>(inBank.size()));
  }
  return worst;
}

// A tile that is turned round: rows are written, columns are read, and neither waits for a bank.
TEST(SharedSwizzle, TransposedTilesMeetInNoBank) {
  for (unsigned bytes : {1, 2, 4, 8})
    for (int64_t side : {32, 64}) {
      int64_t perThread = std::min<int64_t>(16 / bytes, side * side / 128);
      Layout rows = Layout::blocked({side, side}, {1, 0}, perThread, 4);
      Layout columns = Layout::blocked({side, side}, {0, 1}, perThread, 4);
      SharedSwizzle swizzle(rows, columns, bytes);
      EXPECT_LE(conflictsOf(swizzle, rows, bytes), 2u) << bytes << " bytes, side " << side;
      EXPECT_LE(conflictsOf(swizzle, columns, bytes), 2u) << bytes << " bytes, side " << side;
      std::set<uint32_t> places;
      for (uint32_t i = 0; i < side * side; ++i)
        places.insert(swizzle.placeOf(i));
      EXPECT_EQ(places.size(), static_cast<size_t>(side * side));
      EXPECT_LT(*places.rbegin(), side * side);
    }
}

/// Each element where the read layout has it, after words of the written one went through memory;
/// layouts whose bits stand in any order, of which some repeat elements.
TEST(SharedWords, BringEachElementToItsPlace) {
  std::mt19937 draw(11);
  unsigned wide = 0;
  for (int round = 0; round < 120; ++round) {
    unsigned rowBits = draw() % 5, bits = rowBits + 4 + draw() % 4;
    unsigned bytes = 1u << draw() % 4;
    llvm::SmallVector<int64_t> shape = {int64_t(1) << rowBits, int64_t(1) << (bits - rowBits)};
    // The neighbours along the inner dim are mostly in registers, as accesses want them.
    auto any = [&] {
      std::vector<Layout::Point> points;
      for (unsigned bit = 0; bit < bits; ++bit) {
        bool isColumn = bit < bits - rowBits;
        int32_t step = 1 << (isColumn ? bit : bit - (bits - rowBits));
        points.push_back(isColumn ? Layout::Point{0, step} : Layout::Point{step, 0});
      }
      unsigned kept = std::min<unsigned>(draw() % 5, bits);
      std::shuffle(points.begin() + kept, points.end(), draw);
      points.resize(std::max<size_t>(points.size(), 7), Layout::Point{0, 0});
      Layout layout;
      layout.shape.assign(shape.begin(), shape.end());
      size_t registers = points.size() - 7;
      layout.registers.assign(points.begin(), points.begin() + registers);
      layout.lanes.assign(points.begin() + registers, points.begin() + registers + 5);
      layout.warps.assign(points.begin() + registers + 5, points.end());
      return layout;
    };
    Layout from = any(), to = any();
    SharedWords words(from, to, bytes);
    ASSERT_LE(words.size() * bytes, std::max(16u, bytes));
    wide += words.size() > 1;
    Layout written = words.wordsOf(from, words.inWritten), read = words.wordsOf(to, words.inRead);
    ASSERT_EQ(written.shape, read.shape);
    std::map<uint32_t, std::vector<uint32_t>> memory; // of each word, the elements in their order
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned word = 0; word < written.registerCount(); ++word) {
        std::vector<uint32_t> elements;
        for (unsigned i = 0; i < words.size(); ++i) {
          unsigned r = SharedWords::registerOf(words.inWritten, word, i);
          elements.push_back(rowMajor(from, from.pointOf(r, thread % 32, thread / 32)));
        }
        uint32_t place = written.pointOf(word, thread % 32, thread / 32)[0];
        ASSERT_LT(place, written.shape[0]);
        auto [known, isNew] = memory.try_emplace(place, elements);
        ASSERT_EQ(known->second, elements) << from.text() << " to " << to.text();
      }
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned word = 0; word < read.registerCount(); ++word)
        for (unsigned i = 0; i < words.size(); ++i) {
          unsigned r = SharedWords::registerOf(words.inRead, word, i);
          uint32_t place = read.pointOf(word, thread % 32, thread / 32)[0];
          ASSERT_TRUE(memory.count(place)) << from.text() << " to " << to.text();
          ASSERT_EQ(memory[place][i], rowMajor(to, to.pointOf(r, thread % 32, thread / 32)))
              << from.text() << " to " << to.text();
        }
  }
  EXPECT_GT(wide, 10U);
}

TEST(SharedSwizzle, WhatMeetsInNoBankStays) {
  Layout rows = Layout::blocked({1024}, {0}, 1, 4);
  EXPECT_TRUE(SharedSwizzle(rows, rows, 4).exchanges.empty());
}

} // namespace
