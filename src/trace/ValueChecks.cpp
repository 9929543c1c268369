// SPDX-License-Identifier: Apache-2.0
#include "trace/ValueChecks.h"

#include "graph/FakeRules.h"
#include "graph/ops/Indices.h"
#include "host/InterpreterState.h"

#include <set>
#include <unordered_set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

std::string ValueCheck::textFor(int64_t element) const {
  std::string out = text;
  if (size_t at = out.find("{}"); at != std::string::npos)
    out.replace(at, 2, std::to_string(element));
  return out;
}

namespace {

constexpr const char *outOfRange = "index out of range in self";

std::string outOfBounds(size_t dim, int64_t size) {
  return "index {} is out of bounds for dimension " + std::to_string(dim) + " with size " +
         std::to_string(size);
}

int64_t sizeOf(const TensorType &type, size_t dim) {
  return type.rank() ? type.shape[dim].constantOr(0) : 1;
}

ValueCheck inRange(const Value *index, int64_t low, int64_t high, const char *type,
                   std::string text) {
  ValueCheck check;
  check.value = index;
  check.low = low;
  check.high = high;
  check.type = type;
  check.text = std::move(text);
  return check;
}

/// The places of index and index_put count from either end. Dims are counted as PyTorch does after
/// it has moved those with an index to the front.
std::vector<ValueCheck> listedIndices(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  const Argument::List &list = *call.at("indices").list();
  std::vector<ValueCheck> checks;
  for (size_t d = 0; d < list.size() && d < self.rank(); ++d)
    if (const Value *index = list[d].value(); index && index->type().dtype != DataType::Bool) {
      int64_t size = sizeOf(self, d);
      checks.push_back(inRange(index, -size, size, "IndexError", outOfBounds(checks.size(), size)));
    }
  return checks;
}

/// One index along `dim`.
ValueCheck indexAlong(const OperatorCall &call) {
  const std::string &name = call.op.schema.name;
  const TensorType &self = call.tensor("self");
  const Value *index = call.value("index");
  size_t dim = static_cast<size_t>(call.dim("dim", self.rank()));
  int64_t size = sizeOf(self, dim);
  if (name == "index_select" && dim == 1 && self.rank() > 1)
    return inRange(index, 0, size, "RuntimeError",
                   "INDICES element is out of DATA bounds, id={} axis_dim=" + std::to_string(size));
  if (name == "index_select" || (name == "index_add" && self.rank() < 2))
    return inRange(index, 0, size, "IndexError", outOfRange);
  if (name == "index_copy")
    return inRange(index, 0, size, "IndexError", "index_copy_(): " + outOfBounds(dim, size));
  if (name == "index_fill")
    return inRange(index, -size, size, "IndexError", outOfBounds(dim, size));
  return inRange(index, 0, size, "RuntimeError", outOfBounds(dim, size));
}

bool dividesIntegers(const OperatorCall &call) {
  static const std::set<std::string_view> names = {"div", "floor_divide", "remainder", "fmod"};
  if (!names.count(call.op.schema.name) || !call.op.schema.indexOf("other"))
    return false;
  if (call.op.schema.name == "div" &&
      (!call.op.schema.indexOf("rounding_mode") || !call.has("rounding_mode")))
    return false;
  const Value *other = call.value("other");
  if (!other || !other->isTensor() || isFloat(other->type().dtype))
    return false;
  const Value *self = call.value("self");
  return !self || !isFloat(self->type().dtype);
}

std::vector<ValueCheck> checksOf(const OperatorCall &call) {
  static const std::set<std::string_view> along = {"index_select", "gather",         "scatter",
                                                   "scatter_add",  "scatter_reduce", "index_add",
                                                   "index_copy",   "index_fill"};
  static const std::unordered_set<std::string_view> asking = {
      "index",     "index_put",    "embedding", "index_select", "gather",      "scatter",
      "div",       "floor_divide", "remainder", "fmod",         "scatter_add", "scatter_reduce",
      "index_add", "index_copy",   "index_fill"};
  const std::string &name = call.op.schema.name;
  if (!asking.count(name))
    return {};
  if (name == "index" || name == "index_put")
    return listedIndices(call);
  if (name == "embedding")
    return {inRange(call.value("indices"), 0, sizeOf(call.tensor("weight"), 0), "IndexError",
                    outOfRange)};
  if (along.count(name))
    return {indexAlong(call)};
  if (dividesIntegers(call)) {
    ValueCheck check = inRange(call.value("other"), 0, 0, "RuntimeError", "ZeroDivisionError");
    check.isNonzero = true;
    return {check};
  }
  return {};
}

} // namespace

std::vector<ValueCheck> valueChecks(const OperatorCall &call, const Node &node) {
  std::vector<ValueCheck> checks = checksOf(call);
  if (checks.empty())
    return checks;
  // These write as index_put does, which counts from the end where PyTorch refuses.
  bool failsByItself = call.op.schema.name != "index_add" && call.op.schema.name != "index_copy";
  for (ValueCheck &check : checks) {
    check.node = failsByItself ? &node : nullptr;
    check.where = call.where;
  }
  return checks;
}

void raiseFailedCheck(const ValueCheck &check, int64_t element) {
  h::Interpreter *interpreter = h::Interpreter::active();
  std::string text = check.textFor(element);
  if (!interpreter)
    throw DiagnosticError(check.where, text);
  h::Value exception =
      interpreter->call(h::Value(interpreter->builtinClass(check.type)), {h::Value(text)});
  h::noteRaised(*interpreter, exception);
  throw h::RaisedError(Diagnostic(Severity::Error, check.where, check.type + ": " + text),
                       exception);
}

} // namespace pellucid::trace
