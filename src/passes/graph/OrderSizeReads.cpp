// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/OrderSizeReads.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

void checkSizeReads(const Program &program) {
  for (uint32_t region : regionsOf(program.main, program))
    for (const Node &node : program.bodies[region].graph)
      if (node.calls(readSizeTarget))
        throw DiagnosticError(node.location,
                              sizeReadOf(node).text + ": values decide this size inside of " +
                                  program.bodies[region].operatorName +
                                  ", where each turn or branch would have another; make it before, "
                                  "or keep to sizes that inputs say");
      else if (node.calls(checkSizesTarget))
        throw DiagnosticError(node.location,
                              sizeCheckOf(node).text + ": sizes cannot be checked inside of " +
                                  program.bodies[region].operatorName + "; check them before");
}

namespace {

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

  static void add(const Expr &e, std::set<std::string> &names) {
    for (std::string &name : e.symbols())
      names.insert(std::move(name));
  }
  static void add(const Argument &argument, std::set<std::string> &names) {
    if (auto e = argument.as<Expr>())
      add(*e, names);
    else if (const Argument::List *list = argument.list())
      for (const Argument &element : *list)
        add(element, names);
  }
  static void add(const Graph &graph, const Program &program, std::set<std::string> &names,
                  std::set<uint32_t> &seen) {
    for (const Node &node : graph)
      add(node, program, names, seen);
  }
  static void add(const Node &node, const Program &program, std::set<std::string> &names,
                  std::set<uint32_t> &seen) {
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
    if (const Launch *launch = node.launch()) {
      for (const LaunchOperand &operand : launch->operands)
        add(operand.value, names);
      for (const LaunchVariant &variant : launch->variants) {
        add(variant.guard, names);
        for (const Expr &grid : variant.grid)
          add(grid, names);
      }
    }
    for (uint32_t region : node.regions)
      if (seen.insert(region).second)
        add(program.bodies[region].graph, program, names, seen);
  }
  std::set<std::string> symbolsOf(const Node &node) const {
    std::set<std::string> names;
    std::set<uint32_t> seen;
    add(node, program, names, seen);
    return names;
  }

  Program &program;
  std::map<std::string, Node *> waiting;
};

} // namespace

void orderSizeReads(Program &program) { Ordering(program).run(); }

} // namespace pellucid::passes
