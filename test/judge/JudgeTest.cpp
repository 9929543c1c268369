// SPDX-License-Identifier: Apache-2.0
// A judge that takes a wrong element for a right one makes every test that uses it worthless.
#include "judge/Judge.h"

#include <gtest/gtest.h>

#include <vector>

using namespace pellucid::judge;

namespace {

constexpr double inf = INFINITY, nan = NAN, huge = 1.7e308;

struct Pair {
  double actual, expected, bound;
};

TEST(Judge, TakesWhatIsWithinTheBound) {
  for (Pair p : {Pair{1, 1, 0},
                 {1.5, 1, 0.5},
                 {0.5, 1, 0.5},
                 {nan, nan, 0},
                 {inf, inf, 0},
                 {-inf, -inf, 0},
                 {inf, inf, inf},
                 {0.0, -0.0, 0},
                 {1e-320, 0, 1e-300}})
    EXPECT_TRUE(isWithin(p.actual, p.expected, p.bound)) << p.actual << " for " << p.expected;
}

TEST(Judge, RefusesWhatIsNot) {
  for (Pair p : {Pair{1.5, 1, 0.499},
                 {nan, 1, 1e300},
                 {1, nan, 1e300},
                 {inf, 1, 1e300},
                 {1, inf, 1e300},
                 {-inf, inf, inf},
                 {nan, inf, inf},
                 {inf, nan, inf},
                 {nan, 1, inf},
                 {nan, 1, nan},
                 {2, 1, nan},
                 {2, 1, -1},
                 {2, 1, inf},
                 {huge, -huge, huge},
                 {huge, inf, inf}})
    EXPECT_FALSE(isWithin(p.actual, p.expected, p.bound))
        << p.actual << " for " << p.expected << ", bound " << p.bound;
}

TEST(Judge, TellsZerosApart) {
  EXPECT_TRUE(hasSignOfZero(-0.0, -0.0) && hasSignOfZero(0.0, 0.0));
  EXPECT_FALSE(hasSignOfZero(-0.0, 0.0) || hasSignOfZero(0.0, -0.0));
  EXPECT_TRUE(hasSignOfZero(-1, 1)) << "that is for the bound to say";
}

/// Any element, whatever stands before and after it.
TEST(Judge, OnePoisonedElementIsSeenInEveryPlace) {
  constexpr size_t count = 7;
  for (double poison : {nan, inf, -inf, huge, -huge, 1.25})
    for (double bound : {0.0, 0.125, inf, nan})
      for (size_t place = 0; place < count; ++place) {
        Comparison one;
        for (size_t i = 0; i < count; ++i)
          one.add(i == place ? poison : 1.0, 1.0, bound);
        EXPECT_FALSE(one.ok()) << poison << " at " << place;
        EXPECT_EQ(one.wrong(), 1u);
        EXPECT_EQ(one.firstWrongIndex(), place);
        EXPECT_GT(one.ofBound(), 1);
        EXPECT_GT(one.largest(), 0);
        // One bad comparison among good ones, at every place too.
        Comparison good, all;
        good.add(1, 1, 0.125);
        for (size_t batch = 0; batch < 3; ++batch)
          all.add(batch == place % 3 ? one : good);
        EXPECT_FALSE(all.ok());
        EXPECT_GT(all.ofBound(), 1);
        EXPECT_EQ(all.firstWrongIndex(), place % 3 + place);
      }
}

TEST(Judge, NothingComparedIsNotRight) { EXPECT_FALSE(Comparison().ok()); }

TEST(Judge, AllWithinIsRight) {
  Comparison comparison;
  for (double off : {0.0, 0.25, -0.5, 0.125})
    comparison.add(8 + off, 8, 1);
  comparison.add(nan, nan, 0);
  EXPECT_TRUE(comparison.ok());
  EXPECT_EQ(comparison.compared(), 5u);
  EXPECT_EQ(comparison.largest(), 0.5);
  EXPECT_EQ(comparison.ofBound(), 0.5);
}

} // namespace
