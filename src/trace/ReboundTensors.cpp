// SPDX-License-Identifier: Apache-2.0
#include "trace/ReboundTensors.h"

#include "host/TreeWalk.h"

#include <algorithm>

namespace pellucid::trace {

namespace h = pellucid::host;
namespace s = pellucid::syntax;
using graph::TensorType;
using graph::Value;

namespace {

/// The last `….key` that the statement binds.
const s::Attribute *findBinding(const s::Expr &expr, std::string_view key) {
  const s::Attribute *found = nullptr;
  if (auto *attribute = s::as<s::Attribute>(&expr);
      attribute && attribute->attr == key && attribute->ctx == s::ExprContext::Store)
    found = attribute;
  h::forEachChild(expr, [&](const s::Expr &child) {
    if (const s::Attribute *inside = findBinding(child, key))
      found = inside;
  });
  return found;
}

const s::Attribute *findBinding(const s::Stmt &stmt, std::string_view key) {
  const s::Attribute *found = nullptr;
  auto look = [&](const auto &child) {
    if (const s::Attribute *inside = findBinding(child, key))
      found = inside;
  };
  h::forEachChild(
      stmt, [&](const s::Expr &child) { look(child); }, [&](const s::Stmt &child) { look(child); });
  return found;
}

/// Where the module's own code binds the attribute after its construction, else where the trace is.
SourceLocation placeOfBinding(h::Interpreter &interpreter, const HeldTensor &held) {
  std::vector<std::shared_ptr<h::Class>> classes = {held.module->cls};
  classes.insert(classes.end(), held.module->cls->mro.begin(), held.module->cls->mro.end());
  for (const auto &cls : classes)
    for (const auto &[name, attribute] : cls->attributes.items()) {
      auto *function = attribute.as<h::Function>();
      if (!function || !function->def || name == "__init__")
        continue;
      for (const auto &statement : function->def->body)
        if (const s::Attribute *binding = findBinding(*statement, held.key))
          return SourceLocation(function->module->file, binding->range);
    }
  return interpreter.location();
}

/// Why the next call cannot find what this one has bound, or empty.
std::string whyUnfit(const HeldTensor &held, const h::Value *now) {
  std::string first = "'" + held.name + "' is a tensor before forward and ";
  if (!now)
    return first + "deleted in it";
  auto *tensor = now->as<TensorObject>();
  if (!tensor)
    return first + "of type " + h::typeName(*now) + " after it";
  if (held.object->isParameter && !tensor->isParameter)
    return "a tensor is bound to '" + held.name + "', which is a parameter; write it with copy_()";
  const TensorType &before = held.object->tensor.type, &after = tensor->tensor.type;
  if (before.dtype != after.dtype || before.shape != after.shape)
    return "'" + held.name + "' is " + toString(before) + " before forward and " + toString(after) +
           " after it";
  return {};
}

} // namespace

void keepRebound(h::Interpreter &interpreter, Tracer &tracer, const std::vector<HeldTensor> &held) {
  struct Rebound {
    TensorObject *object;
    Value *value;
    SourceLocation where;
  };
  // All of them are read before the first is written: two may have changed places.
  std::vector<Rebound> rebound;
  for (const HeldTensor &one : held) {
    const h::Value *now = one.container.isDict()
                              ? one.container.dictionary().find(std::string_view(one.key))
                              : one.module->attributes.find(std::string_view(one.key));
    if (now && now->as<TensorObject>() == one.object.get())
      continue;
    SourceLocation where = placeOfBinding(interpreter, one);
    if (std::string why = whyUnfit(one, now); !why.empty()) {
      if (one.isRegistered)
        throw DiagnosticError(where, why + "; a package keeps buffers from call to call, so that "
                                           "each stays a tensor of its type and shape");
      tracer.warn(Diagnostic(Severity::Warning, where,
                             why + "; a package forgets that after the call, and the next one "
                                   "begins with the first tensor again"));
      continue;
    }
    TracedTensor &tensor = now->as<TensorObject>()->tensor;
    if (tensor.storage == one.object->tensor.storage && tensor.type == one.object->tensor.type)
      continue;
    for (const HeldTensor &other : held)
      if (&other != &one && other.object->tensor.storage == one.object->tensor.storage)
        throw DiagnosticError(where, "'" + one.name + "' shares its memory with '" + other.name +
                                         "' and is bound to another tensor in forward; write to it "
                                         "with copy_(), or give each a tensor of its own");
    rebound.push_back({one.object.get(), tracer.valueOf(tensor, where), where});
  }
  for (const Rebound &one : rebound)
    tracer.write(one.object->tensor, one.value, one.where);
}

} // namespace pellucid::trace
