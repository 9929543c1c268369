// SPDX-License-Identifier: Apache-2.0
#include "graph/NodeTable.h"
#include "graph/Schema.h"

#include <algorithm>

namespace pellucid::graph {

namespace {
/// The value whose storage a launch wrote when `value` is its result; `value` itself otherwise.
const Value *baseOf(const Value *value) {
  while (value->producer()->isLaunch()) {
    const Launch &launch = *value->producer()->launch();
    value = launch.operands[launch.resultOperands[value->resultIndex()]].value.value();
  }
  return value;
}

std::string argumentText(const Argument &argument) {
  if (const Value *v = argument.value())
    return baseOf(v)->name();
  const Argument::List *list = argument.list();
  if (!list)
    return graph::toString(argument);
  std::string out = "[";
  for (const Argument &a : *list)
    out += (out.size() > 1 ? ", " : "") + argumentText(a);
  return out + "]";
}

std::string tuple(const std::vector<Argument> &args) {
  std::string out = "(";
  for (const Argument &a : args)
    out += (out.size() > 1 ? ", " : "") + argumentText(a);
  return out + (args.size() == 1 ? ",)" : ")");
}

std::string dict(const KeywordArguments &kwargs) {
  std::string out = "{";
  for (const auto &[name, a] : kwargs)
    out += (out.size() > 1 ? ", '" : "'") + name + "': " + argumentText(a);
  return out + "}";
}

std::string gridText(const LaunchVariant &variant) {
  return "(" + variant.grid[0].text() + ", " + variant.grid[1].text() + ", " +
         variant.grid[2].text() + ")";
}

/// One entry for one variant; a list with guards for several.
std::string launchText(const Program &program, const Launch &launch) {
  std::string kernels, grids, constants;
  for (const LaunchVariant &v : launch.variants) {
    std::string separator = kernels.empty() ? "" : ", ";
    const std::string name =
        v.kernel < program.kernels.size() ? program.kernels[v.kernel].symbol : "?";
    kernels += separator + "'" + name + "'" + (v.guard == Expr(1) ? "" : " if " + v.guard.text());
    grids += separator + gridText(v);
    constants += separator + dict(v.constants);
  }
  if (launch.variants.size() > 1) {
    kernels = "[" + kernels + "]";
    constants = "[" + constants + "]";
  }
  KeywordArguments operands;
  for (const LaunchOperand &o : launch.operands)
    operands.emplace_back(o.name, o.value);
  return "{'kernel': " + kernels + ", 'grid': [" + grids + "], 'constant_args': " + constants +
         ", 'kwargs': " + dict(operands) + "}";
}

std::string_view opcodeText(Opcode opcode) {
  static constexpr std::string_view names[] = {"placeholder", "call_function", "output"};
  return names[static_cast<size_t>(opcode)];
}
} // namespace

std::vector<NodeRow> nodeRows(const Program &program, const Graph &graph) {
  std::vector<NodeRow> rows;
  for (const Node &node : graph) {
    NodeRow row{std::string(opcodeText(node.opcode())), node.name(), node.target(),
                tuple(node.args()), dict(node.kwargs())};
    if (node.isLaunch())
      row.kwargs = launchText(program, *node.launch());
    if (node.isOutput())
      row.args = "(" + tuple(node.args()) + ",)";
    rows.push_back(std::move(row));
    if (node.isCall() && !node.isLaunch() && node.resultCount() > 1)
      for (size_t i = 0; i < node.resultCount(); ++i)
        rows.push_back({"call_function", node.result(i)->name(), "_operator.getitem",
                        "(" + node.name() + ", " + std::to_string(i) + ")", "{}"});
  }
  return rows;
}

std::string printNodeTable(const std::vector<NodeRow> &rows) {
  std::vector<NodeRow> all{{"opcode", "name", "target", "args", "kwargs"}};
  all.insert(all.end(), rows.begin(), rows.end());
  constexpr std::string NodeRow::*columns[] = {&NodeRow::opcode, &NodeRow::name, &NodeRow::target,
                                               &NodeRow::args};
  size_t widths[4] = {};
  for (const NodeRow &row : all)
    for (int c = 0; c < 4; ++c)
      widths[c] = std::max(widths[c], (row.*columns[c]).size());
  std::string out;
  for (size_t r = 0; r < all.size(); ++r) {
    for (int c = 0; c < 4; ++c)
      out += all[r].*columns[c] + std::string(widths[c] - (all[r].*columns[c]).size() + 2, ' ');
    out += all[r].kwargs + "\n";
    if (r == 0) {
      for (size_t width : widths)
        out += std::string(width, '-') + "  ";
      out += "------\n";
    }
  }
  return out;
}

} // namespace pellucid::graph
