// SPDX-License-Identifier: Apache-2.0
/// The judge in GoogleTest's words. EXPECT_NEAR would take -inf for inf where the bound is in
/// proportion to what is expected.
#pragma once

#include "judge/Judge.h"

#include <gtest/gtest.h>

namespace pellucid::judge {

/// For EXPECT_TRUE and ASSERT_TRUE.
inline testing::AssertionResult isNear(double actual, double expected, double bound) {
  if (isWithin(actual, expected, bound))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << actual << ", expected " << expected << ", off by "
                                     << distance(actual, expected) << ", allowed " << bound;
}

/// `relative` where the expected number is above 1, absolute below.
inline testing::AssertionResult isClose(double actual, double expected, double relative) {
  return isNear(actual, expected, relative * std::max(1.0, std::fabs(expected)));
}

/// Equal, with NaN for NaN and the signs of zeros.
inline testing::AssertionResult isSame(double actual, double expected) {
  if (!hasSignOfZero(actual, expected))
    return testing::AssertionFailure() << "got " << actual << ", expected " << expected;
  return isNear(actual, expected, 0);
}

} // namespace pellucid::judge
