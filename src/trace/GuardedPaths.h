// SPDX-License-Identifier: Apache-2.0
/// Every way that host code can go over a range of sizes, each with the condition under which it
/// is gone.
#pragma once

#include "symbolic/Expr.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pellucid::trace {

/// The answers given to undecided conditions while host code runs once. Run it again after each
/// advance() and it takes the next way, until there is none left.
class DecisionPath {
public:
  bool decide(const symbolic::Expr &condition);
  /// Turns the last answer that can still be turned. False when every way was taken.
  bool advance();
  /// Holds for the sizes that go this way.
  symbolic::Expr guard() const;

private:
  std::vector<std::pair<symbolic::Expr, bool>> decisions;
  size_t next = 0;
};

/// The values that `expr` can have, possibly more; nullopt when they are too many to list.
std::optional<std::set<int64_t>> possibleValues(const symbolic::Expr &expr,
                                                const symbolic::SymbolTable &symbols);

/// False when no sizes of the declared ranges fulfil `condition`; true also when they are too many
/// to try.
bool canHold(const symbolic::Expr &condition, const symbolic::SymbolTable &symbols);

/// A symbol and a number such that `condition` is `value` for all of its sizes that are multiples
/// of the number, as its hint is: of a condition that divisions of one symbol decide.
std::optional<std::pair<std::string, int64_t>>
multiplesWhere(const symbolic::Expr &condition, bool value, const symbolic::SymbolTable &symbols);

/// Ranges around the hints, as wide as found, over all of which `condition` is `value`. Nullopt
/// when they are too wide to try.
std::optional<std::map<std::string, symbolic::Range>>
rangesWhere(const symbolic::Expr &condition, bool value, const symbolic::SymbolTable &symbols);

} // namespace pellucid::trace
