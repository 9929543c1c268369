// SPDX-License-Identifier: Apache-2.0
// Users' operators in reverse mode.
#include "trace/Gradients.h"
#include "trace/OperatorCall.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

bool anyRequiresGrad(const h::Value &value) {
  if (auto *tensor = value.as<TensorObject>())
    return requiresGrad(*tensor);
  return value.isSequence() &&
         std::any_of(value.elements().begin(), value.elements().end(), anyRequiresGrad);
}

bool anyRequiresGrad(const h::CallArgs &args) {
  return std::any_of(args.positional.begin(), args.positional.end(),
                     [](const h::Value &value) { return anyRequiresGrad(value); }) ||
         std::any_of(args.keywords.begin(), args.keywords.end(),
                     [](const auto &keyword) { return anyRequiresGrad(keyword.second); });
}

/// The default that the function's text has for a parameter, or the schema's.
h::Value defaultOf(const h::Operator &op, const SchemaArgument &argument) {
  auto *function = op.function.as<h::Function>();
  if (function && function->def) {
    std::vector<std::string> positional;
    for (const auto *list : {&function->def->args.posonlyargs, &function->def->args.args})
      for (const auto &parameter : *list)
        positional.push_back(parameter->arg);
    size_t without = positional.size() - function->defaults.size();
    for (size_t i = without; i < positional.size(); ++i)
      if (positional[i] == argument.name)
        return function->defaults[i - without];
    const auto &only = function->def->args.kwonlyargs;
    for (size_t i = 0; i < only.size() && i < function->keywordDefaults.size(); ++i)
      if (only[i]->arg == argument.name && function->keywordDefaults[i])
        return *function->keywordDefaults[i];
  }
  return argument.defaultValue ? constantValue(*argument.defaultValue) : h::Value();
}

} // namespace

h::Value callDifferentiably(Tracer &tracer, h::Interpreter &interpreter, const h::Operator &op,
                            const h::CallArgs &args, const std::function<h::Value()> &record) {
  if (!isNoted(tracer) || !anyRequiresGrad(args)) {
    autograd::ModeGuard guard(tracer.gradients, false);
    return record();
  }
  Schema schema = schemaOf(interpreter, op);
  h::Tuple positional;
  h::Dict keywords;
  bool hasKeywords = false, writes = false;
  size_t given = 0; ///< up to the last that is no default
  std::vector<h::Value> written;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    const h::Value *value = i < args.positional.size() && !argument.keywordOnly
                                ? &args.positional[i]
                                : args.keyword(argument.name);
    h::Value fallback = defaultOf(op, argument);
    const h::Value &bound = value ? *value : fallback;
    if (argument.type.mutated)
      written.push_back(bound);
    writes |= argument.type.mutated;
    hasKeywords |= argument.keywordOnly;
    if (argument.keywordOnly) {
      keywords.set(h::Value(argument.name), bound);
      continue;
    }
    positional.push_back(bound);
    bool isDefault = argument.defaultValue && !bound.as<TensorObject>() && !bound.isSequence() &&
                     h::equal(bound, fallback);
    if (value && !isDefault)
      given = positional.size();
  }
  // What an operator writes is no result, and hidden from reverse mode as in PyTorch.
  if (writes) {
    autograd::ModeGuard guard(tracer.gradients, false);
    return record();
  }
  std::string title = "GeneratedBackwardFor_" + schema.space + "_" + schema.name + "_" +
                      (schema.overload.empty() ? "default" : schema.overload) + "Backward";
  h::Value function =
      h::nativeRaw(op.name, [&](h::Interpreter &, const h::CallArgs &) { return record(); });
  return interpreter.call(autogradFunction(interpreter, "_operator_call"),
                          {h::Value(op.nodeName()), h::Value(title), function, op.backward,
                           op.setupContext, h::Value::tuple(std::move(positional)),
                           h::Value(static_cast<int64_t>(given)),
                           hasKeywords ? h::Value::dict(std::move(keywords)) : h::Value()});
}

} // namespace pellucid::trace
