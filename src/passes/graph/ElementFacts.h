// SPDX-License-Identifier: Apache-2.0
/// What every element of a tensor is by its place alone: integers that count along the dims, truths
/// that compare such integers, and numbers chosen by such truths. Nothing of a program's inputs is
/// in them (docs/design/0061).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace pellucid::passes {

/// base + Σ steps[d] * index[d]; the step along a dim of one element is 0.
struct CountedNumber {
  symbolic::Expr base = 0;
  std::vector<symbolic::Expr> steps; ///< one for each dim
};

struct ElementFacts {
  enum class Kind : uint8_t {
    Number, ///< an integer, `number`
    Truth,  ///< whether all of `holds` are at least 0, and not `never`
    Choice, ///< a floating-point number: `yes` where that is so, else `no`
  };
  Kind kind = Kind::Number;
  CountedNumber number;
  std::vector<CountedNumber> holds;
  bool never = false;
  double yes = 0, no = 0;

  bool isAlways() const { return holds.empty() && !never; }
};

class ElementAnalysis {
public:
  ElementAnalysis(const graph::OperatorRegistry &registry, const symbolic::SymbolTable &symbols)
      : registry(registry), symbols(symbols) {}

  /// nullptr: its elements are not known so.
  const ElementFacts *of(const graph::Value *value);
  /// Those of `facts`, which has the shape `from`, as a tensor of shape `to` has them by
  /// broadcasting.
  ElementFacts broadcast(const ElementFacts &facts, const std::vector<symbolic::Expr> &from,
                         const std::vector<symbolic::Expr> &to) const;

private:
  using Found = std::optional<ElementFacts>;
  Found find(const graph::Node &node);
  Found ofOperator(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofFactory(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofView(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofSlice(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofReshape(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofCast(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofArithmetic(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofComparison(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofLogic(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofSelection(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofJoin(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofLookup(const graph::OperatorCall &call, const graph::TensorType &type);
  Found ofSums(const graph::OperatorCall &call, const graph::TensorType &type);

  /// An operand, a tensor or a number, as the result of shape `shape` sees it.
  Found operand(const graph::OperatorCall &call, std::string_view name,
                const std::vector<symbolic::Expr> &shape);
  /// It as an integer, truths as 0 and 1 where they are the same everywhere.
  std::optional<CountedNumber> counted(const Found &facts) const;
  ElementFacts truth(CountedNumber atLeastZero, const std::vector<symbolic::Expr> &shape) const;
  /// The other way round, where that is one comparison.
  Found negated(const ElementFacts &facts) const;
  /// The least and the most over all places; nullopt: not known.
  struct Bounds {
    symbolic::Expr least, most;
  };
  std::optional<Bounds> bounds(const CountedNumber &number,
                               const std::vector<symbolic::Expr> &shape) const;
  Found fitting(CountedNumber number, const graph::TensorType &type) const;

  const graph::OperatorRegistry &registry;
  const symbolic::SymbolTable &symbols;
  std::unordered_map<const graph::Value *, Found> known;
};

} // namespace pellucid::passes
