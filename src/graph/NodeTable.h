// SPDX-License-Identifier: Apache-2.0
/// A graph as torch.export prints it: one row per node.
#pragma once

#include "graph/Program.h"

#include <string>
#include <vector>

namespace pellucid::graph {

struct NodeRow {
  std::string opcode, name, target, args, kwargs;
};

/// A launch is one row whose kwargs are kernel, grid, constants and operands; a use of its result
/// prints the operand that it is the new contents of, as PyTorch mutates in place. Parts of a
/// multi-result call get getitem rows.
std::vector<NodeRow> nodeRows(const Program &program, const Graph &graph);

/// The rows under the heading `opcode name target args kwargs`, columns aligned.
std::string printNodeTable(const std::vector<NodeRow> &rows);

} // namespace pellucid::graph
