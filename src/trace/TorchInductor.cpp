// SPDX-License-Identifier: Apache-2.0
#include "trace/TorchInductor.h"

#include "host/Interpreter.h"

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

const char *const helperSource =
#include "trace/torch/triton_helpers.py.inc"
    ;
const char *const heuristicSource =
#include "trace/torch/inductor_heuristics.py.inc"
    ;

constexpr const char *helpers = "torch._inductor.runtime.triton_helpers";
constexpr const char *heuristics = "torch._inductor.runtime.triton_heuristics";

h::NativeModules::Fill fillFrom(const char *source) {
  return [source](h::Interpreter &interpreter, h::Module &module) {
    auto written = interpreter.importSource(
        module.name, std::make_shared<SourceFile>("<" + module.name + ">", source));
    for (const auto &[name, value] : written->globals->items())
      if (!name.starts_with("_"))
        module.globals->set(name, value);
  };
}

/// Older versions have the same names elsewhere.
h::NativeModules::Fill namesOf(const char *other) {
  return [other](h::Interpreter &interpreter, h::Module &module) {
    for (const auto &[name, value] : interpreter.nativeModule(other)->globals->items())
      module.globals->set(name, value);
  };
}

/// An expression of a generated file, such as "(s0 + 31) // 32", with names for its numbers.
h::Value evaluate(h::Interpreter &interpreter, std::vector<h::Value> &a) {
  std::string names;
  std::vector<h::Value> values;
  for (const auto &[name, value] : a[1].dictionary().items()) {
    names += (names.empty() ? "" : ", ") + name.str();
    values.push_back(value);
  }
  std::string text = "def value(" + names + "):\n    return " + a[0].str() + "\n";
  auto module = interpreter.importSource(
      "inductor_expression", std::make_shared<SourceFile>("<expression of a grid>", text));
  return interpreter.call(*module->globals->find("value"), std::move(values));
}

} // namespace

void addInductorKernels(h::NativeModules &modules) {
  modules.add("_inductor_text", [](h::Interpreter &, h::Module &module) {
    module.globals->set("evaluate", h::native("evaluate", "expression, names", evaluate));
  });
  modules.add(helpers, fillFrom(helperSource));
  modules.add("torch._inductor.triton_helpers", namesOf(helpers));
  modules.add(heuristics, fillFrom(heuristicSource));
  for (const char *name :
       {"torch._inductor.triton_heuristics", "torch._inductor.runtime.hints", "torch._inductor.ir"})
    modules.add(name, namesOf(heuristics));
  modules.add("triton.compiler.compiler", [](h::Interpreter &interpreter, h::Module &module) {
    auto described = interpreter.nativeModule(heuristics);
    module.globals->set("AttrsDescriptor", *described->globals->find("AttrsDescriptor"));
  });
}

} // namespace pellucid::trace
