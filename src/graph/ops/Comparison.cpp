// SPDX-License-Identifier: Apache-2.0
/// Comparisons, logic, bits and selection.
#include "graph/ops/Families.h"

namespace pellucid::graph {

using Domain = PointwiseCase::Domain;
using enum Promotion;

namespace {
void addComparison(OperatorRegistry &registry, const std::string &name, const std::string &sign) {
  // Scalar first: `x > 0` is gt.Scalar.
  const std::string scalar = "aten::" + name + ".Scalar(Tensor self, Scalar other) -> Tensor";
  const std::string tensor = "aten::" + name + ".Tensor(Tensor self, Tensor other) -> Tensor";
  const std::string text = "self " + sign + " other";
  const PointwiseRow rows[] = {{scalar, AlwaysBool, {{text}}}, {tensor, AlwaysBool, {{text}}}};
  addPointwise(registry, rows);
}

void addBitwise(OperatorRegistry &registry, const std::string &name, const std::string &sign) {
  const std::string scalar =
      "aten::bitwise_" + name + ".Scalar(Tensor self, Scalar other) -> Tensor";
  const std::string tensor =
      "aten::bitwise_" + name + ".Tensor(Tensor self, Tensor other) -> Tensor";
  const std::string text = "self " + sign + " other";
  std::vector<PointwiseCase> cases = {{text, Domain::Integer}, {text, Domain::Bool}};
  const PointwiseRow rows[] = {{scalar, NoOpMath, cases}, {tensor, NoOpMath, cases}};
  addPointwise(registry, rows);
}
} // namespace

namespace {
/// What leaves the type on a shift is gone, also where the processor's own shift takes the distance
/// modulo the width. Distances below zero count as such.
void addShift(OperatorRegistry &registry, const std::string &name, const std::string &sign,
              const std::string &gone) {
  const std::string text = "tl.where((other < 0) | (other >= self.dtype.primitive_bitwidth), " +
                           gone + ", self " + sign + " other)";
  const std::string head = "aten::bitwise_" + name;
  const std::string scalar = head + ".Scalar(Tensor self, Scalar other) -> Tensor";
  const std::string tensor = head + ".Tensor(Tensor self, Tensor other) -> Tensor";
  const PointwiseRow rows[] = {{scalar, NoOpMath, {{text, Domain::Integer}}, 3},
                               {tensor, NoOpMath, {{text, Domain::Integer}}, 3}};
  addPointwise(registry, rows);
}
} // namespace

void registerComparisonOperators(OperatorRegistry &registry) {
  addComparison(registry, "eq", "==");
  addComparison(registry, "ne", "!=");
  addComparison(registry, "lt", "<");
  addComparison(registry, "le", "<=");
  addComparison(registry, "gt", ">");
  addComparison(registry, "ge", ">=");
  addBitwise(registry, "and", "&");
  addBitwise(registry, "or", "|");
  addBitwise(registry, "xor", "^");
  addShift(registry, "left_shift", "<<", "0");
  addShift(registry, "right_shift", ">>", "tl.where(self < 0, -1, 0)");
  const std::string select = "tl.where(condition, self, other)";
  const PointwiseRow rows[] = {
      {"aten::logical_and.default(Tensor self, Tensor other) -> Tensor",
       AlwaysBool,
       {{"(self != 0) & (other != 0)"}}},
      {"aten::logical_or.default(Tensor self, Tensor other) -> Tensor",
       AlwaysBool,
       {{"(self != 0) | (other != 0)"}}},
      {"aten::logical_xor.default(Tensor self, Tensor other) -> Tensor",
       AlwaysBool,
       {{"(self != 0) != (other != 0)"}}},
      {"aten::logical_not.default(Tensor self) -> Tensor", AlwaysBool, {{"self == 0"}}},
      {"aten::bitwise_not.default(Tensor self) -> Tensor",
       NoOpMath,
       {{"~self", Domain::Integer}, {"self == 0", Domain::Bool}}},
      {"aten::isnan.default(Tensor self) -> Tensor", AlwaysBool, {{"self != self"}}},
      {"aten::isinf.default(Tensor self) -> Tensor",
       AlwaysBool,
       {{"tl.abs(self) == float('inf')", Domain::Floating}, {"self != self"}}},
      {"aten::isfinite.default(Tensor self) -> Tensor",
       AlwaysBool,
       {{"tl.abs(self) < float('inf')", Domain::Floating}, {"self == self"}}},
      {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
       NoOpMath,
       {{select}}},
      {"aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
       NoOpMath,
       {{select}}},
      {"aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
       NoOpMath,
       {{select}}},
      {"aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
       NoOpMath,
       {{select}}},
      {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
       NoOpMath,
       {{"tl.where(mask, value, self)"}}},
  };
  addPointwise(registry, rows);
}

} // namespace pellucid::graph
