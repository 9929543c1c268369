// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveComplex.h"

#include <algorithm>

namespace pellucid::trace {

namespace h = pellucid::host;

static const h::Value &nameOfSource(h::Interpreter &interpreter, std::string_view name) {
  return *interpreter.nativeModule("torch._pellucid_aten")->globals->find(name);
}

bool isComplex(h::Interpreter &interpreter, const h::Value &value) {
  auto *instance = value.as<h::Instance>();
  return instance && instance->cls.get() == nameOfSource(interpreter, "_Complex").as<h::Class>();
}

h::Value complexOf(h::Interpreter &interpreter, const h::Value &pairs) {
  return interpreter.call(nameOfSource(interpreter, "_Complex"), {pairs});
}

h::Value pairsOf(h::Interpreter &interpreter, const h::Value &value) {
  return isComplex(interpreter, value) ? interpreter.getAttr(value, "pairs") : value;
}

static bool holdsComplex(h::Interpreter &interpreter, const archive::Argument &argument,
                         const ArchiveScope &values) {
  if (argument.kind == archive::Argument::Kind::Tensor) {
    auto known = values.find(argument.text);
    return known != values.end() && isComplex(interpreter, known->second);
  }
  return std::any_of(
      argument.elements.begin(), argument.elements.end(),
      [&](const archive::Argument &element) { return holdsComplex(interpreter, element, values); });
}

/// dtype=torch.complex64
static bool isComplexType(const archive::NamedArgument &input) {
  return input.name == "dtype" && input.value.kind == archive::Argument::Kind::String &&
         input.value.text.starts_with("complex");
}

bool takesComplex(h::Interpreter &interpreter, const archive::Node &node,
                  const ArchiveScope &values) {
  return std::any_of(
      node.inputs.begin(), node.inputs.end(), [&](const archive::NamedArgument &input) {
        return holdsComplex(interpreter, input.value, values) || isComplexType(input);
      });
}

static bool isOrHoldsComplex(h::Interpreter &interpreter, const h::Value &value) {
  if (auto *instance = value.as<h::Instance>())
    return instance->cls->name == "_Complex" && isComplex(interpreter, value);
  return value.isSequence() && std::any_of(value.elements().begin(), value.elements().end(),
                                           [&](const h::Value &element) {
                                             return element.as<h::Instance>() &&
                                                    isOrHoldsComplex(interpreter, element);
                                           });
}

std::optional<h::Value> calledOnComplex(h::Interpreter &interpreter, const std::string &name,
                                        const h::CallArgs &args, bool isRequired) {
  auto &given = args.positional;
  auto &named = args.keywords;
  bool any =
      std::any_of(given.begin(), given.end(),
                  [&](const h::Value &value) { return isOrHoldsComplex(interpreter, value); }) ||
      std::any_of(named.begin(), named.end(), [&](const auto &keyword) {
        return isOrHoldsComplex(interpreter, keyword.second);
      });
  if (!any ||
      (!isRequired &&
       interpreter.call(nameOfSource(interpreter, "_complex_operator"), {h::Value(name)}).isNone()))
    return std::nullopt;
  h::Dict keywords;
  for (const auto &[key, value] : named)
    keywords.set(h::Value(key), value);
  h::List list(given.begin(), given.end());
  return interpreter.call(
      nameOfSource(interpreter, "_complex_call"),
      {h::Value(name), h::Value::tuple(std::move(list)), h::Value::dict(std::move(keywords))});
}

const h::Value *complexOperator(h::Interpreter &interpreter, const std::string &target) {
  const h::Dict &table = nameOfSource(interpreter, "_complex_operators").dictionary();
  return table.find(h::Value(target));
}

} // namespace pellucid::trace
