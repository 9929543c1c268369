// SPDX-License-Identifier: Apache-2.0
/// Sizes that are equal because the program checked it, beyond what ranges say: `u0 + u1 + u2` and
/// 9, `u3*u4` and 12.
#pragma once

#include "symbolic/Expr.h"

namespace pellucid::trace {

class CheckedSizes {
public:
  /// From here on `condition` holds; what it says of equal sizes is kept.
  void learn(const symbolic::Expr &condition);
  bool isEmpty() const { return values.empty() && zeros.empty(); }
  bool areEqual(const symbolic::SymbolTable &symbols, const symbolic::Expr &a,
                const symbolic::Expr &b) const;

private:
  void learnZero(const symbolic::Expr &given);

  std::map<std::string, symbolic::Expr> values; ///< of symbols, by other symbols than these
  std::vector<symbolic::Expr> zeros;            ///< what is 0 and gives the value of no symbol
};

} // namespace pellucid::trace
