// SPDX-License-Identifier: Apache-2.0
#include "driver/SolvedSizes.h"

#include <cstdlib>

namespace pellucid::driver {

using graph::Expr;

static std::vector<Expr> dimsOf(const graph::Program &program) {
  std::vector<Expr> dims;
  size_t position = 0;
  for (const graph::Node *node : program.main.placeholders())
    if (program.inputs[position++].kind == graph::InputSpec::Kind::UserInput &&
        node->resultCount() && node->result()->isTensor())
      for (const Expr &size : node->result()->type().shape)
        dims.push_back(size);
  return dims;
}

void SolvedSizes::solve(const graph::Program &program, const std::set<std::string> &given,
                        std::vector<std::string> &order) {
  constexpr int64_t most = int64_t(1) << 31;
  const std::vector<Expr> dims = dimsOf(program);
  for (std::string &name : order) {
    if (given.count(name))
      continue;
    std::optional<Solved> found;
    bool isDim = false;
    int64_t divisor = program.symbols.find(name)->divisor;
    for (const Expr &dim : dims) {
      isDim |= dim == Expr::symbol(name);
      auto linear = symbolic::linearIn(dim, name);
      if (!found && linear && linear->factor > 0 && linear->factor < most && divisor < most)
        found = {name, dim, *linear, divisor};
    }
    if (isDim || !found)
      continue;
    std::string shown = found->dim.text();
    Expr steps = symbolic::floorDiv(Expr::symbol(shown) - found->linear.offset,
                                    found->linear.factor * divisor);
    replacements.emplace(name, steps * divisor);
    solved.emplace(shown, *found);
    name = shown;
  }
}

Expr SolvedSizes::known(const Expr &expr) const {
  if (solved.empty())
    return expr;
  for (const auto &[name, of] : solved)
    if (auto linear = symbolic::linearIn(expr, of.symbol);
        linear && of.isMultiple() && linear->factor % of.linear.factor == 0)
      return (Expr::symbol(name) - of.linear.offset) * (linear->factor / of.linear.factor) +
             linear->offset;
  return symbolic::substitute(expr, replacements);
}

Expr SolvedSizes::dimOf(const std::string &name) const {
  auto of = solved.find(name);
  return of == solved.end() ? Expr::symbol(name) : of->second.dim;
}

package::Symbol SolvedSizes::symbolOf(const std::string &name,
                                      const symbolic::SymbolTable &table) const {
  auto entry = solved.find(name);
  bool isSolved = entry != solved.end();
  const symbolic::SymbolInfo &info = *table.find(isSolved ? entry->second.symbol : name);
  symbolic::Linear of = isSolved ? entry->second.linear : symbolic::Linear();
  auto dim = [&](int64_t value) {
    return value > (INT64_MAX - std::abs(of.offset)) / of.factor ? INT64_MAX
                                                                 : value * of.factor + of.offset;
  };
  package::Symbol symbol;
  symbol.name = name;
  symbol.min = dim(info.range.min);
  symbol.max = dim(info.range.max);
  symbol.divisor = !isSolved || entry->second.isMultiple() ? info.divisor * of.factor : 1;
  return symbol;
}

} // namespace pellucid::driver
