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

const h::Value *complexOperator(h::Interpreter &interpreter, const std::string &target) {
  const h::Dict &table = nameOfSource(interpreter, "_complex_operators").dictionary();
  return table.find(h::Value(target));
}

} // namespace pellucid::trace
