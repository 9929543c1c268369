// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/NumberDraws.h"

#include "graph/ControlFlow.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <limits>

namespace pellucid::passes {

using namespace graph;

namespace {

/// What the counter of the generator has room for (tl._draw_words).
constexpr int64_t mostSites = int64_t(1) << 20;

bool isSource(const Node &node) {
  return node.isCall() && node.target().starts_with("pellucid.philox_");
}

void declare(SymbolTable &symbols, const std::string &name) {
  if (symbols.find(name))
    throw DiagnosticError(SourceLocation(name),
                          "is the name of a dynamic dim and of what a run's random numbers start "
                          "from; rename the dim");
  symbolic::SymbolInfo info;
  info.range = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  symbols.declare(name, info);
}

void number(Node &node, int64_t site) {
  KeywordArguments keywords = node.kwargs();
  std::erase_if(keywords, [](const auto &keyword) {
    return keyword.first == "seed" || keyword.first == "offset" || keyword.first == "site";
  });
  keywords.emplace_back("seed", Argument(Expr::symbol(seedSymbol)));
  keywords.emplace_back("offset", Argument(Expr::symbol(offsetSymbol)));
  keywords.emplace_back("site", Argument(site));
  node.setKwargs(std::move(keywords));
}

} // namespace

void numberDraws(Program &program) {
  int64_t site = 0;
  for (Node &node : program.main) {
    if (!isSource(node))
      continue;
    if (site == 0) {
      declare(program.symbols, seedSymbol);
      declare(program.symbols, offsetSymbol);
    }
    if (site == mostSites)
      throw DiagnosticError(node.location, "the program draws random numbers in more than " +
                                               std::to_string(mostSites) + " places");
    number(node, site++);
  }
  // A turn would draw what the turn before it drew.
  for (uint32_t region : regionsOf(program.main, program))
    for (const Node &node : program.bodies[region].graph)
      if (isSource(node))
        throw DiagnosticError(node.location, program.bodies[region].operatorName +
                                                 " draws random numbers, which control flow "
                                                 "cannot; draw them outside and use them inside");
}

} // namespace pellucid::passes
