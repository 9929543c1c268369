// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/SumsOverSizes.h"

#include "graph/FakeRules.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// A sum of more elements is divided among programs, by a rule that also looks at the other dims.
constexpr int64_t mostUndivided = int64_t(1) << 15;

bool isKnown(const TensorType &type) {
  return std::all_of(type.shape.begin(), type.shape.end(),
                     [](const Expr &size) { return size.isConstant(); });
}

bool adds(const ReductionBody &body) {
  return body.combine == ReductionBody::Combine::Sum ||
         body.combine == ReductionBody::Combine::Prod;
}

/// Whether the order in which this reduction adds is the same with all sizes known.
bool hasKnownOrder(const OperatorCall &call) {
  const TensorType &from = call.args[0].value()->type();
  if (isKnown(from) || !isFloat(from.dtype) || !adds(call.op.reduction))
    return true;
  Expr count = 1;
  for (int64_t d : reducedDims(call, from))
    count = count * from.shape[static_cast<size_t>(d)];
  return count.constantOr(mostUndivided + 1) <= mostUndivided;
}

bool hasKnownRow(const OperatorCall &call) {
  const TensorType &from = call.value(call.op.row.input)->type();
  size_t first =
      call.op.row.isNorm()
          ? from.rank() - std::min(from.rank(), call.integers(call.op.row.rowDims).size())
      : from.rank() ? static_cast<size_t>(call.dim(call.op.row.rowDims, from.rank()))
                    : 0;
  size_t last = call.op.row.isNorm() ? from.rank() : std::min(from.rank(), first + 1);
  return std::all_of(from.shape.begin() + static_cast<std::ptrdiff_t>(first),
                     from.shape.begin() + static_cast<std::ptrdiff_t>(last),
                     [](const Expr &size) { return size.isConstant(); });
}

bool takesKnownSizes(const Node &node) {
  bool known = true;
  node.forEachOperand(
      [&](const Value *value) { known = known && (!value->isTensor() || isKnown(value->type())); });
  return known;
}

/// Whether floats are added where indices or lines say: what only moves them gives what it moves,
/// and integers add to the same in any order.
bool addsFloats(const Node &node, const OperatorCall &call) {
  if (!node.result()->isTensor() || !isFloat(node.result()->type().dtype))
    return false;
  const std::string &name = call.op.schema.name;
  if (name == "index_put")
    return call.flag("accumulate");
  if (name == "scatter_reduce")
    return call.string("reduce") != "amax" && call.string("reduce") != "amin";
  return name != "scatter" && name != "index_copy" && name != "index_fill" && name != "sort" &&
         name != "topk";
}

bool isOrdered(const Node &node, const OperatorCall &call) {
  switch (call.op.kind) {
  case Operator::Kind::Reduction:
    return hasKnownOrder(call);
  case Operator::Kind::RowKernel:
    return hasKnownRow(call);
  case Operator::Kind::Line:
  case Operator::Kind::Scatter:
    return !addsFloats(node, call) || takesKnownSizes(node);
  case Operator::Kind::Gemm:
    return call.op.schema.name != "convolution" || takesKnownSizes(node);
  default:
    return true;
  }
}

} // namespace

void refuseSumsOverSizes(const Program &program, const OperatorRegistry &registry) {
  if (program.symbols.names().empty())
    return;
  for (const Node &node : program.main)
    if (auto call = callOf(node, registry, program.symbols); call && !isOrdered(node, *call))
      throw DiagnosticError(node.location, "'" + node.target() +
                                               "' adds along dims of unknown size, in an order "
                                               "that depends on it");
}

} // namespace pellucid::passes
