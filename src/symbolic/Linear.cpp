// SPDX-License-Identifier: Apache-2.0
#include "symbolic/Linear.h"

namespace pellucid::symbolic {

std::optional<Linear> linearIn(const Expr &expr, const std::string &symbol) {
  try {
    auto at = [&](int64_t value) { return substitute(expr, {{symbol, Expr(value)}}).constant(); };
    auto zero = at(0), one = at(1);
    if (!zero || !one || *one == *zero)
      return std::nullopt;
    Linear found{*one - *zero, *zero};
    if (expr == Expr::symbol(symbol) * found.factor + found.offset)
      return found;
  } catch (const std::overflow_error &) {
    // Numbers that do not fit.
  }
  return std::nullopt;
}

} // namespace pellucid::symbolic
