// SPDX-License-Identifier: Apache-2.0
#include "graph/Operator.h"
#include "graph/FakeRules.h"
#include "support/Diagnostics.h"

#include <cassert>

namespace pellucid::graph {

const Argument &OperatorCall::at(std::string_view name) const {
  std::optional<size_t> index = op.schema.indexOf(name);
  assert(index && "the schema has no such argument");
  return args[*index];
}

const TensorType &OperatorCall::tensor(std::string_view name) const {
  Value *v = value(name);
  if (!v || !v->isTensor())
    fail("expects '" + std::string(name) + "' to be a tensor, got " + toString(at(name)));
  return v->type();
}

static std::optional<Expr> integerOf(const Argument &a) {
  if (const Value *v = a.value(); v && v->isSymInt())
    return v->expr();
  return a.integer();
}

Expr OperatorCall::integer(std::string_view name) const {
  if (std::optional<Expr> e = integerOf(at(name)))
    return *e;
  fail("expects '" + std::string(name) + "' to be an integer, got " + toString(at(name)));
}

int64_t OperatorCall::constant(std::string_view name) const {
  Expr e = integer(name);
  if (std::optional<int64_t> c = e.constant())
    return *c;
  fail("expects '" + std::string(name) + "' to be a constant, got " + e.text());
}

double OperatorCall::number(std::string_view name) const {
  if (std::optional<double> d = at(name).number())
    return *d;
  fail("expects '" + std::string(name) + "' to be a constant number, got " + toString(at(name)));
}

bool OperatorCall::flag(std::string_view name) const { return at(name).as<bool>().value_or(false); }

std::string OperatorCall::string(std::string_view name) const {
  const std::string *s = at(name).string();
  return s ? *s : std::string();
}

std::vector<Expr> OperatorCall::integers(std::string_view name) const {
  std::vector<Expr> out;
  const Argument::List *list = at(name).list();
  for (const Argument &a : list ? *list : Argument::List{}) {
    std::optional<Expr> e = integerOf(a);
    if (!e)
      fail("expects '" + std::string(name) + "' to hold integers, got " + toString(a));
    out.push_back(*e);
  }
  return out;
}

std::vector<int64_t> OperatorCall::constants(std::string_view name) const {
  std::vector<int64_t> out;
  for (const Expr &e : integers(name))
    if (std::optional<int64_t> c = e.constant())
      out.push_back(*c);
    else
      fail("expects '" + std::string(name) + "' to hold constants, got " + e.text());
  return out;
}

std::vector<Value *> OperatorCall::tensors(std::string_view name) const {
  std::vector<Value *> out;
  at(name).forEachValue([&](Value *v) { out.push_back(v); });
  return out;
}

std::optional<DataType> OperatorCall::dtype(std::string_view name) const {
  return at(name).as<DataType>();
}
std::optional<Device> OperatorCall::device(std::string_view name) const {
  return at(name).as<Device>();
}
int64_t OperatorCall::dim(std::string_view name, size_t rank) const {
  return wrapDim(*this, constant(name), rank);
}

void OperatorCall::fail(const std::string &message) const {
  throw DiagnosticError(where, "'" + op.target() + "' " + message);
}

static Expr bytesOf(const TensorType &type) { return type.numel() * int64_t(byteSize(type.dtype)); }

static Expr inputBytes(const OperatorCall &call) {
  Expr bytes = 0;
  for (const Argument &a : call.args)
    a.forEachValue([&](Value *v) {
      if (v->isTensor())
        bytes = bytes + bytesOf(v->type());
    });
  return bytes;
}

Cost costOf(const OperatorCall &call, std::span<const ResultType> results) {
  return call.op.cost ? call.op.cost(call, results) : kindCost(call, results);
}

Cost kindCost(const OperatorCall &call, std::span<const ResultType> results) {
  Cost cost;
  if (call.op.kind == Operator::Kind::View)
    return cost;
  Expr outputs = 0;
  for (const ResultType &result : results)
    if (const TensorType *type = std::get_if<TensorType>(&result)) {
      cost.bytes = cost.bytes + bytesOf(*type);
      outputs = outputs + type->numel();
    }
  cost.bytes = cost.bytes + inputBytes(call);
  if (call.op.kind == Operator::Kind::Pointwise)
    cost.flops = outputs * int64_t(call.op.pointwise.flopsPerElement);
  if (call.op.kind == Operator::Kind::Reduction)
    cost.flops = call.tensor("self").numel();
  return cost;
}

static bool inDomain(PointwiseCase::Domain domain, DataType type) {
  switch (domain) {
  case PointwiseCase::Domain::Any:
    return true;
  case PointwiseCase::Domain::Floating:
    return isFloat(type);
  case PointwiseCase::Domain::Integer:
    return isInteger(type);
  case PointwiseCase::Domain::Bool:
    return type == DataType::Bool;
  }
  return false;
}

/// A string as it is, None as nothing, anything else as it is printed.
static std::string optionText(const Argument &argument) {
  if (argument.isNone())
    return {};
  return argument.string() ? *argument.string() : toString(argument);
}

const PointwiseCase &chooseCase(const OperatorCall &call, DataType computeType) {
  for (const PointwiseCase &c : call.op.pointwise.cases) {
    if (!inDomain(c.domain, computeType))
      continue;
    if (c.argument.empty() || optionText(call.at(c.argument)) == c.equals)
      return c;
  }
  call.fail("is not defined for " + std::string(info(computeType).torch) + " with these arguments");
}

} // namespace pellucid::graph
