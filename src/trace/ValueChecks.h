// SPDX-License-Identifier: Apache-2.0
/// What an operator of a script asks of the values of an operand: that indices are in range, that
/// divisors are not zero. Values that are known are looked at when the operator is called; all
/// others when they are computed, also where nobody holds the operator's result.
#pragma once

#include "graph/Graph.h"
#include "graph/Operator.h"

#include <optional>
#include <string>
#include <vector>

namespace pellucid::trace {

struct ValueCheck {
  const graph::Value *value = nullptr; ///< holds integers, or truth values
  /// Every element lies in `low` … `high` - 1; or where `isNonzero` it is not 0.
  int64_t low = 0, high = 0;
  bool isNonzero = false;
  std::optional<int64_t> except; ///< an element that is admitted all the same
  std::string type, text;        ///< of the exception; `{}` in the text is the element
  /// Whose operand it is, and fails by itself where its result is used; null where none does.
  const graph::Node *node = nullptr;
  SourceLocation where;

  bool admits(int64_t element) const {
    return element == except || (isNonzero ? element != 0 : element >= low && element < high);
  }
  std::string textFor(int64_t element) const;
};

/// What the operator of `node` asks of its operands.
std::vector<ValueCheck> valueChecks(const graph::OperatorCall &call, const graph::Node &node);

/// Raises the exception at the operator's line.
[[noreturn]] void raiseFailedCheck(const ValueCheck &check, int64_t element);

} // namespace pellucid::trace
