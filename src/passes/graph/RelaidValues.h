// SPDX-License-Identifier: Apache-2.0
/// Values that lie in memory otherwise than they were traced, and what follows them.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <unordered_map>

namespace pellucid::passes {

class RelaidValues {
public:
  /// Strides of one element that no pass can keep.
  struct CannotRestore {};

  RelaidValues(graph::Program &p, const graph::OperatorRegistry &r) : program(p), registry(r) {}

  /// Every use of `before` is one of `after` at once where both have one type, else where the
  /// readers are visited.
  void move(graph::Value *before, graph::Value *after);
  bool isMoved(graph::Value *value) const { return moved.count(value) != 0; }
  /// What stands for it now.
  graph::Value *now(graph::Value *value) const;

  /// If `node` reads values that were moved: makes it again on what they are now, by its own rule,
  /// or gives it copies of them as they were.
  void visit(graph::Node &node);
  /// The same operator on these operands. False where it cannot look at them so.
  bool replace(graph::Node &node, std::vector<graph::Argument> args,
               graph::KeywordArguments kwargs);
  std::vector<graph::Argument> argumentsOf(const graph::Node &node) const;

  graph::Value *call(std::string_view target, std::vector<graph::Argument> args,
                     graph::KeywordArguments kwargs = {});
  graph::Value *dense(graph::Value *value);

private:
  bool canFollow(const graph::Node &node) const;
  bool attends(const graph::Node &node) const;
  graph::Argument now(graph::Argument argument) const;
  graph::KeywordArguments keywordsOf(const graph::Node &node) const;
  graph::Value *restore(graph::Value *value);

  graph::Program &program;
  const graph::OperatorRegistry &registry;
  std::unordered_map<graph::Value *, graph::Value *> moved; ///< the same elements, other strides
  std::unordered_map<graph::Value *, graph::Value *> restored;
};

/// The dims of a tensor that lies in memory without gaps and from its first element on, outermost
/// first; nothing where it does not.
std::optional<std::vector<size_t>> denseOrder(const graph::TensorType &type,
                                              const graph::SymbolTable &symbols);

/// Runs `Pass` on a copy of the program, which is taken where it changed something and could
/// restore what readers need; returns how much it changed.
template <typename Pass, typename... Options>
size_t runOnTrial(graph::Program &program, const graph::OperatorRegistry &registry,
                  Options... options) {
  graph::Program trial = program.clone();
  try {
    size_t count = Pass(trial, registry, options...).run();
    if (count)
      program = std::move(trial);
    return count;
  } catch (const RelaidValues::CannotRestore &) {
    return 0;
  }
}

} // namespace pellucid::passes
