// SPDX-License-Identifier: Apache-2.0
#include "trace/Derivatives.h"

#include "trace/TorchSources.h"

#include <cctype>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// "MulBackward0" of "aten.mul.Tensor".
std::string nodeName(const std::string &target) {
  size_t space = target.find('.'), overload = target.rfind('.');
  std::string name;
  bool upper = true;
  for (char c : target.substr(space + 1, overload - space - 1)) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name + "Backward0";
}

std::vector<std::string> splitNames(const std::string &text) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// The records, read once per interpreter.
class DerivativeTable : public h::Object {
public:
  DerivativeTable(h::Interpreter &interpreter, const h::Module &source) {
    for (const auto &[target, record] : source.globals->at("_table").dictionary().items()) {
      const h::Tuple &parts = record.tuple();
      Derivative derivative;
      derivative.name = parts.at(0).isNone() ? nodeName(target.str()) : parts.at(0).str();
      derivative.isWide = interpreter.truth(parts.at(1));
      for (const auto &[arguments, function] : parts.at(2).dictionary().items()) {
        Formula formula{splitNames(arguments.str()), function, {}};
        if (auto *written = function.as<h::Function>())
          for (const auto &parameter : written->parameters->args)
            formula.parameters.push_back(parameter->arg);
        derivative.formulas.push_back(std::move(formula));
      }
      byTarget.emplace(target.str(), std::move(derivative));
    }
  }
  std::string typeName() const override { return "table of derivatives"; }

  std::map<std::string, Derivative, std::less<>> byTarget;
};

const DerivativeTable &derivativesOf(h::Interpreter &interpreter) {
  auto module = interpreter.nativeModule("torch._pellucid_derivatives");
  return *module->globals->at("_table").as<DerivativeTable>();
}

} // namespace

const Derivative *derivativeOf(h::Interpreter &interpreter, const std::string &target) {
  const DerivativeTable &table = derivativesOf(interpreter);
  auto entry = table.byTarget.find(target);
  return entry == table.byTarget.end() ? nullptr : &entry->second;
}

std::vector<std::string> derivativeTargets(h::Interpreter &interpreter, bool formulas) {
  std::vector<std::string> targets;
  for (const auto &[target, derivative] : derivativesOf(interpreter).byTarget)
    if (derivative.formulas.empty() != formulas)
      targets.push_back(target);
  return targets;
}

void addDerivatives(h::NativeModules &modules) {
  modules.add("torch._pellucid_derivatives", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_derivative_source",
        std::make_shared<SourceFile>("<torch>",
                                     std::string(derivativeSource) + derivativeSourceOfMoves));
    module.globals->set("_table",
                        h::Value(std::make_shared<DerivativeTable>(interpreter, *source)));
    for (const auto &[name, value] : source->globals->items())
      if (name != "_table")
        module.globals->set(name, value);
  });
}

} // namespace pellucid::trace
