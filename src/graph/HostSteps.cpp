// SPDX-License-Identifier: Apache-2.0
#include "graph/HostSteps.h"

namespace pellucid::graph {

bool isHostStep(const Node &node) {
  return node.calls(readSizeTarget) || node.calls(checkSizesTarget);
}

SizeRead sizeReadOf(const Node &node) {
  return {node.arg(0).value(), node.arg(1).as<Expr>()->symbolName(), *node.arg(2).integer(),
          *node.arg(3).string()};
}

SizeCheck sizeCheckOf(const Node &node) { return {*node.arg(0).integer(), *node.arg(1).string()}; }

std::string whyNotHostStep(const Node &node) {
  const std::vector<Argument> &args = node.args();
  if (!node.kwargs().empty() || node.body || !node.regions.empty() || !node.mutatedArgs.empty())
    return "takes arguments by position, has no body and writes no argument";
  if (node.calls(checkSizesTarget))
    return args.size() == 2 && args[0].integer() && args[1].string() && node.resultCount() == 0
               ? ""
               : "takes a condition and a text, and has no result";
  const Value *from = args.size() == 4 ? args[0].value() : nullptr;
  auto symbol = args.size() == 4 ? args[1].as<Expr>() : std::nullopt;
  if (!from || !symbol || symbol->op() != symbolic::ExprOp::Symbol || !args[2].integer() ||
      !args[3].string())
    return "takes a tensor, a symbol, the most that it may be and a text";
  if (!from->isTensor() || from->type().dtype != DataType::Int64 || from->type().rank() != 0)
    return "reads a tensor of int64 without dims";
  if (node.resultCount() != 1 || !node.result()->isSymInt() || !(node.result()->expr() == *symbol))
    return "has the symbol as its result";
  return {};
}

static void addReadSymbols(const Graph &graph, std::set<std::string> &symbols) {
  for (const Node &node : graph)
    if (node.calls(readSizeTarget))
      symbols.insert(sizeReadOf(node).symbol);
}

std::set<std::string> readSymbols(const Program &program) {
  std::set<std::string> symbols;
  addReadSymbols(program.main, symbols);
  for (const Body &body : program.bodies)
    addReadSymbols(body.graph, symbols);
  return symbols;
}

} // namespace pellucid::graph
