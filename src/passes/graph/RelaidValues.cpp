// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/RelaidValues.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <numeric>

namespace pellucid::passes {

using namespace graph;

std::optional<std::vector<size_t>> denseOrder(const TensorType &type, const SymbolTable &symbols) {
  if (type.offset.constant() != 0)
    return std::nullopt;
  std::vector<size_t> order(type.rank());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return symbols.range(type.strides[a] - type.strides[b]).min > 0;
  });
  Expr step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    size_t d = order[i];
    if (type.shape[d].constant() == 1)
      continue;
    if (!symbols.proveEqual(type.strides[d], step))
      return std::nullopt;
    step = step * type.shape[d];
  }
  return order;
}

void RelaidValues::move(Value *before, Value *after) {
  if (!before->isTensor() || before->type() == after->type())
    program.main.replaceAllUses(before, after);
  else
    moved[before] = after;
}

Value *RelaidValues::now(Value *value) const {
  auto entry = moved.find(value);
  return entry == moved.end() ? value : entry->second;
}

void RelaidValues::visit(Node &node) {
  bool readsMoved = false;
  node.forEachOperand([&](Value *value) { readsMoved |= isMoved(value); });
  if (!readsMoved || (canFollow(node) && replace(node, argumentsOf(node), keywordsOf(node))))
    return;
  std::vector<Value *> operands;
  node.forEachOperand([&](Value *value) { operands.push_back(value); });
  for (Value *value : operands)
    if (isMoved(value))
      node.replaceUses(value, restore(value));
}

/// Operators whose results are the same elements however their operands lie.
bool RelaidValues::canFollow(const Node &node) const {
  if (!node.isCall() || node.isLaunch() || isControlFlow(node) || isHostStep(node))
    return false;
  const Operator *op = registry.find(node.target());
  if (!op || !op->pure)
    return false;
  switch (op->kind) {
  case Operator::Kind::Pointwise:
  case Operator::Kind::Reduction:
  case Operator::Kind::RowKernel:
  case Operator::Kind::Gemm:
    return true;
  case Operator::Kind::Attention:
    return attends(node);
  case Operator::Kind::View:
    return op->schema.name != "as_strided";
  case Operator::Kind::Copy:
    return op->schema.name != "as_strided_scatter";
  default:
    return false;
  }
}

/// Rows of queries, keys and values are read as vectors.
bool RelaidValues::attends(const Node &node) const {
  for (size_t i = 0; i < std::min<size_t>(3, node.args().size()); ++i) {
    Value *value = node.arg(i).value();
    if (!value || now(value)->type().strides.back().constant() != 1)
      return false;
  }
  return true;
}

bool RelaidValues::replace(Node &node, std::vector<Argument> args, KeywordArguments kwargs) {
  Node *made = nullptr;
  try {
    made = emitCall(program.main, registry, program.symbols, node.target(), std::move(args),
                    std::move(kwargs), node.location);
  } catch (const DiagnosticError &) {
    return false;
  }
  made->stackNote = node.stackNote;
  for (size_t i = 0; i < node.resultCount(); ++i)
    move(node.result(i), made->result(i));
  return true;
}

Argument RelaidValues::now(Argument argument) const {
  std::vector<Value *> values;
  argument.forEachValue([&](Value *value) { values.push_back(value); });
  for (Value *value : values)
    if (auto entry = moved.find(value); entry != moved.end())
      argument.replaceValue(value, entry->second);
  return argument;
}

std::vector<Argument> RelaidValues::argumentsOf(const Node &node) const {
  std::vector<Argument> args;
  for (const Argument &argument : node.args())
    args.push_back(now(argument));
  return args;
}

KeywordArguments RelaidValues::keywordsOf(const Node &node) const {
  KeywordArguments kwargs = node.kwargs();
  for (auto &[name, argument] : kwargs)
    argument = now(argument);
  return kwargs;
}

Value *RelaidValues::call(std::string_view target, std::vector<Argument> args,
                          KeywordArguments kwargs) {
  return emitCall(program.main, registry, program.symbols, target, std::move(args),
                  std::move(kwargs), program.main.insertionPoint()->location)
      ->result();
}

Value *RelaidValues::dense(Value *value) {
  return call("aten.clone.default", {value}, {{"memory_format", "contiguous_format"}});
}

/// The elements of `value` in the order that it was traced with.
Value *RelaidValues::restore(Value *value) {
  Value *&known = restored[value];
  if (known)
    return known;
  const TensorType &type = value->type();
  auto order = denseOrder(type, program.symbols);
  if (!order)
    throw CannotRestore();
  if (type.isContiguous(program.symbols))
    return known = dense(moved.at(value));
  Argument::List there, back(order->size());
  for (size_t i = 0; i < order->size(); ++i) {
    there.emplace_back(static_cast<int64_t>((*order)[i]));
    back[(*order)[i]] = Argument(static_cast<int64_t>(i));
  }
  Value *made = call("aten.permute.default",
                     {dense(call("aten.permute.default", {moved.at(value), there})), back});
  if (!(made->type() == type))
    throw CannotRestore();
  return known = made;
}

} // namespace pellucid::passes
