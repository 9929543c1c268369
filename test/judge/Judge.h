// SPDX-License-Identifier: Apache-2.0
/// Is a computed number the expected one? The one place where tests, benchmarks and the demo in C++
/// decide it; judge.py is the same for arrays in Python. Standard library only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace pellucid::judge {

inline constexpr double infinitelyFar = std::numeric_limits<double>::infinity();

/// How far `actual` is from `expected`; never NaN. 0 where both are NaN or the same infinity,
/// infinity where only one of them is NaN or infinite.
inline double distance(double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected) ? 0 : infinitelyFar;
  if (actual == expected)
    return 0;
  return std::isfinite(actual) && std::isfinite(expected) ? std::fabs(actual - expected)
                                                          : infinitelyFar;
}

/// `bound` is absolute. One that is NaN, negative or infinite admits equal numbers only: a bound
/// in proportion to an expected infinity must not admit everything.
inline bool isWithin(double actual, double expected, double bound) {
  double off = distance(actual, expected);
  return off == 0 || (off <= bound && std::isfinite(bound));
}

/// False where both are zeros of different signs.
inline bool hasSignOfZero(double actual, double expected) {
  return actual != 0 || expected != 0 || std::signbit(actual) == std::signbit(expected);
}

/// Whole tensors, element by element, each with its own bound.
class Comparison {
public:
  void add(double actual, double expected, double bound) {
    double off = distance(actual, expected);
    bool within = isWithin(actual, expected, bound);
    if (!within && wrongCount++ == 0)
      firstWrong = count;
    ++count;
    farthest = std::max(farthest, off);
    share = std::max(share, shareOf(off, bound, within));
  }
  void add(const Comparison &other) {
    if (other.wrongCount && !wrongCount)
      firstWrong = count + other.firstWrong;
    count += other.count;
    wrongCount += other.wrongCount;
    farthest = std::max(farthest, other.farthest);
    share = std::max(share, other.share);
  }

  /// Something was compared, and all of it was within its bound.
  bool ok() const { return count > 0 && wrongCount == 0; }
  size_t compared() const { return count; }
  size_t wrong() const { return wrongCount; }
  size_t firstWrongIndex() const { return firstWrong; }
  /// The largest distance.
  double largest() const { return farthest; }
  /// The largest distance as a share of its element's bound; above 1 exactly when one is wrong.
  double ofBound() const { return share; }

private:
  /// Never NaN: std::max would forget it.
  static double shareOf(double off, double bound, bool within) {
    if (off == 0)
      return 0;
    if (within)
      return off / bound;
    constexpr double beyond = 1 + std::numeric_limits<double>::epsilon();
    return bound > 0 && std::isfinite(bound) ? std::max(off / bound, beyond) : infinitelyFar;
  }
  size_t count = 0, wrongCount = 0, firstWrong = 0;
  double farthest = 0, share = 0;
};

} // namespace pellucid::judge
