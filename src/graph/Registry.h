// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Operator.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::graph {

/// Operators by name, layered: what is not here is looked up below. Built-in and user operators go
/// through add() alike.
class OperatorRegistry {
public:
  /// Over the built-in operators.
  OperatorRegistry() : base(&builtins()) {}
  explicit OperatorRegistry(const OperatorRegistry *base) : base(base) {}
  static const OperatorRegistry &builtins();

  /// Throws DiagnosticError when the target is taken.
  const Operator &add(Operator op, const SourceLocation &where = {});

  /// By target: `aten.add.Tensor`.
  const Operator *find(std::string_view target) const;
  /// By `aten.add`, in the order in which they were added.
  std::vector<const Operator *> overloads(std::string_view packet) const;
  /// The first overload that takes these arguments, as `torch.ops.aten.add(…)` picks it. `packet`
  /// may also be a whole target. Throws DiagnosticError at `where`, with every overload's reason as
  /// a note.
  const Operator &resolve(std::string_view packet, std::span<const Argument> args,
                          const KeywordArguments &kwargs, const SourceLocation &where) const;
  /// Every target, sorted; the layers below included.
  std::vector<std::string> targets() const;

private:
  const OperatorRegistry *base;
  std::map<std::string, std::unique_ptr<Operator>, std::less<>> byTarget;
  std::map<std::string, std::vector<const Operator *>, std::less<>> byPacket;
};

/// A call of that very operator. Throws DiagnosticError at `where` where it takes other arguments.
OperatorCall bindCall(const Operator &op, const SymbolTable &symbols,
                      std::span<const Argument> args, const KeywordArguments &kwargs,
                      const SourceLocation &where);
/// The call that emitCall() would add. `packet` as for resolve().
OperatorCall bindCall(const OperatorRegistry &registry, const SymbolTable &symbols,
                      std::string_view packet, const std::vector<Argument> &args,
                      const KeywordArguments &kwargs, const SourceLocation &where);
/// The fake function's results; refuses negative sizes and counts that 64 bits do not hold.
std::vector<ResultType> resultsOf(const OperatorCall &call);

/// Binds and runs the fake function, then adds the node: the way every traced call enters a graph.
/// `packet` as for resolve(). Throws DiagnosticError at `where`. `made`, where it is asked for, is
/// the call as it was bound.
Node *emitCall(Graph &graph, const OperatorRegistry &registry, const SymbolTable &symbols,
               std::string_view packet, std::vector<Argument> args, KeywordArguments kwargs = {},
               const SourceLocation &where = {}, std::optional<OperatorCall> *made = nullptr);

/// The same of an operator that is known.
Node *emitCall(Graph &graph, const SymbolTable &symbols, const Operator &op,
               std::vector<Argument> args, KeywordArguments kwargs, const SourceLocation &where,
               std::optional<OperatorCall> *made = nullptr);

/// The bound call of a node that calls a registered operator; nullopt for launches and unknown
/// targets.
std::optional<OperatorCall> callOf(const Node &node, const OperatorRegistry &registry,
                                   const SymbolTable &symbols);

/// Adds nodes that compute what `node` does, without touching it, and returns their values, one per
/// result. The operator must have a decomposition.
std::vector<Value *> decompose(Graph &graph, Node &node, const OperatorRegistry &registry,
                               const SymbolTable &symbols);

} // namespace pellucid::graph
