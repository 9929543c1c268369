// SPDX-License-Identifier: Apache-2.0
/// Sizes by a decimal number, as PyTorch and Python compute them in doubles: 0.4 * n.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace pellucid::symbolic {

/// The fraction over / under that a number stands for, 2/5 for 0.4. Only one so near to it that a
/// product of the number with a size, rounded to a double, is a whole number where that of the
/// fraction is: its floor and ceil are the fraction's then. 0.7 of 360 are 251.99…, so that it has
/// none.
inline std::optional<std::pair<int64_t, int64_t>> decimalScale(double value) {
  constexpr int64_t most = 1000;
  constexpr double largest = 1 << 20;
  for (int64_t under = 3; under <= most; ++under) {
    double over = std::round(value * static_cast<double>(under));
    if (!(std::abs(over) <= largest))
      return std::nullopt;
    if (over / static_cast<double>(under) != value)
      continue;
    double off = std::fma(value, static_cast<double>(under), -over);
    if (std::abs(off) > std::ldexp(std::abs(over), -54))
      return std::nullopt;
    return std::pair{static_cast<int64_t>(over), under};
  }
  return std::nullopt;
}

} // namespace pellucid::symbolic
