// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/OrderSizeReads.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

void add(const Expr &e, std::set<std::string> &names) {
  for (std::string &name : e.symbols())
    names.insert(std::move(name));
}
void add(const Argument &argument, std::set<std::string> &names) {
  if (auto e = argument.as<Expr>())
    add(*e, names);
  else if (const Argument::List *list = argument.list())
    for (const Argument &element : *list)
      add(element, names);
}
/// What the node itself mentions; regions of its own are not looked into.
void add(const Node &node, std::set<std::string> &names) {
  for (size_t r = 0; r < node.resultCount(); ++r) {
    if (node.result(r)->isSymInt()) {
      add(node.result(r)->expr(), names);
      continue;
    }
    const TensorType &type = node.result(r)->type();
    for (const std::vector<Expr> *list : {&type.shape, &type.strides})
      for (const Expr &e : *list)
        add(e, names);
    add(type.offset, names);
  }
  for (const Argument &argument : node.args())
    add(argument, names);
  for (const auto &[key, argument] : node.kwargs())
    add(argument, names);
  const Launch *launch = node.launch();
  if (!launch)
    return;
  for (const LaunchOperand &operand : launch->operands)
    add(operand.value, names);
  for (const LaunchVariant &variant : launch->variants) {
    add(variant.guard, names);
    for (const Expr &grid : variant.grid)
      add(grid, names);
  }
}

/// By symbol that a region reads: the graphs that may mention it.
using Scopes = std::map<std::string, std::set<const Graph *>>;

void checkScopes(const Graph &graph, const Scopes &scopes) {
  for (const Node &node : graph) {
    std::set<std::string> names;
    add(node, names);
    for (const std::string &name : names)
      if (auto scope = scopes.find(name); scope != scopes.end() && !scope->second.count(&graph))
        throw DiagnosticError(node.location, "size '" + name +
                                                 "' is read inside of a branch or a loop's body, "
                                                 "and means nothing outside of it; make it before");
  }
}

class Ordering {
public:
  explicit Ordering(Program &p) : program(p) {}

  void run() {
    for (Node &node : program.main)
      if (node.calls(readSizeTarget))
        waiting[sizeReadOf(node).symbol] = &node;
    for (Node &node : program.main) {
      if (waiting.empty())
        return;
      place(node, node);
    }
  }

private:
  /// What `node` mentions is read before `before`, which is the node or one that needs it.
  void place(Node &node, Node &before) {
    for (const std::string &name : symbolsOf(node)) {
      auto entry = waiting.find(name);
      if (entry == waiting.end() || entry->second == &node)
        continue;
      Node *read = entry->second;
      hoist(*read, before);
    }
    if (node.calls(readSizeTarget))
      waiting.erase(sizeReadOf(node).symbol);
  }

  void hoist(Node &node, Node &before) {
    if (&node == &before)
      throw DiagnosticError(before.location,
                            "'" + before.target() +
                                "' needs a size that is read from what it computes itself");
    if (node.isBefore(&before))
      return;
    node.forEachOperand([&](Value *value) { hoist(*value->producer(), before); });
    node.graph()->moveBefore(&node, &before);
    place(node, node);
  }

  static void addAll(const Node &node, const Program &program, std::set<std::string> &names,
                     std::set<uint32_t> &seen) {
    add(node, names);
    for (uint32_t region : node.regions)
      if (seen.insert(region).second)
        for (const Node &inner : program.bodies[region].graph)
          addAll(inner, program, names, seen);
  }
  std::set<std::string> symbolsOf(const Node &node) const {
    std::set<std::string> names;
    std::set<uint32_t> seen;
    addAll(node, program, names, seen);
    return names;
  }

  Program &program;
  std::map<std::string, Node *> waiting;
};

} // namespace

void checkSizeReads(const Program &program) {
  Scopes scopes;
  std::vector<uint32_t> regions = regionsOf(program.main, program);
  for (uint32_t region : regions) {
    const Graph &graph = program.bodies[region].graph;
    for (const Node &node : graph)
      if (node.calls(readSizeTarget)) {
        std::set<const Graph *> &scope = scopes[sizeReadOf(node).symbol];
        if (!scope.empty())
          throw DiagnosticError(node.location, "size '" + sizeReadOf(node).symbol +
                                                   "' is read in two branches or loops' bodies");
        scope.insert(&graph);
        for (uint32_t inner : regionsOf(graph, program))
          scope.insert(&program.bodies[inner].graph);
      }
  }
  if (scopes.empty())
    return;
  checkScopes(program.main, scopes);
  for (uint32_t region : regions)
    checkScopes(program.bodies[region].graph, scopes);
}

void orderSizeReads(Program &program) { Ordering(program).run(); }

} // namespace pellucid::passes
