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

void setSite(Node &node, int64_t site, Value *turn) {
  KeywordArguments keywords = node.kwargs();
  std::erase_if(keywords, [](const auto &keyword) {
    return keyword.first == "seed" || keyword.first == "offset" || keyword.first == "site" ||
           keyword.first == "turn";
  });
  keywords.emplace_back("seed", Argument(Expr::symbol(seedSymbol)));
  keywords.emplace_back("offset", Argument(Expr::symbol(offsetSymbol)));
  keywords.emplace_back("site", Argument(site));
  if (turn)
    keywords.emplace_back("turn", Argument(turn));
  node.setKwargs(std::move(keywords));
}

void addOperand(Node &node, size_t list, Value *value) {
  std::vector<Argument> args = node.args();
  Argument::List values = *args[list].list();
  values.emplace_back(value);
  args[list] = Argument(std::move(values));
  node.setArgs(std::move(args));
}

/// A placeholder at `position` among those of the region.
Value *addPlaceholder(Graph &region, size_t position) {
  std::vector<Node *> there = region.placeholders();
  Value *made =
      region.placeholder(region.uniqueName("turn"), TensorType(DataType::Int64, {}, Device{}));
  if (position < there.size())
    region.moveBefore(made->producer(), there[position]);
  return made;
}

/// Numbers the sources in the order of the program. What a loop does is numbered once, and has the
/// turn as one more operand: a tensor that the loop carries or scans.
class Numbering {
public:
  Numbering(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  /// `turn`: of the loops around; null outside of them.
  void run(Graph &graph, Value *turn) {
    for (Node &node : graph) {
      if (isSource(node))
        number(node, turn);
      if (!node.regions.empty() && draws(node))
        enter(graph, node, turn);
    }
  }

private:
  bool draws(const Node &node) const {
    return std::any_of(node.regions.begin(), node.regions.end(), [&](uint32_t region) {
      for (const Node &inner : program.bodies[region].graph)
        if (isSource(inner) || draws(inner))
          return true;
      return false;
    });
  }

  void number(Node &node, Value *turn) {
    if (site == 0) {
      declare(program.symbols, seedSymbol);
      declare(program.symbols, offsetSymbol);
    }
    if (site == mostSites)
      throw DiagnosticError(node.location, "the program draws random numbers in more than " +
                                               std::to_string(mostSites) + " places");
    setSite(node, site++, turn);
  }

  void enter(Graph &graph, Node &node, Value *turn) {
    // Regions that several nodes have become regions of each, with sites of their own.
    for (uint32_t &region : node.regions)
      if (!seen.insert(region).second) {
        program.bodies.push_back(
            {program.bodies[region].operatorName, program.bodies[region].graph.clone()});
        region = static_cast<uint32_t>(program.bodies.size() - 1);
        seen.insert(region);
      }
    ControlFlow flow = controlFlowOf(node);
    switch (flow.kind) {
    case ControlKind::Cond:
      if (turn)
        addOperand(node, 1, turn);
      for (uint32_t region : node.regions)
        run(bodyOf(region),
            turn ? addPlaceholder(bodyOf(region), flow.additional.size()) : nullptr);
      return;
    case ControlKind::WhileLoop:
      return enterWhile(graph, node, flow, turn);
    case ControlKind::Scan:
      return enterScan(graph, node, flow, turn);
    case ControlKind::AssociativeScan:
      throw DiagnosticError(node.location,
                            "an associative scan combines slices in an order of its own, in which "
                            "random numbers mean nothing; draw them before it, or use scan");
    }
  }

  Graph &bodyOf(uint32_t region) { return program.bodies[region].graph; }

  Value *emit(Graph &graph, Node *before, const char *target, std::vector<Argument> args,
              KeywordArguments kwargs = {}) {
    graph.setInsertionPoint(before);
    graph.setLocation(before->location);
    Value *made = emitCall(graph, registry, program.symbols, target, std::move(args),
                           std::move(kwargs), before->location)
                      ->result();
    graph.setInsertionPoint(nullptr);
    return made;
  }
  static KeywordArguments integers() { return {{"dtype", Argument(DataType::Int64)}}; }

  static Node *firstCall(Graph &graph) {
    for (Node &node : graph)
      if (!node.isPlaceholder())
        return &node;
    return nullptr;
  }

  /// The turn inside of a region, of which `counted` is the loop's own.
  Value *innerTurn(Graph &region, Value *counted, Value *outer, size_t operands) {
    if (!outer)
      return counted;
    Value *given = addPlaceholder(region, operands);
    return emit(region, firstCall(region), "pellucid.draw_turn.default",
                {Argument(given), Argument(counted)});
  }

  void enterWhile(Graph &graph, Node &node, const ControlFlow &flow, Value *turn) {
    Value *none = emit(graph, &node, "aten.full.default",
                       {Argument(Argument::List()), Argument(int64_t(0))}, integers());
    addOperand(node, 0, none);
    if (turn)
      addOperand(node, 1, turn);
    graph.addResult(&node, none->type());
    size_t operands = flow.carried.size() + 1 + flow.additional.size();
    for (size_t i = 0; i < 2; ++i) {
      Graph &region = bodyOf(node.regions[i]);
      Value *counted = addPlaceholder(region, flow.carried.size());
      if (i == 1) {
        std::vector<Argument> results = region.outputNode()->args();
        results.emplace_back(emit(region, region.outputNode(), "aten.add.Scalar",
                                  {Argument(counted), Argument(int64_t(1))}));
        region.output(std::move(results));
      }
      run(region, innerTurn(region, counted, turn, operands));
    }
  }

  void enterScan(Graph &graph, Node &node, const ControlFlow &flow, Value *turn) {
    Value *all = emit(graph, &node, "aten.arange.default", {Argument(turnsOf(flow))}, integers());
    addOperand(node, 1, all);
    if (turn)
      addOperand(node, 2, turn);
    Graph &region = bodyOf(node.regions[0]);
    size_t position = flow.carried.size() + flow.scanned.size();
    Value *counted = addPlaceholder(region, position);
    run(region, innerTurn(region, counted, turn, position + 1 + flow.additional.size()));
  }

  Program &program;
  const OperatorRegistry &registry;
  int64_t site = 0;
  std::set<uint32_t> seen;
};

} // namespace

void numberDraws(Program &program, const OperatorRegistry &registry) {
  Numbering(program, registry).run(program.main, nullptr);
}

} // namespace pellucid::passes
