// SPDX-License-Identifier: Apache-2.0
/// Sizes as archives have them: expressions in the types of values, and nodes that compute them
/// where an operator takes one.
#pragma once

#include "graph/Program.h"
#include "package/JsonWriter.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace pellucid::trace {

/// Where a graph finds a symbol: `size` of the input's dim is symbol * factor + offset. Of a number
/// that may be below zero one dim has what is above and the next what is below.
struct SizeSource {
  std::string input;
  size_t dim = 0;
  int64_t factor = 1, offset = 0;
  bool isSigned = false;
};

/// The symbols that operators of a region, and of those inside of it, mention, and that no dim of
/// its placeholders tells and none of its operators reads.
std::set<std::string> symbolsFromOutside(const graph::Program &program, const graph::Graph &region);

class ArchiveSizes {
public:
  /// Of the main graph or a region; a region takes sizes from any of its placeholders. `reads`:
  /// graph::readSymbols(program).
  ArchiveSizes(const graph::Program &program, const graph::Graph &graph,
               const std::set<std::string> &reads);

  /// A SymInt: `{"as_int": 8}` or `{"as_expr": …}`.
  void print(package::JsonWriter &json, const graph::Expr &size) const;

  /// The name of the node that computes `size`, which is no constant. Nodes that are new go to
  /// `nodes`, in order.
  std::string nameOf(const graph::Expr &size, std::vector<std::string> &nodes,
                     const SourceLocation &where);

  /// The same of a condition, which is no constant: a SymBool.
  std::string conditionNameOf(const graph::Expr &condition, std::vector<std::string> &nodes,
                              const SourceLocation &where);

  /// A node that takes the value of `symbol` from a tensor of the graph, `tensor`: from here on the
  /// symbol is known.
  void read(const std::string &symbol, const std::string &tensor, std::vector<std::string> &nodes);

  /// An input of a region's graph that tells a symbol.
  void addSource(const std::string &symbol, SizeSource source) {
    sources.emplace(symbol, std::move(source));
  }
  /// Null where no input tells it.
  const SizeSource *findSource(const std::string &symbol) const;

  /// Values that nodes gave names to, with what they are: sizes, and conditions.
  const std::map<std::string, graph::Expr> &named() const { return values; }
  const std::map<std::string, graph::Expr> &namedConditions() const { return conditions; }

  /// `{"as_expr": …}` of a condition.
  void printCondition(package::JsonWriter &json, const graph::Expr &condition) const;

  /// A name that no value of the graph has, nor one given here.
  std::string uniqueName(std::string hint);

  /// As the archive calls a symbol: u0, u1, … are sizes that values decide, and no others begin
  /// with a u.
  const std::string &symbolName(const std::string &symbol) const { return symbols.at(symbol); }

  /// `L['x'].size()[0]`, or empty where no input has the symbol as a size.
  std::string sourceOf(const std::string &symbol) const;

private:
  graph::Expr renamed(const graph::Expr &size) const;
  std::string compute(const char *target, std::vector<std::string> operands,
                      const graph::Expr &value, std::vector<std::string> &nodes);
  std::string symbolValue(const std::string &symbol, std::vector<std::string> &nodes,
                          const SourceLocation &where);
  std::string computeCondition(const char *target, std::vector<std::string> operands,
                               const graph::Expr &value, std::vector<std::string> &nodes);
  std::string operand(const graph::Expr &size, std::vector<std::string> &nodes,
                      const SourceLocation &where);
  std::string conditionOperand(const graph::Expr &condition, std::vector<std::string> &nodes,
                               const SourceLocation &where);
  std::string chosen(const graph::Expr &condition, const graph::Expr &a, const graph::Expr &b,
                     const graph::Expr &value, std::vector<std::string> &nodes,
                     const SourceLocation &where);
  std::string folded(const char *target, const graph::Expr &size, std::vector<std::string> &nodes,
                     const SourceLocation &where);

  const graph::Program &program;
  const graph::Graph &graph;
  std::map<std::string, std::string> symbols;
  std::map<std::string, graph::Expr> renames;
  std::map<std::string, SizeSource> sources;
  std::unordered_map<graph::Expr, std::string> names, conditionNames;
  std::map<std::string, graph::Expr> values, conditions;
  std::set<std::string> taken;
  std::map<std::string, int> nextSuffix;
};

} // namespace pellucid::trace
