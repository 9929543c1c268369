// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/NumberDraws.h"

#include "graph/ControlFlow.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <limits>
#include <set>

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

void setSite(Node &node, int64_t site) {
  KeywordArguments keywords = node.kwargs();
  std::erase_if(keywords, [](const auto &keyword) {
    return keyword.first == "seed" || keyword.first == "offset" || keyword.first == "site";
  });
  keywords.emplace_back("seed", Argument(Expr::symbol(seedSymbol)));
  keywords.emplace_back("offset", Argument(Expr::symbol(offsetSymbol)));
  keywords.emplace_back("site", Argument(site));
  node.setKwargs(std::move(keywords));
}

class Numbering {
public:
  explicit Numbering(Program &p) : program(p) {}

  /// `repeats`: why the nodes run more than once; null where they do not.
  void run(Graph &graph, const char *repeats) {
    for (Node &node : graph) {
      if (isSource(node))
        number(node, repeats);
      bool branches = node.calls(condTarget);
      for (uint32_t region : node.regions)
        run(program.bodies[region].graph, !seen.insert(region).second ? "several conditionals share"
                                          : branches                  ? repeats
                                                                      : "a loop repeats");
    }
  }

private:
  void number(Node &node, const char *repeats) {
    if (repeats)
      throw DiagnosticError(node.location,
                            std::string("random numbers in a graph that ") + repeats +
                                " would be the same each time; draw them before it, for all turns");
    if (site == 0) {
      declare(program.symbols, seedSymbol);
      declare(program.symbols, offsetSymbol);
    }
    if (site == mostSites)
      throw DiagnosticError(node.location, "the program draws random numbers in more than " +
                                               std::to_string(mostSites) + " places");
    setSite(node, site++);
  }

  Program &program;
  int64_t site = 0;
  std::set<uint32_t> seen;
};

} // namespace

void numberDraws(Program &program) { Numbering(program).run(program.main, nullptr); }

} // namespace pellucid::passes
