// SPDX-License-Identifier: Apache-2.0
/// Symbols that are no dim of an input, but in one that is a multiple of them and a number (`8*h`,
/// `2*n - 1`): that dim is what a call knows, and the package has it in place of the symbol.
#pragma once

#include "graph/Program.h"
#include "package/Package.h"
#include "symbolic/Linear.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace pellucid::driver {

class SolvedSizes {
public:
  /// Gives such symbols of `order` the name of their dim; those of `given` have their values from
  /// elsewhere.
  void solve(const graph::Program &program, const std::set<std::string> &given,
             std::vector<std::string> &order);

  /// `expr` in terms of what a call finds.
  graph::Expr known(const graph::Expr &expr) const;

  /// The dim of an input that tells `name`, one of the order.
  graph::Expr dimOf(const std::string &name) const;

  /// What the dim can be, by what `table` knows of the symbol.
  package::Symbol symbolOf(const std::string &name, const symbolic::SymbolTable &table) const;

private:
  struct Solved {
    std::string symbol;
    graph::Expr dim;
    symbolic::Linear linear;
    int64_t divisor = 1; ///< of the symbol

    /// The dim is a multiple of what stands for one step of the symbol.
    bool isMultiple() const { return linear.offset % (linear.factor * divisor) == 0; }
  };

  std::map<std::string, Solved> solved; ///< by the dim's name
  std::map<std::string, graph::Expr> replacements;
};

} // namespace pellucid::driver
