// SPDX-License-Identifier: Apache-2.0
/// Control flow: calls whose regions are graphs of the program (Node::regions, Program::bodies).
///
///   higher_order.cond(predicate, [operand…])                regions: true, false
///   higher_order.while_loop([carried…], [additional…])      regions: condition, body
///   higher_order.scan([init…], [xs…], [additional…])        regions: combine
///   higher_order.associative_scan([xs…], [additional…])     regions: combine
///
/// A region sees nothing but its placeholders: the operands in this order, of `xs` a slice of dim 0
/// (for an associative scan the slice of the result so far, then that of `xs`). What is carried and
/// scanned is contiguous; operands of a cond and additional ones come as they are. It writes none
/// of them and has no other effect. A map is a scan that carries nothing; `reverse=True` takes the
/// slices from the last to the first.
#pragma once

#include "graph/Program.h"

#include <unordered_set>

namespace pellucid::graph {

enum class ControlKind : uint8_t { Cond, WhileLoop, Scan, AssociativeScan };

/// What the operands of one such call are for.
struct ControlFlow {
  ControlKind kind = ControlKind::Cond;
  Argument predicate;              ///< Cond: a bool tensor of one element, or an integer, not 0
  std::vector<Value *> carried;    ///< WhileLoop, Scan: what the first turn gets
  std::vector<Value *> scanned;    ///< Scan, AssociativeScan
  std::vector<Value *> additional; ///< what every turn gets; Cond: all operands
  bool reverse = false;

  std::vector<Value *> operands() const;
  /// Scan: how many results are those of the last turn; the others are stacked along dim 0.
  size_t carriedResults() const { return carried.size(); }
};

inline constexpr std::string_view condTarget = "higher_order.cond",
                                  whileLoopTarget = "higher_order.while_loop",
                                  scanTarget = "higher_order.scan",
                                  associativeScanTarget = "higher_order.associative_scan";

bool isControlFlow(const Node &node);
/// Of a node that whyNotControlFlow() finds nothing wrong with.
ControlFlow controlFlowOf(const Node &node);
/// What is wrong with the node's operands, regions or results, as the rest of a sentence that
/// begins with its name; empty when all is well.
std::string whyNotControlFlow(const Node &node, const Program &program);

/// The placeholders of loops' bodies that stand for what the loop carries: nothing reads such
/// memory once a turn has ended, and the result at the same place is what the next turn gets. A
/// body that several nodes run is one only where all of them carry it.
std::unordered_set<const Value *> carriedPlaceholders(const Program &program);

/// How many times the region of a scan runs (associative: once less than there are slices).
Expr turnsOf(const ControlFlow &flow);
/// One slice along dim 0, at offset 0.
TensorType sliceOf(const TensorType &type);
/// `count` slices of `slice` one after another.
TensorType stackOf(const TensorType &slice, const Expr &count);

/// The bodies that the graph and its regions run as regions, inner ones first, once each.
std::vector<uint32_t> regionsOf(const Graph &graph, const Program &program);

/// Makes a region the main graph of its program, as passes over a program want it, until it goes:
/// every placeholder an input of the user's, every result one, too.
class RegionAsMain {
public:
  RegionAsMain(Program &program, uint32_t region);
  ~RegionAsMain();
  RegionAsMain(const RegionAsMain &) = delete;

private:
  Program &program;
  Graph &region;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
};

} // namespace pellucid::graph
