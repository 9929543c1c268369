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

class ArchiveSizes {
public:
  /// Of the main graph or a region; a region takes sizes from any of its placeholders.
  ArchiveSizes(const graph::Program &program, const graph::Graph &graph);

  /// A SymInt: `{"as_int": 8}` or `{"as_expr": …}`.
  void print(package::JsonWriter &json, const graph::Expr &size) const;

  /// The name of the node that computes `size`, which is no constant. Nodes that are new go to
  /// `nodes`, in order.
  std::string nameOf(const graph::Expr &size, std::vector<std::string> &nodes,
                     const SourceLocation &where);

  /// Values that nodes gave names to, with what they are.
  const std::map<std::string, graph::Expr> &named() const { return values; }

  /// A name that no value of the graph has, nor one given here.
  std::string uniqueName(std::string hint);

  /// As the archive calls a symbol: PyTorch takes those that begin with a u for sizes that values
  /// decide.
  const std::string &symbolName(const std::string &symbol) const { return symbols.at(symbol); }

  /// `L['x'].size()[0]`, or empty where no input has the symbol as a size.
  std::string sourceOf(const std::string &symbol) const;

private:
  struct Source {
    std::string input;
    size_t dim = 0;
    int64_t factor = 1, offset = 0; ///< the size is symbol * factor + offset
  };
  graph::Expr renamed(const graph::Expr &size) const;
  const Source *findSource(const std::string &symbol) const;
  void findSources();
  std::string compute(const char *target, std::vector<std::string> operands,
                      const graph::Expr &value, std::vector<std::string> &nodes);
  std::string symbolValue(const std::string &symbol, std::vector<std::string> &nodes,
                          const SourceLocation &where);
  std::string operand(const graph::Expr &size, std::vector<std::string> &nodes,
                      const SourceLocation &where);

  const graph::Program &program;
  const graph::Graph &graph;
  std::map<std::string, std::string> symbols;
  std::map<std::string, graph::Expr> renames;
  std::map<std::string, Source> sources;
  std::unordered_map<graph::Expr, std::string> names;
  std::map<std::string, graph::Expr> values;
  std::set<std::string> taken;
  std::map<std::string, int> nextSuffix;
};

} // namespace pellucid::trace
